"""What a box is: reading, validating, converting and measuring one array of boxes.

Boxes come in as anything NumPy can read, with a last axis of four, in one of the four formats of
:mod:`iou.exact`. :func:`read` turns them into :class:`Boxes`, the form in which every other room
of the package takes them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import exact

FloatArray = NDArray[np.float64]

_NUMBERS = {int, float}
# Python's numbers in the place of NumPy's scalars.
_PLAIN = np.frompyfunc(lambda number: getattr(number, "item", lambda: number)(), 1, 1)
# From 2⁵³ on, a float64 skips integers.
_FIRST_SKIPPED = 2.0**53
# How far rounding x + w may move a side, relative to it, before the box is left to `exact`.
_SIDE_TOLERANCE = 2.0**-26
# Results computed at a time: what the kernel's temporaries need then fits the processor's cache.
_TILE = 2**15


@dataclass(frozen=True, eq=False)
class Boxes:
    """Validated boxes: their corners for the fast path, what was given for the exact one.

    Attributes
    ----------
    corners : ndarray of float64, shape (4, ...)
        ``x_min, y_min, x_max, y_max`` as contiguous rows; NaN in a box that float64 cannot carry.
    given : ndarray, shape (..., 4)
        The numbers as they came in.
    fmt : str
        What they mean.
    """

    corners: FloatArray
    given: NDArray[Any]
    fmt: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the collection, without the axis of four."""
        return self.given.shape[:-1]

    @property
    def lo(self) -> FloatArray:
        """``x_min, y_min``, shape (2, ...)."""
        return self.corners[:2]

    @property
    def hi(self) -> FloatArray:
        """``x_max, y_max``, shape (2, ...)."""
        return self.corners[2:]

    @property
    def carried(self) -> bool:
        """Whether float64 carries every one of the boxes."""
        return not np.isnan(self.corners[0]).any()

    def __getitem__(self, index: tuple[slice | None, ...]) -> "Boxes":
        return Boxes(self.corners[:, *index], self.given[index], self.fmt)

    def part(self, axis: int, part: slice) -> "Boxes":
        """Cut along an axis; one of length 1 broadcasts and stays."""
        return self if self.shape[axis] == 1 else self[(slice(None),) * axis + (part,)]


def read(boxes: ArrayLike, fmt: str = "xyxy", name: str = "boxes") -> Boxes:
    """Validate boxes and bring them into corner form.

    Parameters
    ----------
    boxes : array_like, shape (..., 4)
        ``[]`` is no boxes, shape (0, 4).
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}
        What the four numbers mean.
    name : str
        What error messages call the argument.

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
    >>> read([[0, 0, 2, 1], [4, 4, 1, 1]], "xywh").corners
    array([[0., 4.],
           [0., 4.],
           [2., 5.],
           [1., 5.]])
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
    _reject_bad_rows(given, fmt, name)
    return Boxes(_corners(given, fmt), given, fmt)


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
    return evaluate(AREA, read(boxes, fmt))


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
        As :func:`iou.iou` does; ValueError also if a result lies beyond the range of float64.

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
    result = _float64(source.given)
    if fmt != to:
        sides = result[..., 2:]
        with np.errstate(all="ignore"):
            result = np.stack(exact.FROM_CORNERS[to](*source.corners), axis=-1)
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
    return result


@dataclass(frozen=True)
class Measure:
    """A quantity of one or two boxes: how it is computed fast, and how it is defined.

    Attributes
    ----------
    kernel : callable
        Takes `Boxes` that broadcast against each other, returns an array.
    definition : callable
        Takes as many single boxes and ``fmt``, returns the exact value.
    """

    kernel: Callable[..., FloatArray]
    definition: Callable[..., Any]


def evaluate(measure: Measure, *operands: Boxes) -> float | FloatArray:
    """Compute a measure over boxes whose shapes broadcast; one value is returned as a float."""
    out = np.empty(np.broadcast_shapes(*(boxes.shape for boxes in operands)))
    fill(out, measure, *(boxes[(None,) * (out.ndim - len(boxes.shape))] for boxes in operands))
    return out if out.ndim else out.item()


def fill(out: FloatArray, measure: Measure, *operands: Boxes) -> None:
    """Compute a measure into `out`, halving it along its first axis until a part fits the cache.

    The operands have as many axes as `out`; those of length 1 broadcast.

    The kernel runs with the floating-point exceptions armed, which costs nothing, for the processor
    keeps those flags anyway. Where one is raised, or float64 cannot carry a box, the part is halved
    further, and the single values that are left in the end are computed by their definition.
    """
    if out.size == 0:
        return
    if out.size <= _TILE and all(boxes.carried for boxes in operands):
        try:
            with np.errstate(over="raise", under="raise", invalid="raise", divide="raise"):
                out[...] = measure.kernel(*operands)
            return
        except FloatingPointError:
            pass
    if out.size == 1:
        rows = (boxes.given.reshape(4).tolist() for boxes in operands)
        out[...] = nearest_float(measure.definition(*rows, fmt=operands[0].fmt))
        return
    axis = next(axis for axis, length in enumerate(out.shape) if length > 1)
    middle = out.shape[axis] // 2
    for part in (slice(None, middle), slice(middle, None)):
        there = (slice(None),) * axis + (part,)
        fill(out[there], measure, *(boxes.part(axis, part) for boxes in operands))


def nearest_float(number: Fraction | float) -> float:
    """Round to float64; what lies beyond its range becomes infinite."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _area(boxes: Boxes) -> FloatArray:
    width, height = boxes.hi - boxes.lo
    return np.asarray(width * height)


