"""The status document, as queries and the command line show it."""

from datetime import datetime

from hikitsugi.domain.states import State
from hikitsugi.domain.value import Value


class PlanItem(Value):
    """One line of the plan."""

    id: str
    title: str
    status: str


class Status(Value):
    """Where an issue stands."""

    issue: str
    state: State
    phase: str | None = None
    session: int
    plan: tuple[PlanItem, ...] = ()
    llm_calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float | None
    comments_processed: int
    comments_pending: int
    last_comment_id: str | None
    first_processed_at: datetime | None
    last_processed_at: datetime | None
    change_request: str | None
    branch: str | None
    inherited_from: str | None = None
    waiting_for: str | None
    error: str | None
