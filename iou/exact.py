"""The definitions, for one pair of boxes, in exact arithmetic.

Every function here is the book's formula written down word for word. Coordinates are turned into
``fractions.Fraction``, so nothing is rounded, nothing overflows, and a result can be read as
a fraction. Only the standard library is used. The fast functions of the package are tested against
this module, and call it for the rare inputs that floating-point numbers cannot carry.

A box is four numbers in one of four formats:

=================== ==================================== =======================================
format              numbers                              the box covers
=================== ==================================== =======================================
``xyxy``            ``(x_min, y_min, x_max, y_max)``     from ``x_min`` to ``x_max``
``xywh``            ``(x_min, y_min, w, h)``             from ``x_min`` to ``x_min + w``
``cxcywh``          ``(x_c, y_c, w, h)``                 ``w / 2`` to either side of ``x_c``
``xyxy_inclusive``  ``(x_min, y_min, x_max, y_max)``     the pixels ``x_min`` to ``x_max``, both
                                                         included: up to ``x_max + 1``
=================== ==================================== =======================================

Examples
--------
>>> from iou import exact
>>> exact.iou((1, 1, 5, 5), (3, 2, 7, 6))
Fraction(3, 13)
>>> exact.iou((1, 1, 5, 5), (3, 2, 7, 6), fmt="xyxy_inclusive")
Fraction(6, 19)
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import atan2, pi
from numbers import Integral
from typing import Any

Corners = tuple[Fraction, Fraction, Fraction, Fraction]

CORNER_NAMES = "x_min", "y_min", "x_max", "y_max"
FORMATS = {
    "xyxy": CORNER_NAMES,
    "xywh": ("x_min", "y_min", "w", "h"),
    "cxcywh": ("x_c", "y_c", "w", "h"),
    "xyxy_inclusive": CORNER_NAMES,
}

# Each conversion is written once, for anything that can be added and halved: four Fractions
# here, four columns of an array in `boxes`.
TO_CORNERS: dict[str, Callable[[Any, Any, Any, Any], tuple[Any, Any, Any, Any]]] = {
    "xyxy": lambda x_min, y_min, x_max, y_max: (x_min, y_min, x_max, y_max),
    "xywh": lambda x_min, y_min, w, h: (x_min, y_min, x_min + w, y_min + h),
    "cxcywh": lambda x_c, y_c, w, h: (x_c - w / 2, y_c - h / 2, x_c + w / 2, y_c + h / 2),
    "xyxy_inclusive": lambda x_min, y_min, x_max, y_max: (x_min, y_min, x_max + 1, y_max + 1),
}
FROM_CORNERS: dict[str, Callable[[Any, Any, Any, Any], tuple[Any, Any, Any, Any]]] = {
    "xyxy": lambda x_min, y_min, x_max, y_max: (x_min, y_min, x_max, y_max),
    "xywh": lambda x_min, y_min, x_max, y_max: (x_min, y_min, x_max - x_min, y_max - y_min),
    "cxcywh": lambda x_min, y_min, x_max, y_max: (
        (x_min + x_max) / 2,
        (y_min + y_max) / 2,
        x_max - x_min,
        y_max - y_min,
    ),
    "xyxy_inclusive": lambda x_min, y_min, x_max, y_max: (x_min, y_min, x_max - 1, y_max - 1),
}


def corners(box: Iterable[Any], fmt: str = "xyxy") -> Corners:
    """Read a box of any format as exact, continuous corners.

    Parameters
    ----------
    box : iterable of four numbers
        Integers, floats, fractions or decimals; floats are taken at their exact binary value.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}
        What the four numbers mean.

    Returns
    -------
    tuple of four Fraction
        ``(x_min, y_min, x_max, y_max)``.

    Raises
    ------
    ValueError
        If `fmt` is unknown, if there are not four numbers, if one of them is NaN or infinite, or if
        the box ends before it starts.
    TypeError
        If one of them is no real number; a bool is not taken for one.

    Examples
    --------
    >>> corners((10, 20, 4, 2), fmt="cxcywh")
    (Fraction(8, 1), Fraction(19, 1), Fraction(12, 1), Fraction(21, 1))
    >>> corners((5, 0, 1, 2))
    Traceback (most recent call last):
        ...
    ValueError: x_max < x_min
    """
    names = field_names(fmt)
    numbers = tuple(box)
    if len(numbers) != 4:
        raise ValueError(f"a box has 4 numbers, this one has {len(numbers)}")
    first, second, third, fourth = map(_rational, names, numbers)
    for name, low_name, high, low in (
        (names[2], names[0], third, first),
        (names[3], names[1], fourth, second),
    ):
        if name in ("w", "h"):
            if high < 0:
                raise ValueError(f"{name} < 0")
        elif high < low:
            raise ValueError(f"{name} < {low_name}")
    return TO_CORNERS[fmt](first, second, third, fourth)


def field_names(fmt: str) -> tuple[str, str, str, str]:
    """Return the names of a format's four numbers, or raise ValueError if it is unknown."""
    try:
        return FORMATS[fmt]
    except (KeyError, TypeError):
        known = ", ".join(map(repr, FORMATS))
        raise ValueError(f"unknown box format {fmt!r}; known are {known}") from None


def _rational(name: str, number: Any) -> Fraction:
    if isinstance(number, bool):
        raise TypeError(f"{name} is a bool")
    if isinstance(number, Integral):
        return Fraction(int(number))
    try:
        return Fraction(*number.as_integer_ratio())
    except AttributeError:
        raise TypeError(f"{name} is a {type(number).__name__}, not a real number") from None
    except (ValueError, OverflowError):
        raise ValueError(f"{name} is {'NaN' if number != number else 'infinite'}") from None


