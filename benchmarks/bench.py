"""Measure the module beside other libraries: time and memory, on boxes for which all agree.

Every table has its contenders take turns in one process, after one run each to warm up and to
compare the answers. A library that gives other values than the module is named below the table and
not timed, and so is one that is not installed. All of them are optional.

    python benchmarks/bench.py                 print every table
    python benchmarks/bench.py --only pair     print one; may be repeated
    python benchmarks/bench.py --quick         small inputs, some seconds: does it run at all?
    python benchmarks/bench.py --write         write results.md and results.json beside this file
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import importlib
import importlib.metadata
import io
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import timeit
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

# As many threads for the peers that take all they can get as for `workers`.
THREADS = 2
os.environ["RAYON_NUM_THREADS"] = str(THREADS)

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

import iou as module  # noqa: E402
from iou import exact, overlapping_pairs, pairwise  # noqa: E402
from iou.boxes import _ROOM, aligned, fill, read  # noqa: E402
from iou.dataset import Predictions, Truths  # noqa: E402
from iou.overlap import MEASURES  # noqa: E402

Array = NDArray[Any]

HERE = Path(__file__).parent
PEERS = ["powerboxes", "pycocotools", "cython_bbox", "fastbbox", "supervision", "shapely"]
PEERS += ["faster_coco_eval", "torch", "torchvision"]
# Answers may differ by so much from the module's, by the type they come in.
# Some add a small number to what they divide by.
TOLERANCE = {"float64": 1e-6, "float32": 1e-4}
THRESHOLD = 0.5
NAMES = {"iou": "IoU", "giou": "GIoU", "diou": "DIoU", "ciou": "CIoU"}
MIB = 2**20


# The inputs.


def scattered(count: int, seed: int) -> Array:
    """Boxes of 8 to 308 pixels a side, anywhere in a picture of about 1200 by 1100."""
    rng = np.random.default_rng(seed)
    start = rng.uniform(0, (900, 800), (count, 2))
    return np.hstack([start, start + rng.uniform(8, 308, (count, 2))])


def detections(count: int, seed: int) -> Array:
    """Boxes around objects, four to each on average; the scene grows with their number.

    A box meets about as many others, however many there are.
    """
    rng = np.random.default_rng(seed)
    objects = max(1, count // 4)
    centre = rng.uniform(0, 80 * math.sqrt(objects), (objects, 2))
    half = rng.uniform(8, 48, (objects, 2))
    which = rng.integers(0, objects, count)
    middle = centre[which] + half[which] * rng.normal(0, 0.15, (count, 2))
    reach = half[which] * rng.uniform(0.8, 1.25, (count, 2))
    return np.hstack([middle - reach, middle + reach])


def spread(count: int, seed: int) -> Array:
    """Boxes anywhere in a scene that grows with their number, few of which are much alike."""
    rng = np.random.default_rng(seed)
    middle = rng.uniform(0, 40 * math.sqrt(count), (count, 2))
    half = rng.uniform(5, 30, (count, 2))
    return np.hstack([middle - half, middle + half])


def cluster(count: int, seed: int) -> Array:
    """Boxes around one object."""
    rng = np.random.default_rng(seed)
    middle = 500 + rng.normal(0, 10, (count, 2))
    half = rng.uniform(40, 60, (count, 2))
    return np.hstack([middle - half, middle + half])


SCENES = {
    "far apart": spread,
    "four to an object": detections,
    "around one object": cluster,
}


# What the tables compare with.


@cache
def peer(name: str) -> ModuleType | None:
    """Import a library, if it is there."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            library = importlib.import_module(name)
    except ImportError:
        return None
    if name == "torch":
        library.set_num_threads(1)
    return library


def textbook(a: Array, b: Array) -> Array:
    """IoU the way tutorials write it; a and b broadcast."""
    shared = (np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])).clip(0)
    intersection = shared.prod(-1)
    areas = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1)
    return np.asarray(intersection / (areas - intersection))


def textbook_table(a: Array, b: Array) -> Array:
    """IoU of all pairs, with intermediate arrays of all pairs."""
    return textbook(a[:, None], b[None, :])


def textbook_pair(a: Any, b: Any) -> float:
    """IoU of two tuples the way tutorials write it, without a check of the input."""
    width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    shared = width * height
    area_a = (a[2] - a[0]) * (a[3] - a[1])
    area_b = (b[2] - b[0]) * (b[3] - b[1])
    return float(shared / (area_a + area_b - shared))


@dataclass(frozen=True)
class Contender:
    """Something to time: a function of two arguments.

    Attributes
    ----------
    name : str
    call : callable
    first, second : object
        Its arguments, as it wants them.
    threads : int
    answer : callable
        Turns what it returns into what all are compared by.
    role : {"ours", "peer", "limit"}
        A limit is the time of writing the result, which is no answer.
    """

    name: str
    call: Callable[[Any, Any], Any]
    first: Any
    second: Any
    threads: int = 1
    answer: Callable[[Any], Any] = np.asarray
    role: str = "peer"


def ours(measure: str, a: Array, b: Array, fmt: str = "xyxy") -> Iterator[Contender]:
    """Call the module, with and without a result to write to, on one thread and on more."""
    out = np.empty((len(a), len(b)))
    for workers in (1, THREADS):
        call = partial(pairwise, measure=measure, fmt=fmt, workers=workers)
        fresh = Contender("**iou.pairwise**", call, a, b, workers, role="ours")
        yield fresh
        yield replace(fresh, name="**iou.pairwise, out=**", call=partial(call, out=out))


