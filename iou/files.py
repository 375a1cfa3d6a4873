"""Truths and predictions from the files of COCO, Pascal VOC and YOLO.

Nothing that a file holds is mended or left out in silence. If anything in it is wrong, reading ends
with one :class:`DataFileError`, which names every bad row and says what is wrong with it. What is
legal but should be known, as boxes that reach beyond their image, is told in the notes of the
:class:`DataSet`.

====== ============================= ============================= ================================
format truths                        predictions                   a box
====== ============================= ============================= ================================
COCO   JSON: images, categories,     JSON: a list of results       ``xywh``
       annotations
VOC    a folder of XML, one file     a folder of text, one file    ``xyxy_inclusive``
       for each image                for each class
YOLO   a folder of text, one file    a folder of text, one file    ``cxcywh``, in shares of the
       for each image                for each image                image
====== ============================= ============================= ================================

The truths say which images there are; a prediction for another one is an error. So is a true box
that lies outside its image. A predicted box may lie where it likes, and is measured as it is.
"""

import codecs
import gc
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from numbers import Integral, Real
from pathlib import Path, PureWindowsPath
from typing import IO, Any, Protocol, TypeVar
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from . import exact
from .dataset import Predictions, Truths

Column = NDArray[Any]
_Texts = Sequence[str | None]
# A file, a place in it, and what stands there.
_Line = tuple[Path, int, _Texts]
FilePath = str | os.PathLike[str]
_T = TypeVar("_T")

# Problems that a message lists; how many more there are, it says.
_LISTED = 10
# How far a box may reach beyond its image without a note, as a share of the image's side.
_MARGIN = 0.01
_PICTURES = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}


class Progress(Protocol):
    """Hands out the items of a sequence, and may tell how far it has come, as tqdm does."""

    def __call__(self, items: Sequence[_T], what: str, /) -> Iterable[_T]:
        """Go through the items; `what` says what is being done."""


