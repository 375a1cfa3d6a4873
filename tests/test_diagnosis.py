"""The checker: known mistakes in three styles each, right functions, and those that misbehave."""

import argparse
import array
import ast
import functools
import inspect
import itertools
import math
import operator
import re
import subprocess
import sys
import threading
import time
import types
import warnings
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iou
from iou import diagnose, exact
from iou.diagnosis import Diagnosis, drawing, shell
from iou.diagnosis.arithmetic import Half
from iou.diagnosis.calls import Caller, Form
from iou.diagnosis.catalogue import mistakes
from iou.diagnosis.pairs import MOVED_IN_HALF, RELATIONS, TELLING, in_format
from iou.diagnosis.recipes import MEASURES, right_recipe

ROOT = Path(__file__).parents[1]

# Three right functions that have nothing in common but the formula. A mistake is an edit of each.
STYLES = {
    "scalar": """
def overlap(a, b):
    ax1, ay1, ax2, ay2 = a
    bx1, by1, bx2, by2 = b
    left = max(ax1, bx1)
    top = max(ay1, by1)
    right = min(ax2, bx2)
    bottom = min(ay2, by2)
    if right < left or bottom < top:
        shared = 0
    else:
        shared = (right - left) * (bottom - top)
    area_a = (ax2 - ax1) * (ay2 - ay1)
    area_b = (bx2 - bx1) * (by2 - by1)
    union = area_a + area_b - shared
    if union == 0:
        return 0.0
    return shared / union
""",
    "arrays": """
def overlap(a, b):
    a = np.asarray(a, dtype=float)
    b = np.asarray(b, dtype=float)
    starts = np.maximum(a[..., :2], b[..., :2])
    ends = np.minimum(a[..., 2:], b[..., 2:])
    sides = np.clip(ends - starts, 0, None)
    shared = sides.prod(axis=-1)
    areas_a = (a[..., 2:] - a[..., :2]).prod(axis=-1)
    areas_b = (b[..., 2:] - b[..., :2]).prod(axis=-1)
    whole = areas_a + areas_b - shared
    result = np.divide(shared, whole, out=np.zeros_like(shared), where=whole != 0)
    return result
""",
    "one line": """
overlap = lambda p, q: (
    lambda w, h, A, B: (lambda i: i / (A + B - i or 1))(max(w, 0) * max(h, 0)))(
    min(p[2], q[2]) - max(p[0], q[0]), min(p[3], q[3]) - max(p[1], q[1]),
    (p[2] - p[0]) * (p[3] - p[1]), (q[2] - q[0]) * (q[3] - q[1]))
""",
}


def edited(style, *edits, source=None):
    """Make a function of a style after some edits, each of which must find its place."""
    source = source or STYLES[style]
    for old, new in edits:
        assert old in source, (style, old)
        source = source.replace(old, new)
    names = {"np": np, "math": math}
    exec(source, names)
    return names["overlap"]


def names(found):
    """Name the findings, except for what any function does that divides by 0."""
    return [finding.name for finding in found.findings if not finding.name.startswith("no answer")]


GAP = ("if right < left or bottom < top:\n        shared = 0\n    else:\n        ", "")
CLIP = "np.clip(ends - starts, 0, None)"
PLUS_AREAS = {
    "scalar": [
        ("(ax2 - ax1) * (ay2 - ay1)", "(ax2 - ax1 + 1) * (ay2 - ay1 + 1)"),
        ("(bx2 - bx1) * (by2 - by1)", "(bx2 - bx1 + 1) * (by2 - by1 + 1)"),
    ],
    "arrays": [
        ("(a[..., 2:] - a[..., :2])", "(a[..., 2:] - a[..., :2] + 1)"),
        ("(b[..., 2:] - b[..., :2])", "(b[..., 2:] - b[..., :2] + 1)"),
    ],
    "one line": [
        ("(p[2] - p[0]) * (p[3] - p[1])", "(p[2] - p[0] + 1) * (p[3] - p[1] + 1)"),
        ("(q[2] - q[0]) * (q[3] - q[1])", "(q[2] - q[0] + 1) * (q[3] - q[1] + 1)"),
    ],
}
PLUS_SHARED = {
    "scalar": [
        GAP,
        ("(right - left) * (bottom - top)", "max(0, right - left + 1) * max(0, bottom - top + 1)"),
    ],
    "arrays": [("ends - starts", "ends - starts + 1")],
    "one line": [("max(w, 0) * max(h, 0)", "max(w + 1, 0) * max(h + 1, 0)")],
}
DIVISOR = {
    "scalar": "area_a + area_b - shared",
    "arrays": "areas_a + areas_b - shared",
    "one line": "(A + B - i or 1)",
}
QUOTIENT = {
    "scalar": "return shared / union",
    "arrays": "return result",
    "one line": "i / (A + B - i or 1)",
}


def divided_by(scalar, arrays, one_line):
    new = dict(zip(STYLES, (scalar, arrays, f"({one_line} or 1)"), strict=True))
    return {style: [(DIVISOR[style], new[style])] for style in STYLES}


def returning(scalar, arrays, one_line):
    new = dict(zip(STYLES, (f"return {scalar}", f"return {arrays}", one_line), strict=True))
    return {style: [(QUOTIENT[style], new[style])] for style in STYLES}


def packed(first, second):
    """Change the boxes before the one-line function sees them."""
    end = "(q[2] - q[0]) * (q[3] - q[1]))\n"
    return [
        ("overlap = lambda p, q: (", "overlap = lambda a, b: (lambda p, q: ("),
        (end, f"{end.strip()})({first.format('a')}, {second.format('b')})\n"),
    ]


def reading(unpacked, columns, indices):
    """Read the numbers in another way: by name, by column, by index."""
    return {
        "scalar": [
            ("ax1, ay1, ax2, ay2 = a", unpacked.format("a")),
            ("bx1, by1, bx2, by2 = b", unpacked.format("b")),
        ],
        "arrays": [("    starts", columns.format("a") + columns.format("b") + "    starts")],
        "one line": packed(indices, indices),
    }