def limits(a: Array, b: Array) -> Iterator[Contender]:
    """Write the table and compute nothing: no function that returns it can be faster."""
    shape = len(a), len(b)
    yield Contender("(filling a new table once)", np.full, shape, 0.5, role="limit")
    yield Contender("(filling the same table again)", np.copyto, np.empty(shape), 0.5, role="limit")


def from_distance(distance: Array) -> Array:
    """Turn distances into measures."""
    return 1 - distance


def powerboxes(measure: str, a: Array, b: Array) -> Iterator[Contender]:
    """Functions of powerboxes; not all have a parallel form."""
    library = peer("powerboxes")
    for prefix, threads in (("", 1), ("parallel_", THREADS)):
        name = f"{prefix}{measure}_distance"
        if call := getattr(library, name, None):
            yield Contender(f"powerboxes.{name}", call, a, b, threads, from_distance)


def pycocotools(a: Array, b: Array) -> Iterator[Contender]:
    """IoU of COCO's evaluation, for boxes in the format xywh."""
    if library := peer("pycocotools.mask"):
        call = partial(library.iou, pyiscrowd=np.zeros(len(b), dtype=np.uint8))
        yield Contender("pycocotools.mask.iou", call, a, b)


def cython_bbox(a: Array, b: Array) -> Iterator[Contender]:
    """IoU for whole pixels: a box ends one before where the others say it ends."""
    if library := peer("cython_bbox"):
        last = np.array([0, 0, 1, 1])
        yield Contender("cython_bbox.bbox_overlaps", library.bbox_overlaps, a - last, b - last)


def fastbbox(measure: str, a: Array, b: Array) -> Iterator[Contender]:
    """Functions in float32."""
    functions = {"iou": "bbox_overlaps", "giou": "generalized_iou"}
    functions |= {"diou": "distance_iou", "ciou": "complete_iou"}
    if library := peer("fastbbox"):
        name = functions[measure]
        narrow = a.astype(np.float32), b.astype(np.float32)
        yield Contender(f"fastbbox.{name} (float32)", getattr(library, name), *narrow)


def torchvision(measure: str, a: Array, b: Array) -> Iterator[Contender]:
    """Functions of torchvision, on the processor."""
    functions = {"iou": "box_iou", "giou": "generalized_box_iou"}
    functions |= {"diou": "distance_box_iou", "ciou": "complete_box_iou"}
    torch, library = peer("torch"), peer("torchvision.ops")
    if torch and library:
        name = functions[measure]
        tensors = torch.from_numpy(a), torch.from_numpy(b)
        yield Contender(f"torchvision.ops.{name}", getattr(library, name), *tensors)


def supervision(a: Array, b: Array) -> Iterator[Contender]:
    """IoU by NumPy, computed in float64 and returned in float32."""
    if library := peer("supervision"):
        yield Contender("supervision.box_iou_batch", library.box_iou_batch, a, b)


def of_table(measure: str, a: Array, b: Array) -> list[Contender]:
    """List what computes a measure for all pairs."""
    found = [*ours(measure, a, b), *powerboxes(measure, a, b), *fastbbox(measure, a, b)]
    found += torchvision(measure, a, b)
    if measure == "iou":
        xywh = (np.hstack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]]) for boxes in (a, b))
        found += [*cython_bbox(a, b), *pycocotools(*xywh), *supervision(a, b)]
        found.append(Contender("NumPy broadcast, as in tutorials", textbook_table, a, b))
    return [*found, *limits(a, b)]


def of_xywh(a: Array, b: Array) -> list[Contender]:
    """List what takes boxes as corner, width and height."""
    return [*ours("iou", a, b, fmt="xywh"), *pycocotools(a, b)]


def of_pair(a: tuple[float, ...], b: tuple[float, ...]) -> list[Contender]:
    """List what takes one pair."""
    tables = np.array([a]), np.array([b])
    ours = Contender("**iou.iou**, two tuples", module.iou, a, b, role="ours")
    found = [ours, Contender("two tuples, as in tutorials, unchecked", textbook_pair, a, b)]
    if library := peer("supervision"):
        found.append(Contender("supervision.box_iou, two tuples", library.box_iou, a, b))
    found.append(replace(ours, name="**iou.iou**, two arrays", first=tables[0], second=tables[1]))
    others = [*cython_bbox(*tables), *powerboxes("iou", *tables), *torchvision("iou", *tables)]
    found += [replace(other, name=f"{other.name}, two arrays") for other in others]
    return [replace(one, answer=partial(as_table, one.answer)) for one in found if one.threads == 1]


def as_table(answer: Callable[[Any], Any], result: Any) -> Array:
    """Make a number, or a row of one, a table of one pair."""
    return np.reshape(np.asarray(answer(result)), (1, 1))


# Pairs without a table.


class Pairs(NamedTuple):
    """Rows of the two boxes of each pair, the smaller first, and their IoU."""

    first: Array
    second: Array
    iou: Array


def module_pairs(boxes: Array, threshold: float) -> Pairs:
    """Pairs above a threshold by the module."""
    return Pairs(*overlapping_pairs(boxes, iou_threshold=threshold))


def table_pairs(boxes: Array, threshold: float) -> Pairs:
    """Pairs above a threshold by way of the table of all pairs."""
    table = pairwise(boxes, boxes)
    first, second = np.nonzero(table > threshold)
    once = first < second
    first, second = first[once], second[once]
    return Pairs(first, second, table[first, second])


