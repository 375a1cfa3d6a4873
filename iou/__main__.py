"""The command line.

``python -m iou evaluate TRUTHS PREDICTIONS`` measures a detector, and
``python -m iou diagnose MODULE:FUNCTION`` examines an IoU function.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isnan
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from . import __version__
from .diagnosis import shell
from .evaluation import average_precision, coco_summary, precision_recall
from .files import DataFileError, DataSet, read_coco, read_voc, read_yolo
from .matching import match

_T = TypeVar("_T")

_EVALUATE = """\
The truths say what format it is: a JSON file is COCO, a folder of .xml files is VOC, a folder of
.txt files is YOLO.

COCO, truths:
  {"images": [{"id": 7}], "categories": [{"id": 3, "name": "car"}],
   "annotations": [{"id": 1, "image_id": 7, "category_id": 3, "bbox": [10, 20, 40, 30]}]}
COCO, predictions:
  [{"image_id": 7, "category_id": 3, "bbox": [12, 20, 40, 30], "score": 0.9}]
VOC, truths: an .xml file for each image, as the development kit has them.
VOC, predictions: a .txt file for each class, named as the class; each line has a box:
  image score xmin ymin xmax ymax
YOLO, truths: a .txt file for each image; each line has a box:
  class x_c y_c w h
YOLO, predictions: a .txt file for each image, named as that of the truths; the score is last:
  class x_c y_c w h score

COCO and VOC are in pixels, which VOC counts from 1; the four numbers of COCO are x_min,
y_min, width and height. YOLO has the centre, width and height in shares of the image, from 0 to 1,
and counts classes from 0.

  python -m iou evaluate instances_val2017.json results.json
  python -m iou evaluate Annotations/ results/Main/ --images ImageSets/Main/test.txt
  python -m iou evaluate labels/val/ runs/detect/predict/labels/ --sizes 640x480

It ends with status 0 if all is well, with 1 if something is wrong with the files, and with 2 if
something is wrong with the arguments.
"""
_DIAGNOSE = """\
  python -m iou diagnose mine:iou         # the function iou of mine.py in the current folder
  python -m iou diagnose package.module:function
  python -m iou diagnose torchvision.ops:box_iou --fmt xyxy

