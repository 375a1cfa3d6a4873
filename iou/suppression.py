"""Non-maximum suppression: of the boxes that overlap, the ones with the best scores.

Written as a loop, the greedy rule takes a box at a time, the best first, and compares it with all
that are left. Nothing here does that. A box suppresses only boxes that overlap it, so what decides
is a list of pairs, and :func:`~iou.neighbours.overlapping_pairs` finds them without the table of
all. Where boxes lie so close that the list itself would be too long, the best few are settled
first: whatever they suppress takes its pairs with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .boxes import Boxes, FloatArray, Measure, evaluate, fill, read
from .neighbours import overlapping_pairs
from .overlap import MEASURES

IntArray = NDArray[np.int64]
Mask = NDArray[np.bool_]

# So few boxes are compared each with each. It is also how many stand for all when pairs are
# counted beforehand.
_FEW = 512
# Pairs to a box that are worth listing. Where there would be more, some boxes are settled first.
_PAIRS_TO_A_BOX = 8
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
    if measure not in ("iou", "diou"):
        raise ValueError(f"unknown measure {measure!r}; known are 'iou', 'diou'")
    table = _table(boxes, fmt)
    order = _by_falling_score(_scores(scores, len(table.given)))
    groups = _Groups.of(labels, order)
    if threshold == 1:
        return order
    contest = _Contest(table, MEASURES[measure], threshold)
    kept = np.zeros(len(order), dtype=bool)
    kept[contest.winners_of_small(groups)] = True
    for group in groups.large():
        kept[contest.winners(group)] = True
    return order[kept[order]]


# Reading.


def _table(boxes: ArrayLike, fmt: str) -> Boxes:
    table = read(boxes, fmt)
    if table.given.ndim != 2:
        raise ValueError(f"boxes must have the shape (N, 4), it has {table.given.shape}")
    return table


def _scores(scores: ArrayLike, count: int) -> NDArray[Any]:
    array = np.asanyarray(scores)
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("scores: masked arrays are not supported; fill or drop the masked rows")
    if array.shape != (count,):
        raise ValueError(f"{count} boxes need scores of shape ({count},), not {array.shape}")
    if count == 0:
        return np.empty(0)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"scores must be real numbers, they are of {array.dtype}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array)))
        raise ValueError(f"scores[{row}] is {array[row]}; scores must be finite")
    return np.asarray(array)


def _fraction(number: Any, name: str) -> float:
    if isinstance(number, bool | np.bool_) or not isinstance(number, Real):
        raise TypeError(f"{name} must be a real number, it is a {type(number).__name__}")
    fraction = float(number)
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
    stop : ndarray of int64, shape (N,)
        For each, where its group ends in `row`.
    """

    row: IntArray
    stop: IntArray

    @classmethod
    def of(cls, labels: ArrayLike | None, order: IntArray) -> "_Groups":
        """Gather rows, given by falling score, by their labels."""
        if labels is None:
            return cls(order, np.full(len(order), len(order)))
        number = _numbered(labels, len(order)).take(order)
        position = np.argsort(number, kind="stable")
        number = number.take(position)
        return cls(order.take(position), np.searchsorted(number, number, side="right"))

    def starts(self) -> IntArray:
        """Find where the groups start."""
        return np.flatnonzero(np.diff(self.stop, prepend=0))

    def large(self) -> Iterator[IntArray]:
        """Give the groups of more than a few boxes."""
        start = self.starts()
        stop = self.stop.take(start)
        large = stop - start > _FEW
        for begin, end in zip(start[large], stop[large], strict=True):
            yield self.row[begin:end]

    def small(self) -> IntArray:
        """Find where the boxes of all other groups stand."""
        start = self.starts()
        size = self.stop.take(start) - start
        return np.flatnonzero(np.repeat(size <= _FEW, size))


def _numbered(labels: ArrayLike, count: int) -> IntArray:
    """Give equal labels equal numbers."""
    array = np.asanyarray(labels, dtype=None if hasattr(labels, "__array__") else object)
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("labels: masked arrays are not supported; fill or drop the masked rows")
    if array.shape != (count,):
        raise ValueError(f"{count} boxes need labels of shape ({count},), not {array.shape}")
    unequal = np.flatnonzero(array != array)
    if len(unequal):
        raise ValueError(f"labels[{unequal[0]}] is {array[unequal[0]]}")
    if array.dtype == object:
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(label, len(numbers)) for label in array], dtype=int)
    return np.unique(array, return_inverse=True)[1]


# Who suppresses whom.


