"""Losses for box regression, each with its gradient in closed form, and descent along them.

A loss is 1 less a measure, and most measures are the IoU less a penalty:

=============  ==================================  ======================
loss           is                                  arXiv
=============  ==================================  ======================
``iou``        1 − IoU                             1608.01471, as −ln IoU
``giou``       1 − IoU + (C − U) / C               1902.09630
``diou``       1 − IoU + d² / c²                   1911.08287
``ciou``       1 − IoU + d² / c² + αv              1911.08287
``eiou``       1 − IoU + d² / c² + (Δw / c_w)²     2101.08158, without
               + (Δh / c_h)²                       its focal factor
``alpha_iou``  1 − IoUᵖ, with p = `power`          2110.13675
``mpdiou``     1 − IoU + (d₁² + d₂²) / D²          2307.07662
``nwd``        1 − exp(−W / `constant`), with      2110.13389
               W² = d² + (Δw² + Δh²) / 4
=============  ==================================  ======================

U and C are the areas of the union and of the enclosing box, which is c_w wide and c_h high, with
the diagonal c; d is the distance of the centres, d₁ and d₂ are those of the corners, Δw and Δh the
differences of the sides, and D is the diagonal of the `image`. :mod:`iou.formulas` derives the
gradients.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import exact
from .arguments import one_of, positive_integer, real
from .boxes import SMALLEST_NORMAL, Boxes, FloatArray, evaluate, nearest_float, read
from .formulas import (
    ALPHAS,
    FORMATS,
    TERMS,
    Formula,
    Numbers,
    Pair,
    PairByReaches,
    Planes,
    Rectangles,
    Room,
)
from .overlap import MEASURES, reaches_beyond

# Boxes computed at a time: what the formulas need on the way then fits the processor's cache.
_BLOCK = 2**13
# Boxes that go down together: with fewer, threads would take turns oftener.
_BLOCK_OF_DESCENT = 2**14

# The loss that a parameter belongs to.
_OWNERS = {"alpha": "ciou", "power": "alpha_iou", "image": "mpdiou", "constant": "nwd"}

# From predictions to their IoU and gradient; from targets to that.
Look = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
Rule = Callable[[FloatArray], Look]
# What computes numbers of pairs, shape (k, n).
Fill = Callable[[Numbers, Pair], None]


def loss(
    pred: ArrayLike,
    target: ArrayLike,
    measure: str = "iou",
    *,
    fmt: str = "xyxy",
    alpha: str = "constant",
    power: float | None = None,
    image: tuple[float, float] | None = None,
    constant: float | None = None,
) -> float | FloatArray:
    """Loss of predicted boxes: 1 less a measure.

    Parameters
    ----------
    pred, target : array_like, shape (..., 4)
        Boxes, as for :func:`iou.iou`, in shapes that broadcast.
    measure : {"iou", "giou", "diou", "ciou", "eiou", "alpha_iou", "mpdiou", "nwd"}, default "iou"
        Which loss; see :mod:`iou.losses`.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers of both mean; see :mod:`iou.exact`.
    alpha : {"constant", "differentiated", "gated"}, default "constant"
        Which factor α the penalty αv of the CIoU has; the other losses have none, and refuse any
        but the default. See Notes.
    power : float, optional
        The exponent of ``alpha_iou``, at least 1; its paper takes 3.
    image : (float, float), optional
        Width and height of the image, for ``mpdiou``.
    constant : float, optional
        What distances are divided by in ``nwd``, in the unit of the coordinates; its paper takes
        the mean size of the objects in its data.

    Returns
    -------
    float or ndarray of float64, shape (...)
        Without unit; 0 for a perfect prediction. Up to 1 for ``iou``, ``alpha_iou`` and ``nwd``, 2
        for ``giou`` and ``diou``, 2.5 for ``ciou``; 3.25 for ``eiou``, of a point in the corner of
        its target; and 3 for ``mpdiou``, if both boxes lie in the image.

    Raises
    ------
    ValueError
        If `measure` or `alpha` is unknown, if a parameter that the loss needs is missing, does not
        belong to it or is out of range, and as :func:`iou.iou` does.
    TypeError
        As :func:`iou.iou` does, and if a parameter is no number.

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

    Four more losses, the last three with what they depend on:

    >>> a, b = (0, 0, 4, 2), (0, 0, 2, 4)
    >>> round(loss(a, b, "eiou") - loss(a, b, "diou"), 6)  # (2/4)² twice
    0.5
    >>> round(loss(a, b, "alpha_iou", power=3), 6)  # 1 − 1/27
    0.962963
    >>> round(loss(a, b, "mpdiou", image=(8, 6)), 6)  # 2/3 + (0 + 8)/100
    0.746667
    >>> round(loss(a, b, "nwd", constant=2), 6)  # 1 − exp(−1), for W² = 2 + 2
    0.632121

    The policy that 0/0 is 0 holds in each term, so a point has the loss 1 even with itself; only
    ``nwd``, which divides by nothing but its constant, has the loss 0 there:

    >>> point = (3, 3, 3, 3)
    >>> loss(point, point, "giou"), loss(point, point, "nwd", constant=2)
    (1.0, 0.0)
    """
    formula = formula_of(measure, fmt, alpha, power=power, image=image, constant=constant)
    found = _of_plain(pred, target, formula, with_gradient=False)
    return _values(*_read(pred, target, formula), formula) if found is None else found[0]


def loss_and_gradient(
    pred: ArrayLike,
    target: ArrayLike,
    measure: str = "iou",
    *,
    fmt: str = "xyxy",
    alpha: str = "constant",
    power: float | None = None,
    image: tuple[float, float] | None = None,
    constant: float | None = None,
) -> tuple[float | FloatArray, FloatArray]:
    """Loss of predicted boxes, and its gradient with respect to their four numbers.

    Parameters
    ----------
    pred, target : array_like, shape (..., 4)
        Boxes, as for :func:`iou.iou`, in shapes that broadcast.
    measure : {"iou", "giou", "diou", "ciou", "eiou", "alpha_iou", "mpdiou", "nwd"}, default "iou"
        Which loss; see :mod:`iou.losses`.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers of both mean; see :mod:`iou.exact`.
    alpha : {"constant", "differentiated", "gated"}, default "constant"
        The convention of α for the CIoU, as for :func:`loss`.
    power, image, constant : optional
        Parameters of single losses, as for :func:`loss`.

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
    In the formats ``xywh`` and ``cxcywh`` corners are sums, which float64 may have to round. No
    value and no slope starts from them, so a box that is small and far from the origin loses no
    digit. The policy that 0/0 is 0 makes a term constant there, and its gradient 0.

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
    formula = formula_of(measure, fmt, alpha, power=power, image=image, constant=constant)
    found = _of_plain(pred, target, formula)
    return _of_any(pred, target, formula) if found is None else found


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
    power: float | None = None,
    image: tuple[float, float] | None = None,
    constant: float | None = None,
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
    measure : str or callable, default "iou"
        The loss, by its name as for :func:`loss`; or a function of targets, an array (4, n) of
        numbers in `fmt`, which returns a function of predictions, (4, n) too, which returns their
        IoU, shape (n,), and an array with the gradient to go down, shape (4, n), to be written
        over.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers mean. The descent is in these numbers, and another one in another
        format; see :mod:`iou.exact`.
    alpha : {"constant", "differentiated", "gated"}, default "constant"
        The convention of α, as for :func:`loss`.
    power, image, constant : optional
        Parameters of single losses, as for :func:`loss`.
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
        at the start that its area leaves the range of float64, if a number overflows on the way, if
        a parameter comes with a `measure` that is a function, and as :func:`loss` does.
    TypeError
        As :func:`loss` does.

    Notes
    -----
    It needs up to 600 bytes a box, 16 MiB for each worker, and with `path` what that takes. A box
    may shrink to a point on the way. In the formats ``xywh`` and ``cxcywh`` each step starts from
    corners as float64 rounds them: far from the origin, a descent has fewer digits than
    :func:`loss_and_gradient`.

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
    schedule = [real(rate, "a rate") for rate in rates]
    if not np.isfinite(schedule).all():
        raise ValueError("rates must be finite")
    workers = positive_integer(workers, "workers")
    if callable(measure):
        _refuse_foreign(None, alpha=alpha, power=power, image=image, constant=constant)
        formula, rule = Formula("iou", fmt), measure
    else:
        formula = formula_of(measure, fmt, alpha, power=power, image=image, constant=constant)
        rule = rule_of(formula.fill, fmt)
    first, second = _read(pred, target, formula)
    shape = np.broadcast_shapes(first.shape, second.shape)
    start, goal = (_numbers(boxes, shape) for boxes in (first, second))
    parts = _blocks(start.shape[1], _BLOCK_OF_DESCENT)
    end = np.empty_like(start)
    errors = np.zeros((len(parts), len(schedule) + 1))
    paths = np.empty((len(schedule) + 1, *start.shape)) if path else None

    def run(number: int) -> None:
        part = parts[number]
        room = Planes(part.stop - part.start, 12)
        boxes, there, distance = room.take(4), room.take(4), room.take(4)
        np.copyto(boxes, start[:, part])
        np.copyto(there, goal[:, part])
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
    kept = None if paths is None else np.moveaxis(paths, 1, -1).reshape(len(paths), *shape, 4)
    return Descent(np.ascontiguousarray(end.T).reshape(*shape, 4), errors.sum(axis=0), kept)


