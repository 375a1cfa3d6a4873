"""The catalogue of mistakes, and how it is searched.

The mistakes are tried in the order in which they are listed, so where two give the same answers
everywhere, the first is named.
"""

import itertools
from collections.abc import Iterator, Sequence

from .arithmetic import epsilons, in_the_reading, in_the_result, in_the_sides, in_the_types
from .mistakes import Mistake
from .terms import in_the_intersection, in_the_penalties, in_the_quotient

# Of these, the large ones move every box, and the small ones only boxes of small area.
LARGE_EPSILONS = tuple(10.0**-k for k in range(6))
SMALL_EPSILONS = (*(10.0**-k for k in range(6, 15)), 2.0**-23)


def mistakes(fmt: str, measure: str) -> list[Mistake]:
    """List the mistakes that are known for a format and a measure, the common ones first.

    Examples
    --------
    >>> for name in list(dict.fromkeys(mistake.name for mistake in mistakes("xyxy", "iou")))[:3]:
    ...     print(name)
    sides not clamped
    product clamped instead of sides
    apart on one axis overlooked
    """
    return [
        *in_the_intersection(),
        *in_the_quotient(),
        *in_the_penalties(measure),
        *in_the_reading(fmt),
        *in_the_sides(fmt, measure),
        *in_the_result(measure),
        *in_the_types(),
        *epsilons(LARGE_EPSILONS),
    ]


def explanations(known: Sequence[Mistake]) -> Iterator[tuple[Mistake, ...]]:
    """Give each mistake, then all two that change different steps; policies count for nothing."""
    policies = [mistake for mistake in known if mistake.policy]
    errors = [mistake for mistake in known if not mistake.policy]
    for count in (0, 1, 2):
        for made in itertools.combinations(errors, count):
            for policy in [(), *((policy,) for policy in policies)]:
                steps = [step for mistake in (*policy, *made) for step in mistake.change]
                if len(set(steps)) == len(steps):
                    yield (*policy, *made)
