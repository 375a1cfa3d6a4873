"""Matching predictions to truths: who takes what, and why the others are false.

A prediction is true if it takes a truth: one of its class, in its image, that no better prediction
has taken. The best-scored prediction chooses first.

The choice is computed without going through the predictions one by one. Each asks for the truth
that it likes best, a truth keeps the best-scored of those that ask, and who is turned away asks for
the next. However many ask at the same time, this ends where the one-by-one rule ends (D. Gale and
L. S. Shapley, "College admissions and the stability of marriage", 1962,
https://doi.org/10.1080/00029890.1962.11989827), so it is done for all images, classes, thresholds
and ranges of area at once.

The rules are those of the two benchmarks that most results are reported in: PASCAL VOC
(M. Everingham et al., 2010, https://doi.org/10.1007/s11263-009-0275-4) and COCO (T.-Y. Lin et al.,
2014, https://arxiv.org/abs/1405.0312, and its code, pycocotools).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import exact
from .arguments import one_of, positive_integer, real
from .boxes import SMALLEST_NORMAL, FloatArray, IntArray, Mask, area, convert
from .dataset import Predictions, Truths
from .neighbours import TOLERANCE, chunks, ranges
from .overlap import intersection, iou

OUTCOMES = ("true positive", "duplicate", "wrong class", "poor placing", "background", "ignored")
TRUE, DUPLICATE, WRONG_CLASS, POOR, BACKGROUND, IGNORED = range(len(OUTCOMES))
# A prediction that overlaps no object of its class as much as this is on the background; as in
# TIDE (D. Bolya et al., 2020, https://arxiv.org/abs/2008.08115).
_LEAST_OVERLAP = 0.1
EVERY_AREA = (0.0, math.inf)


class Choices(NamedTuple):
    """The truths that predictions may take: prediction by prediction, the one it likes best first.

    Attributes
    ----------
    place : ndarray of int64, shape (E,)
        Row of the table of matches.
    truth : ndarray of int64, shape (E,)
        Row of the truths.
    iou : ndarray of float64, shape (E,)
        Their IoU; for a crowd, the share of the prediction that lies in it.
    """

    place: IntArray
    truth: IntArray
    iou: FloatArray

    def take(self, index: IntArray | Mask) -> "Choices":
        """Keep some, or sort."""
        return Choices(self.place[index], self.truth[index], self.iou[index])


@dataclass(frozen=True, eq=False, repr=False)
class Matches:
    """Which truth each prediction took; one row a prediction, the surest first.

    Attributes
    ----------
    prediction : ndarray of int64, shape (N,)
        Row of the predictions.
    score : ndarray of float64, shape (N,)
    label : ndarray of int64, shape (N,)
        Its score, falling, and its class.
    outcome : ndarray of str, shape (N,)
        What became of it, one of six:

        ``"true positive"``
            It took a truth.
        ``"ignored"``
            It took a truth that need not be found, or took none and its own area is out of range:
            it counts neither for nor against the detector.
        ``"duplicate"``
            It reaches the threshold with a truth of its class, but better predictions took every
            such truth. (In the protocol of VOC: the one truth that it looks at.)
        ``"wrong class"``
            Otherwise, it reaches the threshold with a truth of another class that is to be found.
        ``"poor placing"``
            Otherwise, it overlaps a truth of its class with an IoU of at least 0.1.
        ``"background"``
            None of these.
    truth : ndarray of int64, shape (N,)
        Row of the truth that it took, or -1.
    in_range : ndarray of bool, shape (N,)
        Whether its own area is in the range.
    nearest : ndarray of int64, shape (N,)
        Row of the truth that explains the outcome: the one it took, or would have liked best, or
        that is of another class, or is the nearest of its class; -1 if it overlaps none.
    iou : ndarray of float64, shape (N,)
        IoU with `nearest`, or 0; if that is a crowd, the share of the prediction that lies in it.
    missed : ndarray of int64, shape (F,)
        Rows of the truths that are to be found and were not taken: the false negatives.
    positives : dict of int to int
        How many truths of each class are to be found, for each label of truths or predictions.
    choices : Choices
        Every truth of its class that a prediction reaches and may take, the best first.
    wanted : ndarray of bool, shape (M,)
        Which truths are to be found.
    shared : ndarray of bool, shape (M,)
        Which truths any number of predictions may take.
    """

    prediction: IntArray
    score: FloatArray
    label: IntArray
    outcome: NDArray[np.str_]
    truth: IntArray
    in_range: Mask
    nearest: IntArray
    iou: FloatArray
    missed: IntArray
    positives: dict[int, int]
    choices: Choices
    wanted: Mask
    shared: Mask

    def __len__(self) -> int:
        return len(self.prediction)

    def __repr__(self) -> str:
        counts = {name: int((self.outcome == name).sum()) for name in OUTCOMES}
        told = [f"{count} {name}" for name, count in counts.items() if count]
        return f"Matches: {', '.join([*told, f'{len(self.missed)} missed'])}"


def match(
    predictions: Predictions,
    truths: Truths,
    *,
    iou_threshold: float | Fraction = 0.5,
    strict: bool = False,
    protocol: str = "coco",
    area_range: tuple[float, float] | None = None,
    max_detections: int | None = None,
) -> Matches:
    """Let predictions take truths, the best-scored first, and say why the others are false.

    Parameters
    ----------
    predictions : Predictions
    truths : Truths
        Of the same images and classes. Boxes in different formats are compared by their corners as
        float64 rounds them; in one format, nothing is rounded.
    iou_threshold : float or Fraction, default 0.5
        The IoU from which a prediction may take a truth, above 0. With a float, what is compared is
        the float that :func:`iou.iou` returns; with a Fraction, the exact IoU.
    strict : bool, default False
        Whether the IoU has to exceed the threshold. Both protocols are satisfied by reaching it;
        some copies of the code of VOC are not.
    protocol : {"coco", "voc"}, default "coco"
        Which truth a prediction chooses.

        In COCO, it takes the free truth with the highest IoU among those that are to be found and
        reach the threshold, then among those that need not be found. Of truths with the same IoU
        it takes the last.

        In VOC, it looks at the truth with the highest IoU alone, the first of several. If another
        has that, it is a duplicate, though it may reach the threshold with a free one as well.

        In COCO, a crowd may be taken any number of times, another truth once. In VOC, all that need
        not be found may be taken any number of times. Where scores are equal, COCO goes by image,
        then by row; VOC by row.
    area_range : (float, float), optional
        Least and greatest area, in square units of the coordinates. Truths with another area need
        not be found, and predictions with another area that take no truth are ignored.
    max_detections : int, optional
        How many predictions an image may have in a class: the best. The others are left out.

    Returns
    -------
    Matches

    Raises
    ------
    ValueError
        If the threshold is not above 0 and at most 1 (if `strict`, not from 0 to below 1), the
        protocol is unknown, the range is empty, or `max_detections` is below 1.
    TypeError
        If an argument is not of its type.

    Examples
    --------
    >>> from iou import Predictions, Truths, match
    >>> truths = Truths([[0, 0, 10, 10], [20, 0, 30, 10]], labels=[1, 2])
    >>> predictions = Predictions(
    ...     [[0, 0, 10, 8], [0, 0, 10, 10], [20, 0, 30, 9], [0, 0, 10, 4], [50, 50, 60, 60]],
    ...     scores=[0.9, 0.8, 0.7, 0.6, 0.5],
    ...     labels=[1, 1, 1, 1, 1],
    ... )
    >>> table = match(predictions, truths)
    >>> table
    Matches: 1 true positive, 1 duplicate, 1 wrong class, 1 poor placing, 1 background, 1 missed
    >>> for row in zip(table.prediction, table.outcome, table.truth, table.nearest, table.iou):
    ...     print(*row)
    0 true positive 0 0 0.8
    1 duplicate -1 0 1.0
    2 wrong class -1 1 0.9
    3 poor placing -1 0 0.4
    4 background -1 -1 0.0
    >>> table.missed, table.positives
    (array([1]), {1: 1, 2: 1})

    The two protocols part where the nearest truth is taken and another is near enough:

    >>> truths = Truths([[0, 0, 10, 10], [4, 0, 14, 10]])
    >>> predictions = Predictions([[1, 0, 11, 10], [0.5, 0, 10.5, 10]], [0.9, 0.8])
    >>> match(predictions, truths, iou_threshold=0.4, protocol="coco").truth
    array([0, 1])
    >>> match(predictions, truths, iou_threshold=0.4, protocol="voc").truth
    array([ 0, -1])
    """
    threshold = checked_threshold(iou_threshold, strict)
    one_of(protocol, ("coco", "voc"), "protocol")
    voc = protocol == "voc"
    low, high = _checked_range(area_range)
    limit = None if max_detections is None else positive_integer(max_detections, "max_detections")
    scene = Scene.of(predictions, truths)

    order = sort_rows(scene.falling, *([] if voc else [scene.image]))
    if limit is not None:
        order = order[rank_in_cell(scene.cell[order]) < limit]
    label = predictions.labels[order]
    wanted = to_be_found(truths, low, high)
    shared = ~wanted if voc else truths.crowd

    near = meeting(scene, order, scene.image, scene.truth_image)
    same_class = label[near.place] == truths.labels[near.truth]
    own = preferred(near.take(same_class), first_of_equals=voc)
    reaching = own.take(first_of_each(own.place)) if voc else own
    reaching = reaching.take(reaches(scene, order, reaching, threshold, strict))
    choices = reaching if voc else reaching.take(wanted_first(reaching, wanted))
    held = settle(choices.place, choices.truth, shared[choices.truth], len(order), len(truths))

    other = near.take(~same_class & wanted[near.truth])
    other = preferred(other.take(reaches(scene, order, other, threshold, strict)))

    # From the weakest explanation to the strongest: each that applies replaces the one before.
    nearest, value = np.full(len(order), -1), np.zeros(len(order))
    outcome = np.full(len(order), BACKGROUND)
    for code, found in ((POOR, own), (WRONG_CLASS, other), (DUPLICATE, choices)):
        first = found.take(first_of_each(found.place))
        nearest[first.place], value[first.place] = first.truth, first.iou
        outcome[first.place] = code
    outcome[(outcome == POOR) & (value < _LEAST_OVERLAP)] = BACKGROUND
    took = np.flatnonzero(held >= 0)
    truth = np.full(len(order), -1)
    truth[took] = nearest[took] = choices.truth[held[took]]
    value[took] = choices.iou[held[took]]
    size = scene.prediction_area[order]
    in_range = (size >= low) & (size <= high)
    outcome[(truth < 0) & ~in_range] = IGNORED
    outcome[took] = np.where(wanted[truth[took]], TRUE, IGNORED)

    missed = wanted.copy()
    missed[truth[took]] = False
    return Matches(
        prediction=order,
        score=predictions.scores[order],
        label=label,
        outcome=np.array(OUTCOMES)[outcome],
        truth=truth,
        in_range=in_range,
        nearest=nearest,
        iou=value,
        missed=np.flatnonzero(missed),
        positives=dict(
            zip(
                scene.labels.tolist(),
                np.bincount(scene.truth_label[wanted], minlength=len(scene.labels)).tolist(),
                strict=True,
            )
        ),
        choices=choices,
        wanted=wanted,
        shared=shared,
    )


# Checks.


def checked_threshold(threshold: Any, strict: bool = False) -> float | Fraction:
    """Return a threshold as float or Fraction, if an IoU can satisfy it and not every one does."""
    rounded = real(threshold, "iou_threshold")
    value = threshold if isinstance(threshold, Fraction) else rounded
    if not (0 <= value < 1 if strict else 0 < value <= 1):
        bounds = "from 0 to below 1" if strict else "above 0 and at most 1"
        raise ValueError(f"iou_threshold must be {bounds}, it is {threshold}")
    return value


def _checked_range(area_range: tuple[float, float] | None) -> tuple[float, float]:
    low, high = (
        real(bound, "area_range") for bound in (EVERY_AREA if area_range is None else area_range)
    )
    if not 0 <= low <= high:
        raise ValueError(f"area_range must be from 0 upwards and not empty, it is {area_range}")
    return low, high


# Images, classes and scores, numbered.


def to_be_found(truths: Truths, low: float, high: float) -> Mask:
    """Tell which truths count: neither crowd nor ignored, and of an area in the range."""
    out_of_range = (truths.area < low) | (truths.area > high)
    return ~(truths.crowd | truths.ignore | out_of_range)


@dataclass(frozen=True, eq=False)
class Scene:
    """Predictions and truths, with images and labels numbered from 0 in their order.

    A cell is one class in one image. `falling` numbers the scores, the highest first.
    """

    predictions: Predictions
    truths: Truths
    labels: IntArray
    image: IntArray
    label: IntArray
    cell: IntArray
    falling: IntArray
    prediction_area: FloatArray
    truth_image: IntArray
    truth_label: IntArray
    truth_cell: IntArray

    @classmethod
    def of(cls, predictions: Predictions, truths: Truths) -> "Scene":
        """Give images, labels and scores numbers."""
        for given, kind in ((predictions, Predictions), (truths, Truths)):
            if not isinstance(given, kind):
                raise TypeError(f"{kind.__name__} are wanted, not {type(given).__name__}")
        images, image, truth_image = _numbered(predictions.images, truths.images)
        labels, label, truth_label = _numbered(predictions.labels, truths.labels)
        _, falling = np.unique(-predictions.scores, return_inverse=True)
        return cls(
            predictions=predictions,
            truths=truths,
            labels=labels,
            image=image,
            label=label,
            cell=label * len(images) + image,
            falling=falling,
            prediction_area=np.asarray(area(_plain(predictions.boxes), fmt=predictions.fmt)),
            truth_image=truth_image,
            truth_label=truth_label,
            truth_cell=truth_label * len(images) + truth_image,
        )


def _numbered(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the values of two columns, rising, and both columns as places among them."""
    values, numbers = np.unique(np.concatenate([one, other]), return_inverse=True)
    return values, numbers[: len(one)], numbers[len(one) :]


