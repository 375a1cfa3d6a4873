"""Naming the mistakes that explain a function's answers, or showing one that has no name."""

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .arithmetic import Half, epsilons, scattered_epsilons
from .calls import Answer
from .catalogue import LARGE_EPSILONS, SMALL_EPSILONS, explanations, mistakes
from .examination import Examination, alike
from .mistakes import Mistake, with_mistakes
from .pairs import MOVED_IN_HALF, SMALL, Pair, in_formats, is_box, union, without_area
from .report import Example

# Below this, a small epsilon shows.
_SMALL_UNION = 0.5
# What is near is off by no more than this; a number of three digits may be.
_NEAR = 1e-2
_POWERS_OF_TEN = tuple(10.0**k for k in range(-15, 4))

SIDES = {
    0: "continuous, from x_min to x_max",
    1: "inclusive, the last pixel belongs to the box and 1 is added to every side",
}
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
    "The answers are those of float16: right for boxes of middling size, and far off for others.",
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
    if not examination.wrong(examination.recipe, heard):
        return
    small = {
        pair: answer
        for pair, answer in heard.items()
        if 0 < union(pair, examination.fmt) < _SMALL_UNION
    }
    large = {pair: answer for pair, answer in heard.items() if pair not in small}
    made = _explanation(examination, large)
    unexplained = heard if made is None else small
    made = made or ()
    made = (*made, *_epsilon(examination, made, unexplained))
    _report_known(examination, made, heard)
    left = examination.wrong(examination.recipe, unexplained)
    if left:
        examination.known = False
        _report_unknown(examination, left)


def _explanation(
    examination: Examination, heard: Mapping[Pair, Answer]
) -> tuple[Mistake, ...] | None:
    """Find the mistakes, as few as possible, that give every answer."""
    # Pairs that came out wrong rule out more explanations than those that came out right.
    ordered = {**examination.wrong(examination.recipe, heard), **heard}
    for made in explanations(mistakes(examination.fmt, examination.measure)):
        if _explains(examination, made, ordered):
            return made
    return None


def _explains(
    examination: Examination, made: Iterable[Mistake], heard: Mapping[Pair, Answer]
) -> bool:
    recipe = with_mistakes(examination.recipe, made)
    return all(examination.fits(recipe, pair, answer, float) for pair, answer in heard.items())


def _epsilon(
    examination: Examination, made: Sequence[Mistake], heard: Mapping[Pair, Answer]
) -> tuple[Mistake, ...]:
    """Find the epsilon that explains what the mistakes found leave wrong, if that is it."""
    wrong = examination.wrong(with_mistakes(examination.recipe, made), heard)
    if not wrong:
        return ()
    # A number that was fitted to one answer must give others too.
    others = examination.hear(in_formats(SMALL, examination.fmt))
    ordered = {**wrong, **others, **heard}
    sizes = *LARGE_EPSILONS, *SMALL_EPSILONS
    usual = (epsilon for size in sizes for epsilon in _epsilons(examination, made, size))
    for epsilon in itertools.chain(usual, _fitted_epsilons(examination, made, wrong)):
        if _explains(examination, (*made, epsilon), ordered):
            return (epsilon,)
    return ()


def _epsilons(examination: Examination, made: Sequence[Mistake], size: float) -> list[Mistake]:
    """List the places for an epsilon of this size that mistakes have left as they were."""
    changed = {step for mistake in made for step in mistake.change}
    places = *epsilons([size]), *scattered_epsilons(size, examination.measure)
    return [mistake for mistake in places if changed.isdisjoint(mistake.change)]


def _fitted_epsilons(
    examination: Examination, made: Sequence[Mistake], wrong: Mapping[Pair, Answer]
) -> Iterator[Mistake]:
    """Give the epsilons that explain the answer that is most wrong."""

    def value(pair: Pair, *epsilon: Mistake) -> float:
        recipe = with_mistakes(examination.recipe, (*made, *epsilon))
        return float(recipe.answers(*pair, float)[0] or 0)

    off = [
        (abs(answer.number - value(pair)), answer.number, pair)
        for pair, answer in wrong.items()
        if answer.number and union(pair, examination.fmt)
    ]
    if off:
        _, number, pair = max(off)

        def error(place: int, size: float) -> float:
            return value(pair, _epsilons(examination, made, size)[place]) - number

        for place in range(len(_epsilons(examination, made, 1.0))):
            for size in _roots(functools.partial(error, place)):
                yield _epsilons(examination, made, size)[place]


def _roots(error: Callable[[float], float]) -> Iterator[float]:
    """Give the sizes at which an error changes its sign, one of each power of ten."""
    for low, high in itertools.pairwise(_POWERS_OF_TEN):
        if error(low) * error(high) <= 0:
            for _ in range(60):
                middle = math.sqrt(low * high)
                if error(low) * error(middle) <= 0:
                    high = middle
                else:
                    low = middle
            yield low


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
        if not examination.fits(examination.recipe, pair, answer, tolerance=_NEAR)
    }
    if _in_half_precision(examination, wrong):
        example = examination.example(*next(iter(far.items()))) if far else first
        examination.report(_HALF_PRECISION, example)
    elif not far:
        examination.report(_NEARLY, first)
    else:
        shrunk = _shrunk(examination, pair)
        examination.report(_UNKNOWN, *filter(None, (shrunk, first)))


def _in_half_precision(examination: Examination, wrong: Mapping[Pair, Answer]) -> bool:
    """Tell whether float16 gives the answers, or float16 coordinates and then exact arithmetic."""
    moved = in_formats(MOVED_IN_HALF, examination.fmt)
    heard = {**wrong, **examination.hear(moved)}
    kinds: tuple[Callable[[float], float], ...] = Half, lambda number: float(Half(number))
    return heard.keys() >= set(moved) and any(
        all(
            examination.fits(examination.recipe, pair, answer, kind, _NEAR)
            for pair, answer in heard.items()
        )
        for kind in kinds
    )


def _shrunk(examination: Examination, pair: Pair) -> Example | None:
    """Make the numbers of a pair smaller while the answer stays wrong."""
    best = None
    for _ in range(12):
        smaller = sorted(set(_smaller(pair, examination.fmt)), key=_size)
        wrong = examination.wrong(examination.recipe, examination.hear(smaller))
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
