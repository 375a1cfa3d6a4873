"""The measures over arrays: their values, shapes and types, and the ways they are computed."""

import math
import random
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from common import GRID, bits

import iou as package
from iou import ciou, diou, exact, giou, intersection, iou, overlap, pairwise, union
from iou.boxes import nearest_float

MEASURES = ["intersection", "union", "iou", "giou", "diou", "ciou"]
FORMATS = list(exact.FORMATS)
ULP = 2.0**-53

A = [[0, 0, 4, 4], [1, 1, 5, 5], [3, 3, 3, 3], [0, 0, 2, 6], [7, 0, 9, 1]]
B = [[2, 2, 6, 6], [3, 2, 7, 6], [3, 3, 3, 3], [0, 0, 4, 4]]

# Pairs that float64 cannot measure by the plain formulas.
HOSTILE = {
    "huge": ((0, 0, 1e308, 1e308), (5e307, 5e307, 1.5e308, 1.5e308)),
    "widest": ((-1.7e308, -1.7e308, 1.7e308, 1.7e308), (0, 0, 1.7e308, 1.7e308)),
    "huge and apart": ((-1.7e308, -1.7e308, -1.6e308, -1e308), (1e308, 1e308, 1.7e308, 1.2e308)),
    "tiny": ((0, 0, 1e-200, 1e-200), (0, 0, 1e-200, 3e-200)),
    "tiniest": ((0, 0, 5e-324, 5e-324), (0, 0, 1e-323, 5e-324)),
    "tiny overlap": ((0, 0, 1e-200, 1e-200), (0, 0, 1e-200, 1e-120)),
    "tiny beside huge": ((0, 0, 5e-324, 5e-324), (0, 0, 1e308, 1e308)),
    "needles": ((0, 0, 1e300, 1e-300), (0, 0, 1e-300, 1e300)),
    "needle through a box": ((0, 0, 1e-160, 1e160), (0, 0, 1, 1)),
    "tiny and far apart": ((0, 0, 1e-300, 1e-300), (1, 1, 1 + 1e-15, 1 + 1e-15)),
    "hair between centres": ((0, 0, 1, 1), (1e-170, 0, 1, 1)),
    "tiny quotient": ((0, 0, 3, 7), (2.9, 6, 1e308, 7.1)),
}


def each_exactly(measure, a, b, **kwargs):
    """The table of all pairs, by the definition, rounded once."""
    definition = getattr(exact, measure)
    return [[nearest_float(definition(p, q, **kwargs)) for q in b] for p in a]


# Values.


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (intersection, 2 * 3),
        (union, 16 + 16 - 6),
        (iou, 6 / 26),
        (giou, 6 / 26 - 4 / 30),
        (diou, 6 / 26 - 5 / 61),
        (ciou, 6 / 26 - 5 / 61),
    ],
    ids=MEASURES,
)
@pytest.mark.parametrize("kind", [tuple, list, np.array], ids=["tuples", "lists", "arrays"])
def test_the_worked_example_has_the_value_worked_by_hand(measure, value, kind):
    result = measure(kind((1, 1, 5, 5)), kind((3, 2, 7, 6)))
    assert type(result) is float
    assert result == pytest.approx(value, rel=0, abs=4 * ULP)


def test_ciou_weighs_the_difference_of_the_aspect_angles():
    v = 4 / math.pi**2 * (math.atan(2) - math.atan(1 / 2)) ** 2
    expected = 1 / 3 - 2 / 32 - v / (1 - 1 / 3 + v) * v
    assert ciou((0, 0, 4, 2), (0, 0, 2, 4)) == pytest.approx(expected, rel=0, abs=8 * ULP)


