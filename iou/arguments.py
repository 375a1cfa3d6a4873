"""Checks of arguments other than boxes: each rule once, in the same words wherever it applies."""

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .boxes import Mask, nearest_float


def one_of(name: Any, known: Iterable[str], what: str) -> None:
    """Refuse a name that is not among those known.

    >>> one_of("area", ["iou", "giou"], "measure")
    Traceback (most recent call last):
        ...
    ValueError: unknown measure 'area'; known are 'iou', 'giou'
    """
    names = list(known)
    if not isinstance(name, str) or name not in names:
        raise ValueError(f"unknown {what} {name!r}; known are {', '.join(map(repr, names))}")


def real(number: Any, name: str) -> float:
    """Return a real number as float64; what lies beyond its range becomes infinite.

    >>> real(True, "sigma")
    Traceback (most recent call last):
        ...
    TypeError: sigma must be a real number, it is a bool
    """
    if isinstance(number, bool | np.bool_) or not isinstance(number, Real):
        raise TypeError(f"{name} must be a real number, it is a {type(number).__name__}")
    return nearest_float(number)  # type: ignore[arg-type]


def positive_integer(number: Any, name: str) -> int:
    """Return an integer of at least 1.

    >>> positive_integer(0, "workers")
    Traceback (most recent call last):
        ...
    ValueError: workers must be at least 1, it is 0
    """
    if isinstance(number, bool) or not isinstance(number, Integral):
        raise TypeError(f"{name} must be an integer, it is a {type(number).__name__}")
    if number < 1:
        raise ValueError(f"{name} must be at least 1, it is {number}")
    return int(number)


# Columns: one value for each box.


def column(values: Any, rows: int, name: str) -> NDArray[Any]:
    """Return what has one value for each of so many rows as an array."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name}: masked arrays are not supported; fill or drop the masked rows")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must have the shape ({rows},), its rows differ") from None
    if array.shape != (rows,):
        raise ValueError(f"{name} must have the shape ({rows},), not {array.shape}")
    if array.dtype.kind in "iuf" and isinstance(values, Sequence):
        # NumPy would take a bool among numbers for one of them.
        for row, value in enumerate(values):
            if isinstance(value, bool | np.bool_):
                raise TypeError(f"{name}[{row}] must be a number like the others, it is a bool")
    return array if rows else np.zeros(0, dtype=np.int64)


def expect_kind(values: NDArray[Any], kinds: str, wanted: str, name: str) -> None:
    """Refuse a column of another kind of numbers."""
    if values.dtype.kind not in kinds:
        raise TypeError(f"{name} must be {wanted}, not of {values.dtype}")


def reject(bad: Mask, values: NDArray[Any], name: str, reason: str) -> None:
    """Raise for the first bad row."""
    for row in np.flatnonzero(bad)[:1]:
        raise ValueError(f"{name}[{row}] = {values[row]}: {reason}")


def finite(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return a column of finite numbers, in their own type."""
    expect_kind(values, "iuf", "integers or floats", name)
    if values.dtype.kind == "f":
        reject(~np.isfinite(values), values, name, "not a finite number")
    return values
