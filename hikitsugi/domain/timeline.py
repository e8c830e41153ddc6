"""Who did what on an issue, when, why and at what cost, rebuilt from the records."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from hikitsugi.domain.records import PhaseResult, RecordedCall, RecordedRun, Task
from hikitsugi.domain.remembering import has_failed
from hikitsugi.domain.value import Value

_LONGEST = 200
_REASONS = ("reasoning", "reason", "evaluation", "summary", "goal")


class Entry(Value):
    """One thing that happened."""

    at: datetime
    who: str
    what: str
    why: str = ""
    session: int | None = None
    cost_usd: Decimal | None = None


def of_task(task: Task) -> list[Entry]:
    """The beginning and the end of a session."""
    begun = Entry(at=task.started_at, who="hikitsugi", what=f"session {task.session} began", session=task.session)
    if task.ended_at is None:
        return [begun]
    ended = f"session {task.session} ended: {task.status}"
    return [begun, Entry(at=task.ended_at, who="hikitsugi", what=ended, session=task.session)]


def of_calls(session: int, calls: Sequence[RecordedCall]) -> list[Entry]:
    """What the model did, and in which phase."""
    return [
        Entry(
            at=call.at,
            who=f"model {call.model}",
            what=_line(", ".join(call.tools) or call.text or call.stop_reason),
            why=call.phase,
            session=session,
            cost_usd=call.cost_usd,
        )
        for call in calls
    ]


def of_runs(runs: Sequence[RecordedRun]) -> list[Entry]:
    """What the tools did, and what came of it."""
    return [
        Entry(
            at=run.begun_at,
            who=f"tool {run.intent.call.name}",
            what=_line(run.intent.call.label),
            why=_came(run),
            session=run.session,
        )
        for run in runs
    ]


def of_results(results: Sequence[PhaseResult]) -> list[Entry]:
    """What the phases of planned work came to."""
    return [
        Entry(
            at=result.at,
            who="hikitsugi",
            what=f"{result.phase} {result.sequence}",
            why=_line(next((str(result.result[key]) for key in _REASONS if result.result.get(key)), "")),
            session=result.session,
        )
        for result in results
    ]


def _came(run: RecordedRun) -> str:
    if run.outcome is None:
        return "cut off"
    return _line(run.outcome.text) if has_failed(run.intent.call, run.outcome) else "done"


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST]}…"
