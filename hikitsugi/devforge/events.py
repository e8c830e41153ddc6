"""What a webhook tells, in whichever forge's words."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """An event's name, its action where it has one, and the payload."""

    name: str
    action: str | None
    payload: dict[str, Any]
