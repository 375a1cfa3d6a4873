"""The join: the pairs of the table of all pairs, without the table."""

import re
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iou import exact, iou, neighbours, pairwise
from iou.boxes import evaluate
from iou.neighbours import Pairs, overlapping_pairs

FORMATS = list(exact.FORMATS)
THRESHOLDS = [0.0, 5e-324, 1e-300, 0.1, 1 / 3, 0.5, 0.6, 0.95, 1 - 2**-53]


def bits(pairs):
    """What tells apart every two answers."""
    return [(column.dtype.str, column.tobytes()) for column in pairs]


def from_the_table(table, threshold):
    first, second = np.nonzero(table > threshold)
    return Pairs(first.astype(np.int64), second.astype(np.int64), table[first, second])


def check(a, b, thresholds=(0.0, 0.3, 0.5, 0.8), fmt="xyxy"):
    """Compare both joins with the table of all pairs, to the bit."""
    between, within = pairwise(a, b, fmt=fmt), np.triu(pairwise(a, a, fmt=fmt), 1)
    for threshold in thresholds:
        found = overlapping_pairs(a, b, iou_threshold=threshold, fmt=fmt)
        assert bits(found) == bits(from_the_table(between, threshold)), threshold
        found = overlapping_pairs(a, iou_threshold=threshold, fmt=fmt)
        assert bits(found) == bits(from_the_table(within, threshold)), threshold


def boxes_at(centre, side):
    return np.concatenate([centre - side / 2, centre + side / 2], axis=1)


def scattered(rng, n=150):
    return boxes_at(rng.uniform(0, 300, (n, 2)), rng.uniform(10, 60, (n, 2)))


def on_a_grid(rng, n=150):
    corner, side = rng.integers(0, 20, (n, 2)), rng.integers(0, 6, (n, 2))
    return np.concatenate([corner, corner + side], axis=1)


def clustered(rng, n=150):
    objects = rng.uniform(0, 1000, (5, 2))[rng.integers(5, size=n)]
    return boxes_at(objects + rng.normal(0, 2, (n, 2)), rng.uniform(30, 34, (n, 2)))


def of_mixed_sizes(rng, n=150):
    side = 10.0 ** rng.uniform(-6, 6, (n, 1)) * rng.uniform(0.5, 2, (n, 2))
    return boxes_at(side * rng.uniform(-2, 2, (n, 2)), side)


def of_every_magnitude(rng, n=24):
    side = 10.0 ** rng.uniform(-320, 307, (n, 1)) * rng.uniform(0.5, 2, (n, 2))
    return boxes_at(side * rng.uniform(-1, 1, (n, 2)), side)


def far_away(rng, n=150):
    return scattered(rng, n) * 2.0**-40 + 1e6


def beside_a_giant(rng, n=150):
    return np.vstack([scattered(rng, n - 3), [[-1e9, -1e9, 1e9, 1e9]] * 2, [[0, 0, 300, 300]]])


def beside_an_outlier(rng, n=150):
    return np.vstack([scattered(rng, n - 2), [[1e200, 1e200, 1.1e200, 1.1e200]] * 2])


def crossing(rng, n=150):
    flat = np.concatenate([np.zeros((n, 1)), rng.uniform(0, 100, (n, 1))], axis=1)
    boxes = np.concatenate([flat, flat + np.array([100, 1])], axis=1)
    return np.where(rng.random((n, 1)) < 0.5, boxes, boxes[:, [1, 0, 3, 2]])


def without_area(rng, n=150):
    boxes = on_a_grid(rng, n)
    boxes[::2, 2] = boxes[::2, 0]
    boxes[::3, 3] = boxes[::3, 1]
    return boxes


def identical(rng, n=150):
    return np.tile([[3.0, 4.0, 7.5, 9.0]], (n, 1))