@pytest.mark.parametrize("measure", MEASURES)
def test_every_way_in_which_two_boxes_can_lie_is_measured_as_defined(measure):
    table = pairwise(GRID, GRID, measure)
    expected = each_exactly(measure, GRID, GRID)
    # Quotients of small integers are rounded once, as Python's are; differences of two, more often.
    tolerance = 0 if measure in ("intersection", "union", "iou") else 4 * ULP
    np.testing.assert_allclose(table, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_reads_every_format(measure, fmt):
    boxes = [(0, 0, 4, 4), (1, 1, 5, 5), (0, 0, 2, 6)], [(2, 2, 6, 6), (3, 2, 7, 6)]
    a, b = ([exact.FROM_CORNERS[fmt](*box) for box in side] for side in boxes)
    expected = each_exactly(measure, a, b, fmt=fmt)
    np.testing.assert_allclose(pairwise(a, b, measure, fmt=fmt), expected, rtol=0, atol=8 * ULP)
    assert getattr(package, measure)(a[0], b[1], fmt=fmt) == pairwise(a, b, measure, fmt=fmt)[0, 1]


# 0/0 is 0, in the IoU and in each penalty.
@pytest.mark.parametrize(
    ("measure", "a", "b", "value"),
    [
        pytest.param("iou", (3, 3, 3, 3), (3, 3, 3, 3), 0, id="iou-point-itself"),
        pytest.param("iou", (0, 0, 0, 4), (0, 0, 0, 4), 0, id="iou-line-itself"),
        pytest.param("iou", (0, 0, 0, 4), (2, 0, 2, 4), 0, id="iou-lines"),
        pytest.param("giou", (3, 3, 3, 3), (3, 3, 3, 3), 0, id="giou-point-itself"),
        pytest.param("giou", (0, 0, 1, 0), (5, 0, 6, 0), 0, id="giou-hull-is-a-line"),
        pytest.param("giou", (0, 0, 0, 0), (2, 2, 2, 2), -1, id="giou-points"),
        pytest.param("diou", (3, 3, 3, 3), (3, 3, 3, 3), 0, id="diou-point-itself"),
        pytest.param("diou", (0, 0, 0, 0), (2, 2, 2, 2), -1, id="diou-points"),
        pytest.param("ciou", (3, 3, 3, 3), (3, 3, 3, 3), 0, id="ciou-point-itself"),
        pytest.param("ciou", (0, 0, 4, 2), (0, 0, 4, 2), 1, id="ciou-box-itself"),
        pytest.param("ciou", (0, 1, 2, 1), (1, 0, 1, 2), -1 / 2, id="ciou-crossing-lines"),
    ],
)
@pytest.mark.parametrize("kind", [tuple, np.array], ids=["tuples", "arrays"])
def test_zero_over_zero_is_zero_in_each_term(measure, a, b, value, kind):
    result = getattr(package, measure)(kind(a), kind(b))
    assert result == pytest.approx(value, rel=0, abs=2 * ULP)
    assert bits(result) != bits(-0.0)


def test_no_epsilon_lowers_the_iou_of_small_boxes():
    assert iou((0, 0, 1e-5, 1e-5), (0, 0, 1e-5, 1e-5)) == 1
    assert iou(np.array([0, 0, 1e-9, 1e-9]), np.array([0, 0, 1e-9, 5e-10])) == 0.5


def test_giou_of_two_boxes_that_fill_the_enclosing_box_is_not_above_their_iou():
    # Rounding lifts 0.1 · 0.1 + 0.2 · 0.1 above 0.3 · 0.1.
    assert giou((0, 0, 0.1, 0.1), (0.1, 0, 0.3, 0.1)) == 0
    rng = np.random.default_rng(0)
    (left, middle, right), height = np.sort(rng.random((3, 1000)), axis=0), rng.random(1000)
    zero = np.zeros(1000)
    a, b = (np.stack([x, zero, y, height], -1) for x, y in ((left, middle), (middle, right)))
    assert giou(a, b).max() <= 0


# Shapes and types.


@pytest.mark.parametrize(
    ("a", "b", "shape"),
    [
        ((4,), (3, 4), (3,)),
        ((3, 4), (4,), (3,)),
        ((3, 4), (3, 4), (3,)),
        ((3, 4), (1, 4), (3,)),
        ((1, 4), (1, 4), (1,)),
        ((3, 1, 4), (5, 4), (3, 5)),
        ((2, 1, 3, 4), (5, 1, 4), (2, 5, 3)),
        ((0, 4), (4,), (0,)),
        ((0, 4), (1, 4), (0,)),
        ((3, 1, 4), (0, 4), (3, 0)),
    ],
    ids=str,
)
@pytest.mark.parametrize("measure", MEASURES)
def test_leading_axes_broadcast(measure, a, b, shape):
    rng = np.random.default_rng(0)
    a, b = (np.sort(rng.integers(0, 9, (*s[:-1], 2, 2)), -2).reshape(s) for s in (a, b))
    result = getattr(package, measure)(a, b)
    assert isinstance(result, np.ndarray)
    assert (result.shape, result.dtype) == (shape, np.float64)
    rows = zip(
        *(np.broadcast_to(x, (*shape, 4)).reshape(-1, 4).tolist() for x in (a, b)), strict=True
    )
    assert result.ravel().tolist() == [getattr(package, measure)([p], [q])[0] for p, q in rows]


@pytest.mark.parametrize("dtype", ["u1", "i1", "u8", ">i2", "f2", "f4", ">f8", "g"])
@pytest.mark.parametrize("measure", MEASURES)
def test_results_are_float64_whatever_comes_in(measure, dtype):
    result = pairwise(np.array(A, dtype=dtype), np.array(B, dtype="f4"), measure)
    assert result.dtype == np.float64
    assert result.tolist() == pairwise(A, B, measure).tolist()


@pytest.mark.parametrize("measure", MEASURES)
def test_no_boxes_have_no_measures(measure):
    # A box that needs the definition, beside none that it could be measured with, must do no harm.
    for boxes in ([], [[0, 0, 1, 1]], [[0, 0, 1e200, 1e200]] * 3, [[0, 0, 1, 2**53 + 1]] * 3):
        assert pairwise([], boxes, measure).shape == (0, len(boxes))
        assert pairwise(boxes, [], measure).shape == (len(boxes), 0)
    assert getattr(package, measure)([], (0, 0, 1e200, 1e200)).shape == (0,)


@pytest.mark.parametrize("measure", MEASURES)
def test_shapes_that_do_not_broadcast_are_refused_with_advice(measure):
    message = (
        r"^a and b do not broadcast: their shapes are \(3, 4\) and \(2, 4\); "
        r"for the table of all pairs use pairwise\(a, b\)$"
    )
    with pytest.raises(ValueError, match=message):
        getattr(package, measure)(np.zeros((3, 4)), np.zeros((2, 4)))


@pytest.mark.parametrize("tile", [1, 2, 3, 7, 16, 64])
@pytest.mark.parametrize("measure", MEASURES)
def test_the_size_of_a_tile_changes_no_bit(monkeypatch, measure, tile):
    rng = np.random.default_rng(1)
    a, b = (np.sort(rng.random((n, 2, 2)), axis=1).reshape(n, 4) for n in (13, 11))
    whole = pairwise(a, b, measure), getattr(package, measure)(a[:11].reshape(1, 11, 4), b)
    monkeypatch.setattr("iou.boxes._ROOM", tile * overlap.MEASURES[measure].planes)
    parts = pairwise(a, b, measure), getattr(package, measure)(a[:11].reshape(1, 11, 4), b)
    assert list(map(bits, parts)) == list(map(bits, whole))


# The way through the definitions.


@pytest.mark.parametrize(("a", "b"), HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("kind", [tuple, np.array], ids=["tuples", "arrays"])
@pytest.mark.parametrize("measure", MEASURES)
def test_what_plain_formulas_cannot_measure_is_right_all_the_same(measure, a, b, kind):
    expected = nearest_float(getattr(exact, measure)(a, b))
    result = getattr(package, measure)(kind(a), kind(b))
    # Beside a term of order 1 in a difference, one that is right to the last bit is lost anyway.
    absolute = 0 if measure in ("intersection", "union", "iou") else 4 * ULP
    assert result == pytest.approx(expected, rel=4 * ULP, abs=absolute)


@pytest.fixture
def counted(monkeypatch):
    """Count the pairs that are measured by their definition; give the list of them."""
    pairs = []

    def watch(name):
        measure = overlap.MEASURES[name]

        def definition(a, b, fmt):
            pairs.append((tuple(a), tuple(b)))
            return measure.definition(a, b, fmt=fmt)

        monkeypatch.setitem(overlap.MEASURES, name, replace(measure, definition=definition))
        return pairs

    return watch


# Not the intersection, which never exceeds the ordinary one of two boxes, and needs no help here.
@pytest.mark.parametrize("measure", MEASURES[1:])
@pytest.mark.parametrize(
    "hostile",
    [(0.0, 0.0, 1e308, 1e308), (0, 0, 2**53 + 1, 1), (0.0, 0.0, 1e-308, 1e-308)],
    ids=["overflow", "large integer", "underflow"],
)
def test_only_pairs_with_a_hostile_box_are_left_to_the_definitions(counted, measure, hostile):
    pairs = counted(measure)
    rng = np.random.default_rng(2)
    a, b = (np.sort(rng.random((n, 2, 2)), axis=1).reshape(n, 4).tolist() for n in (50, 40))
    ordinary = pairwise(a, b, measure)
    assert pairs == []
    a[17] = list(hostile)
    table = pairwise(a, b, measure)
    assert len(pairs) == len(set(pairs)) > 0
    assert {p for p, _ in pairs} == {hostile}
    others = np.arange(50) != 17
    assert bits(table[others]) == bits(ordinary[others])
    # A kernel that copes with a hostile box is as near as it is to others.
    np.testing.assert_allclose(
        table[17], each_exactly(measure, [hostile], b)[0], rtol=16 * ULP, atol=16 * ULP
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_no_pair_of_small_integers_is_left_to_the_definitions(counted, measure):
    pairs = counted(measure)
    pairwise(GRID, GRID, measure)
    assert pairs == []


def test_a_hostile_box_in_a_broadcast_is_the_only_one_left_to_the_definition(counted):
    pairs = counted("iou")
    a = np.array([[[0, 0, 2.0, 2]], [[0, 0, 1e200, 1e200]]])
    b = np.array([[0, 0, 1.0, 2], [0, 0, 1e200, 5e199], [0, 0, 2, 2]])
    assert iou(a, b).tolist() == [[0.5, 0, 1], [0, 0.5, 0]]
    assert len(pairs) == 4


@pytest.mark.parametrize("measure", MEASURES)
def test_floating_point_errors_are_neither_seen_nor_changed_by_the_caller(measure):
    a, b = np.array(list(HOSTILE.values()), dtype=float).swapaxes(0, 1)
    expected = getattr(package, measure)(a, b)
    with np.errstate(all="raise"):
        before = np.geterr()
        result = getattr(package, measure)(a, b)
        assert np.geterr() == before
    assert bits(result) == bits(expected)


# One pair of tuples or lists, which does not go through arrays.


def coordinates(kind, rng):
    """Make a source of numbers of one kind."""
    return {
        "small integers": lambda: rng.randint(-4, 4),
        "pixels": lambda: rng.randint(0, 4000),
        "integers with inexact products": lambda: rng.randint(0, 2 ** rng.randint(26, 53)),
        "integers beyond float64": lambda: rng.randint(0, 2 ** rng.randint(53, 70)),
        "unit square": rng.random,
        "halves": lambda: rng.randint(-4, 4) / 2,
        "far from the origin": lambda: 1e9 + rng.random(),
        "every magnitude": lambda: rng.choice((-1, 1)) * 2.0 ** rng.uniform(-1074, 1023.9),
        "areas that underflow": lambda: rng.random() * 2.0 ** rng.uniform(-540, -500),
        "areas that overflow": lambda: rng.random() * 2.0 ** rng.uniform(500, 520),
        "quotients that underflow": lambda: rng.random() * 2.0 ** rng.choice((-2, 511)),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "small integers",
        "pixels",
        "integers with inexact products",
        "integers beyond float64",
        "unit square",
        "halves",
        "far from the origin",
        "every magnitude",
        "areas that underflow",
        "areas that overflow",
        "quotients that underflow",
    ],
)
def test_one_pair_has_the_value_that_arrays_give_to_the_bit(kind):
    rng = random.Random(kind)
    number = coordinates(kind, rng)

    def box():
        x, y = (sorted((number(), number())) for _ in "xy")
        return x[0], y[0], x[1], y[1]

    pairs = [(box(), box()) for _ in range(1000)]
    single = [iou(a, b) for a, b in pairs]
    table = iou([a for a, _ in pairs], [b for _, b in pairs])
    assert bits(single) == bits(table)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param((0, 0, 2, 2), (2, 0, 4, 2), id="touching"),
        pytest.param((0.0, 0.0, 2.0, 2.0), (3.0, 3.0, 4.0, 4.0), id="apart"),
        pytest.param((0.0, 0.0, 2.0, 2.0), (3.0, 0.0, 4.0, 2.0), id="apart in x alone"),
        pytest.param((3, 3, 3, 3), (3, 3, 3, 3), id="point"),
        pytest.param((0, 0, 0, 4), (-1, 1, 1, 3), id="line"),
        pytest.param((0.0, 0.0, -0.0, 1.0), (-0.0, 0.0, 0.0, 1.0), id="signed zeros"),
        pytest.param((-1.0, 0.0, -0.0, 1.0), (0.0, 0.0, 1.0, 1.0), id="touching at signed zero"),
        pytest.param((0.0, 0.0, 1e-200, 1e-200), (0.0, 0.0, 1e-200, 1e-120), id="shared vanishes"),
        pytest.param((0.0, 0.0, 1e-162, 1e-162), (0.0, 0.0, 3e-162, 1e-162), id="shared subnormal"),
        pytest.param((0.0, 0.0, 5e-324, 5e-324), (0.0, 0.0, 5e-324, 5e-324), id="union vanishes"),
        pytest.param((0.0, 0.0, 0.1, 0.7), (0.0, 0.0, 1e308, 0.85), id="quotient subnormal"),
        pytest.param((0.0, 0.0, 1e308, 1e308), (0.0, 0.0, 1e308, 1e308), id="union overflows"),
        pytest.param((-1.7e308, 0.0, 1.7e308, 1.0), (0.0, 0.0, 1.0, 1.0), id="side overflows"),
        pytest.param((0, 0, 2**26, 2**26), (0, 0, 2**26, 2**26 - 1), id="union 2**52"),
        pytest.param((0, 0, 2**53 + 1, 1), (0, 0, 2**53, 1), id="skipped integer"),
        pytest.param((0, 0, 10**400, 1), (0, 0, 10**400, 3), id="integers beyond range"),
        pytest.param((0, 0, 1.5, 1), (0.0, 0, 1, 1), id="ints and floats"),
        pytest.param(tuple(np.float64((0, 0, 2, 2))), (0.0, 0.0, 1.0, 2.0), id="scalars"),
        pytest.param([0, 0, 2, 2], (0, 0, 1, 2), id="list and tuple"),
    ],
)
def test_one_pair_on_an_edge_has_the_value_that_arrays_give_to_the_bit(a, b):
    assert type(iou(a, b)) is float
    assert bits(iou(a, b)) == bits(iou(b, a)) == bits(iou([a], [b])) == bits(iou([b], [a]))
    assert iou(a, b) == float(exact.iou(a, b))


