"""What counts as a box: which inputs are read, which are refused and how, areas, conversions."""

import inspect
import math
import re
from collections import UserList, deque
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import inf, nan

import numpy as np
import pytest

import iou
from iou import area, boxes, convert, exact

FORMATS = list(exact.FORMATS)
CONVERSIONS = list(product(FORMATS, FORMATS))
BIG = 2**70
INTEGERS = [np.dtype(kind + size) for kind in "iu" for size in "1248"]
FLOATS = [np.dtype(name) for name in ("float16", "float32", "float64", "longdouble")]
BOXES = np.array([[1, 2, 5, 9], [-3, -4, 0, 0], [7, 7, 7, 8]], dtype=np.float64)
AREAS = [4 * 7, 3 * 4, 0 * 1]
# Boxes of the four formats that are one and the same.
SAME = {
    "xyxy": (10, 20, 16, 28),
    "xywh": (10, 20, 6, 8),
    "cxcywh": (13, 24, 6, 8),
    "xyxy_inclusive": (10, 20, 15, 27),
}


class Tensor:
    """Not an array, but able to become one, as a data frame or a CPU tensor is."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


LAYOUTS = {
    "C order": lambda boxes: boxes.copy(order="C"),
    "Fortran order": lambda boxes: boxes.copy(order="F"),
    "every other row": lambda boxes: np.repeat(boxes, 2, axis=0)[::2],
    "every other number": lambda boxes: np.repeat(boxes, 2, axis=1)[:, ::2],
    "backwards": lambda boxes: boxes[::-1, ::-1].copy()[::-1, ::-1],
    "big-endian": lambda boxes: boxes.astype(boxes.dtype.newbyteorder(">")),
    "a list of lists": lambda boxes: boxes.tolist(),
    "a tuple of tuples": lambda boxes: tuple(map(tuple, boxes.tolist())),
    "a list of rows": list,
    "a list of tuples of scalars": lambda boxes: list(map(tuple, boxes)),
    "an object with __array__": Tensor,
}


# What is read.


@pytest.mark.parametrize("dtype", [*INTEGERS[:4], *FLOATS], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_boxes_are_read_from_any_layout_and_dtype(layout, dtype):
    given = layout(BOXES.astype(dtype))
    assert area(given).tolist() == AREAS
    result = convert(given, to="xywh")
    assert result.dtype == np.float64
    assert result.tolist() == [[1, 2, 4, 7], [-3, -4, 3, 4], [7, 7, 0, 1]]


def test_read_only_boxes_are_read():
    given = BOXES.copy()
    given.flags.writeable = False
    assert area(given).tolist() == AREAS
    assert convert(given).flags.writeable


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        pytest.param([], (0,), id="empty list"),
        pytest.param((), (0,), id="empty tuple"),
        pytest.param(np.empty((0, 4)), (0,), id="no rows"),
        pytest.param(np.empty((3, 0, 4), dtype=np.uint8), (3, 0), id="three times no rows"),
    ],
)
def test_no_boxes_are_boxes(given, shape):
    assert area(given).shape == shape
    assert convert(given, to="xywh").shape == (*shape, 4)
    assert convert(given).dtype == np.float64


@pytest.mark.parametrize("given", [(1, 2, 5, 9), [1.0, 2, 5, 9], BOXES[0], np.int8([1, 2, 5, 9])])
def test_the_area_of_a_single_box_is_a_python_float(given):
    result = area(given)
    assert type(result) is float
    assert result == 4 * 7


def test_leading_axes_are_kept():
    boxes = np.stack([BOXES, BOXES + 1])
    assert area(boxes).tolist() == [AREAS, AREAS]
    assert convert(boxes, to="xywh").shape == (2, 3, 4)


@pytest.mark.parametrize(
    "box",
    [(5, 5, 5, 5), (0, 3, 9, 3), (3, 0, 3, 9), (-9, -9, -1, -1), (0.0, 0.0, -0.0, 1.0)],
    ids=["point", "lying line", "upright line", "negative", "negative zero"],
)
def test_boxes_without_area_or_with_negative_coordinates_are_boxes(box):
    assert area(box) == (box[2] - box[0]) * (box[3] - box[1])


@pytest.mark.parametrize(
    "name", ["iou", "giou", "diou", "ciou", "intersection", "union", "pairwise"]
)
@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.float32], ids=lambda d: d.__name__)
def test_measuring_changes_no_input(name, fmt, dtype):
    # The second and third rows take the slow path, whose copies are others.
    a = np.array([[1, 2, 5, 9], [0, 0, 2**62, 2**62], [3, 3, 3, 3]]).astype(dtype)
    b = a[::-1].copy()
    kept = a.copy(), b.copy()
    getattr(iou, name)(a, b, fmt=fmt)
    np.testing.assert_array_equal((a, b), kept)


@pytest.mark.parametrize(("fmt", "to"), CONVERSIONS)
def test_a_conversion_is_a_new_array_and_leaves_the_old_one_alone(fmt, to):
    given = np.array([[1.0, 2, 5, 9], [1, 2, 2.0**60, 9]])
    kept = given.copy()
    result = convert(given, fmt=fmt, to=to)
    assert not np.shares_memory(result, given)
    assert result.flags.writeable
    np.testing.assert_array_equal(given, kept)


# Numbers near the limits of their types.


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_the_largest_box_of_an_integer_type_does_not_wrap(dtype):
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    whole = np.array([low, low, high, high], dtype=dtype)
    assert area(whole) == float((high - low) ** 2)
    assert area(whole, fmt="xyxy_inclusive") == float((high - low + 1) ** 2)
    assert iou.intersection(whole, whole) == float((high - low) ** 2)
    assert iou.union(whole, whole) == float((high - low) ** 2)
    assert iou.iou(whole, whole) == 1


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_a_corner_may_lie_beyond_the_integer_type(dtype):
    high = int(np.iinfo(dtype).max)
    assert area(np.array([high, 0, high, high], dtype=dtype), fmt="xywh") == float(high * high)
    far = convert(np.array([high, 0, high, 1], dtype=dtype), fmt="xywh")
    assert far.tolist() == [float(high), 0, float(2 * high), 1]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_halves_of_integers_are_kept(dtype):
    assert convert(np.array([10, 10, 3, 5], dtype=dtype), fmt="cxcywh").tolist() == [
        8.5,
        7.5,
        11.5,
        12.5,
    ]


@pytest.mark.parametrize("dtype", FLOATS[:3], ids=str)
def test_the_largest_box_of_a_float_type_does_not_overflow(dtype):
    top = float(np.finfo(dtype).max)
    whole, half = np.array([[0, 0, top, top], [0, 0, top, top / 2]], dtype=dtype)
    assert iou.iou(whole, half) == 0.5
    assert iou.iou(np.array([-top, -top, top, top], dtype=dtype), whole) == 0.25


@pytest.mark.parametrize("dtype", FLOATS[:3], ids=str)
def test_the_smallest_box_of_a_float_type_does_not_underflow(dtype):
    least = np.finfo(dtype).smallest_subnormal
    boxes = np.array([[0, 0, least, least], [0, 0, 2 * least, least]], dtype=dtype)
    assert iou.iou(*boxes) == 0.5


@pytest.mark.parametrize("scale", ["1e-4900", "1e4900"])
def test_long_doubles_beyond_float64_are_carried_exactly(scale):
    scale = np.longdouble(scale)
    if not 0 < scale < np.inf:
        pytest.skip("long double is no wider than float64 on this platform")
    a, b = np.array([[0, 0, 2, 2], [1, 1, 3, 3]]) * scale
    assert iou.iou(a, b) == 1 / 7
    assert iou.diou(a, b) == pytest.approx(1 / 7 - 2 / 18, rel=1e-15)


def test_long_doubles_are_not_rounded_to_float64():
    edge = np.longdouble(1) + np.finfo(np.longdouble).eps
    if edge == float(edge):
        pytest.skip("long double is no wider than float64 on this platform")
    assert area(np.array([1, 0, edge, 1], dtype=np.longdouble)) == float(edge - 1)


# 2**53 + 1 is the first integer that float64 skips. Boxes from 2**53 to it are one wide; rounded to
# float64, they would be two wide or nothing.
@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(np.int64, id="int64"),
        pytest.param(np.uint64, id="uint64"),
        pytest.param(lambda box: np.array(box, dtype=">i8"), id="big-endian"),
        pytest.param(list, id="ints"),
        pytest.param(lambda box: [np.int64(number) for number in box], id="scalars"),
        pytest.param(lambda box: [float(box[0]), 0.0, *box[2:]], id="ints and floats"),
        pytest.param(lambda box: [np.uint64(box[0]), 0.0, *map(np.int64, box[2:])], id="all kinds"),
    ],
)
@pytest.mark.parametrize("nest", [lambda box: box, lambda box: [box]], ids=["one", "table"])
def test_integers_beyond_2_53_are_not_rounded(wrap, nest):
    narrow, wide = ([2**53, 0, 2**53 + width, 1] for width in (1, 3))
    narrow, wide = nest(wrap(narrow)), nest(wrap(wide))
    assert area(narrow) == 1
    assert iou.iou(narrow, wide) == 1 / 3
    assert convert(narrow, to="xywh")[..., 2] == 1


@pytest.mark.parametrize("dtype", [np.int64, np.uint64], ids=lambda d: d.__name__)
def test_the_last_pixel_of_a_64_bit_type_is_one_wide(dtype):
    last = np.iinfo(dtype).max
    assert area(np.array([last, 0, last, 0], dtype=dtype), fmt="xyxy_inclusive") == 1


def test_signed_and_unsigned_64_bit_boxes_meet():
    a = np.array([2**63 - 2, 0, 2**63 - 1, 1], dtype=np.int64)
    b = np.array([2**63 - 2, 0, 2**63 + 2, 1], dtype=np.uint64)
    assert iou.iou(a, b) == 1 / 4


def test_integers_of_any_size_are_read_from_lists():
    assert area((0, 0, 10**200, 10**100)) == 1e300
    assert area([(-(10**400), 0, 10**400, 1), (0, 0, 1, 1)]).tolist() == [inf, 1]
    assert iou.iou([(0, 0, 10**400, 1)], [(0, 0, 3 * 10**400, 1)]) == 1 / 3


@pytest.mark.parametrize("scalar", [np.float64, np.float32], ids=lambda s: s.__name__)
def test_lists_of_large_numpy_scalars_are_read(scalar):
    assert area([scalar(0), scalar(0), scalar(2.0**60), scalar(1)]) == 2.0**60


@pytest.mark.parametrize(
    ("fmt", "narrow", "wide"),
    [
        ("xywh", (1e16, 0, 1, 1), (1e16, 0, 3, 1)),
        ("cxcywh", (1e16, 0, 1, 1), (1e16, 0, 3, 1)),
        ("xyxy_inclusive", (1e16, 0, 1e16, 0), (1e16, 0, 1e16 + 2, 0)),
        ("xywh", (0.0, -1e300, 1.0, 1e-300), (0.0, -1e300, 1.0, 3e-300)),
    ],
)
def test_sides_that_vanish_beside_a_coordinate_still_count(fmt, narrow, wide):
    assert area(narrow, fmt=fmt) == float(exact.area(narrow, fmt=fmt)) > 0
    assert iou.iou(narrow, wide, fmt=fmt) == pytest.approx(1 / 3, rel=1e-15)


def test_an_area_beyond_float64_is_infinite():
    assert area([(0, 0, 1e200, 1e200), (0, 0, 1e154, 1e154)]).tolist() == [inf, 1e154 * 1e154]


def test_an_area_below_the_normal_range_is_rounded_once():
    assert area((0, 0, 3e-162, 1e-162)) == float(Fraction(3e-162) * Fraction(1e-162)) > 0
    assert area((0, 0, 1e-200, 1e-200)) == 0


# What is refused.


def all_calls(given, fmt="xyxy"):
    """Every public function with something in the place of its boxes, and how it calls them."""
    good = (0, 0, 1, 1)
    yield "boxes", lambda: area(given, fmt=fmt)
    yield "boxes", lambda: convert(given, fmt=fmt)
    for name in ("iou", "giou", "diou", "ciou", "intersection", "union"):
        yield "a", lambda name=name: getattr(iou, name)(given, good, fmt=fmt)
        yield "b", lambda name=name: getattr(iou, name)(good, given, fmt=fmt)
    yield "a", lambda: iou.pairwise(given, [good], fmt=fmt)
    yield "b", lambda: iou.pairwise([good], given, fmt=fmt)


@pytest.mark.parametrize(
    ("given", "fmt", "complaint"),
    [
        ([[5, 0, 1, 2]], "xyxy", "[0] = (5, 0, 1, 2): x_max < x_min"),
        ([[0.5, 2, 1, 1]], "xyxy", "[0] = (0.5, 2.0, 1.0, 1.0): y_max < y_min"),
        ([[0, 0, 1, 1], [5, 0, 1, 2]], "xyxy", "[1] = (5, 0, 1, 2): x_max < x_min"),
        (np.uint8([[0, 0, 1, 1], [5, 0, 4, 2]]), "xyxy", "[1] = (5, 0, 4, 2): x_max < x_min"),
        (np.float32([[0, 0, 1, -0.5]]), "xyxy", "[0] = (0.0, 0.0, 1.0, -0.5): y_max < y_min"),
        ([[0, 0, 1, -1]], "xywh", "[0] = (0, 0, 1, -1): h < 0"),
        ([[0, 0, -1, 1]], "cxcywh", "[0] = (0, 0, -1, 1): w < 0"),
        ([[4, 4, 3, 4]], "xyxy_inclusive", "[0] = (4, 4, 3, 4): x_max < x_min"),
        ([[0, 0, 1, 1], [0, nan, 1, 1]], "xyxy", "[1] = (0.0, nan, 1.0, 1.0): y_min is NaN"),
        ([[0.0, 0.0, inf, 1.0]], "xywh", "[0] = (0.0, 0.0, inf, 1.0): w is infinite"),
        ([[-inf, 0.0, inf, 1.0]], "xyxy", "[0] = (-inf, 0.0, inf, 1.0): x_min is infinite"),
        ([[0, 0, BIG, 1], [BIG, 0, 1, 1]], "xyxy", f"[1] = ({BIG}, 0, 1, 1): x_max < x_min"),
        ([[BIG + 1, 0, 2.0**70, 1]], "xyxy", f"[0] = ({BIG + 1}, 0, {2.0**70}, 1): x_max < x_min"),
        ([[0, 0, BIG, nan]], "xyxy", f"[0] = (0, 0, {BIG}, nan): y_max is NaN"),
    ],
    ids=repr,
)
def test_every_function_names_the_row_that_is_no_box(given, fmt, complaint):
    for name, call in all_calls(given, fmt):
        with pytest.raises(ValueError, match=f"^{re.escape(name + complaint)}$"):
            call()


def test_a_single_bad_box_is_named_without_a_row():
    with pytest.raises(ValueError, match=r"^b = \(5, 0, 1, 2\): x_max < x_min$"):
        iou.iou((0, 0, 1, 1), (5, 0, 1, 2))


def test_the_first_of_several_bad_rows_is_named_by_all_its_indices():
    boxes = np.zeros((2, 3, 4))
    boxes[1, 0, 3] = -1
    boxes[1, 2, 0] = nan
    with pytest.raises(
        ValueError, match=r"^boxes\[1, 0\] = \(0.0, 0.0, 0.0, -1.0\): y_max < y_min$"
    ):
        area(boxes)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("position", "name"), [(0, "x_c"), (1, "y_c"), (2, "w"), (3, "h")])
@pytest.mark.parametrize("number", [nan, inf, -inf])
def test_a_number_that_is_not_finite_is_refused_wherever_it_stands(number, position, name, dtype):
    boxes = np.ones((3, 4), dtype=dtype)
    boxes[1, position] = number
    with pytest.raises(ValueError, match=rf"^boxes\[1\] = .*: {name} is (NaN|infinite)$"):
        area(boxes, fmt="cxcywh")


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        (5, "()"),
        ([1, 2, 3], "(3,)"),
        ([1, 2, 3, 4, 5], "(5,)"),
        ([[]], "(1, 0)"),
        (np.empty((0, 5)), "(0, 5)"),
        (np.zeros((4, 2)), "(4, 2)"),
    ],
    ids=str,
)
def test_a_last_axis_that_is_not_four_is_refused(given, shape):
    for name, call in all_calls(given):
        with pytest.raises(
            ValueError, match=re.escape(f"{name}: the last axis must be 4, the shape is {shape}")
        ):
            call()


def test_rows_of_different_lengths_are_refused():
    for name, call in all_calls([[0, 0, 1, 1], [0, 0, 1]]):
        with pytest.raises(ValueError, match=f"^{name}: the rows differ in length$"):
            call()


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (np.ones((1, 4), dtype=bool), "bool"),
        (np.array([[0, 0, 1, 1]], dtype=object), "object"),
        (np.zeros((1, 4), dtype="M8[s]"), "datetime64[s]"),
        (np.zeros((1, 4), dtype="m8[s]"), "timedelta64[s]"),
        (np.zeros((1, 4), dtype="f8,f8"), "[('f0', '<f8'), ('f1', '<f8')]"),
    ],
    ids=str,
)
def test_an_array_of_something_else_is_a_type_error(given, kind):
    for name, call in all_calls(given):
        message = f"{name}: boxes are arrays of integers or floats, not of {kind}"
        with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
            call()


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ((True, False, True, True), "bool"),
        ((0.0, 0, True, 1), "bool"),
        ((0, 0, np.True_, 1), "bool"),
        ((0, 0, 2**70, True), "bool"),
        ((0, 0, 1, 1j), "complex"),
        (("0", "0", "1", "1"), "str"),
        ((b"0", b"0", b"1", b"1"), "bytes"),
        ((0, 0, 1, None), "NoneType"),
        ((0, 0, 1, Fraction(1, 2)), "Fraction"),
        ((0, 0, 2**70, Decimal(1)), "Decimal"),
        ((0, 0, np.ma.masked, 1), "MaskedConstant"),
    ],
    ids=str,
)
def test_a_list_with_something_else_in_it_is_a_type_error_that_names_the_row(row, kind):
    for name, call in all_calls([(0, 0, 1, 1), row]):
        with pytest.raises(
            TypeError, match=rf"^{name}\[1\] = \(.*\): boxes are numbers, not {kind}"
        ):
            call()


@pytest.mark.parametrize(
    ("given", "kind"), [({0, 1, 2, 3}, "set"), (None, "NoneType"), ("box", "str")], ids=str
)
def test_what_is_no_array_at_all_is_a_type_error(given, kind):
    for name, call in all_calls(given):
        with pytest.raises(TypeError, match=f"^{name}: boxes are numbers, not {kind}$"):
            call()


def test_an_object_that_refuses_to_become_an_array_says_why_itself():
    class OnAnotherDevice:
        def __array__(self, dtype=None, copy=None):
            raise ValueError("copy it to the host first")

    for _, call in all_calls(OnAnotherDevice()):
        with pytest.raises(ValueError, match=r"^copy it to the host first$"):
            call()


def test_masked_rows_in_a_list_are_a_type_error():
    for name, call in all_calls([np.ma.array([0.0, 0, 5, 5], mask=[0, 0, 1, 1])]):
        with pytest.raises(TypeError, match=f"^{name}: masked arrays are not supported"):
            call()


@pytest.mark.parametrize("sequence", [UserList, deque, list, tuple])
def test_large_integers_keep_their_digits_in_every_kind_of_sequence(sequence):
    assert area(sequence([2**53, 0.0, 2**53 + 1, 1])) == 1


def test_a_side_of_negative_zero_is_a_side_of_zero():
    for box in ((0.0, 0.0, -0.0, 1.0), (-0.0, 0.0, 0.0, 1.0)):
        assert math.copysign(1, area(box)) == 1
        other = np.array([-1.0, -1, 1, 1])
        for value in (iou.iou(other, np.array(box)), iou.iou(np.array(box), other)):
            assert math.copysign(1, value) == 1


@pytest.mark.parametrize("box", [(0, 0, 0.5, 3), (3, 3, 3, 3)])
def test_a_box_narrower_than_a_pixel_has_no_inclusive_form(box):
    with pytest.raises(ValueError, match=r"^boxes\[1\] = .*: narrower than one pixel$"):
        convert([(0, 0, 1, 1), box], to="xyxy_inclusive")


@pytest.mark.parametrize("mask", [False, [[False, True, False, False]]], ids=["unmasked", "masked"])
def test_masked_arrays_are_a_type_error_whatever_is_masked(mask):
    for name, call in all_calls(np.ma.array([[0.0, 0, 1, 1]], mask=mask)):
        with pytest.raises(TypeError, match=f"^{name}: masked arrays are not supported"):
            call()


@pytest.mark.parametrize("fmt", ["yxyx", "XYXY", None, ["xyxy"]], ids=repr)
def test_an_unknown_format_is_refused(fmt):
    for _, call in all_calls([[0, 0, 1, 1]], fmt):
        with pytest.raises(ValueError, match=r"^unknown box format"):
            call()
    with pytest.raises(ValueError, match=r"^unknown box format"):
        convert((0, 0, 1, 1), to=fmt)


@pytest.mark.parametrize("name", iou.__all__)
def test_formats_are_passed_by_keyword_only(name):
    parameters = inspect.signature(getattr(iou, name)).parameters
    for parameter in parameters.keys() & {"fmt", "to"}:
        assert parameters[parameter].kind is inspect.Parameter.KEYWORD_ONLY


def test_whatever_takes_boxes_takes_their_format():
    for name in iou.__all__:
        parameters = inspect.signature(getattr(iou, name)).parameters
        assert "fmt" in parameters or not parameters.keys() & {"a", "boxes"}, name


# Conversions.


@pytest.mark.parametrize(("fmt", "to"), CONVERSIONS)
def test_a_box_converts_to_the_numbers_worked_by_hand(fmt, to):
    result = convert(SAME[fmt], fmt=fmt, to=to)
    assert result.tolist() == list(SAME[to])
    assert result.dtype == np.float64


@pytest.mark.parametrize(("fmt", "to"), [("xywh", "cxcywh"), ("cxcywh", "xywh")])
def test_sides_pass_from_format_to_format_unrounded(fmt, to):
    # 0.1 + 0.2 - 0.1 is not 0.2 in floating point.
    assert convert((0.1, 0.1, 0.2, 0.3), fmt=fmt, to=to)[2:].tolist() == [0.2, 0.3]


@pytest.mark.parametrize(("fmt", "to"), CONVERSIONS)
def test_converted_integers_are_rounded_once(fmt, to):
    box = (2**60 + 1, 2**60 + 3, 2**61 + 7, 2**61 + 9)
    numbers = exact.FROM_CORNERS[to](*exact.corners(box, fmt))
    assert convert([box, (0, 0, 1, 1)], fmt=fmt, to=to)[0].tolist() == list(map(float, numbers))


def test_a_centre_that_float64_carries_is_found_where_the_sum_of_the_corners_overflows():
    boxes = [(0, 0, 1, 1), (1e308, 0, 1.5e308, 1)]
    assert convert(boxes, to="cxcywh").tolist() == [[0.5, 0.5, 1, 1], [1.25e308, 0.5, 0.5e308, 1]]


@pytest.mark.parametrize(
    ("box", "fmt", "to"),
    [
        ((-1.5e308, 0, 1.5e308, 1), "xyxy", "xywh"),
        ((1.5e308, 0, 1.5e308, 1), "xywh", "xyxy"),
        ((0, 0, 10**400, 1), "xyxy", "xyxy"),
        ((0, 0, 10**400, 1), "xywh", "cxcywh"),
        ((-(10**400), 0, 0, 1), "xyxy", "cxcywh"),
    ],
)
def test_a_result_beyond_float64_is_refused_by_row(box, fmt, to):
    row = re.escape(f"boxes[1] = ({', '.join(map(str, box))}): beyond the range of float64")
    with pytest.raises(ValueError, match=f"^{row}$"):
        convert([(0, 0, 1, 1), box], fmt=fmt, to=to)


def test_a_long_double_beyond_float64_is_refused_by_conversion():
    top = np.finfo(np.longdouble).max
    if top == np.finfo(np.float64).max:
        pytest.skip("long double is no wider than float64 on this platform")
    with pytest.raises(ValueError, match=r"beyond the range of float64$"):
        convert(np.array([0, 0, top, 1], dtype=np.longdouble))


@pytest.mark.parametrize("fmt", FORMATS)
def test_reading_and_converting_do_not_depend_on_the_callers_error_state(fmt):
    boxes = [(0, 0, 5e-324, 5e-324), (1e308, 1e308, 1.7e308, 1.7e308)]
    expected = area(boxes, fmt=fmt).tolist(), convert(boxes[:1], fmt=fmt, to="cxcywh").tolist()
    with np.errstate(all="raise"):
        assert (
            area(boxes, fmt=fmt).tolist(),
            convert(boxes[:1], fmt=fmt, to="cxcywh").tolist(),
        ) == expected


# Room for tiles.


@pytest.mark.parametrize("dtype", [np.float64, np.float32, object])
def test_room_for_many_numbers_begins_at_a_line_of_the_cache(dtype):
    # They stay alive, so that each is somewhere else.
    rooms = [boxes.aligned(1024 + extra, dtype) for extra in range(100)]
    for extra, room in enumerate(rooms):
        assert room.shape == (1024 + extra,)
        assert room.dtype == dtype
        assert room.ctypes.data % 64 == 0


def test_room_for_few_numbers_is_room_too():
    for count in (0, 1, 1023):
        assert boxes.aligned(count).shape == (count,)


def test_arming_numpy_is_undone():
    before = np.geterr(), np.getbufsize()
    with boxes.Armed():
        assert set(np.geterr().values()) == {"raise"}
        assert np.getbufsize() == 16
    assert (np.geterr(), np.getbufsize()) == before
    with pytest.raises(FloatingPointError, match="overflow"), boxes.Armed():
        np.multiply(np.array([1e308]), 10)
    assert (np.geterr(), np.getbufsize()) == before
