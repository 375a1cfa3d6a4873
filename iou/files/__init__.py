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
that lies outside its image. A predicted box may lie where it likes, and is measured as it is; only
in YOLO, one far from its image must be in pixels, and is an error.
"""

from .coco import read_coco
from .rows import DataFileError
from .tables import DataSet
from .voc import read_voc
from .yolo import read_yolo

__all__ = ["DataFileError", "DataSet", "read_coco", "read_voc", "read_yolo"]

# What users meet is called by where they find it.
DataFileError.__module__ = DataSet.__module__ = __name__
