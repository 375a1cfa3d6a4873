"""What is wrong with an IoU function: name the mistake from the answers that it gives.

The function is called on a few telling pairs of boxes, and on every way in which two boxes can lie
to each other. Where answers are wrong, known mistakes are tried in their place. A :class:`Recipe`
says step by step how a function computes, a :class:`Mistake` changes one step, and the mistake
that gives the very answers that came is the one that was made. Two mistakes at once are found the
same way. One that is not known is shown by a pair as simple as can be found.

Only the standard library and :mod:`iou.exact` are needed; arrays are tried where NumPy is there.
"""

import argparse
import ctypes
import faulthandler
import importlib
import itertools
import math
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from html import escape
from numbers import Complex, Real
from typing import Any, NamedTuple

from . import exact
from .exact import Corners

Box = tuple[float, float, float, float]
Pair = tuple[Box, Box]
# What a function may answer: a number, or None for NaN, infinity and ZeroDivisionError.
Value = Fraction | float | None

MEASURES: dict[str, Callable[..., Fraction | float]] = {
    "iou": exact.iou,
    "giou": exact.giou,
    "diou": exact.diou,
    "ciou": exact.ciou,
}
TITLES = {"iou": "IoU", "giou": "GIoU", "diou": "DIoU", "ciou": "CIoU"}

# An answer may be off by this much, relative to 1 or to itself. Arithmetic in float32 needs it, and
# every mistake does more than that somewhere.
TOLERANCE = 2e-6


# The pairs: continuous corners, simplest first. They are converted to the function's format.

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
# Smaller than any box in use: what shows here alone is worth a word, and no mistake.
MINUTE: Pair = ((0, 0, 1e-8, 1e-8), (5e-9, 0, 1.5e-8, 1e-8))
# Arrays of integers whose sides, areas or halves their type does not hold.
NARROW: tuple[tuple[str, str, Pair], ...] = (
    ("unsigned numbers wrap", "uint8", ((0, 0, 2, 2), (4, 4, 6, 6))),
    ("unsigned numbers wrap", "uint8", ((0, 0, 2, 2), (0, 4, 2, 6))),
    ("integers overflow", "uint8", ((0, 0, 30, 30), (10, 0, 40, 30))),
    ("integers overflow", "int16", ((0, 0, 300, 300), (100, 0, 400, 300))),
    ("integers overflow", "int32", ((0, 0, 60000, 60000), (20000, 0, 80000, 60000))),
    ("halves cut to integers", "int64", ((2.5, 2.5, 5.5, 7.5), (3.5, 2.5, 6.5, 7.5))),
)


def _in_format(pair: Pair, fmt: str) -> Pair | None:
    """Write a pair of corners in a format; None where the format has no such box."""
    boxes = []
    for box in pair:
        # The decimal is meant that stands in the table, not the float beside it.
        numbers = exact.FROM_CORNERS[fmt](*(Fraction(str(number)) for number in box))
        boxes.append(tuple(_plain(number) for number in numbers))
        if not _is_box(boxes[-1], fmt):
            return None
    return boxes[0], boxes[1]


def _is_box(box: Iterable[float], fmt: str) -> bool:
    try:
        exact.corners(box, fmt)
    except ValueError:
        return False
    return True


def _plain(number: Fraction) -> Any:
    """Turn a fraction into an int if it is one, else into a float."""
    return number.numerator if number.denominator == 1 else float(number)


def _in_formats(pairs: Iterable[Pair], fmt: str) -> list[Pair]:
    return [pair for pair in (_in_format(given, fmt) for given in pairs) if pair is not None]


@lru_cache(1024)
def _union(pair: Pair, fmt: str) -> Fraction:
    return exact.union(*pair, fmt=fmt)


@lru_cache(1024)
def _without_area(pair: Pair, fmt: str) -> bool:
    return any(exact.area(box, fmt=fmt) == 0 for box in pair)


# How a function computes.


class Plus(NamedTuple):
    """What is added to each side: of the intersection, of the two boxes, of the enclosing box."""

    shared: int = 0
    a: int = 0
    b: int = 0
    hull: int = 0


_CONTINUOUS, _INCLUSIVE = Plus(), Plus(1, 1, 1, 1)


class Parts(NamedTuple):
    """What a measure is made of: two boxes, three areas, and the sides of two boxes more."""

    first: Corners
    second: Corners
    first_sides: tuple[Fraction, Fraction]
    second_sides: tuple[Fraction, Fraction]
    shared: Fraction
    a: Fraction
    b: Fraction
    overlap: tuple[Fraction, Fraction]
    enclosing: tuple[Fraction, Fraction]

    @property
    def union(self) -> Fraction:
        """Area of both."""
        return self.a + self.b - self.shared

    @property
    def hull(self) -> Fraction:
        """Area of the enclosing box."""
        return self.enclosing[0] * self.enclosing[1]

    @property
    def diagonal(self) -> Fraction:
        """The enclosing box's, squared."""
        return _squares(self.enclosing)

    @property
    def distance(self) -> Fraction:
        """From centre to centre, squared."""
        a, b = self.first, self.second
        return _squares((b[i] + b[i + 2] - a[i] - a[i + 2]) / 2 for i in (0, 1))

    @property
    def turn(self) -> float:
        """From aspect angle to aspect angle."""
        return math.atan2(*self.second_sides) - math.atan2(*self.first_sides)

    @property
    def v(self) -> float:
        """CIoU's measure of how the aspect ratios differ."""
        return FOUR_OVER_PI_SQUARED * self.turn**2


Reading = Callable[..., Corners]
# Part, whole, and what is added to their quotient.
Quotient = Callable[[Parts], tuple[Fraction, Fraction, Fraction]]
Penalty = Callable[[Parts, Any], Any]
ZERO, ONE = Fraction(0), Fraction(1)
# For floats too.
ratio: Callable[[Any, Any], Any] = exact.ratio
FOUR_OVER_PI_SQUARED = 4 / math.pi**2


def _sides(box: Corners) -> tuple[Fraction, Fraction]:
    return box[2] - box[0], box[3] - box[1]


def _squares(sides: Iterable[Fraction]) -> Fraction:
    first, second = sides
    return first * first + second * second


def _same(number: Any) -> Any:
    return number


def _alone(number: Any) -> tuple[Any]:
    return (number,)


def _clamp(side: Fraction) -> Fraction:
    return max(side, ZERO)


def _clamp_sides(width: Fraction, height: Fraction) -> Fraction:
    return _clamp(width) * _clamp(height)


def _over_union(parts: Parts) -> tuple[Fraction, Fraction, Fraction]:
    return parts.shared, parts.union, ZERO


def _wasted(parts: Parts, iou: Any) -> Any:
    return ratio(parts.hull - parts.union, parts.hull)


def _distance(parts: Parts, iou: Any) -> Any:
    return ratio(parts.distance, parts.diagonal)


def _alpha(v: float, iou: Any) -> Any:
    return ratio(v, 1 - iou + v)


def _weighted(v: float, iou: Any) -> Any:
    return _alpha(v, iou) * v


def _shape(parts: Parts, iou: Any) -> Any:
    return _weighted(parts.v, iou)


PENALTIES: dict[str, dict[str, Penalty | None]] = {
    "iou": {"enclosure": None, "distance": None, "shape": None},
    "giou": {"enclosure": _wasted, "distance": None, "shape": None},
    "diou": {"enclosure": None, "distance": _distance, "shape": None},
    "ciou": {"enclosure": None, "distance": _distance, "shape": _shape},
}


class Disorder(Enum):
    """What becomes of a box that ends before it starts, because it was misread."""

    KEPT = "its sides are negative"
    EMPTIED = "its sides are 0"
    MENDED = "its corners are put in order"