class DataFileError(ValueError):
    """What is wrong in the files, row by row.

    Attributes
    ----------
    problems : tuple of str
        Every bad row with its file and the first thing that is wrong in it. The message lists the
        first ten and counts the others.

    Examples
    --------
    >>> from iou import read_coco
    >>> read_coco({"images": []}, [])
    Traceback (most recent call last):
        ...
    iou.files.DataFileError: 2 problems:
      truths: there is no list 'categories'
      truths: there is no list 'annotations'
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(self._message())

    def _message(self) -> str:
        if len(self.problems) == 1:
            return self.problems[0]
        lines = [f"{len(self.problems)} problems:", *self.problems[:_LISTED]]
        if len(self.problems) > _LISTED:
            lines.append(f"and {len(self.problems) - _LISTED} more")
        return "\n  ".join(lines)


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


def _follow(progress: Progress | None, items: Sequence[_T], what: str) -> Iterable[_T]:
    return items if progress is None else progress(items, what)


# Problems, and rows that may have some.


class _Problems:
    """What is wrong so far: in files as a whole, and in the rows of tables."""

    def __init__(self) -> None:
        self._of_files: list[str] = []
        self._of_rows: list[dict[int, str]] = []

    def add(self, where: str, what: str) -> None:
        self._of_files.append(f"{where}: {what}")

    def of_table(self) -> dict[int, str]:
        """Begin a table, whose bad rows are to be put into what this returns."""
        self._of_rows.append({})
        return self._of_rows[-1]

    def stop_if_any(self) -> None:
        rows = chain.from_iterable(sorted(table.items()) for table in self._of_rows)
        if found := [*self._of_files, *(text for _, text in rows)]:
            raise DataFileError(found)


@dataclass(frozen=True)
class _Kind:
    """What values of one kind are.

    Attributes
    ----------
    dtype : type
        Of the column.
    one : callable
        Reads a value, or raises a ValueError that says what it is instead.
    all : callable, optional
        Reads many good values faster; raises ValueError, TypeError or OverflowError if it cannot
        tell that all are good.
    width : tuple of int
        The shape of one value.
    """

    dtype: type
    one: Callable[[Any], Any]
    all: Callable[[Sequence[Any]], Column] | None = None
    width: tuple[int, ...] = ()


class _Rows:
    """Rows of a file, read column by column.

    A row is reported for the first thing that is wrong in it. What stands in the columns for a bad
    row is of no account.
    """

    def __init__(self, count: int, where: Callable[[int], str], problems: _Problems) -> None:
        self.count, self.where, self.problems = count, where, problems.of_table()
        self.good = np.ones(count, dtype=bool)

    def report(self, row: int, what: str) -> None:
        self.good[row] = False
        self.problems[row] = f"{self.where(row)}: {what}"

    def reject(self, bad: Column, what: Callable[[int], str]) -> None:
        for row in np.flatnonzero(bad & self.good).tolist():
            self.report(row, what(row))

    def read(self, name: str, values: Sequence[Any], kind: _Kind) -> Column:
        try:
            if kind.all is not None:
                return kind.all(values)
        except (ValueError, TypeError, OverflowError):
            pass
        column: Column = np.zeros((self.count, *kind.width), kind.dtype)
        for row, value in enumerate(values):
            if self.good[row]:
                try:
                    column[row] = kind.one(value)
                except ValueError as error:
                    self.report(row, f"{name} {error}")
        return column

    def reject_repeated(self, name: str, ids: Column) -> None:
        rows = np.flatnonzero(self.good)
        _, first, back = np.unique(ids[rows], return_index=True, return_inverse=True)
        first_row = np.arange(self.count)
        first_row[rows] = rows[first[back]]
        self.reject(
            first_row != np.arange(self.count),
            lambda row: f"{name} {ids[row]} again, as in {self.where(int(first_row[row]))}",
        )

    def reject_bad_sides(self, boxes: Column, fmt: str) -> None:
        """Reject boxes that end before they start."""
        fields = exact.field_names(fmt)
        for low, high in ((0, 2), (1, 3)):
            is_side = fields[high] in ("w", "h")
            least, below = (0, "0") if is_side else (boxes[:, low], fields[low])

            def what(row: int, high: int = high, below: str = below) -> str:
                return f"box ({_listed(boxes[row])}): {fields[high]} < {below}"

            self.reject(boxes[:, high] < least, what)


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:.15g}" for number in numbers)


def _shown(value: Any) -> str:
    """Show a value shortly, as JSON has it."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:36]} ..."


def _finite(number: Any) -> float:
    try:
        value = float(number)
    except OverflowError:
        raise ValueError("is beyond the range of float64") from None
    if not isfinite(value):
        raise ValueError("is NaN" if value != value else f"is {value}, not finite")
    return value


def _int64(number: int) -> int:
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"is {_shown(number)}, beyond 64 bits")
    return number


# Values of JSON, and of Python.


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"is {_shown(value)}, not a number")
    return _finite(value)


def _numbers(values: Sequence[Any]) -> Column:
    _expect(values, {int, float})
    return _all_finite(np.fromiter(values, np.float64, len(values)))


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"is {_shown(value)}, not a whole number")
    return _int64(int(value))


def _wholes(values: Sequence[Any]) -> Column:
    _expect(values, {int})
    return np.fromiter(values, np.int64, len(values))


def _flag(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_ | Integral) or value not in (0, 1):
        raise ValueError(f"is {_shown(value)}, neither 0 nor 1")
    return bool(value)


def _flags(values: Sequence[Any]) -> Column:
    _expect(values, {bool, int})
    if set(values) - {0, 1}:
        raise ValueError
    return np.fromiter(values, np.bool_, len(values))


