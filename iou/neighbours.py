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
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import exact
from .arguments import real
from .boxes import Boxes, FloatArray, IntArray, Mask, evaluate, nearest_float, read_table
from .overlap import MEASURES

# Boxes or candidates looked at together: what that needs then fits the processor's cache.
_CHUNK = 2**14
# Heights of cores on one level differ by less than this many octaves.
_OCTAVES = 4
# Height of a strip, in mean heights of its cores.
_STRIP = 3
# Entries that a run is followed by one by one.
_SHORT = 8
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
    magnitude are searched once for every factor of eight between them, unless the threshold tells
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
    offset = 0 if second is None else len(first)
    nothing = np.empty(0, dtype=np.int64)
    found = [Pairs(nothing, nothing, np.empty(0))]
    for one, other in _meeting(_cores(sets, threshold), threshold):
        # Rows of both sets are counted through, and a pair across them has one of each.
        i, j = np.minimum(one, other), np.maximum(one, other) - offset
        values = np.asarray(evaluate(MEASURES["iou"], first.take(i), sets[-1].take(j)))
        above = np.flatnonzero(values > threshold)
        found.append(Pairs(i.take(above), j.take(above), values.take(above)))
    first_rows, second_rows, values = (
        np.concatenate(column) for column in zip(*found, strict=True)
    )
    return Pairs(first_rows, second_rows, values)


def _threshold(iou_threshold: Any) -> float:
    threshold = real(iou_threshold, "iou_threshold")
    if not 0 <= threshold < 1:
        raise ValueError(f"iou_threshold must be in [0, 1), it is {iou_threshold}")
    return threshold


# The cores.


@dataclass(frozen=True, eq=False)
class _Cores:
    """Cores of the boxes that have an area, from left to right.

    Attributes
    ----------
    row : ndarray of int64, shape (n,)
        Which box it is, counted through all sets.
    sets : int
        How many sets there are.
    belongs : ndarray of int64, shape (n,)
        Which one it is from.
    left, right : ndarray of float64, shape (n,)
        Where the core starts and ends on the x axis.
    low, high : ndarray of float64, shape (n,)
        The same on the y axis.
    least, most : ndarray of float64, shape (n,)
        Bounds of the height of the whole box.
    """

    row: IntArray
    sets: int
    belongs: IntArray
    left: FloatArray
    right: FloatArray
    low: FloatArray
    high: FloatArray
    least: FloatArray
    most: FloatArray


def _cores(sets: list[Boxes], threshold: float) -> _Cores:
    columns = np.concatenate([_core_columns(boxes, threshold) for boxes in sets], axis=1)
    row = np.flatnonzero(np.concatenate([boxes.area for boxes in sets]) != 0)
    row = row.take(np.argsort(columns[0].take(row)))
    left, low, right, high, least, most = columns.take(row, axis=1)
    belongs = np.repeat(np.arange(len(sets)), [len(boxes) for boxes in sets]).take(row)
    return _Cores(
        row=row,
        sets=len(sets),
        belongs=belongs,
        left=left,
        right=right,
        low=low,
        high=high,
        least=least,
        most=most,
    )


def _core_columns(boxes: Boxes, threshold: float) -> FloatArray:
    """Find where the cores start and end in x and y, and bounds of the heights, shape (6, N)."""
    columns = np.empty((6, len(boxes)))
    for start in range(0, len(boxes), _CHUNK):
        part = slice(start, start + _CHUNK)
        lo, hi = _outline(boxes[part,])
        with np.errstate(over="ignore", invalid="ignore"):
            # Twice what the rounding of two corners and of four operations on them comes to.
            slack = np.maximum(np.abs(lo), np.abs(hi))
            slack = 6 * (_FLOAT.eps * slack + _FLOAT.smallest_subnormal)
            columns[:2, part], columns[2:4, part] = _core(lo, hi, slack, threshold)
            height = np.minimum(hi[1] - lo[1], _LARGEST)
            columns[4, part] = _or_else(height - slack[1], 0)
            columns[5, part] = _or_else(height + slack[1], _LARGEST)
    return columns


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


def _meeting(cores: _Cores, threshold: float) -> Iterator[tuple[IntArray, IntArray]]:
    """Find the cores that meet, every two of them once, as rows of the boxes, in chunks.

    Levels hold cores of about the same height. On each, the plane is cut into strips that suit its
    cores; there they meet each other, and those of the lower levels that are not too flat for them.
    """
    if len(cores.row) == 0:
        return
    with np.errstate(over="ignore"):
        height = np.minimum(cores.high - cores.low, _LARGEST)
    scale = np.log2(height)
    level = np.rint((scale - _middle(scale)) / _OCTAVES)
    for number in np.unique(level):
        here = level == number
        tall_enough = cores.most >= threshold * (1 - TOLERANCE) * cores.least[here].min()
        taking_part = np.flatnonzero(here | ((level < number) & tall_enough))
        with np.errstate(over="ignore"):
            strip = min(_STRIP * height[here].mean(), _LARGEST)
        entries = _cut(cores, taking_part, strip)
        for one, other in _meeting_in_strips(cores, entries, here):
            yield cores.row.take(one), cores.row.take(other)


