"""Photographs with labelled boxes, and classical detectors that make real mistakes on them.

The pictures come with scikit-image (``pip install "iou[samples]"``); nothing is downloaded. The
boxes of `coins` and `astronaut` were drawn by eye and lie in ``iou/data``, with the rule they
follow; those of `galaxies`, 275 of very different sizes, are measured. Five detectors look for the
coins, each of them a textbook method of about ten lines, and each is wrong in its own way:

==================== =============================================================================
detector             its mistakes on the coins
==================== =============================================================================
`threshold_coins`    loses a coin to the ground, which is as bright; takes specks for coins
`split_coins`        cuts coins into pieces
`hough_coins`        finds coins several times; draws circles around coins that are not round
`blob_coins`         finds every coin, but knows three sizes only
`watershed_coins`    next to none
==================== =============================================================================

`cascade_faces` looks for faces, and returns every window that a trained cascade says yes to, or one
box for each group of them.

`ledger` is a toy instead of a photograph: four coins and ten predictions, right and wrong in every
way there is.

Boxes are continuous ``xyxy`` corners in pixels: pixel column ``x`` extends from ``x`` to ``x + 1``.

Examples
--------
>>> from iou import pairwise, samples
>>> picture = samples.coins()
>>> found = samples.threshold_coins(picture.image)
>>> table = pairwise(picture.boxes, found.boxes)
>>> table.shape
(24, 26)
>>> int((table.max(axis=1) >= 0.5).sum())
23
"""

# scikit-image says that it is typed, but most of its functions are not.
# mypy: allow-untyped-calls

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dataset import Predictions, Truths
from .table import pairwise

# The classes of the ledger.
COIN, BUTTON = 0, 1

# Smaller connected regions are noise, not even worth a false positive. In pixels.
_SMALLEST_REGION = 20


@dataclass(frozen=True, eq=False)
class Picture:
    """A photograph and its ground truth.

    Attributes
    ----------
    image : ndarray of uint8, shape (H, W) or (H, W, 3)
        Grey levels or RGB.
    boxes : ndarray of float64, shape (N, 4)
        Ground truth as continuous ``xyxy`` corners, in pixels.
    about : Mapping
        Where picture and boxes come from, as in the data file: ``source``, ``picture_licence``,
        ``labelled_by``, ``how``, ``rule``, ``doubt``, ``order``, ``convention`` and more.
    """

    image: NDArray[np.uint8]
    boxes: NDArray[np.float64]
    about: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Detections:
    """What a detector found, the surest first.

    Attributes
    ----------
    boxes : ndarray of float64, shape (N, 4)
        Continuous ``xyxy`` corners, in pixels.
    scores : ndarray of float64, shape (N,)
        Falling. Each detector says what its scores mean; scores of two detectors don't compare.
    """

    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.scores)


def coins() -> Picture:
    """Load a photograph of 24 ancient coins, with a box around each.

    Returns
    -------
    Picture
        Grey levels, shape (303, 384); 24 boxes in reading order, four rows of six. The ground
        is brightest at the top left, where it is as bright as some of the coins.

    Notes
    -----
    Greek coins from Pompeii, Brooklyn Museum; no known copyright restrictions.

    Examples
    --------
    >>> picture = coins()
    >>> picture.image.shape, picture.boxes.shape
    ((303, 384), (24, 4))
    >>> picture.boxes[0]
    array([22., 35., 67., 74.])
    """
    return _load("coins")


def astronaut() -> Picture:
    """Load a portrait of the astronaut Eileen Collins, with a box around her face.

    Returns
    -------
    Picture
        RGB, shape (512, 512, 3); one box.

    Notes
    -----
    NASA Great Images; public domain.

    Examples
    --------
    >>> astronaut().boxes
    array([[180.,  72., 271., 178.]])
    """
    return _load("astronaut")


