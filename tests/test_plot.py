"""The book's drawings: what is drawn lies where the numbers say, and says what it promises."""

import io
import sys
from fractions import Fraction
from itertools import combinations, product

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")

import matplotlib.pyplot as plt
from matplotlib.colors import to_hex

import iou
from iou import exact, giou, intersection, match, plot, samples
from iou import iou as overlap
from iou.dataset import Predictions, Truths
from iou.evaluation import Curve
from iou.matching import OUTCOMES

A, B, APART = (1, 1, 5, 5), (3, 2, 7, 6), (8, 8, 9, 9)
CORNERS = [" ".join(words) for words in product(("top", "bottom"), ("left", "right"))]


@pytest.fixture(autouse=True)
def drawn():
    """Draw all figures of a test at its end: a warning on the way is an error."""
    with plt.rc_context():
        plot.use_book_style()
        yield
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
        plt.close("all")


def extents(patches):
    return [tuple(patch.get_bbox().extents.tolist()) for patch in patches]


def texts(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def random_boxes(rng, count, size=9):
    return np.sort(rng.integers(0, size, (count, 2, 2)), axis=1).reshape(count, 4)


def covered(boxes, size=9):
    """Count, for each square of a board, the boxes that cover it."""
    count = np.zeros((size, size), dtype=int)
    for x_min, y_min, x_max, y_max in np.asarray(boxes, dtype=int):
        count[y_min:y_max, x_min:x_max] += 1
    return count


# Boxes


@pytest.mark.parametrize("fmt", exact.FORMATS)
def test_a_box_of_any_format_is_drawn_at_its_exact_corners(fmt):
    boxes = [(2, 3, 5, 7), (0.5, 1.25, 4, 6.5)]
    ax = plot.board((0, 0, 12, 12))
    plot.draw_boxes(ax, boxes, "truth", fmt=fmt)
    assert extents(ax.patches) == [tuple(map(float, exact.corners(box, fmt))) for box in boxes]


def test_one_box_needs_no_list():
    ax = plot.board((0, 0, 12, 12))
    plot.draw_boxes(ax, A, "truth", "A")
    assert extents(ax.patches) == [A]
    assert "A" in texts(ax)


def test_every_box_has_its_label_or_it_is_an_error():
    ax = plot.board((0, 0, 12, 12))
    before = texts(ax)
    plot.draw_boxes(ax, [A, B], "prediction", ["first", "second"])
    assert texts(ax) == [*before, "first", "second"]
    with pytest.raises(ValueError, match="zip"):
        plot.draw_boxes(ax, [A, B], "prediction", ["only one"])


def test_roles_differ_in_more_than_colour():
    shapes = [(look.line, look.width > 0, look.hatch) for look in plot.LOOKS.values()]
    plain = plot.LOOKS["plain"].line, True, None
    for one, other in combinations(shapes, 2):
        # A box without a role stands alone, and may be drawn as the truth is.
        assert one != other or one == plain


@pytest.mark.parametrize("role", plot.LOOKS)
def test_a_role_decides_how_a_box_looks_and_can_be_overruled(role):
    ax = plot.board((0, 0, 12, 12))
    plot.draw_boxes(ax, A, role)
    look = plot.LOOKS[role]
    assert to_hex(ax.patches[0].get_edgecolor()) == look.color.lower()
    assert [patch.get_hatch() for patch in ax.patches[1:]] == ([look.hatch] if look.hatch else [])
    assert len(set(extents(ax.patches))) == 1, "the hatching is where the box is"
    plot.draw_boxes(ax, B, role, linewidth=7)
    assert 7 in [patch.get_linewidth() for patch in ax.patches]


def test_the_intersection_of_a_pair_is_the_area_that_it_shares():
    rng = np.random.default_rng(0)
    for a, b in zip(random_boxes(rng, 300, 6), random_boxes(rng, 300, 6), strict=True):
        box, shared = plot.intersection_box(a, b), intersection(a, b)
        assert (box is not None) == (shared > 0)
        if box:
            assert exact.area(box) == shared
            assert (covered([box]) == np.minimum(covered([a]), covered([b]))).all()


@pytest.mark.parametrize(("other", "shared"), [(B, [(3, 2, 5, 5)] * 2), (APART, [])])
def test_a_pair_is_drawn_with_its_intersection_and_names(other, shared):
    ax = plot.board((0, 0, 12, 12))
    plot.draw_pair(ax, A, other, names=("T", "P"))
    assert extents(ax.patches) == [*shared, A, other]
    assert texts(ax)[-2:] == ["T", "P"]
    before = texts(ax)
    plot.draw_pair(ax, A, other, names=None)
    assert texts(ax) == before


@pytest.mark.parametrize("seed", range(8))
def test_a_union_is_filled_once_wherever_a_box_is_and_nowhere_else(seed):
    rng = np.random.default_rng(seed)
    boxes = random_boxes(rng, rng.integers(1, 6))
    ax = plot.board((0, 0, 9, 9))
    plot.shade_union(ax, boxes)
    filled = covered(extents(ax.patches))
    assert (filled == (covered(boxes) > 0)).all()
    if len(boxes) == 2:
        assert filled.sum() == exact.union(*boxes)


@pytest.mark.parametrize("seed", range(20))
def test_waste_is_what_the_enclosing_box_covers_and_no_other_does(seed):
    rng = np.random.default_rng(seed)
    boxes = random_boxes(rng, rng.integers(1, 6))
    ax = plot.board((0, 0, 9, 9))
    plot.shade_waste(ax, boxes)
    speckled = covered(extents(p for p in ax.patches if p.get_hatch()))
    hull = covered([plot.around(boxes, 0)])
    assert (speckled == hull - (covered(boxes) > 0)).all()


def test_around_shows_every_box_with_a_margin():
    assert plot.around([A, B, APART], 2) == (-1, -1, 11, 11)
    assert plot.around(A, 0.5) == (0.5, 0.5, 5.5, 5.5)


# Landscapes

TRUTH, INSIDE = (0, 0, 4, 4), (1, 1, 3, 3)


def test_a_landscape_is_as_high_as_the_measure_of_the_shifted_prediction():
    landscape = plot.Landscape(giou, TRUTH, INSIDE, reach=6)
    dx, dy = landscape.grid(5)
    assert dx[0].tolist() == dy[:, 0].tolist() == [-6, -3, 0, 3, 6]
    heights = landscape.height(dx, dy)
    for at in np.ndindex(5, 5):
        shifted = np.add(INSIDE, np.tile((dx[at], dy[at]), 2))
        assert heights[at] == giou(TRUTH, shifted)


def test_the_slope_of_a_landscape_points_up_and_is_nil_on_a_plateau():
    landscape = plot.Landscape(overlap, TRUTH, INSIDE, reach=6)
    # In the middle of the plateau, half out to the right, half out at the top, and far away.
    east, south = landscape.slope(np.array([0.5, 2, 0, 5]), np.array([0.25, 0, -2, 0]))
    # Half out, the intersection is 2 and the union 18; a step of dx changes both by 2 dx.
    assert east == pytest.approx([0, -(2 * 18 + 2 * 2) / 18**2, 0, 0], rel=1e-4)
    assert south == pytest.approx([0, 0, (2 * 18 + 2 * 2) / 18**2, 0], rel=1e-4)
    assert (east[[0, 2, 3]] == 0).all()
    assert (south[[0, 1, 3]] == 0).all()


def test_contours_lie_at_their_heights_and_are_dashed_below_zero():
    landscape = plot.Landscape(giou, TRUTH, INSIDE, reach=6)
    _, ax = plt.subplots()
    landscape.contours(ax, [-0.5, 0.125])
    _, lines = ax.collections
    assert texts(ax) == ["−0.5", "1/8"]
    assert [dashes is not None for _, dashes in lines.get_linestyles()] == [True, False]
    for level, path in zip(lines.levels, lines.get_paths(), strict=True):
        x, y = path.vertices.T
        assert len(x) > 20
        assert landscape.height(x - 2, y - 2) == pytest.approx(level, abs=0.01)


def test_flat_ground_is_speckled_and_nothing_else_is():
    # These numbers have rounding errors, which are no slope.
    landscape = plot.Landscape(giou, (0, 0, 0.7, 0.7), (0.2, 0.2, 0.5, 0.5), reach=0.9)
    _, ax = plt.subplots()
    landscape.contours(ax, [0])
    (flat,) = ax.collections[0].get_paths()
    # All positions of the centre where the prediction lies inside.
    assert flat.get_extents().extents == pytest.approx([0.15, 0.15, 0.55, 0.55], abs=0.02)
    assert (flat.codes == flat.MOVETO).sum() == 1


def test_every_arrow_points_up_the_slope_and_rings_are_where_it_is_flat():
    landscape = plot.Landscape(overlap, TRUTH, INSIDE, reach=6)
    _, ax = plt.subplots()
    landscape.arrows(ax, 9)
    (rings,), (arrows,) = ax.lines, ax.collections
    assert len(rings.get_xdata()) + arrows.N == 81
    # Of 3 × 3 positions where the boxes overlap the middle one is a plateau; at 3 on each of the
    # four sides they touch.
    assert arrows.N == 8 + 12
    step = 0.01
    here = landscape.height(arrows.X - 2, arrows.Y - 2)
    there = landscape.height(arrows.X - 2 + step * arrows.U, arrows.Y - 2 + step * arrows.V)
    assert (there > here).all()
    assert np.hypot(arrows.U, arrows.V) == pytest.approx(1)


# Labels and dimensions


def seen(ax, box):
    """Where a box, or a text, is on the screen: left, bottom, right, top."""
    if hasattr(box, "get_window_extent"):
        return box.get_window_extent().extents
    (left, top), (right, bottom) = ax.transData.transform(np.reshape(box, (2, 2)))
    return min(left, right), min(top, bottom), max(left, right), max(top, bottom)


@pytest.mark.parametrize("y_down", [True, False])
@pytest.mark.parametrize("where", CORNERS)
def test_a_label_stands_outside_its_box_at_the_corner_as_it_is_seen(where, y_down):
    ax = plot.board((0, 0, 12, 12), y_down=y_down)
    plot.label(ax, A, "name", where=where)
    ax.figure.canvas.draw()
    text = seen(ax, ax.texts[-1])
    box = seen(ax, A)
    above = text[1] >= box[3]
    below = text[3] <= box[1]
    left, right = abs(text[0] - box[0]), abs(text[2] - box[2])
    assert (above, below) == (where.startswith("top"), where.startswith("bottom"))
    assert (left < right) == where.endswith("left")
    assert min(left, right) < 3


@pytest.mark.parametrize("y_down", [True, False])
@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("side", ["before", "after"])
def test_a_dimension_line_spans_what_it_measures_and_says_how_long_it_is(axis, side, y_down):
    ax = plot.board((0, 0, 12, 12), y_down=y_down)
    plot.dimension(ax, 2, 8, 4, "six", axis=axis, reach=5, side=side)
    ax.figure.canvas.draw()
    *_, arrow, text = ax.texts
    turn = slice(None) if axis == "x" else slice(None, None, -1)
    assert {arrow.xy[turn], arrow.xyann[turn]} == {(2, 4), (8, 4)}
    lines = [tuple(map(tuple, line.get_xydata()[:, turn].tolist())) for line in ax.lines]
    assert lines == [((2, 5), (2, 4)), ((8, 5), (8, 4))]
    assert text.get_text() == "six"
    left, bottom, right, top = seen(ax, text)
    x, y = ax.transData.transform((5, 4)[turn])
    if axis == "x":
        assert abs((left + right) / 2 - x) < 2
        assert bottom >= y if side == "before" else top <= y
    else:
        assert abs((bottom + top) / 2 - y) < 3
        assert right <= x if side == "before" else left >= x


def test_a_dimension_without_reach_has_no_extension_lines():
    ax = plot.board((0, 0, 12, 12))
    plot.dimension(ax, 2, 8, 4, "six")
    assert len(ax.lines) == 0


# Numbers


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (6, "6"),
        (6.0, "6"),
        (2.5, "2.5"),
        (-2.5, "−2.5"),
        (0.1, "0.1"),
        (Fraction(3, 13), "3/13"),
        (Fraction(-1, 3), "−1/3"),
        (Fraction(9, 4), "2.25"),
        (0, "0"),
    ],
)
def test_a_number_is_written_as_a_reader_would(value, written):
    assert plot.number(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Fraction(9, 16), "= 0.5625"),
        (Fraction(3, 13), "≈ 0.231"),
        (Fraction(1, 32), "≈ 0.031"),
        (Fraction(1), "= 1"),
        (Fraction(0), "= 0"),
        (10, "= 10"),
        (0.25, "= 0.25"),
    ],
)
def test_a_decimal_says_whether_digits_were_cut(value, written):
    assert plot.decimal(value) == written


