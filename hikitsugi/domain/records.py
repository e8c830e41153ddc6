"""What the store keeps of the work on an issue, for people and for later sessions."""

from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Usage
from hikitsugi.domain.tools import Intent, ToolOutcome
from hikitsugi.domain.value import Value

RUNNING = "running"


class Use(Value):
    """What the model was used for in a session; the cost is None when a price is unknown."""

    model: str | None = None
    llm_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal | None = None


class Task(Value):
    """One session on an issue: when it ran, how it ended, what it used."""

    key: str
    issue: IssueAddress
    session: int
    status: str = RUNNING
    started_at: datetime
    ended_at: datetime | None = None
    use: Use = Use()


class PhaseResult(Value):
    """What a phase of planned work came to: a plan, revision, reflection, verification or replan decision."""

    session: int
    phase: str
    sequence: int
    result: dict[str, JsonValue]
    at: datetime


class RecordedCall(Value):
    """One call of the model; `number` counts the calls of a session, `phase` is what its conversation was for."""

    number: int
    phase: str
    subject: str = ""
    """The action of a plan it belongs to, if any."""
    conversation: str
    sequence: int
    text: str
    tools: tuple[str, ...] = ()
    """The tool calls it made, in a few words each."""
    stop_reason: str
    model: str
    usage: Usage = Usage()
    cost_usd: Decimal | None = None
    price_version: str | None = None
    at: datetime


class RecordedRun(Value):
    """One tool run of a session; without an outcome it was cut off."""

    session: int
    phase: str = ""
    subject: str = ""
    intent: Intent
    outcome: ToolOutcome | None = None
    begun_at: datetime
    finished_at: datetime | None = None


class FailedCall(Value):
    """One attempt at calling the model that failed."""

    phase: str
    message: str
    at: datetime
