"""What holds for every pair of boxes, tried on pairs of every kind and magnitude."""

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from common import bits
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from iou import area, ciou, convert, diou, exact, giou, intersection, iou, pairwise, union

MEASURES = [intersection, union, iou, giou, diou, ciou]
CONVERSIONS = list(product(exact.FORMATS, exact.FORMATS))
ULP = Fraction(1, 2**53)
# Rounding to a subnormal number is off by up to half of the smallest.
SUBNORMAL = Fraction(1, 2**1075)


# Where boxes come from. A pair picks its corners from a few numbers, so that boxes which share
# an edge, touch, nest, coincide or have no area are as frequent as those in general position.

finite = st.floats(allow_nan=False, allow_infinity=False)
grid = st.integers(-8, 8).map(float)
pixels = st.integers(-(2**20), 2**20).map(float)
dyadic = st.integers(-(2**28), 2**28).map(lambda n: n / 2**8)
ordinary = st.floats(-1e4, 1e4)
far = st.floats(0, 1).map(lambda x: 1e9 + x)
huge = st.floats(1e150, 1.7e308) | st.floats(-1.7e308, -1e150)
tiny = st.floats(-1e-150, 1e-150)
mixed = finite | st.sampled_from([0.0, 1.0, 1e308, -1e308, 5e-324, 1e-200, 1e200])
NUMBERS = {
    "grid": grid,
    "ordinary": ordinary,
    "far from the origin": far,
    "huge": huge,
    "tiny": tiny,
    "mixed": mixed,
}


@st.composite
def pairs_of(draw, numbers):
    """Two boxes whose corners come from at most four numbers on each axis."""
    spans = []
    for _ in "xy":
        pool = st.sampled_from(draw(st.lists(numbers, min_size=2, max_size=4)))
        spans.append([sorted((draw(pool), draw(pool))) for _ in "ab"])
    (ax, bx), (ay, by) = spans
    return np.array([(ax[0], ay[0], ax[1], ay[1]), (bx[0], by[0], bx[1], by[1])])


every_pair = pairs_of(st.deferred(lambda: st.one_of(*NUMBERS.values()))) | st.one_of(
    *map(pairs_of, NUMBERS.values())
)
each_kind = pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
each_measure = pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.__name__)


# Near the exact value.


@each_kind
@given(data=st.data())
def test_iou_is_within_9_plus_7_iou_half_ulps(numbers, data):
    a, b = data.draw(pairs_of(numbers))
    value = exact.iou(a, b)
    bound = max((9 + 7 * value) * ULP * value, SUBNORMAL)
    assert abs(Fraction(iou(a, b)) - value) <= bound


@each_kind
@pytest.mark.parametrize("measure", [intersection, union], ids=lambda m: m.__name__)
@given(data=st.data())
def test_intersection_and_union_are_within_a_few_half_ulps(measure, numbers, data):
    a, b = data.draw(pairs_of(numbers))
    value = getattr(exact, measure.__name__)(a, b)
    result = measure(a, b)
    if result == np.inf:
        assert value >= Fraction(2**1024) * (1 - ULP)
    else:
        assert abs(Fraction(result) - value) <= max(8 * ULP * value, SUBNORMAL)


@each_kind
@pytest.mark.parametrize("measure", [giou, diou], ids=lambda m: m.__name__)
@given(data=st.data())
def test_giou_and_diou_are_within_16_half_ulps_of_one(measure, numbers, data):
    a, b = data.draw(pairs_of(numbers))
    value = getattr(exact, measure.__name__)(a, b)
    assert abs(Fraction(measure(a, b)) - value) <= 16 * ULP


