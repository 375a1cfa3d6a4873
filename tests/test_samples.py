import json
from fractions import Fraction
from importlib import resources

import numpy as np
import pytest
from scipy import ndimage
from skimage import color, filters

import iou
from iou import exact, pairwise, samples

COIN_DETECTORS = {
    "threshold": samples.threshold_coins,
    "split": samples.split_coins,
    "watershed": samples.watershed_coins,
    "hough": samples.hough_coins,
    "blob": samples.blob_coins,
}


@pytest.fixture(scope="module")
def coins():
    return samples.coins()


@pytest.fixture(scope="module")
def astronaut():
    return samples.astronaut()


@pytest.fixture(scope="module")
def found(coins):
    return {name: detect(coins.image) for name, detect in COIN_DETECTORS.items()}


@pytest.fixture(scope="module")
def tables(coins, found):
    return {name: pairwise(coins.boxes, found[name].boxes) for name in found}


@pytest.mark.parametrize("name", ["coins", "astronaut"])
def test_a_data_file_says_where_everything_comes_from(name):
    path = resources.files("iou") / "data" / f"{name}.json"
    entry = json.loads(path.read_text(encoding="utf-8"))
    prose = "source picture_licence labelled_by label_licence how rule doubt order convention"
    for field in ("picture", "object", *prose.split()):
        assert entry[field].strip(), field
    assert entry["picture"] == f"skimage.data.{name}"
    picture = getattr(samples, name)()
    assert entry["size"] == [picture.image.shape[1], picture.image.shape[0]]
    assert picture.boxes.tolist() == entry["boxes"]
    assert set(picture.about) == set(entry) - {"boxes"}


@pytest.mark.parametrize(("name", "count"), [("coins", 24), ("astronaut", 1)])
def test_labels_are_boxes_of_whole_pixels_inside_the_picture(name, count):
    picture = getattr(samples, name)()
    height, width = picture.image.shape[:2]
    assert picture.image.dtype == np.uint8
    assert picture.boxes.dtype == np.float64
    assert picture.boxes.shape == (count, 4)
    assert (picture.boxes == np.round(picture.boxes)).all()
    assert (picture.boxes[:, :2] >= 0).all()
    assert (picture.boxes[:, 2:] <= (width, height)).all()
    assert (picture.boxes[:, 2:] - picture.boxes[:, :2] > 30).all()


def test_a_galaxy_s_box_is_the_smallest_around_what_is_bright():
    picture = samples.galaxies(level=30, least_area=50)
    grey = filters.gaussian(picture.image.mean(axis=2), sigma=1, preserve_range=True)
    bright, _ = ndimage.label(grey > 30, structure=np.ones((3, 3)))
    for x0, y0, x1, y1 in picture.boxes.astype(int):
        crop = bright[y0:y1, x0:x1]
        first, *others = (set(edge) - {0} for edge in (crop[0], crop[-1], crop[:, 0], crop[:, -1]))
        (region,) = first.intersection(*others)
        assert (crop == region).sum() == (bright == region).sum() >= 50


def test_fewer_galaxies_are_brighter_or_larger():
    count = len(samples.galaxies().boxes)
    assert len(samples.galaxies(level=60).boxes) < count
    assert len(samples.galaxies(least_area=100).boxes) < count
    assert samples.galaxies(level=255).boxes.shape == (0, 4)


def test_coins_come_in_reading_order(coins):
    rows = coins.boxes.reshape(4, 6, 4)
    assert (np.diff(rows[..., 0], axis=1) > 0).all(), "left to right"
    assert (rows[:-1, :, 3].max(axis=1) < rows[1:, :, 1].min(axis=1)).all(), "top to bottom"


def test_coins_do_not_overlap(coins):
    assert (pairwise(coins.boxes, coins.boxes) == np.eye(24)).all()


SIDES = ["x_min", "y_min", "x_max", "y_max"]


