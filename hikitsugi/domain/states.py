"""The states an issue can be shown in."""

from enum import StrEnum


class State(StrEnum):
    """Exactly one at a time; each has a label of its own on the forge."""

    PROCESSING = "processing"
    AWAITING_RESPONSE = "awaiting-response"
    COMPLETED = "completed"
    PAUSED = "paused"
    STOPPED = "stopped"
    FAILED = "failed"
