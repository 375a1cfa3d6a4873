"""What a box is: reading, validating, converting and measuring one array of boxes.

Boxes come in as anything NumPy can read, with a last axis of four, in one of the four formats of
:mod:`iou.exact`. :func:`read` turns them into :class:`Boxes`, the form in which every other room
of the package takes them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import exact

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Mask = NDArray[np.bool_]

_NUMBERS = int, float, np.integer, np.floating
# Python's numbers in the place of NumPy's scalars.
_PLAIN = np.frompyfunc(lambda number: getattr(number, "item", lambda: number)(), 1, 1)
# From 2⁵³ on, a float64 skips integers.
_FIRST_SKIPPED = 2.0**53
# Below it, a float64 loses digits one by one.
SMALLEST_NORMAL = float(np.finfo(np.float64).smallest_normal)
# Numbers that a tile works in: they then fit the processor's cache.
_ROOM = 2**17
_MORE_PLANES = 6
# Vectors of the processor that begin where a line of its cache does take a tenth less time, which
# pays for finding that place if the numbers are many.
_LINE = 64
_MANY = 2**10


@dataclass(slots=True, eq=False)
class Boxes:
    """Validated boxes: columns for the fast path, what was given for the exact one.

    The corners of a box in the format ``xywh`` or ``cxcywh`` are sums, which float64 may have to
    round. Rounded corners tell where a box lies; what is measured starts from the `anchor`, the
    point that was given, and from how far the box reaches before and after it.

    Attributes
    ----------
    columns : ndarray of float64, shape (5, ...), (6, ...) or (12, ...)
        ``x_min, y_min, x_max, y_max``, the area, the aspect angle if `read` was asked for it, and
        for the two formats above the anchor and both reaches, in x and y. Each is contiguous, and
        NaN in a box that float64 cannot carry.
    source : ndarray, shape (..., 4) or (N, 4)
        The numbers as they came in.
    fmt : str
        What they mean.
    all_carried : bool
        Whether no box is NaN.
    solid : bool
        Whether every box has an area.
    rounded : bool
        Whether corners may be rounded.
    rows : ndarray of int64, shape (...), optional
        Which rows of the source the boxes are, where they were picked from it.
    """

    columns: FloatArray
    source: NDArray[Any]
    fmt: str
    all_carried: bool
    solid: bool
    rounded: bool
    rows: IntArray | None = None

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the collection, without the axis of four."""
        return self.columns.shape[1:]

    @property
    def given(self) -> NDArray[Any]:
        """The numbers of these boxes as they came in, shape (..., 4)."""
        return self.source if self.rows is None else self.source[self.rows]

    @property
    def lo(self) -> FloatArray:
        """``x_min, y_min``, shape (2, ...)."""
        return self.columns[:2]

    @property
    def hi(self) -> FloatArray:
        """``x_max, y_max``, shape (2, ...)."""
        return self.columns[2:4]

    @property
    def edges(self) -> FloatArray:
        """`lo` and `hi`, shape (2, 2, ...)."""
        return self.columns[:4].reshape(2, 2, *self.shape)

    @property
    def area(self) -> FloatArray:
        """Width times height, shape (...)."""
        return np.asarray(self.columns[4])

    @property
    def angle(self) -> FloatArray:
        """``atan2(width, height)`` in right angles, shape (...), if `read` was asked for it."""
        return np.asarray(self.columns[5])

    @property
    def anchor(self) -> FloatArray:
        """The point that was given, shape (2, ...)."""
        return self.columns[6:8]

    @property
    def before(self) -> FloatArray:
        """How far the box reaches to the left and up from its anchor, shape (2, ...)."""
        return self.columns[8:10]

    @property
    def after(self) -> FloatArray:
        """How far the box reaches to the right and down from its anchor, shape (2, ...)."""
        return self.columns[10:12]

    @property
    def sides(self) -> FloatArray:
        """Width and height, shape (2, ...)."""
        return self.before + self.after

    @property
    def carried(self) -> bool:
        """Whether float64 carries every one of the boxes."""
        return self.all_carried or not np.isnan(self.area).any()

    def __getitem__(self, index: tuple[slice | None, ...]) -> "Boxes":
        columns = self.columns[:, *index]
        if self.rows is None:
            return self._with(columns, self.source[index], None)
        return self._with(columns, self.source, self.rows[index])

    def take(self, rows: IntArray) -> "Boxes":
        """Pick rows of a table of boxes."""
        picked = rows if self.rows is None else self.rows.take(rows)
        return self._with(self.columns.take(rows, axis=1), self.source, picked)

    def _with(self, columns: FloatArray, source: NDArray[Any], rows: IntArray | None) -> "Boxes":
        return Boxes(columns, source, self.fmt, self.all_carried, self.solid, self.rounded, rows)

    def part(self, axis: int, part: slice) -> "Boxes":
        """Cut along an axis; one of length 1 broadcasts and stays."""
        return self if self.shape[axis] == 1 else self[(slice(None),) * axis + (part,)]


