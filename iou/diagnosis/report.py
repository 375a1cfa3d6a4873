"""What was found, as text and as HTML with drawings."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from .. import exact
from ..exact import Corners
from .pairs import Box, Pair
from .recipes import MEASURES, ONE, sides

_BEFORE_POLICIES = "No mistakes, but good to know:"
# Of policies whose names do not say it.
_MEANINGS = {
    "empty union": " (of two boxes without area)",
    "reversed corners": " (of a box with x_max < x_min)",
    "no area": " (of one of the boxes)",
}


@dataclass(frozen=True)
class Example:
    """One call: the two boxes, what came back and what is right.

    Attributes
    ----------
    pair : tuple of two boxes
        What the function was given, in its format.
    returned, right : str
        What came back, and what should have.
    boxes : str, default "two tuples"
        What the boxes were handed over as: tuples, lists, or arrays of some type and shape.
    """

    pair: Pair
    returned: str
    right: str
    boxes: str = "two tuples"


@dataclass(frozen=True)
class Finding:
    """Something that is wrong, in words, with the input that shows it.

    Attributes
    ----------
    name : str
        The mistake, in a few words; the same for the same mistake.
    explanation, remedy : str
        What the code seems to do, and how to mend it.
    examples : tuple of Example
        Inputs that show it, the simplest first.
    """

    name: str
    explanation: str
    remedy: str
    examples: tuple[Example, ...]

    @property
    def pair(self) -> Pair:
        """The simplest two boxes that show it, in the format of the function."""
        return self.examples[0].pair

    @property
    def returned(self) -> str:
        """What the function answered to `pair`."""
        return self.examples[0].returned

    @property
    def right(self) -> str:
        """What is right for `pair`."""
        return self.examples[0].right


@dataclass(frozen=True)
class Diagnosis:
    """What :func:`iou.diagnose` found; it prints as text, and in a notebook with drawings.

    Attributes
    ----------
    function : str
        The function's name.
    measure, fmt : str
        What it was compared with, and the format in which it was given the boxes.
    findings : tuple of Finding
        What is wrong; empty if nothing is.
    policies : dict of str to str
        How it decides what is a matter of convention: ``"sides"`` (continuous or inclusive),
        ``"empty union"``, ``"reversed corners"``, and where there is something to say
        ``"no area"``, ``"negative coordinates"``, ``"epsilon"``, ``"alpha"`` and ``"integers"``.
    called_with : str
        The kind of arguments that it took.
    calls : int
        How often it was called.
    """

    function: str
    measure: str
    fmt: str
    findings: tuple[Finding, ...]
    policies: Mapping[str, str]
    called_with: str
    calls: int

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def _verdict(self) -> str:
        if self.passed:
            return f"{self.function} computes {MEASURES[self.measure]}"
        count = len(self.findings)
        return f"{self.function}: {count} {'mistake' if count == 1 else 'mistakes'} found"

    @property
    def _conditions(self) -> str:
        order = ", ".join(exact.FORMATS[self.fmt])
        if self.fmt == "xyxy_inclusive":
            order += ", the last pixel included"
        return f"It was called with {self.called_with}; a box is ({order})."

    def __str__(self) -> str:
        lines = [f"{self._verdict}.", self._conditions]
        for number, finding in enumerate(self.findings, 1):
            lines += [
                "",
                f"{number}. {finding.name}",
                *_wrapped(finding.explanation),
                *(f"   {line}" for each in finding.examples for line in _example_lines(each)),
                *_wrapped(f"Mend it: {finding.remedy}"),
            ]
        if self.policies:
            lines += ["", _BEFORE_POLICIES, *(f"  {line}" for line in self._policy_lines())]
        return "\n".join(lines)

    def _policy_lines(self) -> list[str]:
        return [f"{name}{_MEANINGS.get(name, '')}: {text}" for name, text in self.policies.items()]

    def _repr_html_(self) -> str:
        findings = "".join(
            f"<li><strong>{escape(finding.name)}</strong>"
            f"<p>{escape(finding.explanation)}</p>"
            + "".join(_example_html(example, self.fmt) for example in finding.examples)
            + f"<p>Mend it: {escape(finding.remedy)}</p></li>"
            for finding in self.findings
        )
        policies = "".join(f"<li>{escape(line)}</li>" for line in self._policy_lines())
        return (
            f'<div class="iou-diagnosis"><p><strong>{escape(self._verdict)}.</strong> '
            f"{escape(self._conditions)}</p>"
            + (f"<ol>{findings}</ol>" if findings else "")
            + (f"<p>{_BEFORE_POLICIES}</p><ul>{policies}</ul>" if policies else "")
            + "</div>"
        )


def _wrapped(text: str) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > 90:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return [f"   {line}" for line in lines]


def _shown_box(box: Box) -> str:
    return f"({', '.join(f'{number:.9g}' for number in box)})"


def shown_boxes(pair: Pair) -> str:
    """Write two boxes for a reader."""
    return " and ".join(map(_shown_box, pair))


def _example_lines(example: Example) -> list[str]:
    kind = "" if example.boxes == "two tuples" else f", as {example.boxes}"
    return [
        f"  {shown_boxes(example.pair)}{kind}",
        f"  returned {example.returned}",
        f"  right    {example.right}",
    ]


def _example_html(example: Example, fmt: str) -> str:
    kind = "" if example.boxes == "two tuples" else f", as {example.boxes}"
    return (
        f"{drawing(example.pair, fmt)}<p><code>{escape(shown_boxes(example.pair))}</code>"
        f"{escape(kind)}: returned <code>{escape(example.returned)}</code>, "
        f"right is <code>{escape(example.right)}</code></p>"
    )


def drawing(pair: Pair, fmt: str = "xyxy") -> str:
    """Draw two boxes as SVG: the first solid, the second dashed, what they share filled.

    Lines take the colour of the text around them, so that the drawing suits a light page and a dark
    one. The y axis points down.

    Parameters
    ----------
    pair : two sequences of four numbers
        The boxes.
    fmt : {"xyxy", "xywh", "cxcywh", "xyxy_inclusive"}, default "xyxy"
        What their numbers mean.

    Returns
    -------
    str
        An ``<svg>`` element. The longer side of what the boxes span is 160 units long, whatever
        their size, and 10 are left free around them.

    Raises
    ------
    ValueError
        If `fmt` is unknown, if there are not two boxes, and as :func:`iou.exact.corners` does.
    TypeError
        If a coordinate is no real number.

    Examples
    --------
    >>> drawing(((0, 0, 4, 4), (2, 2, 6, 6))).count("<rect")
    3

    Of boxes that share no area nothing is filled, and one without area is a line or a point:

    >>> drawing(((3, 3, 3, 3), (0, 0, 0, 4))).count("<rect")
    2
    >>> drawing(((0, 0, 4, 4), (2, 2, 6, 6)), fmt="yxyx")
    Traceback (most recent call last):
        ...
    ValueError: unknown box format 'yxyx'; known are 'xyxy', 'xywh', 'cxcywh', 'xyxy_inclusive'
    """
    a, b = (exact.corners(box, fmt) for box in pair)
    left, top, right, bottom = (pick(a[i], b[i]) for i, pick in enumerate((min, min, max, max)))
    scale = 160 / (max(right - left, bottom - top) or ONE)

    def rect(box: Corners, look: str) -> str:
        numbers = box[0] - left, box[1] - top, *sides(box)
        x, y, width, height = (round(float(number * scale), 2) for number in numbers)
        corner = f'x="{x + 10:g}" y="{y + 10:g}"'
        return f'<rect {corner} width="{width:g}" height="{height:g}" {look}/>'

    outline = 'fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round"'
    rects = [rect(a, outline), rect(b, f'{outline} stroke-dasharray="6 4"')]
    shared = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    if shared[0] < shared[2] and shared[1] < shared[3]:
        rects.insert(0, rect(shared, 'fill="currentColor" fill-opacity="0.25"'))
    width, height = (float(side * scale) + 20 for side in (right - left, bottom - top))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">'
        f"<title>The boxes {escape(shown_boxes(pair))}</title>"
        "<desc>The first box is solid, the second dashed, and what they share is filled. "
        f"The y axis points down.</desc>{''.join(rects)}</svg>"
    )