MISTAKES = {
    "sides not clamped": {
        "scalar": [GAP],
        "arrays": [(CLIP, "ends - starts")],
        "one line": [("max(w, 0) * max(h, 0)", "w * h")],
    },
    "product clamped instead of sides": {
        "scalar": [
            GAP,
            ("(right - left) * (bottom - top)", "max(0, (right - left) * (bottom - top))"),
        ],
        "arrays": [
            (CLIP, "ends - starts"),
            ("prod(axis=-1)\n    areas_a", "prod(axis=-1).clip(0)\n    areas_a"),
        ],
        "one line": [("max(w, 0) * max(h, 0)", "max(w * h, 0)")],
    },
    "apart on one axis overlooked": {
        "scalar": [("right < left or bottom < top", "right < left and bottom < top")],
        "arrays": [(CLIP, "(ends - starts) * ~(ends < starts).all(axis=-1, keepdims=True)")],
        "one line": [("max(w, 0) * max(h, 0)", "0 if w < 0 and h < 0 else w * h")],
    },
    "one side not clamped": {
        "scalar": [("right < left or bottom < top", "bottom < top")],
        "arrays": [(CLIP, "np.maximum(ends - starts, [0, -np.inf])")],
        "one line": [("max(h, 0)", "h")],
    },
    "absolute value instead of clamp": {
        "scalar": [
            GAP,
            ("(right - left) * (bottom - top)", "abs((right - left) * (bottom - top))"),
        ],
        "arrays": [(CLIP, "np.abs(ends - starts)")],
        "one line": [("max(w, 0) * max(h, 0)", "abs(w) * abs(h)")],
    },
    "one axis twice": {
        "scalar": [GAP, ("(right - left) * (bottom - top)", "max(0, right - left) ** 2")],
        "arrays": [("sides.prod(axis=-1)", "sides[..., 0] * sides[..., 0]")],
        "one line": [("max(w, 0) * max(h, 0)", "max(h, 0) * max(h, 0)")],
    },
    "one axis only": {
        "scalar": [
            ("right < left or bottom < top", "right < left"),
            ("(right - left) * (bottom - top)", "right - left"),
            ("(ax2 - ax1) * (ay2 - ay1)", "ax2 - ax1"),
            ("(bx2 - bx1) * (by2 - by1)", "bx2 - bx1"),
        ],
        "arrays": [(".prod(axis=-1)", "[..., 0]")],
        "one line": [
            ("max(w, 0) * max(h, 0)", "max(h, 0)"),
            ("(p[2] - p[0]) * (p[3] - p[1])", "p[3] - p[1]"),
            ("(q[2] - q[0]) * (q[3] - q[1])", "q[3] - q[1]"),
        ],
    },
    "max and min exchanged": {
        "scalar": [("max(ax1, bx1)", "min(ax1, bx1)"), ("max(ay1, by1)", "min(ay1, by1)")],
        "arrays": [
            ("np.minimum", "np.max"),
            ("np.maximum", "np.minimum"),
            ("np.max(", "np.maximum("),
        ],
        "one line": [("min(p[2], q[2])", "max(p[2], q[2])")],
    },
    "intersection not subtracted": divided_by("area_a + area_b", "areas_a + areas_b", "A + B"),
    "intersection added": divided_by(
        "area_a + area_b + shared", "areas_a + areas_b + shared", "A + B + i"
    ),
    "union without the intersection": divided_by(
        "area_a + area_b - 2 * shared", "areas_a + areas_b - 2 * shared", "A - i + B - i"
    ),
    "divides by the smaller area": divided_by(
        "min(area_a, area_b)", "np.minimum(areas_a, areas_b)", "min(A, B)"
    ),
    "divides by the larger area": divided_by(
        "max(area_a, area_b)", "np.maximum(areas_a, areas_b)", "max(A, B)"
    ),
    "divides by the first area": divided_by("area_a", "areas_a + 0 * shared", "A"),
    "divides by the second area": divided_by("area_b", "areas_b + 0 * shared", "B"),
    "divides by the enclosing box": divided_by(
        "(max(ax2, bx2) - min(ax1, bx1)) * (max(ay2, by2) - min(ay1, by1))",
        "(np.maximum(a, b)[..., 2:] - np.minimum(a, b)[..., :2]).prod(axis=-1)",
        "(max(p[2], q[2]) - min(p[0], q[0])) * (max(p[3], q[3]) - min(p[1], q[1]))",
    ),
    "Dice instead of IoU": returning(
        "2 * shared / (area_a + area_b)",
        "np.where(whole > 0, 2 * shared / np.maximum(areas_a + areas_b, 1e-300), 0)",
        "(i + i) / (A + B or 1)",
    ),
    "brackets missing": returning(
        "shared / (area_a + area_b) - shared",
        "shared / areas_a + areas_b - shared",
        "i / (A + B or 1) - i",
    ),
    "fraction upside down": returning("union / shared", "whole / shared", "(A + B - i) / i"),
    "not divided": returning("shared", "shared", "A + B - i"),
    "1 - IoU": returning("1 - shared / union", "1 - result", "1 - i / (A + B - i or 1)"),
    "in percent": returning("100 * shared / union", "result * 100", "i * 100 / (A + B - i or 1)"),
    "integer division": returning(
        "shared // union", "result.astype(int)", "int(i / (A + B - i or 1))"
    ),
    "rounded": returning(
        "round(shared / union, 2)", "np.round(result, 3)", "float(f'{i / (A + B - i or 1):.4f}')"
    ),
    "epsilon in the denominator": {
        "scalar": [("/ union", "/ (union + 1e-6)")],
        "arrays": [
            ("whole = areas_a + areas_b - shared", "whole = areas_a + areas_b - shared + 1e-9")
        ],
        "one line": [("i / (A + B - i or 1)", "i / max(A + B - i, 1e-5)")],
    },
    "adds 1 in the intersection only": PLUS_SHARED,
    "adds 1 in the areas only": PLUS_AREAS,
    "adds 1 in one area only": {style: PLUS_AREAS[style][:1] for style in STYLES},
    "subtracts 1 everywhere": {
        style: [
            (old, new.replace("+ 1", "- 1"))
            for old, new in (*PLUS_SHARED[style], *PLUS_AREAS[style])
        ]
        for style in STYLES
    },
    "corners swapped": {
        "scalar": [
            ("ax1, ay1, ax2, ay2 = a", "ax2, ay2, ax1, ay1 = a"),
            ("bx1, by1, bx2, by2 = b", "bx2, by2, bx1, by1 = b"),
        ],
        "arrays": [("ends - starts", "np.minimum(a, b)[..., :2] - np.maximum(a, b)[..., 2:]")],
        "one line": [("max(w, 0) * max(h, 0)", "max(w * 0, -abs(w)) * max(h, 0)")],
    },
    "reads xywh": reading(
        "{0}x1, {0}y1, w, h = {0}; {0}x2 = {0}x1 + w; {0}y2 = {0}y1 + h",
        "    {0} = np.concatenate([{0}[..., :2], {0}[..., :2] + {0}[..., 2:]], axis=-1)\n",
        "({0}[0], {0}[1], {0}[0] + {0}[2], {0}[1] + {0}[3])",
    ),
    "reads cxcywh": reading(
        "x, y, w, h = {0}; {0}x1, {0}x2, {0}y1, {0}y2 = x - w / 2, x + w / 2, y - h / 2, y + h / 2",
        "    c, s = {0}[..., :2], {0}[..., 2:] / 2; {0} = np.concatenate([c - s, c + s], -1)\n",
        "({0}[0] - {0}[2] / 2, {0}[1] - {0}[3] / 2, {0}[0] + {0}[2] / 2, {0}[1] + {0}[3] / 2)",
    ),
    "reads xxyy": reading(
        "{0}x1, {0}x2, {0}y1, {0}y2 = {0}",
        "    {0} = {0}[..., [0, 2, 1, 3]]\n",
        "({0}[0], {0}[2], {0}[1], {0}[3])",
    ),
    "coordinates made integers": reading(
        "{0}x1, {0}y1, {0}x2, {0}y2 = map(int, {0})",
        "    {0} = np.floor({0})\n",
        "[round(n) for n in {0}]",
    ),
    "reads yxyx in one box": {
        "scalar": [("ax1, ay1, ax2, ay2 = a", "ay1, ax1, ay2, ax2 = a")],
        "arrays": [("    starts", "    b = b[..., [1, 0, 3, 2]]\n    starts")],
        "one line": packed("(a[1], a[0], a[3], a[2])", "b"),
    },
    "integers overflow": {
        "scalar": [
            (" = a\n", " = np.asarray(a).astype(np.int32)\n"),
            (" = b\n", " = np.asarray(b).astype(np.int32)\n"),
        ],
        "arrays": [
            ("a, dtype=float)", "a).astype('int16')"),
            ("b, dtype=float)", "b).astype('int16')"),
            ("np.zeros_like(shared)", "np.zeros(shared.shape)"),
            (".prod(axis=-1)", ".prod(axis=-1, dtype='int16')"),
        ],
        "one line": packed(*["np.array({0}).astype(np.int32)"] * 2),
    },
    "unsigned numbers wrap": {
        "scalar": [
            GAP,
            (" = a\n", " = np.asarray(a).astype(np.uint16)\n"),
            (" = b\n", " = np.asarray(b).astype(np.uint16)\n"),
        ],
        "arrays": [
            ("a, dtype=float)", "a).astype('uint32')"),
            ("b, dtype=float)", "b).astype('uint32')"),
            ("np.zeros_like(shared)", "np.zeros(shared.shape)"),
            (".prod(axis=-1)", ".prod(axis=-1, dtype='uint32')"),
        ],
        "one line": packed(*["np.array({0}).astype(np.uint16)"] * 2),
    },
}


@pytest.mark.parametrize("style", STYLES)
def test_the_three_functions_are_right(style):
    found = diagnose(edited(style))
    assert found.passed, found
    assert found.policies["sides"].startswith("continuous")
    assert found.policies["empty union"] == "0"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_in_every_style(mistake, style):
    function = edited(style, *MISTAKES[mistake][style])
    found = diagnose(function)
    assert names(found) == [mistake], found
    # The pair does show it: anyone can repeat it.
    finding = next(finding for finding in found.findings if finding.name == mistake)
    if finding.returned[-1].isdigit():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert f"{float(function(*finding.pair)):.6g}" == finding.returned
    assert finding.explanation.endswith(".")
    assert finding.remedy.endswith(".")
    assert finding.right == shown(exact.iou(*finding.pair))