def _list_of(count: int) -> _Kind:
    """Read lists of so many numbers."""

    def one(value: Any) -> list[float]:
        value = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(value, list | tuple):
            raise ValueError(f"is {_shown(value)}, not a list of {count} numbers")
        if len(value) != count:
            raise ValueError(f"has {len(value)} numbers, not {count}")
        numbers = []
        for place, number in enumerate(value):
            try:
                numbers.append(_number(number))
            except ValueError as error:
                raise ValueError(f"has a bad number: [{place}] {error}") from None
        return numbers

    def all_(values: Sequence[Any]) -> Column:
        _expect(values, {list, tuple})
        _expect(chain.from_iterable(values), {int, float})
        if set(map(len, values)) - {count}:
            raise ValueError
        flat = np.fromiter(chain.from_iterable(values), np.float64, count * len(values))
        return _all_finite(flat).reshape(-1, count)

    return _Kind(np.float64, one, all_, (count,))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"is {_shown(value)}, not a text")
    return value


def _expect(values: Iterable[Any], types: set[type]) -> None:
    if set(map(type, values)) - types:
        raise TypeError


def _all_finite(column: Column) -> Column:
    if not np.isfinite(column).all():
        raise ValueError
    return column


_NUMBER = _Kind(np.float64, _number, _numbers)
_WHOLE = _Kind(np.int64, _whole, _wholes)
_FLAG = _Kind(np.bool_, _flag, _flags)
_BOX = _list_of(4)
_SIZE = _list_of(2)
_TEXT = _Kind(np.object_, _text)


# Values of text.


def _number_in(text: str | None) -> float:
    if text is None:
        raise ValueError("is missing")
    try:
        # To Python, 1_5 is 15.
        number = float(text.replace("_", "?"))
    except ValueError:
        raise ValueError(f"is {_shown(text)}, not a number") from None
    return _finite(number)


def _numbers_in(texts: Sequence[str]) -> Column:
    if "_" in "".join(texts):
        raise ValueError
    return _all_finite(np.fromiter(map(float, texts), np.float64, len(texts)))


def _whole_in(text: str | None) -> int:
    if text is None:
        raise ValueError("is missing")
    if not re.fullmatch("[0-9]{1,18}", text):
        raise ValueError(f"is {_shown(text)}, not a whole number")
    return int(text)


def _whole_below(count: int) -> _Kind:
    """Read whole numbers below a bound."""

    def one(text: str | None) -> int:
        number = _whole_in(text)
        if number >= count:
            raise ValueError(f"is {number}, not below {count}")
        return number

    return _Kind(np.int64, one)


_NUMBER_IN = _Kind(np.float64, _number_in, _numbers_in)
_FLAG_IN = _whole_below(2)


def _place_in(names: Sequence[str]) -> _Kind:
    """Read names as their places in a list."""
    places = {name: place for place, name in enumerate(names)}

    def place(name: str | None) -> int:
        if name is None:
            raise ValueError("is missing")
        if name not in places:
            raise ValueError(f"is {_shown(name)}, which is unknown")
        return places[name]

    return _Kind(np.int64, place)


# What the three formats share.


@dataclass(frozen=True, eq=False)
class _Images:
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
class _Table:
    """Rows of boxes, and the columns that were read from them."""

    rows: _Rows
    boxes: Column
    columns: dict[str, Column]

    def lying(self, images: _Images, fmt: str, origin: int) -> tuple[Column, Column]:
        """Tell which boxes have no part in their image, and which reach well beyond it."""
        size = images.of(self.columns["images"], images.sizes).T
        with np.errstate(over="ignore", invalid="ignore"):
            corners = np.array(exact.TO_CORNERS[fmt](*self.boxes.T)) - origin
            low, high = corners[:2], corners[2:]
            shared = np.minimum(high, size) - np.maximum(low, 0)
            outside = (shared < 0) | ((shared == 0) & (low < high))
            beyond = (low < -_MARGIN * size) | (high > size + _MARGIN * size)
        return np.any(outside, axis=0), np.any(beyond, axis=0)

    def scaled(self, images: _Images, scale: Column) -> Column:
        """Multiply the boxes by what belongs to their images."""
        with np.errstate(over="ignore"):
            boxes: Column = self.boxes * np.tile(images.of(self.columns["images"], scale), 2)
        self.rows.reject(
            np.any(~np.isfinite(boxes), axis=1),
            lambda row: f"box ({_listed(self.boxes[row])}) is beyond the range of float64",
        )
        return boxes