def tree_pairs(boxes: Array, threshold: float) -> Pairs:
    """Pairs above a threshold by shapely's tree, which finds the boxes that meet."""
    shapely = peer("shapely")
    assert shapely is not None
    polygons = shapely.box(*boxes.T)
    first, second = shapely.STRtree(polygons).query(polygons)
    once = first < second
    first, second = first[once], second[once]
    values = textbook(boxes[first], boxes[second])
    above = values > threshold
    return Pairs(first[above], second[above], values[above])


def of_join(boxes: Array) -> list[Contender]:
    """List what finds pairs; the table is out of the question for many boxes."""
    names = {"**iou.overlapping_pairs**": module_pairs}
    if peer("shapely"):
        names["shapely.STRtree, then IoU of rows"] = tree_pairs
    if len(boxes) <= 10_000:
        names["iou.pairwise, then its pairs"] = table_pairs
    found = [
        Contender(name, call, boxes, THRESHOLD, answer=lambda pairs: pairs)
        for name, call in names.items()
    ]
    return [replace(found[0], role="ours"), *found[1:]]


# Suppression.


def of_suppression(boxes: Array, scores: Array) -> Iterator[Contender]:
    """List what keeps the best of those that overlap; not all are fit for many boxes."""
    few = len(boxes) <= 100_000
    threshold = {"iou_threshold": THRESHOLD}
    rows = partial(np.asarray, dtype=np.float64)
    one = Contender("**iou.nms**", partial(module.nms, **threshold), boxes, scores, answer=rows)
    yield replace(one, role="ours")
    if library := peer("powerboxes"):
        for name in ("rtree_nms", "nms") if few else ("rtree_nms",):
            call = partial(getattr(library, name), **threshold, score_threshold=0.0)
            yield replace(one, name=f"powerboxes.{name}", call=call)
    torch, library = peer("torch"), peer("torchvision.ops")
    if torch and library and few:
        tensors = torch.from_numpy(boxes), torch.from_numpy(scores)
        call = partial(library.nms, **threshold)
        first, second = tensors
        yield replace(one, name="torchvision.ops.nms", call=call, first=first, second=second)


# Evaluation.


def evaluated(images: int, labels: int, seed: int) -> tuple[Predictions, Truths]:
    """Seven objects and a hundred predictions an image on average, half of them around objects.

    Coordinates are quarters of a pixel, which no format rounds. One object in a hundred is a crowd.
    """
    rng = np.random.default_rng(seed)
    objects, found = 7 * images, 100 * images
    side = np.exp(rng.uniform(np.log(8), np.log(300), (objects, 2)))
    boxes = quarters(np.hstack([rng.uniform(0, 340, (objects, 2)), side]))
    image, label = rng.integers(0, images, objects), rng.integers(0, labels, objects)
    which, near = rng.integers(0, objects, found), rng.random(found) < 0.5
    moved = quarters(boxes[which] * rng.normal(1, 0.1, (found, 4)).clip(0.5))
    truths = Truths(boxes, images=image, labels=label, crowd=rng.random(objects) < 0.01, fmt="xywh")
    predictions = Predictions(
        moved,
        np.round(rng.beta(2, 5, found) + 0.3 * near, 3),
        images=np.where(near, image[which], rng.integers(0, images, found)),
        labels=np.where(near, label[which], rng.integers(0, labels, found)),
        fmt="xywh",
    )
    return predictions, truths


def quarters(numbers: Array) -> Array:
    """Round to quarters, from one on."""
    return np.asarray(np.maximum(np.round(4 * numbers) / 4, 1))


def as_dataset(truths: Truths, images: Array, labels: Array) -> dict[str, Any]:
    """Write truths as a file of COCO has them."""
    columns = {"image_id": truths.images, "category_id": truths.labels, "bbox": truths.boxes}
    rows = as_rows(columns | {"area": truths.area, "iscrowd": truths.crowd.astype(int)})
    return {
        "info": {},
        "images": [{"id": image} for image in images.tolist()],
        "categories": [{"id": label, "name": str(label)} for label in labels.tolist()],
        "annotations": [row | {"id": number} for number, row in enumerate(rows, start=1)],
    }


def as_rows(columns: dict[str, Array]) -> list[dict[str, Any]]:
    """Turn columns into a dictionary for each row."""
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in values]


def cocoeval(evaluator: Any, truths: Any, found: Any) -> Array:
    """Evaluate with pycocotools, or with what has its interface."""
    with contextlib.redirect_stdout(io.StringIO()):
        run = evaluator(truths, found, "bbox")
        run.evaluate()
        run.accumulate()
        run.summarize()
    return np.asarray(run.eval["precision"])


def module_precision(predictions: Predictions, truths: Truths) -> Array:
    """Precision by the module, with -1 where there are no truths."""
    precision = module.coco_summary(predictions, truths).precision
    return np.where(np.isnan(precision), -1, precision)


# Library, what evaluates in it, and what reads the files for it.
EVALUATORS = [
    ("pycocotools.cocoeval", "COCOeval", "pycocotools.coco"),
    ("faster_coco_eval", "COCOeval_faster", "faster_coco_eval"),
]