@dataclass(frozen=True)
class Recipe:
    """How a function computes, step by step; the defaults are the IoU of corners."""

    read_a: Reading = exact.TO_CORNERS["xyxy"]
    read_b: Reading = exact.TO_CORNERS["xyxy"]
    starts: tuple[Callable[..., Fraction], ...] = (max, max)
    ends: tuple[Callable[..., Fraction], ...] = (min, min)
    plus: Plus = _CONTINUOUS
    first_clamped: bool | None = None  # True: clamp, then add. False: apart if 0, then add.
    shared: Callable[[Fraction, Fraction], Fraction] = _clamp_sides
    wrap: Callable[[Fraction], Fraction] = _same
    quotient: Quotient = _over_union
    guard: Callable[[Fraction, Fraction], tuple[Fraction, Fraction]] | None = None
    enclosure: Penalty | None = None
    distance: Penalty | None = None
    shape: Penalty | None = None
    sign: int = -1
    when_apart: bool = True  # Whether there is a penalty then.
    complement: bool = False
    scale: int = 1
    finish: Callable[[Any], tuple[Value, ...]] = _alone
    disorder: Disorder = Disorder.KEPT

    def answers(self, a: Box, b: Box, number: Callable[[float], Any] = Fraction) -> list[Value]:
        """Tell every answer that a function of this recipe may give.

        There are several where the recipe leaves open what comes of a division by 0. They are
        exact; where `number` is float they are as good as floats are, and come sooner.
        """
        first, second = self._read(map(number, a), map(number, b))
        parts = self._parts(first, second)
        return [value for iou in self._quotients(parts) for value in self._finished(iou, parts)]

    def may_refuse(self, a: Box, b: Box) -> bool:
        """Tell whether the pair is one that a careful function may refuse."""
        return not all(
            0 <= box[0] < box[2] and 0 <= box[1] < box[3]
            for box in self._read(map(Fraction, a), map(Fraction, b))
        )

    def _read(self, a: Iterable[Any], b: Iterable[Any]) -> tuple[Corners, Corners]:
        first, second = self.read_a(*a), self.read_b(*b)
        if self.wrap is not _same:
            first, second = _each(self.wrap, first), _each(self.wrap, second)
        return first, second

    def _parts(self, a: Corners, b: Corners) -> Parts:
        wrap, plus = self.wrap, self.plus
        if self.disorder is Disorder.MENDED:
            a, b = _ordered(a), _ordered(b)
        side = _clamp if self.disorder is Disorder.EMPTIED else _same
        width = wrap(self.ends[0](a[2], b[2]) - self.starts[0](a[0], b[0]))
        height = wrap(self.ends[1](a[3], b[3]) - self.starts[1](a[1], b[1]))
        (a_width, a_height), (b_width, b_height) = _sides(a), _sides(b)
        hull = _sides((min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])))
        return Parts(
            first=a,
            second=b,
            first_sides=(a_width + plus.a, a_height + plus.a),
            second_sides=(b_width + plus.b, b_height + plus.b),
            shared=wrap(self._shared(width, height)),
            a=wrap(side(wrap(a_width + plus.a)) * side(wrap(a_height + plus.a))),
            b=wrap(side(wrap(b_width + plus.b)) * side(wrap(b_height + plus.b))),
            overlap=(width + plus.shared, height + plus.shared),
            enclosing=(hull[0] + plus.hull, hull[1] + plus.hull),
        )

    def _shared(self, width: Fraction, height: Fraction) -> Fraction:
        plus = self.plus.shared
        if self.first_clamped is None:
            return self.shared(width + plus, height + plus)
        if self.first_clamped:
            return (_clamp(width) + plus) * (_clamp(height) + plus)
        return ZERO if width <= 0 or height <= 0 else (width + plus) * (height + plus)

    def _quotients(self, parts: Parts) -> list[Value]:
        part, whole, rest = self.quotient(parts)
        if self.guard is not None:
            part, whole = self.guard(part, whole)
        whole = self.wrap(whole)
        if whole > 0:
            return [part / whole + rest]
        # Some functions ask whether the denominator is positive, and some do not.
        if whole < 0:
            return [part / whole + rest, ZERO]
        return [None, ZERO, ONE, part + rest]

    def _finished(self, iou: Value, parts: Parts) -> list[Value]:
        if iou is None:
            return [None]
        value: Any = iou
        undefined: list[Value] = []
        if self.when_apart or min(parts.overlap) >= 0:
            for penalty in (self.enclosure, self.distance, self.shape):
                if penalty is not None:
                    try:
                        value += self.sign * penalty(parts, iou)
                    except ZeroDivisionError:
                        undefined = [None]
        return [*undefined, *self._result(value)]

    def _result(self, value: Any) -> tuple[Value, ...]:
        return self.finish(self.scale * (1 - value if self.complement else value))


def _each(change: Callable[[Fraction], Fraction], box: Corners) -> Corners:
    return change(box[0]), change(box[1]), change(box[2]), change(box[3])


def _ordered(box: Corners) -> Corners:
    return min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3])


def right_recipe(fmt: str, measure: str) -> Recipe:
    """Tell how a function of a format and a measure computes if it is right."""
    penalties: dict[str, Any] = PENALTIES[measure]
    if fmt == "xyxy_inclusive":
        return Recipe(plus=_INCLUSIVE, **penalties)
    read = exact.TO_CORNERS[fmt]
    return Recipe(read_a=read, read_b=read, **penalties)


# What can be wrong with it. A search tries the mistakes in the order in which they are listed, so
# where two give the same answers everywhere, the first is named.


@dataclass(frozen=True)
class Mistake:
    """A change of a recipe, in words; with a policy, one that is a convention and no mistake."""

    name: str
    explanation: str
    remedy: str
    change: Mapping[str, Any]
    policy: str = ""


def _ways(name: str, remedy: str, step: str, ways: Mapping[str, Any]) -> Iterator[Mistake]:
    """Give the ways to make one mistake: each is an explanation, and what the step becomes."""
    for explanation, how in ways.items():
        yield Mistake(name, explanation, remedy, {step: how})


def _in_the_intersection() -> Iterator[Mistake]:
    clamped: dict[str, dict[str, Any]] = {
        "sides not clamped": {
            "Where the boxes are apart, a side of the intersection comes out negative and is used "
            "all the same. Two negative sides make a positive area.": lambda w, h: w * h
        },
        "product clamped instead of sides": {
            "The area of the intersection is clamped at 0, not its sides. Where the boxes are "
            "apart on both axes, two negative sides make a positive area.": lambda w, h: _clamp(
                w * h
            )
        },
        "apart on one axis overlooked": {
            "Boxes count as apart only if they are apart on both axes. One is enough: then one "
            "side of the intersection is negative.": lambda w, h: (
                ZERO if w <= 0 and h <= 0 else w * h
            )
        },
        "one side not clamped": {
            "Of the intersection, the width is clamped at 0, the height is not.": lambda w, h: (
                _clamp(w) * h
            ),
            "Of the intersection, the height is clamped at 0, the width is not.": lambda w, h: (
                w * _clamp(h)
            ),
        },
        "absolute value instead of clamp": {
            "A gap between the boxes counts as overlap: its sign is dropped.": lambda w, h: abs(
                w * h
            )
        },
    }
    remedy = "Clamp each side by itself, then multiply: max(0, width) * max(0, height)."
    for name, ways in clamped.items():
        yield from _ways(name, remedy, "shared", ways)
    yield from _ways(
        "one axis twice",
        "Multiply the width by the height; look for an x that should be a y.",
        "shared",
        {
            "The intersection is its width times its width.": lambda w, h: _clamp(w) ** 2,
            "The intersection is its height times its height.": lambda w, h: _clamp(h) ** 2,
        },
    )
    for which, axes in (("", (0, 1)), (" in x", (0,)), (" in y", (1,))):
        starts = tuple(min if axis in axes else max for axis in (0, 1))
        ends = tuple(max if axis in axes else min for axis in (0, 1))
        for what, change in (
            ("starts and the ends", {"starts": starts, "ends": ends}),
            ("starts", {"starts": starts}),
            ("ends", {"ends": ends}),
        ):
            yield Mistake(
                "max and min exchanged",
                f"Of the {what} of the two boxes{which}, the wrong one is taken.",
                "The intersection starts at the larger start, max, and ends at the smaller end, "
                "min.",
                change,
            )


def _in_the_quotient() -> Iterator[Mistake]:
    divide = "Divide by the union: area A + area B - intersection."
    subtract = "Subtract it once: union = area A + area B - intersection."
    brackets = "Put the union in brackets: intersection / (area A + area B - intersection)."
    for name, remedy, explanation, quotient in (
        (
            "intersection not subtracted",
            subtract,
            "The sum of the areas is taken for the union, which counts twice what they share.",
            lambda p: (p.shared, p.a + p.b, ZERO),
        ),
        (
            "Dice instead of IoU",
            divide,
            "Twice the intersection, over the sum of the areas, is the Dice coefficient.",
            lambda p: (2 * p.shared, p.a + p.b, ZERO),
        ),
        (
            "divides by the smaller area",
            divide,
            "The intersection is divided by the area of the smaller box.",
            lambda p: (p.shared, min(p.a, p.b), ZERO),
        ),
        (
            "divides by the larger area",
            divide,
            "The intersection is divided by the area of the larger box.",
            lambda p: (p.shared, max(p.a, p.b), ZERO),
        ),
        (
            "divides by the first area",
            divide,
            "The intersection is divided by the area of the first box.",
            lambda p: (p.shared, p.a, ZERO),
        ),
        (
            "divides by the second area",
            divide,
            "The intersection is divided by the area of the second box.",
            lambda p: (p.shared, p.b, ZERO),
        ),
        (
            "union without the intersection",
            subtract,
            "The intersection is subtracted twice: the union lacks what the boxes share.",
            lambda p: (p.shared, p.a + p.b - 2 * p.shared, ZERO),
        ),
        (
            "intersection added",
            subtract,
            "The intersection is added to the two areas, where it should be subtracted.",
            lambda p: (p.shared, p.a + p.b + p.shared, ZERO),
        ),
        (
            "divides by the enclosing box",
            divide,
            "The smallest box around both is taken for the union.",
            lambda p: (p.shared, p.hull, ZERO),
        ),
        (
            "brackets missing",
            brackets,
            "Only area A divides; area B and the intersection come in after that.",
            lambda p: (p.shared, p.a, p.b - p.shared),
        ),
        (
            "brackets missing",
            brackets,
            "The intersection is subtracted after the division.",
            lambda p: (p.shared, p.a + p.b, -p.shared),
        ),
        (
            "fraction upside down",
            "Divide the intersection by the union.",
            "The union is divided by the intersection.",
            lambda p: (p.union, p.shared, ZERO),
        ),
        (
            "not divided",
            divide,
            "The area of the intersection is returned.",
            lambda p: (p.shared, ONE, ZERO),
        ),
        (
            "not divided",
            "Divide the intersection by the union.",
            "The area of the union is returned.",
            lambda p: (p.union, ONE, ZERO),
        ),
    ):
        yield Mistake(name, explanation, remedy, {"quotient": quotient})