def sort_rows(*columns: IntArray) -> IntArray:
    """Sort rows by the first column, then by the next, then by row; no number is negative.

    >>> sort_rows(np.array([1, 0, 1, 0]), np.array([3, 9, 2, 9]))
    array([1, 3, 2, 0])
    """
    key = np.arange(len(columns[0]))
    row_bits = bits = len(key).bit_length()
    for column in reversed(columns):
        width = int(column.max(initial=0)).bit_length()
        if bits + width > 63:
            return np.lexsort(columns[::-1])
        key |= column << bits
        bits += width
    key.sort()
    return np.asarray(key & ((1 << row_bits) - 1))


def rank_in_cell(cell: IntArray) -> IntArray:
    """Count, for each row, the rows of its cell before it."""
    order = sort_rows(cell)
    in_order = cell[order]
    start = np.flatnonzero(first_of_each(in_order))
    length = np.diff(start, append=len(cell))
    rank = np.empty(len(cell), dtype=np.int64)
    rank[order] = np.arange(len(cell)) - np.repeat(start, length)
    return rank


def first_of_each(column: IntArray | FloatArray) -> Mask:
    """Tell where a run of equal numbers begins."""
    first = np.ones(len(column), dtype=np.bool_)
    np.not_equal(column[1:], column[:-1], out=first[1:])
    return first