def rule_of(fill: Fill, fmt: str) -> Rule:
    """Make a rule of what fills in the gradients of a pair."""

    def rule(target: FloatArray) -> Look:
        count = target.shape[1]
        there = FORMATS[fmt].rectangles(target, Room(count, 8))
        room = Room(count)
        gradient = room.take(4)
        kept = room.mark()

        def look(pred: FloatArray) -> tuple[FloatArray, FloatArray]:
            room.clear(kept)
            pair = Pair(FORMATS[fmt].rectangles(pred, room), there, room)
            fill(gradient, pair)
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


def _numbers(boxes: Boxes, shape: tuple[int, ...]) -> FloatArray:
    """Lay out the four numbers of each box in the shape (4, n)."""
    numbers = np.broadcast_to(boxes.given.astype(np.float64), (*shape, 4)).reshape(-1, 4)
    numbers = np.ascontiguousarray(numbers.T)
    with np.errstate(all="ignore"):
        # The conversions treat the axes alike, so that one call serves both.
        low, _, high, _ = exact.TO_CORNERS[boxes.fmt](numbers[:2], 0, numbers[2:], 0)
        sides = high - low
        area = sides[0] * sides[1]
    flat = (sides == 0).any(axis=0)
    if not ((area < np.inf) & ((area >= SMALLEST_NORMAL) | flat)).all():
        raise ValueError("a box is so small or so large that its area leaves the range of float64")
    return numbers


