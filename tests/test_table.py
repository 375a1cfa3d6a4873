"""The table of all pairs: each value as it is alone, by rows or by groups."""

import tracemalloc

import numpy as np
import pytest
from common import GRID, bits

import iou as package
from iou import overlap, pairwise, table

SHAPES = [(1, 1), (1, 9), (9, 1), (7, 10), (12, 4), (3, 50), (40, 30), (200, 3), (0, 4), (4, 0)]


@pytest.fixture
def small_groups(monkeypatch):
    """Tables of any size are made by groups of about three rows, four columns at a time."""
    small = {"_SMALL": 1, "_GROUP": 3, "_TOGETHER": 2, "_BLOCK": 4, "_WORTHWHILE": 1}
    for name, value in small.items():
        monkeypatch.setattr(table, name, value)


@pytest.fixture(params=["by rows", "by groups"])
def either_way(request, monkeypatch):
    """Tables of any size are made in small tiles, or by small groups."""
    if request.param == "by groups":
        request.getfixturevalue("small_groups")
    monkeypatch.setattr("iou.boxes._ROOM", 300)
    monkeypatch.setattr(table, "_ROOM", 300)


@pytest.fixture
def measured(monkeypatch):
    """Count the values that are measured."""
    counts = []

    def counting(function):
        def count(out, *rest):
            counts.append(out.size)
            function(out, *rest)

        return count

    for name in ("fill", "fill_tiles"):
        monkeypatch.setattr(table, name, counting(getattr(table, name)))
    return counts


def scattered(count, seed, side=1.0):
    rng = np.random.default_rng(seed)
    low = rng.uniform(-50, 50, (count, 2))
    return np.hstack([low, low + rng.uniform(0, side, (count, 2))])


def alone(measure, a, b):
    return np.array([[getattr(package, measure)(p, q) for q in b] for p in a])


# What is asked for, and what for it is put into.


@pytest.mark.parametrize("measure", overlap.MEASURES)
def test_row_i_and_column_j_of_a_table_belong_to_a_i_and_b_j(measure):
    a, b = GRID[::3], GRID[::7]
    assert bits(pairwise(a, b, measure)) == bits(alone(measure, a, b))


def test_a_table_is_of_iou_unless_told_otherwise():
    assert pairwise(GRID, GRID).tolist() == pairwise(GRID, GRID, "iou").tolist()


def test_an_unknown_measure_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"^unknown measure 'area'; known are 'intersection', "):
        pairwise(GRID, GRID, "area")


@pytest.mark.parametrize(
    ("a", "b", "complaint"),
    [
        (GRID[0], GRID, r"a must have the shape \(N, 4\), not \(4,\)"),
        (GRID, [GRID], r"b must have the shape \(N, 4\), not \(1, 100, 4\)"),
    ],
)
def test_a_table_needs_tables(a, b, complaint):
    with pytest.raises(ValueError, match=f"^{complaint}$"):
        pairwise(a, b)


def test_a_table_needs_little_memory_beside_itself():
    boxes = np.sort(np.random.default_rng(0).random((1500, 2, 2)), axis=1).reshape(-1, 4)
    tracemalloc.start()
    try:
        result = pairwise(boxes, boxes, "ciou")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - result.nbytes < 8 * 2**20 < result.nbytes


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("measure", overlap.MEASURES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_threads_and_a_result_to_write_to_change_no_bit(measure, shape):
    a, b = scattered(shape[0], 1, 30), scattered(shape[1], 2, 30)
    expected = alone(measure, a, b).tobytes()
    for workers in (1, 2, 3):
        assert pairwise(a, b, measure, workers=workers).tobytes() == expected
        for out in (np.full(shape, np.nan), np.full(shape[::-1], np.nan).T):
            assert pairwise(a, b, measure, out=out, workers=workers) is out
            assert out.tobytes() == expected


def test_a_hostile_box_is_measured_by_every_thread_as_defined():
    boxes = [(0, 0, 1e308, 1e308), (0, 0, 2**53 + 1, 1), (1, 1, 5, 5), (3, 2, 7, 6)]
    assert bits(pairwise(boxes, boxes, workers=2)) == bits(pairwise(boxes, boxes))


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.empty((2, 1)), ValueError, r"^out must have the shape \(1, 2\), not \(2, 1\)$"),
        (
            np.empty((1, 2), dtype=np.float32),
            TypeError,
            r"^out must be an array of float64, without a mask$",
        ),
        (np.ma.zeros((1, 2)), TypeError, r"^out must be an array of float64, without a mask$"),
        ([[0.0, 0.0]], TypeError, r"^out must be an array of float64, without a mask$"),
    ],
    ids=["shape", "dtype", "masked", "list"],
)
def test_a_result_to_write_to_that_does_not_fit_is_refused(out, error, message):
    with pytest.raises(error, match=message):
        pairwise([(0, 0, 1, 1)], [(0, 0, 1, 1), (0, 0, 2, 2)], out=out)