def _data_set(
    truths: _Table,
    predictions: _Table,
    images: _Images,
    label_names: Mapping[int, str],
    problems: _Problems,
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
        outside, lambda row: f"box ({_listed(truths.boxes[row])}) lies outside its image"
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
def _collector_at_rest() -> Iterator[None]:
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


# COCO.


_REQUIRED: Any = object()
# What is left of a value at the end of a text that was cut.
_TORN = re.compile(r"\s*|[-+.eE]{1,2}|tr?u?|fa?l?s?|nu?l?")


class _Objects(_Rows):
    """A list of JSON objects."""

    def __init__(self, objects: Sequence[Any], name: str, problems: _Problems) -> None:
        def where(row: int) -> str:
            each = objects[row]
            named = isinstance(each, Mapping) and type(each.get("id")) is int
            return f"{name}[{row}]" + (f" (id {_shown(each['id'])})" if named else "")

        super().__init__(len(objects), where, problems)
        self.objects = objects
        if set(map(type, objects)) - {dict}:
            are_objects = [isinstance(each, Mapping) for each in objects]
            self.reject(~np.array(are_objects), lambda row: f"is {_shown(objects[row])}, no object")
            self.objects = [
                each if good else {} for each, good in zip(objects, are_objects, strict=True)
            ]

    def has(self, field: str) -> Column:
        return np.fromiter((field in each for each in self.objects), np.bool_, self.count)

    def column(self, field: str, kind: _Kind, default: Any = _REQUIRED) -> Column:
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
        return np.where(self.has(field), self.column(field, _NUMBER, 0.0), np.nan)

    def ids(self) -> Column:
        column = self.column("id", _WHOLE)
        self.reject_repeated("id", column)
        return column

    def names(self, field: str, ids: Column) -> list[str]:
        """Read names; what has none is called by its id."""
        given = self.column(field, _TEXT, "").tolist()
        return [name or str(each) for name, each in zip(given, ids.tolist(), strict=True)]

    def known(self, field: str, ids: Iterable[int]) -> Column:
        """Read ids of what was read before."""
        column = self.column(field, _WHOLE)
        known = np.isin(column, np.fromiter(ids, np.int64))
        self.reject(~known, lambda row: f"{field} {column[row]} is unknown")
        return column


@_collector_at_rest()
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
    problems = _Problems()
    sources = [(truths, "truths"), (predictions, "predictions")]
    (annotated, truths_name), (results, results_name) = [
        _parse(source, name, problems) for source, name in _follow(progress, sources, "reading")
    ]
    problems.stop_if_any()
    if not isinstance(annotated, Mapping):
        problems.add(truths_name, f"is {_shown(annotated)}, not an object with annotations")
    else:
        for field in ("images", "categories", "annotations"):
            if not isinstance(annotated.get(field), list | tuple):
                problems.add(truths_name, f"there is no list {field!r}")
    if not isinstance(results, list | tuple):
        problems.add(results_name, f"is {_shown(results)}, not a list of results")
    problems.stop_if_any()

    rows = _Objects(annotated["images"], f"{truths_name}: images", problems)
    ids = rows.ids()
    sizes = np.stack([rows.numbers_if_any(side) for side in ("width", "height")], axis=1)
    rows.reject(
        np.any(sizes <= 0, axis=1), lambda row: f"size ({_listed(sizes[row])}) is not above 0"
    )
    images = _Images(ids, rows.names("file_name", ids), sizes)
    rows = _Objects(annotated["categories"], f"{truths_name}: categories", problems)
    ids = rows.ids()
    label_names = dict(zip(ids.tolist(), rows.names("name", ids), strict=True))
    problems.stop_if_any()

    rows = _Objects(annotated["annotations"], f"{truths_name}: annotations", problems)
    rows.ids()
    columns = {
        "images": rows.known("image_id", images.ids),
        "labels": rows.known("category_id", label_names),
        "crowd": rows.column("iscrowd", _FLAG, False),
        "ignore": rows.column("ignore", _FLAG, False),
    }
    boxes = rows.column("bbox", _BOX)
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
    annotations = _Table(rows, boxes, columns)

    rows = _Objects(results, results_name, problems)
    columns = {
        "images": rows.known("image_id", images.ids),
        "labels": rows.known("category_id", label_names),
        "scores": rows.column("score", _NUMBER),
    }
    detections = _Table(rows, rows.column("bbox", _BOX), columns)
    return _data_set(
        annotations, detections, images, label_names, problems, fmt="xywh", notes=notes
    )


def _parse(source: Any, name: str, problems: _Problems) -> tuple[Any, str]:
    """Parse what is not parsed yet; also say what it is called."""
    if isinstance(source, Mapping | list | tuple):
        return source, name
    if hasattr(source, "read"):
        text, name = source.read(), str(getattr(source, "name", name))
    else:
        text, name = Path(source).read_bytes(), str(source)
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


# Folders and text files.


def _listing(folder: FilePath, suffix: str, problems: _Problems) -> dict[str, Path]:
    """Find the files of one kind in a folder, by their names without the suffix, sorted."""
    found: dict[str, Path] = {}
    for path in sorted(Path(folder).iterdir()):
        if path.suffix.lower() == suffix:
            if path.stem in found:
                problems.add(str(path), f"is there twice, also as {found[path.stem].name}")
            found[path.stem] = path
    return found


def _lines(path: Path, problems: _Problems) -> Iterator[tuple[int, str]]:
    """Read the lines of a text that are not blank, each with its number."""
    data = path.read_bytes()
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        problems.add(str(path), f"is no Unicode text: {error}")
        return
    for number, line in enumerate(text.split("\n"), 1):
        if stripped := line.strip():
            yield number, stripped


def _names(
    source: FilePath | Sequence[str],
    what: str,
    problems: _Problems,
    name_of: Callable[[str], str] = str,
) -> list[str]:
    """Read a list of names; a file has one on each line."""
    if isinstance(source, str | os.PathLike):
        what = str(source)
        source = [line for _, line in _lines(Path(source), problems)]
    names = list(map(name_of, source))
    _unique(names, what, problems)
    return names


def _unique(names: Iterable[str | None], where: str, problems: _Problems) -> None:
    for name, count in Counter(names).items():
        if count > 1 and name is not None:
            problems.add(where, f"{_shown(name)} is there {count} times")


def _image_name(line: str) -> str:
    """Take the name of an image from the path of a picture."""
    path = PureWindowsPath(line)
    return path.stem if path.suffix.lower() in _PICTURES else path.name


class _Fields(_Rows):
    """Lines of text files, cut into fields; or elements of XML."""

    def __init__(
        self,
        lines: Sequence[_Line],
        names: Sequence[str],
        problems: _Problems,
        *,
        unit: str = "line",
        hints: Mapping[int, str] | None = None,
    ) -> None:
        def where(row: int) -> str:
            path, number, _ = lines[row]
            return f"{path}, {unit} {number}"

        super().__init__(len(lines), where, problems)
        fields = [line for _, _, line in lines]
        counts = np.fromiter(map(len, fields), np.int64, self.count)
        self.reject(
            counts != len(names),
            lambda row: (
                f"there are {counts[row]} fields, not {len(names)} ({' '.join(names)})"
                + (hints or {}).get(int(counts[row]), "")
            ),
        )
        if not self.good.all():
            blank = [None] * len(names)
            fields = [line if good else blank for line, good in zip(fields, self.good, strict=True)]
        self.columns = dict(
            zip(names, zip(*fields, strict=True) if fields else [()] * len(names), strict=True)
        )

    def column(self, name: str, kind: _Kind) -> Column:
        return self.read(name, self.columns[name], kind)

    def boxes(self, *names: str) -> Column:
        return np.stack([self.column(name, _NUMBER_IN) for name in names], axis=1)

    def sizes(self) -> Column:
        sizes = self.boxes("width", "height")
        self.reject(
            np.any(sizes <= 0, axis=1), lambda row: f"({_listed(sizes[row])}) is not above 0"
        )
        return sizes


def _numbered(names: Iterable[str]) -> dict[int, str]:
    return dict(enumerate(names))


# VOC.

_VOC_CORNERS = "xmin", "ymin", "xmax", "ymax"


@_collector_at_rest()
def read_voc(
    truths: FilePath,
    predictions: FilePath,
    *,
    images: FilePath | Sequence[str] | None = None,
    classes: FilePath | Sequence[str] | None = None,
    progress: Progress | None = None,
) -> DataSet:
    r"""Read truths and predictions in the formats of Pascal VOC.

    Parameters
    ----------
    truths : path
        A folder with an XML file for each image, as ``Annotations`` in VOC.
    predictions : path
        A folder with a text file for each class, as the development kit takes them: its name is
        that of the class, alone or after ``comp4_det_test_``, and each line has an image, a score
        and ``x_min y_min x_max y_max``. Other files in both folders are not looked at.
    images : path or sequence of str, optional
        Names of the images that count, or a text file with one on each line, as
        ``ImageSets/Main/test.txt`` in VOC. By default, those that have an XML file.
    classes : path or sequence of str, optional
        Names of the classes, or a text file with one on each line. By default, those that objects
        have.
    progress : callable, optional
        Takes a sequence and a text that says what is done with it, and hands out its items.

    Returns
    -------
    DataSet
        Boxes are ``xyxy_inclusive``; images and classes are numbered from 0, in the order of
        `images` and `classes`, or sorted by name. What is ``difficult`` need not be found.

    Raises
    ------
    DataFileError
        If an XML file is missing, cut short or declares a document type (with which a small file
        can become a huge one); if an element or a field is missing, there twice, or not what it
        should be; if there are two files for one class; if an image or a class is unknown; if a
        true box lies outside its image. It is a ValueError, and names every bad row.
    OSError
        If a folder or a file cannot be read.

    Notes
    -----
    Pixels of VOC are counted from 1, and those at the corners belong to the box.

    References
    ----------
    M. Everingham et al., "The Pascal Visual Object Classes (VOC) challenge", IJCV 88 (2010),
    https://doi.org/10.1007/s11263-009-0275-4

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from iou import read_voc
    >>> annotation = (
    ...     "<annotation><object><name>dog</name><bndbox>"
    ...     "<xmin>1</xmin><ymin>1</ymin><xmax>10</xmax><ymax>10</ymax>"
    ...     "</bndbox></object></annotation>"
    ... )
    >>> with TemporaryDirectory() as folder:
    ...     truths, predictions = Path(folder, "Annotations"), Path(folder, "Main")
    ...     truths.mkdir()
    ...     predictions.mkdir()
    ...     _ = (truths / "000001.xml").write_text(annotation)
    ...     _ = (predictions / "comp4_det_test_dog.txt").write_text("000001 0.9 1 1 10 8\n")
    ...     data = read_voc(truths, predictions)
    >>> data.truths.area, data.image_names, data.label_names
    (array([100.]), {0: '000001'}, {0: 'dog'})
    """
    problems = _Problems()
    annotations = _listing(truths, ".xml", problems)
    names = list(annotations) if images is None else _names(images, "images", problems, _image_name)
    if not names:
        problems.add(str(truths), "there is no .xml file")
    sizes: list[_Line] = []
    objects: list[_Line] = []
    sized, containing = [], []
    for image, name in enumerate(_follow(progress, names, "reading annotations")):
        path = annotations.get(name, Path(truths, f"{name}.xml"))
        if name not in annotations:
            problems.add(str(path), "is missing")
            continue
        try:
            size, here = _annotation(path)
        except (ET.ParseError, LookupError, ValueError) as error:
            problems.add(str(path), str(error))
            continue
        sizes += [(path, 1, each) for each in size]
        sized += [image] * len(size)
        objects += [(path, place, each) for place, each in enumerate(here, 1)]
        containing += [image] * len(here)
    rows = _Fields(sizes, ("width", "height"), problems, unit="size")
    known_sizes = np.full((len(names), 2), np.nan)
    known_sizes[sized] = rows.sizes()
    in_images = _Images(np.arange(len(names)), names, known_sizes)
    rows = _Fields(objects, ("name", "difficult", *_VOC_CORNERS), problems, unit="object")
    if classes is None:
        known = sorted(set(rows.columns["name"]) - {None})
    else:
        known = _names(classes, "classes", problems)
    columns = {
        "images": np.array(containing, dtype=np.int64),
        "labels": rows.column("name", _place_in(known)),
        "ignore": rows.column("difficult", _FLAG_IN),
    }
    annotated = _Table(rows, rows.boxes(*_VOC_CORNERS), columns)

    lines: list[_Line] = []
    labels: list[int] = []
    by_class = _by_class(_listing(predictions, ".txt", problems), known, problems)
    for label, path in _follow(progress, by_class, "reading predictions"):
        # The name of an image may have blanks in it.
        more = [(path, number, line.rsplit(maxsplit=5)) for number, line in _lines(path, problems)]
        lines += more
        labels += [label] * len(more)
    rows = _Fields(lines, ("image", "score", *_VOC_CORNERS), problems)
    columns = {
        "images": rows.column("image", _place_in(names)),
        "labels": np.array(labels, dtype=np.int64),
        "scores": rows.column("score", _NUMBER_IN),
    }
    detected = _Table(rows, rows.boxes(*_VOC_CORNERS), columns)
    return _data_set(
        annotated,
        detected,
        in_images,
        _numbered(known),
        problems,
        fmt="xyxy_inclusive",
        origin=1,
    )


class _Elements(ET.TreeBuilder):
    """Build no tree of a file that declares entities, for they may multiply without end."""

    def doctype(self, *_: Any) -> None:
        raise ValueError("declares a document type, which annotations have no use for")


def _annotation(path: Path) -> tuple[list[_Texts], list[_Texts]]:
    """Read width and height of the image, if given; name, difficult and corners of each object."""
    root = ET.fromstring(path.read_bytes(), ET.XMLParser(target=_Elements()))
    if root.tag != "annotation":
        raise ValueError(f"is no annotation: it starts with <{root.tag}>")
    size = _child(root, "size")
    sizes: list[_Texts] = []
    if size is not None:
        sizes.append([_text_in(size, side) for side in ("width", "height")])
    objects: list[_Texts] = []
    for each in root.findall("object"):
        difficult = "0" if _child(each, "difficult") is None else _text_in(each, "difficult")
        box = _child(each, "bndbox")
        corners = [_text_in(box, corner) for corner in _VOC_CORNERS]
        objects.append([_text_in(each, "name"), difficult, *corners])
    return sizes, objects


def _child(element: ET.Element | None, tag: str) -> ET.Element | None:
    if element is None:
        return None
    children = element.findall(tag)
    if len(children) > 1:
        raise ValueError(f"there are {len(children)} <{tag}> in one <{element.tag}>")
    return children[0] if children else None


def _text_in(element: ET.Element | None, tag: str) -> str | None:
    child = _child(element, tag)
    return None if child is None else (child.text or "").strip()


def _by_class(
    files: Mapping[str, Path], classes: Sequence[str], problems: _Problems
) -> list[tuple[int, Path]]:
    """Tell by the names of files which class each has the predictions of."""
    labels = {name: label for label, name in enumerate(classes)}
    found: dict[int, Path] = {}
    for stem, path in files.items():
        name = re.sub(r"^comp\d+_det_[^_]+_", "", stem)
        if name not in labels:
            problems.add(str(path), f"class {_shown(name)} is unknown")
        elif labels[name] in found:
            other = found[labels[name]].name
            problems.add(str(path), f"class {_shown(name)} has two files, this and {other}")
        else:
            found[labels[name]] = path
    return list(found.items())


# YOLO.


@_collector_at_rest()
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
        no predictions. Other files in both folders are not looked at.
    images : path or sequence of str, optional
        Names of the images that count, or a text file with one on each line; of a path to
        a picture, the name of the file is taken. One without a file of truths has no objects. By
        default, images are those that have such a file, which may be empty.
    classes : path or sequence of str, optional
        Names of the classes, or a text file with one on each line. By default, ``classes.txt`` in
        the folder of truths; without it, every class is known, and called by its number.
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
        If a line has too few fields, or too many, as an outline has; if a field is not what it
        should be; if an image, a class or a size is unknown; if a true box lies outside its image,
        as one in pixels does. It is a ValueError, and names every bad row.
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
    problems = _Problems()
    labels = _listing(truths, ".txt", problems)
    names_file = labels.pop("classes", None)
    names = list(labels) if images is None else _names(images, "images", problems, _image_name)
    if not names:
        problems.add(str(truths), "there is no .txt file")
    if classes is None:
        classes = names_file
    known = None if classes is None else _names(classes, "classes", problems)
    class_kind = _whole_below(2**63 if known is None else len(known))
    found = _listing(predictions, ".txt", problems)
    found.pop("classes", None)
    for name in sorted(found.keys() - set(names)):
        problems.add(str(found.pop(name)), "there are no truths for this image")

    def read(files: Mapping[str, Path], what: str, *more: str, hints: Mapping[int, str]) -> _Table:
        lines: list[_Line] = []
        containing: list[int] = []
        for image, name in enumerate(_follow(progress, names, what)):
            if name in files:
                path = files[name]
                here = [(path, number, line.split()) for number, line in _lines(path, problems)]
                lines += here
                containing += [image] * len(here)
        rows = _Fields(lines, ("class", *exact.field_names("cxcywh"), *more), problems, hints=hints)
        columns = {
            "images": np.array(containing, dtype=np.int64),
            "labels": rows.column("class", class_kind),
        }
        columns |= {f"{name}s": rows.column(name, _NUMBER_IN) for name in more}
        return _Table(rows, rows.boxes(*exact.field_names("cxcywh")), columns)

    hints = {6: "; is the last a score?"} | dict.fromkeys(range(7, 1000, 2), "; an outline?")
    annotated = read(labels, "reading truths", hints=hints)
    hints = {5: "; is the score missing (save_conf)?"}
    detected = read(found, "reading predictions", "score", hints=hints)
    if known is None:
        seen = np.union1d(annotated.columns["labels"], detected.columns["labels"]).tolist()
        label_names = {label: str(label) for label in seen}
    else:
        label_names = _numbered(known)
    return _data_set(
        annotated,
        detected,
        _Images(np.arange(len(names)), names, np.ones((len(names), 2))),
        label_names,
        problems,
        fmt="cxcywh",
        scale=None if sizes is None else _sizes_of(names, sizes, problems),
        in_pixels=sizes is not None,
    )


def _sizes_of(
    names: Sequence[str],
    sizes: FilePath | tuple[float, float] | Mapping[str, tuple[float, float]],
    problems: _Problems,
) -> Column:
    """Read the sizes of images from whatever the caller has."""
    if isinstance(sizes, str | os.PathLike):
        path = Path(sizes)
        lines = [(path, number, line.rsplit(maxsplit=2)) for number, line in _lines(path, problems)]
        fields = _Fields(lines, ("image", "width", "height"), problems)
        named = fields.columns["image"]
        _unique(named, str(path), problems)
        sizes = dict(zip(named, fields.sizes().tolist(), strict=True))
    if not isinstance(sizes, Mapping):
        sizes = dict.fromkeys(names, sizes)
    missing = [name for name in names if name not in sizes]
    for name in missing:
        problems.add("sizes", f"there is none of image {_shown(name)}")
    pairs = [sizes.get(name, (1, 1)) for name in names]
    rows = _Rows(len(pairs), lambda row: f"sizes, image {_shown(names[row])}", problems)
    table = rows.read("size", pairs, _SIZE)
    rows.reject(np.any(table <= 0, axis=1), lambda row: f"({_listed(table[row])}) is not above 0")
    return table