def around_thresholds(rng, n=150):
    """Boxes shifted so that their IoU is a threshold, or a unit in the last place beside it."""
    target = rng.choice([0.3, 0.5, 0.8], n)
    shift = (1 - target) / (1 + target) * (1 + rng.integers(-2, 3, n) * 2.0**-52)
    corner = np.stack([rng.choice([-1, 1], n) * shift, np.zeros(n)], axis=1)
    corner = np.where(rng.random((n, 1)) < 0.5, corner, corner[:, ::-1]) * (
        rng.random((n, 1)) < 0.9
    )
    return np.concatenate([corner, corner + 1], axis=1) * 2.0 ** rng.integers(0, 2, (n, 1))


FAMILIES = [
    scattered,
    on_a_grid,
    clustered,
    of_mixed_sizes,
    of_every_magnitude,
    far_away,
    beside_a_giant,
    beside_an_outlier,
    crossing,
    without_area,
    identical,
    around_thresholds,
]


# Values.


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_the_pairs_are_those_of_the_table(family, seed):
    rng = np.random.default_rng(seed)
    check(family(rng), family(rng))


def test_two_families_meet():
    rng = np.random.default_rng(0)
    for one in FAMILIES[:4]:
        for other in (of_mixed_sizes, beside_a_giant, crossing, without_area):
            check(one(rng, 60), other(rng, 90))


@pytest.mark.parametrize("axes", [[1, 0, 3, 2], [0, 1, 2, 3]], ids=["x and y swapped", "as it is"])
def test_many_boxes_in_many_strips(axes):
    rng = np.random.default_rng(0)
    a, b = (
        boxes_at(rng.uniform(0, (60, 6000), (1200, 2)), rng.uniform(5, 90, (1200, 2))) for _ in "ab"
    )
    check(a[:, axes], b[:, axes], [0.0, 0.5])


