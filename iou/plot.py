"""The book's drawings, in one visual language.

A box looks the same wherever it appears: the ground truth is solid and blue, a prediction dashed
and vermilion, the box that encloses both dotted and grey, the intersection filled and hatched, and
what neither box covers of the enclosing one speckled. The colours are Okabe and Ito's [1]_, and no
meaning rests on colour alone. Figures have no background, so they sit on a light page as well as
on a dark one.

A drawing of toy boxes starts with :func:`board`, one on a photograph with :func:`photo`; the other
functions add to the axes that these return.

References
----------
.. [1] M. Okabe and K. Ito, "Color Universal Design", 2008, https://jfly.uni-koeln.de/color/
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle, pairwise
from textwrap import fill
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MultipleLocator
from matplotlib.typing import LineStyleType
from numpy.typing import ArrayLike

from . import exact
from .boxes import FloatArray, convert
from .dataset import Predictions, Truths
from .evaluation import Curve
from .matching import Matches

Role = Literal["truth", "prediction", "hull", "intersection", "waste", "plain"]
Corner = Literal["top left", "top right", "bottom left", "bottom right"]

# Behind a text, so that lines do not run through it.
HALO = withStroke(linewidth=3, foreground="white")
INK = "#222222"
FAINT = "#999999"


@dataclass(frozen=True)
class Look:
    """How one kind of box is drawn."""

    color: str
    line: LineStyleType = "-"
    width: float = 2.2
    fill: float = 0.0
    hatch: str | None = None


LOOKS: dict[Role, Look] = {
    "truth": Look("#0072B2"),
    "prediction": Look("#D55E00", line=(0, (4, 1.6))),
    "hull": Look("#666666", line=(0, (1, 1.4)), width=1.8),
    "intersection": Look("#8F4B78", width=0.0, fill=0.22, hatch="////"),
    "waste": Look("#666666", width=0.0, fill=0.12, hatch=".."),
    "plain": Look(INK, width=1.6),
}
BLUE, VERMILION, PURPLE = (LOOKS[r].color for r in ("truth", "prediction", "intersection"))
SKY = "#56B4E9"

# What stands on a prediction for its outcome.
MARKS = {
    "true positive": "✓",
    "duplicate": "D",
    "wrong class": "C",
    "poor placing": "P",
    "background": "B",
    "ignored": "–",
}

WIDTH = 5.0


def use_book_style() -> None:
    """Give figures the book's look, and in a notebook draw them as SVG without a date.

    The same chapter then gives the same file wherever it runs, to the last byte.
    """
    plt.style.use("iou.book")
    try:
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    if get_ipython() is not None:
        set_matplotlib_formats("svg", metadata={"Date": None})  # type: ignore[no-untyped-call]


def board(
    extent: tuple[float, float, float, float],
    *,
    y_down: bool = True,
    step: float = 1,
    numbers: int = 1,
    ax: Axes | None = None,
    width: float = WIDTH,
) -> Axes:
    """Prepare a squared sheet for toy boxes.

    Parameters
    ----------
    extent : (x_min, y_min, x_max, y_max)
        The part of the plane to show.
    y_down : bool
        Whether y grows downwards, as in images, or upwards, as in school. The axis says so.
    step : float
        Distance of the grid lines.
    numbers : int
        Every how many grid lines a number stands.
    ax : Axes, optional
        Where to draw; a new figure of the given `width`, in inches, if left out.

    Returns
    -------
    Axes
    """
    x_min, y_min, x_max, y_max = extent
    if ax is None:
        height = width * (y_max - y_min) / (x_max - x_min) + 0.35
        _, ax = plt.subplots(figsize=(width, height))
    ax.set_aspect("equal")
    ax.set_xlim(x_min, x_max)
    ax.set_ylim(*((y_max, y_min) if y_down else (y_min, y_max)))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MultipleLocator(step * numbers))
        axis.set_minor_locator(MultipleLocator(step))
    ax.grid(visible=True, which="both")
    ax.set_axisbelow(True)
    ax.tick_params(which="both", length=0)
    past_number = max(10, 6 * len(f"{x_max:g}") - 2)
    for text, corner, shift, align in (
        ("x →", (1, 1 if y_down else 0), (past_number, 9 if y_down else -9), "left"),
        ("y ↓" if y_down else "y ↑", (0, 0 if y_down else 1), (-4, -12 if y_down else 12), "right"),
    ):
        ax.annotate(
            text,
            corner,
            xytext=shift,
            xycoords="axes fraction",
            textcoords="offset points",
            ha=align,
            va="center",
        )
    if y_down:
        ax.xaxis.tick_top()
        ax.spines[["top"]].set_visible(True)
        ax.spines[["bottom"]].set_visible(False)
    return ax


def photo(
    image: ArrayLike,
    extent: tuple[float, float, float, float] | None = None,
    *,
    ax: Axes | None = None,
    width: float = WIDTH,
) -> Axes:
    """Show a photograph, or the part of it that `extent` names, without axes.

    A pixel in column c and row r covers the square from (c, r) to (c + 1, r + 1), so boxes in
    continuous coordinates lie on pixel edges.

    Parameters
    ----------
    image : array_like, shape (rows, columns) or (rows, columns, 3)
    extent : (x_min, y_min, x_max, y_max), optional
        In pixels; the whole picture if left out.
    ax : Axes, optional
        Where to draw; a new figure of the given `width`, in inches, if left out.

    Returns
    -------
    Axes
    """
    pixels = np.asarray(image)
    rows, columns = pixels.shape[:2]
    x_min, y_min, x_max, y_max = (0, 0, columns, rows) if extent is None else extent
    # Only what is seen goes into the file.
    left, top = max(0, int(x_min)), max(0, int(y_min))
    right, bottom = min(columns, int(np.ceil(x_max))), min(rows, int(np.ceil(y_max)))
    if ax is None:
        with _tight():
            figure = plt.figure(figsize=(width, width * (y_max - y_min) / (x_max - x_min)))
        ax = figure.add_axes((0, 0, 1, 1))
    ax.imshow(
        pixels[top:bottom, left:right],
        cmap="gray",
        extent=(left, right, bottom, top),
        interpolation="none",
        vmin=0,
        vmax=255,
    )
    ax.set_xlim(x_min, x_max)
    ax.set_ylim(y_max, y_min)
    ax.set_axis_off()
    return ax


def _tight() -> AbstractContextManager[None]:
    """Make figures whose axes fill them to the edge."""
    return plt.rc_context({"figure.constrained_layout.use": False})


def draw_boxes(
    ax: Axes,
    boxes: ArrayLike,
    role: Role = "plain",
    labels: str | Sequence[str] | None = None,
    *,
    fmt: str = "xyxy",
    where: Corner = "top left",
    **changes: Any,
) -> None:
    """Draw boxes in the look of their role.

    Parameters
    ----------
    ax : Axes
    boxes : array_like, shape (4,) or (N, 4)
    role : {"truth", "prediction", "hull", "intersection", "waste", "plain"}
        What they are; decides the colour, the line and the filling.
    labels : str or sequence of N str, optional
        Written at the corner that `where` names, on a photograph with a halo.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}
        What the four numbers mean.
    **changes
        Passed on to :class:`matplotlib.patches.Rectangle`.
    """
    look = LOOKS[role]
    on_photo = bool(ax.images)
    table = np.atleast_2d(convert(boxes, fmt=fmt))
    for x_min, y_min, x_max, y_max in table:
        options: dict[str, Any] = {
            "edgecolor": look.color,
            "facecolor": (look.color, look.fill),
            "linestyle": look.line,
            "linewidth": look.width,
            "joinstyle": "miter",
            "clip_on": on_photo,
            **changes,
        }
        outline = Rectangle((x_min, y_min), x_max - x_min, y_max - y_min, **options)
        if on_photo and look.width:
            outline.set_path_effects([withStroke(linewidth=look.width + 2, foreground="white")])
        ax.add_patch(outline)
        if look.hatch:
            # A patch of its own: in an SVG, hatch and filling would share one opacity.
            hatching = Rectangle(outline.get_xy(), outline.get_width(), outline.get_height())
            hatching.set(fill=False, linewidth=0, edgecolor=look.color, hatch=look.hatch)
            ax.add_patch(hatching)
    if labels is not None:
        for box, text in zip(table, [labels] if isinstance(labels, str) else labels, strict=True):
            label(ax, box, text, role=role, where=where)


def label(
    ax: Axes, box: ArrayLike, text: str, *, role: Role = "plain", where: Corner = "top left"
) -> None:
    """Write a text along a box, outside it, at one of its corners as they are seen."""
    x_min, y_min, x_max, y_max = np.asarray(box, dtype=float)
    down = ax.yaxis_inverted()
    vertical, horizontal = where.split()
    top, bottom = (y_min, y_max) if down else (y_max, y_min)
    on_photo = bool(ax.images)
    ax.annotate(
        text,
        (x_min if horizontal == "left" else x_max, top if vertical == "top" else bottom),
        xytext=(0, 4 if vertical == "top" else -4),
        textcoords="offset points",
        ha="left" if horizontal == "left" else "right",
        va="bottom" if vertical == "top" else "top",
        color=LOOKS[role].color,
        fontweight="bold" if on_photo else "normal",
        path_effects=[HALO],
        annotation_clip=False,
    )


def badge(ax: Axes, x: float, y: float, outcome: str) -> None:
    """Put the mark of an outcome at a place: a filled disc if true, a disc with a rim if not."""
    true = outcome == "true positive"
    inside, outside = (BLUE, "white") if true else ("white", VERMILION)
    ax.text(
        x,
        y,
        MARKS[outcome],
        ha="center",
        va="center",
        size=9,
        color=outside,
        fontweight="bold",
        bbox={"boxstyle": "circle,pad=0.18", "facecolor": inside, "edgecolor": outside},
    )


def draw_matches(ax: Axes, truths: Truths, predictions: Predictions, matches: Matches) -> None:
    """Draw what became of the predictions in one image.

    Missed truths are hatched. False predictions wear the mark of their outcome, see ``MARKS``, at
    their middle, or a little below where another mark would be hidden.

    Parameters
    ----------
    ax : Axes
    truths : Truths
    predictions : Predictions
        All in one image.
    matches : Matches
        What :func:`iou.match` made of them.
    """
    corners = convert(truths.boxes, fmt=truths.fmt)
    draw_boxes(ax, corners, "truth", linewidth=1.4)
    for x_min, y_min, x_max, y_max in corners[matches.missed]:
        missed = Rectangle((x_min, y_min), x_max - x_min, y_max - y_min, clip_on=False)
        ax.add_patch(missed)
        missed.set(fill=False, edgecolor=BLUE, hatch="xxx", linewidth=3)
    boxes = convert(predictions.boxes, fmt=predictions.fmt)[matches.prediction]
    draw_boxes(ax, boxes, "prediction", linewidth=1.2)
    apart = abs(np.subtract(*ax.get_xlim())) / 50
    marked: list[tuple[float, float]] = []
    for box, outcome in zip(boxes.tolist(), matches.outcome.tolist(), strict=True):
        if outcome != "true positive":
            x, y = _middle(box)
            while any(abs(x - u) < apart and abs(y - v) < apart for u, v in marked):
                y += apart
            marked.append((x, y))
            badge(ax, x, y, outcome)


def intersection_box(a: ArrayLike, b: ArrayLike) -> tuple[float, float, float, float] | None:
    """Corners of the overlap of two boxes, or None if they share no area."""
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    x_min, y_min = (float(v) for v in np.maximum(first[:2], second[:2]))
    x_max, y_max = (float(v) for v in np.minimum(first[2:], second[2:]))
    return (x_min, y_min, x_max, y_max) if x_min < x_max and y_min < y_max else None


def draw_pair(
    ax: Axes,
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    names: tuple[str, str] | None = ("A", "B"),
    where: tuple[Corner, Corner] = ("top left", "bottom right"),
) -> None:
    """Draw a ground-truth box, a prediction, and their intersection, hatched."""
    shared = intersection_box(truth, prediction)
    if shared:
        draw_boxes(ax, shared, "intersection")
    first, second = names or (None, None)
    draw_boxes(ax, truth, "truth", first, where=where[0])
    draw_boxes(ax, prediction, "prediction", second, where=where[1])


def shade_union(
    ax: Axes, boxes: Iterable[ArrayLike], color: str = SKY, alpha: float = 0.35
) -> None:
    """Fill what at least one of the boxes covers, once, however many cover it."""
    for (left, low, right, high), covered in _cells(boxes):
        if covered:
            ax.add_patch(
                Rectangle((left, low), right - left, high - low, fc=color, alpha=alpha, lw=0)
            )


def shade_waste(ax: Axes, boxes: Iterable[ArrayLike]) -> None:
    """Speckle what the smallest box around the boxes covers, and none of them does."""
    for cell, covered in _cells(boxes):
        if not covered:
            draw_boxes(ax, cell, "waste")


def _cells(boxes: Iterable[ArrayLike]) -> Iterator[tuple[tuple[float, float, float, float], bool]]:
    """Cut the smallest box around the boxes along all their edges; tell which cells they cover."""
    table = np.array([np.asarray(box, dtype=float) for box in boxes])
    xs, ys = np.unique(table[:, 0::2]).tolist(), np.unique(table[:, 1::2]).tolist()
    for left, right in pairwise(xs):
        inside = (table[:, 0] <= left) & (table[:, 2] >= right)
        for low, high in pairwise(ys):
            covers = inside & (table[:, 1] <= low) & (table[:, 3] >= high)
            yield (left, low, right, high), bool(covers.any())


@dataclass(frozen=True)
class Landscape:
    """A measure as a height, for a prediction that is shifted to everywhere around the truth.

    Parameters
    ----------
    measure : callable
        A function of boxes that broadcast, such as :func:`iou.giou`.
    truth, prediction : array_like, shape (4,)
        The prediction before it is shifted.
    reach : float
        How far it is shifted to either side, in x and in y.
    """

    measure: Callable[[Any, Any], Any]
    truth: ArrayLike
    prediction: ArrayLike
    reach: float

    def grid(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Return shifts in x and in y, each of shape (count, count)."""
        along = np.linspace(-self.reach, self.reach, count)
        dx, dy = np.meshgrid(along, along)
        return dx, dy

    def height(self, dx: ArrayLike, dy: ArrayLike) -> FloatArray:
        """Return the measure with the prediction shifted by (dx, dy)."""
        shifts = np.stack(np.broadcast_arrays(dx, dy, dx, dy), axis=-1)
        return np.asarray(self.measure(self.truth, np.asarray(self.prediction) + shifts))

    def slope(self, dx: FloatArray, dy: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how steeply the measure rises in x and in y; 0 where that is only rounding."""
        step = self.reach * 2**-16
        rises = (
            self.height(dx + step, dy) - self.height(dx - step, dy),
            self.height(dx, dy + step) - self.height(dx, dy - step),
        )
        east, south = (np.where(np.abs(rise) < 1e-12, 0, rise) / (2 * step) for rise in rises)
        return east, south

    def contours(self, ax: Axes, levels: Sequence[float]) -> None:
        """Draw lines of equal height, dashed below 0, and speckle where all is flat.

        The axes are the position of the prediction's centre.
        """
        dx, dy = self.grid(241)
        x, y = _middle(np.asarray(self.prediction, dtype=float).tolist())
        flat = np.hypot(*self.slope(dx, dy)) == 0
        ax.contourf(x + dx, y + dy, flat, [0.5, 1.5], colors="none", hatches=[".."])
        height = self.height(dx, dy)
        reached = [level for level in sorted(levels) if height.min() < level < height.max()]
        ax.contour(
            x + dx,
            y + dy,
            height,
            reached,
            colors=INK,
            linewidths=1.1,
            linestyles=["--" if level < 0 else "-" for level in reached],
        )
        # Labels stand on a diagonal, to the left and to the right by turns.
        # Wide enough that no line shows through between the digits.
        gap_in_line = withStroke(linewidth=5, foreground="white")
        for level, side in zip(reached, cycle((-1, 1)), strict=False):
            away = side * np.linspace(0, self.reach, 1001)
            crossings = np.flatnonzero(np.diff(self.height(away, -away) > level))
            for at in crossings[:1]:
                ax.text(
                    x + away[at],
                    y - away[at],
                    number(level),
                    ha="center",
                    va="center",
                    fontsize=10,
                    path_effects=[gap_in_line],
                )
        ax.set_aspect("equal")

    def arrows(self, ax: Axes, count: int) -> None:
        """Draw which way is up, from `count` × `count` positions; a ring where there is none."""
        dx, dy = self.grid(count)
        x, y = _middle(np.asarray(self.prediction, dtype=float).tolist())
        east, south = self.slope(dx, dy)
        steepness = np.hypot(east, south)
        flat = steepness == 0
        ax.plot((x + dx)[flat], (y + dy)[flat], "o", ms=3, mfc="none", mew=0.8, color=INK)
        ax.quiver(
            (x + dx)[~flat],
            (y + dy)[~flat],
            (east / np.where(flat, 1, steepness))[~flat],
            (south / np.where(flat, 1, steepness))[~flat],
            angles="xy",
            pivot="mid",
            scale=count * 1.2,
            width=0.01,
            headwidth=4,
            headlength=4,
            headaxislength=3.5,
            color=INK,
        )
        ax.set_aspect("equal")


def edge_arrows(ax: Axes, box: ArrayLike, moves: ArrayLike) -> None:
    """Draw how far each edge of a box moves, as an arrow from its middle; a ring if it does not.

    Parameters
    ----------
    ax : Axes
    box, moves : array_like, shape (4,)
        Both in the order x_min, y_min, x_max, y_max. An edge whose move is NaN gets no mark.
    """
    x_min, y_min, x_max, y_max = np.asarray(box, dtype=float).tolist()
    x, y = _middle((x_min, y_min, x_max, y_max))
    middles = (x_min, y), (x, y_min), (x_max, y), (x, y_max)
    for edge, (start, move) in enumerate(
        zip(middles, np.asarray(moves, dtype=float).tolist(), strict=True)
    ):
        if np.isnan(move):
            continue
        if move == 0:
            ax.plot(*start, "o", ms=6, mfc="white", mew=1.2, color=INK, clip_on=False)
            continue
        end = (start[0] + move, start[1]) if edge % 2 == 0 else (start[0], start[1] + move)
        arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", end, start, arrowprops=arrow, annotation_clip=False)


def dimension(
    ax: Axes,
    start: float,
    end: float,
    at: float,
    text: str,
    *,
    axis: Literal["x", "y"] = "x",
    reach: float | None = None,
    color: str = INK,
    side: Literal["before", "after"] = "before",
) -> None:
    """Add a dimension line, as in a technical drawing.

    Parameters
    ----------
    start, end : float
        What is measured, along `axis`.
    at : float
        Where the line runs, on the other axis.
    text : str
        Written at the middle of the line.
    reach : float, optional
        Where, on the other axis, the thing measured is: extension lines are drawn from there.
    side : {"before", "after"}
        On which side of the line, as seen, the text stands: above or left of it, or below or right.
    """
    along = axis == "x"

    def place(position: float, across: float) -> tuple[float, float]:
        return (position, across) if along else (across, position)

    if reach is not None:
        for position in (start, end):
            ax.plot(
                *zip(place(position, reach), place(position, at), strict=True),
                color=color,
                linewidth=0.7,
                clip_on=False,
            )
    ax.annotate(
        "",
        place(end, at),
        place(start, at),
        arrowprops={
            "arrowstyle": "<|-|>,head_width=0.18,head_length=0.4",
            "color": color,
            "linewidth": 0.9,
            "shrinkA": 0,
            "shrinkB": 0,
        },
        annotation_clip=False,
    )
    sign = 1 if side == "before" else -1
    ax.annotate(
        text,
        place((start + end) / 2, at),
        xytext=(0, 3 * sign) if along else (-4 * sign, 0),
        textcoords="offset points",
        ha="center" if along else ("right" if sign > 0 else "left"),
        va=("bottom" if sign > 0 else "top") if along else "center",
        color=color,
        path_effects=[HALO],
        annotation_clip=False,
    )


def number(value: Fraction | float) -> str:
    """Write a number as a reader would: 6, 2.5, 3/13."""
    value = Fraction(str(value))
    if value.denominator in (1, 2, 4, 5, 10):
        return f"{float(value):g}".replace("-", "−")
    return f"{value.numerator}/{value.denominator}".replace("-", "−")


def decimal(value: Fraction | float) -> str:
    """Write a fraction's decimal value with its sign: = 0.5625, or ≈ 0.231 where digits are cut."""
    text = f"{float(value):.4f}".rstrip("0").rstrip(".")
    return f"= {text}" if Fraction(text) == value else f"≈ {float(value):.3f}"


def derivation(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    names: tuple[str, str] = ("A", "B"),
    step: float = 1,
    margin: float = 1,
    y_down: bool = True,
) -> Figure:
    """Draw the computation of an IoU in four steps: boxes, intersection, union, ratio.

    Parameters
    ----------
    truth, prediction : array_like, shape (4,)
    names : tuple of two str
        What the drawing calls them.
    step, margin : float
        Distance of the grid lines, and of the frame from the boxes.
    y_down : bool
        Whether y grows downwards.

    Returns
    -------
    Figure
    """
    a, b = np.asarray(truth, dtype=float).tolist(), np.asarray(prediction, dtype=float).tolist()
    extent = around([a, b], margin)
    ratio = (extent[3] - extent[1]) / (extent[2] - extent[0])
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH * 1.04, WIDTH * 1.04 * ratio + 1.1))
    shared_box = intersection_box(a, b)
    shared, union = exact.intersection(a, b), exact.union(a, b)
    area_a, area_b = exact.area(a), exact.area(b)

    for ax, title in zip(
        axes.flat,
        (
            "1  the two boxes",
            f"2  intersection: {number(shared)}",
            f"3  union: {number(union)}",
            f"4  IoU = {number(shared)}/{number(union)} {decimal(exact.iou(a, b))}",
        ),
        strict=True,
    ):
        board(extent, y_down=y_down, step=step, numbers=2, ax=ax)
        if ax is not axes[0, 0]:
            for axis_name in list(ax.texts):
                axis_name.remove()
        ax.tick_params(labelsize=10)
        ax.set_title(title, loc="left", pad=6)

    # Each name stands where its own box sticks out.
    corners: tuple[Corner, Corner] = ("top left", "bottom right")
    draw_pair(axes[0, 0], a, b, names=names, where=corners if a[0] <= b[0] else corners[::-1])
    draw_boxes(axes[0, 1], a, "truth", linewidth=1)
    draw_boxes(axes[0, 1], b, "prediction", linewidth=1)
    if shared_box:
        draw_boxes(axes[0, 1], shared_box, "intersection", linewidth=2)
        x_min, y_min, x_max, y_max = shared_box
        top = y_min if y_down else y_max
        width, height = (number(Fraction(v)) for v in (x_max - x_min, y_max - y_min))
        gap = 0.4 * margin
        above = top - gap if y_down else top + gap
        dimension(axes[0, 1], x_min, x_max, above, width, reach=top, color=PURPLE)
        dimension(
            axes[0, 1], y_min, y_max, x_min - gap, height, axis="y", reach=x_min, color=PURPLE
        )
    shade_union(axes[1, 0], (a, b))
    axes[1, 0].text(
        *_middle(extent),
        fill(f"{number(area_a)} + {number(area_b)} − {number(shared)}", width=12),
        ha="center",
        va="center",
    )
    shade_union(axes[1, 1], (a, b))
    if shared_box:
        draw_boxes(axes[1, 1], shared_box, "intersection", facecolor=(PURPLE, 0.6))
    return figure


