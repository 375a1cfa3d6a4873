"""The race of the DIoU paper: one and three quarter million boxes go down four losses.

Z. Zheng et al., "Distance-IoU loss", AAAI 2020, arXiv:1911.08287, compare losses by gradient
descent from many starts, and have released what they ran:
https://github.com/Zzh-tju/DIoU, folder "simulation experiment". Some of the gradients there differ
from those of the losses. Here the race runs with the gradients of :mod:`iou.losses`, with those
released, or with any of the differences alone:

======================= ============================================================================
departure               what is different
======================= ============================================================================
``whole_edges``         the slope in a side is that of both edges, not the half of it; in the parts
                        that are derived by edges, IoU and GIoU
``signed_intersection`` in the penalty of the GIoU, the sides of the intersection are negative where
                        the boxes are apart, and it has its slope there
``hull_sign``           the part of the enclosing box has the other sign in x and y
``hull_both_sides``     what moves one side of the enclosing box is taken to move the other as well
``hull_spanning``       where the prediction spans its target, growing is taken to shrink the
                        enclosing box
``no_denominator``      the slope of v is not divided by w² + h², as the paper says and why
``epsilon``             1e-7 is added to the denominator of α
======================= ============================================================================

Two differences remain: in the release, the slopes of the overlap and of the hull are 0 where edges
coincide, which random starts do not do, and boxes may turn inside out, where here a side stops at
0. With the gradients of the losses no side comes to 0, and few do with those released.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from .arguments import one_of
from .boxes import FloatArray
from .formulas import (
    ALPHAS,
    FORMATS,
    Formula,
    Numbers,
    Pair,
    Slopes,
    Term,
    of_enclosure,
    of_iou,
    positive,
    product,
    squared_length,
    turn_of,
)
from .losses import Descent, Rule, descend, formula_of, rule_of

CENTRE = 10.0
RADIUS = 3.0
# Width by height, of targets and of predictions.
RATIOS = (1 / 4, 1 / 3, 1 / 2, 1, 2, 3, 4)
# Of predictions; targets have the area 1.
AREAS = (0.5, 0.67, 0.75, 1, 1.33, 1.5, 2)
RATES = (0.1,) * 160 + (0.01,) * 20 + (0.001,) * 20

_HULL = ("hull_sign", "hull_both_sides", "hull_spanning")
# What each loss can depart in, which is what it does in the release.
RELEASED = {
    "iou": ("whole_edges",),
    "giou": ("whole_edges", "signed_intersection"),
    "diou": ("whole_edges", *_HULL),
    "ciou": ("whole_edges", *_HULL, "no_denominator", "epsilon"),
}


def cases(centres: int = 5000, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Make the boxes of the race, in the format ``cxcywh``.

    Parameters
    ----------
    centres : int, default 5000
        How many centres of predictions, uniform over a disc around the targets. The release has
        5000, which makes 1 715 000 cases.
    seed : int, default 0
        Of the random numbers; the release sets none.

    Returns
    -------
    pred : ndarray of float64, shape (centres, 1, 7, 7, 4)
        By centre, area and ratio.
    target : ndarray of float64, shape (7, 1, 1, 4)
        By ratio.

    Examples
    --------
    >>> pred, target = cases(2)
    >>> pred.shape, target.shape
    ((2, 1, 7, 7, 4), (7, 1, 1, 4))
    >>> target[0, 0, 0]
    array([10. , 10. ,  0.5,  2. ])
    """
    rng = np.random.default_rng(seed)
    radius, angle = RADIUS * np.sqrt(rng.random(centres)), 2 * np.pi * rng.random(centres)
    longer = np.sqrt(RATIOS)
    shapes = np.stack([longer, 1 / longer], axis=-1)
    pred = np.empty((centres, 1, len(AREAS), len(RATIOS), 4))
    pred[..., 0] = (CENTRE + radius * np.cos(angle))[:, None, None, None]
    pred[..., 1] = (CENTRE + radius * np.sin(angle))[:, None, None, None]
    pred[..., 2:] = np.sqrt(AREAS)[:, None, None] * shapes
    target = np.empty((len(RATIOS), 1, 1, 4))
    target[..., :2] = CENTRE
    target[..., 2:] = shapes[:, None, None]
    return pred, target


def run(
    measure: str,
    departures: Collection[str] = (),
    *,
    centres: int = 5000,
    seed: int = 0,
    alpha: str = "constant",
    rates: Iterable[float] = RATES,
    progress: Callable[[Sequence[Any]], Iterable[Any]] = iter,
    workers: int = 1,
) -> Descent:
    """Let the boxes go down a loss.

    Parameters
    ----------
    measure : {"iou", "giou", "diou", "ciou"}
        The loss.
    departures : collection of str, default ()
        In what the gradient differs from that of the loss; ``RELEASED[measure]`` are all those of
        the release.
    centres, seed
        As for :func:`cases`.
    alpha, rates, progress, workers
        As for :func:`iou.descend`.

    Returns
    -------
    Descent
        ``boxes`` of the shape (centres, 7, 7, 7, 4), by centre, ratio of the target, area and ratio
        of the prediction; ``error``, the sum over all cases after each step.

    Raises
    ------
    ValueError
        If the loss or the convention of α is unknown, if α is not that of this loss, or if the loss
        has no such departure.

    Examples
    --------
    >>> for departures in (), RELEASED["giou"]:
    ...     error = run("giou", departures, centres=3).error / 3 / 343
    ...     print(error[[0, -1]].round(1))
    [3.2 0. ]
    [3.2 0.7]
    """
    one_of(measure, RELEASED, "loss")
    pred, target = cases(centres, seed)
    options: dict[str, Any] = {"fmt": "cxcywh", "factor": lambda iou: 2 - iou}
    options |= {"rates": rates, "progress": progress, "workers": workers}
    if departures:
        return descend(pred, target, gradient_rule(measure, departures, alpha), **options)
    return descend(pred, target, measure, alpha=alpha, **options)