corner = st.one_of(
    st.integers(0, 6).map(float),
    st.floats(-1e4, 1e4),
    st.sampled_from(
        [0.0, 5e-324, 1e-323, 1e-200, 1e-160, 1.0, 1e9, 2.0**53, 1e160, 1e308, 1.7e308]
    ),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def sets_of_boxes(draw):
    """Two sets of boxes whose corners come from a few numbers, and so often touch or coincide."""
    pool = st.sampled_from(draw(st.lists(corner, min_size=2, max_size=6)))
    box = st.tuples(pool, pool, pool, pool).map(
        lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
    )
    return tuple(np.array(draw(st.lists(box, max_size=7))).reshape(-1, 4) for _ in "ab")


@settings(max_examples=100)
@given(sets=sets_of_boxes(), threshold=st.sampled_from(THRESHOLDS) | st.floats(0, 0.999))
def test_the_pairs_of_any_boxes_are_those_of_the_table(sets, threshold):
    check(*sets, [threshold])


def test_a_pair_at_the_threshold_is_left_out():
    a, b = [[0, 0, 4, 4]], [[1, 0, 5, 4]]
    assert iou(a[0], b[0]) == 3 / 5 == 0.6
    assert len(overlapping_pairs(a, b, iou_threshold=0.6).iou) == 0
    below = np.nextafter(0.6, 0)
    assert overlapping_pairs(a, b, iou_threshold=below).iou.tolist() == [0.6]
    assert overlapping_pairs(a, a, iou_threshold=np.nextafter(1, 0)).iou.tolist() == [1.0]


def test_every_fraction_with_small_terms_is_found_below_its_value_alone():
    for whole in range(2, 13):
        for part in range(1, whole):
            boxes = [[0, 0, whole, 1], [0, 0, part, 1]]
            value = part / whole
            assert len(overlapping_pairs(boxes, iou_threshold=value).iou) == 0
            below = overlapping_pairs(boxes, iou_threshold=np.nextafter(value, 0))
            assert below.iou.tolist() == [value]


def test_boxes_that_touch_share_no_area():
    tiles = [[x, y, x + 2, y + 2] for x in range(0, 10, 2) for y in range(0, 10, 2)]
    assert len(overlapping_pairs(tiles).iou) == 0


# Inputs.


HOSTILE = {
    "huge": [(0, 0, 1e308, 1e308), (5e307, 5e307, 1.5e308, 1.5e308), (0, 0, 1.1e308, 1e308)],
    "widest": [(-1.7e308, -1.7e308, 1.7e308, 1.7e308), (-1.7e308, -1.7e308, 1.6e308, 1.7e308)],
    "tiniest": [(0, 0, 5e-324, 5e-324), (0, 0, 1e-323, 5e-324), (0, 0, 1e-323, 1.5e-323)],
    "tiniest away from 0": [(1e-323, 0, 2e-323, 1e-323), (1e-323, 0, 3e-323, 1e-323)],
    "tiny": [(0, 0, 1e-200, 1e-200), (0, 0, 1e-200, 1.5e-200), (0, 0, 1e-200, 1e-120)],
    "needles": [(0, 0, 1e300, 1e-300), (0, 0, 1e-300, 1e300), (0, 0, 9e299, 1e-300)],
    "every size": [(0, 0, 10.0**e, 10.0**e) for e in range(-320, 309, 89)],
    "one unit in the last place wide": [(1, 1, 1 + 2**-52, 2), (1, 1, 1 + 2**-51, 2)],
    "beyond 2**53": [(2**53 + 1, 0, 2**53 + end, 2) for end in (3, 4, 5, 2)],
    "far beyond 2**53": [(2**62 + start, 0, 2**62 + 5, 9) for start in (0, 1, 2, 4)],
    "beyond float64": [
        (10**400, 0, 10**400 + 9, 1),
        (10**400 + 1, 0, 10**400 + 9, 1),
        (0, 10**400, 9, 10**400 + 9),
        (-(10**400), 0, 4, 1),
        (0, -(10**400), 1, 4),
        (0, 0, 4, 1),
    ],
}


@pytest.mark.parametrize("boxes", HOSTILE.values(), ids=HOSTILE)
def test_hostile_boxes_are_measured_as_single_pairs_are(boxes):
    boxes = [*boxes, *boxes[::-1], (0, 0, 1, 1)]
    table = np.array([[iou(p, q) for q in boxes] for p in boxes])
    for threshold in THRESHOLDS:
        found = overlapping_pairs(boxes, boxes, iou_threshold=threshold)
        assert bits(found) == bits(from_the_table(table, threshold))
        found = overlapping_pairs(boxes, iou_threshold=threshold)
        assert bits(found) == bits(from_the_table(np.triu(table, 1), threshold))


def test_neighbours_among_boxes_beyond_2_to_the_53():
    rng = np.random.default_rng(0)
    a, b = (on_a_grid(rng, 12) + np.array([2**61 + 1, -(2**60) - 1] * 2) for _ in "ab")
    check(a, b)
    check(np.abs(a[:, [0, 0, 2, 2]]).astype(np.uint64) * 4, a[:9] * 4)
    small = [[x % 97 for x in box] for box in a[:5].tolist()]
    small = [[min(x, z), min(y, w), max(x, z), max(y, w)] for x, y, z, w in small]
    check(a.tolist() + small, b.tolist() + small)


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_small_box_far_away_is_found_in_every_format(fmt):
    rng = np.random.default_rng(0)
    for offset, unit in ((2.0**53, 1.0), (1e15, 0.5), (1e300, 1e285), (1.0, 2.0**-51)):
        sides = "w" in exact.FORMATS[fmt]
        head = offset + unit * rng.integers(0, 6, (20, 2))
        tail = unit * rng.integers(0, 6, (20, 2)) + (0 if sides else head)
        boxes = np.concatenate([head, tail], axis=1)
        check(boxes, boxes[::-1][:12], fmt=fmt)


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("dtype", ["u1", "i2", ">i4", "i8", "u8", "f2", "f4", ">f8", "longdouble"])
def test_every_format_and_dtype(fmt, dtype):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 12, (60, 4)) for _ in "ab")
    if "w" not in exact.FORMATS[fmt]:
        a, b = (np.sort(boxes.reshape(-1, 2, 2), axis=1).reshape(-1, 4) for boxes in (a, b))
    check(a.astype(dtype), b.astype(dtype), fmt=fmt)


