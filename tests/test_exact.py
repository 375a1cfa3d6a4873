"""The definitions, against values worked by hand."""

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import inf, nan

import numpy as np
import pytest

from iou import exact

F = Fraction

# Two boxes; what they share, cover together, and are enclosed by; the squared distance of their
# centres, and the squared diagonal of the enclosing box. The areas come first, as the union does.
PAIRS = {
    # x: 1-5 and 3-7 share 3-5; y: 1-5 and 2-6 share 2-5; the hull is 1-7 by 1-6.
    "overlapping": ((1, 1, 5, 5), (3, 2, 7, 6), 2 * 3, 16 + 16 - 6, 6 * 5, 2**2 + 1**2, 36 + 25),
    "diagonal": ((0, 0, 4, 4), (2, 2, 6, 6), 2 * 2, 16 + 16 - 4, 6 * 6, 2**2 + 2**2, 36 + 36),
    "identical": ((2, 3, 4, 7), (2, 3, 4, 7), 2 * 4, 8 + 8 - 8, 2 * 4, 0, 4 + 16),
    "nested": ((0, 0, 4, 4), (1, 1, 3, 3), 2 * 2, 16 + 4 - 4, 4 * 4, 0, 16 + 16),
    "nested in a corner": ((0, 0, 4, 4), (0, 0, 2, 2), 2 * 2, 16 + 4 - 4, 4 * 4, 1 + 1, 16 + 16),
    "crossing": ((0, 1, 6, 3), (2, 0, 4, 9), 2 * 2, 12 + 18 - 4, 6 * 9, F(5, 2) ** 2, 36 + 81),
    "touching in an edge": ((0, 0, 2, 2), (2, 0, 4, 2), 0, 4 + 4, 4 * 2, 2**2, 16 + 4),
    "touching in a corner": ((0, 0, 2, 2), (2, 2, 4, 4), 0, 4 + 4, 4 * 4, 2**2 + 2**2, 16 + 16),
    "apart in x": ((0, 0, 2, 2), (3, 0, 5, 2), 0, 4 + 4, 5 * 2, 3**2, 25 + 4),
    # Both sides of the overlap are -2 here; their product must not count as an area.
    "apart in x and y": ((0, 0, 4, 4), (6, 6, 10, 10), 0, 16 + 16, 10 * 10, 36 + 36, 100 + 100),
    "across the origin": ((-2, -2, 1, 1), (-1, -1, 2, 2), 2 * 2, 9 + 9 - 4, 4 * 4, 2, 16 + 16),
    "in fractions": (
        (F(1, 2), 0, F(5, 2), 1), (0, F(1, 2), 1, F(3, 2)),
        F(1, 2) * F(1, 2), 2 + 1 - F(1, 4), F(5, 2) * F(3, 2), 1 + F(1, 4), F(25, 4) + F(9, 4),
    ),
    "beyond every float": (
        (0, 0, 10**400, 1), (0, 0, 2 * 10**400, 1),
        10**400, 2 * 10**400, 2 * 10**400, F(10**400, 2) ** 2, 4 * 10**800 + 1,
    ),
    "line in a box": ((0, 0, 4, 4), (1, 2, 3, 2), 0, 16 + 0, 4 * 4, 0, 16 + 16),
}  # fmt: skip
pairs = pytest.mark.parametrize(
    ("a", "b", "shared", "union", "hull", "distance", "diagonal"), PAIRS.values(), ids=PAIRS
)


@pairs
def test_measures_of_a_pair_are_those_worked_by_hand(a, b, shared, union, hull, distance, diagonal):
    assert exact.intersection(a, b) == shared
    assert exact.union(a, b) == union
    assert exact.iou(a, b) == F(shared) / union
    assert exact.giou(a, b) == F(shared) / union - F(hull - union) / hull
    assert exact.diou(a, b) == F(shared) / union - F(distance) / diagonal


