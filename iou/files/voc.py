"""Truths and predictions in the formats of Pascal VOC."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from .folders import (
    Fields,
    FilePath,
    Line,
    Texts,
    called,
    fields_of,
    files_in,
    image_name,
    read_names,
    reject_none,
)
from .rows import Problems
from .tables import DataSet, Images, Progress, Table, collector_at_rest, data_set, follow
from .values import FLAG_IN, NUMBER_IN, place_in, shown

_VOC_CORNERS = "xmin", "ymin", "xmax", "ymax"


@collector_at_rest()
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
        and ``x_min y_min x_max y_max``. Where nothing was found at all, one of them is empty.
        Other files in both folders are not looked at.
    images : path or sequence of str, optional
        Names of the images that count, or a text file with one on each line, as
        ``ImageSets/Main/test.txt`` in VOC. By default, those that have an XML file.
    classes : path or sequence of str, optional
        Names of the classes, or a text file with one on each line, and no YAML. By default, those
        that objects have.
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
        If a folder has no file of its kind; if an XML file is missing, cut short or declares a
        document type (with which a small file can become a huge one); if an element or a field is
        missing, there twice, or not what it should be; if there are two files for one class; if an
        image or a class is unknown; if a true box lies outside its image. It is a ValueError, and
        names every bad row.
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
    problems = Problems()
    annotations = files_in(truths, ".xml", problems)
    results = files_in(predictions, ".txt", problems)
    reject_none(truths, annotations.values(), ".xml file with the objects of an image", problems)
    reject_none(
        predictions, results.values(), ".txt file with the predictions of a class", problems
    )
    problems.stop_if_any()
    names = (
        list(annotations) if images is None else read_names(images, "images", problems, image_name)
    )
    sizes: list[Line] = []
    objects: list[Line] = []
    sized, containing = [], []
    for image, name in enumerate(follow(progress, names, "reading annotations")):
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
    rows = Fields(sizes, ("width", "height"), problems, unit="size")
    known_sizes = np.full((len(names), 2), np.nan)
    known_sizes[sized] = rows.sizes()
    in_images = Images(np.arange(len(names)), names, known_sizes)
    rows = Fields(objects, ("name", "difficult", *_VOC_CORNERS), problems, unit="object")
    unknown = "unknown"
    if classes is None:
        # As long as a file cannot be read, classes that only it has are not known.
        problems.stop_if_any()
        known = sorted(set(rows.columns["name"]) - {None})
    else:
        known = read_names(classes, "classes", problems)
        unknown = f"not in {called(classes, 'classes')}"
    columns = {
        "images": np.array(containing, dtype=np.int64),
        "labels": rows.column("name", place_in(known, f"which is {unknown}")),
        "ignore": rows.column("difficult", FLAG_IN),
    }
    annotated = Table(rows, rows.boxes(*_VOC_CORNERS), columns)

    lines: list[Line] = []
    labels: list[int] = []
    by_class = _by_class(results, known, unknown, problems)
    for label, path in follow(progress, by_class, "reading predictions"):
        # The name of an image may have blanks in it.
        more = fields_of(path, problems, maxsplit=5)
        lines += more
        labels += [label] * len(more)
    rows = Fields(lines, ("image", "score", *_VOC_CORNERS), problems)
    columns = {
        "images": rows.column("image", place_in(names, meant=image_name)),
        "labels": np.array(labels, dtype=np.int64),
        "scores": rows.column("score", NUMBER_IN),
    }
    detected = Table(rows, rows.boxes(*_VOC_CORNERS), columns)
    return data_set(
        annotated,
        detected,
        in_images,
        dict(enumerate(known)),
        problems,
        fmt="xyxy_inclusive",
        origin=1,
    )


class _Elements(ET.TreeBuilder):
    """Build no tree of a file that declares entities, for they may multiply without end."""

    def doctype(self, *_: Any) -> None:
        raise ValueError("declares a document type, which annotations have no use for")


def _annotation(path: Path) -> tuple[list[Texts], list[Texts]]:
    """Read width and height of the image, if given; name, difficult and corners of each object."""
    data = path.read_bytes()
    if not data.strip():
        raise ValueError("is empty")
    root = ET.fromstring(data, ET.XMLParser(target=_Elements()))
    if root.tag != "annotation":
        raise ValueError(f"is no annotation: it starts with <{root.tag}>")
    size = _child(root, "size")
    sizes: list[Texts] = []
    if size is not None:
        sizes.append([_text_in(size, side) for side in ("width", "height")])
    objects: list[Texts] = []
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
    files: Mapping[str, Path], classes: Sequence[str], unknown: str, problems: Problems
) -> list[tuple[int, Path]]:
    """Tell by the names of files which class each has the predictions of."""
    labels = {name: label for label, name in enumerate(classes)}
    found: dict[int, Path] = {}
    for stem, path in files.items():
        name = re.sub(r"^comp\d+_det_[^_]+_", "", stem)
        if name not in labels:
            problems.add(str(path), f"class {shown(name)} is {unknown}")
        elif labels[name] in found:
            other = found[labels[name]].name
            problems.add(str(path), f"class {shown(name)} has two files, this and {other}")
        else:
            found[labels[name]] = path
    return list(found.items())