def galaxies(level: int = 30, least_area: int = 50) -> Picture:
    """Load the Hubble eXtreme Deep Field, with a box around each bright galaxy or star.

    The boxes are measured, not drawn: the picture is made grey, smoothed by a Gaussian of one
    pixel, and cut at one grey level. Two galaxies that touch there share a box.

    Parameters
    ----------
    level : int
        What is brighter belongs to a galaxy; from 0 to 255.
    least_area : int
        Smaller regions get no box. In pixels.

    Returns
    -------
    Picture
        RGB, shape (872, 1000, 3); the boxes of connected regions, by their first row.

    Notes
    -----
    NASA; public domain.

    Examples
    --------
    >>> picture = galaxies()
    >>> sides = picture.boxes[:, 2:] - picture.boxes[:, :2]
    >>> len(sides), sides.min(), sides.max()
    (275, np.float64(5.0), np.float64(97.0))
    """
    from skimage import data, filters, measure

    image = data.hubble_deep_field()
    grey = filters.gaussian(image.mean(axis=2), sigma=1, preserve_range=True)
    regions = measure.regionprops(measure.label(grey > level))
    boxes = [r.bbox for r in regions if r.area >= least_area]
    about = {
        "picture": "skimage.data.hubble_deep_field",
        "source": "NASA, http://hubblesite.org/newscenter/archive/releases/2012/37/image/a/",
        "picture_licence": "public domain (scikit-image, documentation of hubble_deep_field)",
        "how": f"measured: connected regions above {level} of 255, of {least_area} pixels or more",
        "convention": "xyxy, continuous, in pixels",
    }
    return Picture(image, np.reshape(boxes, (-1, 4))[:, [1, 0, 3, 2]].astype(np.float64), about)


def ledger() -> tuple[Truths, Predictions]:
    """Return four coins and ten predictions, to be settled by hand.

    At the threshold 1/2, the predictions are, in falling order of score: true (of coin 0), poor
    placing, true (1), a duplicate (of 0) that lies better than the one before it, true (2),
    background, wrong class (on 3), duplicate (of 2), true (3) with an IoU of exactly 1/2, and
    background.

    Returns
    -------
    truths : Truths
        Four, all of the class ``COIN``, all in image 0.
    predictions : Predictions
        Ten, of which the seventh is of the class ``BUTTON``, the others are of ``COIN``.

    Examples
    --------
    >>> from iou import match
    >>> truths, predictions = ledger()
    >>> match(predictions, truths)
    Matches: 4 true positive, 2 duplicate, 1 wrong class, 1 poor placing, 2 background, 0 missed
    >>> predictions.boxes[8], predictions.scores[8]
    (array([20, 20, 30, 25]), np.float64(0.55))
    """
    truths = Truths(
        [(0, 0, 10, 10), (20, 0, 30, 10), (0, 20, 10, 30), (20, 20, 30, 30)], labels=[COIN] * 4
    )
    rows = [
        ((0, 0, 10, 7), 0.95, COIN),
        ((25, 0, 35, 10), 0.90, COIN),
        ((21, 0, 31, 10), 0.85, COIN),
        ((0, 0, 10, 9), 0.80, COIN),
        ((0, 20, 10, 28), 0.75, COIN),
        ((12, 12, 18, 18), 0.70, COIN),
        ((20, 20, 30, 29), 0.65, BUTTON),
        ((2, 20, 12, 30), 0.60, COIN),
        ((20, 20, 30, 25), 0.55, COIN),
        ((12, 2, 18, 8), 0.50, COIN),
    ]
    boxes, scores, labels = zip(*rows, strict=True)
    return truths, Predictions(boxes, scores, labels=labels)


def threshold_coins(image: NDArray[np.uint8], level: float | None = None) -> Detections:
    """Find coins as connected regions brighter than one grey level.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W)
        Grey levels.
    level : float, optional
        What is brighter belongs to a coin; Otsu's threshold of the image by default. A high level
        eats a coin away bit by bit, a low one lets it grow together with the ground.

    Returns
    -------
    Detections
        Scored by edge contrast: the mean gradient (Sobel magnitude, 1 for a step from black to
        white) along the region's boundary.

    Examples
    --------
    >>> len(threshold_coins(coins().image)), len(threshold_coins(coins().image, level=160))
    (26, 61)
    """
    from skimage import filters, measure

    if level is None:
        level = filters.threshold_otsu(image)
    return _regions(image, measure.label(image > level))