def gradient_rule(measure: str, departures: Collection[str], alpha: str = "constant") -> Rule:
    """Make a gradient with departures, for :func:`iou.descend` in the format ``cxcywh``."""
    one_of(measure, RELEASED, "loss")
    formula = formula_of(measure, "cxcywh", alpha)
    for name in departures:
        if name not in RELEASED[measure]:
            known = ", ".join(map(repr, RELEASED[measure]))
            raise ValueError(f"{measure} has no departure {name!r}; it has {known}")

    def fill(gradient: Numbers, pair: Pair) -> None:
        np.copyto(gradient, _by_edges(of_iou, pair, formula, departures))
        if measure == "giou":
            measured = _Signed(pair) if "signed_intersection" in departures else pair
            gradient += _by_edges(of_enclosure, measured, formula, departures)
        if measure in ("diou", "ciou"):
            gradient += _distance(pair, departures)
        if measure == "ciou":
            gradient += _aspect(pair, formula, departures)

    return rule_of(fill, "cxcywh")


def _by_edges(term: Term, pair: Pair, formula: Formula, departures: Collection[str]) -> Numbers:
    room = pair.room
    slopes = Slopes(np.zeros(room.count), room)
    for _ in term(pair, slopes, formula):
        continue
    room.passage.clear()
    gradient = room.take(4)
    low, high = outward = room.passage.take(2, 2)
    slopes.outward(pair, outward)
    FORMATS["cxcywh"].slopes(low, high, gradient, room)
    room.passage.clear()
    if "whole_edges" in departures:
        gradient[2:] *= 2
    return gradient


class _Signed(Pair):
    """A pair whose intersection has negative sides where the two are apart."""

    def __init__(self, pair: Pair) -> None:
        vars(self).update(vars(pair))
        room, pred, target = pair.room, pair.pred, pair.target
        self.overlap = np.minimum(pred.high, target.high, out=room.take(2))
        self.overlap -= np.maximum(pred.low, target.low, out=room.take(2))
        self.twice_inside = 2 - pair.twice_outermost
        self.intersection = product(self.overlap, room.take())
        self.union = np.add(pred.area, target.area, out=room.take())
        self.union -= self.intersection


def _distance(pair: Pair, departures: Collection[str]) -> Numbers:
    """Slope of ``d²/c²``, by the centre and the sides of the prediction."""
    room, hull = pair.room, pair.hull
    diagonal = positive(squared_length(hull, room), room)
    low, high = which = room.take(2, 2)
    np.copyto(which, pair.twice_outermost)
    which *= 0.5
    # How a side of the hull follows the centre and the side of the prediction on its axis.
    moves = np.subtract(high, low, out=room.take(2))
    grows = np.add(high, low, out=low)
    grows *= 0.5
    gradient = room.take(4)
    in_centre = np.multiply(hull, moves, out=gradient[:2])
    in_side = np.multiply(hull, grows, out=gradient[2:])
    if "hull_spanning" in departures:
        np.negative(in_side, out=in_side, where=grows == 1)
    if "hull_both_sides" in departures:
        moves *= hull[::-1]
        in_centre += moves
        grows *= hull[::-1]
        in_side += grows
    if "hull_sign" in departures:
        np.negative(in_centre, out=in_centre)
    of_hull = squared_length(pair.between, room)
    of_hull /= diagonal
    of_hull /= diagonal
    of_hull *= -2
    gradient *= of_hull
    pull = np.divide(pair.between, diagonal, out=moves)
    pull *= 2
    in_centre += pull
    return gradient


def _aspect(pair: Pair, formula: Formula, departures: Collection[str]) -> Numbers:
    """Slope of αv, by the centre and the sides of the prediction."""
    room = pair.room
    turn = turn_of(pair)
    v = np.multiply(turn, turn, out=room.take())
    whole = np.subtract(1, pair.iou, out=room.take())
    whole += v
    if "epsilon" in departures:
        whole += 1e-7
    v /= positive(whole, room)
    _, in_v, in_iou = ALPHAS[formula.alpha](v, pair.iou)
    turn *= in_v
    turn *= -4 / np.pi
    if "no_denominator" not in departures:
        turn /= positive(squared_length(pair.sides, room), room)
    gradient = room.take(4)
    gradient[:2] = 0
    np.multiply(pair.sides[::-1], turn, out=gradient[2:])
    np.negative(gradient[3], out=gradient[3])
    if in_iou is not None:
        gradient -= in_iou * _by_edges(of_iou, pair, formula, departures)
    return gradient
