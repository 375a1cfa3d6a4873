"""Values of one kind, as they stand in JSON or in a text: which are good, and what is wrong.

A kind reads a whole column at once if all is well, and value by value if not, so that what is wrong
can be said of each.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]


@dataclass(frozen=True)
class Kind:
    """What values of one kind are.

    Attributes
    ----------
    dtype : type
        Of the column.
    one : callable
        Reads a value, or raises a ValueError that says what it is instead.
    all : callable, optional
        Reads many good values faster; raises ValueError, TypeError or OverflowError if it cannot
        tell that all are good.
    width : tuple of int
        The shape of one value.
    """

    dtype: type
    one: Callable[[Any], Any]
    all: Callable[[Sequence[Any]], Column] | None = None
    width: tuple[int, ...] = ()


def listed(numbers: Iterable[float]) -> str:
    """Join numbers by commas."""
    return ", ".join(f"{number:.15g}" for number in numbers)


def shown(value: Any) -> str:
    """Show a value shortly, as JSON has it."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    try:
        text = repr(value)
    except ValueError:
        return "an integer of thousands of digits"
    return text if len(text) <= 40 else f"{text[:36]} ..."


def _finite(number: Any) -> float:
    try:
        value = float(number)
    except OverflowError:
        raise ValueError("is beyond the range of float64") from None
    if not isfinite(value):
        raise ValueError("is NaN" if value != value else f"is {value}, not finite")
    return value


def _int64(number: int) -> int:
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"is {shown(number)}, beyond 64 bits")
    return number


# Values of JSON, and of Python.


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"is {shown(value)}, not a number")
    return _finite(value)


def _numbers(values: Sequence[Any]) -> Column:
    _expect(values, {int, float})
    return _all_finite(np.fromiter(values, np.float64, len(values)))


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"is {shown(value)}, not a whole number")
    return _int64(int(value))


def _wholes(values: Sequence[Any]) -> Column:
    _expect(values, {int})
    return np.fromiter(values, np.int64, len(values))


def _flag(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_ | Integral) or value not in (0, 1):
        raise ValueError(f"is {shown(value)}, neither 0 nor 1")
    return bool(value)


def _flags(values: Sequence[Any]) -> Column:
    _expect(values, {bool, int})
    if set(values) - {0, 1}:
        raise ValueError
    return np.fromiter(values, np.bool_, len(values))


def _list_of(count: int) -> Kind:
    """Read lists of so many numbers."""

    def one(value: Any) -> list[float]:
        value = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(value, list | tuple):
            raise ValueError(f"is {shown(value)}, not a list of {count} numbers")
        if len(value) != count:
            raise ValueError(f"has {len(value)} numbers, not {count}")
        numbers = []
        for place, number in enumerate(value):
            try:
                numbers.append(_number(number))
            except ValueError as error:
                raise ValueError(f"has a bad number: [{place}] {error}") from None
        return numbers

    def all_(values: Sequence[Any]) -> Column:
        _expect(values, {list, tuple})
        _expect(chain.from_iterable(values), {int, float})
        if set(map(len, values)) - {count}:
            raise ValueError
        flat = np.fromiter(chain.from_iterable(values), np.float64, count * len(values))
        return _all_finite(flat).reshape(-1, count)

    return Kind(np.float64, one, all_, (count,))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"is {shown(value)}, not a text")
    return value


def _expect(values: Iterable[Any], types: set[type]) -> None:
    if set(map(type, values)) - types:
        raise TypeError


def _all_finite(column: Column) -> Column:
    if not np.isfinite(column).all():
        raise ValueError
    return column


NUMBER = Kind(np.float64, _number, _numbers)
WHOLE = Kind(np.int64, _whole, _wholes)
FLAG = Kind(np.bool_, _flag, _flags)
BOX = _list_of(4)
SIZE = _list_of(2)
TEXT = Kind(np.object_, _text)


# Values of text.


def _number_in(text: str | None) -> float:
    if text is None:
        raise ValueError("is missing")
    try:
        # To Python, 1_5 is 15.
        number = float(text.replace("_", "?"))
    except ValueError:
        raise ValueError(f"is {shown(text)}, not a number") from None
    return _finite(number)


def _numbers_in(texts: Sequence[str]) -> Column:
    if "_" in "".join(texts):
        raise ValueError
    return _all_finite(np.fromiter(map(float, texts), np.float64, len(texts)))


def _whole_in(text: str | None) -> int:
    if text is None:
        raise ValueError("is missing")
    if not re.fullmatch("[0-9]{1,18}", text):
        raise ValueError(f"is {shown(text)}, not a whole number")
    return int(text)


def whole_below(count: int, beyond: str) -> Kind:
    """Read whole numbers below a bound; `beyond` says what is wrong with others."""

    def one(text: str | None) -> int:
        number = _whole_in(text)
        if number >= count:
            raise ValueError(f"is {number}, {beyond}")
        return number

    return Kind(np.int64, one)


WHOLE_IN = Kind(np.int64, _whole_in)
NUMBER_IN = Kind(np.float64, _number_in, _numbers_in)
FLAG_IN = whole_below(2, "neither 0 nor 1")


def place_in(
    names: Sequence[str], unknown: str = "which is unknown", meant: Callable[[str], str] = str
) -> Kind:
    """Read names as their places in a list.

    `unknown` says what is wrong with others, and `meant` gives the name that may have been meant.
    """
    places = {name: place for place, name in enumerate(names)}

    def place(name: str | None) -> int:
        if name is None:
            raise ValueError("is missing")
        if name not in places:
            hint = f"; is it {shown(meant(name))}?" if meant(name) in places else ""
            raise ValueError(f"is {shown(name)}, {unknown}{hint}")
        return places[name]

    return Kind(np.int64, place)