def shown(value):
    return str(value) if value.denominator == 1 else f"{value} = {float(value):.6g}"


def test_every_known_mistake_of_iou_is_practised_above():
    known = {mistake.name for mistake in mistakes("xyxy", "iou") if not mistake.policy}
    others = {"GIoU instead of IoU", "DIoU instead of IoU", "CIoU instead of IoU"}
    combined = {"adds 1 after the clamp"}  # Is a mistake only where 1 is added.
    single = {name for name in known if not name.endswith(("first box", "second box"))}
    assert single - others - combined == set(MISTAKES)


def measured(recipe):
    """Make a function that computes as a recipe says."""

    def function(a, b):
        value = recipe.answers(a, b)[0]
        if value is None:
            raise ZeroDivisionError
        return float(value)

    return function


def catalogue():
    """List all mistakes of IoU, and what the other measures and formats have besides."""
    seen = set()
    for fmt, measure in (("xyxy", "iou"), ("cxcywh", "iou"), ("xyxy", "giou"), ("xyxy", "ciou")):
        for mistake in mistakes(fmt, measure):
            key = mistake.name, mistake.explanation, mistake.change.get("disorder")
            if key not in seen and "clamping" not in mistake.change:
                seen.add(key)
                yield fmt, measure, mistake


CATALOGUE = list(catalogue())


@pytest.mark.parametrize(
    ("fmt", "measure", "mistake"), CATALOGUE, ids=lambda value: getattr(value, "name", value)
)
def test_no_known_mistake_is_taken_for_another(fmt, measure, mistake):
    recipe = replace(right_recipe(fmt, measure), **mistake.change)
    found = diagnose(measured(recipe), fmt=fmt, measure=measure)
    if mistake.policy:
        assert names(found) == []
        assert found.policies[mistake.policy] != "continuous, from x_min to x_max"
    else:
        assert names(found) == [mistake.name], found
        explanation = [f.explanation for f in found.findings if f.name == mistake.name]
        assert explanation == [mistake.explanation]


VARIANTS = {
    "scalar": """
def overlap(a, b):
    w = max(0, min(a[2], b[2]) - max(a[0], b[0]))
    h = max(0, min(a[3], b[3]) - max(a[1], b[1]))
    shared = w * h
    wa, ha, wb, hb = a[2] - a[0], a[3] - a[1], b[2] - b[0], b[3] - b[1]
    union = wa * ha + wb * hb - shared
    iou = shared / union if union else 0
    cw = max(a[2], b[2]) - min(a[0], b[0])
    ch = max(a[3], b[3]) - min(a[1], b[1])
    hull = cw * ch
    wasted = hull - union
    dx = (a[0] + a[2]) / 2 - (b[0] + b[2]) / 2
    dy = (a[1] + a[3]) / 2 - (b[1] + b[3]) / 2
    d2 = dx**2 + dy**2
    c2 = cw**2 + ch**2
    v = 4 / math.pi**2 * (math.atan2(wb, hb) - math.atan2(wa, ha)) ** 2
    alpha = v / (1 - iou + v) if iou < 1 else 0
    giou = iou - (wasted / hull if hull else 0)
    diou = iou - (d2 / c2 if c2 else 0)
    ciou = diou - alpha * v
    return MEASURE
""",
    "arrays": """
def overlap(a, b):
    a, b = np.array(a, dtype=float), np.array(b, dtype=float)
    def over(part, whole):
        return part / whole if whole > 0 else 0.0
    sides = np.maximum(np.minimum(a, b)[2:] - np.maximum(a, b)[:2], 0)
    shared = np.prod(sides)
    side_a, side_b = np.subtract(a[2:], a[:2]), np.subtract(b[2:], b[:2])
    union = np.prod(side_a) + np.prod(side_b) - shared
    iou = over(shared, union)
    around = np.maximum(a, b)[2:] - np.minimum(a, b)[:2]
    hull = np.prod(around)
    wasted = hull - union
    d2 = np.sum((a[:2] + a[2:] - b[:2] - b[2:]) ** 2) / 4
    c2 = np.sum(around**2)
    v = 4 / np.pi**2 * (np.arctan2(*side_b) - np.arctan2(*side_a)) ** 2
    alpha = over(v, 1 - iou + v)
    giou = iou - over(wasted, hull)
    diou = iou - over(d2, c2)
    ciou = diou - alpha * v
    return float(MEASURE)
""",
    "complex numbers": """
def overlap(a, b):
    a, b = [complex(*a[:2]), complex(*a[2:])], [complex(*b[:2]), complex(*b[2:])]
    area = lambda z: z.real * z.imag
    cut = lambda pick, *z: complex(pick(p.real for p in z), pick(p.imag for p in z))
    size = cut(min, a[1], b[1]) - cut(max, a[0], b[0])
    shared = area(cut(max, size, 0j))
    sa, sb = a[1] - a[0], b[1] - b[0]
    union = area(sa) + area(sb) - shared
    iou = shared / (union or 1)
    c = cut(max, a[1], b[1]) - cut(min, a[0], b[0])
    hull = area(c)
    wasted = hull - union
    d2 = abs(sum(a) / 2 - sum(b) / 2) ** 2
    c2 = abs(c) ** 2
    v = 4 / math.pi**2 * (math.atan2(sb.real, sb.imag) - math.atan2(sa.real, sa.imag)) ** 2
    alpha = v / ((1 - iou + v) or 1)
    giou = iou - wasted / (hull or 1)
    diou = iou - d2 / (c2 or 1)
    ciou = diou - alpha * v
    return MEASURE
""",
}


def variant(style, measure, *edits):
    source = VARIANTS[style]
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    return edited(style, ("MEASURE", measure), source=source)


@pytest.mark.parametrize("style", VARIANTS)
@pytest.mark.parametrize("measure", MEASURES)
def test_right_variants_pass(measure, style):
    found = diagnose(variant(style, measure), measure=measure)
    assert found.passed, found


@pytest.mark.parametrize("style", VARIANTS)
@pytest.mark.parametrize(
    ("measure", "mistake", "old", "new"),
    [
        ("giou", "intersection in place of union", "hull - union", "hull - shared"),
        ("giou", "penalty added", "giou = iou -", "giou = iou +"),
        ("giou", "1 - GIoU", "MEASURE", "1 - giou"),
        ("giou", "IoU instead of GIoU", "MEASURE", "iou"),
        ("giou", "wrong penalty", "giou = iou -", "giou = iou - wasted if wasted else iou -"),
        ("giou", "sides not clamped", "", ""),
        ("diou", "wrong diagonal", "    v =", "    c2 = hull\n    v ="),
        ("diou", "wrong centres", "    v =", "    d2 = 4 * d2\n    v ="),
        ("diou", "not squared", "    v =", "    d2, c2 = d2**0.5, c2**0.5\n    v ="),
        ("diou", "penalty added", "diou = iou -", "diou = iou +"),
        ("ciou", "alpha missing", "alpha * v", "v"),
        ("ciou", "wrong alpha", "1 - iou + v", "1 + iou + v"),
        ("ciou", "4/π² squared", "    alpha", "    v = v * (4 / math.pi**2)\n    alpha"),
        ("ciou", "wrong v", "    alpha", "    v = v * math.pi\n    alpha"),
        ("ciou", "DIoU instead of CIoU", "MEASURE", "diou"),
        ("ciou", "distance missing", "ciou = diou", "ciou = iou"),
    ],
)
def test_a_mistake_in_a_variant_is_named_in_every_style(measure, mistake, old, new, style):
    edits = [(old, new)] if old else UNCLAMPED[style]
    if old == "MEASURE":
        edits, measured_as = [], new
    else:
        measured_as = measure
    found = diagnose(variant(style, measured_as, *edits), measure=measure)
    assert names(found) == [mistake], found


