"""Losses and their gradients, held against differences of the definitions, and the descent.

The definitions of :mod:`iou.exact` are differenced in Fractions, and the CIoU, which needs an
arctangent, in mpmath: with steps so small, the central difference is the gradient to 20 digits, and
at a kink the mean of the one-sided slopes.
"""

import itertools
import json
import math
import re
import tracemalloc
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import iou
from iou import convert, descend, exact, formulas, loss, loss_and_gradient, losses

MEASURES = ["iou", "giou", "diou", "ciou"]
ALPHAS = ["constant", "differentiated", "gated"]
FORMATS = list(exact.FORMATS)
FURTHER = ["eiou", "alpha_iou", "mpdiou", "nwd"]
LOSSES = [(name, "constant") for name in [*MEASURES, *FURTHER]]
LOSSES += [("ciou", alpha) for alpha in ALPHAS[1:]]
# An odd denominator keeps the steps off the edges of the other box.
STEP = Fraction(1, 3**60)
RATES = np.repeat([0.1, 0.01, 0.001], [30, 10, 10])
CASES = json.loads((Path(__file__).parent / "data" / "cases.json").read_text(encoding="utf-8"))

every_loss = pytest.mark.parametrize(("measure", "alpha"), LOSSES)
every_format = pytest.mark.parametrize("fmt", FORMATS)


def parameters(measure, alpha="constant", scale=1.0):
    """What a loss takes besides boxes, for boxes of some scale."""
    own = {
        "alpha_iou": {"power": 3},
        "mpdiou": {"image": (8 * scale, 6 * scale)},
        "nwd": {"constant": 2.5 * scale},
    }
    return {"alpha": alpha, **own.get(measure, {})}


# The oracle.


def definition(measure, alpha, pred, target, fmt):
    """The loss as a function of the prediction, with α held at its value for `pred` if it is."""
    if measure in FURTHER:
        return lambda moved: further_definition(measure, moved, target, fmt)
    if measure != "ciou":
        return lambda moved: 1 - getattr(exact, measure)(moved, target, fmt=fmt)

    def v_and_rest(box):
        with mpmath.workdps(120):
            angles = []
            for corners in (exact.corners(box, fmt), exact.corners(target, fmt)):
                x_min, y_min, x_max, y_max = map(as_mpf, corners)
                angles.append(mpmath.atan2(x_max - x_min, y_max - y_min))
            v = 4 / mpmath.pi**2 * (angles[1] - angles[0]) ** 2
            return v, 1 - as_mpf(exact.iou(box, target, fmt=fmt))

    def alpha_of(v, rest):
        off = alpha == "gated" and rest > 0.5
        return mpmath.mpf(0) if off or v == 0 else v / (rest + v)

    held = None if alpha == "differentiated" else alpha_of(*v_and_rest(pred))

    def value(moved):
        with mpmath.workdps(120):
            v, rest = v_and_rest(moved)
            factor = alpha_of(v, rest) if held is None else held
            return 1 - as_mpf(exact.diou(moved, target, fmt=fmt)) + factor * v

    return value


def further_definition(measure, pred, target, fmt):
    """The losses that :mod:`iou.exact` does not have, from the formulas of their papers."""
    iou_value = exact.iou(pred, target, fmt=fmt)
    a, b = exact.corners(pred, fmt), exact.corners(target, fmt)
    if measure == "alpha_iou":
        return 1 - iou_value**3
    if measure == "mpdiou":
        return 1 - iou_value + sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) / 100
    changes = [a[axis + 2] - a[axis] - b[axis + 2] + b[axis] for axis in (0, 1)]
    if measure == "eiou":
        hull = [max(a[k + 2], b[k + 2]) - min(a[k], b[k]) for k in (0, 1)]
        shares = [change / side if side else 0 for change, side in zip(changes, hull, strict=True)]
        return 1 - exact.diou(pred, target, fmt=fmt) + sum(share**2 for share in shares)
    shifts = [(a[k] + a[k + 2] - b[k] - b[k + 2]) / 2 for k in (0, 1)]
    square = sum(shift**2 for shift in shifts) + sum(change**2 for change in changes) / 4
    with mpmath.workdps(120):
        return 1 - mpmath.exp(-mpmath.sqrt(as_mpf(square)) / as_mpf(Fraction(2.5)))


def as_mpf(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def central_difference(measure, alpha, pred, target, fmt):
    """Mean of the one-sided slopes in each of the four numbers."""
    pred, target = (tuple(map(Fraction, box)) for box in (pred, target))
    value = definition(measure, alpha, pred, target, fmt)
    slopes = []
    for axis in range(4):
        sides = [
            value(tuple(number + sign * STEP * (k == axis) for k, number in enumerate(pred)))
            for sign in (1, -1)
        ]
        with mpmath.workdps(120):
            twice = 2 * (STEP if isinstance(sides[0], Fraction) else as_mpf(STEP))
            slopes.append(float((sides[0] - sides[1]) / twice))
    return slopes


def check(pred, target, measure, alpha="constant", fmt="xyxy", tolerance=1e-13):
    """Compare with the oracle, relative to the steepest of the four slopes."""
    options = parameters(measure, alpha)
    gradient = loss_and_gradient(pred, target, measure, fmt=fmt, **options)[1]
    expected = central_difference(measure, alpha, pred, target, fmt)
    steepest = max(map(abs, expected))
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=tolerance * steepest + 1e-25)


# The boxes.


def random_boxes(rng, count):
    """Boxes of all sizes and shapes around one place, apart, crossing and nested."""
    centre = rng.normal(0, 2, (count, 2))
    half = np.exp(rng.normal(0, 1, (count, 2)))
    return np.hstack([centre - half, centre + half])


def relations():
    """Two intervals in every order, with and without edges that coincide: Allen's 13 relations."""
    for edges in itertools.product(range(4), repeat=4):
        (low, high), (target_low, target_high) = edges[:2], edges[2:]
        used = sorted(set(edges))
        if low < high and target_low < target_high and used == list(range(len(used))):
            yield (low, high), (target_low, target_high)


RELATIONS = list(relations())


def boxes_in_every_relation():
    """Each relation on x with each on y; the axes differ in scale, so that no box is square."""
    for (x, target_x), (y, target_y) in itertools.product(RELATIONS, repeat=2):
        pred, target = (
            (one[0], 1.5 * other[0], one[1], 1.5 * other[1])
            for one, other in ((x, y), (target_x, target_y))
        )
        yield pred, target


def as_given(boxes, fmt):
    """Write boxes in a format; as inclusive pixels, corners are what they are."""
    return boxes if fmt == "xyxy_inclusive" else convert(boxes, to=fmt)


# Values.


