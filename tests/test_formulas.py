"""The memory that formulas write into, and the formats that they read and write."""

from fractions import Fraction

import numpy as np
import pytest

from iou import exact
from iou.formulas import FORMATS, Room, positive

every_format = pytest.mark.parametrize("fmt", list(exact.FORMATS))


def test_a_room_hands_out_the_same_memory_each_round():
    room = Room(128)
    kept = room.take(4)
    mark = room.mark()
    first, second, passing = room.take(2, 2), room.take(), room.passage.take(3)
    assert first.shape == (2, 2, 128)
    assert second.shape == (128,)
    arrays = [kept, first, second, passing]
    for k, one in enumerate(arrays):
        assert not any(np.shares_memory(one, other) for other in arrays[:k])
    room.clear(mark)
    assert np.shares_memory(room.take(3), first)
    assert np.shares_memory(room.passage.take(), passing)
    assert not np.shares_memory(room.take(), kept)


def test_a_room_that_is_full_says_so():
    room = Room(4)
    room.take(50)
    with pytest.raises(ValueError, match=r"^a room of 64 planes is full$"):
        room.take(50)


def test_a_denominator_of_0_becomes_1_and_no_other_changes():
    room = Room(3)
    assert positive(np.array([0.0, 2.0, 2.0**-1022]), room).tolist() == [1, 2, 2**-1022]
    for rest in (2.0, np.nan):
        with pytest.raises(FloatingPointError):
            positive(np.array([0.0, 2.0**-1023, rest]), room)
    small = np.array([Fraction(0), Fraction(1, 2**1030), Fraction(2)])
    assert positive(small, Room(3, dtype=object)).tolist() == [1, Fraction(1, 2**1030), 2]


@every_format
def test_edges_and_sides_are_those_of_the_definition(fmt):
    numbers = np.random.default_rng(0).integers(1, 100, (4, 30)).astype(float)
    if "w" not in exact.FORMATS[fmt]:
        numbers[2:] += numbers[:2]
    found = FORMATS[fmt].rectangles(numbers, Room(30))
    for column in range(30):
        corners = x_min, y_min, x_max, y_max = exact.corners(numbers[:, column].tolist(), fmt)
        assert found.edges[..., column].ravel().tolist() == list(corners)
        assert found.sides[:, column].tolist() == [x_max - x_min, y_max - y_min]
        assert found.area[column] == exact.area(numbers[:, column].tolist(), fmt=fmt)


@every_format
@pytest.mark.parametrize("kind", [float, object])
def test_slopes_in_the_numbers_follow_the_edges_that_they_move(fmt, kind):
    # Along any direction, the slope is that of the edges, the low ones counted outward.
    rng = np.random.default_rng(1)
    outward = rng.integers(-9, 9, (2, 2, 5)).astype(kind)
    direction = [Fraction(int(k)) for k in rng.integers(-9, 9, 4)]
    gradient = np.empty((4, 5), kind)
    FORMATS[fmt].slopes(*outward, gradient, Room(5, dtype=kind))
    low_x, low_y, high_x, high_y = exact.TO_CORNERS[fmt](*direction)
    start = exact.TO_CORNERS[fmt](*[Fraction(0)] * 4)
    moved = [end - begin for end, begin in zip((low_x, low_y, high_x, high_y), start, strict=True)]
    signs = np.array([-1, -1, 1, 1])
    for column in range(5):
        expected = sum(signs * outward[..., column].ravel() * np.array(moved, dtype=object))
        slopes = (Fraction(float(slope)) for slope in gradient[:, column])
        assert sum(slope * d for slope, d in zip(slopes, direction, strict=True)) == expected
