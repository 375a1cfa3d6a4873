"""Intersection over Union of boxes: right on every input, in plain NumPy.

>>> from iou import iou
>>> iou((1, 1, 5, 5), (3, 2, 7, 6))
0.23076923076923078
"""

from .boxes import area, convert
from .dataset import Predictions, Truths
from .diagnosis import diagnose
from .evaluation import (
    average_precision,
    average_precision_range,
    coco_summary,
    precision_recall,
)
from .files import read_coco, read_voc, read_yolo
from .losses import descend, loss, loss_and_gradient
from .matching import match
from .neighbours import overlapping_pairs
from .overlap import ciou, diou, giou, intersection, iou, union
from .suppression import nms, soft_nms
from .table import pairwise

__version__ = "0.1.0"
__all__ = [
    "Predictions",
    "Truths",
    "area",
    "average_precision",
    "average_precision_range",
    "ciou",
    "coco_summary",
    "convert",
    "descend",
    "diagnose",
    "diou",
    "giou",
    "intersection",
    "iou",
    "loss",
    "loss_and_gradient",
    "match",
    "nms",
    "overlapping_pairs",
    "pairwise",
    "precision_recall",
    "read_coco",
    "read_voc",
    "read_yolo",
    "soft_nms",
    "union",
]