def test_worked_examples():
    a, b = (0, 0, 4, 2), (0, 0, 2, 4)
    turn = 4 / math.pi**2 * (math.atan2(2, 4) - math.atan2(4, 2)) ** 2
    alpha = turn / (2 / 3 + turn)
    assert loss(a, b) == 1 - 1 / 3
    assert loss(a, b, "giou") == pytest.approx(11 / 12, abs=1e-15)
    assert loss(a, b, "diou") == pytest.approx(1 - 13 / 48, abs=1e-15)
    for name in ("constant", "differentiated"):
        assert loss(a, b, "ciou", alpha=name) == pytest.approx(
            1 - 13 / 48 + alpha * turn, abs=1e-15
        )
    # The IoU is below 1/2, so the gate is shut.
    assert loss(a, b, "ciou", alpha="gated") == loss(a, b, "diou")
    assert loss((0, 0, 2, 2), (1, 1, 3, 3), "diou") == pytest.approx(1 - 1 / 7 + 1 / 9, abs=1e-15)


def test_worked_examples_of_the_further_losses():
    a, b = (0, 0, 4, 2), (0, 0, 2, 4)
    # The sides differ by 2 each, the hull is 4 by 4; the far corners are √8 apart.
    assert loss(a, b, "eiou") == pytest.approx(1 - 13 / 48 + 1 / 4 + 1 / 4, abs=1e-15)
    assert loss(a, b, "alpha_iou", power=3) == pytest.approx(26 / 27, abs=1e-15)
    assert loss(a, b, "alpha_iou", power=1) == loss(a, b)
    assert loss(a, b, "alpha_iou", power=1.5) == pytest.approx(1 - 3**-1.5, abs=1e-15)
    assert loss(a, b, "mpdiou", image=(8, 6)) == pytest.approx(2 / 3 + 8 / 100, abs=1e-15)
    # The centres are √2 apart, and W² = 2 + (4 + 4) / 4.
    assert loss(a, b, "nwd", constant=2) == pytest.approx(1 - math.exp(-1), abs=1e-15)
    a, b = (0, 0, 2, 2), (1, 1, 3, 3)
    assert loss(a, b, "eiou") == loss(a, b, "diou")
    assert loss(a, b, "mpdiou", image=(8, 6)) == pytest.approx(6 / 7 + 4 / 100, abs=1e-15)
    assert loss(a, b, "nwd", constant=2) == pytest.approx(1 - math.exp(-math.sqrt(0.5)), abs=1e-15)


@pytest.mark.parametrize("measure", FURTHER)
def test_a_loss_alone_computes_no_slope(monkeypatch, measure):
    pred, target = random_boxes(np.random.default_rng(23), 2 * 9).reshape(2, 9, 4)
    values = loss_and_gradient(pred, target, measure, **parameters(measure))[0]
    monkeypatch.setattr(formulas.Sum, "add", None)
    assert loss(pred, target, measure, **parameters(measure)).tobytes() == values.tobytes()


def test_a_power_that_is_no_integer_scales_the_slopes_of_the_iou():
    pred, target = random_boxes(np.random.default_rng(15), 2 * 300).reshape(2, 300, 4)
    overlap = iou.iou(pred, target)[:, None]
    plain = loss_and_gradient(pred, target)[1]
    for scale in (1, 2.0**-700):
        raised = loss_and_gradient(pred * scale, target * scale, "alpha_iou", power=2.5)[1]
        found = [[float(Fraction(x) * Fraction(scale)) for x in row] for row in raised.tolist()]
        np.testing.assert_allclose(found, 2.5 * overlap**1.5 * plain, rtol=1e-12, atol=1e-15)


def test_bounds_of_the_further_losses():
    rng = np.random.default_rng(16)
    pred, target = np.sort(rng.random((2, 20_000, 2, 2)), axis=2).reshape(2, -1, 4)
    bounds = {"eiou": 3.25, "alpha_iou": 1, "mpdiou": 3, "nwd": 1}
    for measure, bound in bounds.items():
        options = parameters(measure) | ({"image": (1, 1)} if measure == "mpdiou" else {})
        values = loss(pred, target, measure, **options)
        assert (values >= 0).all()
        assert (values <= bound).all()
    assert loss((0, 0, 0, 0), (0, 0, 1, 1), "eiou") == 3.25
    corners = (0, 0, 1e-9, 1e-9), (1 - 1e-9, 1 - 1e-9, 1, 1)
    assert loss(*corners, "mpdiou", image=(1, 1)) == pytest.approx(3)


def test_the_gate_opens_at_an_iou_of_a_half():
    target = (0, 0, 4, 4)
    at, below = (0, 0, 4, 2), (0, 0, 4, 2 - 2**-40)
    assert loss(at, target) == 0.5
    assert loss(at, target, "ciou", alpha="gated") == loss(at, target, "ciou")
    assert loss(below, target, "ciou", alpha="gated") == loss(below, target, "diou")
    slopes = [
        loss_and_gradient(box, target, "ciou", alpha="gated")[1].tolist() for box in (at, below)
    ]
    assert slopes[0] == loss_and_gradient(at, target, "ciou")[1].tolist()
    assert slopes[1] == loss_and_gradient(below, target, "diou")[1].tolist()


@pytest.mark.parametrize(
    "case",
    [case for case in CASES["mistakes"] if case["id"].startswith("variant-formula")],
    ids=lambda case: case["id"],
)
def test_a_mistake_in_a_formula_met_in_public_code_is_not_made(case):
    value = loss(case["a"], case["b"], case["measure"])
    right = Fraction(case["right"]) if isinstance(case["right"], str) else case["right"]
    expected = right if case.get("loss") else 1 - right
    assert value == pytest.approx(float(expected), abs=case.get("within", 1e-15))
    assert loss_and_gradient(case["a"], case["b"], case["measure"])[0] == value


@every_format
@pytest.mark.parametrize("measure", MEASURES)
def test_a_loss_is_1_less_the_measure_to_the_bit(measure, fmt):
    rng = np.random.default_rng(0)
    pred, target = (as_given(random_boxes(rng, 500), fmt) for _ in range(2))
    expected = 1 - getattr(iou, measure)(pred, target, fmt=fmt)
    assert loss(pred, target, measure, fmt=fmt).tobytes() == expected.tobytes()
    assert loss_and_gradient(pred, target, measure, fmt=fmt)[0].tobytes() == expected.tobytes()


# Gradients.


@every_format
@every_loss
def test_gradients_are_those_of_the_definitions(measure, alpha, fmt):
    rng = np.random.default_rng(0)
    boxes = [as_given(random_boxes(rng, 40), fmt) for _ in range(2)]
    for pred, target in zip(*boxes, strict=True):
        check(pred, target, measure, alpha, fmt)


