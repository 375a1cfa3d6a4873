"""What a loss is made of, and its slopes: the derivation, line by line.

A, B and I are the areas of the prediction, the target and the intersection, U = A + B − I is that
of the union, C that of the enclosing box, the hull. Write ``[s < t]`` for 1 where s < t, for 0
where s > t, and for 1/2 where they are equal. On each axis, with the prediction from lo to hi and
the target from lo' to hi':

* the **side** is ``hi − lo``;
* the **overlap** is ``min(hi, hi') − max(lo, lo')``, or 0 where that is negative; on its way
  outward, an edge changes it from the near end of the target to the far one: lo by
  ``[lo < hi'] − [lo < lo']``, and hi by ``[lo' < hi] − [hi' < hi]``;
* the **hull** is ``max(hi, hi') − min(lo, lo')``; an edge changes it where it is beyond the far
  end: lo by ``[lo < lo']``, and hi by ``[hi' < hi]``;
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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import atan2, exp, isqrt, pi, prod
from typing import Any

import numpy as np

from .boxes import SMALLEST_NORMAL, aligned, nearest_float

# An array of float64, or of Fractions.
Numbers = Any

# Planes that a room has, and its passage; those that are not used cost nothing.
_PLANES, _PASSING = 64, 16
# The digits of a fraction grow with its power.
_LARGEST_EXACT_POWER = 16


class Planes:
    """Memory for arrays with n numbers in a row, which each round uses again."""

    def __init__(self, count: int, planes: int, dtype: Any = np.float64) -> None:
        self.count, self.planes = count, planes
        self.exact = dtype is object
        self.half = self.number(0.5)
        self._planes = aligned(planes * count, dtype)
        self._taken = 0
        self._known: dict[tuple[int, tuple[int, ...]], tuple[Numbers, int]] = {}

    def take(self, *shape: int) -> Numbers:
        """Hand out an array of the shape (*shape, n), whatever is in it."""
        start = self._taken
        if (start, shape) not in self._known:
            end = start + prod(shape)
            if end > self.planes:
                raise ValueError(f"a room of {self.planes} planes is full")
            planes = self._planes[start * self.count : end * self.count]
            self._known[start, shape] = planes.reshape(*shape, self.count), end
        array, self._taken = self._known[start, shape]
        return array

    def number(self, value: float) -> Any:
        """Make a float one of the numbers that are computed with."""
        return Fraction(value) if self.exact else value

    def mark(self) -> int:
        """Say how much is taken."""
        return self._taken

    def clear(self, mark: int = 0) -> None:
        """Take back what was handed out since."""
        self._taken = mark


class Room(Planes):
    """Memory for what a formula needs on its way, and a passage for what one step of it needs."""

    def __init__(self, count: int, planes: int = _PLANES, dtype: Any = np.float64) -> None:
        super().__init__(count, planes, dtype)
        self.passage = Planes(count, _PASSING, dtype)

    def clear(self, mark: int = 0) -> None:
        """Take back what was handed out since, and all in the passage."""
        super().clear(mark)
        self.passage.clear()


class Rectangles:
    """Boxes by their edges, shape (2 [low, high], 2 [x, y], n), and their sides, shape (2, n)."""

    def __init__(self, edges: Numbers, sides: Numbers, room: Room) -> None:
        self.edges, self.sides = edges, sides
        self.low, self.high = edges
        self.area = product(sides, room.take())
        self._room = room

    @cached_property
    def angle(self) -> Numbers:
        """Aspect angle ``atan2(w, h)``, in right angles."""
        angle = np.arctan2(self.sides[0], self.sides[1], out=self._room.take())
        angle /= pi / 2
        return angle


class Pair:
    """A prediction and a target, and what the measures are made of."""

    def __init__(self, pred: Rectangles, target: Rectangles, room: Room) -> None:
        self.pred, self.target, self.room = pred, target, room
        self.sides = pred.sides
        self.overlap = self._overlap()
        self.intersection = product(self.overlap, room.take())
        self.union = np.add(pred.area, target.area, out=room.take())
        self.union -= self.intersection
        self.nonzero_union = positive(self.union, room)
        self.iou = np.divide(self.intersection, self.nonzero_union, out=room.take())

    def _overlap(self) -> Numbers:
        """Sides of the overlap, one of them 0 where boxes are apart."""
        low = np.maximum(self.pred.low, self.target.low, out=self.room.passage.take(2))
        overlap = np.minimum(self.pred.high, self.target.high, out=self.room.take(2))
        overlap -= low
        self.room.passage.clear()
        return np.maximum(overlap, 0, out=overlap)

    @cached_property
    def twice_beyond(self) -> Numbers:
        """2 for an edge of the prediction that is beyond an end of the target, 1 if it is there.

        Shape (2 [near, far], 2 [low, high], 2, n); beyond is further outward.
        """
        pred, target = self.pred, self.target
        past, reached = np.empty((2, 2, *pred.edges.shape), bool)
        np.less(pred.low, target.edges[::-1], out=past[:, 0])
        np.greater(pred.high, target.edges, out=past[:, 1])
        np.less_equal(pred.low, target.edges[::-1], out=reached[:, 0])
        np.greater_equal(pred.high, target.edges, out=reached[:, 1])
        flags = past.view(np.int8)
        flags += reached.view(np.int8)
        return flags

    @property
    def twice_outermost(self) -> Numbers:
        """2 for an edge of the prediction that is one of the hull, 1 if the target shares it."""
        return self.twice_beyond[1]

    @cached_property
    def twice_inside(self) -> Numbers:
        """2 for an edge of the prediction that is inside the target, 1 if on an edge of it."""
        near, far = self.twice_beyond
        return near - far

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

    def __init__(self, pred: Rectangles, target: Rectangles, reaches: Numbers, room: Room) -> None:
        self.reaches = reaches
        super().__init__(pred, target, room)

    def _overlap(self) -> Numbers:
        of_target, of_pred = self.reaches
        overlap = np.minimum(of_target, of_pred, out=self.room.take(2))
        np.clip(overlap, 0, self.pred.sides, out=overlap)
        return np.clip(overlap, 0, self.target.sides, out=overlap)

    @cached_property
    def twice_beyond(self) -> Numbers:
        """2 for an edge of the prediction that is beyond an end of the target, 1 if it is there."""
        return 1 + np.sign([self.reaches, self.reaches - self.target.sides])

    @cached_property
    def hull(self) -> Numbers:
        """Sides of the enclosing box."""
        of_target, of_pred = self.reaches
        hull = np.maximum(of_target, of_pred, out=self.room.take(2))
        np.maximum(hull, self.pred.sides, out=hull)
        return np.maximum(hull, self.target.sides, out=hull)

    @cached_property
    def between(self) -> Numbers:
        """From the centre of the target to that of the prediction."""
        of_target, of_pred = self.reaches
        twice_between = np.subtract(of_pred, of_target, out=self.room.take(2))
        twice_between *= self.room.half
        return twice_between


def product(sides: Numbers, out: Numbers) -> Numbers:
    """Area from width and height."""
    return np.multiply(sides[0], sides[1], out=out)


def squared_length(vector: Numbers, room: Planes) -> Numbers:
    """By Pythagoras."""
    squares = np.multiply(vector, vector, out=room.take(2))
    return np.add(squares[0], squares[1], out=squares[0])


def positive(whole: Numbers, room: Planes) -> Numbers:
    """Make 0 in a denominator 1, which leaves 0/0 = 0.

    A positive one below the normal numbers is refused: float64 has lost digits of it, or will lose
    them in the quotient. The processor says nothing of such a product if it happens to be exact.
    """
    if not room.exact:
        if whole.min() >= SMALLEST_NORMAL:
            return whole
        if ((whole > 0) & (whole < SMALLEST_NORMAL)).any():
            raise FloatingPointError("a denominator below the normal numbers")
    return np.add(whole, whole == 0, out=room.take(*whole.shape[:-1]))


class Sum:
    """Slopes that terms add up, shape (*shape, n); None at first."""

    def __init__(self, room: Room, *shape: int) -> None:
        self.total: Numbers = None
        self._room, self._shape = room, shape

    def add(self, compute: Callable[..., Numbers], *operands: Numbers) -> Numbers:
        """Add what a ufunc computes, and hand that out for one step."""
        if self.total is None:
            self.total = compute(*operands, out=self._room.take(*self._shape))
            return self.total
        more = compute(*operands, out=self._room.passage.take(*self._shape))
        self.total += more
        return more

    def include(self, slopes: Numbers) -> None:
        """Add what has been computed."""
        if self.total is None:
            self.add(np.positive, slopes)
        else:
            self.total += slopes


class Slopes:
    """A measure, and the slopes of 1 less the measure in what moves with the edges.

    Attributes
    ----------
    measure : shape (n,)
    intersection, area, hull_area : shape (n,)
        In the areas of intersection, prediction and hull.
    sides, hull : shape (2, n)
        In the sides of prediction and hull, beyond what follows from their areas.
    shift : shape (2, n)
        In either edge of the prediction, as its centre moves: half the slope in the centre.
    """

    def __init__(self, measure: Numbers, room: Room) -> None:
        self.measure = measure
        self.intersection, self.area, self.hull_area = Sum(room), Sum(room), Sum(room)
        self.sides, self.hull, self.shift = Sum(room, 2), Sum(room, 2), Sum(room, 2)
        self._room = room

    def outward(self, pair: Pair, out: Numbers) -> None:
        """Compute the slopes in the edges, each moving outward, shape (2, 2, n).

        `out` may be the place of the edges, for it is written to when nothing needs them any more.
        """
        half, passage = self._room.half, self._room.passage
        # The slope of an area in one side is the other side.
        if self.area.total is not None:
            self.sides.add(np.multiply, pair.sides[::-1], self.area.total)
        if self.hull_area.total is not None:
            self.hull.add(np.multiply, pair.hull[::-1], self.hull_area.total)
        in_hull = None
        if self.hull.total is not None:
            in_hull = passage.take(2, 2)
            np.copyto(in_hull, pair.twice_outermost)
            self.hull.total *= half
            in_hull *= self.hull.total
        if self.intersection.total is None:
            np.copyto(out, self.sides.total)
        else:
            np.copyto(out, pair.twice_inside)
            self.intersection.total *= half
            in_overlap = passage.take(2)
            out *= np.multiply(pair.overlap[::-1], self.intersection.total, out=in_overlap)
            out += self.sides.total
        if in_hull is not None:
            out += in_hull
        if self.shift.total is not None:
            out[0] -= self.shift.total
            out[1] += self.shift.total


# Each term adds to a measure, or takes away from it, and then yields; asked on, it adds the slopes.


def of_iou(pair: Pair, slopes: Slopes, _: "Formula") -> Iterator[None]:
    """``I/U``: the slope of its loss is ``−(1 + IoU)/U`` in I and ``IoU/U`` in A."""
    np.copyto(slopes.measure, pair.iou)
    yield
    in_area = slopes.area.add(np.divide, pair.iou, pair.nonzero_union)
    per_union = np.divide(-1, pair.nonzero_union, out=pair.room.passage.take())
    slopes.intersection.add(np.subtract, per_union, in_area)


def of_enclosure(pair: Pair, slopes: Slopes, _: "Formula") -> Iterator[None]:
    """``(C − U)/C``: the slope is ``U/C²`` in C, ``1/C`` in I and ``−1/C`` in A."""
    passage = pair.room.passage
    area = positive(pair.hull_area, passage)
    # Rounding may lift the union above the hull that contains it.
    wasted = np.subtract(pair.hull_area, pair.union, out=passage.take())
    np.maximum(wasted, 0, out=wasted)
    wasted /= area
    slopes.measure -= wasted
    yield
    per_area = np.divide(1, area, out=passage.take())
    # Where C is 0 the penalty is 0 by definition, though U may begin to grow there.
    if area is not pair.hull_area:
        per_area[pair.hull_area == 0] = 0
    filled = np.multiply(pair.union, per_area, out=wasted)
    slopes.hull_area.add(np.multiply, filled, per_area)
    slopes.intersection.include(per_area)
    slopes.area.include(np.negative(per_area, out=per_area))


def of_distance(pair: Pair, slopes: Slopes, _: "Formula") -> Iterator[None]:
    """``d²/c²``: the slope is ``1/c²`` in d² and ``−d²/c⁴`` in c²."""
    passage = pair.room.passage
    diagonal = positive(squared_length(pair.hull, passage), passage)
    distance = squared_length(pair.between, passage)
    distance /= diagonal
    slopes.measure -= distance
    yield
    per_diagonal = np.divide(1, diagonal, out=diagonal)
    slopes.shift.add(np.multiply, pair.between, per_diagonal)
    distance *= -2
    distance *= per_diagonal
    slopes.hull.add(np.multiply, pair.hull, distance)


def of_aspect(pair: Pair, slopes: Slopes, formula: "Formula") -> Iterator[None]:
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
    yield
    if in_iou is not None:
        slopes.intersection.total *= 1 - in_iou
        slopes.area.total *= 1 - in_iou
    per_square = positive(squared_length(pair.sides, passage), passage)
    against, along = in_angle = passage.take(2)
    np.divide(turn, per_square, out=along)
    along *= in_v
    along *= passage.number(4 / pi)
    np.negative(along, out=against)
    slopes.sides.add(np.multiply, pair.sides[::-1], in_angle)


def turn_of(pair: Pair) -> Numbers:
    """From the aspect angle of the prediction to that of the target, in right angles."""
    if pair.room.exact:
        return np.frompyfunc(_exact_turn, 4, 1)(*pair.sides, *pair.target.sides)
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


def of_sides(pair: Pair, slopes: Slopes, _: "Formula") -> Iterator[None]:
    """``((w − w')/c_w)² + ((h − h')/c_h)²``, by the sides c_w and c_h of the hull.

    With a share s of them, s² has the slope 2s/c_w in w and ``−2s²/c_w`` in c_w.
    """
    passage = pair.room.passage
    hull = positive(pair.hull, passage)
    share = np.subtract(pair.sides, pair.target.sides, out=passage.take(2))
    share /= hull
    squares = np.multiply(share, share, out=passage.take(2))
    for square in squares:
        slopes.measure -= square
    yield
    twice_per_hull = np.divide(2, hull, out=passage.take(2))
    slopes.sides.add(np.multiply, share, twice_per_hull)
    slopes.hull.add(np.multiply, np.negative(squares, out=squares), twice_per_hull)


def of_power(pair: Pair, slopes: Slopes, formula: "Formula") -> Iterator[None]:
    """``IoU^p``: its slope is that of the IoU, times ``p IoU^(p − 1)``."""
    plain = of_iou(pair, slopes, formula)
    next(plain)
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
    yield
    yield from plain
    power *= room.number(formula.power)
    slopes.intersection.total *= power
    slopes.area.total *= power


def of_corners(pair: Pair, slopes: Slopes, formula: "Formula") -> Iterator[None]:
    """``(d₁² + d₂²)/D²``, by the distances of the corners and the diagonal D of the image.

    With the centre off by Δc and the side by Δs, the edges of an axis are off by Δc ± Δs/2. So the
    sum of their squares is ``2Δc² + Δs²/2``, with the slope 4Δc in the centre and Δs in the side.
    """
    passage = pair.room.passage
    width, height = (passage.number(side) for side in formula.image)
    per_square = 1 / (width * width + height * height)
    shift = np.multiply(pair.between, 2, out=passage.take(2))
    change = np.subtract(pair.sides, pair.target.sides, out=passage.take(2))
    off = squared_length(shift, passage)
    off += squared_length(change, passage)
    off *= passage.half * per_square
    slopes.measure -= off
    yield
    slopes.shift.add(np.multiply, shift, per_square)
    slopes.sides.add(np.multiply, change, per_square)


def of_gaussians(pair: Pair, slopes: Slopes, formula: "Formula") -> Iterator[None]:
    """``exp(−W/c)``, with ``W² = d² + ((w − w')² + (h − h')²)/4``.

    W has the slope Δc/W in the centre and Δs/4W in the side. Where W is 0 it rises to all sides
    alike, so that the mean of its slopes is 0.
    """
    passage = pair.room.passage
    constant = passage.number(formula.constant)
    half_change = np.subtract(pair.sides, pair.target.sides, out=passage.take(2))
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
    yield
    similarity /= constant
    similarity /= positive(distance, passage)
    similarity *= passage.half
    slopes.shift.add(np.multiply, pair.between, similarity)
    slopes.sides.add(np.multiply, half_change, similarity)


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


Term = Callable[[Pair, Slopes, "Formula"], Iterator[None]]
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

    def fill(self, gradient: Numbers | None, pair: Pair, values: Numbers | None = None) -> None:
        """Compute losses, shape (n,), and unless it is None the gradient, shape (4, n).

        The slopes come about in the place of the edges of the prediction.
        """
        if values is None:
            values = pair.room.take()
        slopes = Slopes(values, pair.room)
        for term in TERMS[self.measure]:
            steps = term(pair, slopes, self)
            next(steps)
            if gradient is not None:
                next(steps, None)
            pair.room.passage.clear()
        np.subtract(1, values, out=values)
        if gradient is not None:
            low, high = outward = pair.pred.edges
            slopes.outward(pair, outward)
            FORMATS[self.fmt].slopes(low, high, gradient, pair.room)
            pair.room.passage.clear()


# Formats: from four numbers to edges, and from slopes outward to slopes in the four numbers. A
# centre moves both edges; a side moves both by half in ``cxcywh``, and the high one in ``xywh``.


@dataclass(frozen=True)
class Format:
    """How the four numbers of a format move the edges."""

    edges: Callable[[Numbers, Room], tuple[Numbers, Numbers]]
    slopes: Callable[[Numbers, Numbers, Numbers, Room], None]

    def rectangles(self, numbers: Numbers, room: Room) -> Rectangles:
        """Find edges and sides of boxes from their four numbers, shape (4, n)."""
        edges, sides = self.edges(numbers, room)
        return Rectangles(edges, sides, room)


def _corners(numbers: Numbers, room: Room) -> tuple[Numbers, Numbers]:
    edges = room.take(2, 2)
    np.copyto(edges.reshape(4, -1), numbers)
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


def _in_corners(low: Numbers, high: Numbers, out: Numbers, _: Room) -> None:
    # What 0 is added to, or taken from, does not become −0.
    np.subtract(0, low, out=out[:2])
    np.add(high, 0, out=out[2:])


def _in_start_and_sides(low: Numbers, high: Numbers, out: Numbers, _: Room) -> None:
    np.subtract(high, low, out=out[:2])
    np.add(high, 0, out=out[2:])


def _in_centre_and_sides(low: Numbers, high: Numbers, out: Numbers, room: Room) -> None:
    in_centre, in_sides = out[:2], out[2:]
    np.subtract(high, low, out=in_centre)
    np.multiply(in_centre, room.half, out=in_sides)
    np.subtract(high, in_sides, out=in_sides)


FORMATS = {
    "xyxy": Format(_corners, _in_corners),
    "xywh": Format(_start_and_sides, _in_start_and_sides),
    "cxcywh": Format(_centre_and_sides, _in_centre_and_sides),
    "xyxy_inclusive": Format(_inclusive, _in_corners),
}