@pytest.mark.parametrize(
    "bad",
    [
        (2, 0, 1, 1),
        (0.0, 1.0, 1.0, 0.5),
        (0, 0, math.nan, 1),
        (math.nan, 0.0, 1.0, 1.0),
        (0.0, math.nan, 1.0, 1.0),
        (0.0, 0.0, math.inf, 1.0),
        (-math.inf, 0.0, 0.0, 1.0),
        (math.inf, 0.0, math.inf, 1.0),
        (0.0, 0.0, math.inf, 0.0),
        (-math.inf, -math.inf, math.inf, math.inf),
        (0, 0, 1),
        (0, 0, 1, 1, 1),
        (False, False, True, True),
        ("0", "0", "1", "1"),
        (0, 0, 1j, 1),
        (0, 0, 1, None),
        (Fraction(0), Fraction(0), Fraction(1), Fraction(1)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("place", ["a", "b", "both"])
def test_one_pair_is_refused_as_arrays_are(bad, place):
    good = (0.0, 0.0, 1.0, 1.0)
    a, b = (good if place == "b" else bad), (good if place == "a" else bad)
    with pytest.raises((TypeError, ValueError)) as single:
        iou(a, b)
    # GIoU has no way round the arrays.
    with pytest.raises(single.type, match=f"^{re.escape(str(single.value))}$"):
        giou(a, b)


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        ((1, 1, 5, 5), (3, 2, 7, 6), 6 / 26),
        ([0.0, 0.0, 2.0, 2.0], [5.0, 5.0, 6.0, 6.0], 0),
        ((0.0, 0.0, 2.0, 2.0), (0.0, 5.0, 2.0, 6.0), 0),
        ((0, 0, 2, 2), (2, 0, 4, 2), 0),
    ],
)
def test_an_ordinary_pair_does_not_go_through_arrays(monkeypatch, a, b, value):
    monkeypatch.delattr("iou.overlap._broadcast")
    assert iou(a, b) == value


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((0.0, -0.5, 0.9, 0.5), (1e-160, -0.6, 0.9, 0.6)),
        ((0.0, 0.0, 1e155, 0.7), (0.0, 0.0, 1e155, 0.6)),
    ],
    ids=["a distance that underflows", "a diagonal that overflows"],
)
def test_no_variant_exceeds_the_iou_where_only_its_own_terms_need_the_definition(a, b):
    for measure in (giou, diou, ciou):
        assert measure(a, b) <= iou(a, b)


def test_numpys_buffer_and_error_state_are_left_as_they_were():
    with np.errstate(all="print"):
        np.setbufsize(4096)
        state = np.geterr()
        pairwise([(0, 0, 1e308, 1e308)], [(1, 1, 5, 5)])
        assert np.getbufsize() == 4096
        assert np.geterr() == state
