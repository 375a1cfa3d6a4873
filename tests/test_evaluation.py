"""Evaluation: against a slow oracle in fractions, hand-worked tables, and pycocotools.

The oracle goes through the predictions one by one, as the rules are told. It shares nothing with
the module but the definition of IoU.
"""

import contextlib
import io
import itertools
import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iou import (
    average_precision,
    average_precision_range,
    coco_summary,
    evaluation,
    exact,
    match,
    matching,
    neighbours,
    precision_recall,
    samples,
)
from iou.dataset import Predictions, Truths
from iou.evaluation import Curve
from iou.matching import OUTCOMES

HALF = Fraction(1, 2)
METHODS = ["coco", "voc", "voc11"]


# The oracle.


def overlap(predictions, truths, row, truth):
    box, other = predictions.boxes[row].tolist(), truths.boxes[truth].tolist()
    if truths.crowd[truth]:
        part = exact.intersection(box, other, fmt=truths.fmt)
        return exact.ratio(part, exact.area(box, fmt=truths.fmt))
    return exact.iou(box, other, fmt=truths.fmt)


def told_one_by_one(
    predictions,
    truths,
    *,
    iou_threshold=HALF,
    strict=False,
    protocol="coco",
    area_range=None,
    max_detections=None,
):
    """Match as the rules are told; rows of (prediction, truth, outcome, explaining truths, IoU)."""
    low, high = area_range or (0, math.inf)
    wanted = [
        not crowd and not ignore and low <= size <= high
        for crowd, ignore, size in zip(truths.crowd, truths.ignore, truths.area, strict=True)
    ]

    def reaches(value):
        return value > iou_threshold if strict else value >= iou_threshold

    def importance(row):
        image = predictions.images[row] if protocol == "coco" else 0
        return -predictions.scores[row], image, row

    taken, table, seen = set(), [], {}
    for row in sorted(range(len(predictions)), key=importance):
        cell = predictions.images[row], predictions.labels[row]
        seen[cell] = seen.get(cell, 0) + 1
        if max_detections is not None and seen[cell] > max_detections:
            continue
        here = [t for t in range(len(truths)) if truths.images[t] == predictions.images[row]]
        value = {t: overlap(predictions, truths, row, t) for t in here}
        own = [t for t in here if truths.labels[t] == predictions.labels[row] and value[t] > 0]
        near = [t for t in own if reaches(value[t])]
        if protocol == "voc":
            # Python's max gives the first of several.
            near = [t for t in [max(own, key=value.get)] if reaches(value[t])] if own else []
            free = [t for t in near if t not in taken or not wanted[t]]
        else:
            free = [t for t in near if t not in taken or truths.crowd[t]]
            # The last of several, those that are to be found before the others.
            free = sorted(free, key=lambda t: (wanted[t], value[t], t))[-1:]
        other = [
            t
            for t in here
            if truths.labels[t] != predictions.labels[row] and wanted[t] and reaches(value[t])
        ]
        size = exact.area(predictions.boxes[row].tolist(), fmt=predictions.fmt)
        if free:
            taken.add(free[0])
            outcome, why = "true positive" if wanted[free[0]] else "ignored", free
        elif near:
            outcome, why = "duplicate", near
        elif other:
            outcome, why = "wrong class", other
        elif any(value[t] >= Fraction(1, 10) for t in own):
            outcome, why = "poor placing", own
        else:
            outcome, why = "background", own
        if not free and not low <= size <= high:
            outcome = "ignored"
        if outcome != "duplicate" or protocol == "voc":
            why = [t for t in why if value[t] == max(map(value.get, why))]
        values = {value[t] for t in why} or {Fraction(0)}
        table.append((row, free[0] if free else -1, outcome, why or [-1], values))
    missed = [t for t in range(len(truths)) if wanted[t] and t not in taken]
    return table, missed, wanted


def average_of(outcomes, positives, method):
    """Average precision of a list of outcomes, as a fraction."""
    points, found = [], 0
    for number, true in enumerate(outcomes, start=1):
        found += true
        points.append((Fraction(found, positives), Fraction(found, number)))

    def best_from(recall):
        return max((p for r, p in points if r >= recall), default=Fraction(0))

    steps = {"coco": 100, "voc11": 10, "voc": positives}[method]
    levels = range(1 if method == "voc" else 0, steps + 1)
    return sum(best_from(Fraction(k, steps)) for k in levels) / len(levels)


def curve_of(outcomes, positives):
    true = np.array(outcomes, dtype=np.int64)
    return Curve(np.cumsum(true), -np.arange(len(true), dtype=float), positives)


def test_the_oracle_knows_the_examples_of_the_literature():
    """Ten objects, seven found; and an envelope that a later point lifts."""
    assert average_of([1] * 7, 10, "coco") == Fraction(71, 101)
    assert average_of([1] * 7, 10, "voc11") == Fraction(8, 11)
    assert average_of([0, 1, 1], 2, "voc") == Fraction(2, 3)


# Scenes.


@st.composite
def scenes(draw, boxes=6, images=2, labels=2, scores=4):
    """Few boxes on a small grid, so that all that can happen does."""
    side = st.integers(0, 6)

    def table(number):
        corner = st.tuples(side, side, st.integers(0, 5), st.integers(0, 5))
        rows = draw(st.lists(corner, min_size=number, max_size=number))
        return np.array(rows, dtype=np.int64).reshape(-1, 4)

    def column(number, least, most):
        rows = st.integers(least, most)
        return np.array(draw(st.lists(rows, min_size=number, max_size=number)), dtype=np.int64)

    n, m = draw(st.integers(0, boxes)), draw(st.integers(0, boxes))
    truths = Truths(
        table(n),
        images=column(n, 0, images - 1),
        labels=column(n, 0, labels - 1),
        crowd=column(n, 0, 1) * column(n, 0, 1),
        ignore=column(n, 0, 1) * column(n, 0, 1),
        fmt="xywh",
    )
    predictions = Predictions(
        table(m),
        column(m, 0, scores - 1) / 4,
        images=column(m, 0, images - 1),
        labels=column(m, 0, labels - 1),
        fmt="xywh",
    )
    return predictions, truths