# Sheets and photographs


@pytest.mark.parametrize("y_down", [True, False])
def test_a_board_shows_its_part_of_the_plane_and_which_way_y_grows(y_down):
    ax = plot.board((-1, 0, 6, 4), y_down=y_down, step=2)
    assert ax.get_xlim() == (-1, 6)
    assert ax.get_ylim() == ((4, 0) if y_down else (0, 4))
    assert texts(ax) == ["x →", "y ↓" if y_down else "y ↑"]
    assert ax.get_aspect() == 1
    assert np.diff(ax.get_xticks()).tolist() == [2] * (len(ax.get_xticks()) - 1)


def test_a_board_can_be_drawn_on_axes_that_are_there():
    figure, axes = plt.subplots()
    assert plot.board((0, 0, 4, 4), ax=axes) is axes
    assert plt.get_fignums() == [figure.number]


PICTURE = np.arange(20 * 30, dtype=np.uint8).reshape(20, 30)


def test_a_photograph_has_pixel_edges_on_whole_coordinates():
    ax = plot.photo(PICTURE)
    (image,) = ax.images
    assert image.get_extent() == [0, 30, 20, 0]
    assert ax.get_ylim() == (20, 0)
    assert not ax.axison


@pytest.mark.parametrize("kind", [tuple, list, np.array])
def test_of_a_photograph_only_what_is_shown_is_stored(kind):
    ax = plot.photo(PICTURE, kind((4.5, 2, 12, 25)))
    (image,) = ax.images
    assert image.get_extent() == [4, 12, 20, 2]
    assert (image.get_array() == PICTURE[2:20, 4:12]).all()
    assert ax.get_xlim() == (4.5, 12)
    assert ax.get_ylim() == (25, 2)


