"""What a function does where it may choose, with integers, and with what it is given."""

from collections.abc import Mapping
from dataclasses import replace

from .calls import Answer, Form, forms, retyped
from .examination import BY_CONVENTION, Examination, alike
from .pairs import MINUTE, POINTS, Pair, in_format, in_formats, union, without_area
from .report import Example, shown_boxes

# Each of these boxes, given backward first, is the other.
BACKWARD: Pair = ((4, 4, 0, 0), (0, 0, 4, 2))
FORWARD: Pair = ((0, 0, 4, 4), (0, 0, 4, 2))
# Arrays of integers, of which the type holds a side, an area or half a side wrongly.
IN_INTEGERS: tuple[tuple[str, str, Pair], ...] = (
    ("unsigned numbers wrap", "uint8", ((0, 0, 2, 2), (4, 4, 6, 6))),
    ("unsigned numbers wrap", "uint8", ((0, 0, 2, 2), (0, 4, 2, 6))),
    ("unsigned numbers wrap", "uint8", ((0, 0, 200, 100), (100, 150, 250, 250))),
    ("integers overflow", "uint8", ((0, 0, 30, 30), (10, 0, 40, 30))),
    ("integers overflow", "int16", ((0, 0, 300, 300), (100, 0, 400, 300))),
    ("integers overflow", "int32", ((0, 0, 60000, 60000), (20000, 0, 80000, 60000))),
    ("halves cut to integers", "int64", ((2.5, 2.5, 5.5, 7.5), (3.5, 2.5, 6.5, 7.5))),
)
# An integer may give what a float gives but for this.
_FOR_INTEGERS = 1e-3
_OF_INTEGERS = {
    "unsigned numbers wrap": "a side below 0 wraps round to a large one",
    "integers overflow": "an area too large for the type wraps round to another",
    "halves cut to integers": "half of an odd side is cut to an integer",
}
_RETURN_0 = "Return 0 where the denominator is 0."
_EMPTY = (
    "no answer for an empty union",
    "Two boxes without area have the union 0, and 0/0 has no value.",
    _RETURN_0,
)
_FLAT = (
    "no answer for a box without area",
    "A box without width or height is divided by its side.",
    _RETURN_0,
)
_CHANGES = (
    "changes its input",
    "The boxes that it was given are not the same afterwards. The caller's next result is wrong.",
    "Work on copies, and write a = a + 1 in place of a += 1 for arrays.",
)


def judge(examination: Examination, heard: Mapping[Pair, Answer]) -> None:
    """Report what is wrong beside the formula, and tell the policies."""
    _judge_no_area(examination, heard)
    _judge_container(examination, heard)
    _judge_changes(examination)
    _judge_backward(examination)
    _judge_minute(examination)
    _judge_integers(examination)


def _judge_no_area(examination: Examination, heard: Mapping[Pair, Answer]) -> None:
    fmt, policies = examination.fmt, examination.policies
    for pair, answer in heard.items():
        empty = union(pair, fmt) == 0
        excused = examination.measure == "ciou" and without_area(pair, fmt)
        if answer.outcome == "undefined" and (empty or excused):
            right = BY_CONVENTION if empty else examination.shown_right(pair)
            example = replace(examination.example(pair, answer), right=right)
            examination.report(_EMPTY if empty else _FLAT, example)
            break
    points = in_format(POINTS, fmt)
    if points is not None and points in heard:
        policies["empty union"] = _told(heard[points])
    refused = [pair for pair, answer in heard.items() if answer.outcome == "refused"]
    if any(without_area(pair, fmt) and union(pair, fmt) for pair in refused):
        policies["no area"] = "refused"
    if any(min(pair[0]) < 0 for pair in refused):
        policies["negative coordinates"] = "refused"


def _judge_container(examination: Examination, heard: Mapping[Pair, Answer]) -> None:
    for pair, answer in heard.items():
        if answer.container and not examination.form.table:
            explanation = f"For two boxes it returns {answer.container}, not a number."
            remedy = "Return the number itself: float(result), or result.item()."
            example = replace(
                examination.example(pair, answer), returned=f"{answer.container}: {answer.shown}"
            )
            examination.report(("returns an array", explanation, remedy), example)
            return


def _judge_changes(examination: Examination) -> None:
    """See whether boxes that can be changed are as they were."""
    # Not all of these start at 0, and not all overlap: a branch may be all that changes them.
    pairs = [pair for pair in examination.telling if all(map(all, pair))][:3]
    pairs += examination.telling[1:3] + examination.telling[5:8]
    for form in (examination.form, *forms()):
        if form.apart or form.pack is tuple or form.name == "two lists of one box":
            continue
        for pair, answer in examination.hear(pairs, form).items():
            if answer.changed and answer.outcome in ("number", "undefined"):
                example = Example(pair, "with the boxes changed", "them as they are", form.name)
                examination.report(_CHANGES, example)
                return


def _judge_backward(examination: Examination) -> None:
    if examination.fmt == "xyxy":
        heard = examination.hear([BACKWARD, FORWARD])
        if len(heard) == 2:
            backward, forward = heard.values()
            same = backward.outcome == "number" and alike(backward, forward)
            examination.policies["reversed corners"] = "put in order" if same else _told(backward)


def _judge_minute(examination: Examination) -> None:
    """Look for an epsilon that no box in use would show."""
    if examination.known and examination.measure == "iou":
        heard = examination.hear(in_formats([MINUTE], examination.fmt))
        for pair, answer in examination.wrong(examination.recipe, heard).items():
            examination.policies["epsilon"] = (
                f"shows only in tiny boxes: {shown_boxes(pair)} give {answer.shown}, "
                f"right is {examination.shown_right(pair)}"
            )


def _judge_integers(examination: Examination) -> None:
    """See whether arrays of integers give what arrays of floats do."""
    form, native = _array_form(examination)
    if form is None:
        return
    for name, dtype, corners in IN_INTEGERS:
        integers = retyped(form, dtype)
        pairs = [
            pair
            for pair in in_formats([corners], examination.fmt)
            if all(isinstance(number, int) for box in pair for number in box)
        ]
        if integers is None or name in {finding.name for finding in examination.findings}:
            continue
        wide = examination.hear(pairs, form)
        for pair, answer in examination.hear(pairs, integers).items():
            if (
                wide[pair].number is None
                or answer.outcome not in ("number", "undefined")
                or alike(wide[pair], answer, _FOR_INTEGERS)
            ):
                continue
            if not native:
                examination.policies["integers"] = (
                    f"convert arrays to float first: in {dtype} {_OF_INTEGERS[name]}"
                )
                return
            explanation = f"In integers of the type {dtype} {_OF_INTEGERS[name]}."
            remedy = "Convert to float first: boxes = np.asarray(boxes, dtype=float)."
            example = replace(examination.example(pair, answer), boxes=integers.name)
            examination.report((name, explanation, remedy), example)


def _array_form(examination: Examination) -> tuple[Form | None, bool]:
    """Find arrays that the function takes, and tell whether it is made for them."""
    if examination.form.package is not None:
        return examination.form, True
    pairs = examination.telling[1:3]
    expected = examination.hear(pairs)
    for form in reversed(forms()):
        if form.package is not None:
            heard = examination.hear(pairs, form)
            if heard and all(alike(expected[pair], answer) for pair, answer in heard.items()):
                return form, form.table
    return None, False


def _told(answer: Answer) -> str:
    return f"refused ({answer.shown})" if answer.outcome in ("refused", "failed") else answer.shown
