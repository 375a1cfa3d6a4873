"""What the tests of the measures share."""

from itertools import combinations_with_replacement, product

import numpy as np

_SPANS = list(combinations_with_replacement(range(4), 2))
# Every box with corners on a grid of 4 by 4: with themselves, they have every way in which two
# boxes can meet, touch, nest, cross, or be apart, with and without area.
GRID = [(x[0], y[0], x[1], y[1]) for x, y in product(_SPANS, _SPANS)]


def bits(value):
    """What tells apart every two floats, 0.0 and -0.0 too."""
    return np.asarray(value, dtype=np.float64).tobytes()