RULES = st.fixed_dictionaries(
    {
        "iou_threshold": st.sampled_from([Fraction(1, 4), HALF, Fraction(2, 3)]),
        "strict": st.booleans(),
        "protocol": st.sampled_from(["coco", "voc"]),
        "area_range": st.sampled_from([None, (0, 9), (4, 12)]),
        "max_detections": st.sampled_from([None, 1, 2]),
    }
)


def random_scene(seed, *, images=6, labels=3, truths=40, predictions=150, ties=True, whole=True):
    """Predictions near truths and elsewhere; image and label ids with holes and below zero."""
    rng = np.random.default_rng(seed)
    image_ids, label_ids = rng.permutation(99)[: images + 2] - 9, rng.permutation(9)[: labels + 1]
    corner = rng.integers(0, 60, (truths, 2))
    largest = rng.choice([20, 120])
    boxes = np.hstack([corner, rng.integers(1, largest, (truths, 2))]).astype(float)
    image, label = rng.integers(0, images, truths), rng.integers(0, labels, truths)
    near = rng.integers(0, truths, predictions)
    found = boxes[near] + rng.integers(-3, 4, (predictions, 4))
    found[:, 2:] = np.maximum(found[:, 2:], 1)
    if not whole:
        boxes, found = boxes + rng.random(boxes.shape), found + rng.random(found.shape)
    image_found = np.where(
        rng.random(predictions) < 0.9, image[near], rng.integers(0, images + 2, predictions)
    )
    label_found = np.where(
        rng.random(predictions) < 0.9, label[near], rng.integers(0, labels + 1, predictions)
    )
    scores = rng.integers(0, 9, predictions) / 8 if ties else rng.random(predictions)
    return (
        Predictions(
            found, scores, images=image_ids[image_found], labels=label_ids[label_found], fmt="xywh"
        ),
        Truths(
            boxes,
            images=image_ids[image],
            labels=label_ids[label],
            crowd=rng.random(truths) < 0.15,
            area=boxes[:, 2] * boxes[:, 3] * rng.choice([0.5, 1], truths),
            fmt="xywh",
        ),
    )


# Matching.


@given(scenes(), RULES)
@settings(max_examples=400)
def test_a_match_is_what_the_rules_tell_one_by_one(scene, rules):
    predictions, truths = scene
    matches = match(predictions, truths, **rules)
    table, missed, wanted = told_one_by_one(predictions, truths, **rules)
    assert matches.prediction.tolist() == [row for row, *_ in table]
    assert matches.truth.tolist() == [truth for _, truth, *_ in table]
    assert matches.outcome.tolist() == [outcome for _, _, outcome, *_ in table]
    for nearest, value, (_, _, _, why, values) in zip(
        matches.nearest, matches.iou, table, strict=True
    ):
        assert nearest in why
        assert value in set(map(float, values))
    assert matches.missed.tolist() == missed
    assert matches.wanted.tolist() == wanted
    counts = {int(label): 0 for label in {*predictions.labels, *truths.labels}}
    for label, counted in zip(truths.labels.tolist(), wanted, strict=True):
        counts[label] += counted
    assert matches.positives == counts
    assert matches.score.tolist() == predictions.scores[matches.prediction].tolist()
    assert matches.label.tolist() == predictions.labels[matches.prediction].tolist()


def test_every_outcome_occurs_in_the_scenes_of_the_tests():
    seen = {
        (protocol, outcome)
        for seed in range(3)
        for protocol in ("coco", "voc")
        for outcome in match(*random_scene(seed), protocol=protocol).outcome
    }
    assert seen == set(itertools.product(("coco", "voc"), OUTCOMES))


@pytest.mark.parametrize("protocol", ["coco", "voc"])
def test_who_scores_higher_chooses_first_whatever_the_iou(protocol):
    truths = Truths([[0, 0, 10, 10]])
    matches = match(
        Predictions([[0, 0, 10, 9], [0, 0, 10, 6]], [0.8, 0.9]), truths, protocol=protocol
    )
    assert matches.prediction.tolist() == [1, 0]
    assert matches.outcome.tolist() == ["true positive", "duplicate"]
    assert matches.iou.tolist() == [0.6, 0.9]


@pytest.mark.parametrize(("protocol", "taken"), [("coco", 1), ("voc", 0)])
def test_of_truths_with_equal_iou_coco_takes_the_last_and_voc_the_first(protocol, taken):
    truths = Truths([[0, 0, 4, 4], [2, 0, 6, 4]])
    prediction = Predictions([[1, 0, 5, 4]], [1])
    assert match(prediction, truths, protocol=protocol).truth.tolist() == [taken]


def test_coco_prefers_a_worse_truth_that_counts_and_voc_does_not():
    truths = Truths([[0, 0, 10, 10], [0, 0, 10, 8]], ignore=[True, False])
    prediction = Predictions([[0, 0, 10, 10]], [1])
    assert match(prediction, truths).outcome.tolist() == ["true positive"]
    assert match(prediction, truths, protocol="voc").outcome.tolist() == ["ignored"]


def test_an_ignored_truth_excuses_one_prediction_in_coco_and_all_in_voc():
    truths = Truths([[0, 0, 10, 10]], ignore=[True])
    predictions = Predictions([[0, 0, 10, 10]] * 3, [3, 2, 1])
    assert match(predictions, truths).outcome.tolist() == ["ignored", "duplicate", "duplicate"]
    assert set(match(predictions, truths, protocol="voc").outcome) == {"ignored"}