def of_evaluation(predictions: Predictions, truths: Truths) -> Iterator[Contender]:
    """List what evaluates as COCO does, once the files are read."""
    name = "**iou.coco_summary**"
    yield Contender(name, module_precision, predictions, truths, role="ours")
    dataset, results = as_files(predictions, truths)
    for library, evaluator, reader in EVALUATORS:
        if peer(library):
            with contextlib.redirect_stdout(io.StringIO()):
                index = peer(reader).COCO()
                index.dataset = dataset
                index.createIndex()
                found = index.loadRes(results)
            call = partial(cocoeval, getattr(peer(library), evaluator))
            yield Contender(f"{library}.{evaluator}", call, index, found)


def as_files(predictions: Predictions, truths: Truths) -> tuple[dict[str, Any], list[Any]]:
    """Write truths and predictions as COCO's two files have them."""
    columns = {"image_id": predictions.images, "category_id": predictions.labels}
    columns |= {"bbox": predictions.boxes, "score": predictions.scores}
    images = np.union1d(truths.images, predictions.images)
    labels = np.union1d(truths.labels, predictions.labels)
    return as_dataset(truths, images, labels), as_rows(columns)


def of_evaluation_from_files(truths: Path, predictions: Path) -> Iterator[Contender]:
    """List what reads the two files and evaluates."""

    def ours(truths: Path, predictions: Path) -> Array:
        data = module.read_coco(truths, predictions)
        return module_precision(data.predictions, data.truths)

    def theirs(reader: Any, evaluator: Any, truths: Path, predictions: Path) -> Array:
        with contextlib.redirect_stdout(io.StringIO()):
            index = reader(str(truths))
            found = index.loadRes(str(predictions))
        return cocoeval(evaluator, index, found)

    name = "**iou.read_coco, iou.coco_summary**"
    yield Contender(name, ours, truths, predictions, role="ours")
    for library, evaluator, reader in EVALUATORS:
        if peer(library):
            call = partial(theirs, peer(reader).COCO, getattr(peer(library), evaluator))
            yield Contender(f"{library}.{evaluator}", call, truths, predictions)


# Losses and their gradients.

# What they are called, and what they need besides boxes.
LOSSES: dict[str, tuple[str, dict[str, Any]]] = {
    **{measure: (name, {}) for measure, name in NAMES.items()},
    "eiou": ("EIoU", {}),
    "alpha_iou": ("α-IoU", {"power": 3}),
    "mpdiou": ("MPDIoU", {"image": (1208, 1108)}),
    "nwd": ("NWD", {"constant": 100}),
}


def beside(targets: Array, seed: int) -> Array:
    """Predictions: targets that are moved, widened and narrowed by about a quarter of a side."""
    rng = np.random.default_rng(seed)
    side = targets[:, 2:] - targets[:, :2]
    centre = (targets[:, :2] + targets[:, 2:]) / 2 + side * rng.normal(0, 0.25, side.shape)
    half = side / 2 * np.exp(rng.normal(0, 0.25, side.shape))
    return np.hstack([centre - half, centre + half])


def autograd(measure: str, pred: Any, target: Any) -> tuple[Any, Any]:
    """Losses by the formula in PyTorch, and what autograd makes of it.

    It takes columns apart, for the slope of ``prod(dim=1)`` alone would take as long as all else.
    """
    torch = peer("torch")
    assert torch is not None
    options = LOSSES[measure][1]
    a, b = pred.unbind(1), target.unbind(1)
    axes = (0, 2), (1, 3)
    w, h = (a[high] - a[low] for low, high in axes)
    w_b, h_b = (b[high] - b[low] for low, high in axes)
    if measure in ("diou", "ciou", "eiou", "nwd"):
        x, y = ((a[low] + a[high] - b[low] - b[high]) / 2 for low, high in axes)
        between = x.square() + y.square()
    if measure == "nwd":
        distance = (between + ((w - w_b).square() + (h - h_b).square()) / 4).sqrt()
        loss = 1 - (-distance / options["constant"]).exp()
        return loss.detach(), torch.autograd.grad(loss.sum(), pred)[0]
    shared_w, shared_h = (
        (torch.minimum(a[high], b[high]) - torch.maximum(a[low], b[low])).clamp(min=0)
        for low, high in axes
    )
    shared = shared_w * shared_h
    union = w * h + w_b * h_b - shared
    overlap = shared / union
    loss = 1 - (overlap ** options["power"] if measure == "alpha_iou" else overlap)
    if measure in ("giou", "diou", "ciou", "eiou"):
        hull_w, hull_h = (
            torch.maximum(a[high], b[high]) - torch.minimum(a[low], b[low]) for low, high in axes
        )
    if measure == "giou":
        loss = loss + 1 - union / (hull_w * hull_h)
    if measure in ("diou", "ciou", "eiou"):
        loss = loss + between / (hull_w.square() + hull_h.square())
    if measure == "ciou":
        v = 4 / math.pi**2 * (torch.atan2(w_b, h_b) - torch.atan2(w, h)).square()
        loss = loss + (v / (1 - overlap + v)).detach() * v
    if measure == "eiou":
        loss = loss + ((w - w_b) / hull_w).square() + ((h - h_b) / hull_h).square()
    if measure == "mpdiou":
        width, height = options["image"]
        loss = loss + (pred - target).square().sum(dim=1) / (width**2 + height**2)
    return loss.detach(), torch.autograd.grad(loss.sum(), pred)[0]


def torchvision_loss(measure: str, pred: Any, target: Any) -> tuple[Any, Any]:
    """Losses of torchvision, and what autograd makes of them."""
    torch, library = peer("torch"), peer("torchvision.ops")
    assert torch is not None
    assert library is not None
    name = {"giou": "generalized", "diou": "distance", "ciou": "complete"}[measure]
    loss = getattr(library, f"{name}_box_iou_loss")(pred, target)
    return loss.detach(), torch.autograd.grad(loss.sum(), pred)[0]