def test_on_a_photograph_boxes_have_a_halo_and_end_at_its_edge():
    ax = plot.photo(PICTURE)
    plot.draw_boxes(ax, A, "truth")
    board = plot.board((0, 0, 9, 9))
    plot.draw_boxes(board, A, "truth")
    assert [bool(axes.patches[0].get_path_effects()) for axes in (ax, board)] == [True, False]
    assert [axes.patches[0].get_clip_on() for axes in (ax, board)] == [True, False]


@pytest.mark.parametrize(("count", "columns", "rows"), [(6, 3, 2), (5, 3, 2), (1, 1, 1), (2, 3, 1)])
def test_a_gallery_has_one_named_crop_for_each_prediction(count, columns, rows):
    predictions = {f"detector {n}": (n, 1, n + 5, 6) for n in range(count)}
    figure = plot.gallery(PICTURE, A, predictions, margin=2, columns=columns)
    assert len(figure.axes) == rows * columns
    used = figure.axes[:count]
    assert [texts(ax) for ax in used] == [[name] for name in predictions]
    assert [extents(ax.patches) for ax in used] == [[A, box] for box in predictions.values()]
    assert not any(ax.axison for ax in figure.axes)
    assert [len(ax.images) for ax in figure.axes[count:]] == [0] * (rows * columns - count)