def test_a_crowd_excuses_all_that_lie_in_it():
    truths = Truths([[0, 0, 100, 100]], crowd=[True])
    predictions = Predictions([[0, 0, 10, 10], [95, 0, 105, 10], [96, 0, 106, 10]], [3, 2, 1])
    matches = match(predictions, truths)
    assert matches.outcome.tolist() == ["ignored", "ignored", "poor placing"]
    assert matches.iou.tolist() == [1.0, 0.5, 0.4]
    assert len(matches.missed) == 0


@pytest.mark.parametrize("scale", [1.0, 2.0**-530, 2.0**510, 2.0**-1074])
def test_the_share_in_a_crowd_is_right_at_every_size(scale):
    truths = Truths(np.array([[0, 0, 100, 100]]) * scale, crowd=[True])
    prediction = Predictions(np.array([[97, 0, 107, 10]]) * scale, [1])
    assert match(prediction, truths).iou.tolist() == [0.3]


def test_predictions_without_area_take_nothing():
    box = [[1, 1, 1, 3]]
    for crowd in (False, True):
        matches = match(Predictions(box, [1]), Truths(box, crowd=[crowd]))
        assert matches.outcome.tolist() == ["background"]
        assert matches.iou.tolist() == [0.0]


def test_a_threshold_that_is_a_fraction_is_compared_exactly():
    """Here the exact IoU is a little below 1/3, and the float nearest to it is that of 1/3."""
    wide = 2**54 + 2
    truths, prediction = Truths([[0, 0, 3 * (wide // 3) + 3, 1]]), Predictions([[0, 0, 1, 1]], [1])
    side = int(truths.boxes[0, 2])
    value = exact.iou(prediction.boxes[0].tolist(), truths.boxes[0].tolist())
    assert value == Fraction(1, side)
    just_above = value + Fraction(1, 2**200)
    assert float(just_above) == float(value)
    assert match(prediction, truths, iou_threshold=float(value)).truth.tolist() == [0]
    assert match(prediction, truths, iou_threshold=value).truth.tolist() == [0]
    assert match(prediction, truths, iou_threshold=just_above).truth.tolist() == [-1]
    assert match(prediction, truths, iou_threshold=value, strict=True).truth.tolist() == [-1]


def test_formats_may_differ():
    predictions, truths = random_scene(1)
    corners = np.hstack([truths.boxes[:, :2], truths.boxes[:, :2] + truths.boxes[:, 2:]])
    columns = {name: getattr(truths, name) for name in ("images", "labels", "crowd", "area")}
    mixed = match(predictions, Truths(corners, **columns))
    same = match(predictions, truths)
    for name in ("prediction", "truth", "iou", "outcome", "missed"):
        np.testing.assert_array_equal(getattr(mixed, name), getattr(same, name))


def test_nothing_depends_on_how_many_pairs_are_measured_at_a_time(monkeypatch):
    scene = random_scene(2)
    whole = match(*scene), coco_summary(*scene)
    monkeypatch.setattr(neighbours, "_CHUNK", 7)
    parts = match(*scene), coco_summary(*scene)
    np.testing.assert_array_equal(whole[0].nearest, parts[0].nearest)
    np.testing.assert_array_equal(whole[1].precision, parts[1].precision)


@pytest.mark.parametrize("shift", [0, 2**40])
def test_rows_are_sorted_by_numbers_of_every_size(shift):
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 4, 50) + shift for _ in range(3)]
    expected = sorted(range(50), key=lambda row: [*(column[row] for column in columns), row])
    assert matching.sort_rows(*columns).tolist() == expected


@pytest.mark.parametrize("protocol", ["coco", "voc"])
def test_nothing_at_all_can_be_matched(protocol):
    none, one = Truths([]), Truths([[0, 0, 1, 1]])
    matches = match(Predictions([], []), none, protocol=protocol)
    assert len(matches) == 0
    assert matches.positives == {}
    assert match(Predictions([], []), one, protocol=protocol).missed.tolist() == [0]
    assert match(Predictions([[0, 0, 1, 1]], [1]), none, protocol=protocol).outcome == "background"


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"iou_threshold": 0}, ValueError, "above 0 and at most 1, it is 0"),
        ({"iou_threshold": 1.5}, ValueError, "above 0 and at most 1, it is 1.5"),
        ({"iou_threshold": math.nan}, ValueError, "it is nan"),
        ({"iou_threshold": 1, "strict": True}, ValueError, "from 0 to below 1, it is 1"),
        ({"iou_threshold": True}, TypeError, "a real number, it is a bool"),
        ({"iou_threshold": "0.5"}, TypeError, "a real number, it is a str"),
        ({"protocol": "lvis"}, ValueError, "unknown protocol 'lvis'; known are 'coco', 'voc'"),
        ({"area_range": (9, 4)}, ValueError, "not empty"),
        ({"area_range": (-1, 4)}, ValueError, "from 0 upwards"),
        ({"max_detections": 0}, ValueError, "at least 1, it is 0"),
        ({"max_detections": 1.0}, TypeError, "an integer, it is a float"),
        ({"predictions": Truths([])}, TypeError, "Predictions are wanted, not Truths"),
        ({"truths": [[0, 0, 1, 1]]}, TypeError, "Truths are wanted, not list"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, error, words):
    arguments = {"predictions": Predictions([], []), "truths": Truths([])} | wrong
    with pytest.raises(error, match=words):
        match(**arguments)


# Average precision.


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 8), st.sampled_from(METHODS))
@settings(max_examples=300)
def test_average_precision_is_the_fraction_that_the_definition_gives(outcomes, missed, method):
    positives = sum(outcomes) + missed
    curve = curve_of(outcomes, positives)
    if positives == 0:
        assert math.isnan(average_precision(curve, method))
        assert np.isnan(curve.recall).all()
        return
    expected = average_of(outcomes, positives, method)
    assert average_precision(curve, method) == pytest.approx(float(expected), rel=1e-15, abs=0)
    found = np.cumsum(outcomes).tolist()
    assert curve.recall.tolist() == [count / positives for count in found]
    assert curve.precision.tolist() == [count / (k + 1) for k, count in enumerate(found)]


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 8), st.sampled_from(["coco", "voc11"]))
@settings(max_examples=300)
def test_the_float_grid_does_what_the_usual_code_does(outcomes, missed, method):
    positives = sum(outcomes) + missed
    if positives == 0:
        return
    curve = curve_of(outcomes, positives)
    levels = np.linspace(0, 1, 101) if method == "coco" else np.arange(0, 1.1, 0.1)
    total = 0.0
    for level in levels:
        reached = curve.precision[curve.recall >= level]
        total += reached.max() if len(reached) else 0.0
    usual = total / len(levels)
    assert average_precision(curve, method, grid="float") == pytest.approx(usual, abs=1e-14)