def test_lists_and_other_layouts_are_read_and_left_alone():
    boxes = on_a_grid(np.random.default_rng(0)).astype(float)
    expected = bits(overlapping_pairs(boxes, boxes))
    column_major = np.asfortranarray(boxes)
    column_major.flags.writeable = False
    assert bits(overlapping_pairs(boxes.tolist(), column_major)) == expected
    assert bits(overlapping_pairs(boxes[::-1][::-1], boxes)) == expected
    np.testing.assert_array_equal(boxes, on_a_grid(np.random.default_rng(0)))


def test_no_boxes_have_no_pairs():
    some = [[0, 0, 1, 1], [0, 0, 1, 1]]
    for pairs in (
        overlapping_pairs([]),
        overlapping_pairs([], some),
        overlapping_pairs(some, []),
        overlapping_pairs(np.empty((0, 4)), []),
        overlapping_pairs(some[:1]),
        overlapping_pairs([[1, 1, 1, 1]] * 2),
    ):
        assert bits(pairs) == [("<i8", b""), ("<i8", b""), ("<f8", b"")]


# The search.


@pytest.mark.parametrize("chunk", [1, 2, 7, 64])
@pytest.mark.parametrize("family", [clustered, of_mixed_sizes, identical], ids=lambda f: f.__name__)
def test_nothing_is_lost_between_chunks(monkeypatch, family, chunk):
    monkeypatch.setattr(neighbours, "_CHUNK", chunk)
    rng = np.random.default_rng(0)
    check(family(rng, 40), family(rng, 25), [0.0, 0.5])


def test_chunks_are_as_long_as_said():
    count = np.array([0, 3, 0, neighbours._CHUNK, 5, neighbours._CHUNK + 1, 1, 0])
    parts = [count[part] for part in neighbours.chunks(count)]
    assert np.concatenate(parts).tolist() == count.tolist()
    assert all(len(part) == 1 or part.sum() <= 2 * neighbours._CHUNK for part in parts)
    assert list(neighbours.chunks(np.zeros(3, dtype=int))) == []


@pytest.mark.parametrize("strip", [1e-3, 0.1, 50, 1e300])
@pytest.mark.parametrize("octaves", [0.5, 3, 1e9])
def test_strips_and_levels_decide_nothing(monkeypatch, strip, octaves):
    monkeypatch.setattr(neighbours, "_STRIP", strip)
    monkeypatch.setattr(neighbours, "_OCTAVES", octaves)
    rng = np.random.default_rng(0)
    check(scattered(rng, 40), beside_a_giant(rng, 30) if strip > 1 else scattered(rng, 30))


@pytest.mark.parametrize("short", [0, 1, 10**6])
def test_how_far_a_run_is_followed_decides_nothing(monkeypatch, short):
    monkeypatch.setattr(neighbours, "_SHORT", short)
    rng = np.random.default_rng(0)
    check(scattered(rng, 40), beside_a_giant(rng, 30))


def measured(monkeypatch, *args, **kwargs):
    """How many pairs are measured on the way."""
    count = 0

    def counting(measure, a, b):
        nonlocal count
        count += len(a.given)
        return evaluate(measure, a, b)

    monkeypatch.setattr(neighbours, "evaluate", counting)
    overlapping_pairs(*args, **kwargs)
    return count


