"""The table of all pairs by groups: the same to the bit, with less measured."""

import tracemalloc
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import iou as package
from iou import overlap, pairwise, table

SPANS = list(combinations_with_replacement(range(4), 2))
# With itself: every way in which two boxes can lie, with and without area.
GRID = [(x[0], y[0], x[1], y[1]) for x, y in product(SPANS, SPANS)]


@pytest.fixture
def small_groups(monkeypatch):
    """Tables of any size are made by groups of three rows, four columns at a time."""
    for name, value in {"_SMALL": 1, "_GROUP": 3, "_BLOCK": 4, "_WORTHWHILE": 1}.items():
        monkeypatch.setattr(table, name, value)


@pytest.fixture
def measured(monkeypatch):
    """Count the values that are measured."""
    counts = []

    def fill(out, *rest):
        counts.append(out.size)
        overlap_fill(out, *rest)

    overlap_fill = table.fill
    monkeypatch.setattr(table, "fill", fill)
    return counts


def scattered(count, seed, side=1.0):
    rng = np.random.default_rng(seed)
    low = rng.uniform(-50, 50, (count, 2))
    return np.hstack([low, low + rng.uniform(0, side, (count, 2))])


def alone(measure, a, b):
    return np.array([[getattr(package, measure)(p, q) for q in b] for p in a])


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("measure", overlap.MEASURES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (7, 10), (12, 4), (3, 50)])
def test_every_pair_has_the_value_it_has_alone(measure, shape):
    a, b = scattered(shape[0], 1, 30), scattered(shape[1], 2, 30)
    expected = alone(measure, a, b).tobytes()
    for workers in (1, 2, 3):
        assert pairwise(a, b, measure, workers=workers).tobytes() == expected
        for out in (np.full(shape, np.nan), np.full(shape[::-1], np.nan).T):
            assert pairwise(a, b, measure, out=out, workers=workers) is out
            assert out.tobytes() == expected


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("fmt", ["xyxy", "xywh", "cxcywh", "xyxy_inclusive"])
@pytest.mark.parametrize("measure", ["iou", "intersection"])
def test_boxes_that_touch_or_have_no_area_are_no_exception(measure, fmt):
    expected = np.array([[getattr(package, measure)(p, q, fmt=fmt) for q in GRID] for p in GRID])
    assert pairwise(GRID, GRID, measure, fmt=fmt).tobytes() == expected.tobytes()


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize(
    ("boxes", "fmt"),
    [
        # The first box ends after 1, which is what its end is rounded to.
        ([(1, 0, 2**-53, 1), (1, 0, 1, 1)], "xywh"),
        ([(0, 0, 2**53 + 1, 1), (2**53, 0, 2**53 + 4, 1), (2**53 + 1, 0, 2**53 + 4, 1)], "xyxy"),
        ([(0, 0, 1e308, 1e308), (1e308, 0, 1.7e308, 1), (0, 0, 5e-324, 5e-324)], "xyxy"),
    ],
)
def test_boxes_that_are_not_where_their_rounded_corners_say_are_all_measured(boxes, fmt, measured):
    expected = np.array([[package.iou(p, q, fmt=fmt) for q in boxes] for p in boxes])
    assert pairwise(boxes, boxes, fmt=fmt).tobytes() == expected.tobytes()
    assert sum(measured) == len(boxes) ** 2


def test_of_boxes_that_lie_apart_few_pairs_are_measured(measured):
    a, b = scattered(1500, 3), scattered(1500, 4)
    values = pairwise(a, b)
    assert np.count_nonzero(values) <= sum(measured) < values.size / 10


@pytest.mark.parametrize(("measure", "side"), [("iou", 99), ("giou", 1), ("union", 1)])
def test_every_pair_is_measured_where_most_meet_or_none_is_0(measured, measure, side):
    a, b = scattered(1500, 3, side), scattered(1500, 4, side)
    assert pairwise(a, b, measure).size == sum(measured)


def test_the_choice_is_by_the_share_that_is_to_be_measured(measured, monkeypatch):
    a, b = scattered(1500, 3, 30), scattered(1500, 4, 30)
    groups = table._Groups.of(overlap.MEASURES["iou"], *map(table.read_table, (a, b)))
    share = groups.share()
    for worthwhile, by_groups in [(share, True), (np.nextafter(share, 0), False)]:
        monkeypatch.setattr(table, "_WORTHWHILE", worthwhile)
        measured.clear()
        pairwise(a, b)
        assert (len(measured) > 1) == by_groups
    met = sum(len(groups.meeting(group, groups.columns)) for group in range(len(groups.lo[0])))
    assert share == pytest.approx(met / len(groups.lo[0]) / 1500, rel=0.2)


@pytest.mark.parametrize(("rows", "columns"), [(2000, 9000), (400, 20_000)])
def test_groups_need_little_memory_beside_the_table(rows, columns, measured):
    a, b = scattered(rows, 5, 10), scattered(columns, 6, 10)
    out = np.empty((len(a), len(b)))
    tracemalloc.start()
    try:
        pairwise(a, b, out=out)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(measured) > 1
    # Read boxes are five columns; sorted rows are there twice.
    assert peak < 8 * 2**20 + 3 * (a.nbytes + b.nbytes) < out.nbytes


def test_rows_that_follow_each_other_lie_close_together():
    boxes = scattered(3000, 7)
    place = table._winding(table.read_table(boxes))
    assert sorted(place) == list(range(3000))
    middle = (boxes[:, :2] + boxes[:, 2:])[place] / 2
    groups = [middle[start : start + table._GROUP] for start in range(0, 3000, table._GROUP)]
    # 63 groups on 100 by 100: each could have about 13 by 13.
    assert np.median([np.ptp(group, axis=0) for group in groups]) < 20


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("side", [1, 90])
def test_a_matrix_is_filled_like_an_array_however_many_workers_there_are(side):
    a, b = scattered(9, 1, side), scattered(7, 2, side)
    out = np.matrix(np.full((9, 7), np.nan))
    assert pairwise(a, b, out=out, workers=10**9) is out
    assert (np.asarray(out) == alone("iou", a, b)).all()
