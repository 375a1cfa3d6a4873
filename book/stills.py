"""Write what the interactive figures start from: still pictures and data.

``.venv/bin/python book/stills.py`` writes them into ``book/_static``, and
tests/test_playground.py holds the files equal to what this writes.
"""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from iou import exact, match, plot, samples
from iou.dataset import Predictions, Truths

STATIC = Path(__file__).parent / "_static"
Box = tuple[float, float, float, float]
# The first worked example.
A: Box = (1, 1, 5, 5)
B: Box = (3, 2, 7, 6)


def playground() -> bytes:
    """Draw the first worked example with all its terms, as an SVG."""
    plot.use_book_style()
    hull = (1, 1, 7, 6)
    ax = plot.board((0, 0, 10, 7))
    plot.draw_boxes(ax, hull, "hull")
    plot.draw_pair(ax, A, B, names=("A", "B"))
    corners = np.reshape(hull, (2, 2)).T
    ax.plot(*corners, ":", color=plot.LOOKS["hull"].color, linewidth=1)
    centres = np.reshape([A, B], (2, 2, 2)).mean(axis=1).T
    ax.plot(*centres, color=plot.LOOKS["hull"].color, linewidth=2.2, marker="o")
    return _svg(ax)


def intersection() -> bytes:
    """Draw the first worked example, as an SVG."""
    return _pair(A, B)


def apart() -> bytes:
    """Draw two squares that share nothing, as an SVG."""
    return _pair((0, 0, 2, 2), (3, 3, 5, 5))


def half() -> bytes:
    """Draw a square and the same one, off by a third of its side, as an SVG."""
    return _pair((1, 1, 4, 4), (2, 1, 5, 4))


def _pair(a: Box, b: Box) -> bytes:
    plot.use_book_style()
    ax = plot.board((0, 0, 10, 7))
    plot.draw_pair(ax, a, b)
    return _svg(ax)


def quotients() -> list[tuple[str, str]]:
    """Write the example's intersection over its union, as it is and reduced."""
    parts = exact.intersection(A, B), exact.union(A, B)
    reduced = exact.iou(A, B).as_integer_ratio()
    return [(str(above), str(below)) for above, below in (parts, reduced)]


def cover() -> bytes:
    """Draw the measure as a fraction of drawings, as an SVG."""
    plot.use_book_style()
    figure = plt.figure(figsize=(7.2, 3.6), layout="none")
    _fraction(figure, (0, 0, 1, 1), size=26)
    return _written(figure, "svg", metadata={"Date": None})


def card() -> bytes:
    """Draw what a link to the book looks like where it is shared."""
    plot.use_book_style()
    figure = plt.figure(figsize=(12, 6.3), layout="none", facecolor="white")
    figure.text(
        0.5, 0.87, "Intersection over Union", size=46, ha="center", va="center"
    )
    figure.text(
        0.5, 0.07, "the book and the module", size=24, ha="center", va="center"
    )
    _fraction(figure, (0.11, 0.14, 0.78, 0.62), size=38)
    return _written(figure, "png", dpi=100, metadata={"Software": None})


def _fraction(
    figure: Figure, place: tuple[float, float, float, float], size: float
) -> None:
    """Draw IoU = intersection / union and both quotients into part of a figure."""
    left, bottom, width, height = place
    for low, filling in ((0.53, "intersection"), (0.01, "union")):
        corner = left + 0.27 * width, bottom + low * height
        ax = figure.add_axes((*corner, 0.36 * width, 0.46 * height))
        ax.set(xlim=(0.8, 7.2), ylim=(6.2, 0.8), aspect="equal")
        ax.set_axis_off()
        if filling == "union":
            plot.shade_union(ax, [A, B], plot.PURPLE, 0.22)
        else:
            plot.draw_boxes(ax, plot.intersection_box(A, B), "intersection")
        plot.draw_boxes(ax, A, "truth")
        plot.draw_boxes(ax, B, "prediction")
    whole = figure.add_axes(place)
    whole.set(xlim=(0, 1), ylim=(0, 1))
    whole.set_axis_off()
    words = {"size": size, "va": "center_baseline"}
    whole.text(0.24, 0.5, "IoU  =", ha="right", **words)
    for x in (0.672, 0.84):
        whole.text(x, 0.5, "=", ha="center", **words)
    for x, (above, below) in zip((0.757, 0.923), quotients(), strict=True):
        whole.text(x, 0.6, above, ha="center", **words)
        whole.text(x, 0.4, below, ha="center", **words)
    for start, end in ((0.27, 0.63), (0.717, 0.797), (0.883, 0.963)):
        whole.plot([start, end], [0.5, 0.5], color=plot.INK, linewidth=size / 13)


def threshold() -> bytes:
    """Draw what the Hough transform finds among the coins, at τ = 0.5."""
    plot.use_book_style()
    picture, found = samples.coins(), _found()
    ax = plot.photo(picture.image)
    truths = Truths(picture.boxes)
    predictions = Predictions(found.boxes, found.scores)
    plot.draw_matches(ax, truths, predictions, match(predictions, truths))
    return _svg(ax)


def threshold_data() -> bytes:
    """Write truths and predictions as a script: pages on a disk cannot fetch."""
    picture, found = samples.coins(), _found()
    height, width = picture.image.shape
    data = {
        "width": width,
        "height": height,
        "truths": picture.boxes.astype(int).tolist(),
        "boxes": found.boxes.astype(int).tolist(),
        "scores": found.scores.tolist(),
    }
    note = "/* Written by book/stills.py. */"
    return f"{note}\nconst IOU_THRESHOLD_DATA = {json.dumps(data)};\n".encode()


def coins() -> bytes:
    """Write the photograph."""
    file = BytesIO()
    Image.fromarray(samples.coins().image).save(file, format="PNG", optimize=True)
    return file.getvalue()


def _found() -> samples.Detections:
    return samples.hough_coins(samples.coins().image)


def _svg(ax: Axes) -> bytes:
    return _written(ax.figure, "svg", metadata={"Date": None})


def _written(figure: Figure, fmt: str, **options: Any) -> bytes:
    file = BytesIO()
    figure.savefig(file, format=fmt, **options)
    plt.close(figure)
    return file.getvalue()


STILLS = {
    "iou-playground.svg": playground,
    "iou-intersection.svg": intersection,
    "iou-apart.svg": apart,
    "iou-half.svg": half,
    "cover.svg": cover,
    "card.png": card,
    "iou-threshold.svg": threshold,
    "iou-threshold-data.js": threshold_data,
    "iou-coins.png": coins,
}

if __name__ == "__main__":
    for name, still in STILLS.items():
        (STATIC / name).write_bytes(still())