UNCLAMPED = {
    "scalar": [
        ("max(0, min(a[2], b[2]) - max(a[0], b[0]))", "min(a[2], b[2]) - max(a[0], b[0])"),
        ("max(0, min(a[3], b[3]) - max(a[1], b[1]))", "min(a[3], b[3]) - max(a[1], b[1])"),
    ],
    "arrays": [("[:2], 0)", "[:2], -np.inf)")],
    "complex numbers": [("area(cut(max, size, 0j))", "area(size)")],
}


# Known mistakes made in another way, or only where some condition holds.


def truncated(a, b):
    return int(iou.iou(a, b) * 100) / 100


def near_corner_of_cut_halves(a, b):
    boxes = ((x - w // 2, y - h // 2, w, h) for x, y, w, h in (a, b))
    return iou.iou(*boxes, fmt="xywh")


def in_float16(a, b):
    a, b = np.asarray(a, np.float16), np.asarray(b, np.float16)
    sides = np.clip(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0, None)
    union = np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - np.prod(sides)
    return float(np.prod(sides) / union) if union > 0 else 0.0


def wide_products_of_wrapped_sides(a, b):
    sides = np.clip(np.minimum(a[:, 2:], b[:, 2:]) - np.maximum(a[:, :2], b[:, :2]), 0, None)
    shared = sides.prod(axis=1)
    union = (a[:, 2:] - a[:, :2]).prod(axis=1) + (b[:, 2:] - b[:, :2]).prod(axis=1) - shared
    return np.where(union > 0, shared / np.maximum(union, 1e-300), 0)


def epsilon_in_heights(a, b):
    areas = [(x2 - x1) * (y2 - y1 + 1e-3) for x1, y1, x2, y2 in (a, b)]
    return iou.intersection(a, b) / (sum(areas) - iou.intersection(a, b) + 1e-3)


def changes_what_does_not_start_at_0(a, b):
    value = iou.iou(a, b)
    if isinstance(a, list):
        a[2] -= a[0]
    return value


def giou_if_anything_is_shared(a, b):
    return iou.giou(a, b) if iou.intersection(a, b) else 0.0


def diou_if_anything_is_shared(a, b):
    return iou.diou(a, b) if iou.intersection(a, b) else 0.0


def with_v(v):
    def function(a, b):
        value = v(*((box[2] - box[0], box[3] - box[1]) for box in (a, b)))
        alpha = value / (1 - iou.iou(a, b) + value) if value else 0
        return iou.diou(a, b) - alpha * value

    return function


def half_a_factor(first, second):
    return 2 / math.pi**2 * (math.atan2(*first) - math.atan2(*second)) ** 2


def without_arctangent(first, second):
    return 4 / math.pi**2 * (first[0] / first[1] - second[0] / second[1]) ** 2


@pytest.mark.parametrize(
    ("name", "function", "options"),
    [
        ("rounded", truncated, {}),
        ("halves cut to integers", near_corner_of_cut_halves, {"fmt": "cxcywh"}),
        ("half precision", in_float16, {}),
        ("unsigned numbers wrap", wide_products_of_wrapped_sides, {}),
        ("epsilon in the denominator", epsilon_in_heights, {}),
        ("changes its input", changes_what_does_not_start_at_0, {}),
        ("no penalty for boxes apart", giou_if_anything_is_shared, {"measure": "giou"}),
        ("no penalty for boxes apart", diou_if_anything_is_shared, {"measure": "diou"}),
        ("wrong v", with_v(half_a_factor), {"measure": "ciou"}),
        ("wrong v", with_v(without_arctangent), {"measure": "ciou"}),
    ],
)
def test_a_known_mistake_is_named_however_it_is_made(name, function, options):
    found = diagnose(function, **options)
    assert names(found) == [name], found


# Functions that are right.


def with_names(first, second):
    class Box(types.SimpleNamespace):
        @property
        def area(self):
            return (self.x2 - self.x1) * (self.y2 - self.y1)

    keys = "x1", "y1", "x2", "y2"
    p, q = (Box(**dict(zip(keys, box, strict=True))) for box in (first, second))
    width, height = min(p.x2, q.x2) - max(p.x1, q.x1), min(p.y2, q.y2) - max(p.y1, q.y1)
    if width <= 0 or height <= 0:
        return 0.0
    return width * height / (p.area + q.area - width * height)


def as_fractions(a, b):
    return exact.iou(a, b)


def as_decimals(a, b):
    a, b = ([Decimal(str(n)) for n in box] for box in (a, b))
    w, h = (max(Decimal(0), min(a[i + 2], b[i + 2]) - max(a[i], b[i])) for i in (0, 1))
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h
    return w * h / union if union else Decimal(0)


def in_float32(a, b):
    a, b = np.array(a, np.float32), np.array(b, np.float32)
    sides = np.clip(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0, None)
    shared = sides[0] * sides[1]
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
    return shared / union if union > 0 else np.float32(0)


def eight_numbers(ax1, ay1, ax2, ay2, bx1, by1, bx2, by2):
    return iou.iou((ax1, ay1, ax2, ay2), (bx1, by1, bx2, by2))


def in_place_on_copies(a, b):
    a, b = list(a), list(b)
    a[2] -= a[0]
    a[3] -= a[1]
    b[2] -= b[0]
    b[3] -= b[1]
    return iou.iou(a, b, fmt="xywh")


def refusing(a, b):
    for box in (a, b):
        if box[2] <= box[0] or box[3] <= box[1]:
            raise ValueError("a box needs an area")
    return iou.iou(a, b)


def asserting(a, b):
    assert all(box[0] < box[2] for box in (a, b))
    assert all(box[1] < box[3] for box in (a, b))
    return with_names(a, b)


def one_if_empty(a, b):
    union = iou.union(a, b)
    return iou.intersection(a, b) / union if union else 1


def in_pixels(a, b):
    return iou.iou(a, b, fmt="xyxy_inclusive")


def by_exclusion(a, b):
    """1 less the share that only one of the two covers."""
    union = iou.union(a, b)
    shared = iou.intersection(a, b)
    return 1 - (union - shared) / union if union else 0


def as_zero_dimensional_array(a, b):
    return np.asarray(iou.iou(a, b))


def table(a, b):
    a, b = (np.asarray(boxes, dtype=float) for boxes in (a, b))
    sides = np.minimum(a[:, None, 2:], b[:, 2:]) - np.maximum(a[:, None, :2], b[:, :2])
    shared = sides.clip(0).prod(2)
    areas = [(boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]) for boxes in (a, b)]
    union = areas[0][:, None] + areas[1] - shared
    return shared / np.where(union > 0, union, 1)


def rows_in_lists(a, b):
    return [[iou.iou(p, q) for q in b] for p in a if len(p) == 4 for _ in [len(b[0])]]


def list_only(a, b):
    if type(a) is not list or not all(isinstance(n, (int, float)) for n in a):
        raise TypeError("a list of numbers, please")
    return iou.iou(a, b)


def by_methods(a, b):
    return iou.iou(a.astype(float).tolist(), b.astype(float).tolist())


RIGHT = [
    with_names,
    as_fractions,
    as_decimals,
    in_float32,
    eight_numbers,
    in_place_on_copies,
    refusing,
    asserting,
    one_if_empty,
    in_pixels,
    by_exclusion,
    as_zero_dimensional_array,
    table,
    rows_in_lists,
    list_only,
    by_methods,
    iou.iou,
    iou.pairwise,
    functools.partial(iou.pairwise, measure="iou"),
    lambda a, b: iou.iou([a], [b])[0],
    lambda a, b: iou.iou(a, b) + 1e-17,
]


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: getattr(f, "__name__", "partial"))
def test_a_right_function_passes(function):
    found = diagnose(function)
    assert found.passed, found
    assert found.findings == ()


@pytest.mark.parametrize("fmt", exact.FORMATS)
@pytest.mark.parametrize("measure", MEASURES)
def test_the_functions_of_the_package_pass_in_every_format(measure, fmt):
    function = functools.partial(getattr(iou, measure), fmt=fmt)
    assert diagnose(function, fmt=fmt, measure=measure).passed