It ends with status 0 if the function passes, with 1 if not, and with 2 if there is no such function
or something is wrong with the arguments.
"""
_MEANINGS = {
    "AP": "average precision, mean over IoU 0.50 to 0.95",
    "AP50": "at IoU 0.50",
    "AP75": "at IoU 0.75",
    "APs": "of objects up to 32² pixels",
    "APm": "from 32² to 96² pixels, both included",
    "APl": "from 96² pixels on",
    "AR1": "average recall with 1 prediction an image",
    "AR10": "with 10",
    "AR100": "with 100",
    "ARs": "of objects up to 32² pixels",
    "ARm": "from 32² to 96² pixels, both included",
    "ARl": "from 96² pixels on",
    "mAP": "mean over classes",
}
_BY_AREA = {f"{kind}{area}" for kind in ("AP", "AR") for area in "sml"}
# Seconds until a bar appears, and between two states of it.
_PATIENCE, _PAUSE = 1.0, 0.1
_BAR = 30
# Seconds.
_DAY = 86400


class UsageError(Exception):
    """Arguments that do not go together."""


@dataclass(frozen=True)
class Report:
    """What was computed: some numbers, and one average precision for each class."""

    numbers: Mapping[str, float]
    ap_of_label: Mapping[int, float]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``python -m iou``; by default that of this process.

    Returns
    -------
    int
        The status to end with. Of ``evaluate``: 0, or 1 if something is wrong with the files. Of
        ``diagnose``: 0 if the function passes, 1 if not, 2 if there is none of that name.

    Raises
    ------
    SystemExit
        With status 2, if something is wrong with the arguments.
    """
    parser = argparse.ArgumentParser("python -m iou", description="Intersection over Union.")
    parser.add_argument("--version", action="version", version=f"iou {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_evaluate(commands)
    add_diagnose(commands)
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A name from a file may have letters that the terminal has not.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status: int = options.run(options)
    except UsageError as error:
        options.parser.error(str(error))
    except DataFileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        print(f"error: {where}{error.strerror}", file=sys.stderr)
        return 1
    return status


def add_evaluate(commands: Any) -> None:
    """Add the command ``evaluate`` to a parser's."""
    parser = commands.add_parser(
        "evaluate",
        help="measure how well a detector does, from files of COCO, VOC or YOLO",
        description="Measure how well a detector does, from files of COCO, VOC or YOLO.",
        epilog=_EVALUATE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("truths", type=Path, help="annotations: a JSON file or a folder")
    parser.add_argument("predictions", type=Path, help="results: a JSON file or a folder")
    parser.add_argument("--format", choices=_READERS, help="format of both (default: see below)")
    parser.add_argument(
        "--protocol",
        choices=["coco", "voc", "voc11"],
        help="the twelve numbers of COCO; AP of each class as VOC has it, from 2010 on (voc) or "
        "before, at 11 points (voc11) (default: voc for VOC, otherwise coco)",
    )
    parser.add_argument(
        "--iou-threshold", metavar="T", help="in the protocols of VOC: from which IoU (default 0.5)"
    )
    parser.add_argument(
        "--grid",
        choices=["float", "exact"],
        default="float",
        help="whether recall levels are the floats of the usual code, which loses some, or exact "
        "fractions (default: float)",
    )
    parser.add_argument(
        "--images",
        type=Path,
        metavar="FILE",
        help="VOC, YOLO: a text file with the names of the images that count, one on each line",
    )
    parser.add_argument(
        "--classes",
        type=Path,
        metavar="FILE",
        help="VOC, YOLO: a text file with the names of the classes, one on each line; no YAML",
    )
    parser.add_argument(
        "--sizes",
        metavar="WxH|FILE",
        help="YOLO: size of all images in pixels, or a file with name, width and height on each "
        "line; for the numbers by area",
    )
    parser.add_argument("--per-class", action="store_true", help="COCO: AP of each class, too")
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.set_defaults(run=evaluate, parser=parser)


def add_diagnose(commands: Any) -> None:
    """Add the command ``diagnose`` to a parser's."""
    parser = commands.add_parser(
        "diagnose",
        help="find out what an IoU function does wrong",
        description="Find out what an IoU function does wrong.",
        epilog=_DIAGNOSE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    shell.add_arguments(parser)
    parser.set_defaults(run=diagnose, parser=parser)


def diagnose(options: argparse.Namespace) -> int:
    """Examine the function, print what was found, and give the exit status."""
    if not 0 < options.time_limit <= _DAY:
        raise UsageError(f"--time-limit must be above 0 and at most {_DAY}")
    return shell.run(options)


def evaluate(options: argparse.Namespace) -> int:
    """Read the files, compute what the protocol has, and print it; give the exit status."""
    fmt = options.format or _format_of(options.truths)
    protocol = options.protocol or ("voc" if fmt == "voc" else "coco")
    _check(options, fmt, protocol)
    threshold = _threshold(options.iou_threshold or "0.5", options.grid)
    data = _READERS[fmt](options)
    if protocol == "coco":
        report = _by_coco(data, options.grid)
    else:
        report = _by_voc(data, protocol, threshold, options.grid)
    about = {"format": fmt, "protocol": protocol, "grid": options.grid}
    if protocol != "coco":
        about["iou_threshold"] = float(threshold)
    if options.json:
        print(json.dumps(_as_json(data, report, about), indent=2))
        return 0
    for note in data.notes:
        print(f"note: {note}", file=sys.stderr)
    print("\n".join(_as_text(data, report, options.per_class or protocol != "coco")))
    return 0


def _format_of(truths: Path) -> str:
    if not truths.is_dir():
        return "coco"
    suffixes = {path.suffix.lower() for path in truths.iterdir()}
    formats = {".xml": "voc", ".txt": "yolo"}
    if len(found := suffixes & formats.keys()) != 1:
        there = "both .xml and .txt files" if found else "neither .xml nor .txt files"
        raise UsageError(f"{truths} has {there}: say which --format it is")
    return formats[found.pop()]


def _check(options: argparse.Namespace, fmt: str, protocol: str) -> None:
    """Refuse options that would have no effect."""
    for name, formats in (("images", "voc yolo"), ("classes", "voc yolo"), ("sizes", "yolo")):
        if getattr(options, name) is not None and fmt not in formats.split():
            raise UsageError(f"--{name} is not for the format {fmt}")
    if options.iou_threshold is not None and protocol == "coco":
        raise UsageError("--iou-threshold is not for the protocol coco, which has ten thresholds")
    if options.grid == "exact" and protocol == "voc":
        raise UsageError("--grid is not for the protocol voc, which has no recall levels")


def _threshold(text: str, grid: str) -> float | Fraction:
    try:
        # A Fraction of 1e999999999 would take forever. A quotient has no exponents.
        possible = "/" in text or 0 < float(text) <= 1
        threshold = Fraction(text if possible else 0)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"--iou-threshold must be a number, it is {text}") from None
    if not (threshold <= 1 and float(threshold) > 0):
        raise UsageError(f"--iou-threshold must be above 0 and at most 1, it is {text}")
    return threshold if grid == "exact" else float(threshold)


def _sizes(text: str | None) -> tuple[int, int] | str | None:
    if text is None:
        return None
    if pair := re.fullmatch(r"([1-9]\d{0,8})x([1-9]\d{0,8})", text):
        return int(pair[1]), int(pair[2])
    if Path(text).is_dir() or not Path(text).exists():
        raise UsageError(f"--sizes is neither WIDTHxHEIGHT, as 640x480, nor a file: {text}")
    return text


_READERS: dict[str, Callable[[argparse.Namespace], DataSet]] = {
    "coco": lambda given: read_coco(given.truths, given.predictions, progress=progress),
    "voc": lambda given: read_voc(
        given.truths,
        given.predictions,
        images=given.images,
        classes=given.classes,
        progress=progress,
    ),
    "yolo": lambda given: read_yolo(
        given.truths,
        given.predictions,
        images=given.images,
        classes=given.classes,
        sizes=_sizes(given.sizes),
        progress=progress,
    ),
}


def _by_coco(data: DataSet, grid: str) -> Report:
    summary = coco_summary(data.predictions, data.truths, grid=grid)
    numbers = {
        name: value if data.in_pixels or name not in _BY_AREA else float("nan")
        for name, value in summary.numbers.items()
    }
    return Report(numbers, summary.ap_of_label)


def _by_voc(data: DataSet, method: str, threshold: float | Fraction, grid: str) -> Report:
    matches = match(data.predictions, data.truths, iou_threshold=threshold, protocol="voc")
    ap_of_label = {
        label: average_precision(precision_recall(matches, label), method, grid=grid)
        for label in matches.positives
    }
    defined = [ap for ap in ap_of_label.values() if not isnan(ap)]
    return Report({"mAP": float(np.mean(defined)) if defined else float("nan")}, ap_of_label)


def _counts(data: DataSet) -> dict[str, int]:
    return {
        "images": len(data.image_names),
        "truths": len(data.truths),
        "predictions": len(data.predictions),
    }


def _as_json(data: DataSet, report: Report, about: Mapping[str, Any]) -> dict[str, Any]:
    def number(value: float) -> float | None:
        return None if isnan(value) else value

    return {
        **about,
        **_counts(data),
        "numbers": {name: number(value) for name, value in report.numbers.items()},
        "classes": [
            {"label": label, "name": data.label_names[label], "AP": number(ap)}
            for label, ap in report.ap_of_label.items()
        ],
        "notes": list(data.notes),
    }


def _as_text(data: DataSet, report: Report, per_class: bool) -> Iterator[str]:
    yield ", ".join(f"{what}: {count}" for what, count in _counts(data).items())
    yield ""
    for name, value in report.numbers.items():
        unknown = " (needs --sizes)" * (name in _BY_AREA and not data.in_pixels)
        yield f"{name:6} {_shown(value)}  {_MEANINGS[name]}{unknown}"
    if per_class:
        yield ""
        width = max((len(data.label_names[label]) for label in report.ap_of_label), default=0)
        for label, ap in report.ap_of_label.items():
            yield f"{data.label_names[label]:{max(width, 6)}} {_shown(ap)}"


def _shown(value: float) -> str:
    return "  -  " if isnan(value) else f"{value:.3f}"


def progress(items: Sequence[_T], what: str) -> Iterator[_T]:
    """Hand out the items, with a bar on a terminal if it takes long."""
    due = time.monotonic() + _PATIENCE
    width = 0
    try:
        for done, item in enumerate(items):
            if time.monotonic() >= due and sys.stderr.isatty():
                bar = "#" * (_BAR * done // len(items))
                line = f"{what} [{bar:{_BAR}}] {done}/{len(items)}"
                width = len(line)
                print(f"\r{line}", end="", file=sys.stderr, flush=True)
                due = time.monotonic() + _PAUSE
            yield item
    finally:
        if width:
            print(f"\r{' ' * width}\r", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