def split_coins(image: NDArray[np.uint8], min_distance: int = 10) -> Detections:
    """Find coins by threshold, then cut regions apart at their waists.

    Watershed on the distance to the ground, the usual way to part objects that touch. Dark relief
    on a coin looks like ground and makes waists where there are none.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W)
        Grey levels.
    min_distance : int
        Least distance between the centres of two pieces, in pixels.

    Returns
    -------
    Detections
        Scored by edge contrast, as in `threshold_coins`.

    Examples
    --------
    >>> len(split_coins(coins().image))
    57
    """
    from scipy import ndimage  # type: ignore[import-untyped]
    from skimage import feature, filters, measure, segmentation

    mask = image > filters.threshold_otsu(image)
    depth = ndimage.distance_transform_edt(mask)
    peaks = feature.peak_local_max(depth, min_distance=min_distance, labels=measure.label(mask))
    markers = np.zeros(image.shape, dtype=np.intp)
    markers[tuple(peaks.T)] = np.arange(1, len(peaks) + 1)
    return _regions(image, segmentation.watershed(-depth, markers, mask=mask))


def watershed_coins(image: NDArray[np.uint8], dark: int = 30, bright: int = 150) -> Detections:
    """Find coins by flooding the gradient from pixels that are surely ground or surely coin.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W)
        Grey levels.
    dark, bright : int
        Pixels below `dark` are surely ground, pixels above `bright` surely coin.

    Returns
    -------
    Detections
        Scored by edge contrast, as in `threshold_coins`.

    Examples
    --------
    >>> len(watershed_coins(coins().image))
    24
    """
    from skimage import filters, measure, segmentation

    ground, coin = 1, 2
    markers = np.where(image < dark, ground, np.where(image > bright, coin, 0))
    flooded = segmentation.watershed(filters.sobel(image), markers)
    return _regions(image, measure.label(flooded == coin))


def hough_coins(image: NDArray[np.uint8], least: float = 0.35) -> Detections:
    """Find coins as circles that many edge pixels vote for.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W)
        Grey levels.
    least : float
        Least score of a circle.

    Returns
    -------
    Detections
        Squares around circles of radius 15 to 35 pixels. Scored by the Hough accumulator: the
        share of the circle's pixels that lie on an edge.

    Examples
    --------
    >>> found = hough_coins(coins().image)
    >>> len(found), round(float(found.scores[0]), 2)
    (43, 0.74)
    """
    from skimage import feature, transform

    radii = np.arange(15, 36)
    votes = transform.hough_circle(feature.canny(image, sigma=2), radii)
    scores, x, y, radius = transform.hough_circle_peaks(
        votes, radii, min_xdistance=5, min_ydistance=5, threshold=least
    )
    # The circle runs through pixels; the box goes round them.
    return _sorted(np.stack([x - radius, y - radius, x + radius + 1, y + radius + 1], 1), scores)


def blob_coins(image: NDArray[np.uint8], least: float = 0.1) -> Detections:
    """Find coins as bright blobs of one of three sizes.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W)
        Grey levels.
    least : float
        Least score of a blob.

    Returns
    -------
    Detections
        Squares of side 28, 45 and 62 pixels. Scored by the scale-normalised Laplacian of Gaussian
        at the blob's centre, for grey levels from 0 to 1.

    Examples
    --------
    >>> found = blob_coins(coins().image)
    >>> sorted(set(np.round(found.boxes[:, 2] - found.boxes[:, 0]).tolist()))
    [28.0, 45.0, 62.0]
    """
    from scipy import ndimage
    from skimage import feature, util

    image = util.img_as_float64(image)
    y, x, sigma = feature.blob_log(
        image, min_sigma=10, max_sigma=22, num_sigma=3, threshold=least
    ).T
    response = {s: -(s**2) * ndimage.gaussian_laplace(image, s) for s in np.unique(sigma)}
    scores = [response[s][int(v), int(u)] for u, v, s in zip(x, y, sigma, strict=True)]
    # A disc of radius r answers most to sigma = r / √2. Its centre is the centre of a pixel.
    x, y, radius = x + 0.5, y + 0.5, sigma * np.sqrt(2)
    return _sorted(np.stack([x - radius, y - radius, x + radius, y + radius], 1), scores)