def row_of_pixels(image, box, side, outward):
    """Grey levels of the row or column of pixels just inside an edge, or so many further out."""
    x0, y0, x1, y1 = map(int, box)
    return {
        "x_min": lambda: image[y0:y1, x0 - outward],
        "y_min": lambda: image[y0 - outward, x0:x1],
        "x_max": lambda: image[y0:y1, x1 - 1 + outward],
        "y_max": lambda: image[y1 - 1 + outward, x0:x1],
    }[side]().astype(float)


def is_on_the_rim(image, box, side):
    """Whether the row of pixels just inside an edge has coin in it, and the next one outside not.

    Rows are compared with the ground, two rows outside, over their best three neighbouring pixels
    of the middle, where a coin touches its box. A coin is as bright as the median in its box.
    """
    at_edge, beyond, ground = (row_of_pixels(image, box, side, k) for k in (0, 1, 2))
    middle = slice(len(ground) // 5, -(len(ground) // 5))
    x0, y0, x1, y1 = map(int, box)
    contrast = np.median(image[y0:y1, x0:x1]) - np.median(ground[middle])
    rise, rise_beyond = (
        np.convolve((row - ground)[middle], np.full(3, 1 / 3), "valid").max()
        for row in (at_edge, beyond)
    )
    return rise > 0.45 * contrast and rise_beyond < 0.6 * contrast


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("number", range(24))
def test_a_labelled_edge_lies_on_the_rim_of_its_coin(coins, number, side):
    assert is_on_the_rim(coins.image, coins.boxes[number], side)


@pytest.mark.parametrize("grow", [-3, -2, -1, 1, 2, 3])
def test_boxes_drawn_wrong_by_a_pixel_would_be_noticed(coins, grow):
    boxes = coins.boxes + grow * np.array([-1, -1, 1, 1])
    inside = [box for box in boxes if box[2] < coins.image.shape[1] - 2]
    right = [[is_on_the_rim(coins.image, box, side) for side in SIDES] for box in inside]
    assert not np.all(right, axis=1).any(), "no box would pass"
    assert np.mean(right) < 0.15


def test_the_picture_is_steepest_across_the_labelled_edges(coins):
    def mean_step(grow):
        boxes = coins.boxes + grow * np.array([-1, -1, 1, 1])
        inside = [box for box in boxes if box[2] < coins.image.shape[1]]
        across = [
            row_of_pixels(coins.image, box, side, 0) - row_of_pixels(coins.image, box, side, 1)
            for box in inside
            for side in SIDES
        ]
        return np.mean([np.convolve(row, np.full(5, 0.2), "valid").max() for row in across])

    labelled = mean_step(0)
    assert labelled > 50
    assert labelled > 1.2 * max(mean_step(1), mean_step(2))
    assert labelled > 2.5 * max(mean_step(3), mean_step(4))


def test_an_outline_that_had_no_part_in_the_labels_agrees_with_them(coins, found):
    best = pairwise(coins.boxes, found["watershed"].boxes).max(axis=1)
    assert best.min() > 0.95


def test_the_face_is_skin_and_reaches_the_hair_and_the_chin(astronaut):
    x0, y0, x1, y1 = astronaut.boxes[0].astype(int)
    lightness = color.rgb2lab(astronaut.image)[..., 0]
    middle = (y0 + y1) // 2
    # Hair on both sides at the height of the cheekbones, and the shadow under the chin.
    cheekbones = slice(y0 + 36, y0 + 46)
    for inside, outside in ((x0 + 4, x0 - 4), (x1 - 5, x1 + 4)):
        columns = lightness[cheekbones, inside].mean(), lightness[cheekbones, outside].mean()
        assert columns[0] > columns[1] + 15
    chin = slice(215, 231)
    assert lightness[y1 - 5, chin].mean() > lightness[y1 + 1, chin].mean() + 15
    assert lightness[middle, x0 + 20 : x1 - 20].mean() > 50


@pytest.mark.parametrize("name", COIN_DETECTORS)
def test_detections_are_sorted_boxes(found, name):
    d = found[name]
    assert d.boxes.dtype == d.scores.dtype == np.float64
    assert d.boxes.shape == (len(d), 4)
    assert d.scores.shape == (len(d),)
    assert (np.diff(d.scores) <= 0).all()
    assert ((d.scores > 0) & (d.scores <= 1)).all()
    assert (iou.area(d.boxes) >= 20).all()


@pytest.mark.parametrize("name", COIN_DETECTORS)
def test_detectors_repeat_themselves_and_leave_the_image_alone(coins, found, name):
    before = coins.image.copy()
    again = COIN_DETECTORS[name](coins.image)
    assert (again.boxes == found[name].boxes).all()
    assert (again.scores == found[name].scores).all()
    assert (coins.image == before).all()


@pytest.mark.parametrize("name", COIN_DETECTORS)
def test_a_mirrored_picture_gives_mirrored_boxes(coins, found, name):
    """Half a pixel of a shift in a detector's convention would show here."""
    width = coins.image.shape[1]
    mirrored = COIN_DETECTORS[name](np.ascontiguousarray(coins.image[:, ::-1])).boxes
    back = mirrored[:, [2, 1, 0, 3]] * (-1, 1, -1, 1) + (width, 0, width, 0)
    agree = pairwise(found[name].boxes, back).max(axis=1) > 0.99
    # The pieces of a split coin, and which of two equal circles wins, depend on the direction.
    assert agree.mean() > {"split": 0.6, "hough": 0.6}.get(name, 0.99)


@pytest.mark.parametrize("name", COIN_DETECTORS)
def test_detectors_find_nothing_on_an_even_ground(name):
    flat = np.full((80, 80), 100, dtype=np.uint8)
    assert len(COIN_DETECTORS[name](flat)) == 0


@pytest.mark.parametrize("name", COIN_DETECTORS)
def test_detectors_box_a_perfect_coin(name):
    y, x = np.mgrid[:90, :100]
    disc = (x - 45) ** 2 + (y - 40) ** 2 <= 22**2
    picture = np.where(disc, 180, 20).astype(np.uint8)
    best = pairwise([[23, 18, 68, 63]], COIN_DETECTORS[name](picture).boxes).max()
    assert best == 1 if name in ("threshold", "split", "watershed") else best > 0.9


def test_threshold_loses_one_coin_to_the_ground(found, tables):
    table = tables["threshold"]
    assert len(found["threshold"]) == 26
    assert np.flatnonzero(table.max(axis=1) < 0.5).tolist() == [0]
    assert (table[1:].max(axis=1) > 0.9).all()
    # The region that swallowed coin 0 reaches past the other coins of the first row.
    swallowed = found["threshold"].boxes[table[0].argmax()]
    assert swallowed[2] - swallowed[0] > 200
    assert (table.max(axis=0) == 0).sum() == 2, "specks"


def test_a_rising_threshold_eats_a_coin_away(coins):
    best = [
        pairwise(coins.boxes[20:21], samples.threshold_coins(coins.image, level).boxes).max()
        for level in (100, 120, 140, 150, 180)
    ]
    assert best == sorted(best, reverse=True)
    assert best[0] > 0.95
    assert 0.5 < best[2] < 0.7
    assert best[-1] < 0.1


def test_split_cuts_coins_into_pieces(coins, found, tables):
    assert len(found["split"]) == 57
    assert 15 < (tables["split"].max(axis=1) >= 0.5).sum() < 24
    pieces = iou.intersection(found["split"].boxes[:, None], coins.boxes)
    inside = (pieces == iou.area(found["split"].boxes)[:, None]).sum(axis=0)
    assert inside.max() >= 5


def test_hough_finds_coins_more_than_once(found, tables):
    hits = (tables["hough"] >= 0.5).sum(axis=1)
    assert len(found["hough"]) == 43
    assert hits.min() == 1
    assert (hits > 1).sum() >= 5
    sides = found["hough"].boxes[:, 2:] - found["hough"].boxes[:, :2]
    assert (sides[:, 0] == sides[:, 1]).all()


def test_blobs_are_on_every_coin_but_loose(found, tables):
    best = tables["blob"].max(axis=1)
    assert len(found["blob"]) == 24
    assert best.min() >= 0.5
    assert best.max() < 0.95
    assert (best < 0.75).sum() > 5


def test_watershed_finds_every_coin_once(found, tables):
    assert len(found["watershed"]) == 24
    assert ((tables["watershed"] > 0.95).sum(axis=1) == 1).all()


def test_the_cascade_says_yes_to_many_windows_around_the_face(astronaut):
    raw = samples.cascade_faces(astronaut.image, merge=False)
    to_face = pairwise(astronaut.boxes, raw.boxes)[0]
    assert len(raw) == 48
    assert (np.ptp(raw.boxes.reshape(-1, 2, 2), axis=1)[:, 0] >= 40).all()
    assert 15 < (to_face >= 0.5).sum() < 48
    assert to_face.max() > 0.8
    assert (to_face == 0).any(), "false alarms"
    assert to_face[0] > 0.5, "the window with the most votes is on the face"
    assert raw.scores.min() >= 1


def test_merged_windows_leave_the_face_on_top(astronaut):
    raw = samples.cascade_faces(astronaut.image, merge=False)
    merged = samples.cascade_faces(astronaut.image)
    assert 1 <= len(merged) <= 4
    assert pairwise(astronaut.boxes, merged.boxes)[0, 0] > 0.7
    assert (np.diff(merged.scores) <= 0).all()
    assert merged.scores.min() >= 4
    assert merged.scores.sum() <= len(raw)
    again = samples.cascade_faces(astronaut.image)
    assert (again.boxes == merged.boxes).all()


def test_no_face_gives_no_boxes():
    found = samples.cascade_faces(np.zeros((90, 90), dtype=np.uint8))
    assert found.boxes.shape == (0, 4)
    assert found.scores.shape == (0,)


def test_the_ledger_has_a_prediction_of_every_kind():
    truths, predictions = samples.ledger()
    assert truths.boxes.tolist() == [
        [0, 0, 10, 10],
        [20, 0, 30, 10],
        [0, 20, 10, 30],
        [20, 20, 30, 30],
    ]
    assert (truths.labels == samples.COIN).all()
    assert (np.diff(predictions.scores) < 0).all(), "no ties, the surest first"

    table = iou.match(predictions, truths, iou_threshold=Fraction(1, 2))
    assert table.outcome.tolist() == [
        "true positive",
        "poor placing",
        "true positive",
        "duplicate",
        "true positive",
        "background",
        "wrong class",
        "duplicate",
        "true positive",
        "background",
    ]
    assert table.nearest.tolist() == [0, 1, 1, 0, 2, -1, 3, 2, 3, -1]
    assert table.truth.tolist() == [0, -1, 1, -1, 2, -1, -1, -1, 3, -1]


def test_the_ledger_is_telling():
    truths, predictions = samples.ledger()
    scores = [
        exact.iou(box, truth)
        for box, truth in zip(
            predictions.boxes.tolist(),
            truths.boxes[[0, 1, 1, 0, 2, 0, 3, 2, 3, 0]].tolist(),
            strict=True,
        )
    ]
    assert [str(score) for score in scores] == [
        "7/10",
        "1/3",
        "9/11",
        "9/10",
        "4/5",
        "0",
        "9/10",
        "2/3",
        "1/2",
        "0",
    ]
    assert scores[3] > scores[0], "the duplicate lies better than what it repeats"
    strict = iou.match(predictions, truths, strict=True)
    assert strict.outcome[8] == "poor placing", "it only just reaches the threshold"


def test_precision_and_recall_of_the_ledger_are_those_of_the_book():
    truths, predictions = samples.ledger()
    table = iou.match(predictions, truths)
    everything = iou.precision_recall(table)
    assert everything.true_positives.tolist() == [1, 1, 2, 2, 3, 3, 3, 3, 4, 4]
    coins = iou.precision_recall(table, samples.COIN)
    assert coins.true_positives.tolist() == [1, 1, 2, 2, 3, 3, 3, 4, 4]
    assert coins.positives == 4
    assert iou.average_precision(coins, "voc") == pytest.approx((1 + 2 / 3 + 3 / 5 + 4 / 8) / 4)
    buttons = iou.precision_recall(table, samples.BUTTON)
    assert buttons.true_positives.tolist() == [0]
    assert np.isnan(iou.average_precision(buttons))
