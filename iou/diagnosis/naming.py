"""Naming the mistakes that explain a function's answers, or showing one that has no name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .. import exact
from .arithmetic import epsilons
from .calls import Answer
from .catalogue import LARGE_EPSILONS, SMALL_EPSILONS, explanations, mistakes
from .examination import Examination, agrees, alike
from .mistakes import Mistake, with_mistakes
from .pairs import Pair, is_box, union, without_area
from .report import Example

# Below this, a small epsilon shows.
_SMALL_UNION = 0.5
# Between these, float16 has its ten bits.
_HALF_RANGE = 2.0**-14, 65504.0

SIDES = {
    0: "continuous, from x_min to x_max",
    1: "inclusive, the last pixel belongs to the box and 1 is added to every side",
}
_SOME_EPSILON = (
    "epsilon in the denominator",
    "The smaller the boxes, the worse the result, as if a number were added to a denominator.",
    "Leave it out, and return 0 where the denominator is 0.",
)
_UNSTEADY = (
    "answers change",
    "It answers the same question in two ways.",
    "Let the result depend on the two boxes alone.",
)
_LOPSIDED = (
    "asymmetric",
    "The result changes when the two boxes change places, and it must not.",
    "Do with the second box what is done with the first; look for an a that should be a b.",
)
_NEARLY = (
    "inaccurate",
    "Every result is near the right one, and some are not near enough.",
    "Compute in float64, and round nothing on the way.",
)
_HALF_PRECISION = (
    "half precision",
    "Near the right result for boxes of middling size, and far off for others, as in float16.",
    "Convert to float64 first: float16 has three digits, and ends at 65504.",
)
_UNKNOWN = (
    "not a known mistake",
    "The answers are wrong in a way that no known mistake explains.",
    "Work out the first of these pairs by hand, and compare step by step.",
)


def name_mistakes(examination: Examination, heard: Mapping[Pair, Answer]) -> None:
    """Find what explains the answers, and report it."""
    examination.policies["sides"] = SIDES[examination.recipe.plus.shared]
    wrong = examination.wrong(examination.recipe, heard)
    if not wrong:
        return
    small = {
        pair: answer
        for pair, answer in heard.items()
        if 0 < union(pair, examination.fmt) < _SMALL_UNION
    }
    large = {pair: answer for pair, answer in heard.items() if pair not in small}
    made = _explanation(examination, large)
    if made is None:
        examination.known = False
        _report_unknown(examination, wrong)
        return
    epsilon = _epsilon(examination, made, small)
    _report_known(examination, (*made, *epsilon), heard)
    if not epsilon and (left := examination.wrong(examination.recipe, small)):
        # In several denominators at once, an epsilon is known by the boxes that it moves.
        examination.known = False
        examination.report(_SOME_EPSILON, examination.example(*next(iter(left.items()))))


def _explanation(
    examination: Examination, heard: Mapping[Pair, Answer]
) -> tuple[Mistake, ...] | None:
    """Find the mistakes, as few as possible, that give every answer."""
    # Pairs that came out wrong rule out more explanations than those that came out right.
    ordered = {**examination.wrong(examination.recipe, heard), **heard}.items()
    for made in explanations(mistakes(examination.fmt, examination.measure)):
        recipe = with_mistakes(examination.recipe, made)
        if all(examination.fits(recipe, pair, answer, float) for pair, answer in ordered):
            return made
    return None


def _epsilon(
    examination: Examination, made: Sequence[Mistake], heard: Mapping[Pair, Answer]
) -> Sequence[Mistake]:
    """Find the epsilon that explains what the mistakes found leave wrong, if that is it."""
    if not examination.wrong(with_mistakes(examination.recipe, made), heard):
        return ()
    sizes = *LARGE_EPSILONS, *SMALL_EPSILONS, *_estimated_epsilons(examination.fmt, heard)
    for mistake in epsilons(sizes):
        if not examination.wrong(with_mistakes(examination.recipe, (*made, mistake)), heard):
            return (mistake,)
    return ()


def _estimated_epsilons(fmt: str, heard: Mapping[Pair, Answer]) -> list[float]:
    """Tell which number in the denominator would explain the answers for small boxes."""
    found = []
    for pair, answer in heard.items():
        if answer.number:
            whole = float(exact.intersection(*pair, fmt=fmt)) / answer.number
            found += [whole, whole - float(union(pair, fmt))]
    return [number for number in found if number > 0]


def _report_known(
    examination: Examination, made: Sequence[Mistake], heard: Mapping[Pair, Answer]
) -> None:
    """Report mistakes that explain the answers, each with the first pair that it spoils."""
    policies = [mistake for mistake in made if mistake.policy]
    examination.right = with_mistakes(examination.right, policies)
    wrong = examination.wrong(examination.right, heard)
    for mistake in made:
        if mistake.policy == "sides":
            examination.policies["sides"] = SIDES[1]
        elif mistake.policy:
            examination.policies[mistake.policy] = mistake.explanation
        else:
            others = [other for other in made if other is not mistake]
            without = with_mistakes(examination.recipe, others)
            pair = [*examination.wrong(without, wrong), *wrong][0]
            words = mistake.name, mistake.explanation, mistake.remedy
            examination.report(words, examination.example(pair, heard[pair]))
    examination.recipe = with_mistakes(examination.recipe, made)


def _report_unknown(examination: Examination, wrong: Mapping[Pair, Answer]) -> None:
    """Report a mistake that is not known, by what can be seen of it."""
    pair, answer = next(iter(wrong.items()))
    if answer.outcome == "refused":
        examination.report_unusable({pair: answer})
        return
    first = examination.example(pair, answer)
    for again in examination.hear([pair]).values():
        if again.shown != answer.shown:
            examination.report(_UNSTEADY, first, examination.example(pair, again))
            return
    for (b, a), reply in examination.hear([(b, a) for a, b in wrong]).items():
        if not alike(wrong[a, b], reply):
            one, two = examination.example((a, b), wrong[a, b]), examination.example((b, a), reply)
            examination.report(_LOPSIDED, one, two)
            return
    far = {
        pair: answer
        for pair, answer in wrong.items()
        if not any(agrees(answer, value, 1e-2) for value in examination.right.answers(*pair))
    }
    if not far:
        examination.report(_NEARLY, first)
    elif all(union(pair, examination.fmt) < _SMALL_UNION for pair in far):
        examination.report(_SOME_EPSILON, examination.example(*next(iter(far.items()))))
    elif not any(_in_half_range(pair, examination.fmt) for pair in far):
        examination.report(_HALF_PRECISION, examination.example(*next(iter(far.items()))))
    else:
        shrunk = _shrunk(examination, pair)
        examination.report(_UNKNOWN, *filter(None, (shrunk, first)))


def _in_half_range(pair: Pair, fmt: str) -> bool:
    """Tell whether all that an IoU computes lies where float16 is good to three digits."""
    low, high = _HALF_RANGE
    areas = [
        *(exact.area(box, fmt=fmt) for box in pair),
        exact.intersection(*pair, fmt=fmt),
        sum(exact.area(box, fmt=fmt) for box in pair),
    ]
    return all(area == 0 or low <= area <= high for area in areas)


def _shrunk(examination: Examination, pair: Pair) -> Example | None:
    """Make the numbers of a pair smaller while the answer stays wrong."""
    best = None
    for _ in range(12):
        smaller = sorted(set(_smaller(pair, examination.fmt)), key=_size)
        wrong = examination.wrong(examination.right, examination.hear(smaller))
        if not wrong:
            break
        pair, answer = next(iter(wrong.items()))
        best = examination.example(pair, answer)
    return best


def _smaller(pair: Pair, fmt: str) -> Iterator[Pair]:
    """Give pairs with one number smaller, or all of an axis."""
    numbers = [*pair[0], *pair[1]]
    changes: tuple[Callable[[float], Any], ...] = (
        lambda n: 0,
        lambda n: n // 2,
        lambda n: n - 1 if n > 0 else n + 1,
    )
    for places in [*((place,) for place in range(8)), (0, 2, 4, 6), (1, 3, 5, 7)]:
        for change in changes:
            other = [change(n) if place in places else n for place, n in enumerate(numbers)]
            boxes: Any = tuple(other[:4]), tuple(other[4:])
            if (
                _size(boxes) < _size(pair)
                and all(is_box(box, fmt) for box in boxes)
                and not without_area(boxes, fmt)
            ):
                yield boxes


def _size(pair: Pair) -> tuple[int, float]:
    numbers = [*pair[0], *pair[1]]
    return sum(number != int(number) for number in numbers), sum(map(abs, numbers))
