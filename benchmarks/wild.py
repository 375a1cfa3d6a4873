"""What the checker says of the IoU functions that others publish: `make wild` runs this.

Each function is called by an expression, which is kept beside what was found, so that anybody can
repeat the call. The results go to wild.json, which the appendix of the book reads. Of a library
that is not installed, what stood there stays, with its version and its date.
"""

import argparse
import datetime as dt
import importlib
import importlib.metadata
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from iou import diagnose

HERE = Path(__file__).parent
# What a finding is about; those of other names are about the formula.
KINDS = {
    "no answer for an empty union": "0/0",
    "no answer for a box without area": "0/0",
    "unsigned numbers wrap": "integers",
    "integers overflow": "integers",
    "halves cut to integers": "integers",
}


@dataclass(frozen=True)
class Subject:
    """A function of a module, as an expression of two boxes a and b."""

    module: str
    call: str
    measure: str = "iou"
    fmt: str = "xyxy"

    @property
    def package(self) -> str:
        """Name of the package, which is that of the distribution as well."""
        return self.module.partition(".")[0]

    def function(self) -> Callable[..., Any]:
        """Return what the expression computes; ImportError if the library is not there."""
        importlib.import_module(self.module)
        names = {"np": np, self.package: importlib.import_module(self.package)}
        function: Callable[..., Any] = eval(f"lambda a, b: {self.call}", names)
        return function


def _subjects() -> Iterator[Subject]:
    yield Subject("supervision", "supervision.box_iou(a, b)")
    yield Subject("supervision", "supervision.box_iou_batch(a, b)")
    jaccard = "supervision.box_iou_batch_with_jaccard(a, b, [False])"
    yield Subject("supervision", jaccard, fmt="xywh")
    yield Subject("pycocotools.mask", "pycocotools.mask.iou(a, b, [0])", fmt="xywh")
    yield Subject("cython_bbox", "cython_bbox.bbox_overlaps(a, b)", fmt="xyxy_inclusive")
    shared = "(p := shapely.box(*a)).intersection(q := shapely.box(*b)).area"
    yield Subject("shapely", f"{shared} / p.union(q).area")
    for measure, word in (
        ("iou", "box_iou"),
        ("giou", "generalized_box_iou"),
        ("diou", "distance_box_iou"),
        ("ciou", "complete_box_iou"),
    ):
        yield Subject("torchvision.ops", f"torchvision.ops.{word}(a, b)", measure)
    for measure in ("iou", "giou", "diou", "ciou"):
        yield Subject("powerboxes", f"1 - powerboxes.{measure}_distance(a, b)", measure)
    for measure, word in (
        ("iou", "bbox_overlaps"),
        ("giou", "generalized_iou"),
        ("diou", "distance_iou"),
        ("ciou", "complete_iou"),
    ):
        yield Subject("fastbbox", f"fastbbox.{word}(np.float32(a), np.float32(b))", measure)


SUBJECTS = tuple(_subjects())


def examine(subject: Subject) -> dict[str, Any]:
    """Ask the checker about a function; ImportError if its library is not installed."""
    diagnosis = diagnose(subject.function(), fmt=subject.fmt, measure=subject.measure)
    findings = [
        {"kind": KINDS.get(finding.name, "formula"), **asdict(finding)}
        for finding in diagnosis.findings
    ]
    return {
        "library": subject.package,
        "version": importlib.metadata.version(subject.package),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "call": subject.call,
        "measure": subject.measure,
        "fmt": subject.fmt,
        "called_with": diagnosis.called_with,
        "findings": findings,
        "policies": dict(diagnosis.policies),
    }


def survey(stored: Iterable[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Examine every function whose library is installed; keep what is stored of the others."""
    before = {function["call"]: function for function in stored}
    functions = []
    for subject in SUBJECTS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                functions.append(examine(subject))
        except ImportError:
            print(f"{subject.package} is not installed: {subject.call} is not examined")
            functions += [before[subject.call]] if subject.call in before else []
    return functions


def main() -> None:
    """Examine all that is installed, and write what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", type=Path, default=HERE, metavar="FOLDER")
    file = parser.parse_args().write / "wild.json"
    stored = json.loads(file.read_text("utf-8")) if file.exists() else []
    file.write_text(json.dumps(survey(stored), indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
