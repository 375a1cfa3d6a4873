"""The race of the DIoU paper: its cases, and each departure of the released gradients."""

import re
import tracemalloc

import numpy as np
import pytest

from iou import iou, loss_and_gradient, race

MEASURES = list(race.RELEASED)
DEPARTURES = [(measure, name) for measure in MEASURES for name in race.RELEASED[measure]]
PRED, TARGET = race.cases(12, seed=1)


def gradients(measure, departures=(), pred=PRED, target=TARGET, alpha="constant"):
    """By the rule of the race, in the format cxcywh, shape (n, 4)."""
    shape = np.broadcast_shapes(pred.shape, target.shape)
    columns = [np.broadcast_to(boxes, shape).reshape(-1, 4).T.copy() for boxes in (pred, target)]
    overlap, gradient = race.gradient_rule(measure, departures, alpha)(columns[1])(columns[0])
    expected = iou(columns[0].T, columns[1].T, fmt="cxcywh")
    np.testing.assert_allclose(overlap, expected, rtol=0, atol=1e-13)
    return gradient.T


# The cases.


def test_the_cases_are_those_of_the_paper():
    pred, target = race.cases()
    assert np.broadcast_shapes(pred.shape, target.shape) == (5000, 7, 7, 7, 4)
    assert 5000 * 7**3 == 1_715_000
    np.testing.assert_allclose(target[..., 2] * target[..., 3], 1)
    ratio, area = pred[..., 2] / pred[..., 3], pred[..., 2] * pred[..., 3]
    expected = [0.25, 1 / 3, 0.5, 1, 2, 3, 4]
    np.testing.assert_allclose(target[:, 0, 0, 2] / target[:, 0, 0, 3], expected)
    np.testing.assert_allclose(ratio, np.broadcast_to(expected, ratio.shape))
    np.testing.assert_allclose(area[0, 0, :, 0], [0.5, 0.67, 0.75, 1, 1.33, 1.5, 2])
    distance = np.hypot(*(pred[:, 0, 0, 0, :2] - 10).T)
    assert distance.max() <= 3
    # Uniform over a disc: a quarter of it lies within half its radius.
    assert np.mean(distance < 1.5) == pytest.approx(1 / 4, abs=0.03)
    apart = iou(pred[:200], target, fmt="cxcywh") == 0
    assert 0.8 < apart.mean() < 0.87
    error = np.abs(pred - target).sum()
    assert error == pytest.approx(6.6e6, rel=0.03)


def test_the_schedule_has_200_steps():
    assert len(race.RATES) == 200
    assert [race.RATES[k] for k in (0, 159, 160, 179, 180, 199)] == [
        0.1,
        0.1,
        0.01,
        0.01,
        1e-3,
        1e-3,
    ]


def test_a_seed_makes_the_race_again():
    first, again, other = (
        race.run("giou", ["whole_edges"], centres=2, seed=seed, rates=[0.1] * 5)
        for seed in (3, 3, 4)
    )
    assert first.boxes.tobytes() == again.boxes.tobytes()
    assert first.error.tobytes() == again.error.tobytes()
    assert first.error[0] != other.error[0]


# The gradients.


@pytest.mark.parametrize(
    ("measure", "alpha"),
    [(measure, "constant") for measure in MEASURES]
    + [("ciou", alpha) for alpha in ("differentiated", "gated")],
)
def test_without_departures_the_gradient_is_that_of_the_loss(measure, alpha):
    expected = loss_and_gradient(PRED, TARGET, measure, fmt="cxcywh", alpha=alpha)[1]
    found = gradients(measure, alpha=alpha).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("measure", "name"), DEPARTURES)
def test_each_departure_changes_the_gradient_alone(measure, name):
    plain, departed = gradients(measure), gradients(measure, [name])
    differ = np.abs(plain - departed).max(axis=0) > 1e-9
    in_centre = name in ("signed_intersection", "hull_sign", "hull_both_sides")
    in_sides = name != "hull_sign"
    assert differ.tolist() == [in_centre, in_centre, in_sides, in_sides]
    assert race.__doc__.count(f"``{name}``") == 1


def one(measure, departures, pred, target=(10, 10, 1, 1)):
    """A gradient, of one case."""
    pred, target = (np.array([box], dtype=float) for box in (pred, target))
    return gradients(measure, departures, pred, target)[0]


def test_whole_edges_double_the_slope_in_the_sides():
    plain, whole = (
        one("iou", [], (10.3, 10.2, 1, 2)),
        one("iou", ["whole_edges"], (10.3, 10.2, 1, 2)),
    )
    np.testing.assert_array_equal(whole, plain * [1, 1, 2, 2])


def test_a_signed_intersection_leaves_no_pull_between_boxes_side_by_side():
    # Two unit boxes with a gap s: U = 1 + 1 + s is C, so that U / C stays what it is.
    for gap in (0.25, 1, 3):
        pred = (11 + gap, 10, 1, 1)
        assert one("giou", [], pred)[0] == pytest.approx(2 / (2 + gap) ** 2)
        assert one("giou", ["signed_intersection"], pred)[0] == pytest.approx(0, abs=1e-15)