@pytest.mark.parametrize("fmt", ["xywh", "cxcywh"])
@every_loss
def test_boxes_far_from_the_origin_lose_no_digit(measure, alpha, fmt):
    rng = np.random.default_rng(19)
    place = np.array([1e9, -3e8, 0, 0])
    boxes = [
        np.hstack([rng.normal(0, 0.3, (40, 2)), np.exp(rng.normal(-1, 1, (40, 2)))]) + place
        for _ in range(2)
    ]
    # Some are perfect, and some touch, but for the rounding.
    boxes[0][:3] = boxes[1][:3]
    boxes[0][3:6, 0] = boxes[1][3:6, 0] + 0.1
    options = parameters(measure, alpha)
    values, gradient = loss_and_gradient(*boxes, measure, fmt=fmt, **options)
    assert values.tobytes() == loss(*boxes, measure, fmt=fmt, **options).tobytes()
    for row, (pred, target) in enumerate(zip(*boxes, strict=True)):
        a, b = (tuple(map(Fraction, box)) for box in (pred.tolist(), target.tolist()))
        expected = float(definition(measure, alpha, a, b, fmt)(a))
        assert values[row] == pytest.approx(expected, rel=1e-13, abs=1e-15)
        if row >= 3:
            check(pred, target, measure, alpha, fmt)
    assert gradient[:3].tolist() == [[0] * 4] * 3
    if measure == "alpha_iou":
        plain = loss(*boxes, fmt=fmt)
        assert loss(*boxes, measure, fmt=fmt, power=1).tobytes() == plain.tobytes()


@pytest.mark.parametrize("fmt", ["xywh", "cxcywh"])
@pytest.mark.parametrize("measure", [*MEASURES, *FURTHER])
def test_kinks_between_boxes_whose_corners_are_rounded(measure, fmt):
    # One box far away, whose corners are rounded, has all of them computed from their reaches.
    pairs = np.array(list(boxes_in_every_relation()), dtype=float)
    options = parameters(measure) | {"fmt": fmt}
    pred, target = convert(pairs, to=fmt).swapaxes(0, 1)
    expected = loss_and_gradient(pred, target, measure, **options)
    other = np.array([[1e17, 0.1, 0.3, 0.7]])
    found = loss_and_gradient(
        np.vstack([other, pred]), np.vstack([other, target]), measure, **options
    )
    for one, rest in zip(expected, found, strict=True):
        np.testing.assert_array_equal(rest[1:], one)


@every_loss
def test_gradients_in_every_relation_are_means_of_the_one_sided_slopes(measure, alpha):
    pairs = list(boxes_in_every_relation())
    assert len(RELATIONS) == 13
    assert len(pairs) == 169
    for pred, target in pairs:
        if (pred, alpha) == (target, "differentiated"):
            continue
        check(pred, target, measure, alpha)


@pytest.mark.parametrize("fmt", ["xywh", "cxcywh"])
@pytest.mark.parametrize("measure", [*MEASURES, *FURTHER])
def test_kinks_in_other_formats(measure, fmt):
    # A step of a side moves an edge by half of it or by all; of the centre, both by all.
    for pred, target in list(boxes_in_every_relation())[::5]:
        check(*(convert(box, to=fmt).tolist() for box in (pred, target)), measure, fmt=fmt)


def complex_step(pred, target, measure, alpha):
    """Differentiate the formula of a textbook at many boxes at once, with no difference taken.

    A step in the imaginary direction leaves the gradient there, to the last digit.
    """
    step = 1e-200
    columns = []
    for axis in range(4):
        a = pred.astype(complex).T.copy()
        a[axis] += 1j * step
        b = target.T

        def least(s, t):
            return np.where(s.real < t.real, s, t)

        def most(s, t):
            return np.where(s.real < t.real, t, s)

        w, h, w_b, h_b = a[2] - a[0], a[3] - a[1], b[2] - b[0], b[3] - b[1]
        sides = least(a[2], b[2]) - most(a[0], b[0]), least(a[3], b[3]) - most(a[1], b[1])
        apart = (sides[0].real <= 0) | (sides[1].real <= 0)
        shared = np.where(apart, 0, sides[0] * sides[1])
        union = w * h + w_b * h_b - shared
        overlap = shared / union
        c_w, c_h = most(a[2], b[2]) - least(a[0], b[0]), most(a[3], b[3]) - least(a[1], b[1])
        value = 1 - overlap
        if measure == "giou":
            value = value + (c_w * c_h - union) / (c_w * c_h)
        dx, dy = (a[0] + a[2] - b[0] - b[2]) / 2, (a[1] + a[3] - b[1] - b[3]) / 2
        if measure in ("diou", "ciou", "eiou"):
            value = value + (dx**2 + dy**2) / (c_w**2 + c_h**2)
        if measure == "eiou":
            value = value + (w - w_b) ** 2 / c_w**2 + (h - h_b) ** 2 / c_h**2
        if measure == "alpha_iou":
            value = 1 - overlap**3
        if measure == "mpdiou":
            value = value + ((a - b) ** 2).sum(axis=0) / 100
        if measure == "nwd":
            distance = np.sqrt(dx**2 + dy**2 + ((w - w_b) ** 2 + (h - h_b) ** 2) / 4)
            value = 1 - np.exp(-distance / 2.5)
        if measure == "ciou":
            v = 4 / np.pi**2 * (np.arctan(w_b / h_b) - np.arctan(w / h)) ** 2
            factor = v / (1 - overlap + v)
            if alpha != "differentiated":
                factor = factor.real * ((overlap.real >= 0.5) | (alpha != "gated"))
            value = value + factor * v
        columns.append(value.imag / step)
    return np.stack(columns, axis=1)


@every_loss
def test_many_gradients_are_those_of_the_formula_of_a_textbook(measure, alpha):
    rng = np.random.default_rng(1)
    pred, target = random_boxes(rng, 50_000), random_boxes(rng, 50_000)
    gradient = loss_and_gradient(pred, target, measure, **parameters(measure, alpha))[1]
    expected = complex_step(pred, target, measure, alpha)
    steepest = np.abs(expected).max(axis=1, keepdims=True)
    assert (np.abs(gradient - expected) <= 1e-11 * steepest).all()
    together = iou.iou(pred, target) > 0
    assert 0.2 < together.mean() < 0.8


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("alpha", ["constant", "differentiated"])
def test_autograd_finds_the_same_gradients(measure, alpha):
    torch = pytest.importorskip("torch", reason="torch is optional, and large")
    rng = np.random.default_rng(2)
    pred, target = random_boxes(rng, 2000), random_boxes(rng, 2000)
    # Some edges coincide: there, autograd gives either side one half.
    target[:500, 0], target[300:800, 3] = pred[:500, 0], pred[300:800, 3]
    target = np.hstack([np.minimum(target[:, :2], target[:, 2:] - 0.1), target[:, 2:]])
    gradient = loss_and_gradient(pred, target, measure, alpha=alpha)[1]
    a, b = torch.tensor(pred, requires_grad=True), torch.tensor(target)
    a_sides, b_sides = a[:, 2:] - a[:, :2], b[:, 2:] - b[:, :2]
    shared = torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])
    shared = shared.clamp(min=0).prod(dim=1)
    union = a_sides.prod(dim=1) + b_sides.prod(dim=1) - shared
    hull = torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])
    value = 1 - shared / union
    if measure == "giou":
        value = value + 1 - union / hull.prod(dim=1)
    if measure in ("diou", "ciou"):
        between = (a[:, :2] + a[:, 2:] - b[:, :2] - b[:, 2:]) / 2
        value = value + between.square().sum(dim=1) / hull.square().sum(dim=1)
    if measure == "ciou":
        angles = [torch.atan2(sides[:, 0], sides[:, 1]) for sides in (a_sides, b_sides)]
        v = 4 / math.pi**2 * (angles[0] - angles[1]).square()
        factor = v / (1 - shared / union + v)
        value = value + (factor.detach() if alpha == "constant" else factor) * v
    value.sum().backward()
    np.testing.assert_allclose(gradient, a.grad.numpy(), rtol=0, atol=1e-11)