@pytest.mark.parametrize("steps", [("coco", 100), ("voc11", 10)])
def test_the_exact_grid_asks_for_the_least_number_that_reaches_a_level(steps):
    method, steps = steps
    positives = np.arange(1, 60)
    needed = evaluation._needed(positives, method, "exact")
    for row, whole in zip(needed.tolist(), positives.tolist(), strict=True):
        for k, number in enumerate(row):
            assert Fraction(number, whole) >= Fraction(k, steps)
            assert number == 0 or Fraction(number - 1, whole) < Fraction(k, steps)


@pytest.mark.parametrize("method", ["coco", "voc11"])
def test_the_float_grid_asks_for_the_first_float_that_reaches_a_level(method):
    levels = np.linspace(0, 1, 101) if method == "coco" else np.arange(0, 1.1, 0.1)
    for whole in [*range(1, 200), 1000, 4999, 10**6 + 3]:
        needed = evaluation._needed(np.array([whole]), method, "float")[0]
        recall = np.arange(whole + 1) / whole
        assert needed.tolist() == np.searchsorted(recall, levels).tolist()


def test_which_levels_floats_lose():
    """Of ten objects k are found: the level k/10 is reached, and not all floats say so."""
    lost = {
        k
        for k in range(11)
        if average_precision(curve_of([1] * k, 10), "voc11", grid="float")
        < average_precision(curve_of([1] * k, 10), "voc11") - 0.01
    }
    assert lost == {3, 6, 7}
    seven = curve_of([1] * 7, 10)
    assert average_precision(seven) == pytest.approx(71 / 101, rel=1e-15)
    assert average_precision(seven, grid="float") == pytest.approx(70 / 101, rel=1e-15)


VOC_TABLE = [1, 0, 1, 1, 0, 0, 1, 0, 0, 1]  # Of six objects, five are found.


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        # Precision at the true positives: 1, 2/3, 3/4, 4/7, 1/2. The envelope lifts 2/3 to 3/4.
        ("voc", (1 + 2 * Fraction(3, 4) + Fraction(4, 7) + Fraction(1, 2)) / 6),
        # Of the recall levels 0 to 1: two up to 1/6, four up to 1/2, one to 2/3, two to 5/6.
        ("voc11", (2 + 4 * Fraction(3, 4) + Fraction(4, 7) + 2 * Fraction(1, 2)) / 11),
        # Levels up to 16, 33 and 50, 66, 83 hundredths.
        ("coco", (17 + 34 * Fraction(3, 4) + 16 * Fraction(4, 7) + 17 * Fraction(1, 2)) / 101),
    ],
)
def test_a_table_worked_by_hand(method, expected):
    result = average_precision(curve_of(VOC_TABLE, 6), method)
    assert result == pytest.approx(float(expected), rel=1e-15)


def test_three_averages_come_from_one_table_of_matches():
    boxes = np.array([[20 * k, 0, 20 * k + 10, 10] for k in range(6)])
    elsewhere = boxes + 1000
    order = [boxes[sum(VOC_TABLE[:k])] if hit else elsewhere[0] for k, hit in enumerate(VOC_TABLE)]
    matches = match(Predictions(order, -np.arange(10)), Truths(boxes))
    curve = precision_recall(matches)
    for method in METHODS:
        expected = float(average_of(VOC_TABLE, 6, method))
        assert average_precision(curve, method) == pytest.approx(expected, rel=1e-15)


def test_a_label_that_nobody_has_is_refused():
    matches = match(Predictions([], []), Truths([[0, 0, 1, 1]], labels=[3]))
    assert precision_recall(matches, 3).positives == 1
    for function in (precision_recall, average_precision_range):
        with pytest.raises(ValueError, match="has the label 4"):
            function(matches, 4)


@pytest.mark.parametrize("wrong", [{"method": "101"}, {"grid": "fine"}])
def test_an_unknown_method_or_grid_is_refused(wrong):
    with pytest.raises(ValueError, match=f"^unknown {next(iter(wrong))} "):
        average_precision(curve_of([1], 1), **wrong)
    with pytest.raises(ValueError, match=f"^unknown {next(iter(wrong))} "):
        average_precision_range(match(Predictions([], []), Truths([])), **wrong)


# Equal scores.


def of_all_orders(predictions, truths, method, **rules):
    """Average precision in each order that falling scores allow, with the scores made different."""
    scores = predictions.scores
    groups = [np.flatnonzero(scores == score) for score in sorted(set(scores.tolist()))[::-1]]
    for permuted in itertools.product(*map(itertools.permutations, groups)):
        rank = np.empty(len(scores))
        rank[list(itertools.chain(*permuted))] = np.arange(len(scores))
        columns = {"images": predictions.images, "labels": predictions.labels}
        other = Predictions(predictions.boxes, -rank, fmt=predictions.fmt, **columns)
        yield average_precision(precision_recall(match(other, truths, **rules)), method)