def ciou_in_many_digits(a, b):
    """CIoU by its formula, with 100 digits; the aspect angles are not subtracted beforehand."""
    with mpmath.workdps(100):

        def number(fraction):
            return mpmath.mpf(fraction.numerator) / fraction.denominator

        def angle(box):
            x_min, y_min, x_max, y_max = map(Fraction, box)
            return mpmath.atan2(number(x_max - x_min), number(y_max - y_min))

        overlap = number(exact.iou(a, b))
        v = 4 / mpmath.pi**2 * (angle(b) - angle(a)) ** 2
        penalty = v**2 / ((1 - overlap) + v) if v else mpmath.mpf(0)
        return number(exact.diou(a, b)) - penalty


@each_kind
@pytest.mark.parametrize("measure", [ciou, exact.ciou], ids=["fast", "definition"])
@given(data=st.data())
def test_ciou_is_within_16_half_ulps_of_one(measure, numbers, data):
    a, b = data.draw(pairs_of(numbers)).tolist()
    assert abs(measure(a, b) - ciou_in_many_digits(a, b)) <= 16 * 2.0**-53


@given(every_pair)
def test_area_is_within_4_half_ulps(pair):
    value = exact.area(pair[0])
    result = area(pair[0])
    if result == np.inf:
        assert value >= Fraction(2**1024) * (1 - ULP)
    else:
        assert abs(Fraction(result) - value) <= max(4 * ULP * value, SUBNORMAL)


# Laws.


@each_measure
@given(pair=every_pair)
def test_the_order_of_a_pair_changes_no_bit(measure, pair):
    a, b = pair
    assert bits(measure(a, b)) == bits(measure(b, a))


@given(every_pair)
def test_every_measure_keeps_to_its_range(pair):
    a, b = pair
    overlap = iou(a, b)
    assert 0 <= overlap <= 1
    assert -1 <= giou(a, b) <= overlap
    assert -1 <= diou(a, b) <= overlap
    assert -1.5 <= ciou(a, b) <= 1
    assert 0 <= intersection(a, b) <= min(area(a), area(b))


# A box twice, however small or large, is found to be the same; a point or a line has no overlap.
@given(every_pair)
@example(np.array([[0, 0, 5e-324, 1.7e308]]))
@example(np.array([[-1.7e308, -1.7e308, 1.7e308, 1.7e308]]))
def test_a_box_has_iou_1_with_itself_exactly_where_it_has_area(pair):
    a = pair[0]
    value = 1 if exact.area(a) else 0
    assert [measure(a, a) for measure in (iou, giou, diou, ciou)] == [value] * 4


@given(pairs_of(dyadic), dyadic, dyadic)
def test_an_exact_translation_changes_no_bit(pair, dx, dy):
    for measure in (iou, giou, diou):
        assert bits(measure(*np.add(pair, (dx, dy, dx, dy)))) == bits(measure(*pair))


# Coordinates keep so far from the ends of the range that nothing underflows or overflows: there, a
# value is rounded once where it is rounded several times here, and may differ in the last bit.
@given(pairs_of(st.floats(-1e4, 1e4, width=32)), st.integers(-200, 200))
def test_scaling_by_a_power_of_two_changes_no_bit(pair, exponent):
    scaled = np.ldexp(pair, exponent)
    for measure in (iou, giou, diou):
        assert bits(measure(*scaled)) == bits(measure(*pair))


@given(pairs_of(pixels))
def test_a_box_inside_another_has_the_ratio_of_the_areas_as_iou(pair):
    a, b = pair
    inner = np.concatenate([np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])])
    assume((inner[:2] <= inner[2:]).all() and area(a) > 0)
    assert iou(inner, a) == area(inner) / area(a)
    assert giou(inner, a) == iou(inner, a)


@given(pairs_of(grid))
def test_iou_is_0_exactly_where_the_boxes_share_no_area(pair):
    (ax1, ay1, ax2, ay2), (bx1, by1, bx2, by2) = pair.tolist()
    meet = ax1 < bx2 and bx1 < ax2 and ay1 < by2 and by1 < ay2
    solid = ax1 < ax2 and ay1 < ay2 and bx1 < bx2 and by1 < by2
    assert (iou(*pair) > 0) == (meet and solid)


