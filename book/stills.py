"""Write what the interactive figures start from: still pictures and data.

``.venv/bin/python book/stills.py`` writes them into ``book/_static``, and
tests/test_playground.py holds the files equal to what this writes.
"""

import json
from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from PIL import Image

from iou import match, plot, samples
from iou.dataset import Predictions, Truths

STATIC = Path(__file__).parent / "_static"
Box = tuple[float, float, float, float]


def playground() -> bytes:
    """Draw the first worked example with all its terms, as an SVG."""
    plot.use_book_style()
    a, b, hull = (1, 1, 5, 5), (3, 2, 7, 6), (1, 1, 7, 6)
    ax = plot.board((0, 0, 10, 7))
    plot.draw_boxes(ax, hull, "hull")
    plot.draw_pair(ax, a, b, names=("A", "B"))
    corners = np.reshape(hull, (2, 2)).T
    ax.plot(*corners, ":", color=plot.LOOKS["hull"].color, linewidth=1)
    centres = np.reshape([a, b], (2, 2, 2)).mean(axis=1).T
    ax.plot(*centres, color=plot.LOOKS["hull"].color, linewidth=2.2, marker="o")
    return _svg(ax)


def intersection() -> bytes:
    """Draw the first worked example, as an SVG."""
    return _pair((1, 1, 5, 5), (3, 2, 7, 6))


def half() -> bytes:
    """Draw a square and the same one, off by a third of its side, as an SVG."""
    return _pair((1, 1, 4, 4), (2, 1, 5, 4))


def _pair(a: Box, b: Box) -> bytes:
    plot.use_book_style()
    ax = plot.board((0, 0, 10, 7))
    plot.draw_pair(ax, a, b)
    return _svg(ax)


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
    file = BytesIO()
    ax.figure.savefig(file, format="svg", metadata={"Date": None})
    plt.close(ax.figure)
    return file.getvalue()


STILLS = {
    "iou-playground.svg": playground,
    "iou-intersection.svg": intersection,
    "iou-half.svg": half,
    "iou-threshold.svg": threshold,
    "iou-threshold-data.js": threshold_data,
    "iou-coins.png": coins,
}

if __name__ == "__main__":
    for name, still in STILLS.items():
        (STATIC / name).write_bytes(still())