def formula_of(
    measure: str,
    fmt: str,
    alpha: str,
    *,
    power: float | None = None,
    image: tuple[float, float] | None = None,
    constant: float | None = None,
) -> Formula:
    """Refuse an unknown name, and a parameter that is missing, not needed, or out of range."""
    one_of(measure, TERMS, "loss")
    exact.field_names(fmt)
    given = {"power": power, "image": image, "constant": constant}
    _refuse_foreign(measure, alpha=alpha, **given)
    for name in given:
        if given[name] is None and measure == _OWNERS[name]:
            raise ValueError(f"the loss {measure!r} needs {name}")
    if power is not None:
        power = real(power, "power")
        if not 1 <= power < np.inf:
            raise ValueError(f"power must be at least 1 and finite, it is {power}")
        return Formula(measure, fmt, power=power)
    if constant is not None:
        constant = real(constant, "constant")
        if not 0 < constant < np.inf:
            raise ValueError(f"constant must be positive and finite, it is {constant}")
        return Formula(measure, fmt, constant=constant)
    if image is not None:
        try:
            first, second = image
        except (TypeError, ValueError) as error:
            raise type(error)(f"image must be a width and a height, it is {image}") from None
        width, height = (real(side, "a side of the image") for side in (first, second))
        square = width * width + height * height
        if not (width > 0 and height > 0 and SMALLEST_NORMAL < square < np.inf):
            raise ValueError(f"image must be a positive width and height, it is {image}")
        return Formula(measure, fmt, image=(width, height))
    return Formula(measure, fmt, alpha)


