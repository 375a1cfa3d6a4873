"""Non-maximum suppression: of the boxes that overlap, the ones with the best scores.

Written as a loop, the greedy rule takes a box at a time, the best first, and compares it with all
that are left. Nothing here does that. A box suppresses only boxes that overlap it, so what decides
is a list of pairs, and :func:`~iou.neighbours.overlapping_pairs` finds them without the table of
all. Where boxes lie so close that the list itself would be too long, the best few are settled
first: whatever they suppress takes its pairs with it.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import column, finite, one_of, real
from .boxes import Boxes, FloatArray, IntArray, Mask, Measure, evaluate, fill, read_table
from .neighbours import pairs_above, ranges
from .overlap import MEASURES

# So few boxes are compared each with each.
_FEW = 256
# Pairs to a box that are worth listing. Where there would be more, some boxes are settled first.
_PAIRS_TO_A_BOX = 8
# So few of the best may always be picked together.
_TIER = 64
# Where a kept box spares more than this share of the rows, neighbours are quicker to find.
_SPARED_BY_ONE = 0.993
# Values of a table that are computed together.
_BLOCK = 2**20


def nms(
    boxes: ArrayLike,
    scores: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    iou_threshold: float = 0.5,
    measure: str = "iou",
    fmt: str = "xyxy",
) -> IntArray:
    """Non-maximum suppression: keep the best box, drop what overlaps it, and go on.

    The boxes are gone through by falling score. One is kept unless its IoU with a box kept before
    exceeds the threshold.

    Parameters
    ----------
    boxes : array_like, shape (N, 4)
        Boxes, as for :func:`iou.iou`.
    scores : array_like, shape (N,)
        Finite numbers. Of equal scores, the one that stands first goes first.
    labels : array_like, shape (N,), optional
        Classes: numbers, strings or whatever else can be compared. Boxes of different labels never
        suppress each other. Classes of several images at once are best numbered through.
    iou_threshold : float, default 0.5
        From 0 to 1. A box at the threshold stays, so at 1 every box does.
    measure : {"iou", "diou"}, default "iou"
        What is compared with the threshold. With ``"diou"``, boxes whose centres are apart are less
        easily taken for the same object.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers mean; see :mod:`iou.exact`.

    Returns
    -------
    ndarray of int64, shape (K,)
        Rows of the boxes that are kept, by falling score.

    Raises
    ------
    ValueError
        If there are not as many scores or labels as boxes, if a score is not finite, if
        `iou_threshold` is not in [0, 1], if `measure` is unknown, if `boxes` is not a table of
        boxes, and as :func:`iou.iou` does.
    TypeError
        If the scores or `iou_threshold` are no real numbers, and as :func:`iou.iou` does.

    See Also
    --------
    soft_nms : lowers scores instead of dropping boxes.

    Notes
    -----
    What is compared is the value that :func:`iou.iou` or :func:`iou.diou` returns, to the bit, and
    labels are compared as they are: no coordinate is moved to keep classes apart.

    References
    ----------
    The greedy rule is that of P. Felzenszwalb et al., "Object detection with discriminatively
    trained part-based models", TPAMI 32 (2010), https://doi.org/10.1109/TPAMI.2009.167; the variant
    by DIoU is that of Z. Zheng et al., "Distance-IoU loss", AAAI 2020, arXiv:1911.08287.

    Examples
    --------
    >>> from iou import nms
    >>> boxes = [[0, 0, 4, 4], [0, 0, 4, 3], [9, 9, 12, 12]]
    >>> nms(boxes, [0.5, 0.9, 0.7])
    array([1, 2])
    >>> nms(boxes, [0.5, 0.9, 0.7], labels=["cat", "dog", "dog"])
    array([1, 2, 0])

    The IoU of the first two is 3/4, and at the threshold both stay:

    >>> nms(boxes, [0.5, 0.9, 0.7], iou_threshold=0.75)
    array([1, 2, 0])

    What a suppressed box overlaps is not suppressed by it:

    >>> nms([[0, 0, 4, 4], [1, 0, 5, 4], [2, 0, 6, 4]], [0.9, 0.8, 0.7])
    array([0, 2])

    Two boxes side by side, one behind the other, may be two objects:

    >>> crowd = [[0, 0, 4, 4], [1, 0, 5, 4]]
    >>> nms(crowd, [0.9, 0.8], iou_threshold=0.58)
    array([0])
    >>> nms(crowd, [0.9, 0.8], iou_threshold=0.58, measure="diou")
    array([0, 1])

    >>> nms([], [])
    array([], dtype=int64)
    """
    threshold = _fraction(iou_threshold, "iou_threshold")
    one_of(measure, ("iou", "diou"), "measure")
    table = read_table(boxes, fmt)
    count = len(table)
    order = _by_falling_score(finite(column(scores, count, "scores"), "scores"))
    groups = _Groups.of(_numbered(labels, count), order)
    if threshold == 1:
        return order
    contest = _Contest(table, MEASURES[measure], threshold)
    kept = np.zeros(count, dtype=bool)
    kept[contest.winners_of_small(groups)] = True
    for group in groups.large():
        kept[contest.winners(group)] = True
    return order[kept[order]]


class Softened(NamedTuple):
    """Boxes with lowered scores, from the highest down.

    Attributes
    ----------
    kept : ndarray of int64, shape (K,)
        Rows of the boxes.
    scores : ndarray of float64, shape (K,)
        Their scores.
    """

    kept: IntArray
    scores: FloatArray


def soft_nms(
    boxes: ArrayLike,
    scores: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    method: str = "gaussian",
    sigma: float = 0.5,
    iou_threshold: float = 0.3,
    score_threshold: float = 0.001,
    fmt: str = "xyxy",
) -> Softened:
    """Soft non-maximum suppression: lower the scores of what overlaps a better box.

    The box with the highest score is picked, and the score of every box not yet picked is
    multiplied by a weight that falls with its IoU with the one picked. Then the next is picked by
    the scores as they are now, and so on.

    Parameters
    ----------
    boxes : array_like, shape (N, 4)
        Boxes, as for :func:`iou.iou`.
    scores : array_like, shape (N,)
        Finite numbers, by nature from 0 to 1. Of equal scores, the one that stands first is picked
        first.
    labels : array_like, shape (N,), optional
        Classes, as for :func:`nms`. A box lowers no score of another label.
    method : {"gaussian", "linear"}, default "gaussian"
        The weight: ``exp(−IoU² / sigma)``, or ``1 − IoU`` above `iou_threshold` and 1 otherwise.
    sigma : float, default 0.5
        Above 0; the larger, the milder the Gaussian weight. The linear one has no use for it.
    iou_threshold : float, default 0.3
        From 0 to 1. The Gaussian weight has no use for it.
    score_threshold : float, default 0.001
        At least 0. Boxes whose score is below it, at the start or in the end, are dropped.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers mean; see :mod:`iou.exact`.

    Returns
    -------
    Softened
        The arrays ``kept`` (int64) and ``scores`` (float64), both of shape (K,), in the order of
        the picks: by falling score.

    Raises
    ------
    ValueError
        As :func:`nms` does, and if `method` is unknown, or if `sigma` or `score_threshold` is out
        of range.
    TypeError
        As :func:`nms` does, and if one of these is no real number.

    See Also
    --------
    nms : drops the boxes instead.

    Notes
    -----
    A box below `score_threshold` is picked after all that stay, so it makes no difference whether
    it is dropped at once or in the end. The authors' code drops it when a box that overlaps it is
    picked, and so keeps one that nothing overlaps, however low its score.

    Where few boxes overlap, time grows with the number of pairs that do; in a cluster, with the
    number of boxes times the number of picks.

    References
    ----------
    N. Bodla et al., "Soft-NMS: improving object detection with one line of code", ICCV 2017,
    arXiv:1704.04503

    Examples
    --------
    >>> from iou import soft_nms
    >>> boxes = [[0, 0, 4, 4], [0, 0, 4, 3], [9, 9, 12, 12]]
    >>> kept, scores = soft_nms(boxes, [0.5, 1, 0.75], method="linear")
    >>> kept, scores
    (array([1, 2, 0]), array([1.   , 0.75 , 0.125]))

    The IoU of the first two is 3/4, which leaves a quarter of the score. Of a box behind another,
    nothing is left:

    >>> soft_nms([[0, 0, 4, 4]] * 2, [1, 0.9], method="linear").kept
    array([0])
    >>> soft_nms([[0, 0, 4, 4]] * 2, [1, 0.9]).scores.round(4)
    array([1.    , 0.1218])
    """
    one_of(method, ("gaussian", "linear"), "method")
    least = real(score_threshold, "score_threshold")
    if not 0 <= least < np.inf:
        raise ValueError(f"score_threshold must be at least 0 and finite, it is {score_threshold}")
    width = real(sigma, "sigma")
    if not 0 < width < np.inf:
        raise ValueError(f"sigma must be above 0 and finite, it is {sigma}")
    threshold = _fraction(iou_threshold, "iou_threshold")
    table = read_table(boxes, fmt)
    count = len(table)
    score = np.array(finite(column(scores, count, "scores"), "scores"), dtype=np.float64)
    numbers = _numbered(labels, count)

    def gaussian(iou: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.exp(-(iou**2 / width)))

    def linear(iou: FloatArray) -> FloatArray:
        return np.where(iou > threshold, 1 - iou, 1)

    weight, threshold = (gaussian, 0.0) if method == "gaussian" else (linear, threshold)
    order = _by_falling_score(score)
    groups = _Groups.of(numbers, order[score[order] >= least])
    if threshold < 1:
        softening = _Softening(_Contest(table, MEASURES["iou"], threshold), score, weight, least)
        softening.run_small(groups)
        for group in groups.large():
            softening.run(group)
    order = _by_falling_score(score)
    order = order[score[order] >= least]
    return Softened(order, score[order])


# Reading.


def _fraction(number: Any, name: str) -> float:
    fraction = real(number, name)
    if not 0 <= fraction <= 1:
        raise ValueError(f"{name} must be in [0, 1], it is {number}")
    return fraction


def _by_falling_score(scores: NDArray[Any]) -> IntArray:
    """Sort rows by falling score; those that tie stay in order.

    >>> _by_falling_score(np.array([1, 3, 1, 2, 3]))
    array([1, 4, 3, 0, 2])
    """
    order = np.argsort(scores)[::-1]
    falling = scores.take(order)
    falls = falling[1:] != falling[:-1]
    if falls.all():
        return np.ascontiguousarray(order)
    tie = np.concatenate([[0], np.cumsum(falls)])
    return np.sort(tie * len(order) + order) % len(order)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Boxes of one label each, by falling score.

    Attributes
    ----------
    row : ndarray of int64, shape (N,)
        Rows of the boxes, label by label.
    begin, size : ndarray of int64, shape (G,)
        Where each group begins in `row`, and how many boxes it has.
    """

    row: IntArray
    begin: IntArray
    size: IntArray

    @classmethod
    def of(cls, numbers: IntArray | None, order: IntArray) -> "_Groups":
        """Gather rows, given by falling score, by the numbers of their labels."""
        if numbers is None:
            return cls(order, np.array([0]), np.array([len(order)]))
        row = order.take(np.argsort(numbers.take(order), kind="stable"))
        begin = np.flatnonzero(np.diff(numbers.take(row), prepend=-1))
        return cls(row, begin, np.diff(begin, append=len(row)))

    @property
    def are_large(self) -> Mask:
        """Whether each group is worth a look of its own; where they are few, smaller ones are."""
        return self.size > min(_FEW // 2, len(self.size))

    def large(self) -> Iterator[IntArray]:
        """Give the groups that are worth a look at each."""
        for begin, size in zip(self.begin[self.are_large], self.size[self.are_large], strict=True):
            yield self.row[begin : begin + size]

    def small(self) -> tuple[IntArray, IntArray]:
        """Find where the boxes of all other groups stand, and where the group of each ends."""
        small = np.flatnonzero(~self.are_large)
        begin, size = self.begin.take(small), self.size.take(small)
        return ranges(begin, begin + size), np.repeat(begin + size, size)


def _numbered(labels: ArrayLike | None, count: int) -> IntArray | None:
    """Give equal labels equal numbers."""
    if labels is None:
        return None
    array = np.asanyarray(labels, dtype=None if hasattr(labels, "__array__") else object)
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("labels: masked arrays are not supported; fill or drop the masked rows")
    if array.shape != (count,):
        raise ValueError(f"labels must have the shape ({count},), not {array.shape}")
    unequal = np.flatnonzero(array != array)
    if len(unequal):
        raise ValueError(f"labels[{unequal[0]}] is {array[unequal[0]]}")
    if array.dtype == object:
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(label, len(numbers)) for label in array], dtype=int)
    return np.unique(array, return_inverse=True)[1]


