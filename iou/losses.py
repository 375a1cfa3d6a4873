"""Losses for box regression, each beside its gradient in closed form, and descent along them.

A loss is 1 less a measure, so it is 1 − IoU and a penalty:

===========  ============================  =============================================
loss         penalty                       source
===========  ============================  =============================================
``"iou"``    0                             J. Yu et al., "UnitBox", arXiv:1608.01471 (as
                                           −ln IoU)
``"giou"``   (C − U) / C                   H. Rezatofighi et al., arXiv:1902.09630
``"diou"``   d² / c²                       Z. Zheng et al., arXiv:1911.08287
``"ciou"``   d² / c² + αv                  Z. Zheng et al., arXiv:1911.08287
===========  ============================  =============================================

**The derivation.** A, B and I are the areas of the prediction, the target and the intersection,
U = A + B − I is that of the union, C that of the enclosing box; c is the diagonal of the enclosing
box, and d the distance of the centres. Write ``[s < t]`` for 1 where s < t and 0 where not. On each
axis, with the prediction from lo to hi and the target from lo' to hi':

* the side is ``hi − lo``: its slope is −1 in lo and 1 in hi;
* the overlap is what is left of the target when both its ends are moved into the prediction. It has
  the slope ``[hi' < lo] − [lo' < lo]`` in lo, and ``[hi < hi'] − [hi < lo']`` in hi: nothing else
  is needed for boxes that are apart, where both are 0;
* the hull is ``max(hi, hi') − min(lo, lo')``: its slope is ``−[lo < lo']`` in lo and
  ``[hi' < hi]`` in hi;
* the centre is ``(lo + hi) / 2``: its slope is 1/2 in both.

An area is a width times a height, so the slope of an area is that of a side times the other side.
All that is left is the rule for quotients: ``d(I / U) = (dI − IoU dU) / U``, and with
``dU = dA − dI`` that is ``((1 + IoU) dI − IoU dA) / U``.

**At a kink**, where two edges coincide, ``[s < t]`` is 1/2. The gradient is then the mean of the
two one-sided slopes, which is what a central difference tends to; at a prediction that is
perfect, it is 0.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import atan2, pi
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import exact
from .arguments import one_of, positive_integer
from .boxes import SMALLEST_NORMAL, Boxes, FloatArray, evaluate, nearest_float, read
from .overlap import MEASURES

# An array of float64, or of Fractions where float64 does not carry the numbers.
Numbers = Any

# Boxes computed at a time: what the formulas need on the way then fits the processor's cache.
_BLOCK = 2**14
_LOW, _HIGH = 0, 1

# From predictions to their IoU and gradient; from targets to that.
Look = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
Rule = Callable[[FloatArray], Look]


def loss(
    pred: ArrayLike,
    target: ArrayLike,
    measure: str = "iou",
    *,
    fmt: str = "xyxy",
    alpha: str = "constant",
) -> float | FloatArray:
    """Loss of predicted boxes: 1 less a measure.

    Parameters
    ----------
    pred, target : array_like, shape (..., 4)
        Boxes, as for :func:`iou.iou`, in shapes that broadcast.
    measure : {"iou", "giou", "diou", "ciou"}, default "iou"
        The measure.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers of both mean; see :mod:`iou.exact`.
    alpha : {"constant", "differentiated", "gated"}, default "constant"
        Which factor α the penalty αv of the CIoU has; the other losses have none. See Notes.

    Returns
    -------
    float or ndarray of float64, shape (...)
        Without unit; 0 for a perfect prediction. Up to 1 for the IoU, 2 for the GIoU and the DIoU,
        2.5 for the CIoU.

    Raises
    ------
    ValueError
        If `measure` or `alpha` is unknown, and as :func:`iou.iou` does.
    TypeError
        As :func:`iou.iou` does.

    Notes
    -----
    With S = 1 − IoU, these conventions of α are in use:

    ==================  ==============================  ==========================================
    `alpha`             α                               where
    ==================  ==============================  ==========================================
    ``constant``        v / (S + v), held constant in   arXiv:1911.08287 (AAAI 2020)
                        the gradient
    ``differentiated``  v / (S + v), differentiated     MMDetection at commit 030b568, where
                        too                             autograd sees v² / (S + v)
    ``gated``           as ``constant``, but 0 where    arXiv:2005.03572 (IEEE Transactions on
                        IoU < 1/2                       Cybernetics, 2022)
    ==================  ==============================  ==========================================

    Torchvision and ultralytics follow ``constant`` with 1e-7 added to S + v, which lowers αv by
    less than 1e-7.

    Examples
    --------
    >>> from iou import loss
    >>> pred = [[0, 0, 4, 2], [0, 0, 2, 2], [5, 5, 6, 6]]
    >>> target = [[0, 0, 2, 4], [1, 1, 3, 3], [0, 0, 2, 2]]
    >>> loss(pred, target)
    array([0.66666667, 0.85714286, 1.        ])
    >>> loss(pred, target, "diou")
    array([0.72916667, 0.96825397, 1.5625    ])
    >>> [round(loss(pred[0], target[0], "ciou", alpha=alpha), 6) for alpha in ("constant", "gated")]
    [0.762918, 0.729167]

    The policy that 0/0 is 0 holds in each term, so a point has the loss 1 even with itself:

    >>> loss((3, 3, 3, 3), (3, 3, 3, 3), "giou")
    1.0
    """
    return _loss(*_read(pred, target, measure, fmt, alpha), measure, alpha)


def loss_and_gradient(
    pred: ArrayLike,
    target: ArrayLike,
    measure: str = "iou",
    *,
    fmt: str = "xyxy",
    alpha: str = "constant",
) -> tuple[float | FloatArray, FloatArray]:
    """Loss of predicted boxes, and its gradient with respect to their four numbers.

    Parameters
    ----------
    pred, target : array_like, shape (..., 4)
        Boxes, as for :func:`iou.iou`, in shapes that broadcast.
    measure : {"iou", "giou", "diou", "ciou"}, default "iou"
        The measure.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers of both mean; see :mod:`iou.exact`.
    alpha : {"constant", "differentiated", "gated"}, default "constant"
        The convention of α for the CIoU, as for :func:`loss`.

    Returns
    -------
    values : float or ndarray of float64, shape (...)
        What :func:`loss` returns, to the bit.
    gradient : ndarray of float64, shape (..., 4)
        Slopes in the four numbers of `fmt`, per unit of the coordinates. Where edges coincide, they
        are the means of the one-sided slopes; infinite where they exceed the range of float64.

    Raises
    ------
    ValueError, TypeError
        As :func:`loss` does.

    See Also
    --------
    descend : follows the gradient.

    Notes
    -----
    Corners that float64 had to round are taken as rounded, so in the formats ``xywh`` and
    ``cxcywh`` a box that is small and far from the origin has a gradient with fewer digits. The
    policy that 0/0 is 0 makes a term constant there, and its gradient 0.

    Examples
    --------
    A unit box inside one of side 2, and to the right of it. Growing to the right pays as long as
    it covers the target; apart, the IoU is flat and the GIoU is not:

    >>> from iou import loss_and_gradient
    >>> values, gradient = loss_and_gradient([[0, 0, 1, 1], [3, 0, 4, 1]], [0, 0, 2, 2])
    >>> values
    array([0.75, 1.  ])
    >>> gradient
    array([[ 0.09375,  0.09375, -0.25   , -0.25   ],
           [ 0.     ,  0.     ,  0.     ,  0.     ]])
    >>> loss_and_gradient((3, 0, 4, 1), (0, 0, 2, 2), "giou")[1]
    array([ 0.125  , -0.03125,  0.03125, -0.125  ])

    In centre form, a change of width moves each edge by half of it:

    >>> loss_and_gradient((1, 1, 1, 2), (1, 1, 2, 2), fmt="cxcywh")[1]
    array([ 0.    ,  0.    , -0.5   , -0.0625])

    A perfect prediction is where the descent ends:

    >>> loss_and_gradient((1, 1, 4, 2), (1, 1, 4, 2), "ciou", fmt="cxcywh")[1]
    array([0., 0., 0., 0.])
    """
    first, second = _read(pred, target, measure, fmt, alpha)
    shape = np.broadcast_shapes(first.shape, second.shape)
    low_high, target_low_high = (_edges_of(boxes, shape) for boxes in (first, second))
    formula = Formula(measure, fmt, alpha)
    gradient = np.empty((4, low_high.shape[-1]))
    with np.errstate(all="raise"):
        for part in _blocks(gradient.shape[1]):
            _fill(gradient, part, low_high, target_low_high, formula)
    for row in np.flatnonzero(np.isnan(gradient[0])):
        index = tuple(map(int, np.unravel_index(row, shape)))
        gradient[:, row] = _exactly(first, second, index, formula)
    # Adding 0 makes −0 a 0.
    rows_of_four = np.add(gradient.T, 0, order="C").reshape(*shape, 4)
    return _loss(first, second, measure, alpha), rows_of_four


class Descent(NamedTuple):
    """What became of boxes that went down a loss.

    Attributes
    ----------
    boxes : ndarray of float64, shape (..., 4)
        Where they ended, in the format they were given in.
    error : ndarray of float64, shape (K + 1,)
        Sum of ``|pred − target|`` over all boxes and their four numbers: at the start, and after
        each of the K steps.
    path : ndarray of float64, shape (K + 1, ..., 4), or None
        Every box at the start and after each step, if it was asked for.
    """

    boxes: FloatArray
    error: FloatArray
    path: FloatArray | None


def descend(
    pred: ArrayLike,
    target: ArrayLike,
    measure: str | Rule = "iou",
    *,
    fmt: str = "xyxy",
    alpha: str = "constant",
    rates: Iterable[float],
    factor: Callable[[FloatArray], FloatArray] | None = None,
    path: bool = False,
    progress: Callable[[Sequence[Any]], Iterable[Any]] = iter,
    workers: int = 1,
) -> Descent:
    """Regress boxes to their targets by gradient descent.

    Each step is ``pred − rate · factor(IoU) · gradient``. Where it would turn a box inside out, the
    nearest box that is valid is taken: sides never become negative.

    Parameters
    ----------
    pred, target : array_like, shape (..., 4)
        Where the boxes start and where they should end, in shapes that broadcast.
    measure : {"iou", "giou", "diou", "ciou"} or callable, default "iou"
        The loss; or a function of targets, an array (4, n) of numbers in `fmt`, which returns a
        function of predictions, (4, n) too, which returns their IoU, shape (n,), and a new array
        with the gradient to go down, shape (4, n).
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers mean. The descent is in these numbers, and another one in another
        format; see :mod:`iou.exact`.
    alpha : {"constant", "differentiated", "gated"}, default "constant"
        The convention of α, as for :func:`loss`.
    rates : iterable of float
        The schedule: a learning rate for each step.
    factor : callable, optional
        What to multiply the rate by, given the IoU, shape (n,): ``lambda iou: 2 - iou`` in
        arXiv:1911.08287.
    path : bool, default False
        Whether to keep every box at every step.
    progress : callable, optional
        Wraps the sequence of parts of the work, as ``tqdm.tqdm`` does.
    workers : int, default 1
        How many threads share the work. The result is the same to the bit.

    Returns
    -------
    Descent
        ``boxes``, ``error`` and ``path``.

    Raises
    ------
    ValueError
        If a rate is no finite number, if `workers` is less than 1, if a box is so small or so large
        that its area leaves the range of float64, at the start or on the way, and as :func:`loss`
        does.
    TypeError
        As :func:`loss` does.

    Notes
    -----
    Beside the boxes it needs a few MiB, and with `path` what that takes.

    Examples
    --------
    Boxes that are apart stay where they are, or do not, as the loss has it:

    >>> import numpy as np
    >>> from iou import descend
    >>> start, target = [3, 1, 1, 1], [1, 1, 1, 1]
    >>> rates = np.repeat([0.1, 0.01, 0.001], [160, 20, 20])
    >>> descend(start, target, "iou", fmt="cxcywh", rates=rates).boxes
    array([3., 1., 1., 1.])
    >>> descend(start, target, "diou", fmt="cxcywh", rates=rates).boxes.round(2)
    array([1., 1., 1., 1.])

    The first two steps of that:

    >>> descend(start, target, "diou", fmt="cxcywh", rates=[0.1, 0.1], path=True).path.round(3)
    array([[3.   , 1.   , 1.   , 1.   ],
           [2.984, 1.   , 1.012, 1.004],
           [2.968, 1.   , 1.024, 1.012]])
    """
    schedule = [float(rate) for rate in rates]
    if not np.isfinite(schedule).all():
        raise ValueError("rates must be finite")
    workers = positive_integer(workers, "workers")
    rule = measure if callable(measure) else _rule(measure, fmt, alpha)
    first, second = _read(pred, target, "iou", fmt, alpha)
    shape = np.broadcast_shapes(first.shape, second.shape)
    start, goal = (_numbers(boxes, shape) for boxes in (first, second))
    parts = _blocks(start.shape[1])
    end = np.empty_like(start)
    errors = np.zeros((len(parts), len(schedule) + 1))
    paths = np.empty((len(schedule) + 1, *start.shape)) if path else None

    def run(number: int) -> None:
        part = parts[number]
        boxes, there = start[:, part].copy(), goal[:, part].copy()
        distance = np.empty_like(boxes)
        with np.errstate(over="raise", invalid="raise", divide="raise", under="ignore"):
            look = rule(there)
            for step in range(len(schedule) + 1):
                if step:
                    iou, gradient = look(boxes)
                    rate = schedule[step - 1]
                    gradient *= rate if factor is None else rate * factor(iou)
                    boxes -= gradient
                    _turn_back(boxes, fmt)
                np.subtract(boxes, there, out=distance)
                errors[number, step] = np.abs(distance, out=distance).sum()
                if paths is not None:
                    paths[step, :, part] = boxes
        end[:, part] = boxes

    with ThreadPoolExecutor(workers) as pool:
        running = [pool.submit(run, number) for number in range(len(parts))]
        try:
            for done in progress(running):
                done.result()
        except FloatingPointError:
            raise ValueError("boxes left the range of float64: take smaller rates") from None
        finally:
            for waiting in running:
                waiting.cancel()
    kept = None if paths is None else np.moveaxis(paths, 1, -1).reshape(-1, *shape, 4)
    return Descent(np.ascontiguousarray(end.T).reshape(*shape, 4), errors.sum(axis=0), kept)


def _rule(measure: str, fmt: str, alpha: str) -> Rule:
    check_names(measure, alpha)
    formula = Formula(measure, fmt, alpha)

    def rule(target: FloatArray) -> Look:
        there = sides_of(target, fmt)

        def look(pred: FloatArray) -> tuple[FloatArray, FloatArray]:
            pair = Pair(sides_of(pred, fmt), there)
            gradient = np.empty_like(pred)
            formula.fill(gradient, pair)
            return pair.iou, gradient

        return look

    return rule


def _turn_back(boxes: FloatArray, fmt: str) -> None:
    """Give boxes that are inside out the nearest ones that are not, in place."""
    start, end = boxes[:2], boxes[2:]
    if "w" in exact.FORMATS[fmt]:
        np.maximum(end, 0, out=end)
    else:
        excess = np.maximum(start - end, 0) / 2
        start -= excess
        end += excess


def sides_of(numbers: FloatArray, fmt: str) -> "Sides":
    """Find the edges and sides of boxes from their four numbers, shape (4, n)."""
    # The conversions treat the axes alike, so that one call serves both.
    low, _, high, _ = exact.TO_CORNERS[fmt](numbers[:2], 0, numbers[2:], 0)
    return Sides(low, high)


def _numbers(boxes: Boxes, shape: tuple[int, ...]) -> FloatArray:
    """Lay out the four numbers of each box in the shape (4, n)."""
    numbers = np.broadcast_to(boxes.given.astype(np.float64), (*shape, 4)).reshape(-1, 4)
    numbers = np.ascontiguousarray(numbers.T)
    with np.errstate(all="ignore"):
        sides = sides_of(numbers, boxes.fmt)
    flat = (sides.lengths == 0).any(axis=0)
    if not ((sides.area < np.inf) & ((sides.area >= SMALLEST_NORMAL) | flat)).all():
        raise ValueError("a box is so small or so large that its area leaves the range of float64")
    return numbers


def _read(
    pred: ArrayLike, target: ArrayLike, measure: str, fmt: str, alpha: str
) -> tuple[Boxes, Boxes]:
    check_names(measure, alpha)
    with_angles = MEASURES[measure].with_angles
    first = read(pred, fmt, "pred", with_angles=with_angles)
    second = read(target, fmt, "target", with_angles=with_angles)
    try:
        np.broadcast_shapes(first.shape, second.shape)
    except ValueError:
        raise ValueError(
            "pred and target do not broadcast: their shapes are "
            f"{first.given.shape} and {second.given.shape}"
        ) from None
    return first, second


def check_names(measure: Any, alpha: Any) -> None:
    """Refuse an unknown loss, or an unknown convention of α."""
    one_of(measure, PENALTIES, "loss")
    one_of(alpha, ALPHAS, "alpha")


def _loss(pred: Boxes, target: Boxes, measure: str, alpha: str) -> float | FloatArray:
    values = 1 - evaluate(MEASURES[measure], pred, target)
    if measure == "ciou" and alpha == "gated":
        iou, diou = (evaluate(MEASURES[name], pred, target) for name in ("iou", "diou"))
        values = np.where(np.asarray(iou) < 0.5, 1 - diou, values)
    return values if np.ndim(values) else float(values)


def _edges_of(boxes: Boxes, shape: tuple[int, ...]) -> FloatArray:
    """Corners in the shape (2 [low, high], 2 [x, y], n), NaN where float64 does not carry them."""
    corners = boxes.columns[:4].reshape(4, *(1,) * (len(shape) - len(boxes.shape)), *boxes.shape)
    return np.broadcast_to(corners, (4, *shape)).reshape(2, 2, -1)


def _blocks(count: int) -> list[slice]:
    return [slice(start, min(start + _BLOCK, count)) for start in range(0, count, _BLOCK)]


def _fill(
    out: FloatArray, part: slice, pred: FloatArray, target: FloatArray, formula: "Formula"
) -> None:
    """Compute gradients; where float64 fails, halve until a single one is left, which is NaN."""
    size = part.stop - part.start
    try:
        formula.fill(out[:, part], Pair(Sides(*pred[..., part]), Sides(*target[..., part])))
    except FloatingPointError:
        if size == 1:
            out[:, part] = np.nan
            return
        middle = part.start + size // 2
        for half in (slice(part.start, middle), slice(middle, part.stop)):
            _fill(out, half, pred, target, formula)


def _exactly(pred: Boxes, target: Boxes, row: tuple[int, ...], formula: "Formula") -> list[float]:
    """Compute one gradient in Fractions, by the same formulas."""
    both = []
    for boxes in (pred, target):
        own = row[len(row) - len(boxes.shape) :]
        index = tuple(0 if size == 1 else i for i, size in zip(own, boxes.shape, strict=True))
        corners = exact.corners(boxes.given[index].tolist(), boxes.fmt)
        both.append(Sides(*np.array(corners, dtype=object).reshape(2, 2, 1)))
    gradient = np.empty((4, 1), dtype=object)
    formula.fill(gradient, Pair(*both))
    return [nearest_float(number) for number in gradient[:, 0]]


# The derivation, line by line. Arrays hold x and y in the shape (2, n), or have the shape (n,).


class Sides:
    """Boxes given by their edges."""

    def __init__(self, low: Numbers, high: Numbers) -> None:
        self.low, self.high = low, high
        self.lengths = high - low
        self.area = product(self.lengths)


class Pair:
    """A prediction and a target, and what the measures are made of."""

    def __init__(self, pred: Sides, target: Sides) -> None:
        self.exact = pred.low.dtype == object
        self.low, self.high, self.sides = pred.low, pred.high, pred.lengths
        self.target_low, self.target_high = target.low, target.high
        self.target_sides = target.lengths
        # What is left of the target when its edges are moved into the prediction.
        self.overlap = self._into(target.high)
        self.overlap -= self._into(target.low)
        self.intersection = product(self.overlap)
        self.union = pred.area + target.area
        self.union -= self.intersection
        self.iou = self.intersection / positive(self.union)

    def _into(self, edge: Numbers) -> Numbers:
        moved = np.maximum(edge, self.low)
        return np.minimum(moved, self.high, out=moved)

    def number(self, value: float) -> Any:
        """Make a float one of the numbers that this pair computes with."""
        return Fraction(value) if self.exact else value

    @cached_property
    def hull(self) -> Numbers:
        """Sides of the enclosing box."""
        high = np.maximum(self.high, self.target_high)
        high -= np.minimum(self.low, self.target_low)
        return high

    @cached_property
    def between(self) -> Numbers:
        """From the centre of the target to that of the prediction."""
        twice = self.low - self.target_low
        twice += self.high - self.target_high
        return twice * self.number(0.5)

    @cached_property
    def passed(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Twice ``[lo' < lo]`` and ``[hi < hi']``."""
        return twice_below(self.target_low, self.low), twice_below(self.high, self.target_high)

    @cached_property
    def twice_overlap_slopes(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Twice the slopes of the overlap in lo and hi."""
        low, high = self.passed
        beyond_low = twice_below(self.target_high, self.low)
        beyond_high = twice_below(self.high, self.target_low)
        return beyond_low - low, high - beyond_high

    @cached_property
    def twice_hull_slopes(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Twice the slopes of the hull in lo and hi: ``[lo < lo']`` is 1 less ``[lo' < lo]``."""
        low, high = self.passed
        return low - 2, 2 - high


def twice_below(s: Numbers, t: Numbers) -> NDArray[np.int8]:
    """Twice ``[s < t]``: 2, 0, or 1 where s = t."""
    twice: NDArray[np.int8] = (s < t).view(np.int8)
    twice += (s <= t).view(np.int8)
    return twice


def product(sides: Numbers) -> Numbers:
    """Area from width and height."""
    width, height = sides
    return width * height


def squared_length(vector: Numbers) -> Numbers:
    """By Pythagoras."""
    x, y = vector
    return x * x + y * y


def positive(whole: Numbers) -> Numbers:
    """Make 0 in a denominator a positive number, which leaves 0/0 = 0."""
    if whole.dtype == object:
        return whole + (whole == 0)
    return np.maximum(whole, SMALLEST_NORMAL)


class Slopes:
    """Slopes in what the edges move: sides of overlap, prediction and hull, and the centre."""

    def __init__(self, overlap: Numbers, sides: Numbers) -> None:
        self.overlap, self.sides = overlap, sides
        self.hull: Numbers | None = None
        self.centre: Numbers | None = None


@dataclass(frozen=True)
class Formula:
    """Which loss, in which format, by which convention."""

    measure: str
    fmt: str
    alpha: str = "constant"

    def fill(self, out: Numbers, pair: Pair) -> None:
        """Compute the slopes of the loss in the four numbers of the prediction, shape (4, n)."""
        slopes = of_iou(pair)
        for penalty in PENALTIES[self.measure]:
            penalty(pair, slopes, self.alpha)
        to_edges(out, pair, slopes)
        TO_NUMBERS[self.fmt](out[:2], out[2:])


def of_iou(pair: Pair) -> Slopes:
    """``1 − I/U``: the slope is ``−(1 + IoU)/U`` in I and ``IoU/U`` in A, with U = A + B − I."""
    per_union = 1 / positive(pair.union)
    in_intersection = -(1 + pair.iou) * per_union
    in_area = pair.iou * per_union
    return Slopes(pair.overlap[::-1] * in_intersection, pair.sides[::-1] * in_area)


def enclosure(pair: Pair, slopes: Slopes, _: str) -> None:
    """``(C − U)/C``: the slope is ``U/C²`` in C, ``1/C`` in I and ``−1/C`` in A."""
    area = product(pair.hull)
    # Where C is 0 the penalty is 0 by definition, though U may begin to grow there.
    per_area = (area > 0) / positive(area)
    filled = pair.union / positive(area)
    slopes.hull = pair.hull[::-1] * (filled * per_area)
    slopes.overlap += pair.overlap[::-1] * per_area
    slopes.sides -= pair.sides[::-1] * per_area


def _distance(pair: Pair, slopes: Slopes, _: str) -> None:
    """``d²/c²``: the slope is ``1/c²`` in d² and ``−d²/c⁴`` in c²."""
    per_diagonal = 1 / positive(squared_length(pair.hull))
    slopes.centre = pair.between * (2 * per_diagonal)
    slopes.hull = pair.hull * (-2 * squared_length(pair.between) * per_diagonal * per_diagonal)


def _aspect(pair: Pair, slopes: Slopes, alpha: str) -> None:
    """``αv``, where v is the square of a turn, the difference of two aspect angles.

    In right angles, the angle ``2/π atan2(w, h)`` has the slope ``2/π h/(w² + h²)`` in w, and
    ``−2/π w/(w² + h²)`` in h.
    """
    turn = turn_of(pair)
    v = turn * turn
    in_v, in_iou = ALPHAS[alpha](v / positive((1 - pair.iou) + v), pair.iou)
    per_square = pair.number(2 / pi) / positive(squared_length(pair.sides))
    in_angle = -2 * turn * in_v * per_square
    if in_iou is not None:
        slopes.overlap *= 1 - in_iou
        slopes.sides *= 1 - in_iou
    width, height = pair.sides
    slopes.sides[0] += height * in_angle
    slopes.sides[1] -= width * in_angle


def turn_of(pair: Pair) -> Numbers:
    """From the aspect angle of the prediction to that of the target, in right angles."""
    if pair.exact:
        return np.frompyfunc(_exact_turn, 4, 1)(*pair.sides, *pair.target_sides)
    angle, target_angle = np.arctan2(*pair.sides), np.arctan2(*pair.target_sides)
    return (target_angle - angle) * (2 / pi)


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


def to_edges(out: Numbers, pair: Pair, slopes: Slopes) -> None:
    """Apply the chain rule, from what a loss is made of to the edges."""
    low, high = out[:2], out[2:]
    half = pair.number(0.5)
    in_overlap = slopes.overlap * half
    np.multiply(pair.twice_overlap_slopes[_LOW], in_overlap, out=low)
    np.multiply(pair.twice_overlap_slopes[_HIGH], in_overlap, out=high)
    low -= slopes.sides
    high += slopes.sides
    if slopes.hull is not None:
        in_hull = slopes.hull * half
        low += pair.twice_hull_slopes[_LOW] * in_hull
        high += pair.twice_hull_slopes[_HIGH] * in_hull
    if slopes.centre is not None:
        in_centre = slopes.centre * half
        low += in_centre
        high += in_centre


PENALTIES: dict[str, tuple[Callable[[Pair, Slopes, str], None], ...]] = {
    "iou": (),
    "giou": (enclosure,),
    "diou": (_distance,),
    "ciou": (_distance, _aspect),
}

# How much of the slope of v, and of the slope of the IoU, is in that of αv = v² / (S + v).
ALPHAS: dict[str, Callable[[Numbers, Numbers], tuple[Numbers, Numbers | None]]] = {
    "constant": lambda alpha, _: (alpha, None),
    "differentiated": lambda alpha, _: (2 * alpha - alpha * alpha, alpha * alpha),
    "gated": lambda alpha, iou: (alpha * (2 * iou >= 1), None),
}

# From edges to the four numbers of a format, in place: a centre moves both edges; a side moves both
# by half in ``cxcywh``, and one in ``xywh``.


def _keep(low: Numbers, high: Numbers) -> None:
    """Corners are edges."""


def _to_start_and_side(low: Numbers, high: Numbers) -> None:
    low += high


def _to_centre_and_side(low: Numbers, high: Numbers) -> None:
    low += high
    high -= low / 2


TO_NUMBERS: dict[str, Callable[[Numbers, Numbers], None]] = {
    "xyxy": _keep,
    "xywh": _to_start_and_side,
    "cxcywh": _to_centre_and_side,
    "xyxy_inclusive": _keep,
}