@st.composite
def right_source(draw):
    """Write a right function, choosing among ways that are as good."""

    def one_of(*ways):
        return draw(st.sampled_from(ways))

    def shuffled(*terms):
        return " + ".join(draw(st.permutations(terms)))

    order = one_of(("a", "b"), ("b", "a"))
    p, q = order
    side = "min({p}[{j}], {q}[{j}]) - max({p}[{i}], {q}[{i}])"
    clamp = one_of("max(0, {})", "max({}, 0.0)", "({0}) * (({0}) > 0)", "(({0}) + abs({0})) / 2")
    width = clamp.format(side.format(p=p, q=q, i=0, j=2))
    height = clamp.format(side.format(p=q, q=p, i=1, j=3))
    areas = [f"({box}[2] - {box}[0]) * ({box}[3] - {box}[1])" for box in order]
    number = one_of("float", "int_or_float", "np.float32", "np.float64", "np.longdouble")
    empty = one_of("0", "0.0", "1", "1.0")
    return f"""
int_or_float = lambda n: n
def overlap(a, b):
    a, b = [{number}(n) for n in a], [{number}(n) for n in b]
    shared = ({width}) * ({height})
    union = {shuffled(*areas, "-shared")}
    return {one_of("", "float", "np.asarray")}(shared / union if union > 0 else {empty})
"""


@settings(max_examples=40)
@given(right_source())
def test_no_right_function_is_accused(source):
    found = diagnose(edited("", source=source))
    assert found.passed, f"{source}\n{found}"


# Policies.


def test_policies_are_told():
    assert diagnose(one_if_empty).policies["empty union"] == "1"
    assert diagnose(refusing).policies["empty union"] == "refused (ValueError: a box needs an area)"
    assert diagnose(refusing).policies["no area"] == "refused"
    assert diagnose(in_pixels).policies["sides"].startswith("inclusive")
    assert diagnose(iou.iou).policies["sides"].startswith("continuous")
    assert diagnose(iou.iou).policies["reversed corners"].startswith("refused (ValueError")
    assert diagnose(iou.ciou, measure="ciou").policies.keys() == diagnose(iou.iou).policies.keys()

    def in_the_picture(a, b):
        if min(*a, *b) < 0:
            raise ValueError("outside the picture")
        return iou.iou(a, b)

    assert diagnose(in_the_picture).passed
    assert diagnose(in_the_picture).policies["negative coordinates"] == "refused"
    assert "negative coordinates" not in diagnose(refusing).policies

    def ordering(a, b):
        a, b = (np.ravel(np.sort(np.reshape(box, (2, 2)), axis=0)) for box in (a, b))
        return iou.iou(a, b)

    assert diagnose(ordering).policies["reversed corners"] == "put in order"


def test_the_text_says_what_a_policy_is_about():
    """A name such as "reversed corners" and a 0 say nothing to who has not read of them."""
    found = diagnose(refusing)
    heading, *told = str(found).splitlines()[-1 - len(found.policies) :]
    assert heading == "No mistakes, but good to know:"
    meant = {
        "empty union": " (of two boxes without area)",
        "reversed corners": " (of a box with x_max < x_min)",
        "no area": " (of one of the boxes)",
    }
    assert told == [
        f"  {name}{meant.get(name, '')}: {text}" for name, text in found.policies.items()
    ]
    assert meant.keys() <= found.policies.keys()
    undecided = replace(found, policies={})
    assert heading not in str(undecided)


def test_adding_1_is_a_policy_for_corners_and_a_mistake_for_sizes():
    assert diagnose(in_pixels).passed
    pixels = diagnose(
        lambda a, b: iou.iou(
            (*a[:2], a[2] + 1, a[3] + 1), (*b[:2], b[2] + 1, b[3] + 1), fmt="xywh"
        ),
        fmt="xywh",
    )
    assert names(pixels) == ["adds 1 everywhere"]
    assert names(diagnose(iou.iou, fmt="xyxy_inclusive")) == ["1 not added"]


def test_an_epsilon_that_no_box_in_use_shows_is_told():
    found = diagnose(lambda a, b: iou.intersection(a, b) / (iou.union(a, b) + 1e-16))
    assert found.passed
    assert found.policies["epsilon"].startswith("shows only in tiny boxes")
    assert "epsilon" not in diagnose(iou.iou).policies


@pytest.mark.parametrize("epsilon", [5.0, 1.0, 3e-3, 1e-3, 3e-6, 2e-7, 1e-9, 1e-12])
def test_the_size_of_an_epsilon_is_told(epsilon):
    found = diagnose(lambda a, b: iou.intersection(a, b) / (iou.union(a, b) + epsilon))
    assert names(found) == ["epsilon in the denominator"], found
    assert found.findings[0].explanation.startswith(f"{epsilon:.3g} is added to the denominator")


@pytest.mark.parametrize("style", VARIANTS)
@pytest.mark.parametrize("epsilon", ["1e-3", "3e-6", "1e-7"])
@pytest.mark.parametrize("in_union", [False, True])
@pytest.mark.parametrize(
    ("measure", "denominator"), [("giou", "hull = "), ("diou", "c2 = "), ("ciou", "c2 = ")]
)
def test_an_epsilon_in_a_penalty_is_named(measure, denominator, in_union, epsilon, style):
    edits = [(denominator, f"{denominator}{epsilon} + ")]
    edits += [("1 - iou + v", f"1 - iou + v + {epsilon}")] if measure == "ciou" else []
    edits += [("    iou = ", f"    union += {epsilon}\n    iou = ")] if in_union else []
    found = diagnose(variant(style, measure, *edits), measure=measure)
    assert names(found) == ["epsilon in the denominator"], found


@pytest.mark.parametrize("epsilon", ["1e-3", "3e-6", "1e-7"])
@pytest.mark.parametrize("sides", ["wa ha wb hb", "ha hb"])
@pytest.mark.parametrize("measure", MEASURES)
def test_an_epsilon_in_the_sides_is_named(measure, sides, epsilon):
    longer = "".join(f"    {side} += {epsilon}\n" for side in sides.split())
    found = diagnose(
        variant(
            "scalar",
            measure,
            ("    union = ", f"{longer}    union = {epsilon} + "),
            ("    hull = ", f"    hull = {epsilon} + "),
            ("    c2 = ", f"    c2 = {epsilon} + "),
            ("1 - iou + v", f"1 - iou + v + {epsilon}"),
        ),
        measure=measure,
    )
    assert names(found) == ["epsilon in the denominator"], found


@pytest.mark.parametrize("epsilon", ["1e-4", "1e-6"])
def test_denominators_that_are_kept_from_falling_below_an_epsilon_are_named(epsilon):
    floors = [
        (f"    {after} = ", f"    {of} = max({of}, {epsilon})\n    {after} = ")
        for of, after in (("union", "iou"), ("hull", "wasted"))
    ]
    found = diagnose(variant("scalar", "giou", *floors), measure="giou")
    assert names(found) == ["epsilon in the denominator"], found


@pytest.mark.parametrize("shown_as", ["NaN", "ZeroDivisionError"])
def test_no_answer_for_an_empty_union_is_a_mistake(shown_as):
    def function(a, b):
        shared, union = iou.intersection(a, b), iou.union(a, b)
        if shown_as == "NaN":
            return np.float64(shared) / union
        return shared / union

    found = diagnose(function)
    assert [finding.name for finding in found.findings] == ["no answer for an empty union"]
    assert found.findings[0].pair == ((3, 3, 3, 3), (3, 3, 3, 3))
    assert found.findings[0].returned.startswith(shown_as)
    assert found.policies["empty union"].startswith(shown_as)


# Formats.