def read(
    boxes: ArrayLike, fmt: str = "xyxy", name: str = "boxes", *, with_angles: bool = False
) -> Boxes:
    """Validate boxes and bring them into corner form.

    Parameters
    ----------
    boxes : array_like, shape (..., 4)
        ``[]`` is no boxes, shape (0, 4).
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}
        What the four numbers mean.
    name : str
        What error messages call the argument.
    with_angles : bool
        Whether to compute the aspect angles as well.

    Returns
    -------
    Boxes

    Raises
    ------
    ValueError
        If `fmt` is unknown, if the last axis is not 4, or if a box has a NaN or infinite number or
        ends before it starts; the first such row is named.
    TypeError
        If the numbers are bools, complex, strings, objects or masked.

    Examples
    --------
    >>> boxes = read([[0, 0, 2, 1], [4, 4, 1, 1]], "xywh")
    >>> boxes.lo, boxes.hi
    (array([[0., 4.],
           [0., 4.]]), array([[2., 5.],
           [1., 5.]]))
    >>> boxes.area
    array([2., 1.])
    >>> read([[0, 0, 2, 1], [5, 0, 1, 2]], name="a")
    Traceback (most recent call last):
        ...
    ValueError: a[1] = (5, 0, 1, 2): x_max < x_min
    """
    exact.field_names(fmt)
    given = _as_numbers(boxes, name)
    if given.shape == (0,):
        given = given.reshape(0, 4)
    if given.ndim == 0 or given.shape[-1] != 4:
        raise ValueError(f"{name}: the last axis must be 4, the shape is {given.shape}")
    rows = 12 if "w" in exact.FORMATS[fmt] else 6 if with_angles else 5
    columns = np.empty((rows, *given.shape[:-1]))
    with np.errstate(all="ignore"):
        # −0 becomes 0, so that no side and no area is −0.
        np.add(_last_axis_first(_narrowed(given)), 0.0, out=columns[:4], dtype=np.float64)
        _reject_bad_rows(given, columns[:4], fmt, name)
        return _measured(given, columns, fmt, with_angles)


def read_table(
    boxes: ArrayLike, fmt: str = "xyxy", name: str = "boxes", *, with_angles: bool = False
) -> Boxes:
    """Do the same for boxes of the shape (N, 4); any other is a ValueError."""
    table = read(boxes, fmt, name, with_angles=with_angles)
    if len(table.shape) != 1:
        raise ValueError(f"{name} must have the shape (N, 4), not {table.given.shape}")
    return table


def area(boxes: ArrayLike, *, fmt: str = "xyxy") -> float | FloatArray:
    """Area of each box.

    Parameters
    ----------
    boxes : array_like, shape (..., 4)
        Boxes of any real dtype.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers mean; see :mod:`iou.exact`.

    Returns
    -------
    float or ndarray of float64, shape (...)
        Square units of the coordinates; a float for a single box.

    Raises
    ------
    ValueError, TypeError
        As :func:`iou.iou` does.

    Examples
    --------
    >>> import numpy as np
    >>> from iou import area
    >>> area((1, 1, 5, 5))
    16.0
    >>> area([[0, 0, 2, 3], [4, 4, 4, 9]])
    array([6., 0.])

    The inclusive-pixel convention counts the corner pixels in:

    >>> area((1, 1, 5, 5), fmt="xyxy_inclusive")
    25.0

    Small integer types do not wrap round, and an area can be as large as it likes:

    >>> area(np.array([0, 0, 200, 200], dtype=np.uint8))
    40000.0
    >>> area((0, 0, 1e200, 1e200))
    inf
    """
    return evaluate(_AREA, read(boxes, fmt))


