"""Write what the interactive figures start from: still pictures and data.

``.venv/bin/python book/stills.py`` writes them into ``book/_static``, and
tests/test_playground.py holds the files equal to what this writes.
"""

from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from iou import plot

STATIC = Path(__file__).parent / "_static"


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
    return _svg()


def _svg() -> bytes:
    file = BytesIO()
    plt.savefig(file, format="svg", metadata={"Date": None})
    plt.close()
    return file.getvalue()


STILLS = {"iou-playground.svg": playground}

if __name__ == "__main__":
    for name, still in STILLS.items():
        (STATIC / name).write_bytes(still())