def around(boxes: ArrayLike, margin: float) -> tuple[float, float, float, float]:
    """Return the extent that shows all the boxes, with a margin."""
    table = np.atleast_2d(np.asarray(boxes, dtype=float))
    x_min, y_min = table[:, :2].min(axis=0) - margin
    x_max, y_max = table[:, 2:].max(axis=0) + margin
    return float(x_min), float(y_min), float(x_max), float(y_max)


def _middle(box: Sequence[float]) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def gallery(
    image: ArrayLike,
    truth: ArrayLike,
    predictions: Mapping[str, ArrayLike],
    *,
    margin: float,
    columns: int = 3,
) -> Figure:
    """Show several predictions of one object, each on its own crop of the photograph.

    Parameters
    ----------
    image : array_like, shape (rows, columns) or (rows, columns, 3)
    truth : array_like, shape (4,)
    predictions : mapping of str to array_like, shape (4,)
        Each name is written into its crop.
    margin : float
        How much of the picture to show around the boxes, in pixels.
    columns : int
        Crops in a row.

    Returns
    -------
    Figure
    """
    extent = around(np.array([truth, *predictions.values()]), margin)
    rows = -(-len(predictions) // columns)
    ratio = (extent[3] - extent[1]) / (extent[2] - extent[0])
    with _tight():
        figure, axes = plt.subplots(
            rows, columns, figsize=(WIDTH, WIDTH / columns * ratio * rows), squeeze=False
        )
    figure.subplots_adjust(0, 0, 1, 1, wspace=0.03, hspace=0.03 / ratio)
    for ax in axes.flat[len(predictions) :]:
        ax.set_axis_off()
    for ax, (name, prediction) in zip(axes.flat, predictions.items(), strict=False):
        photo(image, extent, ax=ax)
        draw_boxes(ax, truth, "truth", linewidth=1.6)
        draw_boxes(ax, prediction, "prediction", linewidth=1.6)
        ax.text(
            0.04,
            0.95,
            name,
            transform=ax.transAxes,
            va="top",
            color="white",
            fontweight="bold",
            path_effects=[withStroke(linewidth=3, foreground="black")],
        )
    return figure


def recall_board(ax: Axes | None = None, *, width: float = WIDTH) -> Axes:
    """Prepare the square of recall and precision; a new figure if `ax` is left out."""
    if ax is None:
        _, ax = plt.subplots(figsize=(width, 0.64 * width))
    ax.set(xlim=(0, 1.03), ylim=(0, 1.08), xlabel="recall", ylabel="precision")
    ax.set_yticks([0, 0.5, 1])
    return ax


def draw_envelope(ax: Axes, curve: Curve, **changes: Any) -> None:
    """Draw the highest precision at each recall or beyond, a staircase that only falls.

    Parameters
    ----------
    ax : Axes
    curve : Curve
        As from :func:`iou.precision_recall`.
    **changes
        Passed on to :meth:`matplotlib.axes.Axes.plot`.
    """
    at = curve.found_at - 1
    highest = np.maximum.accumulate(curve.precision[at][::-1])[::-1]
    edges = np.concatenate([[0.0], curve.recall[at]])
    # Down to 0 where the curve ends before a recall of 1.
    heights = np.append(np.repeat(highest, 2), 0.0)
    corners = np.append(np.repeat(edges, 2)[1:-1], edges[-1])
    if edges[-1] == 1:
        heights, corners = heights[:-1], corners[:-1]
    ax.plot(corners, heights, **{"color": BLUE, "solid_joinstyle": "miter", **changes})