def _settle(count: int, better: IntArray, worse: IntArray) -> Mask:
    """Tell which of the boxes are kept, given the pairs that cannot both be.

    Boxes are numbered by falling score, so ``better < worse``.

    >>> _settle(4, np.array([0, 1, 2]), np.array([1, 2, 3]))
    array([ True, False,  True, False])
    """
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
    """Do so pair by pair: what a long chain takes, where each box waits for the one before."""
    order = np.argsort(better)
    alive = bytearray(kept)
    for one, other in zip(better[order].tolist(), worse[order].tolist(), strict=True):
        if alive[one]:
            alive[other] = False
    kept[:] = np.frombuffer(alive, dtype=bool)


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
            return rows[_settle(len(rows), *self.pairs(rows))]
        sample = rows[_spread(len(rows))]
        expected = len(self.pairs(sample)[0]) * (len(rows) / len(sample)) ** 2
        bearable = _PAIRS_TO_A_BOX * len(rows)
        if expected <= bearable:
            return rows[_settle(len(rows), *self.join(rows))]
        size = max(_FEW // 2, int(len(rows) * bearable / expected) // 2)
        kept = rows[:0]
        start = 0
        while start < len(rows):
            left = self.spared(rows[start : start + size], kept)
            kept = np.concatenate([kept, self.winners(left)])
            start += size
            size *= 2
        return kept

    def winners_of_small(self, groups: _Groups) -> IntArray:
        """Find the rows that are kept, among all groups of a few boxes."""
        place = groups.small()
        rows, stop = groups.row, groups.stop
        found = [(place[:0], place[:0])]
        one, distance = place, 1
        # Each with the next of its group, then with the one after, and so on.
        while len(one := one[one + distance < stop.take(one)]):
            above = self.values(rows.take(one), rows.take(one + distance)) > self.threshold
            found.append((one[above], one[above] + distance))
            distance += 1
        better, worse = (np.concatenate(column) for column in zip(*found, strict=True))
        kept = _settle(len(rows), better, worse)
        return rows.take(place[kept.take(place)])

    def spared(self, rows: IntArray, kept: IntArray) -> IntArray:
        """Find the rows that none of the kept boxes suppresses.

        Each of them is compared with all rows as long as that is worth it: in a cluster, few of
        them suppress many. The others are searched for neighbours.
        """
        start = 0
        while start < len(kept) and len(rows):
            count = len(rows)
            stop = start + max(1, min(16, _BLOCK // count))
            rows = rows[~self.table(kept[start:stop], rows).any(axis=0)]
            start = stop
            if len(rows) > count * 0.9:
                break
        return np.delete(rows, self.join(kept[start:], rows)[1])

    def values(self, one: IntArray, other: IntArray) -> FloatArray:
        """Measure rows against rows, pair by pair."""
        return np.asarray(evaluate(self.measure, self.take(one), self.take(other)))

    def table(self, one: IntArray, other: IntArray) -> Mask:
        """Tell which rows suppress which, each against each."""
        values = np.empty((len(one), len(other)))
        fill(values, self.measure, self.take(one)[:, None], self.take(other)[None, :])
        return values > self.threshold

    def pairs(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Find which places in `rows` suppress which, by looking at every two."""
        better, worse = np.nonzero(self.table(rows, rows))
        once = better < worse
        return better[once], worse[once]

    def join(self, one: IntArray, other: IntArray | None = None) -> tuple[IntArray, IntArray]:
        """Find which places in `one` suppress which in `other`, or in `one`, among neighbours."""
        pairs = overlapping_pairs(
            self.given(one),
            None if other is None else self.given(other),
            iou_threshold=self.threshold,
            fmt=self.boxes.fmt,
        )
        first, second = pairs.first, pairs.second
        if self.measure is not MEASURES["iou"]:
            # No other measure here is above the IoU.
            rows = one if other is None else other
            above = self.values(one.take(first), rows.take(second)) > self.threshold
            first, second = first[above], second[above]
        return first, second

    def take(self, rows: IntArray) -> Boxes:
        """Pick some of the boxes."""
        columns = self.boxes.columns.take(rows, axis=-1)
        return replace(self.boxes, columns=columns, given=self.boxes.given.take(rows, axis=0))

    def given(self, rows: IntArray) -> ArrayLike:
        """Pick some as they were given; large integers of Python are read from lists alone."""
        given = self.boxes.given.take(rows, axis=0)
        return given.tolist() if given.dtype == object else given


def _spread(count: int) -> IntArray:
    """Choose a few places evenly, but at no regular distance: boxes may come in a pattern."""
    golden = (5**0.5 - 1) / 2
    return np.unique((np.arange(_FEW) * golden % 1 * count).astype(np.int64))