def test_each_pair_is_measured_once_and_few_are(monkeypatch):
    rng = np.random.default_rng(0)
    same = identical(rng, 60)
    assert measured(monkeypatch, same) == 60 * 59 / 2
    assert measured(monkeypatch, same, same) == 60 * 60
    n = 4000
    spread = boxes_at(rng.uniform(0, 40 * n**0.5, (n, 2)), rng.uniform(10, 60, (n, 2)))
    touching = len(overlapping_pairs(spread).iou)
    assert measured(monkeypatch, spread) <= 1.01 * touching
    assert measured(monkeypatch, spread, iou_threshold=0.5) < 0.15 * touching


def test_levels_that_the_threshold_tells_apart_do_not_meet(monkeypatch):
    rng = np.random.default_rng(0)
    tall = crossing(rng, 300)
    assert measured(monkeypatch, tall) > 10_000
    within = sum(
        len(overlapping_pairs(part).iou) for part in (tall[tall[:, 0] == 0], tall[tall[:, 1] == 0])
    )
    assert measured(monkeypatch, tall, iou_threshold=0.5) < within


def test_memory_grows_with_the_boxes_and_the_pairs_reported():
    rng = np.random.default_rng(0)
    n = 20_000
    # The cores of boxes around one point all meet.
    around_one_point = boxes_at(np.zeros((2000, 2)), rng.uniform(10, 20, (2000, 2)))
    mixed = boxes_at(rng.uniform(0, 1e4, (n, 2)), 10.0 ** rng.uniform(-4, 4, (n, 2)))
    giants = np.vstack([scattered(rng, n) * 20, [[-1e9, -1e9, 1e9, 1e9]] * 100])
    for boxes in (around_one_point, mixed, giants):
        tracemalloc.start()
        pairs = overlapping_pairs(boxes, iou_threshold=0.97)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 600 * len(boxes) + 80 * len(pairs.iou) + 2**25


# Errors.


@pytest.mark.parametrize("threshold", [-1e-9, 1, 1.5, float("nan"), float("inf"), Fraction(7, 5)])
def test_a_threshold_out_of_range_is_refused(threshold):
    message = f"iou_threshold must be in [0, 1), it is {threshold}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        overlapping_pairs([], iou_threshold=threshold)


@pytest.mark.parametrize("threshold", ["0.5", None, True, np.True_, 0.5j, [0.5]])
def test_a_threshold_that_is_no_number_is_refused(threshold):
    kind = type(threshold).__name__
    with pytest.raises(TypeError, match=f"^iou_threshold must be a real number, it is a {kind}$"):
        overlapping_pairs([], iou_threshold=threshold)


@pytest.mark.parametrize(
    "threshold", [Fraction(1, 2), np.float32(0.5), np.float64(0.5), np.float16(0.5)]
)
def test_any_real_number_is_a_threshold(threshold):
    boxes = [[0, 0, 4, 4], [0, 0, 4, 2], [0, 0, 4, 3]]
    assert bits(overlapping_pairs(boxes, iou_threshold=threshold)) == bits(
        overlapping_pairs(boxes, iou_threshold=0.5)
    )
    assert len(overlapping_pairs(boxes, iou_threshold=0).iou) == 3


def test_what_is_no_table_of_boxes_is_refused():
    table = [[0, 0, 1, 1]]
    for a, b, name, shape in (
        ((0, 0, 1, 1), table, "a", "(4,)"),
        (table, [table], "b", "(1, 1, 4)"),
    ):
        message = f"{name} must have the shape (N, 4), not {shape}"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            overlapping_pairs(a, b)


def test_bad_boxes_are_named():
    with pytest.raises(ValueError, match=r"^b\[1\] = \(5, 0, 1, 1\): x_max < x_min$"):
        overlapping_pairs([[0, 0, 1, 1]], [[0, 0, 1, 1], [5, 0, 1, 1]])
    with pytest.raises(ValueError, match=r"^a\[0\] = "):
        overlapping_pairs([[0, 0, np.nan, 1]])
    with pytest.raises(ValueError, match="unknown box format"):
        overlapping_pairs([], fmt="yxyx")
    with pytest.raises(TypeError):
        overlapping_pairs([[True, False, True, True]])