# The derivation


# Matches


def test_every_outcome_has_a_mark_of_its_own():
    assert list(plot.MARKS) == list(OUTCOMES)
    assert len(set(plot.MARKS.values())) == len(OUTCOMES)


def marks(ax):
    known = plot.MARKS.values()
    return [(t.get_text(), *t.get_position()) for t in ax.texts if t.get_text() in known]


def test_false_predictions_wear_their_marks_in_their_middle_and_missed_truths_are_hatched():
    truths, predictions = samples.ledger()
    matches = match(predictions, truths, strict=True)
    ax = plot.board((-2, -2, 37, 32))
    plot.draw_matches(ax, truths, predictions, matches)
    middle = [
        (plot.MARKS[outcome], (x_min + x_max) / 2, (y_min + y_max) / 2)
        for outcome, (x_min, y_min, x_max, y_max) in zip(
            matches.outcome, predictions.boxes[matches.prediction].tolist(), strict=True
        )
        if outcome != "true positive"
    ]
    assert marks(ax) == middle
    assert sorted(mark for mark, *_ in middle) == list("BBCDDPP")
    hatched = [patch for patch in ax.patches if patch.get_hatch()]
    assert extents(hatched) == [(20, 20, 30, 30)]
    drawn = extents(ax.patches)
    for box in [*truths.boxes.tolist(), *predictions.boxes.tolist()]:
        assert tuple(map(float, box)) in drawn