@given(scenes(boxes=5, labels=1, scores=2), RULES, st.sampled_from(METHODS))
@settings(max_examples=150)
def test_the_range_holds_every_order_and_is_attained_where_it_says_so(scene, rules, method):
    # Whom a maximum leaves out depends on the order, so there is none.
    rules = rules | {"max_detections": None}
    matches = match(*scene, **rules)
    least, greatest, exactly = average_precision_range(matches, method=method)
    values = list(of_all_orders(*scene, method, **rules))
    if math.isnan(values[0]):
        assert math.isnan(least)
        assert math.isnan(greatest)
        return
    assert least <= min(values) + 1e-15
    assert greatest >= max(values) - 1e-15
    if exactly:
        assert (least, greatest) == pytest.approx((min(values), max(values)), abs=1e-15)
    if rules["protocol"] == "voc" and rules["area_range"] is None:
        assert exactly


def tied(truths, boxes):
    return match(Predictions(boxes, [1] * len(boxes)), Truths(truths), iou_threshold=Fraction(1, 4))


def test_a_duplicate_cannot_come_before_the_one_that_it_duplicates():
    box = [0, 0, 4, 4]
    assert average_precision_range(tied([box], [box, box]), method="voc") == (1, 1, True)


def test_it_matters_who_chooses_first():
    """One prediction reaches both truths, one reaches the first alone, with a lower IoU."""
    truths, boxes = [[0, 0, 10, 10], [5, 0, 15, 10]], [[2, 0, 12, 10], [-3, 0, 7, 10]]
    matches = tied(truths, boxes)
    assert matches.choices.truth.tolist() == [0, 1, 0]
    values = list(of_all_orders(Predictions(boxes, [1, 1]), Truths(truths), "voc"))
    assert sorted(values) == [0.5, 1]
    found = list(
        of_all_orders(
            Predictions(boxes, [1, 1]), Truths(truths), "voc", iou_threshold=Fraction(1, 4)
        )
    )
    expected = average_precision_range(matches, method="voc")
    assert expected == (min(found), max(found), True)
    assert min(found) < max(found)


def test_it_matters_who_of_two_is_of_an_area_in_the_range():
    """The one that comes second is false if it is in the range, and ignored if it is not."""
    predictions = Predictions([[0, 0, 10, 9], [0, 0, 10, 10], [50, 0, 60, 5]], [1, 1, 0])
    truths, rules = Truths([[0, 0, 10, 9], [50, 0, 60, 5]]), {"area_range": (0, 90)}
    found = list(of_all_orders(predictions, truths, "voc", **rules))
    assert sorted(found) == [(1 + 2 / 3) / 2, 1]
    matches = match(predictions, truths, **rules)
    assert average_precision_range(matches, method="voc") == (min(found), max(found), True)


def test_a_range_that_no_order_attains_does_not_claim_to_be_exact():
    """All five like the same two truths: two are true at once, and none is false before that."""
    matches = tied([[0, 0, 10, 10], [1, 0, 11, 10]], [[0, 0, 10, 10]] * 5)
    least, greatest, exactly = average_precision_range(matches, method="voc")
    assert least < 1 == greatest
    assert not exactly


def test_too_many_orders_give_bounds(monkeypatch):
    """Three objects side by side, two of them within reach of the predictions between them."""
    truths = [[0, 0, 10, 10], [5, 0, 15, 10], [10, 0, 20, 10]]
    matches = tied(truths, [[2, 0, 12, 10], [8, 0, 18, 10], [-3, 0, 7, 10], [13, 0, 23, 10]])
    tried = average_precision_range(matches)
    assert tried.least < tried.greatest
    monkeypatch.setattr(evaluation, "_MOST_STATES", 0)
    bounds = average_precision_range(matches)
    assert not bounds.exact
    assert bounds.least <= tried.least <= tried.greatest <= bounds.greatest
    assert bounds.least <= average_precision(precision_recall(matches)) <= bounds.greatest


def test_a_long_chain_of_equals_takes_no_room():
    """Each of 300 predictions reaches two objects of a row, in a way that no other does."""
    start = 6 * np.arange(300)
    row = np.stack([start, 0 * start, start + 10, 0 * start + 10], axis=1)
    matches = tied(row, row + np.array([3, 0, 3, 0]))
    tracemalloc.start()
    try:
        assert not average_precision_range(matches).exact
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


@given(st.integers(0, 1000), st.sampled_from(["coco", "voc"]))
@settings(max_examples=40)
def test_the_order_of_the_input_is_one_of_the_legal_ones(seed, protocol):
    matches = match(*random_scene(seed, predictions=60), protocol=protocol)
    for label in matches.positives:
        value = average_precision(precision_recall(matches, label))
        least, greatest, _ = average_precision_range(matches, label)
        assert math.isnan(value) or least <= value <= greatest


# The twelve numbers.


@pytest.mark.parametrize("grid", ["float", "exact"])
@pytest.mark.parametrize("seed", range(4))
def test_the_summary_follows_from_tables_of_matches(grid, seed):
    predictions, truths = random_scene(seed)
    summary = coco_summary(predictions, truths, grid=grid, max_detections=(1, 3, 100))
    for (t, threshold), (m, limit), (a, area_range) in itertools.product(
        enumerate(summary.iou_thresholds),
        enumerate(summary.max_detections),
        enumerate(summary.area_ranges.values()),
    ):
        matches = match(
            predictions,
            truths,
            iou_threshold=threshold,
            area_range=area_range,
            max_detections=limit,
        )
        for k, label in enumerate(summary.labels.tolist()):
            curve = precision_recall(matches, label)
            value = average_precision(curve, grid=grid)
            np.testing.assert_allclose(summary.precision[t, :, k, a, m].mean(), value, rtol=1e-14)
            recall = curve.recall[-1] if len(curve) else 0.0 if curve.positives else math.nan
            np.testing.assert_array_equal(summary.recall[t, k, a, m], recall)


