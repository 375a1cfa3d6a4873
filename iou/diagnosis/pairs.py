"""The pairs of boxes on which a function is tried."""

import itertools
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .. import exact

Box = tuple[float, float, float, float]
Pair = tuple[Box, Box]


# Continuous corners, simplest first. They are converted to the format of the function.

TELLING: tuple[Pair, ...] = (
    ((0, 0, 4, 4), (0, 0, 4, 4)),
    ((0, 0, 4, 2), (2, 0, 6, 2)),
    ((0, 0, 4, 4), (2, 2, 6, 6)),
    ((0, 0, 2, 2), (0, 0, 4, 4)),
    ((0, 0, 4, 4), (0, 0, 2, 2)),
    ((0, 0, 2, 2), (3, 0, 5, 2)),
    ((0, 0, 2, 2), (0, 3, 2, 5)),
    ((0, 0, 2, 2), (4, 4, 6, 6)),
    ((4, 4, 6, 6), (0, 0, 2, 2)),
    ((0, 0, 2, 2), (2, 0, 4, 2)),
    ((0, 0, 2, 2), (2, 2, 4, 4)),
    ((0, 0, 4, 2), (0, 0, 2, 4)),
    ((0, 0, 4, 3), (0, 0, 4, 4)),
    ((1, 1, 5, 5), (3, 2, 7, 6)),
    ((3, 2, 7, 6), (1, 1, 5, 5)),
    ((0, 0, 8, 5), (1, 1, 3, 4)),
    ((1, 1, 3, 4), (0, 0, 8, 5)),
    ((0, 2, 7, 4), (3, 0, 5, 9)),
    ((10, 20, 14, 22), (12, 21, 15, 25)),
    ((-4, -3, 0, 1), (-2, -1, 2, 4)),
    ((0.5, 0.25, 3.5, 2.75), (1.25, 0.75, 4.25, 4.5)),
    ((0.25, 0.25, 0.75, 0.5), (0.5, 0.25, 0.875, 0.625)),
    ((120, 110, 220, 210), (100, 100, 200, 200)),
    ((0, 0, 300, 300), (100, 0, 400, 300)),
    ((0, 0, 60000, 60000), (20000, 0, 80000, 60000)),
    ((0, 0, 1e-3, 1e-3), (5e-4, 0, 1.5e-3, 1e-3)),
    ((0, 0, 1e-4, 1e-4), (5e-5, 0, 1.5e-4, 1e-4)),
    ((0, 0, 4, 4), (2, 2, 2, 2)),
    ((0, 0, 4, 4), (1, 1, 3, 1)),
    ((3, 3, 3, 3), (3, 3, 3, 3)),
    ((0, 0, 0, 4), (2, 0, 2, 4)),
)
# Whatever is wrong with a function, for one of these and the first two it returns a number.
PROBES: tuple[Pair, ...] = (
    ((0, 0, 4, 4), (2, 2, 6, 6)),
    ((1, 3, 7, 20), (2, 4, 9, 22)),
    ((0, 0, 60, 70), (10, 10, 90, 90)),
)
# One interval, and others in each of the 13 relations that two intervals can have.
_ACROSS = (
    (3, 7),
    (
        *((8, 10), (7, 9), (5, 9), (3, 9), (2, 8), (1, 7), (3, 7)),
        *((0, 2), (1, 3), (1, 5), (3, 5), (4, 6), (5, 7)),
    ),
)
_DOWN = (
    (2, 7),
    (
        *((9, 12), (7, 9), (4, 9), (2, 8), (1, 8), (0, 7), (2, 7)),
        *((0, 1), (0, 2), (1, 5), (2, 4), (3, 6), (5, 7)),
    ),
)
RELATIONS: tuple[Pair, ...] = tuple(
    ((_ACROSS[0][0], _DOWN[0][0], _ACROSS[0][1], _DOWN[0][1]), (left, top, right, bottom))
    for (left, right), (top, bottom) in itertools.product(_ACROSS[1], _DOWN[1])
)
# The empty union whose value is told as a policy.
POINTS: Pair = ((3, 3, 3, 3), (3, 3, 3, 3))
# Small boxes that put an epsilon to the test, when others have suggested it.
SMALL: tuple[Pair, ...] = (
    ((0, 0, 1e-2, 2e-2), (0, 1e-2, 1e-2, 3e-2)),
    ((0, 0, 3e-4, 2e-4), (1e-4, 0, 4e-4, 2e-4)),
    ((0, 0, 2e-5, 3e-5), (1e-5, 1e-5, 3e-5, 4e-5)),
)
# Boxes that float16 moves: where the first are it has even numbers alone, and eighths where the
# second are.
MOVED_IN_HALF: tuple[Pair, ...] = (
    ((2063, 2059, 2083, 2078), (2069, 2060, 2086, 2082)),
    ((128.9375, 128.6875, 130.1875, 129.875), (129.3125, 128.75, 130.375, 130.125)),
)
# Smaller than any box in use: what shows here alone is worth a word, and no mistake.
MINUTE: Pair = ((0, 0, 1e-8, 1e-8), (5e-9, 0, 1.5e-8, 1e-8))


def in_format(pair: Pair, fmt: str) -> Pair | None:
    """Write a pair of corners in a format; None where the format has no such box."""
    boxes = []
    for box in pair:
        # The decimal is meant that stands in the table, not the float beside it.
        numbers = exact.FROM_CORNERS[fmt](*(Fraction(str(number)) for number in box))
        boxes.append(tuple(_plain(number) for number in numbers))
        if not is_box(boxes[-1], fmt):
            return None
    return boxes[0], boxes[1]


def is_box(box: Iterable[float], fmt: str) -> bool:
    """Tell whether four numbers are a box of a format."""
    try:
        exact.corners(box, fmt)
    except ValueError:
        return False
    return True


def _plain(number: Fraction) -> Any:
    """Turn a fraction into an int if it is one, else into a float."""
    return number.numerator if number.denominator == 1 else float(number)


def in_formats(pairs: Iterable[Pair], fmt: str) -> list[Pair]:
    """Write pairs of corners in a format, those that it has."""
    return [pair for pair in (in_format(given, fmt) for given in pairs) if pair is not None]


@lru_cache(1024)
def union(pair: Pair, fmt: str) -> Fraction:
    """Return what both boxes cover together."""
    return exact.union(*pair, fmt=fmt)


@lru_cache(1024)
def without_area(pair: Pair, fmt: str) -> bool:
    """Tell whether one of the boxes has no area."""
    return any(exact.area(box, fmt=fmt) == 0 for box in pair)
