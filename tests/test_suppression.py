"""Non-maximum suppression: the greedy rule, found without its loop."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iou import diou, exact, nms, pairwise, soft_nms, suppression

FORMATS = list(exact.FORMATS)
MEASURES = ["iou", "diou"]
TYPES = ["u1", "i2", ">i4", "i8", "u8", "f2", "f4", ">f8", "longdouble"]


def greedy(overlap, scores):
    """Apply the rule word for word: by falling score, each unless a kept one overlaps it."""
    overlap, kept = np.asarray(overlap, dtype=bool), []
    for i in sorted(range(len(scores)), key=lambda i: -scores[i]):
        if not overlap[i, kept].any():
            kept.append(i)
    return kept


def check(boxes, scores, labels=None, thresholds=(0.0, 0.3, 0.5, 0.9, 1), fmt="xyxy"):
    """Compare with the rule, applied to the table of all pairs."""
    before = np.array(boxes)
    alike = True if labels is None else np.equal.outer(labels, labels)
    for measure in MEASURES:
        table = pairwise(boxes, boxes, measure, fmt=fmt)
        for threshold in thresholds:
            kept = nms(
                boxes, scores, labels=labels, iou_threshold=threshold, measure=measure, fmt=fmt
            )
            assert kept.dtype == np.int64
            assert kept.tolist() == greedy((table > threshold) & alike, scores), (
                measure,
                threshold,
            )
    np.testing.assert_array_equal(boxes, before)


def boxes_at(centre, side):
    return np.concatenate([centre - side / 2, centre + side / 2], axis=1)


def scattered(rng, n):
    return boxes_at(rng.uniform(0, 40 * n**0.5, (n, 2)), rng.uniform(10, 60, (n, 2)))


def around_objects(rng, n):
    centre = rng.uniform(0, 1000, (max(1, n // 7), 2))[rng.integers(0, max(1, n // 7), n)]
    return boxes_at(centre + rng.normal(0, 3, (n, 2)), rng.uniform(30, 40, (n, 2)))


def in_one_cluster(rng, n):
    return boxes_at(rng.normal(500, 10, (n, 2)), rng.uniform(80, 120, (n, 2)))


def loose_around_one_point(rng, n):
    return boxes_at(rng.uniform(-50, 50, (n, 2)), np.exp(rng.uniform(2, 6, (n, 2))))


def half_in_a_cluster(rng, n):
    return np.vstack([scattered(rng, n - n // 2), in_one_cluster(rng, n // 2)])


def on_a_grid(rng, n):
    corner, side = rng.integers(-9, 9, (n, 2)), rng.integers(0, 6, (n, 2))
    return np.concatenate([corner, corner + side], axis=1)


def in_a_chain(rng, n):
    x = 2.0 * np.arange(n)
    return np.stack([x, 0 * x, x + 10, 0 * x + 10], axis=1)


def few_different(rng, n):
    return np.array([[0, 0, 4, 4], [1, 0, 5, 4], [90, 0, 91, 9.0]])[rng.integers(0, 3, n)]


FAMILIES = [
    scattered,
    around_objects,
    in_one_cluster,
    loose_around_one_point,
    half_in_a_cluster,
    on_a_grid,
    in_a_chain,
    few_different,
]


# Values.


def test_by_hand():
    # B overlaps A by 3/5 and C by 3/5; A and C share 1/3.
    boxes = [[2, 0, 6, 4], [0, 0, 4, 4], [1, 0, 5, 4], [9, 9, 9, 9]]
    scores = [0.7, 0.9, 0.8, 0.1]
    assert nms(boxes, scores).tolist() == [1, 0, 3]
    assert nms(boxes, scores, iou_threshold=0.3).tolist() == [1, 3]
    assert nms(boxes, scores, iou_threshold=0.6).tolist() == [1, 2, 0, 3]
    assert nms(boxes, [0.7, 0.8, 0.9, 1]).tolist() == [3, 2]
    assert nms(boxes, scores, labels=[0, 0, 1, 1]).tolist() == [1, 2, 0, 3]


@pytest.mark.parametrize("measure", MEASURES)
def test_a_box_at_the_threshold_stays(measure):
    for whole in range(2, 12):
        for part in range(1, whole):
            # Squares around one point: the centres coincide, so that both measures agree.
            boxes = [[-whole, -1, whole, 1], [-part, -1, part, 1]]
            value = part / whole
            assert nms(boxes, [2, 1], iou_threshold=value, measure=measure).tolist() == [0, 1]
            below = np.nextafter(value, 0)
            assert nms(boxes, [2, 1], iou_threshold=below, measure=measure).tolist() == [0]


def test_at_threshold_1_all_stay_and_below_it_none_of_the_same():
    boxes, scores = [[0, 0, 1, 1]] * 5, [3, 1, 4, 1, 5]
    assert nms(boxes, scores, iou_threshold=1).tolist() == [4, 2, 0, 1, 3]
    assert nms(boxes, scores, iou_threshold=1 - 2**-53).tolist() == [4]


def test_at_threshold_0_boxes_that_share_area_suppress():
    boxes = [[0, 0, 2, 2], [2, 0, 4, 2], [3, 1, 5, 3], [4, 0, 4, 2]]
    assert nms(boxes, [4, 3, 2, 1], iou_threshold=0).tolist() == [0, 1, 3]


def test_of_equal_scores_the_first_goes_first():
    boxes = [[0, 0, 4, 4], [0, 0, 4, 4], [0, 0, 4, 3], [9, 9, 10, 10], [9, 9, 10, 10]]
    assert nms(boxes, [1, 1, 1, 1, 1]).tolist() == [0, 3]
    assert nms(boxes, [1, 2, 2, 1, 1]).tolist() == [1, 3]
    same = np.tile([[0, 0, 1, 1]], (3000, 1)) + 5 * (np.arange(3000) % 2)[:, None]
    assert nms(same, np.zeros(3000)).tolist() == [0, 1]


def test_the_result_indexes_the_input_and_not_the_sorted_boxes():
    boxes = [[0, 0, 4, 4], [0, 0, 4, 3], [9, 9, 10, 10]]
    assert nms(boxes, [0.5, 0.9, 0.7]).tolist() == [1, 2]


def test_the_overlap_is_over_the_union_and_not_over_the_smaller_box():
    inner = [[0, 0, 10, 10], [0, 0, 5, 5]]
    kept = nms(inner, [2, 1], iou_threshold=0.3, fmt="xyxy_inclusive")
    assert exact.iou(*inner, fmt="xyxy_inclusive") == Fraction(36, 121)
    assert kept.tolist() == [0, 1]


def test_diou_spares_what_iou_suppresses():
    boxes = [[0, 0, 4, 4], [1, 0, 5, 4]]
    assert diou(*boxes) == 3 / 5 - 1 / 41
    for threshold in (0.57, 0.58, 0.6):
        assert len(nms(boxes, [2, 1], iou_threshold=threshold)) == 1 + (threshold >= 0.6)
        kept = nms(boxes, [2, 1], iou_threshold=threshold, measure="diou")
        assert len(kept) == 1 + (threshold > 0.575)


@pytest.mark.parametrize("n", [1, 2, 40, 700, 1500])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_the_kept_boxes_are_those_of_the_loop(family, n):
    rng = np.random.default_rng(n)
    boxes = family(rng, n)
    check(boxes, rng.random(n).tolist(), thresholds=(0.0, 0.3, 0.5, 0.9))
    check(boxes, rng.integers(0, 5, n).tolist(), thresholds=(0.5,))
    check(boxes, np.arange(n, 0, -1).tolist(), thresholds=(0.5,))


@pytest.mark.parametrize("few", [1, 3, 20])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_how_many_are_few_decides_nothing(monkeypatch, family, few):
    monkeypatch.setattr(suppression, "_FEW", few)
    monkeypatch.setattr(suppression, "_PAIRS_TO_A_BOX", few / 10)
    monkeypatch.setattr(suppression, "_BLOCK", 50 * few)
    rng = np.random.default_rng(few)
    boxes = family(rng, 120)
    for spared in (0, suppression._SPARED_BY_ONE, 1):
        monkeypatch.setattr(suppression, "_SPARED_BY_ONE", spared)
        check(boxes, rng.random(120).tolist())
        check(boxes, rng.random(120).tolist(), rng.integers(0, 30, 120).tolist())


def test_boxes_in_a_pattern_and_a_cluster_of_low_scores_take_no_room():
    # Every 512th box, and all that have a low score, are the same.
    n = 60_000
    rng = np.random.default_rng(0)
    boxes = scattered(rng, n)
    boxes[::512] = boxes[n // 2 :] = [-9, -9, -1, -1]
    kept = nms(boxes, np.arange(n, 0, -1))
    different = np.flatnonzero(np.arange(n // 2) % 512)
    assert kept[0] == 0
    np.testing.assert_array_equal(kept[1:], different[nms(boxes[different], -different)])


coordinate = st.one_of(
    st.integers(-4, 4),
    st.floats(-1e3, 1e3),
    st.sampled_from([0.0, 5e-324, 1e-200, 1e-160, 2.0**53, 1e160, 1.7e308, -1.7e308]),
)


@st.composite
def scenes(draw):
    """Boxes with corners from a few numbers, their scores and labels."""
    pool = st.sampled_from(draw(st.lists(coordinate, min_size=2, max_size=6)))
    box = st.tuples(pool, pool, pool, pool).map(
        lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
    )
    score = st.integers(-2, 2) | st.floats(allow_nan=False, allow_infinity=False)
    rows = draw(st.lists(st.tuples(box, score, st.integers(0, 2)), max_size=12))
    boxes, scores, labels = zip(*rows, strict=True) if rows else ((), (), ())
    return list(boxes), list(scores), list(labels)


@settings(max_examples=150)
@given(
    scene=scenes(),
    threshold=st.sampled_from([0, Fraction(1, 7), 0.3, 0.5, 1]) | st.floats(0, 1),
)
def test_any_boxes_are_kept_as_the_loop_keeps_them(scene, threshold):
    boxes, scores, labels = scene
    check(np.reshape(boxes, (-1, 4)), scores, None, [threshold])
    check(np.reshape(boxes, (-1, 4)), scores, labels, [threshold])


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(*[st.integers(0, 6)] * 4, st.integers(0, 3)), max_size=9),
    threshold=st.fractions(0, 1, max_denominator=9),
)
def test_exact_fractions_lead_to_the_same(rows, threshold):
    boxes = [(x, y, x + w, y + h) for x, y, w, h, _ in rows]
    scores = [score for *_, score in rows]
    # An IoU of whole numbers is rounded once, as the threshold is; a DIoU is so more often.
    for measure, margin in (("iou", 0), ("diou", 1e-9)):
        values = [[getattr(exact, measure)(a, b) for b in boxes] for a in boxes]
        if all(abs(value - threshold) >= margin for row in values for value in row):
            kept = nms(boxes, scores, iou_threshold=threshold, measure=measure)
            assert kept.tolist() == greedy([[v > threshold for v in row] for row in values], scores)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_no_kept_box_suppresses_another_and_each_dropped_one_has_a_reason(family, measure):
    rng = np.random.default_rng(0)
    boxes, scores = family(rng, 1500), rng.permutation(1500)
    above = pairwise(boxes, boxes, measure) > 0.4
    kept = nms(boxes, scores, iou_threshold=0.4, measure=measure)
    assert not np.triu(above[np.ix_(kept, kept)], 1).any()
    assert (np.diff(scores[kept]) < 0).all()
    dropped = np.setdiff1d(np.arange(1500), kept)
    better = scores[kept][:, None] > scores[dropped]
    assert (above[np.ix_(kept, dropped)] & better).any(axis=0).all()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_the_order_of_the_input_does_not_matter_where_scores_differ(family):
    rng = np.random.default_rng(0)
    boxes, scores = family(rng, 1200), rng.permutation(1200)
    order = rng.permutation(1200)
    labels = rng.integers(0, 3, 1200)
    for options, mixed in (({}, {}), ({"labels": labels}, {"labels": labels[order]})):
        expected = nms(boxes, scores, **options)
        np.testing.assert_array_equal(order[nms(boxes[order], scores[order], **mixed)], expected)


# Labels.


@pytest.mark.parametrize("classes", [1, 2, 3, 40, 1000])
def test_labels_part_the_boxes(classes):
    rng = np.random.default_rng(classes)
    n = 1800
    boxes, scores, labels = in_one_cluster(rng, n), rng.permutation(n), rng.integers(0, classes, n)
    parts = [np.flatnonzero(labels == label) for label in range(classes)]
    kept = np.concatenate([part[nms(boxes[part], scores[part])] for part in parts])
    expected = kept[np.argsort(-scores[kept])]
    np.testing.assert_array_equal(nms(boxes, scores, labels=labels), expected)
    names = np.array([f"class {label}" for label in range(classes)])[labels]
    for same in (labels.astype("u1") if classes < 256 else labels, labels - 7.5, names):
        np.testing.assert_array_equal(nms(boxes, scores, labels=same), expected)
        np.testing.assert_array_equal(nms(boxes, scores, labels=same.tolist()), expected)
    np.testing.assert_array_equal(nms(boxes, scores, labels=names.astype(object)), expected)


def test_labels_move_no_box():
    # Adding label × (largest coordinate + 1) would lay the second box on the first.
    assert nms([[0, 0, 10, 10], [-11, -11, -1, -1]], [0.9, 0.8], labels=[0, 1]).tolist() == [0, 1]
    # Here it would round away what the boxes differ by, or overflow.
    boxes = [[2**53 - 2, 0, 2**53, 2], [2**53 - 1, 0, 2**53, 2], [2**53 - 2, 0, 2**53 - 1, 2]]
    for dtype in ("i8", "u8", "f8"):
        kept = nms(np.array(boxes, dtype), [3, 2, 1], labels=[7, 9, 9])
        assert kept.tolist() == [0, 1, 2]
    bytes_ = np.array([[0, 0, 200, 200], [0, 0, 200, 190], [50, 0, 250, 200]], np.uint8)
    assert nms(bytes_, [3, 2, 1], labels=[5, 5, 200]).tolist() == [0, 2]


# Inputs.


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("dtype", TYPES)
def test_every_format_and_dtype(fmt, dtype):
    rng = np.random.default_rng(0)
    boxes = rng.integers(0, 12, (60, 4))
    if "w" not in exact.FORMATS[fmt]:
        boxes = np.sort(boxes.reshape(-1, 2, 2), axis=1).reshape(-1, 4)
    scores = rng.integers(0, 9, 60)
    check(boxes.astype(dtype), scores.tolist(), fmt=fmt)
    kept = nms(boxes, scores) if fmt == "xyxy" else nms(boxes, scores, fmt=fmt)
    np.testing.assert_array_equal(nms(boxes, scores.astype(dtype), fmt=fmt), kept)


@pytest.mark.parametrize("few", [2, 512])
def test_boxes_that_float64_does_not_carry(monkeypatch, few):
    monkeypatch.setattr(suppression, "_FEW", few)
    rng = np.random.default_rng(0)
    small = on_a_grid(rng, 14)
    for boxes in (
        small + 2**62 + 1,
        [[int(x) * 10**400 for x in row] for row in small],
        [[int(x) + 10**30 for x in row] for row in small],
        small * 1e307,
        small * 5e-324,
        small * 1e-200,
    ):
        kept = nms(boxes, range(14), iou_threshold=0.2)
        rows = [list(map(Fraction, np.asarray(row).tolist())) for row in boxes]
        overlap = [[exact.iou(a, b) > Fraction(0.2) for b in rows] for a in rows]
        assert kept.tolist() == greedy(overlap, range(14))


def test_scores_are_compared_as_they_are():
    boxes = np.tile([[0, 0, 1, 1]], (3, 1))
    for scores in (
        np.array([2**62, 2**62 + 1, -(2**63)]),
        np.array([0, 2**64 - 1, 2**64 - 2], dtype=np.uint64),
        np.array([0, 255, 254], dtype=np.uint8),
        np.array([0, 1, np.nextafter(np.longdouble(1), 0)]),
        np.array([-1.0, 5e-324, -0.0]),
        [-5, -3, -4],
    ):
        assert nms(boxes, scores).tolist() == [1]
        assert nms(boxes, scores, iou_threshold=1)[0] == 1
    assert nms(boxes, np.array([0.0, -0.0, 0.0]), iou_threshold=1).tolist() == [0, 1, 2]


def test_sorting_keeps_ties_in_order():
    rng = np.random.default_rng(0)
    for scores in (rng.integers(0, 50, 3000), rng.random(3000).astype("f2"), np.zeros(3000)):
        expected = sorted(range(3000), key=lambda i: -scores[i])
        assert suppression._by_falling_score(scores).tolist() == expected


def test_lists_and_other_layouts_are_read_and_left_alone():
    rng = np.random.default_rng(0)
    boxes, scores = around_objects(rng, 800), rng.random(800)
    kept = nms(boxes, scores)
    column_major = np.asfortranarray(boxes)
    backwards = scores[::-1].copy()[::-1]
    for array in (column_major, backwards):
        array.flags.writeable = False
    np.testing.assert_array_equal(nms(column_major, backwards), kept)
    np.testing.assert_array_equal(nms(boxes.tolist(), scores.tolist()), kept)


def test_no_boxes():
    for boxes, scores, labels in (([], [], None), (np.empty((0, 4)), np.empty(0), [])):
        for threshold in (0, 0.5, 1):
            kept = nms(boxes, scores, labels=labels, iou_threshold=threshold)
            assert (kept.shape, kept.dtype) == ((0,), np.int64)


# Softened scores.


def softened(boxes, scores, method, *, labels=None, sigma=0.5, iou_threshold=0.3, least=0.001):
    """Pick one box after the other, and lower all that are left after each."""
    table = pairwise(boxes, boxes)
    if labels is not None:
        table = table * np.equal.outer(labels, labels)
    now = np.array(scores, dtype=float)
    left, kept, final = np.flatnonzero(now >= least), [], []
    while len(left):
        best = left[np.argmax(now[left])]
        if now[best] >= least:
            kept.append(best)
            final.append(now[best])
        left = left[left != best]
        iou = table[best, left]
        linear = np.where(iou > iou_threshold, 1 - iou, 1)
        with np.errstate(over="ignore", under="ignore"):
            now[left] *= linear if method == "linear" else np.exp(-(iou**2) / sigma)
    return kept, final


def check_softened(boxes, scores, labels=None, **options):
    for method in ("gaussian", "linear"):
        kept, final = softened(boxes, scores, method, labels=labels, **options)
        named = {"score_threshold" if key == "least" else key: options[key] for key in options}
        result = soft_nms(boxes, scores, labels=labels, method=method, **named)
        assert result.kept.dtype == np.int64
        assert result.kept.tolist() == kept
        assert result.scores.dtype == np.float64
        np.testing.assert_array_equal(result.scores, final)


def test_softened_by_hand():
    # A overlaps B by 3/5 and C by 1/3, B overlaps C by 3/5.
    boxes = [[2, 0, 6, 4], [0, 0, 4, 4], [1, 0, 5, 4], [9, 9, 9, 9]]
    kept, scores = soft_nms(boxes, [0.75, 1, 0.5, 0.125], method="linear")
    # C goes from 3/4 to 3/4 · 2/3 = 1/2, and B from 1/2 to 1/2 · 2/5 and that · 2/5.
    assert kept.tolist() == [1, 0, 3, 2]
    np.testing.assert_allclose(scores, [1, 1 / 2, 1 / 8, 2 / 25], rtol=1e-15)
    kept, scores = soft_nms(boxes, [0.75, 1, 0.5, 0.125], method="linear", iou_threshold=0.4)
    np.testing.assert_allclose(scores, [1, 3 / 4, 1 / 8, 2 / 25], rtol=1e-15)
    kept, scores = soft_nms(boxes, [0.75, 1, 0.5, 0.125], sigma=0.25)
    weights = np.exp([-4 / 9, -72 / 25])
    np.testing.assert_allclose(scores, [1, 0.75 * weights[0], 0.125, 0.5 * weights[1]], rtol=1e-14)


def test_the_next_pick_goes_by_the_scores_as_they_are_now():
    # B falls behind C, and so C is picked first and B is lowered by it too.
    boxes = [[0, 0, 4, 4], [1, 0, 5, 4], [2, 0, 6, 4]]
    kept, scores = soft_nms(boxes, [1, 0.9, 0.8], method="linear", iou_threshold=0.5)
    assert kept.tolist() == [0, 2, 1]
    np.testing.assert_allclose(scores, [1, 0.8, 0.9 * 0.4 * 0.4], rtol=1e-15)


def test_a_score_at_its_threshold_stays_and_an_iou_at_its_threshold_lowers_nothing():
    boxes = [[0, 0, 4, 4], [0, 0, 4, 2]]
    for at, lowered in ((0.5, 1.0), (np.nextafter(0.5, 0), 0.5)):
        assert soft_nms(boxes, [2, 1], method="linear", iou_threshold=at).scores[1] == lowered
    for least, count in ((0.5, 2), (np.nextafter(0.5, 1), 1), (2, 1), (2.5, 0)):
        kept = soft_nms(boxes, [2, 1], method="linear", score_threshold=least).kept
        assert kept.tolist() == [0, 1][:count]
    assert soft_nms(boxes, [2, 1], method="linear", iou_threshold=1).scores.tolist() == [2, 1]


def test_scores_that_are_0_or_less():
    far = [[0, 0, 1, 1], [5, 5, 6, 6], [8, 8, 9, 9], [0, 0, 1, 1]]
    result = soft_nms(far, [-1, 0, 0.5, 0.25], score_threshold=0)
    assert result.kept.tolist() == [2, 3, 1]
    assert result.scores.tolist() == [0.5, 0.25, 0]
    result = soft_nms([[0, 0, 1, 1]] * 3, [1, 1, 0.5], method="linear", score_threshold=0)
    assert result.kept.tolist() == [0, 1, 2]
    assert result.scores.tolist() == [1, 0, 0]


@pytest.mark.parametrize("n", [1, 2, 40, 300, 700])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_the_scores_are_those_of_the_loop(family, n):
    rng = np.random.default_rng(n)
    boxes, labels = family(rng, n), rng.integers(0, 9, n)
    check_softened(boxes, rng.random(n))
    check_softened(boxes, rng.random(n), labels, iou_threshold=0.5, sigma=0.1)
    check_softened(boxes, rng.integers(0, 5, n), iou_threshold=0, sigma=5, least=0.1)
    check_softened(boxes, np.linspace(1, 0, n), least=0.0)


@pytest.mark.parametrize("few", [1, 3, 20])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_how_many_are_softened_together_decides_nothing(monkeypatch, family, few):
    monkeypatch.setattr(suppression, "_FEW", few)
    monkeypatch.setattr(suppression, "_TIER", few)
    monkeypatch.setattr(suppression, "_PAIRS_TO_A_BOX", few / 10)
    monkeypatch.setattr(suppression, "_BLOCK", 50 * few)
    rng = np.random.default_rng(few)
    boxes = family(rng, 120)
    check_softened(boxes, rng.random(120))
    check_softened(boxes, rng.integers(0, 3, 120), rng.integers(0, 30, 120), least=0.0)


@settings(max_examples=80)
@given(scene=scenes(), sigma=st.sampled_from([1e-300, 0.01, 0.5, 1e300]), least=st.floats(0, 1))
def test_any_scores_are_lowered_as_the_loop_lowers_them(scene, sigma, least):
    boxes, scores, labels = scene
    scores = np.clip(np.array(scores, dtype=float), -1e300, 1e300)
    check_softened(np.reshape(boxes, (-1, 4)), scores, sigma=sigma, least=least)
    check_softened(np.reshape(boxes, (-1, 4)), scores, labels, sigma=sigma, least=least)


def test_ties_between_those_softened_together_and_the_others(monkeypatch):
    monkeypatch.setattr(suppression, "_FEW", 1)
    monkeypatch.setattr(suppression, "_TIER", 1)
    monkeypatch.setattr(suppression, "_PAIRS_TO_A_BOX", 0.5)
    # The IoU of neighbours is 1/2, and so is what is left of a score: powers of two tie all along.
    squares = np.array([[[x, 0, x + 3, 3] for x in range(5)]] * 4).reshape(-1, 4)
    rng = np.random.default_rng(0)
    for _ in range(100):
        scores = 2.0 ** -rng.integers(0, 4, 20)
        check_softened(rng.permutation(squares), scores, iou_threshold=0.5, least=0.125)
        check_softened(rng.permutation(squares), scores, iou_threshold=0.2, least=0.0625)


def test_softening_leaves_its_input_alone():
    boxes = np.array([[0, 0, 4, 4], [0, 0, 4, 3.0]])
    for scores in (np.array([1, 0.5]), np.array([1, 0.5], ">f4"), np.array([2, 1])):
        before = scores.copy()
        assert soft_nms(boxes, scores).scores[1] < scores[1]
        np.testing.assert_array_equal(scores, before)


def test_no_scores():
    for method in ("gaussian", "linear"):
        kept, scores = soft_nms([], [], labels=[], method=method)
        assert (kept.dtype, scores.dtype, len(kept), len(scores)) == (np.int64, np.float64, 0, 0)


# Errors.

ONE = [[0, 0, 1, 1]]
TWO = [[0, 0, 1, 1], [5, 5, 6, 6]]
REFUSED = [
    (ValueError, "scores must have the shape (1,), not (2,)", ONE, [1, 2], {}),
    (ValueError, "scores must have the shape (2,), not (2, 1)", TWO, [[1], [2]], {}),
    (ValueError, "scores must have the shape (1,), not ()", ONE, 0.5, {}),
    (ValueError, "scores must have the shape (0,), not (1,)", [], [1], {}),
    (ValueError, "scores[1] = nan: not a finite number", TWO, [1, np.nan], {}),
    (ValueError, "scores[0] = inf: not a finite number", TWO, [np.inf, np.nan], {}),
    (ValueError, "scores[1] = -inf: not a finite number", TWO, [1, -np.inf], {}),
    (TypeError, "scores must be integers or floats, not of bool", TWO, [True, False], {}),
    (TypeError, "scores must be integers or floats, not of <U3", TWO, ["0.5", "1"], {}),
    (TypeError, "scores must be integers or floats, not of object", TWO, [None, 1], {}),
    (TypeError, "scores must be integers or floats, not of complex128", TWO, [1j, 1], {}),
    (ValueError, "labels must have the shape (2,), not (1,)", TWO, [1, 2], {"labels": [1]}),
    (ValueError, "labels must have the shape (2,), not ()", TWO, [1, 2], {"labels": "ab"}),
    (ValueError, "labels[1] is nan", TWO, [1, 2], {"labels": [1, np.nan]}),
    (ValueError, "labels[0] is nan", TWO, [1, 2], {"labels": np.array([np.nan, 1])}),
    (ValueError, "iou_threshold must be in [0, 1], it is 1.5", TWO, [1, 2], {"iou_threshold": 1.5}),
    (ValueError, "iou_threshold must be in [0, 1], it is -1", TWO, [1, 2], {"iou_threshold": -1}),
    (
        ValueError,
        "iou_threshold must be in [0, 1], it is nan",
        TWO,
        [1, 2],
        {"iou_threshold": np.nan},
    ),
    (
        TypeError,
        "iou_threshold must be a real number, it is a str",
        TWO,
        [1, 2],
        {"iou_threshold": "0.5"},
    ),
    (
        TypeError,
        "iou_threshold must be a real number, it is a bool",
        TWO,
        [1, 2],
        {"iou_threshold": True},
    ),
    (
        ValueError,
        "unknown measure 'giou'; known are 'iou', 'diou'",
        TWO,
        [1, 2],
        {"measure": "giou"},
    ),
    (ValueError, "boxes must have the shape (N, 4), not (4,)", ONE[0], [1], {}),
    (ValueError, "boxes[1] = (5, 0, 1, 1): x_max < x_min", [*ONE, [5, 0, 1, 1]], [1, 2], {}),
]


@pytest.mark.parametrize(("error", "message", "boxes", "scores", "options"), REFUSED)
def test_what_is_refused_is_named(error, message, boxes, scores, options):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        nms(boxes, scores, **options)


SOFTLY_REFUSED = [
    (ValueError, "unknown method 'hard'; known are 'gaussian', 'linear'", {"method": "hard"}),
    (ValueError, "sigma must be above 0 and finite, it is 0", {"sigma": 0}),
    (ValueError, "sigma must be above 0 and finite, it is inf", {"sigma": np.inf}),
    (ValueError, "sigma must be above 0 and finite, it is nan", {"sigma": np.nan}),
    (TypeError, "sigma must be a real number, it is a NoneType", {"sigma": None}),
    (
        ValueError,
        "score_threshold must be at least 0 and finite, it is -1",
        {"score_threshold": -1},
    ),
    (
        ValueError,
        "score_threshold must be at least 0 and finite, it is nan",
        {"score_threshold": np.nan},
    ),
    (TypeError, "score_threshold must be a real number, it is a str", {"score_threshold": "0"}),
    (ValueError, "iou_threshold must be in [0, 1], it is 2", {"iou_threshold": 2}),
    (ValueError, "labels must have the shape (2,), not (3,)", {"labels": [1, 2, 3]}),
]


@pytest.mark.parametrize(("error", "message", "options"), SOFTLY_REFUSED)
def test_what_is_refused_softly_is_named(error, message, options):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        soft_nms(TWO, [1, 2], **options)
    with pytest.raises(ValueError, match=r"^scores\[1\] = nan"):
        soft_nms(TWO, [1, np.nan])


def test_masked_arrays_are_refused():
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    with pytest.raises(TypeError, match=r"^scores: masked"):
        nms(TWO, masked)
    with pytest.raises(TypeError, match=r"^labels: masked"):
        nms(TWO, [1, 2], labels=masked)
    with pytest.raises(TypeError, match=r"^boxes: masked"):
        nms(np.ma.array(TWO), [1, 2])


# Other libraries.


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_powerboxes_keeps_the_same(peer, family, threshold):
    powerboxes = peer("powerboxes")
    rng = np.random.default_rng(0)
    boxes = family(rng, 1500).astype(float)
    # It divides 0 by 0.
    boxes = boxes[(boxes[:, 2:] > boxes[:, :2]).all(axis=1)]
    scores = rng.random(len(boxes))
    kept = nms(boxes, scores, iou_threshold=threshold)
    for other in (powerboxes.nms, powerboxes.rtree_nms):
        np.testing.assert_array_equal(other(boxes, scores, threshold, 0.0), kept)


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_torchvision_keeps_the_same(family, threshold):
    reason = "torchvision is large, and optional"
    torch = pytest.importorskip("torch", reason=reason)
    operations = pytest.importorskip("torchvision.ops", reason=reason)
    rng = np.random.default_rng(0)
    boxes = family(rng, 1500).astype(float)
    for scores in (rng.random(1500), rng.integers(0, 9, 1500).astype(float)):
        tensors = torch.from_numpy(boxes), torch.from_numpy(scores)
        expected = operations.nms(*tensors, threshold).numpy()
        np.testing.assert_array_equal(nms(boxes, scores, iou_threshold=threshold), expected)
        np.testing.assert_array_equal(nms(*tensors, iou_threshold=threshold), expected)