def test_torchvision_finds_the_same_losses_and_gradients_but_for_its_epsilon():
    torch = pytest.importorskip("torch", reason="torch is optional, and large")
    ops = pytest.importorskip("torchvision.ops", reason="torchvision is optional, and large")
    rng = np.random.default_rng(3)
    pred, target = random_boxes(rng, 2000), random_boxes(rng, 2000)
    names = {"giou": "generalized", "diou": "distance", "ciou": "complete"}
    for measure, name in names.items():
        a = torch.tensor(pred, requires_grad=True)
        theirs = getattr(ops, f"{name}_box_iou_loss")(a, torch.tensor(target))
        theirs.sum().backward()
        values, gradient = loss_and_gradient(pred, target, measure)
        np.testing.assert_allclose(values, theirs.detach().numpy(), rtol=0, atol=1e-5)
        np.testing.assert_allclose(gradient, a.grad.numpy(), rtol=0, atol=1e-4)


# What follows without a formula.


def numbers(low, high):
    return st.integers(low, high).map(lambda k: k / 8)


@st.composite
def whole_boxes(draw):
    """Boxes on a grid of eighths, which often touch, coincide, or lack area."""
    x, y = draw(numbers(-24, 24)), draw(numbers(-24, 24))
    return [x, y, x + draw(numbers(0, 24)), y + draw(numbers(0, 24))]


@given(whole_boxes(), whole_boxes(), st.sampled_from(LOSSES), st.integers(-40, 40))
def test_a_gradient_turns_and_scales_with_the_boxes(pred, target, loss_name, power):
    measure, alpha = loss_name
    pred, target = np.array(pred), np.array(target)

    def gradient(a, b, scale=1.0):
        return loss_and_gradient(a, b, measure, **parameters(measure, alpha, scale))[1]

    here = gradient(pred, target)
    within = {"rtol": 1e-12, "atol": 1e-12 * np.abs(here).max()}
    assert np.isfinite(here).all()
    shift = np.array([3, -5, 3, -5])
    moved = gradient(pred + shift, target + shift)
    np.testing.assert_array_equal(moved, here)
    scale = 2.0**power
    scaled = gradient(pred * scale, target * scale, scale) * scale
    if iou.area(pred) > 0 and iou.area(target) > 0:
        np.testing.assert_array_equal(scaled, here)
    else:
        np.testing.assert_allclose(scaled, here, **within)
    mirror = np.array([-1, 1, -1, 1])[[2, 1, 0, 3]]
    np.testing.assert_allclose(
        gradient(pred[[2, 1, 0, 3]] * mirror, target[[2, 1, 0, 3]] * mirror),
        here[[2, 1, 0, 3]] * mirror,
        **within,
    )
    if measure == "ciou" and any((box[:2] == box[2:]).all() for box in (pred, target)):
        return  # A point has the aspect angle of an upright box, whichever way it is turned.
    swapped = [1, 0, 3, 2]
    np.testing.assert_allclose(gradient(pred[swapped], target[swapped]), here[swapped], **within)


@given(whole_boxes(), st.sampled_from(LOSSES), st.sampled_from(FORMATS))
def test_a_perfect_prediction_has_no_slope(box, loss_name, fmt):
    measure, alpha = loss_name
    if fmt != "xyxy_inclusive":
        box = convert(box, to=fmt)
    values, gradient = loss_and_gradient(box, box, measure, fmt=fmt, **parameters(measure, alpha))
    has_area = iou.area(box, fmt=fmt) > 0 or measure == "nwd"
    assert values == (0 if has_area else 1)
    if has_area:
        assert gradient.tolist() == [0, 0, 0, 0]


@every_format
@every_loss
def test_no_slope_is_minus_0(measure, alpha, fmt):
    pairs = convert(list(boxes_in_every_relation()), to="xyxy").swapaxes(0, 1)
    pred, target = (as_given(boxes, fmt) for boxes in pairs)
    for some in (pred, pred.tolist()):
        gradient = loss_and_gradient(some, target, measure, fmt=fmt, **parameters(measure, alpha))[
            1
        ]
        assert not np.signbit(gradient[gradient == 0]).any()


@given(whole_boxes(), whole_boxes())
def test_boxes_apart_have_no_slope_of_the_iou(pred, target):
    target = np.array(target) + np.array([10, 0, 10, 0])
    assert loss_and_gradient(pred, target)[1].tolist() == [0, 0, 0, 0]


@every_format
@pytest.mark.parametrize("measure", MEASURES)
def test_formats_are_tied_by_the_chain_rule(measure, fmt):
    rng = np.random.default_rng(4)
    pred, target = np.round(random_boxes(rng, 100) * 64) / 64, np.round(random_boxes(rng, 100))
    target[:, 2:] += 1
    # One more, so that the inclusive boxes of this size are valid.
    wider = np.array([0, 0, 1, 1])
    pred, target = pred + wider, target + wider
    x_min, y_min, x_max, y_max = loss_and_gradient(pred, target, measure)[1].T
    expected = {
        "xyxy": (x_min, y_min, x_max, y_max),
        "xywh": (x_min + x_max, y_min + y_max, x_max, y_max),
        "cxcywh": (x_min + x_max, y_min + y_max, (x_max - x_min) / 2, (y_max - y_min) / 2),
        "xyxy_inclusive": (x_min, y_min, x_max, y_max),
    }[fmt]
    if fmt == "xyxy_inclusive":
        pred, target = pred - wider, target - wider
    gradient = loss_and_gradient(as_given(pred, fmt), as_given(target, fmt), measure, fmt=fmt)[1]
    np.testing.assert_allclose(gradient, np.stack(expected, axis=1), rtol=0, atol=1e-13)


# Kinks, boxes without area, and numbers at the ends of float64.


