"""Precision and recall, average precision, and the numbers that COCO reports.

All follow from a table of matches, see :mod:`iou.matching`: how many predictions it took to find
one truth, two, and so on, and how many there were to find.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .arguments import one_of, positive_integer
from .boxes import FloatArray, IntArray, Mask
from .dataset import Predictions, Truths
from .matching import (
    EVERY_AREA,
    IGNORED,
    OUTCOMES,
    TRUE,
    Choices,
    Matches,
    Scene,
    checked_threshold,
    first_of_each,
    meeting,
    preferred,
    rank_in_cell,
    reaches,
    settle,
    sort_rows,
    to_be_found,
    wanted_first,
)
from .neighbours import TOLERANCE

# Precision and recall.


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """Precision and recall after each prediction that counts, the surest first.

    Attributes
    ----------
    true_positives : ndarray of int64, shape (K,)
        How many of the predictions up to here are true.
    score : ndarray of float64, shape (K,)
        The score of the prediction.
    positives : int
        How many truths are to be found.
    """

    true_positives: IntArray
    score: FloatArray
    positives: int

    @property
    def precision(self) -> FloatArray:
        """Share of the predictions that are true, shape (K,)."""
        return self.true_positives / np.arange(1, len(self.score) + 1)

    @property
    def recall(self) -> FloatArray:
        """Share of the truths that are found, shape (K,); NaN if there are none."""
        return self.true_positives / (self.positives or np.nan)

    @property
    def found_at(self) -> IntArray:
        """How many predictions it took to find the first truth, two of them, and so on."""
        return np.flatnonzero(np.diff(self.true_positives, prepend=0)) + 1

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        found = int(self.true_positives[-1]) if len(self) else 0
        return f"Curve of {len(self)} predictions: {found} of {self.positives} truths found"


def precision_recall(matches: Matches, label: int | None = None) -> Curve:
    """Count true positives down a table of matches.

    Parameters
    ----------
    matches : Matches
    label : int, optional
        The class to look at; all together by default.

    Returns
    -------
    Curve
        One point for each prediction that is not ignored.

    Raises
    ------
    ValueError
        If neither a truth nor a prediction has that label.

    Examples
    --------
    >>> from iou import Predictions, Truths, match, precision_recall
    >>> truths = Truths([[0, 0, 10, 10], [20, 0, 30, 10]])
    >>> predictions = Predictions(
    ...     [[0, 0, 10, 9], [50, 50, 60, 60], [20, 0, 30, 8]], [0.9, 0.8, 0.7]
    ... )
    >>> curve = precision_recall(match(predictions, truths))
    >>> curve
    Curve of 3 predictions: 2 of 2 truths found
    >>> curve.precision
    array([1.        , 0.5       , 0.66666667])
    >>> curve.recall
    array([0.5, 0.5, 1. ])
    """
    here, positives = _of_label(matches, label)
    here &= matches.outcome != OUTCOMES[IGNORED]
    true = matches.outcome[here] == OUTCOMES[TRUE]
    return Curve(np.cumsum(true), matches.score[here], positives)


def _of_label(matches: Matches, label: int | None) -> tuple[Mask, int]:
    if label is None:
        return np.ones(len(matches), dtype=np.bool_), sum(matches.positives.values())
    if label not in matches.positives:
        raise ValueError(f"no truth and no prediction has the label {label}")
    return matches.label == label, matches.positives[label]


# Average precision.

# The recall levels are the whole multiples of one over this.
_STEPS = {"voc11": 10, "coco": 100}
# The levels as they are usually computed, not all of them the nearest floats.
_FLOAT_LEVELS = {"voc11": np.arange(0, 1.1, 0.1), "coco": np.linspace(0, 1, 101)}
_GRIDS = "float", "exact"


def average_precision(curve: Curve, method: str = "coco", *, grid: str = "exact") -> float:
    """Average the precision of a curve over recall.

    At each recall level, what counts is the highest precision reached at that recall or beyond it;
    where no prediction reaches it, 0.

    Parameters
    ----------
    curve : Curve
    method : {"coco", "voc", "voc11"}, default "coco"
        ``"coco"``: the mean over the 101 levels 0, 0.01, …, 1. ``"voc"``: the area under the
        envelope of the curve, with a level for every truth (VOC from 2010 on). ``"voc11"``: the
        mean over the 11 levels 0, 0.1, …, 1 (VOC until 2009).
    grid : {"exact", "float"}, default "exact"
        How a recall is compared with a level. ``"exact"`` compares fractions. ``"float"`` does what
        the usual code does: it compares floats, and so loses levels that are reached exactly, among
        11 levels 0.3, 0.6 and 0.7; with method ``"coco"`` it adds pycocotools' 2⁻⁵² to the number
        of predictions as well. With method ``"voc"`` there is nothing to compare. What is asked for
        here is the definition, so the default is exact; :func:`coco_summary` is to be compared with
        what others publish, so its default is ``"float"``.

    Returns
    -------
    float
        From 0 to 1; NaN if no truth is to be found.

    Raises
    ------
    ValueError
        If `method` or `grid` is unknown.

    Examples
    --------
    >>> from iou import Predictions, Truths, average_precision, match, precision_recall
    >>> boxes = [[20 * i, 0, 20 * i + 10, 10] for i in range(10)]
    >>> seven = Predictions(boxes[:7], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3])
    >>> curve = precision_recall(match(seven, Truths(boxes)))

    Of ten objects seven are found, so 71 of 101 levels are reached. Floats lose one of them:

    >>> 101 * average_precision(curve)
    71.0
    >>> round(101 * average_precision(curve, grid="float"), 9)
    70.0

    Of 11 levels eight are reached, of which floats lose one; the area needs no levels:

    >>> round(11 * average_precision(curve, "voc11"), 9)
    8.0
    >>> round(11 * average_precision(curve, "voc11", grid="float"), 9)
    7.0
    >>> average_precision(curve, "voc")
    0.7
    """
    _check_method(method, grid)
    return _average_precision(curve.found_at, curve.positives, method, grid)


def _check_method(method: str, grid: str) -> None:
    one_of(method, ("coco", "voc", "voc11"), "method")
    one_of(grid, _GRIDS, "grid")


def _average_precision(found_at: IntArray, positives: int, method: str, grid: str) -> float:
    if positives == 0:
        return math.nan
    number = np.arange(1, len(found_at) + 1)
    precision = _precision(number, found_at, method, grid)
    if method == "voc":
        return float(np.maximum.accumulate(precision[::-1]).sum() / positives)
    needed = _needed(np.array([positives]), method, grid)
    return float(_at_levels(precision, np.array([len(number)]), needed).mean())


def _precision(number: IntArray, found_at: IntArray, method: str, grid: str) -> FloatArray:
    """Precision where true positives are found."""
    if (method, grid) == ("coco", "float"):
        return np.asarray(number / (found_at + np.spacing(1.0)))
    return np.asarray(number / found_at)


def _needed(positives: IntArray, method: str, grid: str) -> IntArray:
    """How many true positives it takes to reach each recall level, shape (curves, levels)."""
    steps = _STEPS[method]
    exactly = -(-np.arange(steps + 1) * positives[:, None] // steps)
    if grid == "exact":
        return np.asarray(exactly)
    # The first whose quotient, rounded, is not below the level, rounded: nearly always the same.
    needed = np.maximum(exactly - 1, 0)
    whole = np.maximum(positives, 1)[:, None]
    for _ in range(2):
        needed += needed / whole < _FLOAT_LEVELS[method]
    return np.asarray(needed)


def _at_levels(precision: FloatArray, count: IntArray, needed: IntArray) -> FloatArray:
    """Highest precision at each level or beyond, shape (curves, levels).

    `precision` has the true positives of all curves, one curve after another, `count` of each.
    """
    stop = np.cumsum(count)[:, None]
    start = stop - count[:, None]
    at = np.maximum(needed, 1)
    reached = at <= count[:, None]
    # From each level to the next, and where a level is not reached, from the end of the curve.
    begin = np.where(reached, start + at - 1, stop)
    highest = np.maximum.reduceat(np.append(precision, 0), begin.ravel()).reshape(begin.shape)
    highest[~reached] = 0
    return np.asarray(np.maximum.accumulate(highest[:, ::-1], axis=1)[:, ::-1])


# Equal scores.

# Outcomes of a contest that are followed at the same time.
_MOST_STATES = 1000


class Range(NamedTuple):
    """Least and greatest value over the legal orders of predictions.

    Attributes
    ----------
    least, greatest : float
        The two values.
    exact : bool
        Whether some order attains both. If not, they are bounds: no order goes beyond.
    """

    least: float
    greatest: float
    exact: bool


def average_precision_range(
    matches: Matches, label: int | None = None, method: str = "coco", *, grid: str = "exact"
) -> Range:
    """Find how far average precision depends on the order of predictions with equal scores.

    Scores say nothing about which of two equals comes first, though AP may depend on it: by which
    row a file happens to have first.

    Parameters
    ----------
    matches : Matches
        Those that `max_detections` left out stay left out.
    label : int, optional
        The class to look at; all together by default.
    method, grid : str
        As for :func:`average_precision`.

    Returns
    -------
    Range
        The fields ``least``, ``greatest`` (NaN if no truth is to be found) and ``exact``.

    Raises
    ------
    ValueError
        If neither a truth nor a prediction has that label, and as :func:`average_precision` does.

    Notes
    -----
    AP never falls if, of two neighbours in the order, a true positive moves before a false one. So
    it is greatest if among equals the true ones come first: the false ones take nothing, and may
    come last. It is least if the false ones come first, but a duplicate cannot come before the
    prediction that takes its truth. Those that wait for the same true positive follow it at once,
    and of several such true positives, the one comes first that most wait for.

    This settles the matter if each prediction that competes for a truth reaches that truth alone,
    which is always so in VOC, if all areas are in the range. Else, how many can be true depends on
    who of the equals chooses first, and the orders of the few that compete with each other are
    tried. The range is ``exact`` if one of their orders is at least as good as all others at every
    score, and one at least as bad. If not, or if there are too many orders, the range is made of
    the best (the worst) at every score, and AP stays within it.

    Examples
    --------
    A hit and a miss with the same score, and one object:

    >>> from iou import Predictions, Truths, average_precision_range, match
    >>> truths = Truths([[0, 0, 10, 10]])
    >>> predictions = Predictions([[0, 0, 10, 9], [50, 50, 60, 60]], [0.9, 0.9])
    >>> average_precision_range(match(predictions, truths), method="voc")
    Range(least=0.5, greatest=1.0, exact=True)
    """
    _check_method(method, grid)
    here, positives = _of_label(matches, label)
    group = np.cumsum(first_of_each(matches.score)) - 1
    groups = int(group[-1]) + 1 if len(group) else 0
    contest = _contests(matches, group)
    equals = _settled(matches, group, here & (contest < 0), groups)
    exactly = True
    for number in np.unique(contest[here & (contest >= 0)]):
        rows = np.flatnonzero(contest == number)
        try:
            histories = sorted(_histories(matches, rows, group[rows]))
        except _TooManyOrdersError:
            exactly = False
            equals.add_bounds(matches, rows, group)
        else:
            exactly &= equals.add(histories, np.unique(group[rows]))
    least, greatest = (
        _average_precision(found_at, positives, method, grid)
        for found_at in (equals.found_at_worst(), equals.found_at_best())
    )
    return Range(least, greatest, exactly)


@dataclass(eq=False)
class _Equals:
    """What can be counted at best and at worst, for each group of equals, the surest first.

    Attributes
    ----------
    most_true, least_false : ndarray of int64, shape (G,)
        Positives at best.
    free : ndarray of int64, shape (G,)
        False positives at worst that may come before all true ones.
    true_in : list of int
        The group of each true positive at worst.
    followers : list of int
        How many false positives wait for it, and then follow.
    """

    most_true: IntArray
    least_false: IntArray
    free: IntArray
    true_in: list[int]
    followers: list[int]

    def found_at_best(self) -> IntArray:
        """How many predictions it takes to find the first truth, two, and so on, at best."""
        before = np.cumsum(self.least_false) - self.least_false
        number = np.arange(1, self.most_true.sum() + 1)
        return np.asarray(number + np.repeat(before, self.most_true))

    def found_at_worst(self) -> IntArray:
        """How many it takes at worst: first those that wait for nobody, then most followers."""
        group, followers = np.array([self.true_in, self.followers], dtype=np.int64)
        order = np.lexsort((-followers, group))
        group, followers = group[order], followers[order]
        waiting = np.cumsum(followers) - followers
        return np.asarray(np.arange(1, len(group) + 1) + np.cumsum(self.free)[group] + waiting)

    def add(self, histories: "list[_History]", groups: IntArray) -> bool:
        """Add a contest by all that may happen in it; tell if best and worst do happen."""
        width = range(len(groups))
        true = np.cumsum([[len(at) for at, _ in history] for history in histories], axis=1)
        false = np.cumsum([[number for _, number in history] for history in histories], axis=1)
        most, least = true.max(axis=0), false.min(axis=0)
        self.most_true[groups] += np.diff(most, prepend=0)
        self.least_false[groups] += np.diff(least, prepend=0)
        best_happens = ((true == most) & (false == least)).all(axis=1).any()

        fewest, highest = true.min(axis=0), false.max(axis=0)
        happens = ((true == fewest) & (false == highest)).all(axis=1)
        for g in width:
            already = int(highest[g - 1]) if g else 0
            earlier = false[:, g - 1] if g else np.zeros(len(histories), dtype=np.int64)
            # How many false positives can come before each true one.
            marks = []
            for k in range(int(fewest[g] - (fewest[g - 1] if g else 0))):
                here = [at[k] if k < len(at) else number for at, number in _column(histories, g)]
                marks.append(max(0, int((earlier + here).max()) - already))
            gaps = np.diff([*marks, int(highest[g]) - already])
            self.free[groups[g]] += marks[0] if marks else int(highest[g]) - already
            self.true_in += [int(groups[g])] * len(gaps)
            self.followers += sorted(gaps.tolist(), reverse=True)
            happens &= [at == tuple(marks) for at, _ in _column(histories, g)]
            happens &= bool((np.diff(gaps) <= 0).all())
        return bool(best_happens and happens.any())

    def add_bounds(self, matches: Matches, rows: IntArray, group: IntArray) -> None:
        """Add a contest by what is surely not surpassed: all truths found at once, and none."""
        reached = np.isin(matches.choices.place, rows)
        truths = np.unique(matches.choices.truth[reached])
        earliest = rows[: matches.wanted[truths].sum()]
        np.add.at(self.most_true, group[earliest], 1)
        np.add.at(self.free, group[rows[matches.in_range[rows]]], 1)


def _column(histories: "list[_History]", group: int) -> list[tuple[tuple[int, ...], int]]:
    return [history[group] for history in histories]


def _settled(matches: Matches, group: IntArray, rows: Mask, groups: int) -> _Equals:
    """Count those for which it does not matter who chooses first."""
    is_true = rows & (matches.outcome == OUTCOMES[TRUE])
    is_false = rows & ~is_true & (matches.outcome != OUTCOMES[IGNORED])
    taker = np.full(len(matches.wanted), -1)
    taker[matches.truth[is_true]] = np.flatnonzero(is_true)
    waits_for = np.full(len(matches), -1)
    first = first_of_each(matches.choices.place)
    waits_for[matches.choices.place[first]] = taker[matches.choices.truth[first]]
    waits = is_false & (waits_for >= 0)
    waits[waits] = group[waits] == group[waits_for[waits]]
    followers = np.bincount(waits_for[waits], minlength=len(matches))
    true, false, free = (
        np.bincount(group[kind], minlength=groups)
        for kind in (is_true, is_false, is_false & ~waits)
    )
    return _Equals(true, false, free, group[is_true].tolist(), followers[is_true].tolist())


class _TooManyOrdersError(Exception):
    """There are more outcomes than are worth following."""


class _Contender(NamedTuple):
    """A prediction by what matters in a contest: those that agree in it are interchangeable."""

    wishes: tuple[int, ...]
    in_range: bool


# For each group of equals: how many false positives precede each true one, and all of them.
_History = tuple[tuple[tuple[int, ...], int], ...]
_State = tuple[frozenset[int], tuple[int, ...], int]


def _contests(matches: Matches, group: IntArray) -> IntArray:
    """Give sets of predictions in which it matters who of the equals chooses first a number.

    The others have -1. Two predictions compete if both reach a truth that only one can take, or
    if a chain of such pairs links them.
    """
    choices = matches.choices.take(~matches.shared[matches.choices.truth])
    contest = np.arange(len(matches))
    while True:
        lowest = np.full(len(matches.shared), len(matches))
        np.minimum.at(lowest, choices.truth, contest[choices.place])
        linked = contest.copy()
        np.minimum.at(linked, choices.place, lowest[choices.truth])
        if (linked == contest).all():
            break
        contest = linked
    order = sort_rows(contest, group)
    equal = (np.diff(contest[order]) == 0) & (np.diff(group[order]) == 0)
    several = np.bincount(matches.choices.place, minlength=len(matches)) > 1
    differs = several | (matches.in_range != matches.in_range[contest])
    matters = np.zeros(len(matches), dtype=np.bool_)
    matters[contest[differs]] = True
    tied = np.zeros(len(matches), dtype=np.bool_)
    tied[contest[order[1:][equal]]] = True
    return np.where((matters & tied)[contest], contest, -1)


def _histories(matches: Matches, rows: IntArray, group: IntArray) -> set[_History]:
    """Follow every order of a contest."""
    place, truth, _ = matches.choices
    start, stop = (np.searchsorted(place, rows, side) for side in ("left", "right"))
    contenders = [
        _Contender(tuple(truth[i:j].tolist()), in_range)
        for i, j, in_range in zip(start, stop, matches.in_range[rows].tolist(), strict=True)
    ]
    first = np.flatnonzero(first_of_each(group)).tolist()
    states: set[tuple[frozenset[int], _History]] = {(frozenset(), ())}
    for i, j in itertools.pairwise([*first, len(rows)]):
        following = set()
        for taken, history in states:
            for end, marks, false in _any_order(matches, contenders[i:j], taken):
                following.add((end, (*history, (marks, false))))
            if len(following) > _MOST_STATES:
                raise _TooManyOrdersError
        states = following
    return {history for _, history in states}


def _any_order(matches: Matches, equals: list[_Contender], taken: frozenset[int]) -> set[_State]:
    """Let equals choose in every order; tell which truths are taken then, and what is counted."""
    kinds = sorted(set(equals))
    states: set[tuple[_State, tuple[int, ...]]]
    states = {((taken, (), 0), tuple(map(equals.count, kinds)))}
    for _ in equals:
        following = set()
        for state, left in states:
            for index, kind in enumerate(kinds):
                if left[index]:
                    fewer = (*left[:index], left[index] - 1, *left[index + 1 :])
                    following.add((_choose(matches, kind, state), fewer))
            if len(following) > _MOST_STATES:
                raise _TooManyOrdersError
        states = following
    return {state for state, _ in states}


def _choose(matches: Matches, contender: _Contender, state: _State) -> _State:
    taken, marks, false = state
    for truth in contender.wishes:
        if matches.shared[truth]:
            return state
        if truth not in taken:
            return taken | {truth}, (*marks, false) if matches.wanted[truth] else marks, false
    return taken, marks, false + contender.in_range


# The twelve numbers of COCO.

_AREA_RANGES = {
    "all": EVERY_AREA,
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, math.inf),
}


@dataclass(frozen=True, eq=False, repr=False)
class CocoSummary:
    """What COCO reports of a detector.

    ``summary["AP50"]`` is one of the twelve numbers. Where there are no truths to be found, there
    is NaN, for which pycocotools has -1; means are over the rest.

    Attributes
    ----------
    numbers : dict of str to float
        ``AP``, ``AP50``, ``AP75``, ``APs``, ``APm``, ``APl``, then recall, each mean over classes
        and thresholds, by the number of detections (``AR1``, ``AR10``, ``AR100``) and by area
        (``ARs``, ``ARm``, ``ARl``). ``AP`` is the mean over classes and thresholds, ``AP50`` that
        at the threshold 0.5.
    precision : ndarray of float64, shape (T, R, K, A, M)
        Precision at each IoU threshold, recall level, class, range of areas, and maximum of
        detections.
    recall : ndarray of float64, shape (T, K, A, M)
        Recall reached.
    iou_thresholds : tuple of float or Fraction, length T
    labels : ndarray of int64, shape (K,)
        All labels of truths and predictions.
    area_ranges : dict of str to (float, float), length A
        The least and the greatest area of each range.
    max_detections : tuple of int, length M
    """

    numbers: Mapping[str, float]
    precision: FloatArray
    recall: FloatArray
    iou_thresholds: tuple[float | Fraction, ...]
    labels: IntArray
    area_ranges: Mapping[str, tuple[float, float]]
    max_detections: tuple[int, ...]

    def __getitem__(self, name: str) -> float:
        return self.numbers[name]

    @property
    def ap_of_label(self) -> dict[int, float]:
        """AP of each class, over all thresholds and areas."""
        return {
            label: _mean(self.precision[:, :, row, 0, -1])
            for row, label in enumerate(self.labels.tolist())
        }

    def __str__(self) -> str:
        return "\n".join(f"{name:6} {_shown(value)}" for name, value in self.numbers.items())

    def __repr__(self) -> str:
        return f"CocoSummary: AP {_shown(self['AP'])}, {len(self.labels)} classes"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in self.numbers)
        row = "".join(f"<td>{_shown(value)}</td>" for value in self.numbers.values())
        return f"<table><thead><tr>{head}</tr></thead><tbody><tr>{row}</tr></tbody></table>"


def coco_summary(
    predictions: Predictions,
    truths: Truths,
    *,
    grid: str = "float",
    iou_thresholds: Sequence[float | Fraction] | None = None,
    max_detections: Sequence[int] = (1, 10, 100),
) -> CocoSummary:
    """Compute the numbers that COCO reports of a detector.

    Parameters
    ----------
    predictions : Predictions
    truths : Truths
        Of the same images and classes.
    grid : {"float", "exact"}, default "float"
        ``"float"`` gives the numbers of pycocotools, whose recall levels and thresholds are floats.
        ``"exact"`` compares recall and IoU with the levels and thresholds as fractions. The default
        is that of published results, unlike that of :func:`average_precision`.
    iou_thresholds : sequence of float or Fraction, optional
        By default the ten from 0.5 to 0.95.
    max_detections : sequence of int, default (1, 10, 100)
        How many predictions an image may have in a class, rising. The numbers of precision are for
        the last.

    Returns
    -------
    CocoSummary

    Raises
    ------
    ValueError
        If `grid` is unknown, if a threshold is not above 0 and at most 1, or if `max_detections`
        does not rise from at least 1.
    TypeError
        If an argument is not of its type.

    Notes
    -----
    The rules are those of :func:`match` in the protocol ``"coco"``. pycocotools has four oddities
    that are not followed: it takes a found object whose id is 0 for none; it overwrites `ignore`
    with the crowd flag; it ignores objects larger than 10¹⁰ square pixels; and it reads a threshold
    of 1 as 1 − 10⁻¹⁰.

    Examples
    --------
    >>> from iou import Predictions, Truths, coco_summary
    >>> truths = Truths([[0, 0, 10, 10], [20, 0, 80, 60]], labels=[1, 2])
    >>> predictions = Predictions([[0, 0, 10, 9], [20, 0, 80, 45]], [0.9, 0.8], labels=[1, 2])
    >>> summary = coco_summary(predictions, truths, grid="exact")
    >>> print(summary)
    AP     0.750
    AP50   1.000
    AP75   1.000
    APs    0.900
    APm    0.600
    APl    –
    AR1    0.750
    AR10   0.750
    AR100  0.750
    ARs    0.900
    ARm    0.600
    ARl    –
    >>> summary["AP50"], summary.ap_of_label
    (1.0, {1: 0.9, 2: 0.6})
    """
    one_of(grid, _GRIDS, "grid")
    thresholds = _thresholds(iou_thresholds, grid)
    limits = tuple(positive_integer(limit, "max_detections") for limit in max_detections)
    if not limits or any(one >= other for one, other in itertools.pairwise(limits)):
        raise ValueError(f"max_detections must rise, it is {max_detections}")
    scene = Scene.of(predictions, truths)
    order = sort_rows(scene.label, scene.falling, scene.image)
    rank = rank_in_cell(scene.cell[order])
    order, rank = order[rank < limits[-1]], rank[rank < limits[-1]]
    least = float(min(thresholds)) * (1 - TOLERANCE)
    near = preferred(meeting(scene, order, scene.cell, scene.truth_cell, least))
    reached = np.array([reaches(scene, order, near, t, False) for t in thresholds])
    sizes = len(thresholds), len(scene.labels), len(_AREA_RANGES), len(limits)
    recall = np.full(sizes, np.nan)
    precision = np.full((sizes[0], _STEPS["coco"] + 1, *sizes[1:]), np.nan)
    for a, (low, high) in enumerate(_AREA_RANGES.values()):
        wanted = to_be_found(truths, low, high)
        size = scene.prediction_area[order]
        counts = (size >= low) & (size <= high)
        positives = np.bincount(scene.truth_label[wanted], minlength=sizes[1])
        ranking = _ranking(scene, order, counts, wanted, near, reached)
        needed = np.tile(_needed(positives, "coco", grid), (sizes[0], 1))
        has = positives > 0
        for m, limit in enumerate(limits):
            count, found_at = ranking.found(rank < limit)
            number = np.arange(len(found_at)) - np.repeat(np.cumsum(count) - count, count) + 1
            values = _at_levels(_precision(number, found_at, "coco", grid), count, needed)
            by_level = values.reshape(*sizes[:2], len(precision[0])).swapaxes(1, 2)
            precision[:, :, has, a, m] = by_level[:, :, has]
            recall[:, has, a, m] = count.reshape(sizes[:2])[:, has] / positives[has]
    numbers = _twelve(precision, recall, thresholds, limits)
    ranges = dict(_AREA_RANGES)
    return CocoSummary(numbers, precision, recall, thresholds, scene.labels, ranges, limits)


def _thresholds(given: Sequence[float | Fraction] | None, grid: str) -> tuple[Any, ...]:
    if given is not None:
        if not len(given):
            raise ValueError("iou_thresholds is empty")
        return tuple(map(checked_threshold, given))
    if grid == "exact":
        return tuple(Fraction(k, 20) for k in range(10, 20))
    return tuple(np.linspace(0.5, 0.95, 10).tolist())


class _Ranking(NamedTuple):
    """What became of the predictions at all thresholds; `busy` are those that reach a truth.

    Attributes
    ----------
    label : ndarray of int64, shape (N,)
        Class by class, and in each the surest first.
    labels : int
        How many classes there are.
    counts : ndarray of bool, shape (N,)
        Which predictions count if they take no truth.
    busy : ndarray of int64, shape (B,)
        Which reach a truth at the lowest threshold.
    true, ignored : ndarray of bool, shape (T, B)
        Which of those take a truth that is to be found, and one that need not be.
    """

    label: IntArray
    labels: int
    counts: Mask
    busy: IntArray
    true: Mask
    ignored: Mask

    def found(self, kept: Mask) -> tuple[IntArray, IntArray]:
        """Count, for each threshold and class, the true positives among the kept predictions.

        Also tell for each of them how many predictions it took, within the class, to find it.
        """
        kept_busy = kept[self.busy]
        plain = self.counts & kept
        before = np.concatenate([[0], np.cumsum(plain)])
        # What a busy prediction adds to the count, beyond what it would without a truth.
        true = self.true & kept_busy
        more = true & ~plain[self.busy]
        less = self.ignored & plain[self.busy]
        extra = np.zeros((len(true), len(self.busy) + 1), dtype=np.int64)
        np.cumsum(more.view(np.int8) - less.view(np.int8), axis=1, out=extra[:, 1:])
        classes = np.arange(self.labels)
        class_start = np.searchsorted(self.label, classes)
        busy_label = self.label[self.busy]
        busy_start = np.searchsorted(busy_label, classes)
        layer, place = np.nonzero(true)
        label = busy_label[place]
        found_at = before[self.busy[place] + 1] - before[class_start[label]]
        found_at += extra[layer, place + 1] - extra[layer, busy_start[label]]
        count = np.bincount(layer * self.labels + label, minlength=len(true) * self.labels)
        return count, found_at


def _ranking(
    scene: Scene, order: IntArray, counts: Mask, wanted: Mask, near: Choices, reached: Mask
) -> _Ranking:
    """Let predictions take truths at all thresholds at once."""
    resort = wanted_first(near, wanted)
    choices = near.take(resort)
    first = first_of_each(choices.place)
    busy = choices.place[first]
    number = np.cumsum(first) - 1
    layer, choice = np.nonzero(reached[:, resort])
    layers, truth = len(reached), choices.truth[choice]
    held = settle(
        layer * len(busy) + number[choice],
        layer * len(wanted) + truth,
        scene.truths.crowd[truth],
        layers * len(busy),
        layers * len(wanted),
    ).reshape(layers, len(busy))
    took = held >= 0
    true = took.copy()
    true[took] = wanted[truth[held[took]]]
    return _Ranking(scene.label[order], len(scene.labels), counts, busy, true, took & ~true)


def _twelve(
    precision: FloatArray,
    recall: FloatArray,
    thresholds: tuple[Any, ...],
    limits: tuple[int, ...],
) -> dict[str, float]:
    close_to = {bound: np.isclose([float(t) for t in thresholds], bound) for bound in (0.5, 0.75)}
    numbers = {"AP": _mean(precision[:, :, :, 0, -1])}
    for bound, here in close_to.items():
        numbers[f"AP{100 * bound:.0f}"] = _mean(precision[here, :, :, 0, -1])
    letters = [(letter, a) for a, letter in enumerate("sml", start=1)]
    numbers |= {f"AP{letter}": _mean(precision[:, :, :, a, -1]) for letter, a in letters}
    numbers |= {f"AR{limit}": _mean(recall[:, :, 0, m]) for m, limit in enumerate(limits)}
    numbers |= {f"AR{letter}": _mean(recall[:, :, a, -1]) for letter, a in letters}
    return numbers


def _mean(values: FloatArray) -> float:
    """Mean of what is there."""
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else math.nan


def _shown(number: float) -> str:
    return "–" if math.isnan(number) else f"{number:.3f}"