def convert(boxes: ArrayLike, *, fmt: str = "xyxy", to: str = "xyxy") -> FloatArray:
    """Convert boxes from one format to another.

    Parameters
    ----------
    boxes : array_like, shape (..., 4)
        Boxes of any real dtype.
    fmt, to : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        The format they are in, and the one they shall have; see :mod:`iou.exact`.

    Returns
    -------
    ndarray of float64, shape (..., 4)
        Always a new array.

    Raises
    ------
    ValueError, TypeError
        As :func:`iou.iou` does; ValueError also if a result lies beyond the range of float64, or
        if an inclusive box would have to be narrower than one pixel.

    Examples
    --------
    >>> from iou import convert
    >>> convert((10, 20, 40, 30), fmt="xywh", to="xyxy")
    array([10., 20., 50., 50.])
    >>> convert([[10, 20, 50, 50]], to="cxcywh")
    array([[30., 35., 40., 30.]])

    The continuous box that covers the pixels 2 to 5 ends at 6:

    >>> convert((2, 2, 5, 5), fmt="xyxy_inclusive")
    array([2., 2., 6., 6.])
    """
    source = read(boxes, fmt)
    exact.field_names(to)
    with np.errstate(all="ignore"):
        result = _narrowed(source.given).astype(np.float64)
        if fmt != to:
            sides = result[..., 2:]
            result = np.stack(exact.FROM_CORNERS[to](*source.lo, *source.hi), axis=-1)
            if "w" in exact.FORMATS[fmt] and "w" in exact.FORMATS[to]:
                result[..., 2:] = sides
    # What float64 does not carry is NaN here, and what overflowed on the way is infinite.
    for index in np.argwhere(~np.isfinite(result).all(axis=-1)):
        row = tuple(map(int, index))
        numbers = exact.FROM_CORNERS[to](*exact.corners(source.given[row].tolist(), fmt))
        result[row] = [nearest_float(number) for number in numbers]
        if np.isinf(result[row]).any():
            culprit = _describe("boxes", row, source.given)
            raise ValueError(f"{culprit}: beyond the range of float64")
    if to == "xyxy_inclusive":
        for index in np.argwhere((result[..., 2:] < result[..., :2]).any(axis=-1)):
            culprit = _describe("boxes", tuple(map(int, index)), source.given)
            raise ValueError(f"{culprit}: narrower than one pixel")
    return result


@dataclass(frozen=True)
class Measure:
    """A quantity of one or two boxes: how it is computed fast, and how it is defined.

    Attributes
    ----------
    kernel : callable
        Takes `Boxes` that broadcast against each other, ``room`` for what it needs on the way, and
        ``out``, the array for the result.
    definition : callable
        Takes as many single boxes and ``fmt``, returns the exact value.
    planes : int
        How many arrays of the shape of ``out`` the room holds; `_MORE_PLANES` are added where
        corners are rounded. Every tile uses them again, for fresh memory costs more than the
        arithmetic.
    with_angles : bool
        Whether the kernel needs the boxes' aspect angles.
    nil_apart : bool
        Whether it is 0 of boxes that share no area.
    """

    kernel: Callable[..., FloatArray]
    definition: Callable[..., Any]
    planes: int
    with_angles: bool = False
    nil_apart: bool = False


def evaluate(measure: Measure, *operands: Boxes) -> float | FloatArray:
    """Compute a measure over boxes whose shapes broadcast; one value is returned as a float."""
    shape = np.broadcast_shapes(*(boxes.shape for boxes in operands))
    out = np.empty(shape or 1)
    fill(out, measure, *(boxes[(None,) * (out.ndim - len(boxes.shape))] for boxes in operands))
    return out if shape else out.item()


def fill(out: FloatArray, measure: Measure, *operands: Boxes) -> None:
    """Compute a measure into `out`; the operands have as many axes, and broadcast."""
    planes = measure.planes + _MORE_PLANES
    with Armed():
        fill_tiles(out, aligned(min(_ROOM, planes * out.size)), measure, *operands)


class Armed(np.errstate):
    """A context in which NumPy raises where float64 fails.

    That costs nothing, for the processor keeps those flags anyway. NumPy is also faster in it where
    operands broadcast.
    """

    def __init__(self) -> None:
        super().__init__(all="raise")

    def __enter__(self) -> None:
        super().__enter__()
        # NumPy copies operands that broadcast into a buffer, which takes longer than the work
        # unless the buffer is smaller than a row. Leaving errstate restores its size.
        np.setbufsize(16)


