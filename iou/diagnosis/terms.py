"""Mistakes in the terms of a measure: in the intersection, the quotient, the penalties."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from .mistakes import Mistake, ways
from .recipes import (
    FOUR_OVER_PI_SQUARED,
    MEASURES,
    ONE,
    PENALTIES,
    ZERO,
    Parts,
    Penalty,
    alpha,
    clamp,
    ratio,
    shape,
    sum_of_squares,
    weighted,
)


def in_the_intersection() -> Iterator[Mistake]:
    """Give the mistakes made on the way to the area that is shared."""
    clamped: dict[str, dict[str, Any]] = {
        "sides not clamped": {
            "Where the boxes are apart, a side of the intersection comes out negative and is used "
            "all the same. Two negative sides make a positive area.": lambda w, h: w * h
        },
        "product clamped instead of sides": {
            "The area of the intersection is clamped at 0, not its sides. Where the boxes are "
            "apart on both axes, two negative sides make a positive area.": lambda w, h: clamp(
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
                clamp(w) * h
            ),
            "Of the intersection, the height is clamped at 0, the width is not.": lambda w, h: (
                w * clamp(h)
            ),
        },
        "absolute value instead of clamp": {
            "A gap between the boxes counts as overlap: its sign is dropped.": lambda w, h: abs(
                w * h
            )
        },
    }
    remedy = "Clamp each side by itself, then multiply: max(0, width) * max(0, height)."
    for name, kinds in clamped.items():
        yield from ways(name, remedy, "shared", kinds)
    yield from ways(
        "one axis twice",
        "Multiply the width by the height; look for an x that should be a y.",
        "shared",
        {
            "The intersection is its width times its width.": lambda w, h: clamp(w) ** 2,
            "The intersection is its height times its height.": lambda w, h: clamp(h) ** 2,
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


def in_the_quotient() -> Iterator[Mistake]:
    """Give the mistakes made in the division."""
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
                p.squared_distance / sum_of_squares(map(clamp, p.overlap))
            ),
            "c is the diagonal of the intersection, or of the gap.": lambda p, _: (
                p.squared_distance / sum_of_squares(p.overlap)
            ),
            "c is the diagonal of the first box.": lambda p, _: (
                p.squared_distance / sum_of_squares(p.first_sides)
            ),
            "c is the diagonal of the second box.": lambda p, _: (
                p.squared_distance / sum_of_squares(p.second_sides)
            ),
            "The squared diagonals of the two boxes are added.": lambda p, _: (
                p.squared_distance
                / (sum_of_squares(p.first_sides) + sum_of_squares(p.second_sides))
            ),
            "c² is the area of the enclosing box.": lambda p, _: p.squared_distance / p.hull,
            "c² is (w + h)² of the enclosing box.": lambda p, _: (
                p.squared_distance / (p.enclosing[0] + p.enclosing[1]) ** 2
            ),
        },
        ("not squared", "Subtract d²/c²: both are squared."): {
            "d/c is subtracted.": lambda p, _: math.sqrt(
                ratio(p.squared_distance, p.squared_diagonal)
            ),
            "d²/c is subtracted.": lambda p, _: p.squared_distance / math.sqrt(p.squared_diagonal),
            "d/c² is subtracted.": lambda p, _: math.sqrt(p.squared_distance) / p.squared_diagonal,
        },
        (
            "wrong centres",
            "A centre is ((x_min + x_max) / 2, (y_min + y_max) / 2), and d² = dx² + dy².",
        ): {
            "The distance is doubled: sums of coordinates are not halved.": lambda p, _: ratio(
                4 * p.squared_distance, p.squared_diagonal
            ),
            "The distance is halved once more.": lambda p, _: ratio(
                p.squared_distance / 4, p.squared_diagonal
            ),
            "The distance is that of the near corners.": lambda p, _: ratio(
                sum_of_squares(p.second[axis] - p.first[axis] for axis in (0, 1)),
                p.squared_diagonal,
            ),
            "The centres are made of x_min + y_min and x_max + y_max.": lambda p, _: ratio(
                sum_of_squares(
                    (p.second[i] + p.second[i + 1] - p.first[i] - p.first[i + 1]) / 2
                    for i in (0, 2)
                ),
                p.squared_diagonal,
            ),
        },
    },
    "shape": {
        ("alpha missing", "Subtract αv, with α = v / ((1 - IoU) + v)."): {
            "v is subtracted as it is, without its weight α.": lambda p, _: p.v
        },
        ("wrong alpha", "Subtract αv, with α = v / ((1 - IoU) + v)."): {
            "α is subtracted alone, and not αv.": lambda p, iou: alpha(p.v, iou),
            "αv is left out where the boxes share nothing.": lambda p, iou: (
                shape(p, iou) if p.shared else ZERO
            ),
            "α has IoU in place of 1 - IoU.": lambda p, iou: ratio(p.v, iou + p.v) * p.v,
            "α has 1 + IoU in place of 1 - IoU.": lambda p, iou: ratio(p.v, 1 + iou + p.v) * p.v,
        },
        (
            "4/π² squared",
            "v = 4/π² (arctan(w_b / h_b) - arctan(w_a / h_a))²: the factor is not squared.",
        ): {
            "In v, 4/π² is squared together with the difference of the angles.": lambda p, iou: (
                weighted((FOUR_OVER_PI_SQUARED * p.turn) ** 2, iou)
            )
        },
        ("wrong v", "v = 4/π² (arctan(w_b / h_b) - arctan(w_a / h_a))²."): {
            "The factor 4/π² is missing.": lambda p, iou: weighted(p.turn**2, iou),
            "The factor is 4/π, not 4/π².": lambda p, iou: weighted(4 / math.pi * p.turn**2, iou),
            "The factor is 2/π, not 4/π².": lambda p, iou: weighted(2 / math.pi * p.turn**2, iou),
            "The factor is 2/π², not 4/π².": lambda p, iou: weighted(p.v / 2, iou),
            "The difference of the angles is not squared.": lambda p, iou: weighted(
                FOUR_OVER_PI_SQUARED * abs(p.turn), iou
            ),
            "The sides are divided, and no arctangent is taken.": lambda p, iou: weighted(
                FOUR_OVER_PI_SQUARED * _stretch(p) ** 2, iou
            ),
        },
    },
}


def _stretch(parts: Parts) -> float:
    (a_width, a_height), (b_width, b_height) = parts.first_sides, parts.second_sides
    return float(b_width / b_height - a_width / a_height)


def in_the_penalties(measure: str) -> Iterator[Mistake]:
    """Give the mistakes made in what GIoU, DIoU and CIoU subtract."""
    title, right = MEASURES[measure], PENALTIES[measure]
    for other, penalties in PENALTIES.items():
        if other != measure:
            yield Mistake(
                f"{MEASURES[other]} instead of {title}",
                f"What it returns is {MEASURES[other]}.",
                f"Compare with the definition of {title}.",
                penalties,
            )
    if measure == "iou":
        return
    for step, kinds in _WRONG_PENALTIES.items():
        if right[step] is not None:
            for (name, remedy), wrong in kinds.items():
                yield from ways(name, remedy, step, wrong)
    yield Mistake(
        "penalty added",
        "The penalty is added to IoU, as in the formula of the loss, 1 - IoU + penalty.",
        "Subtract the penalty from IoU.",
        {"sign": 1},
    )
    yield from ways(
        "no penalty for boxes apart",
        "Subtract the penalty there too: it is what tells near boxes from far ones.",
        "penalised",
        {
            "Boxes that are apart get no penalty, and so all the same value.": lambda p: (
                min(p.overlap) >= 0
            ),
            "Boxes that share no area get no penalty, and so all the same value.": lambda p: (
                p.shared > 0
            ),
        },
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
            {"shape": lambda p, iou: shape(p, iou) if iou >= Fraction(1, 2) else ZERO},
            policy="alpha",
        )