def in_columns(losses_and_gradients: tuple[Any, Any]) -> Array:
    """Put losses and gradients in one table."""
    return np.column_stack([np.asarray(part) for part in losses_and_gradients])


def of_losses(measure: str, pred: Array, target: Array) -> Iterator[Contender]:
    """List what computes losses and their gradients, row by row."""
    call = partial(module.loss_and_gradient, measure=measure, **LOSSES[measure][1])
    ours = Contender("**iou.loss_and_gradient**", call, pred, target, 1, in_columns, "ours")
    yield ours
    if torch := peer("torch"):
        tensors = torch.tensor(pred, requires_grad=True), torch.from_numpy(target)
        theirs = Contender("torch, autograd of the formula", partial(autograd, measure), *tensors)
        yield replace(theirs, answer=in_columns)
        if measure in ("giou", "diou", "ciou") and peer("torchvision.ops"):
            call = partial(torchvision_loss, measure)
            yield replace(theirs, name="torchvision, autograd", call=call, answer=in_columns)


# Whether the answers agree.


def table_difference(answer: Array, reference: Array) -> float:
    """How far two tables are apart at most; infinite if one is NaN somewhere, or of other shape."""
    if answer.shape != reference.shape:
        return math.inf
    slabs = [slice(start, start + 1000) for start in range(0, len(answer), 1000)]
    worst = [np.abs(answer[slab] - reference[slab]).max() for slab in slabs]
    return math.inf if np.isnan(worst).any() else float(max(worst))


def pairs_difference(answer: Pairs, reference: Pairs) -> float:
    """How far the IoU of the same pairs is apart; infinite if the pairs are others.

    A pair that is at the threshold but for rounding may be on one side here, on the other there.
    """
    count = 1 + max((int(pairs.second.max(initial=0)) for pairs in (answer, reference)), default=0)
    mine, others = (pairs.first * count + pairs.second for pairs in (answer, reference))
    _, here, there = np.intersect1d(mine, others, return_indices=True)
    lone = np.concatenate([np.delete(answer.iou, here), np.delete(reference.iou, there)])
    if (np.abs(lone - THRESHOLD) > TOLERANCE["float64"]).any():
        return math.inf
    return float(np.abs(answer.iou[here] - reference.iou[there]).max(initial=0))


def rows_difference(answer: Array, reference: Array) -> float:
    """Tell whether the rows are others, or in another order: infinite if so, else 0."""
    return 0.0 if np.array_equal(answer, reference) else math.inf


def check_against_fractions(measure: str, a: Array, b: Array, table: Array) -> None:
    """Hold some values of the module against the definition."""
    rng = np.random.default_rng(0)
    definition = getattr(exact, measure)
    for i, j in zip(rng.integers(0, len(a), 200), rng.integers(0, len(b), 200), strict=True):
        expected = float(definition(a[i].tolist(), b[j].tolist()))
        if not math.isclose(table[i, j], expected, rel_tol=1e-12, abs_tol=1e-12):
            raise AssertionError(f"{measure} of {a[i]} and {b[j]}: {table[i, j]}, not {expected}")


# Tables.


@dataclass
class Table:
    """What a section found.

    Attributes
    ----------
    section, title : str
    size : list of int
        Boxes on either side.
    unit : str
    rows : list of dict
        Each with ``contender`` and ``threads``, and what was measured.
    notes : list of str
    """

    section: str
    title: str
    size: list[int]
    unit: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """Head, rows and notes."""
        keys = list(self.rows[0])
        lines = [f"### {self.title}", "", "| " + " | ".join(keys).replace("_", " ") + " |"]
        lines += ["|---|" + "---:|" * (len(keys) - 1)]
        lines += ["| " + " | ".join(shown(row[key]) for key in keys) + " |" for row in self.rows]
        lines += [f"\n{note}" for note in (f"In {self.unit}.", *self.notes)]
        return "\n".join(lines) + "\n"


def shown(value: Any) -> str:
    """Three digits of a number; a dash for none."""
    if value is None:
        return "–"
    if not isinstance(value, float):
        return str(value)
    if value == 0 or math.isinf(value):
        return f"{value:g}"
    return f"{value:.1e}" if abs(value) < 1e-3 else f"{value:.{max(0, 2 - exponent(value))}f}"


def exponent(value: float) -> int:
    """Of ten, as in the scientific notation."""
    return math.floor(math.log10(abs(value)))


def agreeing(
    contenders: Iterable[Contender], difference: Callable[[Any, Any], float]
) -> tuple[dict[str, float], list[Contender], list[str]]:
    """Run each once; keep those that answer what the first does.

    Returns
    -------
    differences : dict
        From the answer of the first, by the name of the contender.
    kept : list of Contender
    notes : list of str
        About the others.
    """
    differences: dict[str, float] = {}
    kept, notes = [], []
    reference = None
    for contender in contenders:
        result = contender.call(contender.first, contender.second)
        if contender.role != "limit":
            answer = contender.answer(result)
            reference = answer if reference is None else reference
            apart = difference(answer, reference)
            kind = str(getattr(answer, "dtype", "float64"))
            if not apart <= TOLERANCE[kind]:
                notes.append(f"{contender.name} is left out: its values are off by {shown(apart)}.")
                continue
            differences[contender.name] = max(apart, differences.get(contender.name, 0.0))
        kept.append(contender)
    return differences, kept, notes