_WRONG_PENALTIES: dict[str, dict[tuple[str, str], dict[str, Penalty]]] = {
    "enclosure": {
        (
            "intersection in place of union",
            "Subtract the union from the area of C, and divide by the area of C.",
        ): {
            "The intersection is subtracted from the enclosing box C, where it should be the "
            "union.": lambda p, _: ratio(p.hull - p.shared, p.hull)
        },
        ("wrong penalty", "Subtract (C - U) / C, with the areas of C and of the union U."): {
            "What is wasted of the enclosing box is divided by the union.": lambda p, _: (
                (p.hull - p.union) / p.union
            ),
            "The wasted area is subtracted without being divided.": lambda p, _: p.hull - p.union,
            "The share of C that the union covers is subtracted.": lambda p, _: ratio(
                p.union, p.hull
            ),
        },
    },
    "distance": {
        ("wrong diagonal", "c² is w² + h² of the smallest box around both."): {
            "c is the diagonal of the intersection.": lambda p, _: (
                p.distance / _squares(map(_clamp, p.overlap))
            ),
            "c is the diagonal of the intersection, or of the gap.": lambda p, _: (
                p.distance / _squares(p.overlap)
            ),
            "c is the diagonal of the first box.": lambda p, _: (
                p.distance / _squares(p.first_sides)
            ),
            "c is the diagonal of the second box.": lambda p, _: (
                p.distance / _squares(p.second_sides)
            ),
            "The squared diagonals of the two boxes are added.": lambda p, _: (
                p.distance / (_squares(p.first_sides) + _squares(p.second_sides))
            ),
            "c² is the area of the enclosing box.": lambda p, _: p.distance / p.hull,
            "c² is (w + h)² of the enclosing box.": lambda p, _: (
                p.distance / (p.enclosing[0] + p.enclosing[1]) ** 2
            ),
        },
        ("not squared", "Subtract d²/c²: both are squared."): {
            "d/c is subtracted.": lambda p, _: math.sqrt(ratio(p.distance, p.diagonal)),
            "d²/c is subtracted.": lambda p, _: p.distance / math.sqrt(p.diagonal),
            "d/c² is subtracted.": lambda p, _: math.sqrt(p.distance) / p.diagonal,
        },
        (
            "wrong centres",
            "A centre is ((x_min + x_max) / 2, (y_min + y_max) / 2), and d² = dx² + dy².",
        ): {
            "The distance is doubled: sums of coordinates are not halved.": lambda p, _: ratio(
                4 * p.distance, p.diagonal
            ),
            "The distance is halved once more.": lambda p, _: ratio(p.distance / 4, p.diagonal),
            "The distance is that of the near corners.": lambda p, _: ratio(
                _squares(p.second[axis] - p.first[axis] for axis in (0, 1)), p.diagonal
            ),
            "The centres are made of x_min + y_min and x_max + y_max.": lambda p, _: ratio(
                _squares(
                    (p.second[i] + p.second[i + 1] - p.first[i] - p.first[i + 1]) / 2
                    for i in (0, 2)
                ),
                p.diagonal,
            ),
        },
    },
    "shape": {
        ("alpha missing", "Subtract αv, with α = v / ((1 - IoU) + v)."): {
            "v is subtracted as it is, without its weight α.": lambda p, _: p.v
        },
        ("wrong alpha", "Subtract αv, with α = v / ((1 - IoU) + v)."): {
            "α is subtracted alone, and not αv.": lambda p, iou: _alpha(p.v, iou),
            "αv is left out where the boxes share nothing.": lambda p, iou: (
                _shape(p, iou) if p.shared else ZERO
            ),
            "α has IoU in place of 1 - IoU.": lambda p, iou: ratio(p.v, iou + p.v) * p.v,
            "α has 1 + IoU in place of 1 - IoU.": lambda p, iou: ratio(p.v, 1 + iou + p.v) * p.v,
        },
        (
            "4/π² squared",
            "v = 4/π² (arctan(w_b / h_b) - arctan(w_a / h_a))²: the factor is not squared.",
        ): {
            "In v, 4/π² is squared together with the difference of the angles.": lambda p, iou: (
                _weighted((FOUR_OVER_PI_SQUARED * p.turn) ** 2, iou)
            )
        },
        ("wrong v", "v = 4/π² (arctan(w_b / h_b) - arctan(w_a / h_a))²."): {
            "The factor 4/π² is missing.": lambda p, iou: _weighted(p.turn**2, iou),
            "The factor is 4/π, not 4/π².": lambda p, iou: _weighted(4 / math.pi * p.turn**2, iou),
            "The factor is 2/π, not 4/π².": lambda p, iou: _weighted(2 / math.pi * p.turn**2, iou),
            "The difference of the angles is not squared.": lambda p, iou: _weighted(
                FOUR_OVER_PI_SQUARED * abs(p.turn), iou
            ),
        },
    },
}


def _in_the_penalties(measure: str) -> Iterator[Mistake]:
    title, right = TITLES[measure], PENALTIES[measure]
    for other, penalties in PENALTIES.items():
        if other != measure:
            yield Mistake(
                f"{TITLES[other]} instead of {title}",
                f"What it returns is {TITLES[other]}.",
                f"Compare with the definition of {title}.",
                penalties,
            )
    if measure == "iou":
        return
    for step, kinds in _WRONG_PENALTIES.items():
        if right[step] is not None:
            for (name, remedy), ways in kinds.items():
                yield from _ways(name, remedy, step, ways)
    yield Mistake(
        "penalty added",
        "The penalty is added to IoU, as in the formula of the loss, 1 - IoU + penalty.",
        "Subtract the penalty from IoU.",
        {"sign": 1},
    )
    yield Mistake(
        "no penalty for boxes apart",
        "Boxes that are apart get no penalty, and so all the same value.",
        "Subtract the penalty there too: it is what tells near boxes from far ones.",
        {"when_apart": False},
    )
    if measure == "ciou":
        yield Mistake(
            "distance missing",
            "The distance of the centres plays no part.",
            "Subtract d²/c² as well.",
            {"distance": None},
        )
        yield Mistake(
            "alpha is 0 below IoU 0.5",
            "α is 0 where IoU is below 0.5, as in arXiv:2005.03572",
            "",
            {"shape": lambda p, iou: _shape(p, iou) if iou >= Fraction(1, 2) else ZERO},
            policy="alpha",
        )