def cascade_faces(image: NDArray[np.uint8], merge: bool = True) -> Detections:
    """Find faces with a trained cascade of local binary patterns.

    A window slides over the image in every size from 40 pixels up, each a tenth larger than the one
    before. Around a face, many windows say yes.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W) or (H, W, 3)
        Grey levels or RGB.
    merge : bool
        Whether to average groups of windows; groups of fewer than four are dropped. A group is
        what a chain of windows holds together, each with an IoU of at least 0.5 with the next.

    Returns
    -------
    Detections
        Merged boxes, scored by the size of the group; or raw windows, each scored by the number of
        windows, itself included, that have an IoU of at least 0.5 with it.

    Notes
    -----
    The cascade itself only says yes or no. It comes with scikit-image, which has it from OpenCV.
    Its own merging depends on the order in which threads deliver the windows; this one does not.

    Examples
    --------
    >>> picture = astronaut()
    >>> len(cascade_faces(picture.image, merge=False))
    48
    """
    from scipy.sparse import csgraph  # type: ignore[import-untyped]
    from skimage import data, feature

    cascade = feature.Cascade(data.lbp_frontal_face_cascade_filename())
    windows = cascade.detect_multi_scale(
        image,
        scale_factor=1.1,
        step_ratio=1,
        min_size=(40, 40),
        max_size=image.shape[:2],
        min_neighbor_number=1,
        intersection_score_threshold=2,  # no overlap is that large, so nothing is merged
    )
    corners = [(w["c"], w["r"], w["c"] + w["width"], w["r"] + w["height"]) for w in windows]
    boxes = np.array(sorted(corners), dtype=np.float64).reshape(-1, 4)
    agree = pairwise(boxes, boxes) >= 0.5
    if not merge:
        return _sorted(boxes, agree.sum(axis=1))
    _, group = csgraph.connected_components(agree)
    sizes = np.bincount(group)
    means = [boxes[group == g].mean(axis=0) for g in np.flatnonzero(sizes >= 4)]
    return _sorted(np.reshape(means, (-1, 4)), sizes[sizes >= 4])


def _load(name: str) -> Picture:
    from skimage import data

    text = (resources.files(__package__) / "data" / f"{name}.json").read_text(encoding="utf-8")
    about = json.loads(text)
    boxes = np.array(about.pop("boxes"), dtype=np.float64)
    return Picture(getattr(data, name)(), boxes, about)


def _regions(image: NDArray[np.uint8], labels: NDArray[Any]) -> Detections:
    """Box the labelled regions, and score them by the mean gradient along their boundary."""
    from skimage import filters, measure, segmentation

    edge = labels * segmentation.find_boundaries(labels, mode="inner")
    regions = [r for r in measure.regionprops(labels) if r.area >= _SMALLEST_REGION]
    gradient = filters.sobel(image)
    scores = [gradient[edge == region.label].mean() for region in regions]
    boxes = [(x0, y0, x1, y1) for y0, x0, y1, x1 in (region.bbox for region in regions)]
    return _sorted(np.reshape(boxes, (-1, 4)), scores)


def _sorted(boxes: NDArray[Any], scores: Any) -> Detections:
    """Sort by falling score; ties keep their order."""
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-values, kind="stable")
    return Detections(boxes.astype(np.float64)[order], values[order])