def test_a_mark_hides_no_other():
    truths = Truths([[0, 0, 10, 10]])
    predictions = Predictions([[0, 0, 10, 10]] * 4, [0.9, 0.8, 0.7, 0.6])
    ax = plot.board((0, 0, 50, 50))
    plot.draw_matches(ax, truths, predictions, match(predictions, truths))
    assert marks(ax) == [("D", 5, 5), ("D", 5, 6), ("D", 5, 7)]


def test_matches_are_drawn_whatever_the_format():
    truths = Truths([[0, 0, 9, 9]], fmt="xyxy_inclusive")
    predictions = Predictions([[5, 5, 4, 4]], [1], fmt="cxcywh")
    ax = plot.board((0, 0, 12, 12))
    plot.draw_matches(ax, truths, predictions, match(predictions, truths))
    assert extents(ax.patches)[:2] == [(0, 0, 10, 10), (0, 0, 10, 10)]
    assert extents(ax.patches)[2:] == [(3, 3, 7, 7)]
    assert marks(ax) == [("P", 5, 5)]


def titles(figure):
    return [ax.get_title(loc="left") for ax in figure.axes]


@pytest.mark.parametrize("y_down", [True, False])
def test_a_derivation_tells_the_computation(y_down):
    wide = (1, 1, 6, 5)
    figure = plot.derivation(wide, B, names=("T", "P"), y_down=y_down)
    assert titles(figure) == [
        "1  the two boxes",
        "2  intersection: 9",
        "3  union: 27",
        "4  IoU = 9/27 ≈ 0.333",
    ]
    axis_names = ["x →", "y ↓" if y_down else "y ↑"]
    assert [texts(ax) for ax in figure.axes] == [
        [*axis_names, "T", "P"],
        ["3", "3"],
        ["20 + 16 − 9"],
        [],
    ]
    shared = [(3, 2, 6, 5)] * 2
    pair, sides, union, ratio = (extents(ax.patches) for ax in figure.axes)
    assert pair == [*shared, wide, B]
    assert sides == [wide, B, *shared]
    assert (covered(union) == (covered([wide, B]) > 0)).all()
    assert ratio == union + shared


@pytest.mark.parametrize("y_down", [True, False])
def test_a_derivation_measures_the_intersection_from_outside(y_down):
    ax = plot.derivation(A, B, y_down=y_down).axes[1]
    ax.figure.canvas.draw()
    left, _, _, top = seen(ax, (3, 2, 5, 5))
    width, height = (text for text in ax.texts if text.get_text())
    assert [text.get_text() for text in (width, height)] == ["2", "3"]
    assert seen(ax, width)[1] > top
    assert seen(ax, height)[2] < left


