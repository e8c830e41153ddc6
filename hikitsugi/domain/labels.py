"""What people ask for by moving labels, as a table."""

from collections.abc import Collection
from enum import StrEnum

from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.states import ENDED, State


class Wish(StrEnum):
    """What a set of labels means beside the state that should be shown."""

    NOTHING = "nothing"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    PUT_RIGHT = "put right"


def wish_in(labels: Collection[str], state: State, names: LabelNames) -> Wish:
    """`paused` added pauses, removed resumes; `stopped` added stops; anything else is put right."""
    shown = names.shown_by(labels)
    if shown == frozenset({state}):
        return Wish.NOTHING
    if State.STOPPED in shown and state not in ENDED:
        return Wish.STOP
    if State.PAUSED in shown and state is not State.PAUSED:
        return Wish.PAUSE
    if state is State.PAUSED and State.PAUSED not in shown:
        return Wish.RESUME
    return Wish.PUT_RIGHT


def wish_before(labels: Collection[str], was: State, wanted: State, names: LabelNames) -> Wish | None:
    """What somebody asks for on the way from one state to another; None when the label can be moved.

    A pause or a stop that the watcher has not told yet would else be taken off unheard.
    """
    wish = wish_in(labels, was, names)
    is_new = (wish is Wish.PAUSE and wanted is not State.PAUSED) or (wish is Wish.STOP and wanted not in ENDED)
    return wish if is_new else None