def take_turns(contenders: list[Contender], rounds: int, loops: int) -> list[list[float]]:
    """Let each have its turn in every round, A B C A B C; return seconds per call, by round."""
    timers = [
        timeit.Timer("result = call(first, second)", globals=vars(contender))
        for contender in contenders
    ]
    times = [[timer.timeit(loops) / loops for timer in timers] for _ in range(rounds)]
    return [list(column) for column in zip(*times, strict=True)]


def race(
    table: Table,
    contenders: list[Contender],
    rounds: int,
    *,
    per: float,
    loops: int = 1,
    difference: Callable[[Any, Any], float] = table_difference,
) -> Table:
    """Check and time contenders; `per` turns seconds into the table's unit."""
    differences, kept, notes = agreeing(contenders, difference)
    times = take_turns(kept, rounds, loops)
    base: dict[int, float] = {}
    for contender, seconds in zip(kept, times, strict=True):
        median = statistics.median(seconds)
        if contender.role == "ours":
            base.setdefault(contender.threads, median)
        row = {"contender": contender.name, "threads": contender.threads}
        row |= {"median": median * per, "min": min(seconds) * per}
        # What takes turns with ours on as many threads.
        ratio = median / base[contender.threads] if contender.threads in base else None
        row |= {"ratio": ratio, "off_by": differences.get(contender.name)}
        table.rows.append(row)
    absent = [name for name in PEERS if peer(name) is None]
    table.notes += [f"{rounds} rounds.", *notes]
    table.notes += [f"Not installed: {', '.join(absent)}."] if absent else []
    return table


# The sections.


def measured(
    section: str, measure: str, rows: int, columns: int, rounds: int, scene: str | None = None
) -> Table:
    """One measure for all pairs of two sets."""
    boxes = SCENES[scene] if scene else scattered
    a, b = boxes(rows, 1), boxes(columns, 2)
    values = pairwise(a, b, measure)
    check_against_fractions(measure, a, b, values)
    title = f"{NAMES[measure]}, {rows} × {columns}"
    if scene:
        title += f", boxes {scene}"
    table = Table(section, title, [rows, columns], "nanoseconds per pair")
    if measure == "iou":
        table.notes.append(f"{np.count_nonzero(values) / values.size:.1%} of the pairs overlap.")
    return race(table, of_table(measure, a, b), rounds, per=1e9 / (rows * columns))


def dense(quick: bool) -> Iterator[Table]:
    """IoU of many against many."""
    for rows, columns, rounds in [(90, 80, 2)] if quick else [(5000, 5000, 9), (20000, 5000, 5)]:
        yield measured("dense", "iou", rows, columns, rounds)
    size, rounds = (60, 2) if quick else (5000, 7)
    for scene in ("four to an object", "around one object"):
        yield measured("dense", "iou", size, size, rounds, scene)


def small(quick: bool) -> Iterator[Table]:
    """Tables where calls weigh as much as arithmetic."""
    for size, rounds in [(20, 2)] if quick else [(1000, 41), (100, 401)]:
        for measure in ("iou", "giou"):
            yield measured("small", measure, size, size, rounds)


def measures(quick: bool) -> Iterator[Table]:
    """Compute the measures that IoU has given rise to."""
    size, rounds = (50, 2) if quick else (5000, 7)
    for measure in ("giou", "diou", "ciou"):
        yield measured("measures", measure, size, size, rounds)


def losses(quick: bool) -> Iterator[Table]:
    """Losses of boxes and their gradients."""
    count, rounds = (50, 2) if quick else (300_000, 7)
    target = scattered(count, 1)
    pred = beside(target, 2)
    for measure, (name, _) in LOSSES.items():
        title = f"Loss and gradient, {name}, {count} boxes"
        table = Table("losses", title, [count, count], "nanoseconds per box")
        yield race(table, list(of_losses(measure, pred, target)), rounds, per=1e9 / count)


def tall(quick: bool) -> Iterator[Table]:
    """Many boxes against few, and few against many."""
    many, few, rounds = (300, 5, 2) if quick else (300_000, 5, 21)
    yield measured("tall", "iou", many, few, rounds)
    yield measured("tall", "iou", few, many, rounds)


def formats(quick: bool) -> Iterator[Table]:
    """Read corner, width and height: whole pixels, and floats whose far corners are rounded."""
    size, rounds = (50, 2) if quick else (5000, 9)
    for kind in ("whole pixels", "any float64"):
        sets = [scattered(size, seed) for seed in (1, 2)]
        sets = [np.rint(boxes) if kind == "whole pixels" else boxes for boxes in sets]
        sets = [np.hstack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]]) for boxes in sets]
        title = f"IoU from xywh, {kind}, {size} × {size}"
        table = Table("formats", title, [size, size], "nanoseconds per pair")
        yield race(table, of_xywh(*sets), rounds, per=1e9 / size**2)


def pair(quick: bool) -> Iterator[Table]:
    """One pair of boxes."""
    rounds, loops = (2, 10) if quick else (21, 5000)
    a, b = (10.5, 20.25, 110.0, 140.0), (30.0, 40.0, 130.5, 160.75)
    table = Table("pair", "IoU of one pair", [1, 1], "nanoseconds per call")
    yield race(table, of_pair(a, b), rounds, per=1e9, loops=loops)