def by_pycocotools(peer, predictions, truths, first_id=1, fast=True):
    """Evaluate with pycocotools; precision, recall and the twelve numbers, with NaN for -1."""
    coco, cocoeval = peer("pycocotools.coco"), peer("pycocotools.cocoeval")
    images = sorted({*truths.images.tolist(), *predictions.images.tolist()})
    labels = sorted({*truths.labels.tolist(), *predictions.labels.tolist()})
    columns = (truths.images, truths.labels, truths.boxes, truths.area, truths.crowd)
    keys = "image_id", "category_id", "bbox", "area", "iscrowd"
    given_truths = [
        dict(zip(keys, row, strict=True)) | {"id": first_id + number}
        for number, row in enumerate(zip(*(column.tolist() for column in columns), strict=True))
    ]
    columns = (predictions.images, predictions.labels, predictions.boxes, predictions.scores)
    keys = "image_id", "category_id", "bbox", "score"
    found = [
        dict(zip(keys, row, strict=True))
        for row in zip(*(column.tolist() for column in columns), strict=True)
    ]
    with contextlib.redirect_stdout(io.StringIO()):
        truth_file = coco.COCO()
        truth_file.dataset = {
            "images": [{"id": image} for image in images],
            "categories": [{"id": label} for label in labels],
            "annotations": given_truths,
        }
        truth_file.createIndex()
        run = cocoeval.COCOeval(truth_file, truth_file.loadRes(found), "bbox")
        run.evaluate()
        run.accumulate()
        run.summarize()
    return [
        np.where(values == -1, np.nan, values)
        for values in (run.eval["precision"], run.eval["recall"], run.stats)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_pycocotools_finds_the_same_to_the_bit(peer, seed):
    """Crowds, ties, empty images and classes; every third time corners that are rounded."""
    sizes = np.random.default_rng(seed).integers(1, [60, 200, 8, 4])
    truths, predictions, images, labels = sizes.tolist()
    scene = random_scene(
        seed,
        truths=truths,
        predictions=predictions,
        images=images,
        labels=labels,
        ties=seed % 2 == 0,
        whole=seed % 3 > 0,
    )
    summary = coco_summary(*scene)
    precision, recall, numbers = by_pycocotools(peer, *scene)
    np.testing.assert_array_equal(summary.precision, precision)
    np.testing.assert_array_equal(summary.recall, recall)
    np.testing.assert_array_equal(list(summary.numbers.values()), numbers)


def test_pycocotools_finds_the_same_among_a_hundred_in_an_image(peer):
    scene = random_scene(5, images=1, labels=1, truths=30, predictions=300)
    assert np.isfinite(coco_summary(*scene)["AR100"])
    precision, recall, _ = by_pycocotools(peer, *scene)
    np.testing.assert_array_equal(coco_summary(*scene).precision, precision)
    np.testing.assert_array_equal(coco_summary(*scene).recall, recall)


@pytest.mark.parametrize("detector", ["threshold", "split", "hough", "blob", "watershed"])
def test_pycocotools_finds_the_same_of_the_coins(peer, detector):
    pytest.importorskip("skimage")
    picture = samples.coins()
    found = getattr(samples, f"{detector}_coins")(picture.image)
    # pycocotools reads corner, width and height.
    boxes, truths = (
        np.hstack([box[:, :2], box[:, 2:] - box[:, :2]]) for box in (found.boxes, picture.boxes)
    )
    scene = Predictions(boxes, found.scores, fmt="xywh"), Truths(truths, fmt="xywh")
    summary = coco_summary(*scene)
    np.testing.assert_array_equal(
        [*summary.numbers.values()], by_pycocotools(peer, *scene)[2], strict=False
    )
    by_corners = coco_summary(Predictions(found.boxes, found.scores), Truths(picture.boxes))
    np.testing.assert_allclose([*by_corners.numbers.values()], [*summary.numbers.values()])


def test_a_truth_whose_id_is_zero_is_a_truth(peer):
    """pycocotools takes what object 0 has found for a miss: 51/202 instead of 1."""
    boxes = [[0, 0, 10, 10], [50, 50, 10, 10]]
    scene = Predictions(boxes, [0.5, 0.5], fmt="xywh"), Truths(boxes, fmt="xywh")
    assert coco_summary(*scene, grid="exact")["AP"] == 1
    numbers = by_pycocotools(peer, *scene, first_id=0)[2]
    assert numbers[0] == pytest.approx(51 / 202)


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_neither_the_order_of_rows_nor_the_names_of_images_matter(seed):
    predictions, truths = random_scene(seed, ties=False, whole=False)
    rng = np.random.default_rng(seed)
    i, j = rng.permutation(len(predictions)), rng.permutation(len(truths))
    shuffled = (
        Predictions(
            predictions.boxes[i],
            predictions.scores[i] ** 3,
            images=predictions.images[i] * -7,
            labels=predictions.labels[i] + 10**12,
            fmt="xywh",
        ),
        Truths(
            truths.boxes[j],
            images=truths.images[j] * -7,
            labels=truths.labels[j] + 10**12,
            crowd=truths.crowd[j],
            area=truths.area[j],
            fmt="xywh",
        ),
    )
    ours, theirs = coco_summary(predictions, truths), coco_summary(*shuffled)
    np.testing.assert_array_equal(ours.precision, theirs.precision)
    np.testing.assert_array_equal(ours.recall, theirs.recall)


def test_the_exact_grid_is_never_below_the_usual_one():
    for seed in range(6):
        scene = random_scene(seed)
        usual, exactly = (coco_summary(*scene, grid=grid) for grid in ("float", "exact"))
        rounding = 1e-15
        there = ~np.isnan(usual.precision)
        assert (exactly.precision[there] >= usual.precision[there] - rounding).all()
        assert exactly.iou_thresholds == tuple(Fraction(k, 20) for k in range(10, 20))


def test_where_there_are_no_truths_there_is_no_number():
    truths = Truths([[0, 0, 10, 10], [0, 0, 10, 10]], labels=[0, 1], crowd=[False, True])
    predictions = Predictions([[0, 0, 10, 10]] * 3, [1] * 3, labels=[0, 1, 2])
    summary = coco_summary(predictions, truths, grid="exact")
    assert summary["AP"] == 1
    np.testing.assert_array_equal(list(summary.ap_of_label.values()), [1, math.nan, math.nan])
    assert math.isnan(summary["APl"])
    assert "APl    –" in str(summary)
    assert "<th>APl</th>" in summary._repr_html_()
    assert "<td>1.000</td>" in summary._repr_html_()
    assert repr(summary) == "CocoSummary: AP 1.000, 3 classes"
    empty = coco_summary(Predictions([], []), Truths([]))
    assert all(map(math.isnan, empty.numbers.values()))


def test_limits_and_thresholds_can_be_chosen():
    box = [[0, 0, 10, 10]]
    summary = coco_summary(
        Predictions(box, [1]),
        Truths(box),
        grid="exact",
        iou_thresholds=[0.9, 1],
        max_detections=(1, 10, 1000),
    )
    assert summary["AP"] == summary["AR1000"] == 1
    assert math.isnan(summary["AP50"])
    assert summary.precision.shape == (2, 101, 1, 4, 3)


def test_an_object_larger_than_the_largest_of_coco_is_large():
    box = [[0, 0, 1e6, 1e6]]
    assert coco_summary(Predictions(box, [1]), Truths(box), grid="exact")["APl"] == 1


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"grid": "fine"}, ValueError, "unknown grid .fine.; known are .float., .exact."),
        ({"iou_thresholds": []}, ValueError, "is empty"),
        ({"iou_thresholds": [0.5, 0]}, ValueError, "it is 0"),
        ({"max_detections": ()}, ValueError, "must rise"),
        ({"max_detections": (10, 1)}, ValueError, "must rise"),
        ({"max_detections": (0, 1)}, ValueError, "at least 1"),
    ],
)
def test_a_summary_of_nonsense_is_refused(wrong, error, words):
    with pytest.raises(error, match=words):
        coco_summary(Predictions([], []), Truths([]), **wrong)


