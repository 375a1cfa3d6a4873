"""How a function computes, step by step.

A :class:`Recipe` with nothing changed is the IoU of corners. Other formats, measures and mistakes
are other ways to do one of its steps.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, NamedTuple

from .. import exact
from ..exact import Corners
from .pairs import Box

# What a function may answer: a number, or None for NaN, infinity and ZeroDivisionError.
Value = Fraction | float | None

MEASURES = {"iou": "IoU", "giou": "GIoU", "diou": "DIoU", "ciou": "CIoU"}


class Plus(NamedTuple):
    """What is added to each side: of the intersection, of the two boxes, of the enclosing box."""

    shared: int = 0
    a: int = 0
    b: int = 0
    hull: int = 0


CONTINUOUS, INCLUSIVE = Plus(), Plus(1, 1, 1, 1)


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
    def squared_diagonal(self) -> Fraction:
        """Of the enclosing box."""
        return sum_of_squares(self.enclosing)

    @property
    def squared_distance(self) -> Fraction:
        """From centre to centre."""
        a, b = self.first, self.second
        return sum_of_squares((b[i] + b[i + 2] - a[i] - a[i + 2]) / 2 for i in (0, 1))

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


def sides(box: Corners) -> tuple[Fraction, Fraction]:
    """Return width and height."""
    return box[2] - box[0], box[3] - box[1]


def sum_of_squares(numbers: Iterable[Fraction]) -> Fraction:
    """Square two numbers, and add."""
    first, second = numbers
    return first * first + second * second


def same(number: Any) -> Any:
    """Leave a number as it is."""
    return number


def _always(parts: Parts) -> bool:
    return True


def _alone(number: Any) -> tuple[Any]:
    return (number,)


def clamp(side: Fraction) -> Fraction:
    """Make of a negative side one of 0."""
    return max(side, ZERO)


def _clamp_sides(width: Fraction, height: Fraction) -> Fraction:
    return clamp(width) * clamp(height)


def _over_union(parts: Parts) -> tuple[Fraction, Fraction, Fraction]:
    return parts.shared, parts.union, ZERO


def _wasted(parts: Parts, iou: Any) -> Any:
    return ratio(parts.hull - parts.union, parts.hull)


def _distance(parts: Parts, iou: Any) -> Any:
    return ratio(parts.squared_distance, parts.squared_diagonal)


def alpha(v: float, iou: Any) -> Any:
    """Return the weight of CIoU's v."""
    return ratio(v, 1 - iou + v)


def weighted(v: float, iou: Any) -> Any:
    """Return CIoU's penalty for the shape, of any v."""
    return alpha(v, iou) * v


def shape(parts: Parts, iou: Any) -> Any:
    """Return CIoU's penalty for the shape."""
    return weighted(parts.v, iou)


PENALTIES: dict[str, dict[str, Penalty | None]] = {
    "iou": {"enclosure": None, "distance": None, "shape": None},
    "giou": {"enclosure": _wasted, "distance": None, "shape": None},
    "diou": {"enclosure": None, "distance": _distance, "shape": None},
    "ciou": {"enclosure": None, "distance": _distance, "shape": shape},
}


class Disorder(Enum):
    """What becomes of a box that ends before it starts, because it was misread."""

    KEPT = "its sides are negative"
    EMPTIED = "its sides are 0"
    MENDED = "its corners are put in order"


class Clamping(Enum):
    """When boxes that are apart are given the intersection 0, if 1 is added to sides."""

    LAST = "1 is added to each side, then it is clamped"
    FIRST = "each side is clamped, then 1 is added"
    EARLY_RETURN = "0 is returned where a side is not above 0, else 1 is added to both"


@dataclass(frozen=True)
class Recipe:
    """How a function computes, step by step; the defaults are the IoU of corners."""

    read_a: Reading = exact.TO_CORNERS["xyxy"]
    read_b: Reading = exact.TO_CORNERS["xyxy"]
    starts: tuple[Callable[..., Fraction], ...] = (max, max)
    ends: tuple[Callable[..., Fraction], ...] = (min, min)
    plus: Plus = CONTINUOUS
    clamping: Clamping = Clamping.LAST
    shared: Callable[[Fraction, Fraction], Fraction] = _clamp_sides
    wrap: Callable[[Fraction], Fraction] = same
    quotient: Quotient = _over_union
    guard: Callable[[Fraction, Fraction], tuple[Fraction, Fraction]] | None = None
    enclosure: Penalty | None = None
    distance: Penalty | None = None
    shape: Penalty | None = None
    sign: int = -1
    penalised: Callable[[Parts], bool] = _always
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
        if self.wrap is not same:
            first, second = _each(self.wrap, first), _each(self.wrap, second)
        return first, second

    def _parts(self, a: Corners, b: Corners) -> Parts:
        wrap, plus = self.wrap, self.plus
        if self.disorder is Disorder.MENDED:
            a, b = _ordered(a), _ordered(b)
        side = clamp if self.disorder is Disorder.EMPTIED else same
        width = wrap(self.ends[0](a[2], b[2]) - self.starts[0](a[0], b[0]))
        height = wrap(self.ends[1](a[3], b[3]) - self.starts[1](a[1], b[1]))
        (a_width, a_height), (b_width, b_height) = sides(a), sides(b)
        hull = sides((min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])))
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
        if self.clamping is Clamping.FIRST:
            return (clamp(width) + plus) * (clamp(height) + plus)
        if self.clamping is Clamping.EARLY_RETURN and (width <= 0 or height <= 0):
            return ZERO
        return self.shared(width + plus, height + plus)

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
        if self.penalised(parts):
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
        return Recipe(plus=INCLUSIVE, **penalties)
    read = exact.TO_CORNERS[fmt]
    return Recipe(read_a=read, read_b=read, **penalties)