@pytest.mark.parametrize("fmt", ["xyxy", "xywh", "cxcywh"])
@pytest.mark.parametrize("read_as", ["xyxy", "xywh", "cxcywh"])
def test_a_format_read_as_another_is_named(fmt, read_as):
    expected = [] if fmt == read_as else [f"reads {read_as}"]

    def convert(box):
        return exact.TO_CORNERS[read_as](*box)

    def careless(a, b):
        (ax1, ay1, ax2, ay2), (bx1, by1, bx2, by2) = convert(a), convert(b)
        shared = max(0, min(ax2, bx2) - max(ax1, bx1)) * max(0, min(ay2, by2) - max(ay1, by1))
        union = (ax2 - ax1) * (ay2 - ay1) + (bx2 - bx1) * (by2 - by1) - shared
        return shared / union if union > 0 else 0

    assert names(diagnose(careless, fmt=fmt)) == expected
    assert names(diagnose(lambda a, b: iou.iou(a, b, fmt=read_as), fmt=fmt)) == expected


@pytest.mark.parametrize(("of", "where"), [(0, "first"), (1, "second")])
def test_one_box_in_another_format_is_named(of, where):
    def mixed(*boxes):
        corners = [
            box if i != of else exact.TO_CORNERS["xywh"](*box) for i, box in enumerate(boxes)
        ]
        return iou.iou(*corners)

    assert names(diagnose(mixed)) == [f"reads xywh in the {where} box"]


def test_halves_cut_to_integers_are_named():
    def halves(box):
        x, y, w, h = box
        return x - w // 2, y - h // 2, x + w // 2, y + h // 2

    found = diagnose(lambda a, b: iou.iou(halves(a), halves(b)), fmt="cxcywh")
    assert names(found) == ["halves cut to integers"]


# Two at once.

TOGETHER = [
    "sides not clamped",
    "intersection not subtracted",
    "in percent",
    "adds 1 in the areas only",
    "reads xywh",
]


@pytest.mark.parametrize(
    ("one", "other"),
    list(itertools.combinations(TOGETHER, 2)),
)
def test_two_mistakes_at_once_are_both_named(one, other):
    edits = {name: MISTAKES[name]["one line"] for name in (one, other)}
    edits["in percent"] = [("(lambda i: ", "(lambda i: 100 * ")]
    found = diagnose(edited("one line", *(edit for name in (other, one) for edit in edits[name])))
    assert sorted(names(found)) == sorted([one, other]), found


def test_a_mistake_among_inclusive_pixels_is_named_alone():
    edits = MISTAKES["divides by the smaller area"]["one line"]
    found = diagnose(edited("one line", *PLUS_AREAS["one line"], *PLUS_SHARED["one line"], *edits))
    assert names(found) == ["divides by the smaller area"]
    assert found.policies["sides"].startswith("inclusive")
    # What is right is right by the same convention.
    (finding,) = found.findings
    right = exact.iou(*finding.pair, fmt="xyxy_inclusive")
    assert finding.right == shown(right) != shown(exact.iou(*finding.pair))


@pytest.mark.parametrize(
    ("early", "explanation"),
    [("w <= 0 or h <= 0", "same count as apart"), (None, "share a pixel")],
)
def test_1_added_after_the_clamp_is_named(early, explanation):
    inside = (
        f"0 if {early} else (w + 1) * (h + 1)" if early else "(max(w, 0) + 1) * (max(h, 0) + 1)"
    )
    found = diagnose(edited("one line", *PLUS_AREAS["one line"], ("max(w, 0) * max(h, 0)", inside)))
    assert names(found) == ["adds 1 after the clamp"]
    assert explanation in found.findings[0].explanation


# Arrays of integers.


def careless_table(a, b):
    """Broadcasts, and trusts the type that it is given."""
    a, b = np.asarray(a), np.asarray(b)
    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    shared = np.maximum(sides, 0)[..., 0] * np.maximum(sides, 0)[..., 1]
    areas = [(box[..., 2] - box[..., 0]) * (box[..., 3] - box[..., 1]) for box in (a, b)]
    union = areas[0] + areas[1] - shared
    return shared / np.where(union == 0, 1, union)


def test_integers_that_wrap_are_found_in_functions_that_take_arrays():
    found = diagnose(careless_table)
    assert names(found) == ["unsigned numbers wrap", "integers overflow"]
    assert "uint8" in found.findings[0].explanation
    assert "uint8" in found.findings[0].examples[0].boxes
    assert diagnose(table).passed


def test_a_plain_function_is_not_blamed_for_the_arrays_it_is_given():
    found = diagnose(edited("one line"))
    assert found.passed
    assert "uint8" in found.policies["integers"]
    assert "integers" not in diagnose(iou.iou).policies


# Functions that misbehave.


def endless(a, b):
    while True:
        pass


def stubborn(a, b):
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            return 0.0


def generator(a, b):
    while True:
        yield 1.0


def own_element(a, b):
    result = []
    result.append(result)
    return result


def leaves(a, b):
    sys.exit(3)


def recursive(a, b):
    return recursive(a, b)


class Hostile:
    """Fails at whatever is done with it."""

    def __getattribute__(self, name):
        raise RuntimeError("do not touch")

    def __float__(self):
        raise RuntimeError("do not convert")

    __repr__ = __str__ = __len__ = __float__


class HostileError(Exception):
    def __str__(self):
        raise RuntimeError("do not print")


def fails_hostilely(a, b):
    raise HostileError


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda a, b: None, "returns no number"),
        (lambda a, b: "0.5", "returns no number"),
        (lambda a, b: b"0.5", "returns no number"),
        (lambda a, b: True, "returns no number"),
        (lambda a, b: 1j, "returns no number"),
        (lambda a, b: np.zeros(4), "returns no number"),
        (lambda a, b: [], "returns no number"),
        (lambda a, b: {}, "returns no number"),
        (lambda a, b: float("nan"), "returns no number"),
        (lambda a, b: 10**400, "returns no number"),
        (own_element, "returns no number"),
        (generator, "returns no number"),
        (lambda a, b: Hostile(), "raises an exception"),
        (fails_hostilely, "raises an exception"),
        (leaves, "raises an exception"),
        (recursive, "raises an exception"),
        (lambda: 1, "raises an exception"),
        (lambda a, b: undefined_name, "raises an exception"),  # noqa: F821
        (endless, "no answer in time"),
        (stubborn, "no answer in time"),
    ],
)
def test_whatever_a_function_does_it_is_reported(function, name):
    started = time.monotonic()
    found = diagnose(function, time_limit=0.5)
    assert [finding.name for finding in found.findings] == [name], found
    assert time.monotonic() - started < 30  # Far above the limit: it does come back.
    ET.fromstring(found._repr_html_())
    assert str(found)


def test_an_endless_loop_is_ended():
    before = threading.active_count()
    diagnose(endless, time_limit=0.2)
    for _ in range(1000):
        if threading.active_count() == before:
            break
        time.sleep(0.01)
    assert threading.active_count() == before


def test_a_slow_function_is_told_from_one_that_hangs():
    def slow(a, b):
        time.sleep(0.02)
        return iou.iou(a, b)

    found = diagnose(slow, time_limit=0.4)
    assert [finding.name for finding in found.findings] == ["no answer in time"]
    assert "takes very long" in found.findings[0].explanation
    assert "endless loop" in diagnose(endless, time_limit=0.2).findings[0].explanation


def test_the_time_limit_is_for_all_calls_together():
    caller = Caller(lambda a, b: time.sleep(0.02), 0.1)
    for _ in range(20):
        caller.ask(Form("two tuples", tuple), TELLING[:1])
    assert caller.interrupted_at == TELLING[0]
    assert caller.calls < 20


def test_the_time_that_the_search_takes_is_not_the_functions():
    found = diagnose(lambda a, b: iou.iou(a, b) ** 0.5, measure="ciou", time_limit=1.0)
    assert names(found) == [finding.name for finding in found.findings]


def test_none_where_the_boxes_are_apart_is_reported_with_the_pair():
    def forgetful(a, b):
        if iou.intersection(a, b):
            return iou.iou(a, b)
        return None

    found = diagnose(forgetful)
    assert names(found) == ["returns no number"]
    assert found.findings[0].pair == ((0, 0, 2, 2), (3, 0, 5, 2))
    assert found.findings[0].returned == "None"


def test_an_exception_does_not_hide_a_mistake():
    def both(a, b):
        if not iou.intersection(a, b):
            raise KeyError("apart")
        return iou.intersection(a, b) / (iou.area(a) + iou.area(b))

    found = diagnose(both)
    assert names(found) == ["raises an exception", "intersection not subtracted"]
    assert found.findings[0].returned == "KeyError: 'apart'"