def _refuse_foreign(measure: str | None, *, alpha: str, **given: Any) -> None:
    """Refuse parameters of other losses; all of them where the measure is a function."""
    one_of(alpha, ALPHAS, "alpha")
    given["alpha"] = None if alpha == "constant" else alpha
    for name, owner in _OWNERS.items():
        if given[name] is not None and measure != owner:
            this = "a function" if measure is None else repr(measure)
            raise ValueError(f"{name} belongs to the loss {owner!r}, not to {this}")


def _read(pred: ArrayLike, target: ArrayLike, formula: Formula) -> tuple[Boxes, Boxes]:
    with_angles = formula.measure == "ciou"
    first = read(pred, formula.fmt, "pred", with_angles=with_angles)
    second = read(target, formula.fmt, "target", with_angles=with_angles)
    try:
        np.broadcast_shapes(first.shape, second.shape)
    except ValueError:
        raise ValueError(
            "pred and target do not broadcast: their shapes are "
            f"{first.given.shape} and {second.given.shape}"
        ) from None
    return first, second


def _values(pred: Boxes, target: Boxes, formula: Formula) -> float | FloatArray:
    """Compute losses alone, by a measure of the package where there is one."""
    if formula.measure not in MEASURES:
        out = _in_blocks(pred, target, 1, lambda out, pair: formula.fill(None, pair, out[0]))
        return _shaped(out[0], out.shape[1:])
    values = 1 - evaluate(MEASURES[formula.measure], pred, target)
    if (formula.measure, formula.alpha) == ("ciou", "gated"):
        iou, diou = (evaluate(MEASURES[name], pred, target) for name in ("iou", "diou"))
        values = np.where(np.asarray(iou) < 0.5, 1 - diou, values)
    return values if np.ndim(values) else float(values)


def _of_plain(
    pred: ArrayLike, target: ArrayLike, formula: Formula, *, with_gradient: bool = True
) -> tuple[float | FloatArray, Any] | None:
    """Compute losses and gradients of boxes that need no care; None where one of them does.

    These are corners in float64, of boxes whose area is a normal number, that no step of the
    formula takes out of the range of float64.
    """
    if formula.fmt != "xyxy" or not (_is_plain(pred) and _is_plain(target)):
        return None
    try:
        first, second = np.broadcast_arrays(pred, target)
    except ValueError:
        return None
    rows, target_rows = first.reshape(-1, 4), second.reshape(-1, 4)
    values = np.empty(len(rows))
    gradient = np.empty(rows.shape) if with_gradient else None
    try:
        with np.errstate(all="raise"):
            for part, room in _blocks_in_rooms(len(rows)):
                pair = _pair_of_corners(rows[part].T, target_rows[part].T, room)
                if not (_have_area(pair.pred) and _have_area(pair.target)):
                    return None
                # One that is infinite leaves no union that is finite.
                if not pair.union.max() < np.inf:
                    return None
                here = None if gradient is None else gradient[part].T
                formula.fill(here, pair, values[part])
    except FloatingPointError:
        return None
    whole = None if gradient is None else gradient.reshape(first.shape)
    return _shaped(values, first.shape[:-1]), whole


def _is_plain(boxes: Any) -> bool:
    return type(boxes) is np.ndarray and boxes.dtype == np.float64 and boxes.shape[-1:] == (4,)


def _have_area(boxes: Rectangles) -> bool:
    """Tell whether all areas are normal numbers; NaN leaves none that is.

    Where one side and the area are positive, the other side is too.
    """
    return bool(boxes.sides[0].min() > 0 and boxes.area.min() >= SMALLEST_NORMAL)


def _of_any(
    pred: ArrayLike, target: ArrayLike, formula: Formula
) -> tuple[float | FloatArray, FloatArray]:
    """Compute losses and gradients of any boxes."""
    first, second = _read(pred, target, formula)
    out = _in_blocks(first, second, 4, formula.fill)
    # Adding 0 makes −0 a 0.
    gradient = np.add(np.moveaxis(out, 0, -1), 0, order="C")
    return _values(first, second, formula), gradient