def join(quick: bool) -> Iterator[Table]:
    """Pairs above a threshold, without the table of all pairs."""
    sizes = {1000: 101, 10_000: 21, 100_000: 9, 1_000_000: 3}
    for count, rounds in {100: 2, 1000: 2}.items() if quick else sizes.items():
        boxes = detections(count, 1)
        found = len(module_pairs(boxes, THRESHOLD).iou)
        title = f"Pairs above {THRESHOLD}, among {count:_} boxes".replace("_", "\u202f")
        table = Table("join", title, [count, count], "milliseconds")
        table.notes.append(f"{found} pairs found, {2 * found / count:.1f} to a box.")
        yield race(table, of_join(boxes), rounds, per=1e3, difference=pairs_difference)


def suppression(quick: bool) -> Iterator[Table]:
    """Keep the best of the boxes that overlap."""
    sizes = {1000: 41, 10_000: 9, 100_000: 3, 1_000_000: 3}
    for count, rounds in {100: 2, 1000: 2}.items() if quick else sizes.items():
        for kind in ("far apart", "four to an object", "around one object"):
            boxes, scores = (
                SCENES[kind](count, 1),
                np.random.default_rng(2).permutation(count) / count,
            )
            title = f"NMS at {THRESHOLD}, {count:_} boxes {kind}".replace("_", "\u202f")
            table = Table("suppression", title, [count, count], "milliseconds")
            kept = len(module.nms(boxes, scores, iou_threshold=THRESHOLD))
            table.notes.append(f"{kept} kept.")
            contenders = list(of_suppression(boxes, scores))
            yield race(table, contenders, rounds, per=1e3, difference=rows_difference)


def coco(quick: bool) -> Iterator[Table]:
    """Evaluate as COCO does: ten thresholds, four ranges of areas, three limits."""
    for images, labels, rounds in [(20, 5, 2)] if quick else [(500, 80, 3), (5000, 80, 1)]:
        predictions, truths = evaluated(images, labels, 1)
        scene = f"{images} images, {labels} classes, {len(predictions)} detections"
        size = [len(predictions), len(truths)]
        table = Table("coco", f"COCO evaluation, {scene}", size, "seconds")
        table.notes.append("From tables in memory, which for the others are lists of dictionaries.")
        yield race(table, list(of_evaluation(predictions, truths)), rounds, per=1)
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / name for name in ("truths.json", "predictions.json")]
            for path, content in zip(paths, as_files(predictions, truths), strict=True):
                path.write_text(json.dumps(content))
            table = Table("coco", f"COCO evaluation from files, {scene}", size, "seconds")
            table.notes.append(
                "The two files are read, checked as far as each does, and evaluated."
            )
            yield race(table, list(of_evaluation_from_files(*paths)), rounds, per=1)


def guard(quick: bool) -> Iterator[Table]:
    """Find what ordinary boxes pay for being right on the others."""
    for size, rounds in [(60, 2)] if quick else [(5000, 31), (1000, 101)]:
        a, b = scattered(size, 1), scattered(size, 2)
        for measure in ("iou", "ciou"):
            title = f"What care costs, {NAMES[measure]}, {size} × {size}"
            table = Table("guard", title, [size, size], "nanoseconds per pair")
            yield guarded(table, measure, a, b, rounds)


def guarded(table: Table, measure: str, a: Array, b: Array, rounds: int) -> Table:
    """Run the same kernel in the same tiles, with more and more around it."""
    chosen = MEASURES[measure]
    out = np.empty((len(a), len(b)))
    columns = [read(boxes, with_angles=chosen.with_angles) for boxes in (a, b)]
    cut = columns[0][:, None], columns[1][None, :]
    stages: dict[str, Callable[[Any, Any], Any]] = {
        "kernel in tiles, flags ignored, no fall-back": lambda *boxes: bare(out, measure, *boxes),
        "kernel in tiles, flags armed, with fall-back": lambda *boxes: fill(out, chosen, *boxes),
    }
    contenders = [Contender(name, call, *cut) for name, call in stages.items()]
    whole = partial(pairwise, measure=measure, out=out)
    contenders += [Contender("iou.pairwise, out=: reads and checks the boxes too", whole, a, b)]
    contenders = [replace(contender, answer=lambda _: out.copy()) for contender in contenders]
    differences, kept, notes = agreeing(contenders, table_difference)
    times = take_turns(kept, rounds, 1)
    for contender, seconds in zip(kept, times, strict=True):
        more = [mine / least for mine, least in zip(seconds, times[0], strict=True)]
        row = {"contender": contender.name, "threads": 1}
        row |= {"median": statistics.median(seconds) * 1e9 / out.size}
        row |= {"min": min(seconds) * 1e9 / out.size}
        row |= {"percent_more": 100 * (statistics.median(more) - 1)}
        table.rows.append(row | {"off_by": differences[contender.name]})
    table.notes += [f"{rounds} rounds; the percentage is the median of those of the rounds."]
    table.notes += notes
    return table