def test_edges_that_coincide_have_the_mean_of_both_slopes():
    # The right edge at that of the target. Inwards the overlap shrinks with it: the slope of the
    # loss is −1/4 · 2 · 2 / 8. Outwards the union grows alone: 4/8² · 2.
    gradient = loss_and_gradient((1, 0, 2, 2), (0, 0, 2, 2))[1]
    assert gradient[2] == (-1 / 2 + 2 * 2 / 4**2) / 2


def test_touching_boxes_have_half_the_slope_of_boxes_that_begin_to_overlap():
    touching = loss_and_gradient((2, 0, 4, 2), (0, 0, 2, 2))[1]
    overlapping = loss_and_gradient((2 - 1e-12, 0, 4, 2), (0, 0, 2, 2))[1]
    assert touching[0] == 1 / 8
    assert overlapping[0] == pytest.approx(1 / 4)
    assert touching[1:].tolist() == [0, 0, 0]


def test_a_prediction_without_area_can_grow_into_its_target():
    # On the side where the box is valid, the IoU gains 1 · 2 / 4 per unit that it widens.
    gradient = loss_and_gradient((1, 0, 1, 2), (0, 0, 2, 2))[1]
    assert gradient.tolist() == [0.5, 0, -0.5, 0]


@every_loss
def test_points_have_no_slope_of_0_over_0(measure, alpha):
    point, options = (3, 3, 3, 3), parameters(measure, alpha)
    assert loss(point, point, measure, **options) == (measure != "nwd")
    assert loss_and_gradient(point, point, measure, **options)[1].tolist() == [0, 0, 0, 0]
    values, gradient = loss_and_gradient((0, 0, 0, 0), (0, 0, 1, 1), measure, **options)
    # The aspect angle of a point is 0, and v of it and a square 1/4: that of α is 1/4 / (1 + 1/4).
    expected = {"iou": 1, "giou": 1, "diou": 5 / 4, "ciou": 5 / 4 + (alpha != "gated") * 0.05}
    expected |= {"eiou": 1 + 1 / 4 + 2, "alpha_iou": 1, "mpdiou": 1 + 2 / 100}
    expected["nwd"] = 1 - math.exp(-math.sqrt(1 / 2 + 2 / 4) / 2.5)
    assert values == pytest.approx(expected[measure], abs=1e-15)
    assert np.isfinite(gradient).all()


def test_flat_boxes_on_one_line_have_a_penalty_without_slope():
    # C is 0 and so is the penalty, however high the boxes may become.
    flat = loss_and_gradient((0, 0, 1, 0), (2, 0, 5, 0), "giou")
    assert flat[0] == 1
    assert flat[1].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("power", [-1000, -600, -300, 300, 490, 900])
@every_loss
def test_the_ends_of_float64_lose_no_digit(measure, alpha, power):
    if measure == "mpdiou" and abs(power) > 500:
        pytest.skip("no image is so large")
    rng = np.random.default_rng(5)
    pred, target = random_boxes(rng, 12), random_boxes(rng, 12)
    plain = loss_and_gradient(pred, target, measure, **parameters(measure, alpha))
    scale = 2.0**power
    options = parameters(measure, alpha, scale)
    far = loss_and_gradient(pred * scale, target * scale, measure, **options)
    np.testing.assert_allclose(far[0], plain[0], rtol=1e-13)
    np.testing.assert_array_equal(loss(pred * scale, target * scale, measure, **options), far[0])
    back = [[float(Fraction(x) * Fraction(2) ** power) for x in row] for row in far[1].tolist()]
    steepest = np.abs(plain[1]).max(axis=1, keepdims=True)
    assert (np.abs(np.array(back) - plain[1]) <= 1e-12 * steepest).all()


@pytest.mark.parametrize("power", [-537, -530, -515, -511, -505])
@every_loss
def test_products_below_the_normal_numbers_lose_no_digit_though_they_are_exact(
    measure, alpha, power
):
    if measure == "mpdiou":
        pytest.skip("no image is so small")
    pairs = [*boxes_in_every_relation()][::4]
    # Without area, so that hull, diagonal and distance alone are products.
    pairs += [((0, 0, 1, 0), (0, 0, 0, 1)), ((0, 0, 0, 0), (1, 0, 1, 0)), ((0, 0, 1, 2), (2,) * 4)]
    pred, target = np.array(pairs, dtype=float).swapaxes(0, 1)
    near = loss_and_gradient(pred, target, measure, **parameters(measure, alpha))
    scale = 2.0**power
    options = parameters(measure, alpha, scale)
    far = loss_and_gradient(pred * scale, target * scale, measure, **options)
    np.testing.assert_allclose(far[0], near[0], rtol=1e-13, atol=1e-15)
    within = 1e-13 * np.abs(near[1]).max(axis=1, keepdims=True)
    assert (np.abs(far[1] * scale - near[1]) <= within).all()
    assert loss(pred * scale, target * scale, measure, **options).tobytes() == far[0].tobytes()
    listed = loss_and_gradient(
        (pred * scale).tolist(), (target * scale).tolist(), measure, **options
    )
    for one, other in zip(far, listed, strict=True):
        assert one.tobytes() == other.tobytes()


@every_loss
def test_an_area_below_the_normal_numbers_gets_the_bits_of_any_other_boxes(measure, alpha):
    # Apart, so that nothing else of them underflows.
    target = random_boxes(np.random.default_rng(21), 50) + 50
    pred = np.tile([0, 0, 2.0**-515, 2.0**-515], (50, 1))
    options = parameters(measure, alpha)
    formula = losses.formula_of(measure, "xyxy", **options)
    assert losses._of_plain(pred, target, formula) is None
    assert losses._of_plain(target, pred, formula) is None
    found = loss_and_gradient(pred, target, measure, **options)
    listed = loss_and_gradient(pred.tolist(), target.tolist(), measure, **options)
    for one, other in zip(found, listed, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("power", [16, 17, 18, 3000, 1e5, 1e300])
def test_a_large_power_leaves_what_is_near_1(power):
    pred, target = random_boxes(np.random.default_rng(17), 2 * 200).reshape(2, 200, 4)
    pred[0] = target[0]
    pred[1] = target[1] + [0, 0, 1e-6, 0]
    overlap = iou.iou(pred, target)
    slopes = power * overlap[:, None] ** (power - 1) * loss_and_gradient(pred, target)[1]
    for scale in (1.0, 2.0**-700):
        found = loss_and_gradient(pred * scale, target * scale, "alpha_iou", power=power)
        np.testing.assert_allclose(found[0], 1 - overlap**power, rtol=1e-9, atol=1e-9)
        back = [[float(Fraction(x) * Fraction(scale)) for x in row] for row in found[1].tolist()]
        np.testing.assert_allclose(back, slopes, rtol=1e-9, atol=1e-9)
    assert found[0][0] == 0
    assert (found[0][1] < 1) == (power < 1e300)


def test_boxes_too_far_apart_for_their_gaussians_are_not_taken_for_lost(monkeypatch):
    monkeypatch.setattr(losses, "_exactly", lambda *_: pytest.fail("not needed"))
    pred, target = random_boxes(np.random.default_rng(18), 2 * 100).reshape(2, 100, 4)
    for far, near in ((pred + 1e4, target), ((pred + 1e4).tolist(), target.tolist())):
        values, gradient = loss_and_gradient(far, near, "nwd", constant=2)
        assert (values == 1).all()
        assert (gradient == 0).all()


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**600])
def test_a_point_has_the_aspect_angle_0_in_fractions_too(scale):
    for pred, target in (((0, 0, 0, 0), (0, 0, 1, 2)), ((0, 0, 1, 2), (3, 3, 3, 3))):
        near = loss_and_gradient(pred, target, "ciou")[1]
        far = loss_and_gradient(np.multiply(pred, scale), np.multiply(target, scale), "ciou")[1]
        np.testing.assert_allclose(far * scale, near, rtol=0, atol=1e-12 * np.abs(near).max())