# Mistakes met in public code.

A, B, ELSEWHERE = [0, 0, 10, 10], [50, 0, 60, 10], [200, 0, 210, 10]


def ap(predictions, truths, method="voc", **rules):
    return average_precision(precision_recall(match(predictions, truths, **rules)), method)


@pytest.mark.parametrize(
    ("right", "value"),
    [
        pytest.param(ap(Predictions([A, A, B], [3, 2, 1]), Truths([A, B])), 5 / 6, id="repeat"),
        pytest.param(ap(Predictions([A, A, B], [3, 9, 8]), Truths([A, B])), 1, id="unsorted"),
        pytest.param(
            ap(Predictions([[0, 0, 10, 6], [0, 0, 10, 9]], [0.9, 0.8]), Truths([A])),
            1,
            id="score, not IoU",
        ),
        pytest.param(
            ap(
                Predictions([ELSEWHERE, A], [0.9, 0.8], images=[1, 2]),
                Truths([A], images=[2]),
            ),
            0.5,
            id="an image without objects",
        ),
        pytest.param(ap(Predictions([A], [1]), Truths([A, B])), 0.5, id="missed object"),
        pytest.param(
            ap(Predictions([A, B], [2, 1]), Truths([A, B, ELSEWHERE]), "coco"),
            67 / 101,
            id="levels not reached",
        ),
        pytest.param(
            ap(Predictions([A, B], [0.9, 0.8]), Truths([A, B], ignore=[1, 0]), protocol="voc"),
            1,
            id="difficult",
        ),
        pytest.param(
            ap(Predictions([A], [1]), Truths([A, B], ignore=[0, 1]), "coco"),
            1,
            id="ignore without crowd",
        ),
        pytest.param(
            ap(Predictions([A], [1]), Truths([A]), "coco", iou_threshold=0.9), 1, id="AP at 0.90"
        ),
    ],
)
def test_a_mistake_met_in_public_code_is_not_made(right, value):
    assert right == pytest.approx(value, rel=1e-15)


def test_mistakes_in_counting_are_not_made():
    lost = match(Predictions([ELSEWHERE] * 3, [3, 2, 1]), Truths([A]))
    assert lost.outcome.tolist() == ["background"] * 3
    confused = match(Predictions([A], [1], labels=[1]), Truths([A], labels=[2]))
    assert confused.outcome.tolist() == ["wrong class"]
    at_the_threshold = match(
        Predictions([[0, 0, 8, 4]], [1]), Truths([[2, 0, 10, 4]]), iou_threshold=0.6
    )
    assert at_the_threshold.outcome.tolist() == ["true positive"]
    same_score = match(Predictions([A, ELSEWHERE], [1, 1]), Truths([A]))
    assert average_precision_range(same_score, method="voc") == (0.5, 1, True)


def test_a_class_that_is_not_used_has_no_average():
    predictions = Predictions([A, B, ELSEWHERE], [1, 1, 1], labels=[0, 1, 2])
    summary = coco_summary(predictions, Truths([A, B], labels=[0, 1]), grid="exact")
    assert summary["AP"] == 1


# Tables of truths and predictions.


@pytest.mark.parametrize(
    ("columns", "error", "words"),
    [
        ({"labels": [1.5]}, TypeError, "labels must be integers, not of float64"),
        ({"labels": [True]}, TypeError, "labels must be integers, not of bool"),
        ({"labels": [[1]]}, ValueError, r"labels must have the shape \(1,\), not \(1, 1\)"),
        ({"labels": 3}, ValueError, r"labels must have the shape \(1,\), not \(\)"),
        ({"images": [1, 2]}, ValueError, r"images must have the shape \(1,\), not \(2,\)"),
        ({"images": [2**63]}, ValueError, r"images\[0\] = 9223372036854775808: beyond the range"),
        ({"images": ["a"]}, TypeError, "images must be integers"),
        ({"crowd": [2]}, ValueError, r"crowd\[0\] = 2: neither 0 nor 1"),
        ({"ignore": [0.0]}, TypeError, "ignore must be bools, not of float64"),
        ({"area": [-1]}, ValueError, r"area\[0\] = -1: negative"),
        ({"area": [math.nan]}, ValueError, r"area\[0\] = nan: not a finite number"),
        ({"area": np.ma.masked_array([1.0], [True])}, TypeError, "masked"),
        ({"fmt": "yxyx"}, ValueError, "yxyx"),
        ({"boxes": [0, 0, 1, 1]}, ValueError, r"boxes must have the shape \(N, 4\)"),
        ({"boxes": [[0, 0, -1, 1]]}, ValueError, r"boxes\[0\] = \(0, 0, -1, 1\): x_max < x_min"),
    ],
)
def test_a_bad_column_is_refused_and_its_row_named(columns, error, words):
    with pytest.raises(error, match=words):
        Truths(**({"boxes": [[0, 0, 1, 1]]} | columns))


