"""Boxes given by sides: their corners are sums that float64 rounds, and no measure may suffer."""

from fractions import Fraction

import numpy as np
import pytest

import iou as package
from iou import area, ciou, exact, pairwise

ULP = Fraction(1, 2**53)
FORMATS = ["xywh", "cxcywh"]


def decimals(rng, n):
    """Pixels with two decimals, as annotation files have them."""
    return rng.uniform(0, 2000, (n, 2)).round(2), rng.uniform(5, 50, (n, 2)).round(2)


def shares(rng, n):
    """Shares of the picture's size with six decimals."""
    return rng.uniform(0, 1, (n, 2)).round(6), rng.uniform(0.001, 0.1, (n, 2)).round(6)


def far_away(rng, n):
    """Small boxes far from the origin."""
    return 1e8 + rng.uniform(0, 3, (n, 2)), rng.uniform(0.5, 2, (n, 2))


def barely_touching(rng, n):
    """A row of boxes, each of which ends where the next begins, but for the rounding."""
    sides = rng.uniform(0.1, 1, (n, 2))
    return np.cumsum(sides, axis=0) - sides, sides


def every_magnitude(rng, n):
    """Sides from 1e-60 to 1e60, beside coordinates up to 1e60."""
    sign = rng.choice([-1, 1], (n, 2))
    return sign * 10 ** rng.uniform(-60, 60, (n, 2)), 10 ** rng.uniform(-60, 60, (n, 2))


families = pytest.mark.parametrize(
    "family",
    [decimals, shares, far_away, barely_touching, every_magnitude],
    ids=lambda f: f.__name__,
)


def boxes_of(family, n=30):
    return np.hstack(family(np.random.default_rng(11), n))


@families
@pytest.mark.parametrize("fmt", FORMATS)
def test_iou_is_within_9_plus_7_iou_half_ulps_in_every_format(fmt, family):
    boxes = boxes_of(family)
    table = pairwise(boxes, boxes, fmt=fmt)
    for a, row in zip(boxes.tolist(), table.tolist(), strict=True):
        for b, result in zip(boxes.tolist(), row, strict=True):
            value = exact.iou(a, b, fmt=fmt)
            assert abs(Fraction(result) - value) <= (9 + 7 * value) * ULP * value, (a, b)


@families
@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("measure", ["giou", "diou", "ciou"])
def test_the_variants_are_within_16_half_ulps_of_one_in_every_format(measure, fmt, family):
    boxes = boxes_of(family, 15)
    table = pairwise(boxes, boxes, measure, fmt=fmt)
    definition = getattr(exact, measure)
    values = [[definition(a, b, fmt=fmt) for b in boxes.tolist()] for a in boxes.tolist()]
    errors = [
        abs(Fraction(result) - Fraction(value))
        for row, exact_row in zip(table.tolist(), values, strict=True)
        for result, value in zip(row, exact_row, strict=True)
    ]
    assert max(errors) <= 16 * ULP


@families
@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("measure", ["intersection", "union", "iou", "giou", "diou", "ciou"])
def test_a_table_is_symmetric_to_the_bit_and_within_range_in_every_format(measure, fmt, family):
    boxes = boxes_of(family)
    table = pairwise(boxes, boxes, measure, fmt=fmt)
    assert table.tobytes() == table.T.tobytes()
    overlap = pairwise(boxes, boxes, fmt=fmt)
    if measure in ("giou", "diou", "ciou"):
        assert (np.abs(table) <= 1.5).all()
        assert (table <= overlap).all()
    elif measure == "iou":
        assert (np.diag(table) == 1).all()
        assert ((table >= 0) & (table <= 1)).all()
    # Every pair alone has the value that the table has.
    rows = getattr(package, measure)(boxes[:, None], boxes[None], fmt=fmt)
    assert rows.tobytes() == table.tobytes()


@families
@pytest.mark.parametrize("fmt", FORMATS)
def test_an_area_is_the_product_of_the_sides_as_given(fmt, family):
    boxes = boxes_of(family)
    assert area(boxes, fmt=fmt).tolist() == (boxes[:, 2] * boxes[:, 3]).tolist()


@pytest.mark.parametrize("fmt", [*FORMATS, "xyxy_inclusive"])
def test_the_bits_of_a_pair_do_not_depend_on_its_neighbours(fmt):
    """Whole numbers take a shorter way, unless a decimal stands beside them."""
    rng = np.random.default_rng(5)
    whole = rng.integers(0, 40, (40, 4)).astype(float)
    whole[:, 2:] += whole[:, :2] if fmt == "xyxy_inclusive" else 1
    mixed = np.vstack([whole, boxes_of(decimals, 3)])
    mixed[40:, 2:] += 3000 if fmt == "xyxy_inclusive" else 0
    for measure in ("iou", "giou", "diou", "ciou"):
        alone = pairwise(whole, whole, measure, fmt=fmt)
        together = pairwise(mixed, mixed, measure, fmt=fmt)[:40, :40]
        assert together.tobytes() == alone.tobytes(), measure


def test_ciou_keeps_to_its_range_where_the_shapes_could_not_differ_more():
    flat, tall = (0.1, 0.1, 1e9, 0.0), (1e9, 0.1, 0.0, 1e9)
    assert -1.5 <= ciou(flat, tall, fmt="xywh") <= 1
