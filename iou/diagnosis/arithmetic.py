"""Mistakes with numbers: what they mean, what is added to them, what type they have."""

import itertools
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from .. import exact
from ..exact import Corners
from .mistakes import Mistake, ways
from .recipes import (
    CONTINUOUS,
    INCLUSIVE,
    MEASURES,
    ONE,
    ZERO,
    Clamping,
    Disorder,
    Parts,
    Plus,
    Reading,
    right_recipe,
)


def in_the_reading(fmt: str) -> Iterator[Mistake]:
    """Give the mistakes made in what four numbers mean."""
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
        for consequence, half_cut in (
            (
                "odd sides shrink",
                lambda x, y, w, h: (x - w // 2, y - h // 2, x + w // 2, y + h // 2),
            ),
            (
                "boxes move",
                lambda x, y, w, h: (x - w // 2, y - h // 2, x - w // 2 + w, y - h // 2 + h),
            ),
        ):
            yield read_both(
                "halves cut to integers",
                f"Half of an odd width or height is cut to an integer, so that {consequence}.",
                "Divide by 2 with /, in floats.",
                half_cut,
            )


def _order(names: Sequence[str]) -> str:
    return f"({', '.join(names)})"


def _permuted(box: Corners, order: tuple[int, int, int, int]) -> Corners:
    return box[order[0]], box[order[1]], box[order[2]], box[order[3]]


def _along(box: Corners, axis: int) -> Corners:
    return (box[0], ZERO, box[2], ONE) if axis == 0 else (ZERO, box[1], ONE, box[3])


def in_the_sides(fmt: str, measure: str) -> Iterator[Mistake]:
    """Give the mistakes made with the 1 of inclusive pixels."""
    base = right_recipe(fmt, measure).plus
    if base != INCLUSIVE:
        yield Mistake(
            "adds 1 everywhere",
            "1 is added to every side, as for pixels of which the last belongs to the box.",
            "Add nothing: the width is what the format says.",
            {"plus": INCLUSIVE},
            policy="sides" if fmt == "xyxy" else "",
        )
    if base != CONTINUOUS:
        yield Mistake(
            "1 not added",
            "No 1 is added to the sides: the last row and the last column are not counted.",
            "The last pixel belongs to the box, so its width is x_max - x_min + 1.",
            {"plus": CONTINUOUS},
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
        "subtracts 1 everywhere": {"1 is subtracted from every side.": Plus(-1, -1, -1, -1)},
    }
    if measure != "iou":
        kinds["adds 1 except in the enclosing box"] = {
            "1 is added to all sides but those of the enclosing box.": Plus(1, 1, 1)
        }
    for name, changes in kinds.items():
        remedy = "Add 1 to every side or to none: either is a convention, a mixture is not."
        yield from ways(name, remedy, "plus", changes)
    yield from ways(
        "adds 1 after the clamp",
        "Add 1 first, then clamp: max(0, x_max - x_min + 1).",
        "clamping",
        {
            "Boxes whose outer pixels are the same count as apart.": Clamping.EARLY_RETURN,
            "Boxes that are apart share a pixel.": Clamping.FIRST,
        },
    )


def in_the_result(measure: str) -> Iterator[Mistake]:
    """Give the mistakes made with the quotient."""
    title = MEASURES[measure]
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
    yield from ways(
        "rounded",
        "Return the quotient as it is, and round what is printed.",
        "finish",
        {
            f"The result is {word} {digits} decimal places. Whether it reaches a threshold may "
            "depend on that.": lambda result, cut=cut, digits=digits: _cut(result, cut, digits)
            for word, cut in (("rounded to", round), ("cut off after", math.floor))
            for digits in range(5, -1, -1)
        },
    )


def _cut(number: float, cut: Callable[[float], int], digits: int) -> tuple[float, float]:
    """Cut; what lies on the edge, in floats, may fall to either side."""
    shifted = float(number) * 10**digits
    return cut(shifted - 1e-9) / 10**digits, cut(shifted + 1e-9) / 10**digits


def in_the_types() -> Iterator[Mistake]:
    """Give the mistakes that integers of few bits make."""
    for bits in (32, 16, 8):
        size = 1 << bits
        yield from ways(
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
        yield from ways(
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


def epsilons(sizes: Iterable[float]) -> Iterator[Mistake]:
    """Give the ways to use a small number that hides a division by 0."""
    for epsilon in sizes:
        number = Fraction(epsilon)
        yield from ways(
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


def scattered_epsilons(epsilon: float, measure: str) -> Iterator[Mistake]:
    """Give the ways to put the same small number into several denominators."""
    number = Fraction(epsilon)
    sides = (0, 0), (0, number), (number, number)
    guards: tuple[Callable[[Any], Any], ...] = (
        lambda whole: whole + number,
        lambda whole: max(whole, number),
    )
    for added, guard, in_union, penalties in itertools.product(
        sides, guards, (False, True), _GUARDED_PENALTIES[measure]
    ):
        change: dict[str, Any] = {
            step: lambda parts, iou, added=added, guard=guard, penalty=penalty: penalty(
                _longer(parts, added), iou, guard
            )
            for step, penalty in penalties.items()
        }
        if any(added):
            change["quotient"] = lambda parts, added=added: (
                parts.shared,
                _longer(parts, added).union,
                ZERO,
            )
        if in_union:
            change["guard"] = lambda part, whole, guard=guard: (part, guard(whole))
        if change:
            yield Mistake(
                "epsilon in the denominator",
                "The smaller the boxes, the worse the result, as if a number were added to "
                "a denominator.",
                "Leave it out, and return 0 where the denominator is 0.",
                change,
            )


def _longer(parts: Parts, added: tuple[Any, Any]) -> Parts:
    """Add to the sides of the two boxes when all else is measured."""
    if not any(added):
        return parts
    first, second = (
        (width + added[0], height + added[1])
        for width, height in (parts.first_sides, parts.second_sides)
    )
    return parts._replace(
        first_sides=first, second_sides=second, a=first[0] * first[1], b=second[0] * second[1]
    )


_GuardedPenalty = Callable[[Parts, Any, Callable[[Any], Any]], Any]


def _distance(parts: Parts, iou: Any, guard: Callable[[Any], Any]) -> Any:
    return parts.squared_distance / guard(parts.squared_diagonal)


def _shape(parts: Parts, iou: Any, guard: Callable[[Any], Any]) -> Any:
    return parts.v * parts.v / guard(1 - iou + parts.v)


# For each measure, the ways to write its penalties with denominators that are guarded.
_GUARDED_PENALTIES: dict[str, list[dict[str, _GuardedPenalty]]] = {
    "iou": [{}],
    "giou": [
        {"enclosure": lambda p, _, guard: (p.hull - p.union) / guard(p.hull)},
        {"enclosure": lambda p, _, guard: (guard(p.hull) - p.union) / guard(p.hull)},
        {"enclosure": lambda p, _, guard: (guard(p.hull) - guard(p.union)) / guard(p.hull)},
    ],
    "diou": [{"distance": _distance}],
    "ciou": [{"distance": _distance, "shape": _shape}],
}


class Half(float):
    """A float16: eleven significant bits, up to 65504, and so is whatever is computed with it.

    Examples
    --------
    >>> Half(2049)
    2048.0
    >>> Half(256) * 256, 1 / Half(3)
    (inf, 0.333251953125)
    """

    def __new__(cls, number: Any) -> "Half":
        """Round to the nearest, or to infinity."""
        number = float(number)
        try:
            (rounded,) = struct.unpack("e", struct.pack("e", number))
        except OverflowError:
            rounded = math.copysign(math.inf, number)
        return super().__new__(cls, rounded)

    def __add__(self, other: Any) -> "Half":
        return Half(float(self) + float(other))

    def __sub__(self, other: Any) -> "Half":
        return Half(float(self) - float(other))

    def __rsub__(self, other: Any) -> "Half":
        return Half(float(other) - float(self))

    def __mul__(self, other: Any) -> "Half":
        return Half(float(self) * float(other))

    def __truediv__(self, other: Any) -> "Half":
        return Half(float(self) / float(other))

    def __rtruediv__(self, other: Any) -> "Half":
        return Half(float(other) / float(self))

    __radd__, __rmul__ = __add__, __mul__