def test_a_result_that_would_overwrite_the_boxes_is_refused():
    boxes = np.array([[0.0, 0, 1, 1], [0, 0, 2, 2], [0, 0, 3, 3], [0, 0, 4, 4]])
    with pytest.raises(ValueError, match=r"^out must not overlap a or b$"):
        pairwise(boxes, boxes, out=boxes)


def test_a_result_beside_the_boxes_is_filled():
    both = np.zeros((4, 8))
    both[:, 2:4] = np.arange(1, 5)[:, None]
    boxes = both[:, :4]
    expected = pairwise(boxes.copy(), boxes.copy())
    assert bits(pairwise(boxes, boxes, out=both[:, 4:])) == bits(expected)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("strides", [(0, 8), (8, 0), (0, 0), (8, 8), (8, -8), (16, 8), (8, 4)])
def test_a_result_whose_values_share_a_place_is_refused(strides, order):
    memory = np.zeros(100)[50:]
    shape = (2, 3)
    if order == "F":
        shape, strides = shape[::-1], strides[::-1]
    out = np.lib.stride_tricks.as_strided(memory, shape, strides)
    with pytest.raises(ValueError, match=r"^out must have a place of its own for each value$"):
        pairwise([(0, 0, 1, 1)] * shape[0], [(0, 0, 1, 1)] * shape[1], out=out)


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (1, 1), (0, 3), (2, 3)])
@pytest.mark.parametrize("step", [1, -1, 2])
def test_a_result_of_any_layout_is_filled(shape, step):
    a, b = [(0, 0, 1, 1)] * shape[0], [(0, 0, 1, 2)] * shape[1]
    for out in (np.full((6, 6), np.nan), np.full((6, 6), np.nan).T):
        out = out[::step, ::step][: shape[0], : shape[1]]
        assert (pairwise(a, b, out=out) == 0.5).all()
        assert (out == 0.5).all()
    row = np.full(3, np.nan)
    assert (pairwise([(0, 0, 1, 1)], [(0, 0, 1, 2)] * 3, out=row[None]) == 0.5).all()


def test_a_result_that_is_read_only_is_refused():
    out = np.empty((1, 1))
    out.flags.writeable = False
    with pytest.raises(ValueError, match=r"^out is read-only$"):
        pairwise([(0, 0, 1, 1)], [(0, 0, 1, 1)], out=out)


@pytest.mark.parametrize("workers", [0, -1])
def test_less_than_one_worker_is_refused(workers):
    with pytest.raises(ValueError, match=rf"^workers must be at least 1, it is {workers}$"):
        pairwise([], [], workers=workers)


# By groups.


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


@pytest.mark.usefixtures("small_groups")
def test_groups_notice_what_float64_loses():
    side = 1e-150
    start = side - 1.7e-5 * side
    boxes = [(0, 0, side, side), (start, start, 2 * side, 2 * side)]
    boxes += [(k * side, k * side, (k + 1) * side, (k + 1) * side) for k in (5, 7)]
    for caller in ("ignore", "raise"):
        with np.errstate(all=caller):
            assert bits(pairwise(boxes * 3, boxes * 3)) == bits(alone("iou", boxes * 3, boxes * 3))


@pytest.mark.usefixtures("small_groups")
def test_boxes_may_be_further_apart_than_float64_can_say():
    boxes = [(x, 0, x, 1) for x in (-1.7e308, 1.7e308)] * 6
    with np.errstate(all="raise"):
        assert not pairwise(boxes, boxes).any()