# The aspect angles of these boxes are known: 0 upright, π/4 square, π/2 lying; so is
# v = 4/π² (difference)²: 1/4 between neighbours, and 1 between the extremes.
@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        # IoU 0, α = 1/4 / (1 + 1/4) = 1/5; centres 2 apart, diagonal² 32.
        pytest.param((0, 0, 4, 0), (0, 0, 4, 4), -F(4, 32) - F(1, 5) * F(1, 4), id="lying-square"),
        pytest.param(
            (0, 0, 0, 4), (0, 0, 4, 4), -F(4, 32) - F(1, 5) * F(1, 4), id="upright-square"
        ),
        # IoU 0, α = 1 / (1 + 1) = 1/2; a cross with one centre.
        pytest.param((0, 2, 4, 2), (2, 0, 2, 4), -F(1, 2) * 1, id="lying-upright"),
        # A point has the aspect angle atan2(0, 0) = 0, as if it were upright.
        pytest.param((1, 1, 3, 3), (0, 0, 0, 0), -F(8, 18) - F(1, 5) * F(1, 4), id="square-point"),
        pytest.param((0, 0, 0, 4), (0, 2, 0, 2), F(0), id="upright-point"),
        pytest.param((5, 5, 5, 5), (5, 5, 5, 5), F(0), id="point-itself"),
        # One shape: v = 0, and CIoU is DIoU, 4/28 - 8/72.
        pytest.param((0, 0, 4, 4), (2, 2, 6, 6), F(1, 7) - F(1, 9), id="one-shape"),
        pytest.param((0, 0, 2, 4), (0, 0, 2, 4), F(1), id="identical"),
    ],
)
def test_ciou_is_that_worked_by_hand(a, b, value):
    assert exact.ciou(a, b) == pytest.approx(float(value), rel=0, abs=2**-52)


@pytest.mark.parametrize("measure", [exact.iou, exact.giou, exact.diou, exact.ciou])
def test_zero_over_zero_is_zero(measure):
    assert measure((3, 3, 3, 3), (3, 3, 3, 3)) == 0


def test_giou_has_no_penalty_where_the_enclosing_box_is_a_line():
    assert exact.giou((0, 0, 1, 0), (5, 0, 6, 0)) == 0


@pytest.mark.parametrize(
    ("fmt", "box"),
    [
        ("xyxy", (8, 19, 12, 21)),
        ("xywh", (8, 19, 12 - 8, 21 - 19)),
        ("cxcywh", (F(8 + 12, 2), F(19 + 21, 2), 12 - 8, 21 - 19)),
        ("xyxy_inclusive", (8, 19, 12 - 1, 21 - 1)),
    ],
)
def test_every_format_describes_the_same_box(fmt, box):
    assert exact.corners(box, fmt) == (8, 19, 12, 21)
    assert exact.FROM_CORNERS[fmt](F(8), F(19), F(12), F(21)) == box
    assert exact.area(box, fmt=fmt) == 4 * 2


@pytest.mark.parametrize("fmt", exact.FORMATS)
@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (exact.intersection, 6),
        (exact.union, 26),
        (exact.iou, F(3, 13)),
        (exact.giou, F(3, 13) - F(4, 30)),
        (exact.diou, F(3, 13) - F(5, 61)),
        (exact.ciou, float(F(3, 13) - F(5, 61))),
    ],
)
def test_every_measure_reads_every_format(measure, value, fmt):
    a, b = (exact.FROM_CORNERS[fmt](*map(F, box)) for box in ((1, 1, 5, 5), (3, 2, 7, 6)))
    assert measure(a, b, fmt=fmt) == value


@pytest.mark.parametrize(
    ("number", "value"),
    [
        pytest.param(0.1, F(3602879701896397, 2**55), id="float"),
        pytest.param(np.float32(0.1), F(13421773, 2**27), id="float32"),
        pytest.param(np.longdouble(1) / 2, F(1, 2), id="longdouble"),
        pytest.param(np.uint8(200), F(200), id="uint8"),
        pytest.param(2**200 + 1, F(2**200 + 1), id="int"),
        pytest.param(Decimal("0.1"), F(1, 10), id="Decimal"),
        pytest.param(F(1, 3), F(1, 3), id="Fraction"),
    ],
)
def test_numbers_are_taken_at_their_exact_value(number, value):
    assert exact.corners((0, 0, number, 1)) == (0, 0, value, 1)


