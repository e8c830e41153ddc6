"""The states an issue can be shown in."""

from enum import StrEnum


class State(StrEnum):
    """Exactly one at a time; each but `available` has a label of its own on the forge."""

    PROCESSING = "processing"
    AWAITING_RESPONSE = "awaiting-response"
    COMPLETED = "completed"
    PAUSED = "paused"
    STOPPED = "stopped"
    FAILED = "failed"
    AVAILABLE = "available"
    IN_PROGRESS = "in-progress"
    NEEDS_REVIEW = "needs-review"


OF_OUR_WORK = (
    *(State.PROCESSING, State.AWAITING_RESPONSE, State.COMPLETED),
    *(State.PAUSED, State.STOPPED, State.FAILED),
)
"""The states of issues that the built-in agent works on; the others are those of external agents' issues."""

ENDED = frozenset({State.COMPLETED, State.STOPPED, State.FAILED})
"""The states in which no session is under way."""
