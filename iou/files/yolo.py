"""Truths and predictions in the text format of YOLO."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from .. import exact
from .folders import (
    Fields,
    FilePath,
    Line,
    called,
    fields_of,
    files_in,
    image_name,
    read_names,
    reject_none,
    reject_repeated,
)
from .rows import Problems, Rows
from .tables import DataSet, Images, Progress, Table, collector_at_rest, data_set, follow
from .values import NUMBER_IN, SIZE, WHOLE_IN, Column, listed, shown, whole_below

# A centre, in shares of the image: a detector may place one beside the image, but not so far.
_FAR = 2.0


@collector_at_rest()
def read_yolo(
    truths: FilePath,
    predictions: FilePath,
    *,
    images: FilePath | Sequence[str] | None = None,
    classes: FilePath | Sequence[str] | None = None,
    sizes: FilePath | tuple[float, float] | Mapping[str, tuple[float, float]] | None = None,
    progress: Progress | None = None,
) -> DataSet:
    r"""Read truths and predictions in the text format of YOLO.

    Parameters
    ----------
    truths : path
        A folder with a text file for each image, ``labels`` in YOLO. A line has a class, counted
        from 0, and ``x_c y_c w h`` in shares of the width and height of the image.
    predictions : path
        A folder of the same kind, in which each line ends with a score. An image without a file has
        no predictions; where nothing was found at all, one of them is empty. Other files in both
        folders are not looked at.
    images : path or sequence of str, optional
        Names of the images that count, or a text file with one on each line; of a path to
        a picture, the name of the file is taken. One without a file of truths has no objects. By
        default, images are those that have such a file, which may be empty.
    classes : path or sequence of str, optional
        Names of the classes, or a text file with one on each line, and no YAML. By default,
        ``classes.txt`` in the folder of truths; without it, every class is known, and called by its
        number.
    sizes : path, (width, height), or mapping of str to (width, height), optional
        Sizes of the images, in pixels: one for all, or one for each name. A text file has a name,
        a width and a height on each line.
    progress : callable, optional
        Takes a sequence and a text that says what is done with it, and hands out its items.

    Returns
    -------
    DataSet
        Boxes are ``cxcywh``; images are numbered from 0, in the order of `images` or sorted by
        name. With `sizes`, boxes and areas are in pixels. Without, they are in shares of the image:
        IoU does not change when an axis is scaled, so only small, medium and large mean nothing.

    Raises
    ------
    DataFileError
        If a folder has no file of its kind; if a line has too few fields, or too many, as an
        outline has; if a field is not what it should be; if an image, a class or a size is unknown;
        if a true box lies outside its image, or any box so far from it that it must be in pixels.
        It is a ValueError, and names every bad row.
    OSError
        If a folder or a file cannot be read.

    References
    ----------
    https://docs.ultralytics.com/datasets/detect/

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from iou import read_yolo
    >>> with TemporaryDirectory() as folder:
    ...     truths, predictions = Path(folder, "labels"), Path(folder, "found")
    ...     truths.mkdir()
    ...     predictions.mkdir()
    ...     _ = (truths / "street.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    ...     _ = (predictions / "street.txt").write_text("0 0.5 0.5 0.2 0.1 0.9\n")
    ...     data = read_yolo(truths, predictions, classes=["car"], sizes=(640, 480))
    >>> data.predictions.boxes, data.truths.area, data.image_names
    (array([[320., 240., 128.,  48.]]), array([12288.]), {0: 'street'})
    """
    problems = Problems()
    labels = files_in(truths, ".txt", problems)
    names_file = labels.pop("classes", None)
    found = files_in(predictions, ".txt", problems)
    found.pop("classes", None)
    reject_none(truths, labels.values(), ".txt file with the objects of an image", problems)
    reject_none(predictions, found.values(), ".txt file with the predictions of an image", problems)
    problems.stop_if_any()
    names = list(labels) if images is None else read_names(images, "images", problems, image_name)
    listed_labels = [labels[name] for name in names if name in labels]
    reject_none(
        truths, listed_labels, f".txt file of an image in {called(images, 'images')}", problems
    )
    if classes is None:
        classes = names_file
    known, class_kind = None, WHOLE_IN
    if classes is not None:
        known = read_names(classes, "classes", problems)
        count = f"{len(known)} {'name' if len(known) == 1 else 'names'}"
        beyond = f"but {called(classes, 'classes')} has {count}, counted from 0"
        class_kind = whole_below(len(known), beyond)
    for name in sorted(found.keys() - set(names)):
        hint = f"; is it {shown(image_name(name))}?" if image_name(name) in names else ""
        problems.add(str(found.pop(name)), f"there are no truths for this image{hint}")

    def read(files: Mapping[str, Path], what: str, *more: str, hints: Mapping[int, str]) -> Table:
        lines: list[Line] = []
        containing: list[int] = []
        for image, name in enumerate(follow(progress, names, what)):
            if name in files:
                here = fields_of(files[name], problems)
                lines += here
                containing += [image] * len(here)
        rows = Fields(lines, ("class", *exact.field_names("cxcywh"), *more), problems, hints=hints)
        columns = {
            "images": np.array(containing, dtype=np.int64),
            "labels": rows.column("class", class_kind),
        }
        columns |= {f"{name}s": rows.column(name, NUMBER_IN) for name in more}
        boxes = rows.boxes(*exact.field_names("cxcywh"))
        rows.reject(
            np.any(boxes[:, :2] >= _FAR, axis=1),
            lambda row: f"box ({listed(boxes[row])}) lies far from its image; is it in pixels?",
        )
        return Table(rows, boxes, columns)

    hints = {6: "; is the last a score?"} | dict.fromkeys(range(7, 1000, 2), "; an outline?")
    annotated = read(labels, "reading truths", hints=hints)
    hints = {5: "; is the score missing (save_conf)?"}
    detected = read(found, "reading predictions", "score", hints=hints)
    if known is None:
        seen = np.union1d(annotated.columns["labels"], detected.columns["labels"]).tolist()
        label_names = {label: str(label) for label in seen}
    else:
        label_names = dict(enumerate(known))
    return data_set(
        annotated,
        detected,
        Images(np.arange(len(names)), names, np.ones((len(names), 2))),
        label_names,
        problems,
        fmt="cxcywh",
        scale=None if sizes is None else _sizes_of(names, sizes, problems),
        in_pixels=sizes is not None,
    )


def _sizes_of(
    names: Sequence[str],
    sizes: FilePath | tuple[float, float] | Mapping[str, tuple[float, float]],
    problems: Problems,
) -> Column:
    """Read the sizes of images from whatever the caller has."""
    where = called(sizes, "sizes")
    if isinstance(sizes, str | os.PathLike):
        path = Path(sizes)
        fields = Fields(
            fields_of(path, problems, maxsplit=2), ("image", "width", "height"), problems
        )
        named = fields.columns["image"]
        if not fields.count:
            # A file that is no text has no sizes, and is not empty.
            problems.stop_if_any()
            problems.add(where, "is empty; each line should have a name, a width and a height")
            problems.stop_if_any()
        reject_repeated(named, where, problems)
        sizes = dict(zip(named, fields.sizes().tolist(), strict=True))
    if not isinstance(sizes, Mapping):
        sizes = dict.fromkeys(names, sizes)
    as_meant = {image_name(str(name)): name for name in sizes}
    for name in names:
        if name not in sizes:
            hint = f"; is it that of {shown(as_meant[name])}?" if name in as_meant else ""
            problems.add(where, f"there is no size of image {shown(name)}{hint}")
    pairs = [sizes.get(name, (1, 1)) for name in names]
    rows = Rows(len(pairs), lambda row: f"{where}, image {shown(names[row])}", problems)
    table = rows.read("size", pairs, SIZE)
    rows.reject(np.any(table <= 0, axis=1), lambda row: f"({listed(table[row])}) is not above 0")
    return table