AREA = Measure(_area, exact.area)


def _as_numbers(boxes: ArrayLike, name: str) -> NDArray[Any]:
    if isinstance(boxes, np.ma.MaskedArray):
        raise TypeError(f"{name}: masked arrays are not supported; fill or drop the masked rows")
    try:
        array = np.asarray(boxes)
    except ValueError:
        raise ValueError(f"{name}: the rows differ in length") from None
    if isinstance(boxes, list | tuple) and _lost_digits(array):
        numbers = np.asarray(_PLAIN(np.asarray(boxes, dtype=object)))
        if all(type(number) in _NUMBERS for number in numbers.flat):
            return numbers
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name}: boxes are arrays of integers or floats, not of {array.dtype}")
    return array


def _lost_digits(array: NDArray[Any]) -> bool:
    """Tell whether NumPy may have rounded, or given up on, large integers in a list."""
    if array.dtype == np.float64:
        return bool((np.abs(array) >= _FIRST_SKIPPED).any())
    return array.dtype == object


def _reject_bad_rows(given: NDArray[Any], fmt: str, name: str) -> None:
    """Raise for the first bad row. The array test finds it; `exact` has the words for it."""
    first, second, third, fourth = np.moveaxis(given, -1, 0)
    if given.dtype == object:
        suspect = np.ones(given.shape[:-1], dtype=bool)
    elif "w" in exact.FORMATS[fmt]:
        suspect = ~((third >= 0) & (fourth >= 0))
    else:
        suspect = ~((third >= first) & (fourth >= second))
    if given.dtype.kind == "f":
        suspect |= ~np.isfinite(given).all(axis=-1)
    if suspect.any():
        for index in np.argwhere(suspect):
            row = tuple(map(int, index))
            try:
                exact.corners(given[row].tolist(), fmt)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{_describe(name, row, given)}: {error}") from None


def _describe(name: str, row: tuple[int, ...], given: NDArray[Any]) -> str:
    place = f"[{', '.join(map(str, row))}]" if row else ""
    return f"{name}{place} = ({', '.join(map(str, given[row].tolist()))})"


def _corners(given: NDArray[Any], fmt: str) -> FloatArray:
    columns = np.moveaxis(given, -1, 0)
    wide = _float64(columns)
    uncarried = _rounded(columns, wide)
    with np.errstate(all="ignore"):
        corners = np.stack(exact.TO_CORNERS[fmt](*wide))
        if fmt != "xyxy":
            sides = wide[2:] if "w" in exact.FORMATS[fmt] else wide[2:] - wide[:2] + 1
            error = np.abs(corners[2:] - corners[:2] - sides)
            uncarried |= ~(error <= _SIDE_TOLERANCE * sides).all(axis=0)
    corners[:, uncarried] = np.nan
    return corners


def _float64(numbers: NDArray[Any]) -> FloatArray:
    """Round to float64, in a new array; what lies beyond its range becomes infinite."""
    if numbers.dtype == object:
        numbers = np.frompyfunc(nearest_float, 1, 1)(numbers)
    with np.errstate(all="ignore"):
        return np.array(numbers, dtype=np.float64, order="C")


def _rounded(columns: NDArray[Any], wide: FloatArray) -> NDArray[np.bool_]:
    """Tell which boxes have a number that became another one as a float64."""
    if columns.dtype.itemsize < 8 or (columns.dtype.kind, columns.dtype.itemsize) == ("f", 8):
        return np.zeros(wide.shape[1:], dtype=bool)
    large = ~(np.abs(wide) < _FIRST_SKIPPED) | (columns.dtype.kind == "f")
    rounded = np.zeros(wide.shape, dtype=bool)
    rounded[large] = columns[large].astype(object) != wide[large].astype(object)
    return np.asarray(rounded.any(axis=0))