def test_a_signed_intersection_is_an_area_where_boxes_are_apart_on_both_axes():
    # Sides of −1 and −2 make an intersection of 2: U = 1 + 1 − 2 is 0, and C = 3 · 4 = 12.
    # In the left edge, A has the slope −1 and I has −(−2): dU = −3. C is fixed there.
    gradient = one("giou", ["signed_intersection"], (12, 13, 1, 1))
    # In the right edge, A has the slope 1, I none, and U/C² dC is 0.
    left, right = 3 / 12, -1 / 12
    assert gradient[0] == pytest.approx(left + right)
    assert gradient[2] == pytest.approx((right - left) / 2)


def test_departures_of_the_hull_in_numbers():
    # d² = 4, the hull is 3 by 1, c² = 10. With the right edge outermost, the hull's width follows
    # the centre by 1 and the side by 1/2.
    pred, d2, c2 = (12, 10.25, 1, 0.5), 4 + 1 / 16, 10
    of_hull = -2 * d2 / c2**2
    pull = 2 * 2 / c2
    assert one("diou", [], pred)[0] == pytest.approx(pull + of_hull * 3)
    assert one("diou", ["hull_sign"], pred)[0] == pytest.approx(pull - of_hull * 3)
    assert one("diou", ["hull_both_sides"], pred)[0] == pytest.approx(pull + of_hull * (3 + 1))
    assert one("diou", [], pred)[2] == pytest.approx(of_hull * 3 / 2)
    assert one("diou", ["hull_both_sides"], pred)[2] == pytest.approx(of_hull * (3 + 1) / 2)
    assert one("diou", ["hull_spanning"], pred)[2] == pytest.approx(of_hull * 3 / 2)


def test_a_prediction_that_spans_its_target_is_taken_to_shrink_the_hull():
    pred = (10.25, 10, 4, 0.5)
    plain, spanning = one("diou", [], pred), one("diou", ["hull_spanning"], pred)
    of_hull = -2 * 0.25**2 / (4**2 + 1) ** 2
    assert plain[2] - spanning[2] == pytest.approx(2 * of_hull * 4)
    np.testing.assert_array_equal(np.delete(plain, 2), np.delete(spanning, 2))


def test_the_denominator_is_the_square_of_the_diagonal():
    pred = (10, 10, 4, 3)
    aspect = one("ciou", [], pred) - one("diou", [], pred)
    without = one("ciou", ["no_denominator"], pred) - one("diou", [], pred)
    assert np.abs(aspect[2:]).min() > 0
    np.testing.assert_allclose(without, aspect * 25, rtol=1e-12)


def test_the_epsilon_matters_where_boxes_nearly_agree():
    pred = (10, 10, 1.0003, 1)
    aspect, cut = (one("ciou", name, pred) - one("diou", [], pred) for name in ([], ["epsilon"]))
    rest = 1 - 1 / 1.0003
    v = (2 / np.pi * (np.pi / 4 - np.arctan(1.0003))) ** 2
    np.testing.assert_allclose(cut[2:] / aspect[2:], (rest + v) / (rest + v + 1e-7), rtol=1e-6)
    assert not np.allclose(cut, aspect, rtol=1e-4, atol=0)


# The race.


def test_the_release_and_the_verified_gradients_part_as_published():
    ends = {}
    for measure in MEASURES:
        for departures in ((), race.RELEASED[measure]):
            error = race.run(measure, departures, centres=20, seed=2).error / (20 * 343)
            assert error[0] == pytest.approx(3.85, rel=0.1)
            ends[measure, departures != ()] = error[-1]
    # Published, by case: 3.4 for the IoU, 0.87 for the GIoU, about 0 for the others.
    assert ends["iou", True] > 2.5
    assert 0.5 < ends["giou", True] < 1.3
    assert ends["diou", True] < 0.01
    assert ends["ciou", True] < 0.01
    # With the gradient of the GIoU itself, it arrives too.
    assert ends["giou", False] < 0.05
    assert ends["iou", False] > 2.5
    assert ends["ciou", False] < ends["diou", False] < 0.1


def test_memory_grows_with_the_boxes():
    tracemalloc.start()
    race.run("ciou", centres=100, rates=[0.1] * 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Of the whole race, with 5000 centres, that makes less than 2 GiB.
    assert peak < 300 * 100 * 343 + 2**25


def test_what_cannot_be_meant_is_refused():
    for arguments, message in {
        ("eiou", ("whole_edges",)): "unknown loss 'eiou'; known are 'iou', 'giou', 'diou', 'ciou'",
        ("eiou", ()): "unknown loss 'eiou'; known are 'iou', 'giou', 'diou', 'ciou'",
        ("iou", ("epsilon",)): "iou has no departure 'epsilon'; it has 'whole_edges'",
    }.items():
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            race.run(*arguments, centres=1)
    with pytest.raises(ValueError, match=r"^unknown alpha 'none'; known are "):
        race.run("ciou", ("epsilon",), centres=1, alpha="none")
    for departures in ((), ("whole_edges",)):
        with pytest.raises(ValueError, match=r"^alpha belongs to the loss 'ciou', not to 'iou'$"):
            race.run("iou", departures, centres=1, alpha="gated")
    gated = [
        race.run("ciou", name, centres=2, alpha="gated", rates=[0.1] * 9).boxes.tolist()
        for name in ((), ("epsilon",))
    ]
    assert gated[0] != gated[1]
