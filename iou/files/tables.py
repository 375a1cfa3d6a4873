"""What the three formats share: tables of boxes, the checks they all need, and the data set."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from .. import exact
from ..dataset import Predictions, Truths
from .rows import Problems, Rows
from .values import Column, listed

_T = TypeVar("_T")

# How far a box may reach beyond its image without a note, as a share of the image's side.
_MARGIN = 0.01


class Progress(Protocol):
    """Hands out the items of a sequence, and may tell how far it has come, as tqdm does."""

    def __call__(self, items: Sequence[_T], what: str, /) -> Iterable[_T]:
        """Go through the items; `what` says what is being done."""


def follow(progress: Progress | None, items: Sequence[_T], what: str) -> Iterable[_T]:
    """Go through the items, with the caller's progress if there is one."""
    return items if progress is None else progress(items, what)


@dataclass(frozen=True, eq=False)
class DataSet:
    """What was read from files: truths, predictions and the names of what they are about.

    Attributes
    ----------
    truths : Truths
    predictions : Predictions
        Rows are in the order of the files.
    image_names, label_names : Mapping of int to str
        The names of all images and classes, also of those that no box is of, by the numbers that
        stand in the columns ``images`` and ``labels``.
    notes : tuple of str
        What is legal, but should be known by whoever reads the result.
    in_pixels : bool
        Whether boxes and areas are in pixels. If not, they are in shares of the image: IoU is the
        same, for it does not change when an axis is scaled; area ranges mean nothing.
    """

    truths: Truths
    predictions: Predictions
    image_names: Mapping[int, str]
    label_names: Mapping[int, str]
    notes: tuple[str, ...]
    in_pixels: bool = True


@dataclass(frozen=True, eq=False)
class Images:
    """The images of a data set: their numbers, names and sizes (NaN where not known)."""

    ids: Column
    names: Sequence[str]
    sizes: Column

    def of(self, ids: Column, column: Column) -> Column:
        """Look up, for each id, a row of a column that has one for each image."""
        order = np.argsort(self.ids)
        unknown = np.full((1, 2), np.nan)
        rows = np.searchsorted(self.ids, ids, sorter=order)
        return np.concatenate([column[order], unknown]).take(rows, axis=0)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of boxes, and the columns that were read from them."""

    rows: Rows
    boxes: Column
    columns: dict[str, Column]

    def lying(self, images: Images, fmt: str, origin: int) -> tuple[Column, Column]:
        """Tell which boxes have no part in their image, and which reach well beyond it."""
        size = images.of(self.columns["images"], images.sizes).T
        with np.errstate(over="ignore", invalid="ignore"):
            corners = np.array(exact.TO_CORNERS[fmt](*self.boxes.T)) - origin
            low, high = corners[:2], corners[2:]
            shared = np.minimum(high, size) - np.maximum(low, 0)
            outside = (shared < 0) | ((shared == 0) & (low < high))
            beyond = (low < -_MARGIN * size) | (high > size + _MARGIN * size)
        return np.any(outside, axis=0), np.any(beyond, axis=0)

    def scaled(self, images: Images, scale: Column) -> Column:
        """Multiply the boxes by what belongs to their images."""
        with np.errstate(over="ignore"):
            boxes: Column = self.boxes * np.tile(images.of(self.columns["images"], scale), 2)
        self.rows.reject(
            np.any(~np.isfinite(boxes), axis=1),
            lambda row: f"box ({listed(self.boxes[row])}) is beyond the range of float64",
        )
        return boxes


def data_set(
    truths: Table,
    predictions: Table,
    images: Images,
    label_names: Mapping[int, str],
    problems: Problems,
    *,
    fmt: str,
    origin: int = 0,
    scale: Column | None = None,
    in_pixels: bool = True,
    notes: Iterable[str] = (),
) -> DataSet:
    """Check what can be checked in every format, and put the data set together.

    `origin` is where images start, and `scale` what boxes are to be multiplied with, by image.
    """
    for table in (truths, predictions):
        table.rows.reject_bad_sides(table.boxes, fmt)
    outside, beyond = truths.lying(images, fmt, origin)
    truths.rows.reject(
        outside, lambda row: f"box ({listed(truths.boxes[row])}) lies outside its image"
    )
    boxes = [
        table.boxes if scale is None else table.scaled(images, scale)
        for table in (truths, predictions)
    ]
    problems.stop_if_any()

    true = Truths(boxes[0], **truths.columns, fmt=fmt)
    predicted = Predictions(boxes[1], **predictions.columns, fmt=fmt)
    predicted_beyond = predictions.lying(images, fmt, origin)[1]
    return DataSet(
        true,
        predicted,
        dict(zip(images.ids.tolist(), images.names, strict=True)),
        label_names,
        (*notes, *_notes(true, predicted, label_names, beyond, predicted_beyond)),
        in_pixels,
    )


def _notes(
    truths: Truths,
    predictions: Predictions,
    label_names: Mapping[int, str],
    truths_beyond: Column,
    predictions_beyond: Column,
) -> Iterator[str]:
    """Say what is legal, but may not have been meant."""
    for what, beyond in (("true", truths_beyond), ("predicted", predictions_beyond)):
        if beyond.any():
            share = f"{np.count_nonzero(beyond)} of {len(beyond)} {what} boxes"
            hint = "; is their format what it should be?" if 2 * beyond.sum() > len(beyond) else ""
            yield f"{share} reach beyond their image, and are measured as they are{hint}"
    countable = ~(truths.crowd | truths.ignore)
    without_area = np.count_nonzero(countable & (truths.table.area == 0))
    if without_area:
        yield f"{without_area} of {len(truths)} true boxes have no area, so nothing can match them"
    with_objects = np.unique(truths.images[countable])
    empty = np.count_nonzero(~np.isin(with_objects, predictions.images))
    if empty:
        yield f"{empty} of {len(with_objects)} images with objects have no prediction"
    strange = ~np.isin(predictions.labels, truths.labels[countable])
    if strange.any():
        names = [label_names[label] for label in np.unique(predictions.labels[strange]).tolist()]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield (
            f"{np.count_nonzero(strange)} of {len(predictions)} predictions are of classes without "
            f"an object to find ({', '.join(names[:3])}{more}), which have no average precision"
        )


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Stop the search for garbage, which would go through millions of new objects again and again.

    None of them is garbage; without the search, reading takes half the time.
    """
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()
