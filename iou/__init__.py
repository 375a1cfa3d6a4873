"""Intersection over Union of boxes: right on every input, in plain NumPy.

>>> from iou import iou
>>> iou((1, 1, 5, 5), (3, 2, 7, 6))
0.23076923076923078
"""

from .boxes import area, convert
from .files import read_coco, read_voc, read_yolo
from .neighbours import overlapping_pairs
from .overlap import ciou, diou, giou, intersection, iou, pairwise, union
from .suppression import nms

__version__ = "0.1.0"
__all__ = [
    "area",
    "ciou",
    "convert",
    "diou",
    "giou",
    "intersection",
    "iou",
    "nms",
    "overlapping_pairs",
    "pairwise",
    "read_coco",
    "read_voc",
    "read_yolo",
    "union",
]