# Which truths a prediction meets, and how much.


def meeting(
    scene: Scene, order: IntArray, group: IntArray, truth_group: IntArray, least: float = 0
) -> Choices:
    """Measure each prediction against the truths of its group; keep what shares area."""
    truth_order = sort_rows(truth_group)
    by_group = truth_group[truth_order]
    place = sort_rows(group[order])
    wanted = group[order[place]]
    start = np.searchsorted(by_group, wanted, side="left")
    count = np.searchsorted(by_group, wanted, side="right") - start
    busy = np.flatnonzero(count)
    place, start, count = place[busy], start[busy], count[busy]
    nothing = np.zeros(0, dtype=np.int64)
    found = [Choices(nothing, nothing, np.zeros(0))]
    for part in chunks(count):
        here = np.repeat(place[part], count[part])
        truth = truth_order[ranges(start[part], start[part] + count[part])]
        likely = _may_reach(scene, order[here], truth, least)
        here, truth = here[likely], truth[likely]
        value = _overlap(scene, order[here], truth)
        met = (value > 0) & (value >= least)
        found.append(Choices(here[met], truth[met], value[met]))
    place, truth, value = (np.concatenate(column) for column in zip(*found, strict=True))
    return Choices(place, truth, value)


def _may_reach(scene: Scene, prediction: IntArray, truth: IntArray, least: float) -> IntArray:
    """Leave out, row by row, what is surely apart, or surely has an IoU below the least.

    An IoU of t needs a share of t / (1 + t) of both areas together. Where float64 does not carry a
    box, its corners are NaN, and no comparison leaves it out.
    """
    a, b = scene.predictions.table, scene.truths.table
    start, stop = a.lo.take(prediction, axis=1), a.hi.take(prediction, axis=1)
    other_start, other_stop = b.lo.take(truth, axis=1), b.hi.take(truth, axis=1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        # More than the rounding of four corners and of their difference.
        slack = 8 * np.finfo(np.float64).eps * np.maximum(np.abs(start), np.abs(stop))
        shared = np.minimum(stop, other_stop) - np.maximum(start, other_start) + slack
        apart = (shared <= 0).any(axis=0)
        areas = a.area[prediction] + b.area[truth]
        apart |= (1 + least) * shared[0] * shared[1] < least * (1 - TOLERANCE) * areas
    return np.flatnonzero(~apart | scene.truths.crowd[truth])


def _overlap(scene: Scene, prediction: IntArray, truth: IntArray) -> FloatArray:
    """IoU row by row; with a crowd, the share of the prediction that lies in it."""
    pred, target, fmt = _pairs(scene, prediction, truth)
    value = np.asarray(iou(pred, target, fmt=fmt))
    for crowded in np.flatnonzero(scene.truths.crowd[truth])[None]:
        if len(crowded):
            pred, target, fmt = _pairs(scene, prediction[crowded], truth[crowded])
            value[crowded] = _share(pred, target, fmt)
    return value


def _share(pred: Any, target: Any, fmt: str) -> FloatArray:
    """Row by row, the part of a box that lies in another; 0 if it has no area."""
    part = np.asarray(intersection(pred, target, fmt=fmt))
    whole = np.asarray(area(pred, fmt=fmt))
    with np.errstate(all="ignore"):
        share = part / whole
    share[part == 0] = 0
    hard = ~((part == 0) | ((part >= SMALLEST_NORMAL) & (whole < np.inf)))
    for row in np.flatnonzero(hard | (whole < SMALLEST_NORMAL)):
        share[row] = float(_exact_share(pred[row], target[row], fmt))
    return np.asarray(np.minimum(share, 1))


def _exact_share(pred: Any, target: Any, fmt: str) -> Fraction:
    first, second = _numbers(pred), _numbers(target)
    part = exact.intersection(first, second, fmt=fmt)
    return exact.ratio(part, exact.area(first, fmt=fmt))


def _exact_iou(pred: Any, target: Any, fmt: str) -> Fraction:
    return exact.iou(_numbers(pred), _numbers(target), fmt=fmt)


def _numbers(box: Any) -> list[Any]:
    """Python's numbers in the place of NumPy's."""
    return list(np.asarray(box, dtype=object))


def _pairs(scene: Scene, prediction: IntArray, truth: IntArray) -> tuple[Any, Any, str]:
    """Give the boxes of both rows, in one format."""
    predictions, truths = scene.predictions, scene.truths
    pred, target = predictions.boxes[prediction], truths.boxes[truth]
    if predictions.fmt == truths.fmt:
        return _plain(pred), _plain(target), predictions.fmt
    pred = convert(_plain(pred), fmt=predictions.fmt)
    return pred, convert(_plain(target), fmt=truths.fmt), "xyxy"


def _plain(boxes: NDArray[Any]) -> Any:
    """Large integers of Python are read from lists alone."""
    return boxes.tolist() if boxes.dtype == object else boxes


def preferred(choices: Choices, *, first_of_equals: bool = False) -> Choices:
    """Sort the choices of each prediction by falling IoU."""
    equals = choices.truth if first_of_equals else -choices.truth
    order = np.lexsort((equals, -choices.iou, choices.place))
    return choices.take(order)


def wanted_first(choices: Choices, wanted: Mask) -> IntArray:
    """Sort the choices of each prediction: those that are to be found come first."""
    return sort_rows(2 * choices.place + ~wanted[choices.truth])


def reaches(
    scene: Scene, order: IntArray, choices: Choices, threshold: float | Fraction, strict: bool
) -> Mask:
    """Tell which choices satisfy the threshold."""
    bound = float(threshold)
    reached: Mask = choices.iou > bound if strict else choices.iou >= bound
    if isinstance(threshold, Fraction):
        close = np.flatnonzero(np.abs(choices.iou - bound) <= TOLERANCE * bound)
        pred, target, fmt = _pairs(scene, order[choices.place[close]], choices.truth[close])
        for row, first, second in zip(close, pred, target, strict=True):
            in_crowd = scene.truths.crowd[choices.truth[row]]
            measure = _exact_share if in_crowd else _exact_iou
            value = measure(first, second, fmt)
            reached[row] = value > threshold if strict else value >= threshold
    return reached


# Who takes what.


def settle(place: IntArray, truth: IntArray, shared: Mask, places: int, truths: int) -> IntArray:
    """Find the choice that each place ends up with, or -1.

    Choices are sorted by place, the best first; the lower place comes first at every truth. All
    that are turned away ask again at the same time, until none is.
    """
    count = np.bincount(place, minlength=places)
    stop = np.cumsum(count)
    choice = stop - count
    nobody = places
    keeps = np.full(truths, nobody)
    asking = np.flatnonzero(count)
    while len(asking):
        asking = asking[~shared[choice[asking]]]
        wish = truth[choice[asking]]
        kept = keeps[wish]
        np.minimum.at(keeps, wish, asking)
        accepted = keeps[wish] == asking
        displaced = kept[accepted]
        turned_away = np.concatenate([asking[~accepted], displaced[displaced != nobody]])
        choice[turned_away] += 1
        asking = turned_away[choice[turned_away] < stop[turned_away]]
    return np.where(choice < stop, choice, -1)
