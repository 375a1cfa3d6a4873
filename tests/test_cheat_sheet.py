"""The cheat sheet: what it says is so, and it fits on one side of paper."""

import re
from fractions import Fraction

import pytest
from helpers import ROOT, open_page, reader

import iou
from iou import exact

PAGE = "book/cheat-sheet"
TEXT = (ROOT / "book" / "cheat-sheet.md").read_text()
BOX = r"\((\d+),(\d+),(\d+),(\d+)\)"
CHECKS = [
    (tuple(map(int, numbers[:4])), tuple(map(int, numbers[4:8])), Fraction(numbers[8]), numbers[9])
    for numbers in re.findall(rf"^\| {BOX}, {BOX} \| ([\d/]+) \| (.*) \|$", TEXT, re.MULTILINE)
]


def test_the_pairs_to_check_with_have_these_values():
    assert len(CHECKS) == 4
    for a, b, value, _ in CHECKS:
        assert exact.iou(a, b) == value
        assert iou.iou(a, b) == float(value)


def test_the_wrong_values_come_from_the_mistakes_named():
    apart, overlapping, equal, points = ((a, b, wrong) for a, b, _, wrong in CHECKS)

    def unclamped(a, b):
        width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        return Fraction(width * height, exact.area(a) + exact.area(b) - width * height)

    a, b, wrong = apart
    assert wrong.startswith(f"{unclamped(a, b)}: sides not clamped")
    a, b, wrong = overlapping
    inclusive = exact.iou(a, b, fmt="xyxy_inclusive")
    twice = exact.intersection(a, b) / (exact.area(a) + exact.area(b))
    assert wrong == f"{inclusive}: + 1; {twice}: $I$ counted twice in $U$"
    a, b, wrong = equal
    assert "epsilon" in wrong
    assert exact.intersection(a, b) / (exact.union(a, b) + Fraction(1, 10**6)) < 1
    a, b, wrong = points
    assert "0/0" in wrong
    assert exact.union(a, b) == 0


def test_the_formats_are_those_of_the_module():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", TEXT, re.MULTILINE)
    assert [name for name, _ in rows] == list(exact.FORMATS)
    for name, numbers in rows[:3]:
        assert numbers == ", ".join(exact.FORMATS[name])


def test_the_shift_that_gives_a_half():
    assert "$\\operatorname{IoU} = (1-d)/(1+d)$. One half is a third of the side." in TEXT
    d = Fraction(1, 3)
    assert exact.iou((0, 0, 1, 1), (d, 0, 1 + d, 1)) == (1 - d) / (1 + d) == Fraction(1, 2)


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_it_prints_on_one_side(browser, paper):
    with reader(browser, "light", 1280) as (page, wrong):
        open_page(page, PAGE)
        pdf = page.pdf(format=paper, prefer_css_page_size=False)
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
        assert wrong == []