def test_a_box_that_float64_does_not_carry_changes_no_other():
    rng = np.random.default_rng(6)
    pred, target = random_boxes(rng, 50), random_boxes(rng, 50)
    before = loss_and_gradient(pred, target, "ciou")[1]
    pred[[3, 20]] *= 1e-200
    target[40] *= 1e200
    after = loss_and_gradient(pred, target, "ciou")[1]
    others = np.delete(np.arange(50), [3, 20, 40])
    assert after[others].tobytes() == before[others].tobytes()
    assert np.isfinite(after).all()


def test_a_slope_beyond_float64_is_infinite():
    gradient = loss_and_gradient((0, 0, 5e-324, 1), (0, 0, 5e-324, 2))[1]
    assert gradient[2] == -math.inf or abs(gradient[2]) > 1e300
    assert not np.isnan(gradient).any()


def test_large_integers_are_read_exactly():
    start = 2**60
    pred, target = [[start, 0, start + 3, 2]], [[start + 1, 0, start + 5, 2]]
    near = loss_and_gradient([[0, 0, 3, 2]], [[1, 0, 5, 2]], "ciou")[1]
    np.testing.assert_allclose(loss_and_gradient(pred, target, "ciou")[1], near, atol=1e-15)


# Arrays of float64, which are read and computed in one go.


@every_loss
def test_plain_arrays_get_the_bits_of_any_other_boxes(measure, alpha):
    rng = np.random.default_rng(13)
    options = parameters(measure, alpha)
    touching = np.array(list(boxes_in_every_relation()), dtype=float)
    outer = random_boxes(rng, 500)
    # One in the other, so that the union is the hull but for rounding, which may lift it above.
    inner = outer + 0.3 * rng.random((500, 1)) * (outer[:, [2, 3, 0, 1]] - outer)
    for pred, target in (
        (random_boxes(rng, 500), outer),
        (inner, outer),
        touching.swapaxes(0, 1),
    ):
        plain = losses._of_plain(pred, target, losses.formula_of(measure, "xyxy", **options))
        assert plain is not None
        listed = loss_and_gradient(pred.tolist(), target.tolist(), measure, **options)
        for found, expected in zip(plain, listed, strict=True):
            assert found.tobytes() == expected.tobytes()
        assert plain[0].tobytes() == loss(pred, target, measure, **options).tobytes()


@pytest.mark.parametrize(
    "bad",
    [
        [0, 0, math.nan, 1],
        [math.nan] * 4,
        [0, -math.inf, 1, 1],
        [0, 0, 1, math.inf],
        [math.inf, 0, math.inf, 1],
        [0, 2, 1, 1],
        [1, 2, 0, 1],
    ],
)
def test_a_bad_row_among_many_is_named(bad):
    boxes = np.tile([0.0, 0, 1, 2], (20_000, 1))
    wrong = boxes.copy()
    wrong[17_000] = bad
    for measure in (*MEASURES, *FURTHER):
        options = parameters(measure)
        with pytest.raises(ValueError, match=r"^pred\[17000\] = "):
            loss_and_gradient(wrong, boxes, measure, **options)
        with pytest.raises(ValueError, match=r"^target\[17000\] = "):
            loss_and_gradient(boxes, wrong, measure, **options)


def test_arrays_of_other_numbers_are_read_with_care():
    start = 2**60
    pred, target = np.array([[[start, 0, start + 3, 2]], [[start + 1, 0, start + 5, 2]]])
    near = loss_and_gradient(np.array([[0.0, 0, 3, 2]]), np.array([[1.0, 0, 5, 2]]), "eiou")
    for found, expected in zip(loss_and_gradient(pred, target, "eiou"), near, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-15)
    with pytest.raises(TypeError):
        loss_and_gradient(np.array([[False, False, True, True]]), np.array([[0.0, 0, 1, 1]]))


def test_one_box_that_needs_care_changes_no_other():
    rng = np.random.default_rng(14)
    pred, target = random_boxes(rng, 50), random_boxes(rng, 50)
    before = loss_and_gradient(pred, target, "eiou")
    for careful in ((1, 1, 1, 2), (0, 0, 1e-200, 1e-200), (0, 0, 1e200, 1e200)):
        pred[7] = careful
        after = loss_and_gradient(pred, target, "eiou")
        others = np.delete(np.arange(50), 7)
        for one, other in zip(before, after, strict=True):
            assert one[others].tobytes() == other[others].tobytes()
            assert np.isfinite(other).all()


# Shapes and errors.


def test_shapes_broadcast():
    rng = np.random.default_rng(7)
    pred, target = random_boxes(rng, 6).reshape(3, 1, 2, 4), random_boxes(rng, 8).reshape(4, 2, 4)
    values, gradient = loss_and_gradient(pred, target, "giou")
    assert values.shape == (3, 4, 2)
    assert gradient.shape == (3, 4, 2, 4)
    one = loss_and_gradient(pred[2, 0, 1], target[3, 1], "giou")
    assert isinstance(one[0], float)
    assert (values[2, 3, 1], gradient[2, 3, 1].tolist()) == (one[0], one[1].tolist())
    # The exact path has to find the rows of both.
    scaled = loss_and_gradient(pred * 1e-200, target * 1e-200, "giou")[1]
    np.testing.assert_allclose(scaled * 1e-200, gradient, atol=1e-12)


def test_no_boxes_have_no_loss():
    for pred, target, shape in (
        ([], [], (0,)),
        ([], (0, 0, 1, 1), (0,)),
        ([], [[[0] * 4]], (1, 0)),
    ):
        values, gradient = loss_and_gradient(pred, target, "ciou")
        assert values.shape == shape
        assert gradient.shape == (*shape, 4)
        assert descend(pred, target, rates=[1]).boxes.shape == (*shape, 4)