def bare(out: Array, measure: str, a: Any, b: Any) -> None:
    """Run a kernel with no floating-point error noticed, and nothing to fall back on."""
    chosen = MEASURES[measure]
    rows = max(1, _ROOM // chosen.planes // out.shape[1])
    with np.errstate(all="ignore"):
        np.setbufsize(16)
        room = aligned(chosen.planes * rows * out.shape[1]).reshape(-1, rows, out.shape[1])
        for start in range(0, len(out), rows):
            part = slice(start, start + rows)
            chosen.kernel(a.part(0, part), b, room[:, : len(out[part])], out[part])


def memory(quick: bool) -> Iterator[Table]:
    """Find what each needs beside the result, each in a process of its own."""
    size = 300 if quick else 5000
    table = Table("memory", f"Memory beside the result, IoU, {size} × {size}", [size, size], "MiB")
    tiny = scattered(10, 1), scattered(10, 2)
    for contender in of_table("iou", *tiny):
        if contender.role == "limit":
            continue
        command = [sys.executable, __file__, "--memory-of", contender.name, str(contender.threads)]
        told = subprocess.run([*command, str(size)], capture_output=True, text=True, check=True)
        row = {"contender": contender.name, "threads": contender.threads}
        table.rows.append(row | json.loads(told.stdout))
    table.notes += [
        "Resident: how far the process's memory rose at most in one call, less the result.",
        "Traced: the same by tracemalloc, which does not see what compiled code takes by itself.",
        "A small call came first. A dash stands where the system does not tell.",
    ]
    yield table


def memory_of(name: str, threads: int, size: int) -> dict[str, float | None]:
    """MiB that a contender needs beside the result, by two ways of measuring."""

    def contender(rows: int, columns: int) -> Contender:
        boxes = scattered(rows, 1), scattered(columns, 2)
        found = of_table("iou", *boxes)
        return next(one for one in found if (one.name, one.threads) == (name, threads))

    small_one, large = contender(10, 10), contender(size, size)
    small_one.call(small_one.first, small_one.second)
    before = resident("VmRSS", start=True)
    result = large.call(large.first, large.second)
    after = resident("VmHWM")
    taken = np.asarray(result).nbytes
    tracemalloc.start()
    again = large.call(large.first, large.second)
    traced = tracemalloc.get_traced_memory()[1]
    # One that a compiled library has made may not be among what is traced.
    traced -= taken if again is not result and traced >= taken else 0
    grown = None if before is None or after is None else max(0, after - before - taken) / MIB
    return {"resident": grown, "traced": traced / MIB}


def resident(key: str, *, start: bool = False) -> int | None:
    """Read the memory of this process in bytes, on Linux; `start` forgets the peak so far."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    if start:
        Path("/proc/self/clear_refs").write_text("5")
    line = next(line for line in status.read_text().splitlines() if line.startswith(key))
    return int(line.split()[1]) * 1024


SECTIONS: dict[str, Callable[[bool], Iterator[Table]]] = {
    section.__name__: section
    for section in (
        dense,
        small,
        measures,
        losses,
        tall,
        formats,
        pair,
        join,
        coco,
        suppression,
        guard,
        memory,
    )
}


# The report.


def surroundings() -> dict[str, Any]:
    """Machine and versions."""
    names = ["numpy", *PEERS]
    versions = {name: version(name) for name in names if version(name)}
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "iou": module.__version__,
        "versions": versions,
        "threads": THREADS,
        "load_before": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def version(name: str) -> str | None:
    """Of an installed library."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def processor() -> str:
    """Name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def preface(about: dict[str, Any], quick: bool) -> str:
    """Say what the tables have in common, in Markdown."""
    libraries = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    warning = ["Quick: small inputs, numbers that mean nothing."] if quick else []
    load = "" if about["load_before"] is None else f", load {about['load_before']:.2f} at the start"
    machine = f"{about['processor']}, {about['cores']} cores{load}, {about['system']}"
    source = (
        f"Written by `benchmarks/bench.py` on {about['date']}. {machine}, Python "
        f"{about['python']}, iou {about['iou']}, {libraries}."
    )
    rules = (
        "The contenders of a table take turns in one process, after one call each to warm up and "
        "to compare the answers. *Off by* is the largest difference from the module's answer; "
        f"{TOLERANCE['float64']} is allowed in float64, {TOLERANCE['float32']} in float32. The "
        "module's answers are held against exact fractions. *Ratio* is the median over that of the "
        "module's first row with as many threads: above 1 is slower than the module. What is "
        f"parallel has {about['threads']} threads, and all else has one."
    )
    return "\n\n".join(["# Benchmarks", *warning, source, rules]) + "\n"


def run(sections: Iterable[str], quick: bool) -> tuple[dict[str, Any], str]:
    """Measure; return the results as what becomes JSON, and as Markdown."""
    about = surroundings()
    text = [preface(about, quick)]
    tables = []
    print(text[0], flush=True)
    for name in sections:
        for table in SECTIONS[name](quick):
            tables.append(asdict(table))
            text.append(table.markdown())
            print(text[-1], flush=True)
    return {"about": about, "quick": quick, "tables": tables}, "\n".join(text)


def main() -> None:
    """Read the options, measure, and write if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small inputs")
    parser.add_argument("--only", action="append", choices=SECTIONS, metavar="SECTION")
    parser.add_argument("--write", nargs="?", type=Path, const=HERE, metavar="FOLDER")
    parser.add_argument("--memory-of", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.memory_of:
        name, threads, size = chosen.memory_of
        print(json.dumps(memory_of(name, int(threads), int(size))))
        return
    results, text = run(chosen.only or SECTIONS, chosen.quick)
    if chosen.write:
        chosen.write.mkdir(parents=True, exist_ok=True)
        (chosen.write / "results.json").write_text(json.dumps(results, indent=1) + "\n")
        (chosen.write / "results.md").write_text(text)


if __name__ == "__main__":
    main()