# Every way in gives the same.


@given(every_pair)
def test_a_pair_of_tuples_is_measured_as_arrays_are(pair):
    a, b = map(tuple, pair.tolist())
    assert bits(iou(a, b)) == bits(iou(*pair))


@given(st.lists(every_pair, min_size=2, max_size=3))
def test_a_table_holds_what_its_pairs_give_alone(pairs):
    a, b = np.swapaxes(pairs, 0, 1)
    for measure in MEASURES:
        table = pairwise(a, b, measure.__name__)
        assert bits(table) == bits([[measure(p, q) for q in b] for p in a])


@given(pairs_of(pixels))
def test_single_precision_and_integers_are_measured_as_float64_is(pair):
    for measure in MEASURES:
        for dtype in (np.float32, np.int32, np.longdouble):
            assert bits(measure(*pair.astype(dtype))) == bits(measure(*pair))


# Formats.


@pytest.mark.parametrize(("fmt", "to"), CONVERSIONS)
@settings(max_examples=30)
@given(pair=pairs_of(dyadic))
def test_exact_conversions_there_and_back_change_nothing(fmt, to, pair):
    # Wide enough to be boxes of the inclusive format, too.
    boxes = convert(np.add(pair, (0, 0, 1, 1)), to=fmt)
    there = convert(boxes, fmt=fmt, to=to)
    assert convert(there, fmt=to, to=fmt).tolist() == boxes.tolist()
    for measure in (iou, giou, diou, ciou):
        assert bits(measure(*there, fmt=to)) == bits(measure(*boxes, fmt=fmt))


@pytest.mark.parametrize("to", ["xywh", "cxcywh"])
@given(pair=pairs_of(st.one_of(ordinary, far, tiny, st.floats(-8e307, 8e307))))
def test_conversions_there_and_back_are_off_by_rounding_alone(to, pair):
    back = convert(convert(pair, to=to), fmt=to)
    largest = np.abs(pair).max(axis=1, keepdims=True)
    assert (np.abs(back - pair) <= 2 * np.spacing(largest)).all()


@pytest.mark.parametrize(("fmt", "to"), CONVERSIONS)
@settings(max_examples=50)
@given(pair=pairs_of(st.one_of(ordinary, far, tiny, st.floats(-4e307, 4e307))))
def test_a_conversion_is_the_exact_one_but_for_rounding(fmt, to, pair):
    for box in pair:
        if "w" in exact.FORMATS[fmt]:
            box[2:] = np.abs(box[2:])
        corners = exact.corners(box, fmt)
        numbers = exact.FROM_CORNERS[to](*corners)
        if to == "xyxy_inclusive" and not numbers[2] - numbers[0] > 0 < numbers[3] - numbers[1]:
            continue
        bound = 4 * ULP * max(map(abs, (*corners, *numbers))) + 2 * SUBNORMAL
        for result, number in zip(convert(box, fmt=fmt, to=to).tolist(), numbers, strict=True):
            assert abs(Fraction(result) - number) <= bound


@each_measure
@given(pair=pairs_of(pixels))
def test_the_inclusive_format_adds_one_to_the_far_corner(measure, pair):
    longer = np.add(pair, (0, 0, 1, 1))
    assert bits(measure(*pair, fmt="xyxy_inclusive")) == bits(measure(*longer))


@given(pairs_of(st.integers(-5, 5)))
def test_the_inclusive_format_counts_pixels(pair):
    a, b = (
        {(x, y) for x in range(box[0], box[2] + 1) for y in range(box[1], box[3] + 1)}
        for box in pair.tolist()
    )
    fmt = "xyxy_inclusive"
    assert area(pair, fmt=fmt).tolist() == [len(a), len(b)]
    assert intersection(*pair, fmt=fmt) == len(a & b)
    assert union(*pair, fmt=fmt) == len(a | b)
    assert iou(*pair, fmt=fmt) == len(a & b) / len(a | b)