def ratio(part: Fraction, whole: Fraction) -> Fraction:
    """Divide, with 0 / 0 defined to be 0.

    Examples
    --------
    >>> ratio(Fraction(0), Fraction(0))
    Fraction(0, 1)
    """
    return part / whole if whole else Fraction(0)


def _sides(box: Corners) -> tuple[Fraction, Fraction]:
    x_min, y_min, x_max, y_max = box
    return x_max - x_min, y_max - y_min


def _area(box: Corners) -> Fraction:
    width, height = _sides(box)
    return width * height


def _intersection(a: Corners, b: Corners) -> Fraction:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    return max(width, Fraction(0)) * max(height, Fraction(0))


def _hull(a: Corners, b: Corners) -> Corners:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def area(box: Iterable[Any], *, fmt: str = "xyxy") -> Fraction:
    """Area of a box.

    Examples
    --------
    >>> area((1, 1, 5, 5))
    Fraction(16, 1)
    >>> area((3, 3, 3, 7))
    Fraction(0, 1)
    """
    return _area(corners(box, fmt))


def intersection(a: Iterable[Any], b: Iterable[Any], *, fmt: str = "xyxy") -> Fraction:
    """Area that two boxes share: each side clamped at 0, then multiplied.

    Examples
    --------
    >>> intersection((1, 1, 5, 5), (3, 2, 7, 6))
    Fraction(6, 1)
    >>> intersection((0, 0, 2, 2), (4, 4, 6, 6))
    Fraction(0, 1)
    """
    return _intersection(corners(a, fmt), corners(b, fmt))


def union(a: Iterable[Any], b: Iterable[Any], *, fmt: str = "xyxy") -> Fraction:
    """Area that at least one of two boxes covers: A + B − A ∩ B.

    Examples
    --------
    >>> union((1, 1, 5, 5), (3, 2, 7, 6))
    Fraction(26, 1)
    """
    first, second = corners(a, fmt), corners(b, fmt)
    return _area(first) + _area(second) - _intersection(first, second)


def iou(a: Iterable[Any], b: Iterable[Any], *, fmt: str = "xyxy") -> Fraction:
    """Intersection over union; 0 where the union is 0.

    Examples
    --------
    >>> iou((0, 0, 4, 4), (2, 2, 6, 6))
    Fraction(1, 7)
    >>> iou((3, 3, 3, 3), (3, 3, 3, 3))
    Fraction(0, 1)
    """
    first, second = corners(a, fmt), corners(b, fmt)
    shared = _intersection(first, second)
    return ratio(shared, _area(first) + _area(second) - shared)


def giou(a: Iterable[Any], b: Iterable[Any], *, fmt: str = "xyxy") -> Fraction:
    """IoU less the share of the enclosing box that neither box covers (arXiv:1902.09630).

    Examples
    --------
    >>> giou((0, 0, 4, 2), (0, 0, 2, 4))
    Fraction(1, 12)
    >>> giou((0, 0, 1, 1), (2, 0, 3, 1))
    Fraction(-1, 3)
    """
    first, second = corners(a, fmt), corners(b, fmt)
    hull = _area(_hull(first, second))
    return iou(first, second) - ratio(hull - union(first, second), hull)


def diou(a: Iterable[Any], b: Iterable[Any], *, fmt: str = "xyxy") -> Fraction:
    """IoU less (distance of the centres / diagonal of the enclosing box)² (arXiv:1911.08287).

    Examples
    --------
    >>> diou((0, 0, 4, 2), (0, 0, 2, 4))
    Fraction(13, 48)
    """
    first, second = corners(a, fmt), corners(b, fmt)
    dx = (second[0] + second[2] - first[0] - first[2]) / 2
    dy = (second[1] + second[3] - first[1] - first[3]) / 2
    width, height = _sides(_hull(first, second))
    return iou(first, second) - ratio(dx**2 + dy**2, width**2 + height**2)


def ciou(a: Iterable[Any], b: Iterable[Any], *, fmt: str = "xyxy") -> float:
    """DIoU less αv, the penalty for different aspect ratios (arXiv:1911.08287).

    ``v = 4/π² (atan2(w_b, h_b) − atan2(w_a, h_a))²`` and ``α = v / ((1 − IoU) + v)``. The two
    angles are subtracted as fractions, so that only one arctangent is ever rounded; the aspect
    angle of a point is ``atan2(0, 0)``, which is 0.

    Returns
    -------
    float
        An arctangent is no fraction; the value is good to a few units in the last place of 1.

    Examples
    --------
    >>> round(ciou((0, 0, 4, 2), (0, 0, 2, 4)), 12)
    0.237081664923
    >>> ciou((0, 0, 2, 4), (0, 0, 2, 4))
    1.0
    """
    first, second = corners(a, fmt), corners(b, fmt)
    (w_a, h_a), (w_b, h_b) = _direction(first), _direction(second)
    opposite, adjacent = w_b * h_a - w_a * h_b, h_a * h_b + w_a * w_b
    longer = max(abs(opposite), adjacent)
    angle = atan2(opposite / longer, adjacent / longer)
    v = Fraction(4 / pi**2 * angle**2)
    alpha = ratio(v, (1 - iou(first, second)) + v)
    return float(diou(first, second) - alpha * v)


def _direction(box: Corners) -> tuple[Fraction, Fraction]:
    width, height = _sides(box)
    return (width, height) if width or height else (Fraction(0), Fraction(1))
