"""What is wrong with an IoU function: name the mistake from the answers that it gives.

The function is called on a few telling pairs of boxes, and on every way in which two boxes can lie
to each other. Where answers are wrong, known mistakes are tried in their place. A recipe says step
by step how a function computes, a mistake changes one step, and the mistake that gives the very
answers that came is the one that was made. Two mistakes at once are found the same way. One that is
not known is shown by a pair as simple as can be found.

Only the standard library and :mod:`iou.exact` are needed; arrays are tried where NumPy is there.
The rooms, each knowing only those before it:

=============== ===============================================================
``pairs``       the boxes on which a function is tried
``recipes``     how a function computes, step by step
``mistakes``    what a mistake is: a change of a recipe, in words
``terms``       those in the intersection, the quotient and the penalties
``arithmetic``  those in reading, adding 1, dividing, rounding, and in types
``catalogue``   all of them, and how they are searched
``calls``       calling a function, whatever it wants and whatever it does
``report``      what was found, as text and as HTML with drawings
``examination`` one function under examination: what was heard, what was found
``naming``      which mistakes explain the answers
``conventions`` what is a matter of policy, of types, or of manners
``shell``       the command line
=============== ===============================================================
"""

import warnings
from collections.abc import Callable
from typing import Any

from .. import exact
from .calls import article
from .conventions import judge
from .examination import Examination
from .naming import name_mistakes
from .pairs import RELATIONS, in_formats
from .recipes import MEASURES
from .report import Diagnosis, Example, Finding, drawing

__all__ = ["Diagnosis", "Example", "Finding", "diagnose", "drawing"]

# What users meet is called by where they find it.
Diagnosis.__module__ = Example.__module__ = Finding.__module__ = drawing.__module__ = __name__


def diagnose(
    function: Callable[..., Any],
    *,
    fmt: str = "xyxy",
    measure: str = "iou",
    time_limit: float = 10.0,
) -> Diagnosis:
    """Say which mistake a function of two boxes makes, if it makes one.

    Parameters
    ----------
    function : callable
        Takes two boxes and returns a number. The boxes are handed over as tuples, or where it does
        not take these as lists, arrays, tables of one row, or eight numbers. More arguments can
        be fixed by a ``lambda``.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What four numbers mean to it; see :mod:`iou.exact`.
    measure : {"iou", "giou", "diou", "ciou"}, default "iou"
        What it should compute.
    time_limit : float, default 10
        Seconds for all calls together. When they are over, the function's thread is asked to end.
        A single call into compiled code that never returns cannot be ended.

    Returns
    -------
    Diagnosis
        With ``passed``, ``findings`` and ``policies``; it prints as text, and a notebook shows it
        with drawings.

    Raises
    ------
    ValueError
        If `fmt` or `measure` is unknown, or `time_limit` is not above 0.
    TypeError
        If `function` cannot be called.

    Notes
    -----
    What is a matter of convention is no mistake, but a policy: whether an empty union gives 0 or 1,
    or is refused, whether the last pixel belongs to a box given by its corners, and what is made
    of a box that ends before it starts. NaN and ZeroDivisionError for an empty union are mistakes.

    Answers count as right within 2e-6, as float32 needs. Two mistakes at once are both named if
    they are known and change different steps of the computation; where two explanations fit all
    answers, the simpler one is given. For functions that take arrays, it is examined what they make
    of integers, which may wrap round, overflow, or lose halves.

    Examples
    --------
    >>> def overlap(a, b):
    ...     width = min(a[2], b[2]) - max(a[0], b[0])
    ...     height = min(a[3], b[3]) - max(a[1], b[1])
    ...     shared = max(0, width) * max(0, height)
    ...     areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    ...     return shared / areas if areas else 0
    >>> diagnosis = diagnose(overlap)
    >>> diagnosis.passed
    False
    >>> print(diagnosis.findings[0].name)
    intersection not subtracted
    >>> diagnosis.policies["empty union"]
    '0'

    Everything that was found, in words:

    >>> print(diagnosis)
    overlap: 1 mistake found.
    It was called with two tuples; a box is (x_min, y_min, x_max, y_max).
    <BLANKLINE>
    1. intersection not subtracted
       The sum of the areas is taken for the union, which counts twice what they share.
         (0, 0, 4, 4) and (0, 0, 4, 4)
         returned 0.5
         right    1
       Mend it: Subtract it once: union = area A + area B - intersection.
    <BLANKLINE>
    No mistakes, but good to know:
      sides: continuous, from x_min to x_max
      empty union (of two boxes without area): 0
      reversed corners (of a box with x_max < x_min): 0
      integers: convert arrays to float first: in uint8 a side below 0 wraps round to a large one
    """
    if not callable(function):
        raise TypeError(f"function cannot be called: it is {article(function)}")
    exact.field_names(fmt)
    if measure not in MEASURES:
        known = ", ".join(map(repr, MEASURES))
        raise ValueError(f"unknown measure {measure!r}; known are {known}")
    if not time_limit > 0:
        raise ValueError(f"time_limit = {time_limit!r}: it must be above 0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        examination = Examination(function, fmt, measure, time_limit)
        if examination.choose_form():
            _examine(examination)
        examination.report_time()
    return Diagnosis(
        examination.name,
        measure,
        fmt,
        tuple(examination.findings),
        examination.policies,
        examination.form.name,
        examination.caller.calls,
    )


def _examine(examination: Examination) -> None:
    """Go through everything that can be told from the answers."""
    heard = examination.hear([*examination.telling, *in_formats(RELATIONS, examination.fmt)])
    unusable = {
        pair: answer for pair, answer in heard.items() if answer.outcome in ("failed", "no number")
    }
    usable = {pair: answer for pair, answer in heard.items() if pair not in unusable}
    examination.report_unusable(unusable)
    name_mistakes(examination, usable)
    judge(examination, usable)