def test_a_function_that_changes_its_input_is_found():
    def in_place(a, b):
        value = iou.iou(a, b)
        if isinstance(a, np.ndarray):
            a += 1
        return value

    found = diagnose(in_place)
    assert names(found) == ["changes its input"]

    def list_in_place(a, b):
        value = iou.iou(a, b)
        a.append(value)
        return value

    assert names(diagnose(list_in_place)) == ["changes its input"]


@pytest.mark.parametrize(
    "container", [lambda v: [v], lambda v: (v,), lambda v: np.array([v]), lambda v: np.array([[v]])]
)
def test_a_number_in_a_container_is_found(container):
    def wrapped(a, b):
        ax1, ay1, ax2, ay2 = a
        return container(iou.iou((ax1, ay1, ax2, ay2), b))

    assert names(diagnose(wrapped)) == ["returns an array"]


def test_an_unknown_mistake_is_shown_by_a_small_pair():
    def odd(a, b):
        value = iou.iou(a, b)
        return value / 3 if value and a[0] == 3 else value

    found = diagnose(odd)
    assert names(found) == ["asymmetric"]

    def odder(a, b):
        value = iou.iou(a, b)
        return value**0.5

    found = diagnose(odder)
    assert names(found) == ["not a known mistake"]
    shrunk, first = found.findings[0].examples
    assert sum(map(abs, itertools.chain(*shrunk.pair))) < sum(
        map(abs, itertools.chain(*first.pair))
    )
    assert shrunk.returned == f"{odder(*shrunk.pair):.6g}"
    assert shrunk.right != shrunk.returned


def test_answers_that_change_are_found():
    answers = itertools.count()
    assert names(diagnose(lambda a, b: next(answers) / 7)) == ["answers change"]


def test_answers_that_are_nearly_right_are_found():
    def half_precision(a, b):
        return np.float16(iou.iou(a, b))

    assert names(diagnose(half_precision)) == ["inaccurate"]


def clipped(limit):
    def function(a, b):
        return iou.iou(*([min(number, limit) for number in box] for box in (a, b)))

    return function


def scaled(factor, within):
    """Multiply where the area of the first box lies in a range."""

    def function(a, b):
        value = iou.iou(a, b)
        return value * factor if within[0] < min(iou.area(a), iou.area(b)) < within[1] else value

    return function


@pytest.mark.parametrize(
    "function",
    [
        *map(clipped, (1000, 500, 350, 255)),
        scaled(0.9, (70_000, math.inf)),
        scaled(0.0, (65_504, math.inf)),
        scaled(math.nan, (65_504, math.inf)),
        *(scaled(0.5, (0, below)) for below in (1e-7, 1e-5, 1e-1)),
        scaled(0.0, (0, 1e-5)),
        scaled(0.0, (0, 1e-7)),
        scaled(2.0, (0, 1e-5)),
    ],
)
def test_what_goes_wrong_at_some_sizes_alone_is_not_explained_by_guessing(function):
    assert names(diagnose(function)) == ["not a known mistake"]


# As xywh, float16 has all numbers of the pairs on which a function is tried first.
@pytest.mark.parametrize("fmt", ["xyxy", "cxcywh", "xyxy_inclusive"])
@pytest.mark.parametrize("measure", MEASURES)
def test_coordinates_in_float16_are_half_precision(measure, fmt):
    def function(a, b):
        return getattr(exact, measure)(*(map(Half, box) for box in (a, b)), fmt=fmt)

    def finite(a, b):
        # Of an infinite box nothing is covered, and a penalty for it is infinity over infinity.
        without_end = 0.0 if measure == "iou" else math.nan
        return function(a, b) if max(*a, *b) < 65504 else without_end

    assert names(diagnose(finite, fmt=fmt, measure=measure)) == ["half precision"]


@pytest.mark.parametrize("measure", MEASURES)
def test_arithmetic_in_float16_is_half_precision(measure):
    function = variant("arrays", measure, ("dtype=float", "dtype=np.float16"))
    assert names(diagnose(function, measure=measure)) == ["half precision"]


@pytest.mark.parametrize("pair", MOVED_IN_HALF)
@pytest.mark.parametrize("fmt", exact.FORMATS)
@pytest.mark.parametrize("measure", MEASURES)
def test_the_boxes_that_tell_float16_are_far_off_in_it(measure, fmt, pair):
    pair = in_format(pair, fmt)
    recipe = right_recipe(fmt, measure)
    (right,) = recipe.answers(*pair)
    for number in (Half, lambda number: float(Half(number))):
        (half,) = recipe.answers(*pair, number)
        assert abs(half - right) > 0.05


@given(st.floats(width=16), st.floats(width=16))
def test_a_half_computes_as_float16_does(first, second):
    for operation in (operator.add, operator.sub, operator.mul, operator.truediv):
        with np.errstate(all="ignore"):
            expected = operation(np.float16(first), np.float16(second))
        if operation is operator.truediv and second == 0:
            continue  # Python raises.
        for one, other in (
            (Half(first), Half(second)),
            (Half(first), second),
            (first, Half(second)),
        ):
            value = operation(one, other)
            assert isinstance(value, Half)
            np.testing.assert_array_equal(value, expected)


@given(st.floats())
def test_a_half_is_rounded_as_float16_is(number):
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(Half(number), np.float16(number))


