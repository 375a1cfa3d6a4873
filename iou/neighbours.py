"""Only the pairs of boxes that overlap enough, without the table of all pairs.

Cutting a share of each side off both its ends leaves the core of a box. Boxes that overlap enough
have cores that meet, so the search is for cores that meet, which a few sorted arrays answer; only
what they find is measured.

Why the cores meet: along one axis let two boxes share I of their union U, where I > t U. The
distance of their centres is at most (U − I) / 2, and the sum of their half sides is (U + I) / 2.
The quotient of the two is below (1 − t) / (1 + t), and that is the share of a side which is left
after cutting t / (1 + t) of it off both ends. An IoU above t needs I > t U along either axis, for
the IoU of two boxes is never above that of their shadows on an axis.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import exact
from .arguments import real
from .boxes import Boxes, FloatArray, IntArray, Mask, evaluate, nearest_float, read_table
from .overlap import MEASURES

# Boxes or candidates looked at together: what that needs then fits the processor's cache.
_CHUNK = 2**14
# Heights of cores on one level differ by less than this many octaves.
_OCTAVES = 4
# Height of a strip, in mean heights of its cores.
_STRIP = 4
# What an entry can be in a pair, in bits; both of a pair together must be all of it.
_STARTS, _ON_LEVEL, _OF_FIRST, _OF_SECOND = np.array([1, 2, 4, 8], np.uint8)
_EVERY_ROLE = 15
_ROLES_OF_SETS = {
    1: np.array([_OF_FIRST | _OF_SECOND], np.uint8),
    2: np.array([_OF_FIRST, _OF_SECOND], np.uint8),
}
# Entries that a run is followed by one by one.
_SHORT = 12
# More than `iou` is ever off, relative to the exact value.
TOLERANCE = 2.0**-48
_FLOAT = np.finfo(np.float64)
_LARGEST = float(_FLOAT.max)


class Pairs(NamedTuple):
    """Pairs of boxes, sorted by the first index, then by the second.

    Attributes
    ----------
    first, second : ndarray of int64, shape (K,)
        Rows of the two boxes.
    iou : ndarray of float64, shape (K,)
        Their IoU.
    """

    first: IntArray
    second: IntArray
    iou: FloatArray


def overlapping_pairs(
    a: ArrayLike, b: ArrayLike | None = None, *, iou_threshold: float = 0.0, fmt: str = "xyxy"
) -> Pairs:
    """Find the pairs of boxes whose IoU exceeds a threshold.

    Parameters
    ----------
    a : array_like, shape (N, 4)
    b : array_like, shape (M, 4), optional
        Boxes, as for :func:`iou.iou`. Without `b`, the pairs are those within `a`: each once, the
        smaller index first, and no box with itself.
    iou_threshold : float, default 0
        From 0 to below 1. A pair at the threshold is left out; at 0, every pair that shares area is
        reported.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers of both mean; see :mod:`iou.exact`.

    Returns
    -------
    Pairs
        The arrays ``first``, ``second`` (int64) and ``iou`` (float64), all of shape (K,):
        ``a[first]`` and ``b[second]`` have the IoU ``iou``. They are sorted by ``first``, then by
        ``second``.

    Raises
    ------
    ValueError
        If `iou_threshold` is not in [0, 1), if `a` or `b` is not a table of boxes, and as
        :func:`iou.iou` does.
    TypeError
        If `iou_threshold` is no real number, and as :func:`iou.iou` does.

    See Also
    --------
    iou.pairwise : the table of all pairs.

    Notes
    -----
    What is compared with the threshold is the value that :func:`iou.iou` returns, to the bit, so
    the pairs are those where ``pairwise(a, b) > iou_threshold``. A share of area below the smallest
    positive float64 rounds to an IoU of 0 and is not reported.

    Time grows as ``(N + M) log(N + M)`` plus the number of pairs whose cores meet, and memory as
    ``N + M`` plus the number of pairs reported. Boxes whose heights differ by many orders of
    magnitude are searched once for every factor of sixteen between them, unless the threshold tells
    them apart.

    Examples
    --------
    >>> from iou.neighbours import overlapping_pairs
    >>> boxes = [[0, 0, 4, 4], [9, 9, 12, 12], [0, 0, 4, 3], [3, 3, 6, 6]]
    >>> pairs = overlapping_pairs(boxes)
    >>> for i, j, value in zip(*pairs):
    ...     print(i, j, value)
    0 2 0.75
    0 3 0.041666666666666664

    Between two sets, the indices are rows of one and rows of the other:

    >>> first, second, value = overlapping_pairs(boxes, [[0, 0, 4, 4]], iou_threshold=0.5)
    >>> first, second, value
    (array([0, 2]), array([0, 0]), array([1.  , 0.75]))

    A pair whose IoU is the threshold is left out, and boxes that only touch share no area:

    >>> overlapping_pairs(boxes, [[0, 0, 4, 4]], iou_threshold=0.75).first
    array([0])
    >>> len(overlapping_pairs([[0, 0, 2, 2], [2, 0, 4, 2]]).iou)
    0

    >>> overlapping_pairs(boxes, iou_threshold=1)
    Traceback (most recent call last):
        ...
    ValueError: iou_threshold must be in [0, 1), it is 1
    """
    threshold = _threshold(iou_threshold)
    first = read_table(a, fmt, "a")
    second = None if b is None else read_table(b, fmt, "b")
    found = pairs_above(first, second, threshold)
    width = len(first if second is None else second)
    order = np.argsort(found.first * width + found.second)
    return Pairs(found.first.take(order), found.second.take(order), found.iou.take(order))


def pairs_above(first: Boxes, second: Boxes | None, threshold: float) -> Pairs:
    """Find the same pairs, in any order, in tables that are read already."""
    sets = [first] if second is None else [first, second]
    nothing = np.empty(0, dtype=np.int64)
    found = [Pairs(nothing, nothing, np.empty(0))]
    for entries in _entries(sets, threshold):
        for one, other in entries.meeting():
            values = entries.iou(one, other)
            above = np.flatnonzero(values > threshold)
            found.append(Pairs(*entries.rows(one.take(above), other.take(above)), values[above]))
    return Pairs(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _threshold(iou_threshold: Any) -> float:
    threshold = real(iou_threshold, "iou_threshold")
    if not 0 <= threshold < 1:
        raise ValueError(f"iou_threshold must be in [0, 1), it is {iou_threshold}")
    return threshold


# The cores.


def _core_columns(sets: list[Boxes], threshold: float) -> FloatArray:
    """Find where all cores start and end in x and y, and bounds of the heights, shape (6, N)."""
    columns = np.empty((6, sum(map(len, sets))))
    end = 0
    for boxes in sets:
        for start in range(0, len(boxes), _CHUNK):
            chunk = boxes[start : start + _CHUNK,]
            begin, end = end, end + len(chunk)
            _fill_core_columns(columns[:, begin:end], chunk, threshold)
    return columns


def _fill_core_columns(columns: FloatArray, boxes: Boxes, threshold: float) -> None:
    lo, hi = _outline(boxes)
    with np.errstate(over="ignore", invalid="ignore"):
        # Twice what the rounding of two corners and of four operations on them comes to.
        slack = np.maximum(np.abs(lo), np.abs(hi))
        slack = 6 * (_FLOAT.eps * slack + _FLOAT.smallest_subnormal)
        columns[:2], columns[2:4] = _core(lo, hi, slack, threshold)
        height = np.minimum(hi[1] - lo[1], _LARGEST)
        columns[4] = _or_else(height - slack[1], 0)
        columns[5] = _or_else(height + slack[1], _LARGEST)


def _outline(boxes: Boxes) -> tuple[FloatArray, FloatArray]:
    """Corners, rounded to float64; infinite beyond its range."""
    if boxes.carried:
        return boxes.lo, boxes.hi
    lo, hi = np.array(boxes.lo), np.array(boxes.hi)
    for row in np.flatnonzero(np.isnan(lo[0])):
        corners = exact.corners(boxes.given[row].tolist(), boxes.fmt)
        lo[:, row], hi[:, row] = np.reshape([nearest_float(corner) for corner in corners], (2, 2))
    return lo, hi


def _core(
    lo: FloatArray, hi: FloatArray, slack: FloatArray, threshold: float
) -> tuple[FloatArray, FloatArray]:
    """Cut both ends off each side, less the slack; an infinite corner is as far as can be."""
    least = threshold * (1 - TOLERANCE)
    share = least / (1 + least)
    cut = share * hi - share * lo - slack
    return _or_else(lo + cut, -_LARGEST), _or_else(hi - cut, _LARGEST)


def _or_else(numbers: FloatArray, bound: float) -> FloatArray:
    """Put a bound in the place of what infinite corners have made of a number."""
    finite = np.isfinite(numbers)
    return numbers if finite.all() else np.where(finite, numbers, bound)


# The search.


@dataclass(frozen=True, eq=False)
class _Entries:
    """Cores in the strips that they touch; strip by strip, and in each from left to right.

    Attributes
    ----------
    sets : list of Boxes
    row : ndarray of int64, shape (n,)
        Which box it is, counted through all sets.
    role : ndarray of uint8, shape (n,)
        What it can be in a pair; see `_EVERY_ROLE`.
    end : ndarray of int64, shape (n,)
        Where the entries of the strip end.
    left, low, right, high : ndarray of float64, shape (n,)
        Where the core starts and ends on both axes.
    """

    sets: list[Boxes]
    row: IntArray
    role: NDArray[np.uint8]
    end: IntArray
    left: FloatArray
    low: FloatArray
    right: FloatArray
    high: FloatArray

    @cached_property
    def boxes(self) -> list[Boxes]:
        """The boxes of each set, in the places of their entries."""
        first, *others = self.sets
        if not others:
            return [first.take(self.row)]
        of_first = self.row < len(first)
        row = np.where(of_first, self.row, 0), np.where(of_first, 0, self.row - len(first))
        return [boxes.take(here) for boxes, here in zip(self.sets, row, strict=True)]

    def iou(self, one: IntArray, other: IntArray) -> FloatArray:
        """Measure entries against entries, pair by pair."""
        if len(self.sets) == 2:
            one, other = np.where(
                self.row.take(one) < self.row.take(other), (one, other), (other, one)
            )
        pairs = self.boxes[0].take(one), self.boxes[-1].take(other)
        return np.asarray(evaluate(MEASURES["iou"], *pairs))

    def rows(self, one: IntArray, other: IntArray) -> tuple[IntArray, IntArray]:
        """Tell the rows of their boxes, each in its set; the first row first."""
        one, other = self.row.take(one), self.row.take(other)
        offset = len(self.sets[0]) if len(self.sets) == 2 else 0
        return np.minimum(one, other), np.maximum(one, other) - offset

    def meeting(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Find the cores that meet, every two of them once, as places of entries, in chunks.

        Each entry is tested against those that follow it in its strip before it ends. Most end
        soon, so it is against the next one first, then against the one after, and so on.
        """
        going_on = []
        for begin in range(0, len(self.row), _CHUNK):
            one = np.arange(begin, min(begin + _CHUNK, len(self.row)))
            found = [(one[:0], one[:0])]
            for distance in range(1, _SHORT + 1):
                one = one[self._reaches(one, one + distance)]
                found.append(self._tested(one, one + distance))
                if len(one) == 0:
                    break
            first, second = map(np.concatenate, zip(*found, strict=True))
            yield first, second
            going_on.append(one[self._reaches(one, one + _SHORT + 1)])
        if any(map(len, going_on)):
            one = np.concatenate(going_on)
            yield from self._long_runs(one, one + _SHORT + 1)

    def _reaches(self, one: IntArray, other: IntArray) -> Mask:
        """Tell whether a core ends right of where another one starts that follows in the strip."""
        reaches = self.left.take(other, mode="clip") < self.right.take(one)
        reaches &= other < self.end.take(one)
        return np.asarray(reaches)

    def _long_runs(self, one: IntArray, start: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Go on from a start to the end of each run."""
        stop = self._stop(one, start)
        if (stop - start).sum() <= _CHUNK:
            yield self._tested(np.repeat(one, stop - start), ranges(start, stop))
            return
        role = self.role.take(one)
        for opening in np.unique(role):
            may_follow = self.role | opening == _EVERY_ROLE
            before = np.concatenate([[0], np.cumsum(may_follow)])
            follower = np.flatnonzero(may_follow)
            opener = np.flatnonzero(role == opening)
            first, last = before.take(start.take(opener)), before.take(stop.take(opener))
            for part in chunks(last - first):
                times = (last - first)[part]
                run = follower.take(ranges(first[part], last[part]))
                yield self._tested(np.repeat(one.take(opener[part]), times), run)

    def _stop(self, one: IntArray, start: IntArray) -> IntArray:
        """Find where the run of each entry stops, which is not before a start, by bisection."""
        stop = self.end.take(one)
        for _ in range(int((stop - start).max(initial=0)).bit_length()):
            middle = (start + stop) // 2
            reaches = self._reaches(one, middle)
            start, stop = np.where(reaches, middle + 1, start), np.where(reaches, stop, middle)
        return start

    def _tested(self, one: IntArray, other: IntArray) -> tuple[IntArray, IntArray]:
        """Choose pairs that meet from those that do so along x.

        One of a pair must start in the strip, which it does in one strip alone, and one must be of
        the level. Of two sets, a pair has one of each.
        """
        meet = self.low.take(one) < self.high.take(other)
        meet &= self.high.take(one) > self.low.take(other)
        meet &= self.role.take(one) | self.role.take(other) == _EVERY_ROLE
        found = np.flatnonzero(meet)
        return one.take(found), other.take(found)


def _entries(sets: list[Boxes], threshold: float) -> Iterator[_Entries]:
    """Enter the cores in strips where every two that meet do so, some whole strips at a time.

    Levels hold cores of about the same height. On each, the plane is cut into strips that suit its
    cores; there they meet each other, and those of the lower levels that are not too flat for them.
    """
    if not all(boxes.area.any() for boxes in sets):
        return
    columns = _core_columns(sets, threshold)
    role = np.repeat(_ROLES_OF_SETS[len(sets)], [len(boxes) for boxes in sets])
    row = np.flatnonzero(np.concatenate([boxes.area for boxes in sets]))
    # From left to right.
    row = row.take(np.argsort(columns[0].take(row)))
    low, high, least, most = (columns[number].take(row) for number in (1, 3, 4, 5))
    with np.errstate(over="ignore"):
        height = np.minimum(high - low, _LARGEST)
    level = _levels(height)
    for number in np.unique(level):
        here = level == number
        tall_enough = most >= threshold * (1 - TOLERANCE) * least[here].min()
        place = np.flatnonzero(here | ((level < number) & tall_enough))
        with np.errstate(over="ignore"):
            strip = min(_STRIP * height[here].mean(), _LARGEST)
        for entry, ends in _cut(low, high, place, strip):
            core, starts = entry >> 1, (entry & 1).astype(np.uint8)
            rows = row.take(core)
            roles = role.take(rows) | starts | here.take(core) * _ON_LEVEL
            yield _Entries(sets, rows, roles, ends, *columns[:4].take(rows, axis=1))


def _levels(height: FloatArray) -> FloatArray:
    """Give each height the number of its level, which is 0 for the median."""
    level = np.log2(height)
    level -= _middle(level)
    level /= _OCTAVES
    return np.rint(level, out=level)


def _middle(numbers: FloatArray) -> float:
    """Find the upper median."""
    half = len(numbers) // 2
    return float(np.partition(numbers, half)[half])


def _cut(
    low: FloatArray, high: FloatArray, place: IntArray, height: float
) -> Iterator[tuple[IntArray, IntArray]]:
    """Enter cores in each strip they touch, and give the entries of some strips at a time.

    The number of a strip never falls as y rises, however it is rounded. So where two cores meet,
    the lower one has an entry in the strip where the upper one starts.

    An entry is twice the place of its core, and 1 more in the strip where the core starts. With
    each comes where the entries of its strip end.
    """
    # A key is the number of the strip, then the entry.
    shift = len(low).bit_length() + 1
    farthest = 2.0 ** (60 - shift)
    low, high = low.take(place), high.take(place)
    # Boxes far from the others share the outermost strips, and leave the others theirs.
    middle = _middle(low)

    def strip(y: FloatArray) -> IntArray:
        with np.errstate(over="ignore"):
            y /= 2
            y -= middle / 2
            y /= height
            y *= 2
        return np.clip(y, -farthest, farthest, out=y).astype(np.int64)

    first, last = strip(low), strip(high)
    place = place << 1
    more = np.flatnonzero(first < last)
    times = (last - first).take(more)
    going_on = ranges(first.take(more) + 1, last.take(more) + 1)
    going_on <<= shift
    going_on |= np.repeat(place.take(more), times)
    first <<= shift
    first |= place
    first |= 1
    keys = np.concatenate([first, going_on])
    keys.sort()
    new = np.flatnonzero((keys[1:] ^ keys[:-1]) >> shift) + 1
    begin = np.concatenate([[0], new])
    count = np.diff(begin, append=len(keys))
    entry = keys & ((1 << shift) - 1)
    for part in chunks(count):
        here = slice(begin[part.start], begin[part.start] + count[part].sum())
        yield entry[here], np.repeat(np.cumsum(count[part]), count[part])


def ranges(start: IntArray, stop: IntArray) -> IntArray:
    """Join the integers from each start to its stop.

    >>> ranges(np.array([5, 0, 7]), np.array([8, 0, 9]))
    array([5, 6, 7, 7, 8])
    """
    count = stop - start
    end = np.cumsum(count)
    return np.arange(end[-1] if len(end) else 0) + np.repeat(stop - end, count)


def chunks(count: IntArray) -> Iterator[slice]:
    """Cut a list of counts into slices that add up to about a chunk, or are one long item."""
    end = np.cumsum(count)
    total = int(end[-1]) if len(end) else 0
    cuts = np.searchsorted(end, np.arange(_CHUNK, total + _CHUNK, _CHUNK), side="right")
    begin = 0
    for cut in np.unique(cuts):
        if cut > begin:
            yield slice(begin, cut)
            begin = cut
