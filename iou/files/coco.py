"""Truths and predictions in the JSON formats of COCO."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from .folders import FilePath
from .rows import Problems, Rows
from .tables import DataSet, Images, Progress, Table, collector_at_rest, data_set, follow
from .values import BOX, FLAG, NUMBER, TEXT, WHOLE, Column, Kind, listed, shown

_REQUIRED: Any = object()
# What is left of a value at the end of a text that was cut.
_TORN = re.compile(r"\s*|[-+.eE]{1,2}|tr?u?|fa?l?s?|nu?l?")


class _Objects(Rows):
    """A list of JSON objects."""

    def __init__(self, objects: Sequence[Any], name: str, problems: Problems) -> None:
        def where(row: int) -> str:
            each = objects[row]
            named = isinstance(each, Mapping) and type(each.get("id")) is int
            return f"{name}[{row}]" + (f" (id {shown(each['id'])})" if named else "")

        super().__init__(len(objects), where, problems)
        self.objects = objects
        if set(map(type, objects)) - {dict}:
            are_objects = [isinstance(each, Mapping) for each in objects]
            self.reject(~np.array(are_objects), lambda row: f"is {shown(objects[row])}, no object")
            self.objects = [
                each if good else {} for each, good in zip(objects, are_objects, strict=True)
            ]

    def has(self, field: str) -> Column:
        return np.fromiter((field in each for each in self.objects), np.bool_, self.count)

    def column(self, field: str, kind: Kind, default: Any = _REQUIRED) -> Column:
        try:
            values = [each[field] for each in self.objects]
        except KeyError:
            if default is _REQUIRED:
                self.reject(~self.has(field), lambda row: self._lacks(field, row))
            values = [each.get(field, default) for each in self.objects]
        return self.read(field, values, kind)

    def _lacks(self, field: str, row: int) -> str:
        has_mask = field == "bbox" and "segmentation" in self.objects[row]
        return f"there is no {field!r}" + (", but a mask, and only boxes are read" * has_mask)

    def numbers_if_any(self, field: str) -> Column:
        """Read a field that may be missing, which gives NaN."""
        return np.where(self.has(field), self.column(field, NUMBER, 0.0), np.nan)

    def ids(self) -> Column:
        column = self.column("id", WHOLE)
        self.reject_repeated("id", column)
        return column

    def names(self, field: str, ids: Column) -> list[str]:
        """Read names; what has none is called by its id."""
        given = self.column(field, TEXT, "").tolist()
        return [name or str(each) for name, each in zip(given, ids.tolist(), strict=True)]

    def known(self, field: str, ids: Iterable[int]) -> Column:
        """Read ids of what was read before."""
        column = self.column(field, WHOLE)
        known = np.isin(column, np.fromiter(ids, np.int64))
        self.reject(~known, lambda row: f"{field} {column[row]} is unknown")
        return column


@collector_at_rest()
def read_coco(
    truths: FilePath | IO[Any] | Mapping[str, Any],
    predictions: FilePath | IO[Any] | Sequence[Mapping[str, Any]],
    *,
    progress: Progress | None = None,
) -> DataSet:
    """Read truths and predictions in the JSON formats of COCO.

    Parameters
    ----------
    truths : path, file or dict
        Annotations: an object with the lists ``images`` (``id``, and if known ``file_name``,
        ``width``, ``height``), ``categories`` (``id``, and if known ``name``) and ``annotations``
        (``id``, ``image_id``, ``category_id``, ``bbox``, and if they apply ``area``, ``iscrowd``,
        ``ignore``). A dict is taken for what was parsed already.
    predictions : path, file or list
        Results: a list of objects with ``image_id``, ``category_id``, ``bbox`` and ``score``.
    progress : callable, optional
        Takes a sequence and a text that says what is done with it, and hands out its items.

    Returns
    -------
    DataSet
        Boxes are ``xywh``; images and labels have the ids of the file. An image or a category
        without a name is called by its id, and an annotation without ``area`` has that of its box.

    Raises
    ------
    DataFileError
        If a file is cut short or no JSON; if a list or a field is missing, or not what it should
        be (a score that is NaN, a width below 0, a mask without a box); if two have one id; if an
        image or a category is unknown; if a true box lies outside its image. It is a ValueError,
        and names every bad row.
    OSError
        If a file cannot be read.

    Notes
    -----
    An annotation with ``ignore`` need not be found. pycocotools does not look at that field, so the
    notes mention it. Of two fields of one name in an object, the last counts.

    References
    ----------
    https://cocodataset.org/#format-data and https://cocodataset.org/#format-results

    Examples
    --------
    >>> from iou import read_coco
    >>> truths = {
    ...     "images": [{"id": 7, "file_name": "street.jpg", "width": 640, "height": 480}],
    ...     "categories": [{"id": 3, "name": "car"}],
    ...     "annotations": [{"id": 1, "image_id": 7, "category_id": 3, "bbox": [10, 20, 40, 30]}],
    ... }
    >>> result = {"image_id": 7, "category_id": 3, "bbox": [12, 20, 40, 30], "score": 0.9}
    >>> data = read_coco(truths, [result])
    >>> data.truths, data.predictions, data.label_names
    (Truths of 1 box in 1 image, Predictions of 1 box in 1 image, {3: 'car'})

    Every bad row is named:

    >>> read_coco(truths, [{**result, "score": float("nan")}, result, {**result, "image_id": 8}])
    Traceback (most recent call last):
        ...
    iou.files.DataFileError: 2 problems:
      predictions[0]: score is NaN
      predictions[2]: image_id 8 is unknown
    """
    problems = Problems()
    sources = [(truths, "truths"), (predictions, "predictions")]
    (annotated, truths_name), (results, results_name) = [
        _parse(source, name, problems) for source, name in follow(progress, sources, "reading")
    ]
    problems.stop_if_any()
    if not isinstance(annotated, Mapping):
        problems.add(truths_name, f"is {shown(annotated)}, not an object with annotations")
    else:
        for field in ("images", "categories", "annotations"):
            if not isinstance(annotated.get(field), list | tuple):
                problems.add(truths_name, f"there is no list {field!r}")
    if not isinstance(results, list | tuple):
        problems.add(results_name, f"is {shown(results)}, not a list of results")
    problems.stop_if_any()

    rows = _Objects(annotated["images"], f"{truths_name}: images", problems)
    ids = rows.ids()
    sizes = np.stack([rows.numbers_if_any(side) for side in ("width", "height")], axis=1)
    rows.reject(
        np.any(sizes <= 0, axis=1), lambda row: f"size ({listed(sizes[row])}) is not above 0"
    )
    images = Images(ids, rows.names("file_name", ids), sizes)
    rows = _Objects(annotated["categories"], f"{truths_name}: categories", problems)
    ids = rows.ids()
    label_names = dict(zip(ids.tolist(), rows.names("name", ids), strict=True))
    problems.stop_if_any()

    rows = _Objects(annotated["annotations"], f"{truths_name}: annotations", problems)
    rows.ids()
    columns = {
        "images": rows.known("image_id", images.ids),
        "labels": rows.known("category_id", label_names),
        "crowd": rows.column("iscrowd", FLAG, False),
        "ignore": rows.column("ignore", FLAG, False),
    }
    boxes = rows.column("bbox", BOX)
    area = rows.numbers_if_any("area")
    rows.reject(area < 0, lambda row: f"area is {area[row]:.15g}, below 0")
    with np.errstate(over="ignore"):
        area_of_box = np.minimum(boxes[:, 2] * boxes[:, 3], np.finfo(np.float64).max)
    columns["area"] = np.where(np.isnan(area), area_of_box, area)
    ignored = np.count_nonzero(columns["ignore"])
    without_area = np.count_nonzero(np.isnan(area))
    notes = []
    if ignored:
        notes.append(
            f"{ignored} of {rows.count} annotations say 'ignore', and need not be found; "
            "pycocotools does not look at that field"
        )
    if without_area:
        notes.append(
            f"{without_area} of {rows.count} annotations have no 'area'; that of the box is taken"
        )
    annotations = Table(rows, boxes, columns)

    rows = _Objects(results, results_name, problems)
    columns = {
        "images": rows.known("image_id", images.ids),
        "labels": rows.known("category_id", label_names),
        "scores": rows.column("score", NUMBER),
    }
    detections = Table(rows, rows.column("bbox", BOX), columns)
    return data_set(annotations, detections, images, label_names, problems, fmt="xywh", notes=notes)


def _parse(source: Any, name: str, problems: Problems) -> tuple[Any, str]:
    """Parse what is not parsed yet; also say what it is called."""
    if isinstance(source, Mapping | list | tuple):
        return source, name
    if hasattr(source, "read"):
        text, name = source.read(), str(getattr(source, "name", name))
    else:
        text, name = Path(source).read_bytes(), str(source)
    if not text.strip():
        problems.add(name, "is empty")
        return None, name
    try:
        # Of bytes, this finds out which UTF they are in.
        return json.loads(text), name
    except json.JSONDecodeError as error:
        cut = _TORN.fullmatch(error.doc, error.pos) or error.msg.startswith("Unterminated")
        problems.add(name, f"is {'cut short' if cut else 'no JSON'}: {error}")
    except UnicodeDecodeError as error:
        problems.add(name, f"is no Unicode text: {error}")
    except RecursionError:
        problems.add(name, "is nested too deeply")
    except ValueError as error:
        # Python refuses integers of thousands of digits.
        problems.add(name, f"cannot be read: {error}")
    return None, name