# Which boxes overlap.


class _Edges(NamedTuple):
    """Pairs of boxes above a threshold, as places in an array of rows.

    Attributes
    ----------
    better, worse : ndarray of int64, shape (K,)
        The place of the one with the higher score, and of the other.
    value : ndarray of float64, shape (K,)
        What is above the threshold.
    """

    better: IntArray
    worse: IntArray
    value: FloatArray

    @classmethod
    def joined(cls, parts: "list[_Edges]") -> "_Edges":
        """Put lists one after the other."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@dataclass(frozen=True, eq=False)
class _Contest:
    """Boxes, and the rule by which one suppresses another.

    Every method takes rows of the boxes by falling score.
    """

    boxes: Boxes
    measure: Measure
    threshold: float

    def winners(self, rows: IntArray) -> IntArray:
        """Find the rows that are kept, among boxes of one label."""
        if len(rows) <= _FEW:
            return rows[_settle_few(self.table(rows, rows) > self.threshold)]
        expected, bearable = self.expected_edges(rows), _PAIRS_TO_A_BOX * len(rows)
        if expected <= bearable:
            return rows[_settle(len(rows), self.edges_by_join(rows))]
        size = max(1, _FEW // 2, int(len(rows) * bearable / expected) // 2)
        kept = rows[:0]
        start = 0
        while start < len(rows):
            left = self.spared(rows[start : start + size], kept)
            kept = np.concatenate([kept, self.winners(left)])
            start += size
            size *= 4
        return kept

    def winners_of_small(self, groups: _Groups) -> IntArray:
        """Find the rows that are kept, among all groups of a few boxes."""
        place, _ = groups.small()
        if len(place) == 0:
            return place
        kept = _settle(len(groups.row), self.edges_of_small(groups))
        return groups.row.take(place[kept.take(place)])

    def spared(self, rows: IntArray, kept: IntArray) -> IntArray:
        """Find the rows that none of the kept boxes suppresses.

        Each of them is compared with all rows as long as that is worth it: in a cluster, the first
        few of them suppress many. The others are searched for neighbours.
        """
        block = 1
        while len(kept) and len(rows):
            count = len(rows)
            block = max(1, min(2 * block, 16, _BLOCK // count))
            suppressed = self.table(kept[:block], rows) > self.threshold
            kept, rows = kept[block:], rows[~suppressed.any(axis=0)]
            if len(rows) > count * _SPARED_BY_ONE**block and len(kept) * len(rows) > _BLOCK:
                return np.delete(rows, self.edges_by_join(kept, rows).worse)
        return rows

    def expected_edges(self, rows: IntArray) -> float:
        """Estimate how many edges there are, from those among a few.

        The square root is so many that an edge among them stands for an edge to every box.
        """
        sample = rows[_spread(len(rows), math.isqrt(len(rows)))]
        above = self.table(sample, sample) > self.threshold
        np.fill_diagonal(above, False)
        return np.count_nonzero(above) / 2 * (len(rows) / len(sample)) ** 2

    def edges(self, rows: IntArray) -> _Edges:
        """Find the edges within a set."""
        return self.edges_by_table(rows) if len(rows) <= _FEW else self.edges_by_join(rows)

    def edges_by_table(self, rows: IntArray) -> _Edges:
        """Find the edges by looking at every two."""
        table = self.table(rows, rows)
        better, worse = np.nonzero(table > self.threshold)
        once = better < worse
        better, worse = better[once], worse[once]
        return _Edges(better, worse, table[better, worse])

    def edges_by_join(self, one: IntArray, other: IntArray | None = None) -> _Edges:
        """Find the edges within one set, or from one to another, by looking at neighbours."""
        those = None if other is None else self.boxes.take(other)
        first, second, value = pairs_above(self.boxes.take(one), those, self.threshold)
        if self.measure is not MEASURES["iou"]:
            # No other measure that is used here is above the IoU.
            value = self.values(one.take(first), (one if other is None else other).take(second))
            above = value > self.threshold
            first, second, value = first[above], second[above], value[above]
        return _Edges(first, second, value)

    def edges_of_small(self, groups: _Groups) -> _Edges:
        """Find those in all groups of a few boxes, as places in the rows of the groups."""
        (one, stop), distance = groups.small(), 1
        found = [_Edges(one[:0], one[:0], np.empty(0))]
        # Each with the next of its group, then with the one after, and so on.
        while (left := one + distance < stop).any():
            one, stop = one[left], stop[left]
            value = self.values(groups.row.take(one), groups.row.take(one + distance))
            above = value > self.threshold
            found.append(_Edges(one[above], one[above] + distance, value[above]))
            distance += 1
        return _Edges.joined(found)

    def values(self, one: IntArray, other: IntArray) -> FloatArray:
        """Measure rows against rows, pair by pair."""
        return np.asarray(evaluate(self.measure, self.boxes.take(one), self.boxes.take(other)))

    def table(self, one: IntArray, other: IntArray) -> FloatArray:
        """Measure rows against rows, each against each."""
        out = np.empty((len(one), len(other)))
        fill(out, self.measure, self.boxes.take(one)[:, None], self.boxes.take(other)[None, :])
        return out


def _spread(count: int, few: int) -> IntArray:
    """Choose a few places evenly, but at no regular distance: boxes may come in a pattern."""
    golden = (5**0.5 - 1) / 2
    return np.unique((np.arange(few) * golden % 1 * count).astype(np.int64))


# Who is kept.


def _settle_few(suppresses: Mask) -> Mask:
    """Tell which boxes are kept, given a table of which suppresses which, by falling score.

    >>> _settle_few(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool))
    array([ True, False,  True])
    """
    kept = np.ones(len(suppresses), dtype=bool)
    for place, row in enumerate(~suppresses):
        if kept[place]:
            kept[place + 1 :] &= row[place + 1 :]
    return kept


def _settle(count: int, edges: _Edges) -> Mask:
    """Tell the same, given the edges.

    >>> _settle(4, _Edges(np.array([0, 1, 2]), np.array([1, 2, 3]), np.ones(3)))
    array([ True, False,  True, False])
    """
    better, worse, _ = edges
    kept = np.ones(count, dtype=bool)
    while len(better):
        unbeaten = np.ones(count, dtype=bool)
        unbeaten[worse] = False
        kept[worse[unbeaten[better]]] = False
        undecided = np.flatnonzero(kept[better] & kept[worse])
        if len(undecided) > len(better) / 2:
            _settle_in_turn(kept, better, worse)
            break
        better, worse = better.take(undecided), worse.take(undecided)
    return kept


def _settle_in_turn(kept: Mask, better: IntArray, worse: IntArray) -> None:
    """Do so edge by edge: what a long chain takes, where each box waits for the one before."""
    order = np.argsort(better)
    alive = bytearray(kept)
    for one, other in zip(better[order].tolist(), worse[order].tolist(), strict=True):
        if alive[one]:
            alive[other] = False
    kept[:] = np.frombuffer(alive, dtype=bool)


# What is left of a score.


@dataclass(frozen=True, eq=False)
class _Softening:
    """Boxes, their scores so far, and what overlap does to these."""

    contest: _Contest
    score: FloatArray
    weight: Callable[[FloatArray], FloatArray]
    least: float

    def run_small(self, groups: _Groups) -> None:
        """Pick all boxes of all groups of a few."""
        rows = np.sort(groups.row.take(groups.small()[0]))
        better, worse, value = self.contest.edges_of_small(groups)
        places = np.searchsorted(rows, groups.row)
        self.pick(rows, _Edges(places[better], places[worse], value), rows[:0])

    def run(self, rows: IntArray) -> None:
        """Pick all boxes of one label.

        The best of them, so many that their edges can be listed, are picked in turn as long as none
        of the others is in line before them. Then these are softened together, and it starts anew.
        """
        size = len(rows)
        while len(rows):
            rows = np.sort(rows)
            rows = rows.take(_by_falling_score(self.score.take(rows)))
            size = self.tier(rows, 2 * size)
            first, others = np.sort(rows[:size]), rows[size:]
            picked = self.pick(first, self.contest.edges(first), others[:1])
            rows = np.concatenate([first[~np.isin(first, picked)], others])
            self.soften(others, picked)
            rows = rows[self.score.take(rows) >= self.least]

    def tier(self, rows: IntArray, size: int) -> int:
        """Choose how many of the best boxes have no more edges than can be listed."""
        size = min(size, len(rows))
        while size > _TIER and self.contest.expected_edges(rows[:size]) > _PAIRS_TO_A_BOX * size:
            size //= 2
        return size

    def soften(self, rows: IntArray, picked: IntArray) -> None:
        """Lower the scores of rows by the boxes picked, in their order."""
        if len(picked) * len(rows) <= _BLOCK:
            for weights in self.weight(self.contest.table(picked, rows)):
                self.score[rows] *= weights
            return
        better, worse, value = self.contest.edges_by_join(picked, rows)
        order = np.argsort(better)
        weights = self.weight(value.take(order))
        np.multiply.at(self.score, rows.take(worse.take(order)), weights)

    def pick(self, rows: IntArray, edges: _Edges, other: IntArray) -> IntArray:
        """Pick boxes, by rising row, before one other is in line; return them in their order.

        Scores only fall, so a box that has been lowered since it was put on the heap goes back with
        what is left of its score, when its turn comes.
        """
        source = np.concatenate([edges.better, edges.worse])
        order = np.argsort(source)
        start = np.searchsorted(source, np.arange(len(rows) + 1), sorter=order).tolist()
        neighbour = np.concatenate([edges.worse, edges.better]).take(order).tolist()
        weight = np.tile(self.weight(edges.value), 2).take(order).tolist()
        now = self.score.take(rows).tolist()
        end = -self.least, len(rows)
        for row in other:
            end = min(end, (-float(self.score[row]), int(np.searchsorted(rows, row))))
        heap = [(-value, place) for place, value in enumerate(now)]
        heapify(heap)
        picked: list[int] = []
        scores: list[float] = []
        while heap and heap[0] < end:
            put, place = heappop(heap)
            if -put != now[place]:
                heappush(heap, (-now[place], place))
                continue
            picked.append(place)
            scores.append(-put)
            part = slice(start[place], start[place + 1])
            for lowered, share in zip(neighbour[part], weight[part], strict=True):
                now[lowered] *= share
        self.score[rows] = now
        self.score[rows.take(picked)] = scores
        return rows.take(picked)