def _in_the_reading(fmt: str) -> Iterator[Mistake]:
    right = exact.TO_CORNERS["xyxy" if fmt == "xyxy_inclusive" else fmt]
    order = _order(exact.FORMATS[fmt])

    def misread(name: str, explanation: str, remedy: str, read: Reading) -> Iterator[Mistake]:
        for of, steps in (
            ("", ("read_a", "read_b")),
            (" in the first box", ("read_a",)),
            (" in the second box", ("read_b",)),
        ):
            for disorder in Disorder:
                change = {**dict.fromkeys(steps, read), "disorder": disorder}
                yield Mistake(name + of, explanation.format(of), remedy, change)

    def read_both(name: str, explanation: str, remedy: str, read: Reading) -> Mistake:
        return Mistake(name, explanation, remedy, {"read_a": read, "read_b": read})

    others: dict[str, tuple[Sequence[str], Reading]] = {
        other: (exact.FORMATS[other], exact.TO_CORNERS[other])
        for other in ("xywh", "cxcywh", "xyxy")
        if exact.FORMATS[other] != exact.FORMATS[fmt]
    }
    if fmt.startswith("xyxy"):
        x_min, y_min, x_max, y_max = exact.CORNER_NAMES
        others["xxyy"] = (x_min, x_max, y_min, y_max), lambda x1, x2, y1, y2: (x1, y1, x2, y2)
    for other, (names, read) in others.items():
        yield from misread(
            f"reads {other}",
            f"Numbers that are {order} are taken{{}} for {_order(names)}.",
            f"Convert the boxes first, or read the numbers as {order}.",
            read,
        )
    yield read_both(
        "corners swapped",
        "Every answer is 0: the intersection seems empty everywhere, as if the far corner were "
        "taken for the near one, or a difference were the wrong way round.",
        "The near corner comes first, and a side is the larger coordinate less the smaller.",
        lambda *box: _permuted(right(*box), (2, 3, 0, 1)),
    )
    # In both boxes it would be no mistake: no measure tells one axis from the other.
    yield Mistake(
        "reads yxyx in one box",
        "In one box x is taken for y, and y for x, in the other they are not.",
        f"Read the numbers of both boxes as {order}.",
        {"read_a": lambda *box: _permuted(right(*box), (1, 0, 3, 2))},
    )
    for axis, kept in (("x", 0), ("y", 1)):
        yield read_both(
            "one axis only",
            f"Only {axis} is looked at: boxes that are apart on the other axis seem to overlap.",
            "An area needs both sides: do for y what is done for x.",
            lambda *box, kept=kept: _along(right(*box), kept),
        )
    for what, to_integer in (("cut", math.trunc), ("rounded", round)):
        yield read_both(
            "coordinates made integers",
            f"Coordinates are {what} to integers. Nothing is left of relative coordinates.",
            "Keep coordinates as they come; if they must be converted, to float.",
            lambda *box, to=to_integer: right(*(type(number)(to(number)) for number in box)),
        )
    if fmt == "cxcywh":
        yield read_both(
            "halves cut to integers",
            "Half of the width and of the height is cut to an integer, so that odd sides shrink.",
            "Divide by 2 with /, in floats.",
            lambda x, y, w, h: (x - w // 2, y - h // 2, x + w // 2, y + h // 2),
        )


def _order(names: Sequence[str]) -> str:
    return f"({', '.join(names)})"


def _permuted(box: Corners, order: tuple[int, int, int, int]) -> Corners:
    return box[order[0]], box[order[1]], box[order[2]], box[order[3]]


def _along(box: Corners, axis: int) -> Corners:
    return (box[0], ZERO, box[2], ONE) if axis == 0 else (ZERO, box[1], ONE, box[3])


def _in_the_sides(fmt: str, measure: str) -> Iterator[Mistake]:
    base = right_recipe(fmt, measure).plus
    if base != _INCLUSIVE:
        yield Mistake(
            "adds 1 everywhere",
            "1 is added to every side, as for pixels of which the last belongs to the box.",
            "Add nothing: the width is what the format says.",
            {"plus": _INCLUSIVE},
            policy="sides" if fmt == "xyxy" else "",
        )
    if base != Plus():
        yield Mistake(
            "1 not added",
            "No 1 is added to the sides: the last row and the last column are not counted.",
            "The last pixel belongs to the box, so its width is x_max - x_min + 1.",
            {"plus": Plus()},
        )
    kinds = {
        "adds 1 in the intersection only": {
            "1 is added to the sides of the intersection, and not to those of the boxes.": Plus(1)
        },
        "adds 1 in the areas only": {
            "1 is added to the sides of the boxes, and not to those of the intersection.": Plus(
                0, 1, 1
            )
        },
        "adds 1 in one area only": {
            "1 is added to the sides of the first box alone.": Plus(a=1),
            "1 is added to the sides of the second box alone.": Plus(b=1),
            "1 is added to all sides but those of the second box.": Plus(1, 1, 0, 1),
            "1 is added to all sides but those of the first box.": Plus(1, 0, 1, 1),
        },
        "adds 1 except in the enclosing box": {
            "1 is added to all sides but those of the enclosing box.": Plus(1, 1, 1)
        },
        "subtracts 1 everywhere": {"1 is subtracted from every side.": Plus(-1, -1, -1, -1)},
    }
    if measure == "iou":
        del kinds["adds 1 except in the enclosing box"]
    for name, ways in kinds.items():
        remedy = "Add 1 to every side or to none: either is a convention, a mixture is not."
        yield from _ways(name, remedy, "plus", ways)
    yield from _ways(
        "adds 1 after the clamp",
        "Add 1 first, then clamp: max(0, x_max - x_min + 1).",
        "first_clamped",
        {
            "Boxes whose outer pixels are the same count as apart.": False,
            "Boxes that are apart share a pixel.": True,
        },
    )


def _in_the_result(measure: str) -> Iterator[Mistake]:
    title = TITLES[measure]
    yield Mistake(
        f"1 - {title}",
        f"1 - {title} is returned: a distance, or a loss.",
        f"Return {title} itself, or call the function a loss.",
        {"complement": True},
    )
    yield Mistake(
        "in percent",
        "The result is a hundred times too large.",
        "Do not multiply by 100.",
        {"scale": 100},
    )
    for between, to_integer in (("0 and 1", math.floor), ("-1 and 1", math.trunc)):
        if measure != "iou" or to_integer is math.floor:
            yield Mistake(
                "integer division",
                f"The result is cut to an integer: all between {between} becomes 0.",
                "Divide with /, and make no int of the result.",
                {"finish": lambda result, to=to_integer: (to(result),)},
            )
    yield from _ways(
        "rounded",
        "Return the quotient as it is, and round what is printed.",
        "finish",
        {
            f"The result is rounded to {digits} decimal places. Whether it reaches a threshold may "
            "depend on that.": lambda result, digits=digits: _rounded(result, digits)
            for digits in range(5, -1, -1)
        },
    )


def _rounded(number: float, digits: int) -> tuple[float, float]:
    """Round; a half goes up for some and down for others."""
    return round(float(number) - 1e-9, digits), round(float(number) + 1e-9, digits)


def _in_the_types() -> Iterator[Mistake]:
    for bits in (32, 16, 8):
        size = 1 << bits
        yield from _ways(
            "integers overflow",
            "Convert to float before subtracting and multiplying.",
            "wrap",
            {
                f"Coordinates or areas are kept in integers of {bits} bits: from {size // 2} on, "
                "they wrap round to other numbers.": lambda number, size=size: (
                    (math.trunc(number) + size // 2) % size - size // 2
                )
            },
        )
        yield from _ways(
            "unsigned numbers wrap",
            "Convert to float before subtracting and multiplying.",
            "wrap",
            {
                f"Coordinates or areas are kept in unsigned integers of {bits} bits: a side that "
                "should be negative becomes a large number.": lambda number, size=size: (
                    math.trunc(number) % size
                )
            },
        )


def _in_the_denominator(epsilons: Iterable[float]) -> Iterator[Mistake]:
    for epsilon in epsilons:
        number = Fraction(epsilon)
        yield from _ways(
            "epsilon in the denominator",
            "Leave it out, and return 0 where the union is 0.",
            "guard",
            {
                f"{epsilon:.3g} is added to the denominator, which changes the result for small "
                "boxes.": lambda part, whole, e=number: (part, whole + e),
                f"{epsilon:.3g} is added to numerator and denominator, which changes the result "
                "for small boxes.": lambda part, whole, e=number: (part + e, whole + e),
                f"The denominator is kept from falling below {epsilon:.3g}, which changes the "
                "result for small boxes.": lambda part, whole, e=number: (part, max(whole, e)),
            },
        )


# Of these, the large ones move every box, and the small ones only boxes of small area.
LARGE_EPSILONS = tuple(10.0**-k for k in range(6))
SMALL_EPSILONS = (*(10.0**-k for k in range(6, 15)), 2.0**-23)
_SMALL_UNION = Fraction(1, 2)


def mistakes(fmt: str, measure: str) -> list[Mistake]:
    """List the mistakes that are known for a format and a measure, the common ones first.

    Examples
    --------
    >>> for name in list(dict.fromkeys(mistake.name for mistake in mistakes("xyxy", "iou")))[:3]:
    ...     print(name)
    sides not clamped
    product clamped instead of sides
    apart on one axis overlooked
    """
    return [
        *_in_the_intersection(),
        *_in_the_quotient(),
        *_in_the_penalties(measure),
        *_in_the_reading(fmt),
        *_in_the_sides(fmt, measure),
        *_in_the_result(measure),
        *_in_the_types(),
        *_in_the_denominator(LARGE_EPSILONS),
    ]


def _explanations(known: Sequence[Mistake]) -> Iterator[tuple[Mistake, ...]]:
    """Give each mistake, then all two that change different steps; policies count for nothing."""
    policies = [mistake for mistake in known if mistake.policy]
    errors = [mistake for mistake in known if not mistake.policy]
    for count in (0, 1, 2):
        for made in itertools.combinations(errors, count):
            for policy in [(), *((policy,) for policy in policies)]:
                steps = [step for mistake in (*policy, *made) for step in mistake.change]
                if len(set(steps)) == len(steps):
                    yield (*policy, *made)


def _with(base: Recipe, made: Iterable[Mistake]) -> Recipe:
    return replace(base, **{step: how for mistake in made for step, how in mistake.change.items()})


# Calling it, whatever it does.


@dataclass(frozen=True)
class Form:
    """A way to hand two boxes to a function."""

    name: str
    pack: Callable[[Box], Any]
    table: bool = False
    apart: bool = False
    package: Any = None  # NumPy or PyTorch, for arrays.


@dataclass(frozen=True)
class Answer:
    """What came of a call.

    Attributes
    ----------
    shown : str
        For a reader.
    number : float, optional
        None if it is NaN, infinite or no number at all.
    outcome : {"number", "undefined", "refused", "failed", "no number"}
        Undefined are NaN, infinity and ZeroDivisionError; refused is what a ValueError or an
        AssertionError says, failed is any other exception.
    container : str
        What the number came in, if it did not come alone.
    changed : bool
        Whether the boxes that the function was given have changed.
    """

    shown: str
    number: float | None = None
    outcome: str = "no number"
    container: str = ""
    changed: bool = False


def _array_form(numpy: Any, dtype: str, table: bool) -> Form:
    shape = "(1, 4)" if table else "(4,)"
    return Form(
        f"two arrays of {dtype} and shape {shape}",
        lambda box: numpy.array([box] if table else box, dtype=dtype),
        table=table,
        package=numpy,
    )


def _tensor_form(torch: Any, dtype: str, table: bool) -> Form:
    shape = "(1, 4)" if table else "(4,)"
    return Form(
        f"two tensors of {dtype} and shape {shape}",
        lambda box: torch.tensor([box] if table else box, dtype=getattr(torch, dtype)),
        table=table,
        package=torch,
    )


def _forms() -> list[Form]:
    """List the ways to call, simplest first; libraries only if they are there."""
    forms = [Form("two tuples", tuple), Form("two lists", list)]
    try:
        import numpy as np
    except ImportError:
        pass
    else:
        forms += [_array_form(np, "float64", table) for table in (False, True)]
    forms.append(Form("two lists of one box", lambda box: [list(box)], table=True))
    if torch := sys.modules.get("torch"):
        forms += [_tensor_form(torch, "float64", table) for table in (False, True)]
    forms.append(Form("eight numbers", tuple, apart=True))
    return forms


def _retyped(form: Form, dtype: str) -> Form | None:
    """Give the same form of arrays with another type of number, if there is one."""
    if getattr(form.package, dtype, None) is None:
        return None
    make = _tensor_form if form.package.__name__ == "torch" else _array_form
    return make(form.package, dtype, form.table)


def _call(function: Callable[..., Any], form: Form, pair: Pair) -> Answer:
    given = [form.pack(box) for box in pair]
    try:
        result = function(*given[0], *given[1]) if form.apart else function(*given)
        answer = _read(result)
    except BaseException as error:
        answer = _caught(error)
    fresh = [form.pack(box) for box in pair]
    return replace(answer, changed=list(map(_bare, given)) != list(map(_bare, fresh)))


def _bare(boxes: Any) -> Any:
    return boxes.tolist() if hasattr(boxes, "tolist") else boxes


def _caught(error: BaseException) -> Answer:
    try:
        message = " ".join(str(error).split())
    except BaseException:
        message = ""
    kind = type(error).__name__
    shown = f"{kind}: {message[:120]}" if message else kind
    if isinstance(error, (ZeroDivisionError, FloatingPointError, InvalidOperation)):
        return Answer(shown, outcome="undefined")
    return Answer(
        shown, outcome="refused" if isinstance(error, (ValueError, AssertionError)) else "failed"
    )


def _read(result: Any) -> Answer:
    """Find the number in what a function returned."""
    container = ""
    inside = result
    shape = getattr(result, "shape", None)
    if isinstance(shape, tuple):
        if math.prod(shape) != 1:
            return Answer(f"{_article(result)} of shape {tuple(shape)}")
        container = f"{_article(result)} of shape {tuple(shape)}" if shape else ""
        inside = result.item()
    for _ in range(3):  # A list may be its own element.
        if isinstance(inside, (list, tuple)):
            if len(inside) != 1:
                return Answer(f"{_article(inside)} of {len(inside)} elements")
            container = container or f"{_article(inside)} of one element"
            inside = inside[0]
    if inside is None or isinstance(inside, bool):
        return Answer(str(inside))
    if isinstance(inside, (str, bytes)) or (
        isinstance(inside, Complex) and not isinstance(inside, Real)
    ):
        return Answer(_article(inside))
    if not isinstance(inside, (Real, Decimal)) and not hasattr(type(inside), "__float__"):
        return Answer(_article(inside))
    try:
        number = float(inside)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        shown = "NaN" if math.isnan(number) else "infinity"
        return Answer(shown, None, "undefined", container)
    return Answer(f"{number:.6g}", number, "number", container)


def _article(thing: Any) -> str:
    name = type(thing).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


class _Caller:
    """Calls a function in a thread of its own, and gives up when the time is up."""

    def __init__(self, function: Callable[..., Any], seconds: float) -> None:
        self._function = function
        self._seconds_left = seconds
        self._patience = seconds / 2
        self.calls = 0
        self.interrupted_at: Pair | None = None
        self.stuck = False

    def ask(self, form: Form, pairs: Sequence[Pair]) -> list[Answer]:
        """Call it for each pair; there are fewer answers than pairs if the time is up."""
        answers: list[Answer] = []
        if self.interrupted_at is not None:
            return answers
        stop = threading.Event()
        started = last_began = time.monotonic()

        def work() -> None:
            nonlocal last_began
            for pair in pairs:
                if stop.is_set():
                    return
                last_began = time.monotonic()
                answers.append(_call(self._function, form, pair))

        thread = threading.Thread(target=copy_context().run, args=(work,), daemon=True)
        try:
            thread.start()
        except RuntimeError:  # There are no threads in a browser.
            work()
        else:
            thread.join(max(0.0, self._seconds_left))
        ended = time.monotonic()
        self._seconds_left -= ended - started
        stop.set()
        in_time = answers.copy()
        if len(in_time) < len(pairs):
            self.interrupted_at = pairs[len(in_time)]
            self.stuck = ended - last_began > self._patience
            _interrupt(thread)
        self.calls += len(in_time)
        return in_time


def _interrupt(thread: threading.Thread) -> None:
    """Ask a thread to end, so that an endless loop does not run on behind the caller's back."""
    with suppress(AttributeError):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
        )


# What is reported.


@dataclass(frozen=True)
class Example:
    """One call: the two boxes, what came back and what is right."""

    pair: Pair
    returned: str
    right: str
    boxes: str = "two tuples"


@dataclass(frozen=True)
class Finding:
    """Something that is wrong, in words, with the input that shows it.

    Attributes
    ----------
    name : str
        The mistake, in a few words; the same for the same mistake.
    explanation, remedy : str
        What the code seems to do, and how to mend it.
    examples : tuple of Example
        Inputs that show it, the simplest first.
    """

    name: str
    explanation: str
    remedy: str
    examples: tuple[Example, ...]

    @property
    def pair(self) -> Pair:
        """The simplest two boxes that show it, in the format of the function."""
        return self.examples[0].pair

    @property
    def returned(self) -> str:
        """What the function answered to `pair`."""
        return self.examples[0].returned

    @property
    def right(self) -> str:
        """What is right for `pair`."""
        return self.examples[0].right


@dataclass(frozen=True)
class Diagnosis:
    """What :func:`iou.diagnose` found; it prints as text, and in a notebook with drawings.

    Attributes
    ----------
    function : str
        The function's name.
    measure, fmt : str
        What it was compared with, and the format in which it was given the boxes.
    findings : tuple of Finding
        What is wrong; empty if nothing is.
    policies : dict of str to str
        How it decides what is a matter of convention: ``"sides"`` (continuous or inclusive),
        ``"empty union"``, ``"reversed corners"``, and where there is something to say
        ``"no area"``, ``"epsilon"``, ``"alpha"`` and ``"integers"``.
    called_with : str
        The kind of arguments that it took.
    calls : int
        How often it was called.
    """

    function: str
    measure: str
    fmt: str
    findings: tuple[Finding, ...]
    policies: Mapping[str, str]
    called_with: str
    calls: int

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def _verdict(self) -> str:
        if self.passed:
            return f"{self.function} computes {TITLES[self.measure]}"
        count = len(self.findings)
        return f"{self.function}: {count} {'mistake' if count == 1 else 'mistakes'} found"

    @property
    def _conditions(self) -> str:
        order = ", ".join(exact.FORMATS[self.fmt])
        if self.fmt == "xyxy_inclusive":
            order += ", the last pixel included"
        return f"It was called with {self.called_with}; a box is ({order})."

    def __str__(self) -> str:
        lines = [f"{self._verdict}.", self._conditions]
        for number, finding in enumerate(self.findings, 1):
            lines += [
                "",
                f"{number}. {finding.name}",
                *_wrapped(finding.explanation),
                *(f"   {line}" for each in finding.examples for line in _example_lines(each)),
                *_wrapped(f"Mend it: {finding.remedy}"),
            ]
        if self.policies:
            lines.append("")
            lines += [f"{name}: {text}" for name, text in self.policies.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        findings = "".join(
            f"<li><strong>{escape(finding.name)}</strong>"
            f"<p>{escape(finding.explanation)}</p>"
            + "".join(_example_html(example, self.fmt) for example in finding.examples)
            + f"<p>Mend it: {escape(finding.remedy)}</p></li>"
            for finding in self.findings
        )
        policies = "".join(
            f"<li>{escape(name)}: {escape(text)}</li>" for name, text in self.policies.items()
        )
        return (
            f'<div class="iou-diagnosis"><p><strong>{escape(self._verdict)}.</strong> '
            f"{escape(self._conditions)}</p>"
            + (f"<ol>{findings}</ol>" if findings else "")
            + (f"<ul>{policies}</ul>" if policies else "")
            + "</div>"
        )


def _wrapped(text: str) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > 90:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return [f"   {line}" for line in lines]


def _shown_box(box: Box) -> str:
    return f"({', '.join(f'{number:.9g}' for number in box)})"


def _shown_boxes(pair: Pair) -> str:
    return " and ".join(map(_shown_box, pair))


def _example_lines(example: Example) -> list[str]:
    kind = "" if example.boxes == "two tuples" else f", as {example.boxes}"
    return [
        f"  {_shown_boxes(example.pair)}{kind}",
        f"  returned {example.returned}",
        f"  right    {example.right}",
    ]


def _example_html(example: Example, fmt: str) -> str:
    kind = "" if example.boxes == "two tuples" else f", as {example.boxes}"
    return (
        f"{drawing(example.pair, fmt)}<p><code>{escape(_shown_boxes(example.pair))}</code>"
        f"{escape(kind)}: returned <code>{escape(example.returned)}</code>, "
        f"right is <code>{escape(example.right)}</code></p>"
    )


def drawing(pair: Pair, fmt: str = "xyxy") -> str:
    """Draw two boxes as SVG: the first solid, the second dashed, what they share filled.

    Lines take the colour of the text around them, so that the drawing suits a light page and a dark
    one. The y axis points down.

    Parameters
    ----------
    pair : two sequences of four numbers
        The boxes.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What their numbers mean.

    Returns
    -------
    str
        An ``<svg>`` element.

    Examples
    --------
    >>> drawing(((0, 0, 4, 4), (2, 2, 6, 6))).count("<rect")
    3
    """
    a, b = (exact.corners(box, fmt) for box in pair)
    left, top, right, bottom = (pick(a[i], b[i]) for i, pick in enumerate((min, min, max, max)))
    size = max(right - left, bottom - top) or ONE
    scale = 160 / size

    def place(box: Iterable[Fraction]) -> list[float]:
        x_min, y_min, x_max, y_max = box
        corner = 10 + (x_min - left) * scale, 10 + (y_min - top) * scale
        return [round(float(n), 2) for n in (*corner, *_sides((x_min, y_min, x_max, y_max)))]

    def rect(box: Corners, look: str) -> str:
        x, y, _, _ = place(box)
        width, height = (round(float(side * scale), 2) for side in _sides(box))
        return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {look}/>'

    outline = 'fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round"'
    rects = [rect(a, outline), rect(b, f'{outline} stroke-dasharray="6 4"')]
    shared = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    if shared[0] < shared[2] and shared[1] < shared[3]:
        rects.insert(0, rect(shared, 'fill="currentColor" fill-opacity="0.25"'))
    width, height = (float(side * scale) + 20 for side in (right - left, bottom - top))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">'
        f"<title>The boxes {escape(_shown_boxes(pair))}</title>"
        "<desc>The first box is solid, the second dashed, and what they share is filled. "
        f"The y axis points down.</desc>{''.join(rects)}</svg>"
    )


# The examination.


def diagnose(
    function: Callable[..., Any],
    *,
    fmt: str = "xyxy",
    measure: str = "iou",
    time_limit: float = 10.0,
) -> Diagnosis:
    """Say which mistake a function of two boxes makes, if it makes one.

    Parameters
    ----------
    function : callable
        Takes two boxes and returns a number. The boxes are handed over as tuples, or where it does
        not take these as lists, arrays, tables of one row, or eight numbers. More arguments can
        be fixed by a ``lambda``.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What four numbers mean to it; see :mod:`iou.exact`.
    measure : {"iou", "giou", "diou", "ciou"}, default "iou"
        What it should compute.
    time_limit : float, default 10
        Seconds for all calls together. When they are over, the function's thread is asked to end.
        A single call into compiled code that never returns cannot be ended.

    Returns
    -------
    Diagnosis
        With ``passed``, ``findings`` and ``policies``; it prints as text, and a notebook shows it
        with drawings.

    Raises
    ------
    ValueError
        If `fmt` or `measure` is unknown, or `time_limit` is not above 0.
    TypeError
        If `function` cannot be called.

    Notes
    -----
    What is a matter of convention is no mistake, but a policy: whether an empty union gives 0 or 1,
    or is refused, whether the last pixel belongs to a box given by its corners, and what is made
    of a box that ends before it starts. NaN and ZeroDivisionError for an empty union are mistakes.

    Answers count as right within 2e-6, as float32 needs. Two mistakes at once are both named if
    they are known and change different steps of the computation; where two explanations fit all
    answers, the simpler one is given. Whether integers of few bits overflow is examined for
    functions that take arrays.

    Examples
    --------
    >>> def overlap(a, b):
    ...     width = min(a[2], b[2]) - max(a[0], b[0])
    ...     height = min(a[3], b[3]) - max(a[1], b[1])
    ...     shared = max(0, width) * max(0, height)
    ...     areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    ...     return shared / areas if areas else 0
    >>> diagnosis = diagnose(overlap)
    >>> diagnosis.passed
    False
    >>> print(diagnosis.findings[0].name)
    intersection not subtracted
    >>> diagnosis.policies["empty union"]
    '0'

    Everything that was found, in words:

    >>> print(diagnosis)
    overlap: 1 mistake found.
    It was called with two tuples; a box is (x_min, y_min, x_max, y_max).
    <BLANKLINE>
    1. intersection not subtracted
       The sum of the areas is taken for the union, which counts twice what they share.
         (0, 0, 4, 4) and (0, 0, 4, 4)
         returned 0.5
         right    1
       Mend it: Subtract it once: union = area A + area B - intersection.
    <BLANKLINE>
    sides: continuous, from x_min to x_max
    empty union: 0
    reversed corners: 0
    integers: convert arrays to float first: in uint8 a side below 0 wraps round to a large one
    """
    if not callable(function):
        raise TypeError(f"function cannot be called: it is {_article(function)}")
    exact.field_names(fmt)
    if measure not in MEASURES:
        known = ", ".join(map(repr, MEASURES))
        raise ValueError(f"unknown measure {measure!r}; known are {known}")
    if not time_limit > 0:
        raise ValueError(f"time_limit = {time_limit!r}: it must be above 0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _Examination(function, fmt, measure, time_limit).diagnosis()


class _Examination:
    """One function under examination."""

    def __init__(
        self, function: Callable[..., Any], fmt: str, measure: str, seconds: float
    ) -> None:
        name = getattr(function, "__name__", None)
        self.name = name if isinstance(name, str) else type(function).__name__
        self.fmt, self.measure = fmt, measure
        self.caller = _Caller(function, seconds)
        self.right = self.recipe = right_recipe(fmt, measure)
        self.telling = _in_formats(TELLING, fmt)
        self.form = Form("two tuples", tuple)
        self.known = True
        self.findings: list[Finding] = []
        self.policies: dict[str, str] = {}

    def diagnosis(self) -> Diagnosis:
        pairs = [*self.telling, *_in_formats(RELATIONS, self.fmt)]
        if self.choose_form():
            heard = dict(zip(pairs, self.caller.ask(self.form, pairs), strict=False))
            self.examine(heard)
        self.report_time()
        return Diagnosis(
            self.name,
            self.measure,
            self.fmt,
            tuple(self.findings),
            self.policies,
            self.form.name,
            self.caller.calls,
        )

    # How it wants to be called.

    def choose_form(self) -> bool:
        """Find arguments for which the function returns a number; report it if there are none."""
        first = [self.telling[0], self.telling[1], *_in_formats(PROBES, self.fmt)]
        outcomes: list[tuple[Form, list[Answer]]] = []
        in_container: Form | None = None
        for form in _forms():
            answers = self.caller.ask(form, first)
            outcomes.append((form, answers))
            if self.caller.interrupted_at:
                self.form = form
                return False
            numbers = [answer for answer in answers if answer.outcome == "number"]
            if not numbers:
                continue
            if form.table or not any(answer.container for answer in numbers):
                self.form = form
                return True
            in_container = in_container or form
        if in_container is not None:
            self.form = in_container
            return True
        # It took none: an error that does not come from the kind of arguments says the most.
        kinds = "TypeError", "AttributeError", "IndexError", "KeyError", "ValueError"
        for self.form, answers in [*outcomes, outcomes[0]]:
            if not answers[0].shown.startswith(kinds):
                break
        self.report_unusable(dict(zip(first, answers, strict=True)))
        return False

    # What is wrong.

    def examine(self, heard: dict[Pair, Answer]) -> None:
        """Go through everything that can be told from the answers."""
        unusable = {
            pair: answer
            for pair, answer in heard.items()
            if answer.outcome in ("failed", "no number")
        }
        usable = {pair: answer for pair, answer in heard.items() if pair not in unusable}
        self.report_unusable(unusable)
        self.name_mistakes(usable)
        self.judge_empty_union(usable)
        self.judge_container(usable)
        self.judge_changes(usable)
        self.judge_reversed()
        self.judge_minute()
        self.judge_integers()

    def fits(
        self, recipe: Recipe, pair: Pair, answer: Answer, number: Callable[[float], Any] = Fraction
    ) -> bool:
        """Tell whether a function of this recipe may give this answer."""
        if answer.outcome == "refused":
            return recipe.may_refuse(*pair)
        if self.measure == "ciou" and _without_area(pair, self.fmt):
            return True  # What the aspect ratio of a line is, is a matter of convention.
        return any(_answers(answer, value) for value in recipe.answers(*pair, number))

    def wrong(self, recipe: Recipe, heard: Mapping[Pair, Answer]) -> dict[Pair, Answer]:
        """Tell the answers that a function of this recipe does not give."""
        return {
            pair: answer for pair, answer in heard.items() if not self.fits(recipe, pair, answer)
        }

    def name_mistakes(self, heard: Mapping[Pair, Answer]) -> None:
        """Find what explains the answers, and report it."""
        self.policies["sides"] = _SIDES[self.recipe.plus.shared]
        wrong = self.wrong(self.recipe, heard)
        if not wrong:
            return
        small = {pair: answer for pair, answer in heard.items() if self.is_small(pair)}
        large = {pair: answer for pair, answer in heard.items() if pair not in small}
        made = self.explanation(large)
        if made is None:
            self.report_unknown(wrong, heard)
            return
        epsilon = self.epsilon(made, small)
        self.report_known((*made, *epsilon), heard)
        if not epsilon and (left := self.wrong(self.recipe, small)):
            # In several denominators at once, an epsilon is known by the boxes that it moves.
            self.known = False
            self.findings.append(Finding(*_SMALL, (self.example(*next(iter(left.items()))),)))

    def is_small(self, pair: Pair) -> bool:
        return 0 < _union(pair, self.fmt) < _SMALL_UNION

    def explanation(self, heard: Mapping[Pair, Answer]) -> tuple[Mistake, ...] | None:
        """Find the mistakes, as few as possible, that give every answer."""
        # Pairs that came out wrong rule out more explanations than those that came out right.
        ordered = {**self.wrong(self.recipe, heard), **heard}.items()
        for made in _explanations(mistakes(self.fmt, self.measure)):
            recipe = _with(self.recipe, made)
            if all(self.fits(recipe, pair, answer, float) for pair, answer in ordered):
                return made
        return None

    def epsilon(self, made: Sequence[Mistake], heard: Mapping[Pair, Answer]) -> Sequence[Mistake]:
        """Find the epsilon that explains what the mistakes found leave wrong, if that is it."""
        if not self.wrong(_with(self.recipe, made), heard):
            return ()
        epsilons = *LARGE_EPSILONS, *SMALL_EPSILONS, *self.estimated_epsilons(heard)
        for mistake in _in_the_denominator(epsilons):
            if not self.wrong(_with(self.recipe, (*made, mistake)), heard):
                return (mistake,)
        return ()

    def estimated_epsilons(self, heard: Mapping[Pair, Answer]) -> list[float]:
        """Tell which number in the denominator would explain the answers for small boxes."""
        found = []
        for pair, answer in heard.items():
            if answer.number:
                whole = float(exact.intersection(*pair, fmt=self.fmt)) / answer.number
                found += [whole, whole - float(_union(pair, self.fmt))]
        return [number for number in found if number > 0]

    def report_known(self, made: Sequence[Mistake], heard: Mapping[Pair, Answer]) -> None:
        """Report mistakes that explain the answers, each with the first pair that it spoils."""
        self.right = _with(self.right, [mistake for mistake in made if mistake.policy])
        wrong = self.wrong(self.right, heard)
        for mistake in made:
            if mistake.policy == "sides":
                self.policies["sides"] = _SIDES[1]
            elif mistake.policy:
                self.policies[mistake.policy] = mistake.explanation
            else:
                without = _with(self.recipe, [other for other in made if other is not mistake])
                pair = [*self.wrong(without, wrong), *wrong][0]
                example = self.example(pair, heard[pair])
                self.findings.append(
                    Finding(mistake.name, mistake.explanation, mistake.remedy, (example,))
                )
        self.recipe = _with(self.recipe, made)

    def example(self, pair: Pair, answer: Answer) -> Example:
        right = _shown_right(self.right.answers(*pair))
        return Example(pair, answer.shown, right, self.form.name)

    def report_unusable(self, unusable: Mapping[Pair, Answer]) -> None:
        """Report the first exception, and the first thing returned that is no number."""
        seen = set()
        for pair, answer in unusable.items():
            returned = answer.outcome in ("no number", "undefined")
            if returned in seen:
                continue
            seen.add(returned)
            example = self.example(pair, answer)
            if returned:
                explanation = f"It returns {answer.shown}, and not a number."
                remedy = "Return one number for two boxes, on every way through the function."
                self.findings.append(Finding("returns no number", explanation, remedy, (example,)))
            elif answer.shown.startswith("OverflowError"):
                self.findings.append(
                    Finding("integers overflow", _OVERFLOW, "Convert to float first.", (example,))
                )
            else:
                explanation = "It stops with an exception, although the two boxes are in order."
                remedy = "Read the message; call the function with these two boxes to see it."
                self.findings.append(
                    Finding("raises an exception", explanation, remedy, (example,))
                )

    def report_unknown(self, wrong: Mapping[Pair, Answer], heard: Mapping[Pair, Answer]) -> None:
        """Report a mistake that is not known, by what can be seen of it."""
        self.known = False
        pair, answer = next(iter(wrong.items()))
        if answer.outcome == "refused":
            return self.report_unusable({pair: answer})
        first = self.example(pair, answer)
        again = self.caller.ask(self.form, [pair])
        if again and again[0].shown != answer.shown:
            second = self.example(pair, again[0])
            self.findings.append(Finding(*_UNSTEADY, (first, second)))
            return None
        turned = [(other[1], other[0]) for other in wrong]
        for other, reply in zip(turned, self.caller.ask(self.form, turned), strict=False):
            before = wrong[other[1], other[0]]
            if not _alike(before, reply):
                one, two = self.example((other[1], other[0]), before), self.example(other, reply)
                self.findings.append(Finding(*_LOPSIDED, (one, two)))
                return None
        if all(
            any(_answers(answer, value, 1e-2) for value in self.right.answers(*pair))
            for pair, answer in wrong.items()
        ):
            self.findings.append(Finding(*_NEARLY, (first,)))
            return None
        shrunk = self.shrunk(pair)
        examples = (first,) if shrunk is None else (shrunk, first)
        self.findings.append(Finding(*_UNKNOWN, examples))
        return None

    def shrunk(self, pair: Pair) -> Example | None:
        """Make the numbers of a pair smaller while the answer stays wrong."""
        best = None
        for _ in range(12):
            smaller = sorted(set(self.smaller(pair)), key=_size)
            for other, answer in zip(smaller, self.caller.ask(self.form, smaller), strict=False):
                if not self.fits(self.right, other, answer):
                    pair, best = other, self.example(other, answer)
                    break
            else:
                break
        return best

    def smaller(self, pair: Pair) -> Iterator[Pair]:
        """Give pairs with one number smaller, or all of an axis."""
        numbers = [*pair[0], *pair[1]]
        for places in [(place,) for place in range(8)] + [(0, 2, 4, 6), (1, 3, 5, 7)]:
            for change in (lambda n: 0, lambda n: n // 2, lambda n: n - 1 if n > 0 else n + 1):
                other = [change(n) if place in places else n for place, n in enumerate(numbers)]
                boxes: Any = tuple(other[:4]), tuple(other[4:])
                valid = all(_is_box(box, self.fmt) for box in boxes)
                if (
                    valid
                    and _size(boxes) < _size(pair)
                    and not any(exact.area(box, fmt=self.fmt) == 0 for box in boxes)
                ):
                    yield boxes

    # What is a matter of convention, or of types.

    def judge_empty_union(self, heard: Mapping[Pair, Answer]) -> None:
        for pair, answer in heard.items():
            empty = _union(pair, self.fmt) == 0
            if answer.outcome == "undefined" and (
                empty or (self.measure == "ciou" and _without_area(pair, self.fmt))
            ):
                name, explanation = _EMPTY if empty else _FLAT
                example = Example(pair, answer.shown, "0, by convention", self.form.name)
                if not empty:
                    example = replace(example, right=_shown_right(self.right.answers(*pair)))
                remedy = "Return 0 where the denominator is 0."
                self.findings.append(Finding(name, explanation, remedy, (example,)))
                break
        points = _in_format(POINTS, self.fmt)
        if points is not None and points in heard:
            self.policies["empty union"] = _told(heard[points])
        refused = [pair for pair, answer in heard.items() if answer.outcome == "refused"]
        if any(_without_area(pair, self.fmt) and _union(pair, self.fmt) for pair in refused):
            self.policies["no area"] = "refused"
        if any(min(pair[0]) < 0 for pair in refused):
            self.policies["negative coordinates"] = "refused"

    def judge_container(self, heard: Mapping[Pair, Answer]) -> None:
        for pair, answer in heard.items():
            if answer.container and not self.form.table:
                explanation = f"For two boxes it returns {answer.container}, not a number."
                remedy = "Return the number itself: float(result), or result.item()."
                example = replace(
                    self.example(pair, answer), returned=f"{answer.container}: {answer.shown}"
                )
                self.findings.append(Finding("returns an array", explanation, remedy, (example,)))
                return

    def judge_changes(self, heard: Mapping[Pair, Answer]) -> None:
        """See whether boxes that can be changed are as they were."""
        pairs = self.telling[1:3] + self.telling[5:8]
        for form in (self.form, *_forms()):
            if form.apart or form.pack is tuple or form.name == "two lists of one box":
                continue
            for pair, answer in zip(pairs, self.caller.ask(form, pairs), strict=False):
                if answer.changed and answer.outcome in ("number", "undefined"):
                    example = Example(pair, "with the boxes changed", "them as they are", form.name)
                    self.findings.append(Finding(*_CHANGES, (example,)))
                    return

    def judge_reversed(self) -> None:
        if self.fmt == "xyxy":
            backward = ((4, 4, 0, 0), (0, 0, 4, 2)), ((0, 0, 4, 4), (0, 0, 4, 2))
            answers = self.caller.ask(self.form, backward)
            if len(answers) == 2:
                same = answers[0].outcome == "number" and _alike(answers[0], answers[1])
                self.policies["reversed corners"] = "put in order" if same else _told(answers[0])

    def judge_minute(self) -> None:
        """Look for an epsilon that no box in use would show."""
        pair = _in_format(MINUTE, self.fmt)
        if pair and self.known and self.measure == "iou":
            for answer in self.caller.ask(self.form, [pair]):
                if not self.fits(self.recipe, pair, answer):
                    right = _shown_right(self.right.answers(*pair))
                    self.policies["epsilon"] = (
                        f"shows only in tiny boxes: {_shown_boxes(pair)} give {answer.shown}, "
                        f"right is {right}"
                    )

    def judge_integers(self) -> None:
        """See whether arrays of integers give what arrays of floats do."""
        form, native = self.array_form()
        if form is None:
            return
        for name, dtype, corners in NARROW:
            pair = _in_format(corners, self.fmt)
            narrow = _retyped(form, dtype)
            if (
                pair is None
                or narrow is None
                or not all(isinstance(number, int) for box in pair for number in box)
            ):
                continue
            wide, answers = self.caller.ask(form, [pair]), self.caller.ask(narrow, [pair])
            if not wide or not answers or wide[0].number is None:
                continue
            answer = answers[0]
            if answer.outcome not in ("number", "undefined") or _alike(wide[0], answer, 1e-3):
                continue
            if not native:
                self.policies["integers"] = (
                    f"convert arrays to float first: in {dtype} {_INTEGERS[name]}"
                )
                return
            if name not in {finding.name for finding in self.findings}:
                example = Example(pair, answer.shown, wide[0].shown, narrow.name)
                explanation = f"In integers of the type {dtype} {_INTEGERS[name]}."
                remedy = "Convert to float first: boxes = np.asarray(boxes, dtype=float)."
                self.findings.append(Finding(name, explanation, remedy, (example,)))

    def array_form(self) -> tuple[Form | None, bool]:
        """Find arrays that the function takes, and tell whether it is made for them."""
        if self.form.package is not None:
            return self.form, True
        pairs = self.telling[1:3]
        expected = self.caller.ask(self.form, pairs)
        for form in reversed(_forms()):
            if form.package is not None:
                answers = self.caller.ask(form, pairs)
                if answers and all(_alike(*two) for two in zip(expected, answers, strict=True)):
                    return form, form.table
        return None, False

    def report_time(self) -> None:
        pair = self.caller.interrupted_at
        if pair is not None:
            explanation = (
                "It did not come back, as happens in an endless loop."
                if self.caller.stuck
                else f"The time was up after {self.caller.calls} calls: it takes very long."
            )
            remedy = "Four comparisons and a few products are all that is needed: no loop."
            right = _shown_right(self.right.answers(*pair))
            example = Example(pair, "nothing in time", right, self.form.name)
            self.findings.append(Finding("no answer in time", explanation, remedy, (example,)))


_SIDES = {
    0: "continuous, from x_min to x_max",
    1: "inclusive, the last pixel belongs to the box and 1 is added to every side",
}
_OVERFLOW = "It keeps coordinates in integers of too few bits."
_INTEGERS = {
    "unsigned numbers wrap": "a side below 0 wraps round to a large one",
    "integers overflow": "an area too large for the type wraps round to another",
    "halves cut to integers": "half of an odd side is cut to an integer",
}
_EMPTY = (
    "no answer for an empty union",
    "Two boxes without area have the union 0, and 0/0 has no value.",
)
_FLAT = (
    "no answer for a box without area",
    "A box without width or height is divided by its side.",
)
_CHANGES = (
    "changes its input",
    "The boxes that it was given are not the same afterwards. The caller's next result is wrong.",
    "Work on copies, and write a = a + 1 in place of a += 1 for arrays.",
)
_UNSTEADY = (
    "answers change",
    "It answers the same question in two ways.",
    "Let the result depend on the two boxes alone.",
)
_LOPSIDED = (
    "asymmetric",
    "The result changes when the two boxes change places, and it must not.",
    "Do with the second box what is done with the first; look for an a that should be a b.",
)
_NEARLY = (
    "inaccurate",
    "Every result is near the right one, and some are not near enough.",
    "Compute in float64, and round nothing on the way.",
)
_SMALL = (
    "epsilon in the denominator",
    "Small boxes alone come out wrong, as if a small number were added to a denominator.",
    "Leave it out, and return 0 where the denominator is 0.",
)
_UNKNOWN = (
    "not a known mistake",
    "The answers are wrong in a way that no known mistake explains.",
    "Work out the first of these pairs by hand, and compare step by step.",
)


def _size(pair: Pair) -> tuple[int, float]:
    numbers = [*pair[0], *pair[1]]
    return sum(number != int(number) for number in numbers), sum(map(abs, numbers))


def _answers(answer: Answer, value: Value, tolerance: float = TOLERANCE) -> bool:
    if answer.number is None or value is None:
        return answer.number is None and value is None
    right = float(value)
    return abs(answer.number - right) <= tolerance * max(1.0, abs(right))


def _alike(one: Answer, other: Answer, tolerance: float = TOLERANCE) -> bool:
    if one.number is None or other.number is None:
        return one.outcome == other.outcome
    return abs(one.number - other.number) <= tolerance * max(1.0, abs(one.number))


def _told(answer: Answer) -> str:
    return f"refused ({answer.shown})" if answer.outcome in ("refused", "failed") else answer.shown


def _shown_right(values: Sequence[Value]) -> str:
    if None in values:
        return "0, by convention"
    value = values[0] or ZERO
    if isinstance(value, float) or value.denominator == 1 or value.denominator > 10**6:
        return f"{float(value):.6g}"
    return f"{value} = {float(value):.6g}"


# From the shell.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser what ``diagnose`` takes on the command line."""
    parser.add_argument("function", metavar="MODULE:FUNCTION", help="what to examine")
    parser.add_argument("--fmt", choices=list(exact.FORMATS), default="xyxy", help="of its boxes")
    parser.add_argument(
        "--measure", choices=list(MEASURES), default="iou", help="what it should compute"
    )
    parser.add_argument(
        "--time-limit", type=float, default=10.0, metavar="SECONDS", help="for all calls together"
    )


def run(arguments: argparse.Namespace) -> int:
    """Examine the function that is named, print what was found, and give the exit status.

    Returns
    -------
    int
        0 if the function passed, 1 if not, 2 if there is no such function.
    """
    try:
        function = _load(arguments.function)
    except Exception as error:
        print(f"{arguments.function}: {_caught(error).shown}", file=sys.stderr)
        return 2
    # A call that never leaves compiled code cannot be interrupted: then the process ends.
    if sys.__stderr__ is not None:
        patience = 2 * arguments.time_limit + 30
        faulthandler.dump_traceback_later(patience, exit=True, file=sys.__stderr__)
    try:
        diagnosis = diagnose(
            function,
            fmt=arguments.fmt,
            measure=arguments.measure,
            time_limit=arguments.time_limit,
        )
    finally:
        faulthandler.cancel_dump_traceback_later()
    print(diagnosis)
    return 0 if diagnosis.passed else 1


def _load(path: str) -> Callable[..., Any]:
    module, colon, names = path.partition(":")
    if not (module and colon and names):
        raise ValueError("write it as package.module:function")
    found = importlib.import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    if not callable(found):
        raise TypeError(f"it is {_article(found)}, and cannot be called")
    return found
