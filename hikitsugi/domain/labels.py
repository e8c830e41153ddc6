"""What people ask for by moving labels, as a table."""

from collections.abc import Collection
from enum import StrEnum

from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.states import State


class Wish(StrEnum):
    """What a set of labels means beside the state that should be shown."""

    NOTHING = "nothing"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    PUT_RIGHT = "put right"


_ENDED = frozenset({State.COMPLETED, State.STOPPED, State.FAILED})


def wish_in(labels: Collection[str], state: State, names: LabelNames) -> Wish:
    """`paused` added pauses, removed resumes; `stopped` added stops; anything else is put right."""
    shown = names.shown_by(labels)
    if shown == frozenset({state}):
        return Wish.NOTHING
    if State.STOPPED in shown and state not in _ENDED:
        return Wish.STOP
    if State.PAUSED in shown and state is not State.PAUSED:
        return Wish.PAUSE
    if state is State.PAUSED and State.PAUSED not in shown:
        return Wish.RESUME
    return Wish.PUT_RIGHT
