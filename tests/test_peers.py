"""The same boxes, measured by other libraries: ``make peers`` installs them.

Each is asked for what it gets right. Of powerboxes, these are left out: the distances of DIoU and
CIoU, which are relative to the diagonal of the intersection instead of the enclosing box; those
between boxes without area, which are NaN; and 8-bit boxes, whose areas wrap round.
"""

import numpy as np
import pytest

from iou import area, convert, pairwise

KINDS = ["scattered", "grid", "far", "needles"]


def boxes(kind, count, seed):
    """Make boxes of one kind; those on the grid often touch, coincide, or lack area."""
    rng = np.random.default_rng(seed)
    corners = {
        "scattered": lambda: rng.random((count, 2, 2)),
        "grid": lambda: rng.integers(0, 9, (count, 2, 2)).astype(float),
        "far": lambda: 1e6 + rng.random((count, 2, 2)),
        "needles": lambda: rng.random((count, 2, 2)) * [1e-3, 1e3],
    }[kind]()
    return np.sort(corners, axis=1).reshape(count, 4)


def two_sets(kind, solid=False):
    """Two sets of boxes, of different sizes so that rows and columns cannot be mixed up."""
    sets = boxes(kind, 60, seed=1), boxes(kind, 50, seed=2)
    return tuple(side[area(side) > 0] for side in sets) if solid else sets


@pytest.mark.parametrize("kind", ["scattered", "grid"])
def test_shapely_finds_the_same_intersections_and_unions_of_polygons(peer, kind):
    shapely = peer("shapely")
    sets = two_sets(kind)
    a, b = (shapely.box(*side.T) for side in sets)
    for measure in ("intersection", "union"):
        expected = shapely.area(getattr(shapely, measure)(a[:, None], b))
        np.testing.assert_allclose(pairwise(*sets, measure), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", ["scattered", "grid"])
def test_shapely_finds_the_same_iou_giou_and_diou_of_polygons(peer, kind):
    shapely = peer("shapely")
    sets = two_sets(kind, solid=True)
    a, b = (shapely.box(*side.T) for side in sets)
    together = shapely.union(a[:, None], b)
    hull = shapely.envelope(together)
    x_min, y_min, x_max, y_max = np.moveaxis(shapely.bounds(hull), -1, 0)
    distance = shapely.distance(shapely.centroid(a)[:, None], shapely.centroid(b))
    iou = shapely.area(shapely.intersection(a[:, None], b)) / shapely.area(together)
    giou = iou - shapely.area(shapely.difference(hull, together)) / shapely.area(hull)
    diou = iou - (distance / np.hypot(x_max - x_min, y_max - y_min)) ** 2
    for measure, expected in (("iou", iou), ("giou", giou), ("diou", diou)):
        np.testing.assert_allclose(pairwise(*sets, measure), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_pycocotools_finds_the_same_iou(peer, kind):
    mask = peer("pycocotools.mask")
    detections, truths = (convert(side, to="xywh") for side in two_sets(kind))
    # None of the truths is a crowd, of which it would take another measure.
    expected = mask.iou(detections, truths, [False] * len(truths))
    result = pairwise(detections, truths, fmt="xywh")
    # Corners are rounded in one order here and in another there.
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-9 if kind == "far" else 1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("measure", ["iou", "giou"])
def test_powerboxes_finds_the_same_distances(peer, measure, kind):
    powerboxes = peer("powerboxes")
    a, b = two_sets(kind, solid=True)
    expected = getattr(powerboxes, f"{measure}_distance")(a, b)
    np.testing.assert_allclose(1 - pairwise(a, b, measure), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    "dtype", ["float32", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
)
def test_powerboxes_finds_the_same_measures_of_its_other_types(peer, dtype):
    powerboxes = peer("powerboxes")
    a, b = (side.astype(dtype) for side in two_sets("grid", solid=True))
    np.testing.assert_array_equal(area(a), powerboxes.boxes_areas(a))
    np.testing.assert_allclose(1 - pairwise(a, b), powerboxes.iou_distance(a, b), atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fmt", ["xyxy", "xywh", "cxcywh"])
@pytest.mark.parametrize("to", ["xyxy", "xywh", "cxcywh"])
def test_powerboxes_converts_to_the_same_numbers(peer, to, fmt, kind):
    powerboxes = peer("powerboxes")
    given = convert(boxes(kind, 60, seed=1), to=fmt)
    result = convert(given, fmt=fmt, to=to)
    np.testing.assert_allclose(result, powerboxes.box_convert(given, fmt, to), rtol=1e-9)