@pytest.mark.parametrize(
    ("number", "error", "complaint"),
    [
        (nan, ValueError, "is NaN"),
        (inf, ValueError, "is infinite"),
        (-inf, ValueError, "is infinite"),
        (np.float32("inf"), ValueError, "is infinite"),
        (Decimal("nan"), ValueError, "is NaN"),
        (True, TypeError, "is a bool"),
        (np.True_, TypeError, "is a bool, not a real number"),
        (1j, TypeError, "is a complex, not a real number"),
        ("1", TypeError, "is a str, not a real number"),
        (None, TypeError, "is a NoneType, not a real number"),
    ],
    ids=repr,
)
def test_what_is_no_finite_number_is_refused(number, error, complaint):
    with pytest.raises(error, match=f"^x_max {complaint}$"):
        exact.corners((0, 0, number, 1))


@pytest.mark.parametrize(
    ("fmt", "names"),
    [
        ("xyxy", ("x_min", "y_min", "x_max", "y_max")),
        ("xywh", ("x_min", "y_min", "w", "h")),
        ("cxcywh", ("x_c", "y_c", "w", "h")),
        ("xyxy_inclusive", ("x_min", "y_min", "x_max", "y_max")),
    ],
)
@pytest.mark.parametrize("position", range(4))
def test_a_bad_number_is_named_as_its_format_does(position, fmt, names):
    box = [0, 0, 1, 1]
    box[position] = nan
    with pytest.raises(ValueError, match=f"^{names[position]} is NaN$"):
        exact.corners(box, fmt)


@pytest.mark.parametrize(
    ("fmt", "box", "complaint"),
    [
        ("xyxy", (5, 0, 1, 2), "x_max < x_min"),
        ("xyxy", (0, 5, 2, 1), "y_max < y_min"),
        ("xyxy", (5, 5, 1, 1), "x_max < x_min"),
        ("xyxy_inclusive", (5, 0, 4, 2), "x_max < x_min"),
        ("xywh", (0, 0, -1, 1), "w < 0"),
        ("xywh", (0, 0, 1, -1), "h < 0"),
        ("cxcywh", (0, 0, -1, 1), "w < 0"),
        ("xyxy", (F(1, 3), 0, F(1, 3) - F(1, 10**30), 1), "x_max < x_min"),
    ],
)
def test_a_box_that_ends_before_it_starts_is_refused(fmt, box, complaint):
    with pytest.raises(ValueError, match=f"^{complaint}$"):
        exact.corners(box, fmt)


@pytest.mark.parametrize("box", [(), (1, 2, 3), (1, 2, 3, 4, 5)], ids=len)
def test_a_box_has_four_numbers(box):
    with pytest.raises(ValueError, match=f"a box has 4 numbers, this one has {len(box)}"):
        exact.corners(box)


@pytest.mark.parametrize("fmt", ["yxyx", "XYXY", "", None, ["xyxy"]], ids=repr)
def test_an_unknown_format_is_refused_with_the_known_ones(fmt):
    with pytest.raises(ValueError, match=r"unknown box format .*; known are 'xyxy', 'xywh'"):
        exact.area((0, 0, 1, 1), fmt=fmt)


def test_the_measures_of_a_pair_do_not_depend_on_its_order():
    boxes = [(0, 0, 3, 1), (1, 0, 2, 5), (7, 7, 7, 9), (1, 1, 1, 1)]
    measures = exact.intersection, exact.union, exact.iou, exact.giou, exact.diou, exact.ciou
    for measure, a, b in product(measures, boxes, boxes):
        assert measure(a, b) == measure(b, a)
