"""What a loss is made of, and its slopes: the derivation, line by line.

A, B and I are the areas of the prediction, the target and the intersection, U = A + B − I is that
of the union, C that of the enclosing box, the hull. Write ``[s < t]`` for 1 where s < t, for 0
where s > t, and for 1/2 where they are equal. On each axis, with the prediction from lo to hi and
the target from lo' to hi':

* the **side** is ``hi − lo``;
* the **overlap** is what is left of the prediction when both its edges are moved into the target;
  an edge changes it where it lies inside the target, that is by ``[lo' < edge] − [hi' < edge]``.
  Nothing else is needed for boxes that are apart, where no edge is inside or the overlap is of no
  height;
* the **hull** is ``max(hi, hi') − min(lo, lo')``; an edge changes it where it is the outermost:
  lo by ``[lo < lo']``, and hi by ``[hi' < hi]``;
* the **centre** is ``(lo + hi) / 2``: either edge moves it by 1/2.

All three lengths grow when an edge moves *outward*, to smaller numbers for lo and to larger ones
for hi. So slopes are gathered outward, and lo gets a minus at the end.

An area is a width times a height, so its slope in one side is the other side. All that is left is
the rule for quotients: ``d(I/U) = (dI − IoU dU)/U``, and with ``dU = dA − dI`` that is
``((1 + IoU) dI − IoU dA)/U``.

**At a kink**, where two edges coincide, ``[s < t]`` is 1/2: the gradient is the mean of the two
one-sided slopes, which is what a central difference tends to. At a prediction that is perfect, it
is 0.

Arrays hold x and y in the shape (2, n), low and high edges in the shape (2, 2, n), or have the
shape (n,). Every line writes into a ``Room``, for fresh memory costs more than the
arithmetic. They compute with float64, or with Fractions where float64 does not carry the numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import atan2, exp, isqrt, pi, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .boxes import SMALLEST_NORMAL, nearest_float

# An array of float64, or of Fractions.
Numbers = Any
Flags = NDArray[np.int8]

# Planes that a room has, and its passage; those that are not used cost nothing.
_PLANES, _PASSING = 64, 16
# The digits of a fraction grow with its power.
_LARGEST_EXACT_POWER = 16
# Vectors of the processor that begin where a line of its cache does take half the time.
_LINE = 64


class Room:
    """Memory for what a formula needs on its way; each round of it uses the same again.

    What is taken is kept until the room is cleared. What is taken in the `passage` is kept for one
    step only.
    """

    def __init__(self, count: int, dtype: Any = np.float64, planes: int = _PLANES) -> None:
        self.count, self.planes = count, planes
        self.exact = dtype is object
        self.half = self.number(0.5)
        memory = np.empty(planes * count + _LINE, dtype)
        start = -memory.ctypes.data % _LINE // memory.itemsize
        self._planes = memory[start : start + planes * count]
        self._taken = 0
        self._known: dict[tuple[int, ...], Numbers] = {}
        self.passage = Room(count, dtype, _PASSING) if planes > _PASSING else self

    def take(self, *shape: int) -> Numbers:
        """Hand out an array of the shape (*shape, n), whatever is in it."""
        start = self._taken
        self._taken += prod(shape)
        place = start, *shape
        if place not in self._known:
            if self._taken > self.planes:
                raise ValueError(f"a room of {self.planes} planes is full")
            planes = self._planes[start * self.count : self._taken * self.count]
            self._known[place] = planes.reshape(*shape, self.count)
        return self._known[place]

    def number(self, value: float) -> Any:
        """Make a float one of the numbers that are computed with."""
        return Fraction(value) if self.exact else value

    def mark(self) -> int:
        """Say how much is taken."""
        return self._taken

    def clear(self, mark: int = 0) -> None:
        """Take back what was handed out since, and all in the passage."""
        self._taken = mark
        if self.passage is not self:
            self.passage.clear()


class Sides:
    """Boxes by their edges, shape (2 [low, high], 2 [x, y], n)."""

    def __init__(self, edges: Numbers, lengths: Numbers, room: Room) -> None:
        self.edges, self.lengths = edges, lengths
        self.low, self.high = edges
        self.area = product(lengths, room.take())
        self._room = room

    @cached_property
    def angle(self) -> Numbers:
        """Aspect angle ``atan2(w, h)``, in right angles."""
        angle = np.arctan2(self.lengths[0], self.lengths[1], out=self._room.take())
        angle /= pi / 2
        return angle


class Pair:
    """A prediction and a target, and what the measures are made of."""

    def __init__(self, pred: Sides, target: Sides, room: Room) -> None:
        self.pred, self.target, self.room = pred, target, room
        self.sides = pred.lengths
        self.overlap, self.twice_inside = self._inside()
        self.intersection = product(self.overlap, room.take())
        self.union = np.add(pred.area, target.area, out=room.take())
        self.union -= self.intersection
        self.iou = np.divide(self.intersection, positive(self.union, room), out=room.take())

    def _inside(self) -> tuple[Numbers, Numbers]:
        """Sides of the overlap, and 2 for an edge of the prediction that is inside, 1 if on it.

        The overlap is what is left of the prediction when its edges are moved into the target.
        """
        pred, target = self.pred, self.target
        low, high = moved = np.maximum(pred.edges, target.low, out=self.room.take(2, 2))
        np.minimum(moved, target.high, out=moved)
        flags = twice(pred.edges == moved)
        flags -= (pred.edges == target.low).view(np.int8)
        flags -= (pred.edges == target.high).view(np.int8)
        return np.subtract(high, low, out=low), flags

    @cached_property
    def twice_outermost(self) -> Numbers:
        """2 for an edge of the prediction that is one of the hull, 1 if the target shares it."""
        pred, target = self.pred, self.target
        outermost = np.empty(pred.edges.shape, bool)
        np.less(pred.low, target.low, out=outermost[0])
        np.greater(pred.high, target.high, out=outermost[1])
        flags = twice(outermost)
        flags += (pred.edges == target.edges).view(np.int8)
        return flags

    @cached_property
    def hull(self) -> Numbers:
        """Sides of the enclosing box."""
        low = np.minimum(self.pred.low, self.target.low, out=self.room.passage.take(2))
        high = np.maximum(self.pred.high, self.target.high, out=self.room.take(2))
        high -= low
        return high

    @cached_property
    def hull_area(self) -> Numbers:
        """Area of the enclosing box."""
        return product(self.hull, self.room.take())

    @cached_property
    def between(self) -> Numbers:
        """From the centre of the target to that of the prediction."""
        room = self.room
        low, high = np.subtract(self.pred.edges, self.target.edges, out=room.passage.take(2, 2))
        twice_between = np.add(low, high, out=room.take(2))
        twice_between *= room.half
        return twice_between


class PairByReaches(Pair):
    """A pair whose corners float64 had to round: from the reaches alone, which it did not.

    A reach is how far one box goes beyond the start of the other, ``hi' − lo`` and ``hi − lo'``,
    shape (2, 2, n): one for each edge of the prediction. The edge is beyond the near end of the
    target where its reach is positive, and beyond the far end where it exceeds the target's side.
    """

    def __init__(self, pred: Sides, target: Sides, reaches: Numbers, room: Room) -> None:
        self.reaches = reaches
        super().__init__(pred, target, room)

    def _inside(self) -> tuple[Numbers, Numbers]:
        of_target, of_pred = self.reaches
        overlap = np.minimum(of_target, of_pred, out=self.room.take(2))
        np.clip(overlap, 0, self.pred.lengths, out=overlap)
        np.clip(overlap, 0, self.target.lengths, out=overlap)
        return overlap, np.sign(self.reaches) - np.sign(self.reaches - self.target.lengths)

    @cached_property
    def twice_outermost(self) -> Numbers:
        """2 for an edge of the prediction that is one of the hull, 1 if the target shares it."""
        return 1 + np.sign(self.reaches - self.target.lengths)

    @cached_property
    def hull(self) -> Numbers:
        """Sides of the enclosing box."""
        of_target, of_pred = self.reaches
        hull = np.maximum(of_target, of_pred, out=self.room.take(2))
        np.maximum(hull, self.pred.lengths, out=hull)
        return np.maximum(hull, self.target.lengths, out=hull)

    @cached_property
    def between(self) -> Numbers:
        """From the centre of the target to that of the prediction."""
        of_target, of_pred = self.reaches
        twice_between = np.subtract(of_pred, of_target, out=self.room.take(2))
        twice_between *= self.room.half
        return twice_between


def twice(flags: NDArray[np.bool_]) -> Flags:
    """2 for true, 0 for false."""
    numbers: Flags = flags.view(np.int8)
    numbers += numbers
    return numbers


def product(sides: Numbers, out: Numbers) -> Numbers:
    """Area from width and height."""
    return np.multiply(sides[0], sides[1], out=out)


def squared_length(vector: Numbers, room: Room) -> Numbers:
    """By Pythagoras."""
    squares = np.multiply(vector, vector, out=room.take(2))
    return np.add(squares[0], squares[1], out=squares[0])


def positive(whole: Numbers, room: Room) -> Numbers:
    """Make 0 in a denominator 1, which leaves 0/0 = 0.

    A positive one below the normal numbers is refused: float64 has lost digits of it, or will lose
    them in the quotient. The processor says nothing of such a product if it happens to be exact.
    """
    out = room.take(*whole.shape[:-1])
    if room.exact:
        return np.add(whole, whole == 0, out=out)
    if whole.min() >= SMALLEST_NORMAL:
        np.copyto(out, whole)
        return out
    if ((whole > 0) & (whole < SMALLEST_NORMAL)).any():
        raise FloatingPointError("a denominator below the normal numbers")
    return np.add(whole, whole == 0, out=out)


class Slopes:
    """A measure, and the slopes of 1 less the measure in what moves with the edges.

    Attributes
    ----------
    measure : shape (n,)
    intersection, area, hull_area : shape (n,), or None where there is no slope
        In the areas of intersection, prediction and hull.
    sides, hull : shape (2, n), or None
        In the sides of prediction and hull, beyond what follows from their areas.
    shift : shape (2, n), or None
        In either edge of the prediction, as its centre moves: half the slope in the centre.
    """

    def __init__(self, measure: Numbers, room: Room) -> None:
        self.measure = measure
        self.intersection: Numbers = None
        self.area: Numbers = None
        self.hull_area: Numbers = None
        self.sides: Numbers = None
        self.hull: Numbers = None
        self.shift: Numbers = None
        self._room = room

    def add(self, name: str, slope: Numbers) -> None:
        """Add to the slope in an area, shape (n,)."""
        slopes = getattr(self, name)
        if slopes is None:
            setattr(self, name, self._room.take())
            np.copyto(getattr(self, name), slope)
        else:
            slopes += slope

    def add_product(self, name: str, vector: Numbers, factor: Numbers) -> None:
        """Add a vector, shape (2, n), times a factor, shape (n,) or (2, n), to a slope in sides."""
        slopes = getattr(self, name)
        if slopes is None:
            setattr(self, name, np.multiply(vector, factor, out=self._room.take(2)))
        else:
            slopes += np.multiply(vector, factor, out=self._room.passage.take(2))

    def outward(self, pair: Pair, out: Numbers) -> None:
        """Compute the slopes in the edges, each moving outward, shape (2, 2, n)."""
        half = self._room.half
        # The slope of an area in one side is the other side.
        if self.area is not None:
            self.add_product("sides", pair.sides[::-1], self.area)
        if self.hull_area is not None:
            self.add_product("hull", pair.hull[::-1], self.hull_area)
        if self.intersection is None:
            np.copyto(out, self.sides)
        else:
            np.copyto(out, pair.twice_inside)
            self.intersection *= half
            in_overlap = self._room.passage.take(2)
            out *= np.multiply(pair.overlap[::-1], self.intersection, out=in_overlap)
            out += self.sides
        if self.hull is not None:
            in_hull = self._room.passage.take(2, 2)
            np.copyto(in_hull, pair.twice_outermost)
            self.hull *= half
            in_hull *= self.hull
            out += in_hull
        if self.shift is not None:
            out[0] -= self.shift
            out[1] += self.shift


# Each term adds to a measure, or takes away from it, and adds the slopes.


def of_iou(pair: Pair, slopes: Slopes, _: "Formula") -> None:
    """``I/U``: the slope of its loss is ``−(1 + IoU)/U`` in I and ``IoU/U`` in A."""
    passage = pair.room.passage
    np.copyto(slopes.measure, pair.iou)
    union = positive(pair.union, passage)
    in_area = np.divide(pair.iou, union, out=passage.take())
    in_intersection = np.divide(-1, union, out=union)
    in_intersection -= in_area
    slopes.add("intersection", in_intersection)
    slopes.add("area", in_area)


def of_enclosure(pair: Pair, slopes: Slopes, _: "Formula") -> None:
    """``(C − U)/C``: the slope is ``U/C²`` in C, ``1/C`` in I and ``−1/C`` in A."""
    passage = pair.room.passage
    area = positive(pair.hull_area, passage)
    # Rounding may lift the union above the hull that contains it.
    wasted = np.subtract(pair.hull_area, pair.union, out=passage.take())
    np.maximum(wasted, 0, out=wasted)
    wasted /= area
    slopes.measure -= wasted
    per_area = np.divide(1, area, out=area)
    # Where C is 0 the penalty is 0 by definition, though U may begin to grow there.
    flat = pair.hull_area == 0
    if flat.any():
        per_area[flat] = 0
    filled = np.multiply(pair.union, per_area, out=wasted)
    filled *= per_area
    slopes.add("hull_area", filled)
    slopes.add("intersection", per_area)
    slopes.add("area", np.negative(per_area, out=per_area))


def of_distance(pair: Pair, slopes: Slopes, _: "Formula") -> None:
    """``d²/c²``: the slope is ``1/c²`` in d² and ``−d²/c⁴`` in c²."""
    passage = pair.room.passage
    diagonal = positive(squared_length(pair.hull, passage), passage)
    distance = squared_length(pair.between, passage)
    distance /= diagonal
    slopes.measure -= distance
    per_diagonal = np.divide(1, diagonal, out=diagonal)
    slopes.add_product("shift", pair.between, per_diagonal)
    distance *= -2
    distance *= per_diagonal
    slopes.add_product("hull", pair.hull, distance)


def of_aspect(pair: Pair, slopes: Slopes, formula: "Formula") -> None:
    """``αv``, where v is the square of a turn, the difference of two aspect angles.

    In right angles, the angle ``2/π atan2(w, h)`` has the slope ``2/π h/(w² + h²)`` in w, and
    ``−2/π w/(w² + h²)`` in h.
    """
    passage = pair.room.passage
    turn = turn_of(pair)
    v = np.multiply(turn, turn, out=passage.take())
    whole = np.subtract(1, pair.iou, out=passage.take())
    whole += v
    alpha = np.divide(v, positive(whole, passage), out=whole)
    alpha, in_v, in_iou = ALPHAS[formula.alpha](alpha, pair.iou)
    v *= alpha
    slopes.measure -= v
    if in_iou is not None:
        slopes.intersection *= 1 - in_iou
        slopes.area *= 1 - in_iou
    per_square = positive(squared_length(pair.sides, passage), passage)
    in_angle = np.divide(turn, per_square, out=per_square)
    in_angle *= in_v
    in_angle *= passage.number(4 / pi)
    against = passage.take(2)
    np.negative(pair.sides[1], out=against[0])
    np.copyto(against[1], pair.sides[0])
    slopes.add_product("sides", against, in_angle)


def turn_of(pair: Pair) -> Numbers:
    """From the aspect angle of the prediction to that of the target, in right angles."""
    if pair.room.exact:
        return np.frompyfunc(_exact_turn, 4, 1)(*pair.sides, *pair.target.lengths)
    return np.subtract(pair.target.angle, pair.pred.angle, out=pair.room.take())


def _exact_turn(
    width: Fraction, height: Fraction, target_width: Fraction, target_height: Fraction
) -> Fraction:
    """Round one arctangent only, as :func:`iou.exact.ciou` does."""
    height += not (width or height)
    target_height += not (target_width or target_height)
    opposite = target_width * height - width * target_height
    adjacent = height * target_height + width * target_width
    longer = max(abs(opposite), adjacent)
    return Fraction(atan2(opposite / longer, adjacent / longer) / (pi / 2))


def of_sides(pair: Pair, slopes: Slopes, _: "Formula") -> None:
    """``((w − w')/c_w)² + ((h − h')/c_h)²``, by the sides c_w and c_h of the hull.

    With a share s of them, s² has the slope 2s/c_w in w and ``−2s²/c_w`` in c_w.
    """
    passage = pair.room.passage
    hull = positive(pair.hull, passage)
    share = np.subtract(pair.sides, pair.target.lengths, out=passage.take(2))
    share /= hull
    twice_per_hull = np.divide(2, hull, out=hull)
    slopes.add_product("sides", share, twice_per_hull)
    squares = np.multiply(share, share, out=share)
    for square in squares:
        slopes.measure -= square
    slopes.add_product("hull", np.negative(squares, out=squares), twice_per_hull)


def of_power(pair: Pair, slopes: Slopes, formula: "Formula") -> None:
    """``IoU^p``: its slope is that of the IoU, times ``p IoU^(p − 1)``."""
    of_iou(pair, slopes, formula)
    room = pair.room
    one_less = formula.power - 1
    if room.exact:
        power = np.frompyfunc(lambda iou: _exact_power(iou, one_less), 1, 1)(pair.iou)
    elif one_less <= _LARGEST_EXACT_POWER:
        power = np.power(pair.iou, one_less, out=room.passage.take())
    else:
        # Fractions would round this power to a float64 too.
        with np.errstate(under="ignore"):
            power = np.power(pair.iou, one_less, out=room.passage.take())
    slopes.measure *= power
    power *= room.number(formula.power)
    slopes.intersection *= power
    slopes.area *= power


def of_corners(pair: Pair, slopes: Slopes, formula: "Formula") -> None:
    """``(d₁² + d₂²)/D²``, by the distances of the corners and the diagonal D of the image.

    With the centre off by Δc and the side by Δs, the edges of an axis are off by Δc ± Δs/2. So the
    sum of their squares is ``2Δc² + Δs²/2``, with the slope 4Δc in the centre and Δs in the side.
    """
    passage = pair.room.passage
    width, height = (passage.number(side) for side in formula.image)
    per_square = 1 / (width * width + height * height)
    shift = np.multiply(pair.between, 2, out=passage.take(2))
    change = np.subtract(pair.sides, pair.target.lengths, out=passage.take(2))
    slopes.add_product("shift", shift, per_square)
    slopes.add_product("sides", change, per_square)
    off = squared_length(shift, passage)
    off += squared_length(change, passage)
    off *= passage.half * per_square
    slopes.measure -= off


def of_gaussians(pair: Pair, slopes: Slopes, formula: "Formula") -> None:
    """``exp(−W/c)``, with ``W² = d² + ((w − w')² + (h − h')²)/4``.

    W has the slope Δc/W in the centre and Δs/4W in the side. Where W is 0 it rises to all sides
    alike, so that the mean of its slopes is 0.
    """
    passage = pair.room.passage
    constant = passage.number(formula.constant)
    half_change = np.subtract(pair.sides, pair.target.lengths, out=passage.take(2))
    half_change *= passage.half
    distance = squared_length(pair.between, passage)
    distance += squared_length(half_change, passage)
    if passage.exact:
        distance = np.frompyfunc(_exact_root, 1, 1)(distance)
        similarity = np.frompyfunc(_exact_exponential, 1, 1)(-distance / constant)
    else:
        np.sqrt(distance, out=distance)
        similarity = np.divide(distance, -constant, out=passage.take())
        # What underflows here would in Fractions too: `_exact_exponential` rounds to a float64.
        with np.errstate(under="ignore"):
            np.exp(similarity, out=similarity)
    np.copyto(slopes.measure, similarity)
    similarity /= constant
    similarity /= positive(distance, passage)
    similarity *= passage.half
    slopes.add_product("shift", pair.between, similarity)
    slopes.add_product("sides", half_change, similarity)


def _exact_power(iou: Fraction, exponent: float) -> Fraction:
    """Round the power only where it is no fraction, or one of too many digits."""
    if exponent <= _LARGEST_EXACT_POWER and exponent == int(exponent):
        return iou ** int(exponent)
    return Fraction(float(iou) ** exponent)


def _exact_root(square: Fraction) -> Fraction:
    """Round a root to more than 60 digits in base 2, whatever its size."""
    up = max(0, 128 - square.numerator.bit_length() + square.denominator.bit_length()) // 2
    return Fraction(isqrt(square.numerator * 4**up // square.denominator), 2**up)


def _exact_exponential(exponent: Fraction) -> Fraction:
    return Fraction(exp(nearest_float(exponent)))


Term = Callable[[Pair, Slopes, "Formula"], None]
TERMS: dict[str, tuple[Term, ...]] = {
    "iou": (of_iou,),
    "giou": (of_iou, of_enclosure),
    "diou": (of_iou, of_distance),
    "ciou": (of_iou, of_distance, of_aspect),
    "eiou": (of_iou, of_distance, of_sides),
    "alpha_iou": (of_power,),
    "mpdiou": (of_iou, of_corners),
    "nwd": (of_gaussians,),
}

# From v / (S + v) and the IoU: α, how much of the slope of v is in that of αv, and how much of the
# slope of the IoU is. Differentiated, αv = v² / (S + v) has the slope 2α − α² in v, and −α² in S.
ALPHAS: dict[str, Callable[[Numbers, Numbers], tuple[Numbers, Numbers, Numbers | None]]] = {
    "constant": lambda alpha, _: (alpha, alpha, None),
    "differentiated": lambda alpha, _: (alpha, 2 * alpha - alpha * alpha, alpha * alpha),
    "gated": lambda alpha, iou: (gated := alpha * (2 * iou >= 1), gated, None),
}


@dataclass(frozen=True)
class Formula:
    """Which loss, in which format, by which convention."""

    measure: str
    fmt: str
    alpha: str = "constant"
    power: float = 1.0
    image: tuple[float, float] = (1.0, 1.0)
    constant: float = 1.0

    def fill(self, gradient: Numbers, pair: Pair, values: Numbers | None = None) -> None:
        """Compute slopes in the four numbers, shape (4, n), and losses, shape (n,)."""
        if values is None:
            values = pair.room.take()
        slopes = Slopes(values, pair.room)
        for term in TERMS[self.measure]:
            term(pair, slopes, self)
            pair.room.passage.clear()
        np.subtract(1, values, out=values)
        slopes.outward(pair, gradient.reshape(2, 2, -1))
        FORMATS[self.fmt].slopes(gradient[:2], gradient[2:], pair.room.passage)
        pair.room.passage.clear()


# Formats: from four numbers to edges, and from slopes outward to slopes in the four numbers. A
# centre moves both edges; a side moves both by half in ``cxcywh``, and the high one in ``xywh``.


@dataclass(frozen=True)
class Format:
    """How the four numbers of a format move the edges."""

    edges: Callable[[Numbers, Room], tuple[Numbers, Numbers]]
    slopes: Callable[[Numbers, Numbers, Room], None]

    def sides(self, numbers: Numbers, room: Room) -> Sides:
        """Find edges and sides of boxes from their four numbers, shape (4, n)."""
        edges, lengths = self.edges(numbers, room)
        return Sides(edges, lengths, room)


def _corners(numbers: Numbers, room: Room) -> tuple[Numbers, Numbers]:
    edges = numbers.reshape(2, 2, -1)
    return edges, np.subtract(edges[1], edges[0], out=room.take(2))


def _inclusive(numbers: Numbers, room: Room) -> tuple[Numbers, Numbers]:
    edges = room.take(2, 2)
    np.copyto(edges[0], numbers[:2])
    np.add(numbers[2:], 1, out=edges[1])
    return edges, np.subtract(edges[1], edges[0], out=room.take(2))


def _start_and_sides(numbers: Numbers, room: Room) -> tuple[Numbers, Numbers]:
    edges, sides = room.take(2, 2), numbers[2:]
    np.copyto(edges[0], numbers[:2])
    np.add(numbers[:2], sides, out=edges[1])
    return edges, sides


def _centre_and_sides(numbers: Numbers, room: Room) -> tuple[Numbers, Numbers]:
    edges, sides = room.take(2, 2), numbers[2:]
    half = np.multiply(sides, room.half, out=room.passage.take(2))
    np.subtract(numbers[:2], half, out=edges[0])
    np.add(numbers[:2], half, out=edges[1])
    return edges, sides


def _in_corners(low: Numbers, _: Numbers, __: Room) -> None:
    np.negative(low, out=low)


def _in_start_and_sides(low: Numbers, high: Numbers, _: Room) -> None:
    np.subtract(high, low, out=low)


def _in_centre_and_sides(low: Numbers, high: Numbers, room: Room) -> None:
    np.subtract(high, low, out=low)
    high -= np.multiply(low, room.half, out=room.take(2))


FORMATS = {
    "xyxy": Format(_corners, _in_corners),
    "xywh": Format(_start_and_sides, _in_start_and_sides),
    "cxcywh": Format(_centre_and_sides, _in_centre_and_sides),
    "xyxy_inclusive": Format(_inclusive, _in_corners),
}
