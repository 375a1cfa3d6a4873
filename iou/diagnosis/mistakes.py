"""What a mistake is: a change of a recipe, in words."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .recipes import Recipe


@dataclass(frozen=True)
class Mistake:
    """A change of a recipe, in words; with a policy, one that is a convention and no mistake."""

    name: str
    explanation: str
    remedy: str
    change: Mapping[str, Any]
    policy: str = ""


def ways(name: str, remedy: str, step: str, kinds: Mapping[str, Any]) -> Iterator[Mistake]:
    """Give the ways to make one mistake: each is an explanation, and what the step becomes."""
    for explanation, how in kinds.items():
        yield Mistake(name, explanation, remedy, {step: how})


def with_mistakes(base: Recipe, made: Iterable[Mistake]) -> Recipe:
    """Change the steps of a recipe in which mistakes are made."""
    return replace(base, **{step: how for mistake in made for step, how in mistake.change.items()})
