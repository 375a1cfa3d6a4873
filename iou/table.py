"""The table of all pairs.

Most boxes of a picture are apart, and then most of the table is 0. So its rows are taken in groups
that lie close together: only what meets the smallest box around such a group is measured with it.
Where that is much of the table, the kernel goes over all of it instead.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import ArrayLike

from .arguments import one_of, positive_integer
from .boxes import (
    _ROOM,
    Armed,
    Boxes,
    FloatArray,
    IntArray,
    Measure,
    aligned,
    fill,
    fill_tiles,
    read_table,
)
from .overlap import MEASURES

# Tables with fewer values are filled without a look at where the boxes lie.
_SMALL = 2**21
# Rows of a group, more or less, and columns that are looked at together.
_GROUP = 40
_BLOCK = 2**13
# Groups for which columns are looked at together first.
_TOGETHER = 8
# Boxes from which the share of values that are to be measured is told.
_FEW = 8
# Up to this share of values that are to be measured, groups are faster.
_WORTHWHILE = 0.4


def pairwise(
    a: ArrayLike,
    b: ArrayLike,
    measure: str = "iou",
    *,
    fmt: str = "xyxy",
    out: FloatArray | None = None,
    workers: int = 1,
) -> FloatArray:
    """Measure every box of one set against every box of another.

    Parameters
    ----------
    a : array_like, shape (N, 4)
    b : array_like, shape (M, 4)
        Boxes, as for :func:`iou`.
    measure : {"iou", "giou", "diou", "ciou", "intersection", "union"}, default "iou"
        What to compute.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers of both mean; see :mod:`iou.exact`.
    out : ndarray of float64, shape (N, M), optional
        Where to put the result. A large new array may cost as much time as the arithmetic, so
        whoever needs many tables had better use one again. It must not overlap `a` or `b`.
    workers : int, default 1
        How many threads may share the work. It pays from about a million pairs on, where boxes
        mostly meet; where they are mostly apart one thread is faster, and does it alone.

    Returns
    -------
    ndarray of float64, shape (N, M)
        Row i, column j belongs to ``a[i]`` and ``b[j]``; `out` if it was given.

    Raises
    ------
    ValueError
        If `a` or `b` is not a table of boxes, if `measure` is unknown, if `out` does not fit, if
        `workers` is less than 1, and as :func:`iou` does.
    TypeError
        As :func:`iou` does, and if `out` is no array of float64 or `workers` is no integer.

    Notes
    -----
    Time depends on how many boxes meet: where most are apart, most values of ``"iou"`` and
    ``"intersection"`` are 0 without being measured. Beside the result it needs a few MiB, whatever
    N and M are, and up to 250 bytes for each box.

    Examples
    --------
    >>> from iou import pairwise
    >>> pairwise([[0, 0, 2, 2], [1, 1, 3, 3]], [[0, 0, 2, 2], [1, 1, 2, 2], [8, 8, 9, 9]])
    array([[1.        , 0.25      , 0.        ],
           [0.14285714, 0.25      , 0.        ]])
    >>> pairwise([], [[0, 0, 1, 1]]).shape
    (0, 1)
    """
    one_of(measure, MEASURES, "measure")
    workers = positive_integer(workers, "workers")
    chosen = MEASURES[measure]
    first = read_table(a, fmt, "a", with_angles=chosen.with_angles)
    second = read_table(b, fmt, "b", with_angles=chosen.with_angles)
    shape = first.shape + second.shape
    if out is not None:
        _reject_unfit(out, shape, first, second)

    # The measures are symmetric, so the longer set can take the columns: rows are what the
    # processor works along.
    swapped = len(first) > 8 * len(second)
    rows, columns = (second, first) if swapped else (first, second)
    groups = _groups_if_worthwhile(chosen, rows, columns)
    blank = out is None
    if out is None:
        # What stays 0 of such an array costs next to nothing.
        out = np.zeros(shape) if groups else np.empty(shape)
    # What is filled is a plain array, whatever shows it.
    table = np.asarray(out).T if swapped else np.asarray(out)
    if groups:
        groups.fill(table, blank=blank)
    else:
        _fill_by_rows(table, chosen, rows, columns, workers)
    return out


def _reject_unfit(out: FloatArray, shape: tuple[int, ...], first: Boxes, second: Boxes) -> None:
    if getattr(out, "dtype", None) != np.float64 or isinstance(out, np.ma.MaskedArray):
        raise TypeError("out must be an array of float64, without a mask")
    if out.shape != shape:
        raise ValueError(f"out must have the shape {shape}, not {out.shape}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    length = out.itemsize
    steps = zip(map(abs, out.strides), shape, strict=True)
    for step, count in sorted(pair for pair in steps if pair[1] > 1):
        if step < length and out.size > 0:
            raise ValueError("out must have a place of its own for each value")
        length = step * count
    if np.shares_memory(out, first.given) or np.shares_memory(out, second.given):
        raise ValueError("out must not overlap a or b")


def _fill_by_rows(
    table: FloatArray, measure: Measure, rows: Boxes, columns: Boxes, workers: int
) -> None:
    """Measure every value, a slab of rows in each thread."""

    def fill_slab(start: int, stop: int) -> None:
        fill(table[start:stop], measure, rows[start:stop, None], columns[None, :])

    workers = max(1, min(workers, len(table)))
    edges = [len(table) * worker // workers for worker in range(workers + 1)]
    if workers == 1:
        fill_slab(*edges)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(fill_slab, edges[:-1], edges[1:]))


def _groups_if_worthwhile(measure: Measure, rows: Boxes, columns: Boxes) -> "_Groups | None":
    lies_where_it_says = all(boxes.all_carried and not boxes.rounded for boxes in (rows, columns))
    large = len(rows) * len(columns) >= _SMALL
    if not (measure.nil_apart and lies_where_it_says and large):
        return None
    # Alone, boxes meet no more than they do in groups.
    if _share(rows.lo, rows.hi, columns) > _WORTHWHILE:
        return None
    groups = _Groups.of(measure, rows, columns, _halved(rows))
    return groups if _share(groups.lo, groups.hi, columns) <= _WORTHWHILE else None


def _share(lo: FloatArray, hi: FloatArray, columns: Boxes) -> float:
    """Estimate the share of columns that boxes meet, from a few of the boxes."""
    few = slice(None, None, max(1, lo.shape[1] // _FEW))
    met = [len(_meeting(*box, columns)) for box in zip(lo[:, few].T, hi[:, few].T, strict=True)]
    return sum(met) / (len(met) * len(columns))


@dataclass(frozen=True, eq=False)
class _Groups:
    """Rows in groups: what meets the box around a group is measured with it, and all else is 0.

    Attributes
    ----------
    measure : Measure
        One that is 0 of boxes that share no area.
    rows, columns : Boxes
    members : ndarray of int64, shape (G, S)
        The rows of each group. Groups that follow each other lie close together.
    lo, hi : ndarray of float64, shape (2, G)
        The box around each group.
    """

    measure: Measure
    rows: Boxes
    columns: Boxes
    members: IntArray
    lo: FloatArray
    hi: FloatArray

    @classmethod
    def of(cls, measure: Measure, rows: Boxes, columns: Boxes, members: IntArray) -> "_Groups":
        """Put a box around each group."""
        starts = np.arange(0, members.size, members.shape[1])
        lo = np.minimum.reduceat(rows.lo.take(members.ravel(), axis=1), starts, axis=1)
        hi = np.maximum.reduceat(rows.hi.take(members.ravel(), axis=1), starts, axis=1)
        return cls(measure, rows, columns, members, lo, hi)

    def fill(self, table: FloatArray, *, blank: bool) -> None:
        """Fill a table, which may be 0 already: a `blank` one.

        One thread does it: the steps are so short that others would mostly wait for their turns.
        """
        size = self.members.shape[1]
        room, memory = aligned(size * _BLOCK), aligned(_ROOM)
        with Armed():
            for start in range(0, table.shape[1], _BLOCK):
                block = slice(start, start + _BLOCK)
                here = self.columns[block,]
                line = np.zeros(len(here))
                for members, met, columns in self._met(here):
                    values = room[: size * len(met)].reshape(size, -1)
                    rows = self.rows.take(members)
                    fill_tiles(values, memory, self.measure, rows[:, None], columns[None, :])
                    for row, measured in zip(members.tolist(), values, strict=True):
                        if blank:
                            table[row, block][met] = measured
                        else:
                            line[met] = measured
                            table[row, block] = line
                    line[met] = 0

    def _met(self, columns: Boxes) -> Iterator[tuple[IntArray, IntArray, Boxes]]:
        """Give each group, and the columns that meet it: which they are, and themselves."""
        for first in range(0, len(self.members), _TOGETHER):
            together = slice(first, first + _TOGETHER)
            lo, hi = self.lo[:, together], self.hi[:, together]
            near = _meeting(lo.min(axis=1), hi.max(axis=1), columns)
            close = columns.take(near)
            for members, lowest, highest in zip(self.members[together], lo.T, hi.T, strict=True):
                met = _meeting(lowest, highest, close)
                yield members, near[met], close.take(met)


def _meeting(lo: FloatArray, hi: FloatArray, columns: Boxes) -> IntArray:
    """Find the columns that share area with a box."""
    meet = columns.lo[0] < hi[0]
    meet &= columns.hi[0] > lo[0]
    meet &= columns.lo[1] < hi[1]
    meet &= columns.hi[1] > lo[1]
    return np.flatnonzero(meet)


def _halved(boxes: Boxes) -> IntArray:
    """Halve a set of boxes again and again, each time across the edge whose places differ most.

    Returns
    -------
    ndarray of int64, shape (G, S)
        Rows of each group. All groups have one size, so some rows are there twice, mostly in the
        same group.
    """
    times = max(0, round(log2(len(boxes) / _GROUP)))
    size = -(-len(boxes) // 2**times)
    order = np.arange(size * 2**times) % len(boxes)
    with np.errstate(over="ignore"):
        for halvings in range(times):
            edges = boxes.columns[:4].take(order, axis=1)
            starts = np.arange(0, len(order), len(order) >> halvings)
            spread = np.maximum.reduceat(edges, starts, axis=1)
            spread -= np.minimum.reduceat(edges, starts, axis=1)
            widest = edges.reshape(4, len(starts), -1)[spread.argmax(axis=0), range(len(starts))]
            parts = np.argpartition(widest, widest.shape[1] // 2, axis=1)
            order = order[(parts + starts[:, None]).ravel()]
    return order.reshape(-1, size)
