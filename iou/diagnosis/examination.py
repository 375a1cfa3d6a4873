"""One function under examination: what was heard from it, and what was found."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .calls import Answer, Caller, Form, forms
from .pairs import PROBES, TELLING, Pair, in_formats, without_area
from .recipes import ZERO, Recipe, Value, right_recipe
from .report import Example, Finding

# An answer may be off by this much, relative to 1 or to itself. Arithmetic in float32 needs it, and
# every mistake does more than that somewhere.
TOLERANCE = 2e-6
BY_CONVENTION = "0, by convention"

# What Python and NumPy say of an integer that its type does not hold.
_NOT_HELD = re.compile(
    r"OverflowError: .*(out of bounds for|int too (large|big) to convert(?! to float)|than maximum)"
)
# Errors that may come from the kind of arguments.
_OF_ARGUMENTS = "TypeError", "AttributeError", "IndexError", "KeyError", "ValueError"
_OVERFLOW = (
    "integers overflow",
    "It keeps coordinates in integers of too few bits.",
    "Convert to float first.",
)
_EXCEPTION = (
    "raises an exception",
    "It stops with an exception, although the two boxes are in order.",
    "Read the message; call the function with these two boxes to see it.",
)


class Examination:
    """What is known of a function: how it is called, how it computes, what is wrong.

    Attributes
    ----------
    right, recipe : Recipe
        How it should compute by its own conventions, and how it does compute, as far as is known.
    form : Form
        How it is called.
    known : bool
        Whether `recipe` explains all answers.
    """

    def __init__(
        self, function: Callable[..., Any], fmt: str, measure: str, seconds: float
    ) -> None:
        name = getattr(function, "__name__", None)
        self.name = name if isinstance(name, str) else type(function).__name__
        self.fmt, self.measure = fmt, measure
        self.caller = Caller(function, seconds)
        self.right = self.recipe = right_recipe(fmt, measure)
        self.telling = in_formats(TELLING, fmt)
        self.form = forms()[0]
        self.known = True
        self.findings: list[Finding] = []
        self.policies: dict[str, str] = {}

    def hear(self, pairs: Sequence[Pair], form: Form | None = None) -> dict[Pair, Answer]:
        """Call the function for each pair; there are fewer answers if the time is up."""
        return dict(zip(pairs, self.caller.ask(form or self.form, pairs), strict=False))

    def choose_form(self) -> bool:
        """Find arguments for which the function returns a number; report it if there are none."""
        first = [*self.telling[:2], *in_formats(PROBES, self.fmt)]
        heard: dict[Form, dict[Pair, Answer]] = {}
        in_container: Form | None = None
        for form in forms():
            heard[form] = self.hear(first, form)
            if self.caller.interrupted_at:
                self.form = form
                return False
            numbers = [answer for answer in heard[form].values() if answer.outcome == "number"]
            if not numbers:
                continue
            if form.table or not any(answer.container for answer in numbers):
                self.form = form
                return True
            in_container = in_container or form
        if in_container is not None:
            self.form = in_container
            return True
        # It took none: an error that does not come from the kind of arguments says the most.
        telling = [
            form
            for form, answers in heard.items()
            if not answers[first[0]].shown.startswith(_OF_ARGUMENTS)
        ]
        self.form = [*telling, *heard][0]
        self.report_unusable(heard[self.form])
        return False

    def fits(
        self,
        recipe: Recipe,
        pair: Pair,
        answer: Answer,
        number: Callable[[float], Any] = Fraction,
        tolerance: float = TOLERANCE,
    ) -> bool:
        """Tell whether a function of this recipe may give this answer."""
        if answer.outcome == "refused":
            return recipe.may_refuse(*pair)
        if self.measure == "ciou" and without_area(pair, self.fmt):
            return True  # What the aspect ratio of a line is, is a matter of convention.
        return any(agrees(answer, value, tolerance) for value in recipe.answers(*pair, number))

    def wrong(self, recipe: Recipe, heard: Mapping[Pair, Answer]) -> dict[Pair, Answer]:
        """Tell the answers that a function of this recipe does not give."""
        return {
            pair: answer for pair, answer in heard.items() if not self.fits(recipe, pair, answer)
        }

    def example(self, pair: Pair, answer: Answer) -> Example:
        """Show a call beside what is right."""
        return Example(pair, answer.shown, self.shown_right(pair), self.form.name)

    def shown_right(self, pair: Pair) -> str:
        """Write what is right for a reader, as a fraction where that is short."""
        values = self.right.answers(*pair)
        if None in values:
            return BY_CONVENTION
        value = values[0] or ZERO
        if isinstance(value, float) or value.denominator == 1 or value.denominator > 10**6:
            return f"{float(value):.6g}"
        return f"{value} = {float(value):.6g}"

    def report(self, words: tuple[str, str, str], *examples: Example) -> None:
        """Add a finding: name, explanation and remedy, and inputs that show it."""
        self.findings.append(Finding(*words, examples))

    def report_unusable(self, unusable: Mapping[Pair, Answer]) -> None:
        """Report the first exception, and the first thing returned that is no number."""
        reported = set()
        for pair, answer in unusable.items():
            returned = answer.outcome in ("no number", "undefined")
            if returned not in reported:
                reported.add(returned)
                self.report(_unusable(answer, returned), self.example(pair, answer))

    def report_time(self) -> None:
        """Report it if the time was up."""
        pair = self.caller.interrupted_at
        if pair is not None:
            explanation = (
                "It did not come back, as happens in an endless loop."
                if self.caller.stuck
                else f"The time was up after {self.caller.calls} calls: it takes very long."
            )
            remedy = "Four comparisons and a few products are all that is needed: no loop."
            self.report(
                ("no answer in time", explanation, remedy),
                self.example(pair, Answer("nothing in time")),
            )


def _unusable(answer: Answer, returned: bool) -> tuple[str, str, str]:
    if returned:
        return (
            "returns no number",
            f"It returns {answer.shown}, and not a number.",
            "Return one number for two boxes, on every way through the function.",
        )
    return _OVERFLOW if _NOT_HELD.match(answer.shown) else _EXCEPTION


def agrees(answer: Answer, value: Value, tolerance: float) -> bool:
    """Tell whether a function answered what a recipe does."""
    number = math.nan if value is None else float(value)
    if answer.number is None or not math.isfinite(number):
        return answer.number is None and not math.isfinite(number)
    return _near(answer.number, number, tolerance)


def alike(one: Answer, other: Answer, tolerance: float = TOLERANCE) -> bool:
    """Tell whether a function answered the same twice."""
    if one.number is None or other.number is None:
        return one.outcome == other.outcome
    return _near(other.number, one.number, tolerance)


def _near(number: float, right: float, tolerance: float) -> bool:
    return abs(number - right) <= tolerance * max(1.0, abs(right))