def fill_tiles(out: FloatArray, memory: FloatArray, measure: Measure, *operands: Boxes) -> None:
    """Compute a measure into `out`, tile by tile, when NumPy is armed.

    `memory` is a place for what is needed on the way: `_ROOM` numbers, or fewer for a small `out`.
    """
    if out.size == 0:
        return
    planes = measure.planes + _MORE_PLANES * any(boxes.rounded for boxes in operands)
    tile = min(out.size, len(memory) // max(1, planes))
    room = memory[: planes * tile].reshape(planes, tile)
    rows = max(1, tile // max(1, out[:1].size))
    for start in range(0, len(out), rows):
        part = slice(start, start + rows)
        _fill(out[part], room, measure, *(boxes.part(0, part) for boxes in operands))


def _fill(out: FloatArray, room: FloatArray, measure: Measure, *operands: Boxes) -> None:
    """Halve what does not fit the cache; where float64 fails, halve until a single value is left.

    That one is computed by its definition, so that no value depends on its neighbours.
    """
    planes, tile = room.shape
    if out.size <= tile and all(boxes.carried for boxes in operands):
        try:
            here = room.reshape(-1)[: planes * out.size].reshape(planes, *out.shape)
            measure.kernel(*operands, here, out)
            return
        except FloatingPointError:
            pass
    if out.size == 1:
        rows = (boxes.given.reshape(4).tolist() for boxes in operands)
        out[...] = nearest_float(measure.definition(*rows, fmt=operands[0].fmt))
        return
    axis = int(np.argmax(out.shape))
    middle = out.shape[axis] // 2
    for part in (slice(None, middle), slice(middle, None)):
        there = (slice(None),) * axis + (part,)
        _fill(out[there], room, measure, *(boxes.part(axis, part) for boxes in operands))


def aligned(count: int, dtype: Any = np.float64) -> NDArray[Any]:
    """Make room for numbers, beginning where a line of the cache does if there are many."""
    if count < _MANY:
        return np.empty(count, dtype)
    room = np.empty(count + _LINE, dtype)
    start = -room.ctypes.data % _LINE // room.itemsize
    return room[start : start + count]


def nearest_float(number: Fraction | float) -> float:
    """Round to float64; what lies beyond its range becomes infinite."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _area(boxes: Boxes, _: FloatArray, out: FloatArray) -> FloatArray:
    out[...] = boxes.area
    return out


_AREA = Measure(_area, exact.area, planes=0)


def _as_numbers(boxes: ArrayLike, name: str) -> NDArray[Any]:
    if not hasattr(boxes, "__array__"):
        return _from_sequence(boxes, name)
    array = np.asanyarray(boxes)
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name}: masked arrays are not supported; fill or drop the masked rows")
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name}: boxes are arrays of integers or floats, not of {array.dtype}")
    return np.asarray(array)


def _from_sequence(boxes: Any, name: str) -> NDArray[Any]:
    """Read a list: NumPy would take a bool in it for a number, and round large integers."""
    objects = np.asarray(boxes, dtype=object)
    for kind in set(map(type, objects.flat)):
        if kind in (list, tuple, np.ndarray):
            raise ValueError(f"{name}: the rows differ in length")
        if issubclass(kind, bool) or not issubclass(kind, _NUMBERS):
            culprits = np.argwhere([type(number) is kind for number in objects.flat])
            index = np.unravel_index(int(culprits[0, 0]), objects.shape)[:-1]
            where = _describe(name, tuple(map(int, index)), objects) if objects.ndim else name
            raise TypeError(f"{where}: boxes are numbers, not {kind.__name__}")
    if isinstance(boxes, Sequence) and any(isinstance(row, np.ma.MaskedArray) for row in boxes):
        raise TypeError(f"{name}: masked arrays are not supported; fill or drop the masked rows")
    array = np.asarray(boxes)
    if array.dtype == object or (array.dtype == np.float64 and _skips_integers(array)):
        return np.asarray(_PLAIN(objects))
    return array


def _skips_integers(array: FloatArray) -> bool:
    """Tell whether NumPy may have rounded large integers to these floats."""
    return bool((np.abs(array) >= _FIRST_SKIPPED).any())


def _reject_bad_rows(given: NDArray[Any], numbers: FloatArray, fmt: str, name: str) -> None:
    """Raise for the first bad row. The array test finds it; `exact` has the words for it."""
    has_sides = "w" in exact.FORMATS[fmt]
    starts, ends = 0 if has_sides else numbers[:2], numbers[2:]
    # Rounding keeps the order, so numbers that are in order as float64 were in order before.
    if (ends > starts).all() and np.isfinite(numbers).all():
        return
    if not has_sides and given.dtype == object:
        suspect = ends <= starts
    elif has_sides or given.dtype.itemsize < 8:
        suspect = ends < starts
    else:
        suspect = _last_axis_first(given[..., 2:] < given[..., :2])
    for index in np.argwhere(suspect.any(axis=0) | ~np.isfinite(numbers).all(axis=0)):
        row = tuple(map(int, index))
        try:
            exact.corners(given[row].tolist(), fmt)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{_describe(name, row, given)}: {error}") from None


def _describe(name: str, row: tuple[int, ...], given: NDArray[Any]) -> str:
    place = f"[{', '.join(map(str, row))}]" if row else ""
    return f"{name}{place} = ({', '.join(map(str, given[row].tolist()))})"


def _last_axis_first(given: NDArray[Any]) -> NDArray[Any]:
    return given.transpose(-1, *range(given.ndim - 1))


def _measured(given: NDArray[Any], columns: FloatArray, fmt: str, with_angles: bool) -> Boxes:
    """Measure valid boxes, whose numbers are in the columns, and find out what is not carried."""
    has_anchor = "w" in exact.FORMATS[fmt]
    numbers = columns[:4] if fmt == "xyxy" else columns[:4].copy()
    if fmt != "xyxy":
        columns[:4] = exact.TO_CORNERS[fmt](*numbers)
    if has_anchor:
        sides = numbers[2:]
        columns[6:8] = numbers[:2]
        columns[8:10] = 0 if fmt == "xywh" else sides / 2
        columns[10:12] = sides - columns[8:10]
    else:
        sides = columns[2:4] - columns[:2]
    area = np.multiply(sides[0], sides[1], out=columns[4, ...])
    angle = area
    if with_angles:
        angle = np.arctan2(sides[0], sides[1], out=columns[5, ...])
        angle /= np.pi / 2
    solid = bool((area >= SMALLEST_NORMAL).all())
    all_carried = (
        (fmt, solid, _is_narrow(given.dtype)) == ("xyxy", True, True)
        and bool((area < np.inf).all())
        and bool((angle >= SMALLEST_NORMAL).all())
    )
    if not all_carried:
        carried = ~_changed(_last_axis_first(given), numbers)
        carried &= np.isfinite(columns[:4]).all(axis=0)
        carried &= _is_normal(area, np.all(sides > 0, axis=0))
        carried &= _is_normal(angle, sides[0] > 0) | (not with_angles)
        if has_anchor:
            carried &= (columns[8:10] + columns[10:12] == sides).all(axis=0)
        if fmt == "xyxy_inclusive":
            last, end = numbers[2:], columns[2:4]
            carried &= ((end - 1 == last) & (end - last == 1)).all(axis=0)
        all_carried = bool(carried.all())
        columns[:, ~carried] = np.nan
    rounded = has_anchor and not _are_halves(numbers)
    return Boxes(columns, given, fmt, all_carried, solid, rounded)


def _are_halves(numbers: FloatArray) -> bool:
    """Tell whether all are whole or half numbers, small enough for every sum to be exact."""
    return bool(((np.abs(numbers) < 2.0**50) & (np.rint(2 * numbers) == 2 * numbers)).all())


def _is_normal(numbers: FloatArray, positive: Mask | np.bool_) -> Mask:
    """Tell which numbers have neither overflowed nor, where they are positive, lost digits."""
    return np.asarray((numbers < np.inf) & ~(positive & (numbers < SMALLEST_NORMAL)))


def _narrowed(numbers: NDArray[Any]) -> NDArray[Any]:
    """Round Python's integers to float64; what lies beyond its range becomes infinite."""
    if numbers.dtype == object:
        return np.asarray(np.frompyfunc(nearest_float, 1, 1)(numbers), dtype=np.float64)
    return numbers


def _is_narrow(dtype: np.dtype[Any]) -> bool:
    """Tell whether float64 holds all numbers of a type."""
    return dtype.itemsize < 8 or (dtype.kind, dtype.itemsize) == ("f", 8)


def _changed(columns: NDArray[Any], wide: FloatArray) -> Mask:
    """Tell which boxes have a number that became another one as a float64."""
    if _is_narrow(columns.dtype):
        return np.zeros(wide.shape[1:], dtype=bool)
    large = ~(np.abs(wide) < _FIRST_SKIPPED) | (columns.dtype.kind == "f")
    rounded = np.zeros(wide.shape, dtype=bool)
    rounded[large] = columns[large].astype(object) != wide[large].astype(object)
    return np.asarray(rounded.any(axis=0))