@pytest.mark.parametrize(
    ("scores", "error", "words"),
    [
        ([0.5, math.inf], ValueError, r"scores\[1\] = inf: not a finite number"),
        ([math.nan, 0.5], ValueError, r"scores\[0\] = nan: not a finite number"),
        ([0.5], ValueError, r"scores must have the shape \(2,\), not \(1,\)"),
        (["high", "low"], TypeError, "scores must be integers or floats"),
        ([True, False], TypeError, "scores must be integers or floats, not of bool"),
    ],
)
def test_a_bad_score_is_refused_and_its_row_named(scores, error, words):
    with pytest.raises(error, match=words):
        Predictions([[0, 0, 1, 1]] * 2, scores)


def test_what_was_checked_cannot_be_changed():
    boxes, images = np.array([[0, 0, 2, 3]]), np.array([5])
    truths = Truths(boxes, images=images)
    boxes[:], images[:] = 9, 9
    assert truths.boxes.tolist() == [[0, 0, 2, 3]]
    assert truths.images.tolist() == [5]
    columns = truths.images, truths.labels, truths.crowd, truths.area
    for column in (truths.boxes, truths.table.columns, truths.table.lo, *columns):
        with pytest.raises(ValueError, match="read-only"):
            column[:] = 1
    with pytest.raises(AttributeError):
        truths.labels = images
    assert boxes.flags.writeable


def test_the_area_is_that_of_the_box_unless_it_is_given():
    boxes = [[0, 0, 1, 2], [0, 0, 1e200, 1e200], [0, 0, 2**64, 1]]
    assert Truths(boxes).area.tolist() == [2.0, np.finfo(np.float64).max, 2.0**64]
    assert Truths(boxes[:1], fmt="xyxy_inclusive").area.tolist() == [6.0]
    assert Truths(boxes, area=[1, 2, 3]).area.tolist() == [1.0, 2.0, 3.0]


def test_images_one_by_one_are_the_same_as_all_at_once():
    predictions, truths = random_scene(4)

    def cut(table, name):
        return [getattr(table, name)[table.images == image] for image in images]

    images = sorted({*predictions.images.tolist(), *truths.images.tolist()})
    names = "labels", "crowd", "ignore", "area"
    columns = {name: cut(truths, name) for name in names}
    one_by_one = (
        Predictions.per_image(
            cut(predictions, "boxes"),
            cut(predictions, "scores"),
            labels=cut(predictions, "labels"),
            fmt="xywh",
        ),
        Truths.per_image(cut(truths, "boxes"), **columns, fmt="xywh"),
    )
    assert set(one_by_one[1].images) <= set(range(len(images)))
    ours, theirs = coco_summary(*one_by_one), coco_summary(predictions, truths)
    np.testing.assert_array_equal(ours.precision, theirs.precision)


def test_joining_images_rounds_nothing():
    large = [[0, 0, 2**53 + 1, 1]]
    parts = [np.zeros((1, 4), np.float32), large, [], np.ones((2, 4), np.int8)]
    joined = Truths.per_image(parts)
    assert joined.images.tolist() == [0, 1, 3, 3]
    assert joined.boxes.tolist()[1] == large[0]
    assert Truths.per_image([[], []]).boxes.shape == (0, 4)
    assert len(Predictions.per_image([], [])) == 0


@pytest.mark.parametrize(
    ("columns", "error", "words"),
    [
        ({"boxes": [[], [[1, 1, 0, 2]]]}, ValueError, r"boxes\[1\]\[0\] = \(1, 1, 0, 2\)"),
        ({"boxes": [[0, 0, 1, 1]]}, ValueError, r"boxes\[0\] must have the shape \(N, 4\)"),
        ({"labels": [[1]]}, ValueError, "labels must have a column for each of 2 images, it has 1"),
        ({"labels": [[1, 2], []]}, ValueError, r"labels\[0\] must have the shape \(1,\)"),
        ({"crowd": [[0], [0, 3]]}, ValueError, r"crowd\[1\]\[1\] = 3: neither 0 nor 1"),
    ],
)
def test_a_bad_row_of_an_image_is_named(columns, error, words):
    boxes = [[[0, 0, 1, 1]], [[0, 0, 1, 1]] * 2]
    with pytest.raises(error, match=words):
        Truths.per_image(**({"boxes": boxes} | columns))


def test_no_bool_among_numbers_is_taken_for_one():
    with pytest.raises(TypeError, match=r"^scores\[1\] must be a number like the others"):
        Predictions([[0, 0, 1, 1]] * 2, [0.5, True])
    with pytest.raises(TypeError, match=r"^images\[0\] must be a number like the others"):
        Truths([[0, 0, 1, 1]] * 2, images=[False, 3])


def test_an_area_range_beyond_float64_has_no_end():
    truths, predictions = Truths([[0, 0, 1, 1]]), Predictions([[0, 0, 1, 1]], [1])
    matches = match(predictions, truths, area_range=(0, 10**400))
    assert matches.outcome.tolist() == ["true positive"]
    with pytest.raises(TypeError, match=r"^area_range must be a real number"):
        match(predictions, truths, area_range=(0, "large"))