def _in_blocks(pred: Boxes, target: Boxes, height: int, fill: Fill) -> FloatArray:
    """Compute numbers of pairs that broadcast, shape (height, ...)."""
    shape = np.broadcast_shapes(pred.shape, target.shape)
    pred, target = (_in_one_row(boxes, shape) for boxes in (pred, target))
    out = np.empty((height, len(pred)))
    with np.errstate(all="raise"):
        for part, room in _blocks_in_rooms(len(pred)):
            _fill(out, part, pred, target, fill, room)
    for row in np.flatnonzero(np.isnan(out).any(axis=0)):
        out[:, row] = _exactly(pred, target, int(row), height, fill)
    return out.reshape(height, *shape)


def _shaped(values: FloatArray, shape: tuple[int, ...]) -> float | FloatArray:
    return values.reshape(shape) if shape else values.item()


def _in_one_row(boxes: Boxes, shape: tuple[int, ...]) -> Boxes:
    """Broadcast boxes to a shape, and lay them out in the shape (n,)."""
    boxes = boxes[(None,) * (len(shape) - len(boxes.shape))]
    height = len(boxes.columns)
    columns = np.broadcast_to(boxes.columns, (height, *shape)).reshape(height, -1)
    given = np.broadcast_to(boxes.given, (*shape, 4)).reshape(-1, 4)
    return replace(boxes, columns=columns, source=given, rows=None)


def _blocks(count: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def _blocks_in_rooms(count: int) -> Iterator[tuple[slice, Room]]:
    """Give blocks, all of one size, and the room they share; the last may overlap the one before.

    A block of another size would need a room of its own, and fresh memory.
    """
    size = min(count, -(-count // max(1, -(-count // _BLOCK)) // 8) * 8)
    room = Room(size)
    for end in range(size, count + size, max(1, size)):
        room.clear()
        end = min(end, count)
        yield slice(end - size, end), room


def _fill(out: FloatArray, part: slice, pred: Boxes, target: Boxes, fill: Fill, room: Room) -> None:
    """Compute a block, halving it where float64 fails; a pair that fails alone is NaN."""
    size = part.stop - part.start
    try:
        fill(out[:, part], _pair(pred.part(0, part), target.part(0, part), room))
    except FloatingPointError:
        if size == 1:
            out[:, part] = np.nan
            return
        middle = part.start + size // 2
        for half in (slice(part.start, middle), slice(middle, part.stop)):
            _fill(out, half, pred, target, fill, Room(half.stop - half.start))


def _pair(pred: Boxes, target: Boxes, room: Room) -> Pair:
    """Pair boxes of the shape (n,), NaN where float64 does not carry them."""
    corners, target_corners = pred.columns[:4], target.columns[:4]
    if not (pred.rounded or target.rounded):
        return _pair_of_corners(corners, target_corners, room)
    reaches = room.take(2, 2)
    of_pred, of_target = reaches_beyond(pred, target, room.passage.take(12))
    np.copyto(reaches[0], of_target)
    np.copyto(reaches[1], of_pred)
    room.passage.clear()
    edges, target_edges = (
        FORMATS["xyxy"].edges(some, room)[0] for some in (corners, target_corners)
    )
    return PairByReaches(
        Rectangles(edges, pred.sides, room),
        Rectangles(target_edges, target.sides, room),
        reaches,
        room,
    )


def _pair_of_corners(pred: Numbers, target: Numbers, room: Room) -> Pair:
    """Pair boxes from their corners, shape (4, n)."""
    of_corners = FORMATS["xyxy"].rectangles
    return Pair(of_corners(pred, room), of_corners(target, room), room)


def _exactly(pred: Boxes, target: Boxes, row: int, height: int, fill: Fill) -> list[float]:
    """Compute one pair in Fractions, by the same formulas."""
    corners, target_corners = (
        np.array([exact.corners(boxes.given[row].tolist(), boxes.fmt)], dtype=object).T
        for boxes in (pred, target)
    )
    pair = _pair_of_corners(corners, target_corners, Room(1, dtype=object))
    out = np.empty((height, 1), dtype=object)
    fill(out, pair)
    return [nearest_float(number) for number in out[:, 0]]