def test_a_derivation_of_boxes_apart_has_no_intersection_to_show():
    figure = plot.derivation(A, APART)
    assert titles(figure)[1:] == ["2  intersection: 0", "3  union: 17", "4  IoU = 0/17 = 0"]
    assert texts(figure.axes[1]) == []


# The style


def test_the_style_can_be_used_where_there_is_no_notebook():
    with plt.rc_context():
        plt.rcdefaults()
        plot.use_book_style()
        assert plt.rcParams["svg.hashsalt"] == "iou"
        assert plt.rcParams["figure.facecolor"] == "none"


def test_the_style_can_be_used_where_there_is_no_ipython(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    with plt.rc_context():
        plt.rcdefaults()
        plot.use_book_style()
        assert plt.rcParams["svg.hashsalt"] == "iou"


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot.derivation(A, B),
        lambda: plot.gallery(PICTURE, A, {"one": B, "two": A}, margin=1),
    ],
    ids=["derivation", "gallery"],
)
def test_the_same_drawing_gives_the_same_file(draw):
    def file():
        stream = io.BytesIO()
        draw().savefig(stream, format="svg", metadata={"Date": None})
        return stream.getvalue()

    assert file() == file()


def test_arrows_start_at_the_middles_of_the_edges_and_a_ring_marks_one_that_rests():
    ax = plot.board((0, 0, 8, 8))
    before = len(ax.texts)
    plot.edge_arrows(ax, (1, 2, 5, 4), (-1, 0.5, 0, 2))
    arrows = [(arrow.xyann, arrow.xy) for arrow in ax.texts[before:]]
    assert arrows == [((1, 3), (0, 3)), ((3, 2), (3, 2.5)), ((3, 4), (3, 6))]
    (ring,) = ax.lines
    assert [*ring.get_xdata(), *ring.get_ydata()] == [5, 3]


def test_an_edge_without_a_move_gets_no_mark():
    ax = plot.board((0, 0, 8, 8))
    before = len(ax.texts)
    plot.edge_arrows(ax, (1, 2, 5, 4), (np.nan, np.nan, 1, np.nan))
    assert len(ax.texts) == before + 1
    assert not ax.lines


# Curves


def test_an_envelope_falls_and_stands_over_every_point():
    truths, predictions = samples.ledger()
    curve = iou.precision_recall(match(predictions, truths), samples.COIN)
    ax = plot.recall_board()
    plot.draw_envelope(ax, curve)
    recall, precision = ax.lines[0].get_data()
    assert recall.tolist() == [0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1]
    assert precision == pytest.approx([1, 1, 2 / 3, 2 / 3, 3 / 5, 3 / 5, 1 / 2, 1 / 2])
    area = np.sum(np.diff(recall) * precision[1:])
    assert area == pytest.approx(iou.average_precision(curve, "voc"))


@pytest.mark.parametrize("label", [samples.COIN, samples.BUTTON])
def test_an_envelope_drops_to_nothing_where_recall_ends(label):
    truths, predictions = samples.ledger()
    curve = iou.precision_recall(match(predictions, truths, iou_threshold=0.85), label)
    ax = plot.recall_board()
    plot.draw_envelope(ax, curve)
    recall, precision = ax.lines[0].get_data()
    found = label == samples.COIN
    assert recall.tolist() == ([0, 0.25, 0.25] if found else [0])
    # The second of the four coins is found at last, by the fourth prediction.
    assert precision.tolist() == ([0.25, 0.25, 0] if found else [0])


def test_an_envelope_looks_ahead_to_precision_that_rises_again():
    # A miss, then two hits: 1/2, then 2/3.
    ax = plot.recall_board()
    plot.draw_envelope(ax, Curve(np.array([0, 1, 2]), np.array([0.9, 0.8, 0.7]), 2))
    assert ax.lines[0].get_ydata() == pytest.approx([2 / 3] * 4)
