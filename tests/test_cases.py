"""Wrong results met in public code, and values that other projects publish.

``data/cases.json`` holds both. A mistake names the pair that shows it, the ``right`` value, and the
``wrong`` one that was returned. A published value comes ``from`` a project's tests or documentation
and is good to ``within``; where it is wrong itself, the ``right`` one stands beside it. Fractions
are strings. ``table`` asks for all pairs, ``loss`` for 1 - measure, ``reduce`` for one number.
"""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import iou
from iou import exact

CASES = json.loads((Path(__file__).parent / "data" / "cases.json").read_text(encoding="utf-8"))
REDUCE = {
    None: lambda values: values,
    "mean": np.mean,
    "sum": np.sum,
    "-log mean": lambda values: -np.log(np.mean(values)),
}


def cases(name):
    return pytest.mark.parametrize("case", CASES[name], ids=lambda case: case["id"])


def measured(case):
    """Do with the module what the case is about."""

    def boxes(key):
        return np.array(case[key], dtype=case["dtype"]) if "dtype" in case else case[key]

    fmt = {"fmt": case.get("fmt", "xyxy")}
    measure = getattr(iou, case["measure"])
    if case["measure"] == "convert":
        return measure(boxes("boxes"), to=case["to"], **fmt)
    if case["measure"] == "area":
        return measure(boxes("boxes"), **fmt)
    if case.get("table"):
        result = iou.pairwise(boxes("a"), boxes("b"), case["measure"], **fmt)
    else:
        result = measure(boxes("a"), boxes("b"), **fmt)
    return REDUCE[case.get("reduce")](1 - result if case.get("loss") else result)


def number(value):
    """Read numbers, fractions and nested lists of them as floats."""
    if isinstance(value, list):
        return [number(item) for item in value]
    return float(Fraction(value)) if isinstance(value, str) and value != "nan" else float(value)


@cases("mistakes")
def test_a_mistake_met_in_public_code_is_not_made(case):
    if "refused" in case:
        with pytest.raises(ValueError, match=f"^{re.escape(case['refused'])}$"):
            measured(case)
        return
    result = measured(case)
    within = case.get("within", 2.0**-50)
    np.testing.assert_allclose(result, number(case["right"]), rtol=0, atol=within)
    if "wrong" in case:
        assert not np.allclose(result, number(case["wrong"]), rtol=0, atol=0.01, equal_nan=True)


@cases("published")
def test_a_published_value_is_met_or_known_to_be_wrong(case):
    result = measured(case)
    if "shape" in case:
        assert result.shape == tuple(case["shape"])
    elif "right" in case:
        np.testing.assert_allclose(result, number(case["right"]), rtol=0, atol=2.0**-50)
        assert not np.allclose(result, case["published"], rtol=0, atol=0.01)
    else:
        np.testing.assert_allclose(result, case["published"], rtol=0, atol=case.get("within", 0))


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES["mistakes"]
        if isinstance(case.get("right"), str)
        and case["measure"] in ("iou", "giou", "diou")
        and "within" not in case
    ],
    ids=lambda case: case["id"],
)
def test_the_definition_gives_the_right_fraction(case):
    value = getattr(exact, case["measure"])(case["a"], case["b"], fmt=case.get("fmt", "xyxy"))
    assert value == Fraction(case["right"])


def test_every_case_has_a_name_of_its_own():
    names = [case["id"] for group in CASES.values() for case in group]
    assert len(names) == len(set(names))


def test_the_aspect_angle_of_a_point_is_0():
    # A padded, all-zero truth: 0/0 in the aspect ratio made this NaN elsewhere. There, it is often
    # left out of the aspect term; here, a point has the angle atan2(0, 0) = 0, and with a square
    # v = 4/π² (π/4)² = 1/4, so that 1/4 / (1 + 1/4) · 1/4 = 1/20 is taken off the DIoU.
    assert iou.ciou((2, 2, 2, 2), (0, 0, 0, 0), fmt="cxcywh") == pytest.approx(-8 / 18 - 1 / 20)
