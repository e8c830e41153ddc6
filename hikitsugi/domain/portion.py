"""As much of what waits as can be taken at once."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

_FRAME = 80
"""What the line above a comment's text takes."""


def portion(waiting: Iterable[T], size: Callable[[T], int], most: int, characters: int) -> tuple[T, ...]:
    """The first of those that wait, by number and by length; at least one, if there is any."""
    taken: list[T] = []
    for each in islice(waiting, most):
        characters -= _FRAME + size(each)
        if taken and characters < 0:
            break
        taken.append(each)
    return tuple(taken)
