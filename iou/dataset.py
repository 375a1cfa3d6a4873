"""What is evaluated: the truths and the predictions of many images, in flat columns.

A set of images is described by two tables. One has a row for each true object, the other a row for
each predicted one; a row says in which image its box lies. Images and labels are any integers, so
the ids of a data set serve as they are. Both tables are checked when they are made, and cannot be
changed afterwards.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import column, expect_kind, finite, reject
from .boxes import Boxes, FloatArray, IntArray, Mask, read_table
from .boxes import area as area_of

_INT64 = np.iinfo(np.int64)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class _Objects:
    """Boxes, each with the image it lies in and a label."""

    table: Boxes
    images: IntArray
    labels: IntArray

    def _set(self, **columns: Any) -> None:
        for name, values in columns.items():
            object.__setattr__(self, name, values)

    @property
    def boxes(self) -> NDArray[Any]:
        """The boxes as they came in, shape (N, 4), read-only."""
        return self.table.given

    @property
    def fmt(self) -> str:
        """What the four numbers of a box mean."""
        return self.table.fmt

    def __len__(self) -> int:
        return len(self.images)

    def __repr__(self) -> str:
        boxes, images = len(self), len(np.unique(self.images))
        return (
            f"{type(self).__name__} of {boxes} box{'es' * (boxes != 1)} "
            f"in {images} image{'s' * (images != 1)}"
        )


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Truths(_Objects):
    """The true objects of a set of images.

    Parameters
    ----------
    boxes : array_like, shape (N, 4)
        Boxes, as for :func:`iou.iou`.
    images : array_like of int, shape (N,), optional
        The image that each box lies in: any integers. By default, all are in image 0.
    labels : array_like of int, shape (N,), optional
        The class of each object: any integers. By default, all are 0.
    crowd : array_like of bool, shape (N,), optional
        Whether a box holds a group of objects (COCO's ``iscrowd``): it is to be found by none, and
        excuses any number of predictions. By default, none does.
    ignore : array_like of bool, shape (N,), optional
        Whether an object need not be found (VOC's ``difficult``): it excuses the prediction that
        takes it. By default, all are to be found.
    area : array_like, shape (N,), optional
        Area by which the object counts as small or large, in square units of the coordinates: in
        COCO that of its mask. By default, the area of the box.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers mean; see :mod:`iou.exact`.

    Attributes
    ----------
    table : Boxes
        The boxes, validated.
    images, labels : ndarray of int64, shape (N,)
    crowd, ignore : ndarray of bool, shape (N,)
    area : ndarray of float64, shape (N,)
        The columns, read-only.

    Raises
    ------
    ValueError
        If a column is not as long as `boxes`, if a number does not fit its column (an image beyond
        int64, a `crowd` of 2, an area that is negative, infinite or NaN), and as :func:`iou.iou`
        does. The first bad row is named.
    TypeError
        If a column is not of its kind of numbers, and as :func:`iou.iou` does.

    Examples
    --------
    >>> from iou import Truths
    >>> truths = Truths([[0, 0, 4, 4], [2, 2, 6, 3]], images=[7, 7], labels=[1, 0])
    >>> truths
    Truths of 2 boxes in 1 image
    >>> truths.labels, truths.area
    (array([1, 0]), array([16.,  4.]))
    >>> Truths([[0, 0, 4, 4], [2, 2, 6, 3]], crowd=[0, 2])
    Traceback (most recent call last):
        ...
    ValueError: crowd[1] = 2: neither 0 nor 1
    """

    crowd: Mask
    ignore: Mask
    area: FloatArray

    def __init__(
        self,
        boxes: ArrayLike,
        *,
        images: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        crowd: ArrayLike | None = None,
        ignore: ArrayLike | None = None,
        area: ArrayLike | None = None,
        fmt: str = "xyxy",
    ) -> None:
        table = _table(boxes, fmt)
        rows = len(table)
        self._set(
            table=table,
            images=_read_column(images, rows, "images"),
            labels=_read_column(labels, rows, "labels"),
            crowd=_read_column(crowd, rows, "crowd"),
            ignore=_read_column(ignore, rows, "ignore"),
            area=_read_column(_areas_of(table) if area is None else area, rows, "area"),
        )

    @classmethod
    def per_image(
        cls,
        boxes: Sequence[ArrayLike],
        *,
        labels: Sequence[ArrayLike] | None = None,
        crowd: Sequence[ArrayLike] | None = None,
        ignore: Sequence[ArrayLike] | None = None,
        area: Sequence[ArrayLike] | None = None,
        fmt: str = "xyxy",
    ) -> Self:
        """Join what is given image by image; the images are numbered from 0.

        Parameters
        ----------
        boxes : sequence of array_like, shape (n, 4)
            The boxes of each image; ``[]`` where there are none.
        labels, crowd, ignore, area : sequence of array_like, shape (n,), optional
            The other columns, cut in the same way.
        fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
            What the four numbers mean.

        Returns
        -------
        Truths

        Raises
        ------
        ValueError, TypeError
            As the class does; the image is named before the row.

        Examples
        --------
        >>> from iou import Truths
        >>> Truths.per_image([[[0, 0, 4, 4]], [], [[1, 1, 2, 2], [5, 5, 9, 9]]]).images
        array([0, 2, 2])
        """
        columns = {"labels": labels, "crowd": crowd, "ignore": ignore, "area": area}
        return cls(**_joined(boxes, columns, fmt))


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Predictions(_Objects):
    """The objects that a detector predicts in a set of images.

    Parameters
    ----------
    boxes : array_like, shape (N, 4)
        Boxes, as for :func:`iou.iou`.
    scores : array_like, shape (N,)
        How sure the detector is of each; any finite numbers, compared as float64.
    images : array_like of int, shape (N,), optional
        The image that each box lies in: any integers. By default, all are in image 0.
    labels : array_like of int, shape (N,), optional
        The class of each object: any integers. By default, all are 0.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What the four numbers mean; see :mod:`iou.exact`.

    Attributes
    ----------
    table : Boxes
        The boxes, validated.
    scores : ndarray of float64, shape (N,)
    images, labels : ndarray of int64, shape (N,)
        The columns, read-only.

    Raises
    ------
    ValueError
        If a column is not as long as `boxes`, if a number does not fit its column (an image beyond
        int64, a score that is infinite or NaN), and as :func:`iou.iou` does. The first bad row is
        named.
    TypeError
        If a column is not of its kind of numbers, and as :func:`iou.iou` does.

    Examples
    --------
    >>> from iou import Predictions
    >>> Predictions([[0, 0, 4, 4], [2, 2, 6, 3]], [0.9, 0.4], images=[7, -7])
    Predictions of 2 boxes in 2 images
    >>> Predictions([[0, 0, 4, 4], [2, 2, 6, 3]], [0.9, float("nan")])
    Traceback (most recent call last):
        ...
    ValueError: scores[1] = nan: not a finite number
    """

    scores: FloatArray

    def __init__(
        self,
        boxes: ArrayLike,
        scores: ArrayLike,
        *,
        images: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        fmt: str = "xyxy",
    ) -> None:
        table = _table(boxes, fmt)
        rows = len(table)
        self._set(
            table=table,
            scores=_read_column(scores, rows, "scores"),
            images=_read_column(images, rows, "images"),
            labels=_read_column(labels, rows, "labels"),
        )

    @classmethod
    def per_image(
        cls,
        boxes: Sequence[ArrayLike],
        scores: Sequence[ArrayLike],
        *,
        labels: Sequence[ArrayLike] | None = None,
        fmt: str = "xyxy",
    ) -> Self:
        """Join what is given image by image; the images are numbered from 0.

        Parameters
        ----------
        boxes : sequence of array_like, shape (n, 4)
            The boxes of each image; ``[]`` where there are none.
        scores : sequence of array_like, shape (n,)
            Their scores.
        labels : sequence of array_like, shape (n,), optional
            Their classes.
        fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
            What the four numbers mean.

        Returns
        -------
        Predictions

        Raises
        ------
        ValueError, TypeError
            As the class does; the image is named before the row.

        Examples
        --------
        >>> from iou import Predictions
        >>> Predictions.per_image([[], [[0, 0, 4, 4]]], [[], [0.9]]).images
        array([1])
        >>> Predictions.per_image([[], [[0, 0, 4, 4]]], [[], [0.9, 0.8]])
        Traceback (most recent call last):
            ...
        ValueError: scores[1] must have the shape (1,), not (2,)
        """
        return cls(**_joined(boxes, {"scores": scores, "labels": labels}, fmt))


def _table(boxes: ArrayLike, fmt: str) -> Boxes:
    table = read_table(boxes, fmt)
    table.columns.flags.writeable = False
    return replace(table, source=_frozen(table.source))


def _frozen(column: NDArray[Any]) -> NDArray[Any]:
    """Copy, so that nobody else holds the numbers that were checked."""
    copy = np.array(column, order="C")
    copy.flags.writeable = False
    return copy


def _areas_of(table: Boxes) -> FloatArray:
    given = table.given
    areas = area_of(given.tolist() if given.dtype == object else given, fmt=table.fmt)
    # Beyond the range of float64, every area is large.
    return np.minimum(areas, np.finfo(np.float64).max)


# Columns other than boxes. A reader takes an array that is long enough, and gives the column.


def _read_column(values: ArrayLike | None, rows: int, name: str) -> NDArray[Any]:
    if values is None:
        values = np.zeros(rows, dtype=np.int64)
    return _frozen(_READERS[name](column(values, rows, name), name))


def _integers(values: NDArray[Any], name: str) -> IntArray:
    expect_kind(values, "iu", "integers", name)
    if values.dtype == np.uint64:
        reject(values > _INT64.max, values, name, "beyond the range of int64")
    return values.astype(np.int64)


def _flags(values: NDArray[Any], name: str) -> Mask:
    expect_kind(values, "iub", "bools", name)
    reject((values != 0) & (values != 1), values, name, "neither 0 nor 1")
    return values.astype(np.bool_)


def _floats(values: NDArray[Any], name: str) -> FloatArray:
    with np.errstate(over="ignore"):
        numbers = finite(values, name).astype(np.float64)
    reject(~np.isfinite(numbers), values, name, "beyond the range of float64")
    return numbers


def _areas(values: NDArray[Any], name: str) -> FloatArray:
    numbers = _floats(values, name)
    reject(numbers < 0, values, name, "negative")
    return numbers


_READERS: dict[str, Callable[[NDArray[Any], str], NDArray[Any]]] = {
    "scores": _floats,
    "images": _integers,
    "labels": _integers,
    "crowd": _flags,
    "ignore": _flags,
    "area": _areas,
}


# Joining images.


def _joined(
    boxes: Sequence[ArrayLike], columns: dict[str, Sequence[ArrayLike] | None], fmt: str
) -> dict[str, Any]:
    """Turn what is given image by image into the arguments for the whole."""
    parts = [read_table(part, fmt, f"boxes[{image}]").given for image, part in enumerate(boxes)]
    rows = np.array([len(part) for part in parts], dtype=np.int64)
    joined: dict[str, Any] = {"images": np.repeat(np.arange(len(parts)), rows), "fmt": fmt}
    for name, given in columns.items():
        if given is not None:
            joined[name] = _join_column(given, rows, name)
    joined["boxes"] = _join_rows(parts)
    return joined


def _join_column(given: Sequence[ArrayLike], rows: IntArray, name: str) -> Any:
    if len(given) != len(rows):
        raise ValueError(
            f"{name} must have a column for each of {len(rows)} images, it has {len(given)}"
        )
    parts = [
        _READERS[name](column(part, count, part_name), part_name)
        for part, count, part_name in zip(
            given, rows.tolist(), (f"{name}[{image}]" for image in range(len(rows))), strict=True
        )
    ]
    return np.concatenate(parts) if parts else []


def _join_rows(parts: list[NDArray[Any]]) -> Any:
    """Join boxes; those of different types by way of Python's numbers, so that none is rounded."""
    parts = [part for part in parts if len(part)]
    if len({part.dtype for part in parts}) == 1 and parts[0].dtype != object:
        return np.concatenate(parts)
    return [row for part in parts for row in part.tolist()]