def _middle(numbers: FloatArray) -> float:
    """Find the upper median."""
    half = len(numbers) // 2
    return float(np.partition(numbers, half)[half])


class _Entries(NamedTuple):
    """Cores cut by strips; strip by strip, and in each from left to right.

    Attributes
    ----------
    core : ndarray of int64
        Which core it is.
    starts : ndarray of bool
        Whether this is the strip where the core starts.
    stop : ndarray of int64
        The first entry past those of this strip whose cores start left of where this one ends.
    """

    core: IntArray
    starts: Mask
    stop: IntArray


def _cut(cores: _Cores, index: IntArray, height: float) -> _Entries:
    """Enter cores in each strip they touch.

    The number of a strip never falls as y rises, however it is rounded. So where two cores meet,
    the lower one has an entry in the strip where the upper one starts.
    """
    # A key is the number of the strip, then the place from left to right, then whether it starts.
    shift = len(cores.row).bit_length() + 1
    farthest = 2.0 ** (60 - shift)
    # Boxes far from the others share the outermost strips, and leave the others theirs.
    middle = _middle(cores.low.take(index))

    def strip(y: FloatArray) -> IntArray:
        with np.errstate(over="ignore"):
            number = (y / 2 - middle / 2) / height * 2
        return np.asarray(np.clip(number, -farthest, farthest), dtype=np.int64)

    first, last = strip(cores.low.take(index)), strip(cores.high.take(index))
    starting = (first << shift) | (index << 1) | 1
    going_on = (ranges(first + 1, last + 1) << shift) | np.repeat(index << 1, last - first)
    keys = np.sort(np.concatenate([starting, going_on]))
    core = (keys & ((1 << shift) - 1)) >> 1
    return _Entries(core, (keys & 1).astype(bool), _stops(cores, core, keys, shift))


def _stops(cores: _Cores, core: IntArray, keys: IntArray, shift: int) -> IntArray:
    """Find where the run of each entry stops. Most runs are short, and soon told by their ends."""
    strip = keys >> shift
    left, right = cores.left.take(core), cores.right.take(core)
    stop = np.arange(1, len(keys) + 1)
    going = np.flatnonzero((left[1:] < right[:-1]) & (strip[1:] == strip[:-1]))
    for _ in range(_SHORT):
        stop[going] += 1
        going = going[stop.take(going) < len(keys)]
        after = stop.take(going)
        goes_on = left.take(after) < right.take(going)
        goes_on &= strip.take(after) == strip.take(going)
        going = going[goes_on]
    place = np.searchsorted(cores.left, right.take(going))
    stop[going] = np.searchsorted(keys, strip.take(going) << shift | place << 1)
    return stop


def _meeting_in_strips(
    cores: _Cores, entries: _Entries, here: Mask
) -> Iterator[tuple[IntArray, IntArray]]:
    """Test each entry against those that follow it in its strip before it ends.

    One of a pair must start in the strip, which it does in one strip alone, and one must be of the
    level. Of two sets, a pair has one of each.
    """
    core = entries.core
    low, high = cores.low.take(core), cores.high.take(core)
    second, on_level, starts = np.array(list(product([False, True], repeat=3))).T
    kind = cores.belongs.take(core) << 2 | here.take(core) << 1 | entries.starts
    for opening in np.flatnonzero(np.bincount(kind)):
        may_follow = (on_level | on_level[opening]) & (starts | starts[opening])
        if cores.sets == 2:
            may_follow &= second != second[opening]
        follows = may_follow.take(kind)
        follower = np.flatnonzero(follows)
        opener = np.flatnonzero(kind == opening)
        start, stop = opener + 1, entries.stop.take(opener)
        if len(follower) < len(kind):
            before = np.concatenate([[0], np.cumsum(follows)])
            start, stop = before.take(start), before.take(stop)
        one, one_low, one_high = core.take(opener), low.take(opener), high.take(opener)
        other, other_low, other_high = core.take(follower), low.take(follower), high.take(follower)
        for part in chunks(stop - start):
            run, times = ranges(start[part], stop[part]), (stop - start)[part]
            meet = np.repeat(one_low[part], times) < other_high.take(run)
            meet &= np.repeat(one_high[part], times) > other_low.take(run)
            found = np.flatnonzero(meet)
            yield np.repeat(one[part], times).take(found), other.take(run.take(found))


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
