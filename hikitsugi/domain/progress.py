"""What the living comment of a session tells: model calls, troubles, the plan and what comes next."""

import json
from datetime import datetime
from typing import Any, cast

from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import Plan
from hikitsugi.domain.value import Value


class ReportedCall(Value):
    """A finished model call; `comment` is what the model itself said of it."""

    number: int
    phase: Phase
    subject: str = ""
    """The action it belongs to, if any."""
    comment: str = ""
    at: datetime


class Trouble(Value):
    """A tool or a model call that failed."""

    phase: Phase
    tool: str | None = None
    """The tool's name; None when it was the model."""
    message: str
    subject: str = ""
    is_retried: bool = True
    """Whether a model call is or was made again."""
    at: datetime


class Progress(Value):
    """Where a session stands, for people on the issue."""

    session: int
    state: str
    phase: Phase | None
    plan: Plan
    waiting_for: str
    calls: tuple[ReportedCall, ...]
    troubles: tuple[Trouble, ...]
    cost_usd: float | None
    tokens: int
    llm_calls: int = 0


def comment_in(reply: str) -> str:
    """The `comment` of a structured reply; empty where there is none."""
    try:
        said: Any = json.loads(reply)
    except ValueError:
        return ""
    comment: Any = cast("dict[str, Any]", said).get("comment") if isinstance(said, dict) else None
    return comment.strip() if isinstance(comment, str) else ""