@pytest.mark.parametrize(
    ("raising", "name"),
    [
        (lambda: np.uint8(300), "integers overflow"),
        (lambda: array.array("b", [200]), "integers overflow"),
        (lambda: array.array("l", [2**80]), "integers overflow"),
        (lambda: (300).to_bytes(1), "integers overflow"),
        (lambda: math.exp(1000), "raises an exception"),
        (lambda: 1e200**2, "raises an exception"),
        (lambda: 10**400 / 3, "raises an exception"),
        (lambda: float(10**400), "raises an exception"),
        (lambda: int(math.inf), "raises an exception"),
    ],
)
def test_an_overflow_is_one_of_integers_only_if_it_says_so(raising, name):
    with pytest.raises(OverflowError):
        raising()
    found = diagnose(lambda a, b: iou.iou(a, b) if a[2] < 200 else raising())
    assert names(found) == [name], found


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"function": 3}, TypeError, "cannot be called"),
        ({"fmt": "yxyx"}, ValueError, "unknown box format"),
        ({"measure": "siou"}, ValueError, "unknown measure 'siou'"),
        ({"time_limit": 0}, ValueError, "time_limit = 0"),
        ({"time_limit": float("nan")}, ValueError, "time_limit = nan"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        diagnose(**{"function": iou.iou, **arguments})


# What a reader sees.


def test_html_is_well_formed_and_says_what_the_text_says():
    function = edited("one line", *MISTAKES["sides not clamped"]["one line"])
    function.__name__ = "<b>&"
    found = diagnose(function)
    page = ET.fromstring(found._repr_html_())
    text = "".join(page.itertext())
    for part in (found.function, found.findings[0].name, found.findings[0].remedy):
        assert part in text
        assert part in str(found)
    listed = ["".join(item.itertext()) for item in page.iterfind("ul/li")]
    assert listed
    assert str(found).splitlines()[-len(listed) :] == [f"  {line}" for line in listed]
    (svg,) = page.iter("{http://www.w3.org/2000/svg}svg")
    rects = svg.findall("{http://www.w3.org/2000/svg}rect")
    assert ["stroke-dasharray" in rect.attrib for rect in rects] == [False, True]
    assert {rect.get("stroke") for rect in rects} == {"currentColor"}
    for child in ("title", "desc"):
        assert svg.find(f"{{http://www.w3.org/2000/svg}}{child}").text


@pytest.mark.parametrize("pair", TELLING + RELATIONS[::7])
def test_a_drawing_is_true_to_scale_and_inside_its_frame(pair):
    svg = ET.fromstring(drawing(pair))
    _, _, width, height = map(float, svg.get("viewBox").split())
    rects = [
        [float(rect.get(key)) for key in ("x", "y", "width", "height")]
        for rect in svg.findall("{http://www.w3.org/2000/svg}rect")
    ]
    assert len(rects) == (3 if exact.intersection(*pair) else 2)
    for x, y, w, h in rects:
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height
    shared, a, b = rects if len(rects) == 3 else ([0, 0, 0, 0], *rects)
    union = a[2] * a[3] + b[2] * b[3] - shared[2] * shared[3]
    assert shared[2] * shared[3] == pytest.approx(float(exact.iou(*pair)) * union, abs=2)


def test_the_text_is_stable():
    function = edited("one line", *MISTAKES["reads xywh"]["one line"])
    assert str(diagnose(function)) == str(diagnose(function))


# From the shell, and without NumPy.


def run_from_shell(*arguments):
    parser = argparse.ArgumentParser()
    shell.add_arguments(parser)
    return shell.run(parser.parse_args(arguments))


def test_the_command_prints_and_gives_the_exit_status(capsys, monkeypatch, tmp_path):
    (tmp_path / "coursework.py").write_text(
        "def dice(a, b):\n    from iou import area, intersection\n"
        "    return 2 * intersection(a, b) / ((area(a) + area(b)) or 1)\n"
        "class Mine:\n    number = 3\n"
        "    def iou(a, b):\n        from iou import iou\n        return iou(a, b, fmt='xywh')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert run_from_shell("coursework:dice") == 1
    assert "Dice instead of IoU" in capsys.readouterr().out
    assert run_from_shell("coursework:Mine.iou", "--fmt", "xywh") == 0
    assert "iou computes IoU." in capsys.readouterr().out
    assert run_from_shell("iou:giou", "--measure", "giou", "--time-limit", "5") == 0
    capsys.readouterr()
    for bad, message in (
        ("coursework", "package.module:function"),
        ("coursework:absent", "AttributeError"),
        ("coursework:Mine.number", "cannot be called"),
        ("no_such_module:f", "ModuleNotFoundError"),
    ):
        assert run_from_shell(bad) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "path", ["mine.py", "./mine.py", "work/mine.py", "C:\\work\\mine.py", "a/mine"]
)
def test_a_file_is_not_a_module_and_its_module_is_told(capsys, monkeypatch, tmp_path, path):
    (tmp_path / "mine.py").write_text("good = 3\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert run_from_shell(f"{path}:good") == 2
    told = capsys.readouterr().err
    assert f"ValueError: write mine:good, in the folder of the file {path}\n" in told


def test_a_module_may_be_called_py(monkeypatch, tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "py.py").write_text("from iou import iou\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert run_from_shell("package.py:iou") == 0


def test_a_module_that_leaves_when_it_is_imported_has_no_function(monkeypatch, tmp_path):
    (tmp_path / "leaving.py").write_text("import sys\n\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert run_from_shell("leaving:iou") == 2


def test_it_runs_where_numpy_does_not():
    """Of the package, the checker needs its own rooms and the definitions, and nothing else."""
    code = f"""
import sys, types

# Whatever is not of the standard library cannot be imported now.
class Only:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top != "alone" and top not in sys.stdlib_module_names:
            raise ImportError(name)

sys.meta_path.insert(0, Only())
package = types.ModuleType("alone")
package.__path__ = [{str(ROOT / "iou")!r}]
sys.modules["alone"] = package
from alone.diagnosis import diagnose, shell

def overlap(a, b):
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h or 1)

diagnosis = diagnose(overlap)
print([finding.name for finding in diagnosis.findings], len(diagnosis._repr_html_()) > 500)
print(sorted(name for name in sys.modules if name.count(".") == 1 and name.startswith("alone.")))
"""
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    assert run.stdout.splitlines() == [
        "['sides not clamped'] True",
        "['alone.diagnosis', 'alone.exact']",
    ]


def imported(source):
    """Name what is imported of the checker itself, wherever in the source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            path = f"{'.' * node.level}{node.module or ''}"
            if path in (".", "iou.diagnosis", "..diagnosis"):
                yield from names
            elif match := re.match(r"(?:\.|iou\.diagnosis\.|\.\.diagnosis\.)(\w+)", path):
                yield match[1]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if match := re.match(r"iou\.diagnosis(?:\.(\w+))?", alias.name):
                    yield match[1]


def test_each_room_of_the_checker_knows_only_those_before_it():
    *rooms, last = re.findall(r"^``(\w+)`` ", iou.diagnosis.__doc__, re.MULTILINE)
    folder = ROOT / "iou" / "diagnosis"
    assert sorted([*rooms, last]) == sorted(path.stem for path in folder.glob("[a-z]*.py"))
    # What the package itself offers is made of all rooms but the last, which uses it.
    order = [*rooms, "__init__", last]
    for number, room in enumerate(order):
        found = set(imported((folder / f"{room}.py").read_text("utf-8")))
        known = {*order[:number], *(iou.diagnosis.__all__ if room == last else ())}
        assert found <= known, room


@pytest.mark.parametrize(
    "source",
    [
        "from .shell import run",
        "from . import shell",
        "from . import pairs, shell",
        "from ..diagnosis import shell",
        "from ..diagnosis.shell import run",
        "import iou.diagnosis.shell",
        "from iou.diagnosis import shell",
        "def late():\n    from .shell import run",
        "if TYPE_CHECKING:\n    from . import shell",
    ],
)
def test_no_import_escapes(source):
    assert "shell" in set(imported(source))
    assert not set(imported("from .. import exact\nfrom ..exact import Corners\nimport math"))


# What is documented.


@pytest.mark.parametrize("name", iou.diagnosis.__all__)
def test_what_the_checker_offers_is_in_the_reference(name):
    reference = (ROOT / "book" / "reference.md").read_text("utf-8")
    thing = getattr(iou.diagnosis, name)
    public = name if name in iou.__all__ else f"iou.diagnosis.{name}"
    kind = "class" if is_dataclass(thing) else "function"
    assert f".. auto{kind}:: {public}\n" in reference
    doc = inspect.getdoc(thing)
    described = re.findall(r"^([a-z]\w*(?:, \w+)*) : ", doc, flags=re.MULTILINE)
    parameters = (
        [field.name for field in fields(thing)]
        if is_dataclass(thing)
        else inspect.signature(thing).parameters
    )
    assert set(", ".join(described).split(", ")) == set(parameters)
    for section in ("Attributes",) if is_dataclass(thing) else ("Returns", "Raises", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in doc


def test_every_policy_is_documented():
    documented = set(re.findall(r'``"([a-z ]+)"``', Diagnosis.__doc__))
    set_somewhere = {
        mistake.policy
        for fmt, measure in itertools.product(exact.FORMATS, MEASURES)
        for mistake in mistakes(fmt, measure)
    } - {""}
    for path in (ROOT / "iou" / "diagnosis").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                of = getattr(node.value, "attr", getattr(node.value, "id", None))
                set_somewhere |= {node.slice.value} if of == "policies" else set()
    assert set_somewhere == documented


def test_without_threads_it_calls_directly(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert diagnose(iou.iou).passed


# The code of others.


def test_what_other_libraries_do_is_reported(peer):
    powerboxes, mask = peer("powerboxes"), peer("pycocotools.mask")
    found = diagnose(lambda a, b: 1 - powerboxes.diou_distance(a, b), measure="diou")
    assert sorted(names(found)) == ["no penalty for boxes apart", "wrong diagonal"]
    found = diagnose(powerboxes.iou_distance)
    assert names(found)[0] == "1 - IoU"
    assert diagnose(lambda a, b: mask.iou(a, b, [0]), fmt="xywh").passed
    crowd = diagnose(lambda a, b: mask.iou(a, b, [1]), fmt="xywh")
    assert names(crowd) == ["divides by the first area"]


def test_shapely_puts_corners_in_order(peer):
    shapely = peer("shapely")

    def polygons(a, b):
        first, second = shapely.box(*a), shapely.box(*b)
        union = first.union(second).area
        return first.intersection(second).area / union if union else 0

    found = diagnose(polygons)
    assert found.passed
    assert found.policies["reversed corners"] == "put in order"