def test_what_is_empty_takes_no_step(monkeypatch):
    monkeypatch.delattr("iou.boxes._fill")
    assert package.iou(np.zeros((1000, 1, 4)), np.zeros((1, 0, 4))).shape == (1000, 0)


def test_of_boxes_that_lie_apart_few_pairs_are_measured(measured):
    a, b = scattered(1500, 3), scattered(1500, 4)
    values = pairwise(a, b)
    assert np.count_nonzero(values) <= sum(measured) < values.size / 10


@pytest.mark.parametrize(("measure", "side"), [("iou", 99), ("giou", 1), ("union", 1)])
def test_every_pair_is_measured_where_most_meet_or_none_is_0(measured, measure, side):
    a, b = scattered(1500, 3, side), scattered(1500, 4, side)
    assert pairwise(a, b, measure).size == sum(measured)


def test_the_choice_is_by_the_share_that_is_to_be_measured(measured, monkeypatch):
    # Groups that follow each other lie close together, and the columns are on one side.
    columns = scattered(3000, 4, 30)
    a, b = map(table.read_table, (scattered(1500, 3, 30), columns[columns[:, 0] > 0]))
    groups = table._Groups.of(overlap.MEASURES["iou"], a, b, table._halved(a))
    share = table._share(groups.lo, groups.hi, b)
    for worthwhile, by_groups in [(share, True), (np.nextafter(share, 0), False)]:
        monkeypatch.setattr(table, "_WORTHWHILE", worthwhile)
        measured.clear()
        pairwise(a.given, b.given)
        assert (len(measured) > 1) == by_groups
    met = sum(len(met) for _, met, _ in groups._met(b))
    assert share == pytest.approx(met / len(groups.members) / len(b), rel=0.25)


def test_where_most_boxes_meet_no_groups_are_formed(monkeypatch):
    monkeypatch.delattr(table, "_halved")
    a, b = scattered(1500, 3, 199), scattered(1500, 4, 199)
    assert np.count_nonzero(pairwise(a, b)) > len(a) * len(b) / 2


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
    # Read boxes are five columns; while rows are halved, their edges are there in that order too.
    assert peak < 8 * 2**20 + 3 * (a.nbytes + b.nbytes) < out.nbytes


def test_boxes_of_a_group_and_of_the_next_lie_close_together():
    boxes = table.read_table(scattered(3000, 7))
    groups = table._halved(boxes)
    assert groups.shape == (64, 47)
    assert sorted(set(groups.ravel())) == list(range(3000))
    middle = (boxes.lo + boxes.hi) / 2
    # 64 groups on 100 by 100: each could have 12.5 by 12.5, and eight of them 35 by 35.
    for several, side in [(1, 20), (table._TOGETHER, 50)]:
        places = middle[:, groups.reshape(64 // several, -1)]
        assert np.median(np.ptp(places, axis=2)) < side


@pytest.mark.parametrize("axis", [0, 1])
def test_a_row_of_boxes_is_halved_across_its_length_alone(axis):
    boxes = np.zeros((3000, 4))
    boxes[:, axis] = np.random.default_rng(1).permutation(3000)
    boxes[:, axis + 2] = boxes[:, axis] + 1
    boxes[:, 1 - axis :: 2] = [0, 2]
    groups = table._halved(table.read_table(boxes))
    places = boxes[groups, axis]
    assert (np.ptp(places, axis=1) < 47).all()
    assert (np.diff(places.mean(axis=1)) > 0).all()


def test_groups_are_of_the_size_that_is_nearest_to_what_is_wanted():
    for count in (1, 2, 39, 40, 56, 57, 100, 1000):
        groups = table._halved(table.read_table(scattered(count, 1)))
        assert set(groups.ravel()) == set(range(count))
        assert groups.shape[1] == count or 28 <= groups.shape[1] <= 57
        assert groups.size - count < len(groups)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("side", [1, 90])
def test_a_matrix_is_filled_like_an_array_however_many_workers_there_are(side):
    a, b = scattered(9, 1, side), scattered(7, 2, side)
    out = np.matrix(np.full((9, 7), np.nan))
    assert pairwise(a, b, out=out, workers=10**9) is out
    assert (np.asarray(out) == alone("iou", a, b)).all()