def test_every_kind_of_number_gives_the_same_and_none_is_changed():
    pred, target = [[0, 0, 4, 2], [1, 1, 3, 5]], [[0, 0, 2, 4], [2, 2, 4, 4]]
    expected = loss_and_gradient(pred, target, "ciou")
    for kind in (np.uint8, np.int64, np.float16, np.float32, ">f8"):
        arrays = [np.array(boxes, dtype=kind) for boxes in (pred, target)]
        for array in arrays:
            array.flags.writeable = False
        values, gradient = loss_and_gradient(*arrays, "ciou")
        assert (values.dtype, gradient.dtype) == (np.float64, np.float64)
        assert values.tobytes() == expected[0].tobytes()
        assert gradient.tobytes() == expected[1].tobytes()
        assert gradient.flags.c_contiguous


@pytest.mark.parametrize(
    "function", [loss, loss_and_gradient, lambda *a, **k: descend(*a, rates=[1], **k)]
)
def test_what_cannot_be_meant_is_refused(function):
    box = (0, 0, 1, 1)
    refused = {
        (box, (5, 0, 1, 2)): "target = (5, 0, 1, 2): x_max < x_min",
        ((0.0, 0.0, math.nan, 1.0), box): "pred = (0.0, 0.0, nan, 1.0): x_max is NaN",
    }
    for boxes, message in refused.items():
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            function(*boxes)
    with pytest.raises(ValueError, match=r"^unknown loss 'uiou'; known are 'iou', 'giou', "):
        function(box, box, "uiou")
    with pytest.raises(ValueError, match=r"^unknown alpha 0.5; known are 'constant', "):
        function(box, box, "ciou", alpha=0.5)
    with pytest.raises(ValueError, match=r"unknown box format"):
        function(box, box, fmt="yxyx")
    with pytest.raises(ValueError, match=r"do not broadcast: their shapes are \(3, 4\) and \(2, 4"):
        function([box] * 3, [box] * 2)
    with pytest.raises(TypeError):
        function((True, False, True, True), box)
    for measure, options, message in (
        ("alpha_iou", {}, "the loss 'alpha_iou' needs power"),
        ("mpdiou", {}, "the loss 'mpdiou' needs image"),
        ("nwd", {}, "the loss 'nwd' needs constant"),
        ("iou", {"power": 3}, "power belongs to the loss 'alpha_iou', not to 'iou'"),
        ("nwd", {"image": (8, 6)}, "image belongs to the loss 'mpdiou', not to 'nwd'"),
        ("ciou", {"constant": 3}, "constant belongs to the loss 'nwd', not to 'ciou'"),
        ("alpha_iou", {"power": 0.5}, "power must be at least 1 and finite, it is 0.5"),
        ("nwd", {"constant": 0}, "constant must be positive and finite, it is 0.0"),
        ("nwd", {"constant": math.nan}, "constant must be positive and finite, it is nan"),
        ("iou", {"alpha": "gated"}, "alpha belongs to the loss 'ciou', not to 'iou'"),
        ("mpdiou", {"image": (8, 6, 3)}, "image must be a width and a height, it is (8, 6, 3)"),
        ("mpdiou", {"image": (8, 0)}, "image must be a positive width and height, it is (8, 0)"),
        ("mpdiou", {"image": (1e200, 1)}, "image must be a positive width and height, it is (1e"),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            function(box, box, measure, **options)
    with pytest.raises(TypeError, match=r"^power must be a real number, it is a str$"):
        function(box, box, "alpha_iou", power="3")
    with pytest.raises(TypeError, match=r"^image must be a width and a height, it is 640$"):
        function(box, box, "mpdiou", image=640)


# The descent.


def step_by_step(pred, target, measure, fmt, factor=lambda iou: 1.0):
    """Go down as anyone would write it, one box at a time."""
    path = [np.array(pred, dtype=float)]
    for rate in RATES:
        here = path[-1]
        gradient = loss_and_gradient(here, target, measure, fmt=fmt)[1]
        path.append(here - rate * factor(iou.iou(here, target, fmt=fmt)) * gradient)
    return np.array(path)


@every_format
@pytest.mark.parametrize("measure", MEASURES)
def test_a_descent_takes_the_steps_it_says(measure, fmt):
    rng = np.random.default_rng(8)
    pred, target = (as_given(random_boxes(rng, 5), fmt) for _ in range(2))
    for factor in (None, lambda overlap: 2 - overlap):
        result = descend(pred, target, measure, fmt=fmt, rates=RATES, factor=factor, path=True)
        for row in range(5):
            slow = step_by_step(
                pred[row], target[row], measure, fmt, factor or (lambda overlap: 1.0)
            )
            np.testing.assert_allclose(result.path[:, row], slow, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(result.path[0], pred)
    np.testing.assert_array_equal(result.path[-1], result.boxes)
    distance = np.abs(result.path - target).sum(axis=(1, 2))
    np.testing.assert_allclose(result.error, distance, rtol=1e-13)


@pytest.mark.parametrize("measure", FURTHER)
def test_the_further_losses_can_be_descended(measure):
    rng = np.random.default_rng(12)
    target = random_boxes(rng, 200)
    pred = target + rng.normal(0, 0.02, target.shape)
    options = parameters(measure)
    end = descend(pred, target, measure, rates=[0.002] * 100, **options)
    before, after = (loss(boxes, target, measure, **options) for boxes in (pred, end.boxes))
    assert (after < before).mean() > 0.95
    assert end.error[-1] < end.error[0]


def test_a_small_step_goes_down():
    rng = np.random.default_rng(9)
    pred, target = random_boxes(rng, 300), random_boxes(rng, 300)
    for measure, alpha in LOSSES[:4]:
        before = loss(pred, target, measure, alpha=alpha)
        end = descend(pred, target, measure, alpha=alpha, rates=[1e-6]).boxes
        flat = (loss_and_gradient(pred, target, measure)[1] == 0).all(axis=1)
        after = loss(end, target, measure, alpha=alpha)
        if measure == "ciou":
            assert (after[~flat] < before[~flat] + 1e-9).all()
        else:
            assert (after[~flat] < before[~flat]).all()
        assert flat.any() == (measure == "iou")


def test_the_conventions_of_alpha_lead_elsewhere():
    pred, target = (3, 1, 2, 1), (1, 1, 1, 2)
    ends = {
        alpha: descend(pred, target, "ciou", alpha=alpha, fmt="cxcywh", rates=RATES).boxes.tolist()
        for alpha in ALPHAS
    }
    assert len({tuple(end) for end in ends.values()}) == 3
    diou = descend(pred, target, "diou", fmt="cxcywh", rates=[0.1]).boxes.tolist()
    gated = descend(pred, target, "ciou", alpha="gated", fmt="cxcywh", rates=[0.1]).boxes.tolist()
    assert gated == diou


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("block", [1, 7, 16, 2**14])
def test_blocks_and_threads_change_no_bit(monkeypatch, block, workers):
    rng = np.random.default_rng(10)
    pred, target = random_boxes(rng, 40).reshape(4, 10, 4), random_boxes(rng, 10)
    expected = descend(pred, target, "ciou", rates=RATES, path=True)
    gradient = loss_and_gradient(pred, target, "ciou")[1]
    monkeypatch.setattr(losses, "_BLOCK", block)
    monkeypatch.setattr(losses, "_BLOCK_OF_DESCENT", block)
    result = descend(pred, target, "ciou", rates=RATES, path=True, workers=workers)
    assert result.boxes.tobytes() == expected.boxes.tobytes()
    assert result.path.tobytes() == expected.path.tobytes()
    np.testing.assert_allclose(result.error, expected.error, rtol=1e-14)
    alone = descend(pred, target, "ciou", rates=RATES, workers=1)
    assert alone.error.tobytes() == result.error.tobytes()
    assert alone.path is None
    assert loss_and_gradient(pred, target, "ciou")[1].tobytes() == gradient.tobytes()


def test_progress_sees_every_part(monkeypatch):
    monkeypatch.setattr(losses, "_BLOCK_OF_DESCENT", 10)
    seen = []

    def bar(parts):
        assert len(parts) == 5
        for part in parts:
            yield part
            seen.append(part)

    boxes = random_boxes(np.random.default_rng(11), 45)
    descend(boxes, boxes[::-1], rates=[0.1], progress=bar)
    assert len(seen) == 5


def towards(target):
    return lambda pred: (np.full(pred.shape[1], 0.25), pred - target)


def test_a_loss_of_ones_own_can_be_descended():
    pred, target = np.array([[0, 0, 4, 4], [2, 2, 3, 3]]), np.array([8, 8, 16, 24])
    result = descend(pred, target, towards, rates=[0.5, 0.25], factor=lambda overlap: 4 * overlap)
    np.testing.assert_array_equal(result.boxes, target - (target - pred) * 0.5 * 0.75)


@pytest.mark.parametrize(
    ("fmt", "end"),
    [
        ("xyxy", [2.5, 0, 2.5, 2]),
        ("xywh", [0, 0, 0, 2]),
        ("cxcywh", [0, 0, 0, 2]),
        ("xyxy_inclusive", [2.5, 0, 2.5, 2]),
    ],
)
def test_no_step_turns_a_box_inside_out(fmt, end):
    def push(target):
        # The left edge by 3 to the right, or the side by 3 inwards; the right edge stays.
        slope = np.zeros_like(target)
        slope[2 if "w" in fmt else 0] = 3 if "w" in fmt else -3
        return lambda pred: (np.zeros(pred.shape[1]), slope)

    start = [0, 0, 2, 2]
    result = descend([start], [start], push, fmt=fmt, rates=[1])
    assert result.boxes.tolist() == [end]
    iou.area(result.boxes, fmt=fmt)


def test_a_descent_that_goes_wrong_says_so():
    box = (0, 0, 1, 1)
    with pytest.raises(ValueError, match=r"^boxes left the range of float64: take smaller rates$"):
        descend([box] * 3, (0, 0, 2, 2), rates=[1e308, 1e308])
    for rates in ([0.1, math.nan], [math.inf]):
        with pytest.raises(ValueError, match=r"^rates must be finite$"):
            descend(box, box, rates=rates)
    with pytest.raises(ValueError, match=r"^workers must be at least 1, it is 0$"):
        descend(box, box, rates=[0.1], workers=0)
    for size in (1e-200, 1e200):
        with pytest.raises(ValueError, match=r"its area leaves the range of float64$"):
            descend((0, 0, size, size), box, rates=[0.1])
    assert descend(box, (0, 0, 2, 2), rates=[]).boxes.tolist() == [0, 0, 1, 1]


def test_a_rule_of_ones_own_has_no_parameters():
    box = (0, 0, 1, 1)
    owners = {"power": (3, "alpha_iou"), "image": ((8, 6), "mpdiou"), "constant": (2, "nwd")}
    for name, (value, owner) in (owners | {"alpha": ("gated", "ciou")}).items():
        message = f"^{name} belongs to the loss '{owner}', not to a function$"
        with pytest.raises(ValueError, match=message):
            descend(box, box, towards, rates=[1], **{name: value})


def test_a_box_may_shrink_to_a_point_on_the_way():
    for measure in MEASURES:
        # The slope in a side is 1/4, in the IoU alone; so the first step takes all of it.
        end = descend((0, 0, 1, 1), (0, 0, 0.5, 0.5), measure, fmt="xywh", rates=[10, 0, 1e-3])
        assert end.path is None
        assert np.isfinite(end.boxes).all()
        end = descend((0, 0, 1, 1), (0, 0, 0.5, 0.5), measure, fmt="xywh", rates=[10, 0])
        assert end.boxes[2:].tolist() == [0, 0]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("fmt", ["xyxy", "cxcywh"])
def test_a_descent_needs_the_memory_it_says(fmt, workers):
    boxes = as_given(random_boxes(np.random.default_rng(20), 2**15), fmt)
    descend(boxes[:1], boxes[:1], fmt=fmt, rates=[])
    tracemalloc.start()
    descend(boxes, boxes[::-1], "ciou", fmt=fmt, rates=[0.1], workers=workers)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 600 * len(boxes) + workers * 2**24


@pytest.mark.parametrize("constant", [0.01, 0.25, 12.0])
def test_a_perfect_prediction_stays_where_it_is_by_nwd(constant):
    box = (0.5, 0.5, 0.2, 0.2)
    options = {"fmt": "cxcywh", "constant": constant}
    assert descend(box, box, "nwd", rates=[0.01], **options).boxes.tolist() == list(box)


@pytest.mark.parametrize("measure", ["iou", "giou", "diou", "ciou", "eiou"])
def test_flat_boxes_have_no_slope_however_long_they_are(measure):
    box = (0, 0, 9e5, 0)
    assert descend(box, box, measure, rates=[0.01]).boxes.tolist() == list(box)


def test_a_path_of_no_boxes_has_its_steps():
    assert descend([], [], rates=[0.1], path=True).path.shape == (2, 0, 4)


@pytest.mark.parametrize(
    ("rates", "error", "message"),
    [
        ([10**400], ValueError, "rates must be finite"),
        (["0.1"], TypeError, "a rate must be a real number, it is a str"),
        ([True], TypeError, "a rate must be a real number, it is a bool"),
    ],
)
def test_a_rate_is_a_finite_number(rates, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        descend((0, 0, 1, 1), (0, 0, 2, 2), rates=rates)


def test_a_name_is_text():
    with pytest.raises(ValueError, match=r"^unknown alpha "):
        loss((0, 0, 1, 1), (0, 0, 2, 2), "ciou", alpha=np.array(["gated", "x"]))
