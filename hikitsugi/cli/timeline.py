"""Who did what on an issue, when, why and at what cost, rebuilt from the records."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from hikitsugi.domain.policy import Language
from hikitsugi.domain.progress import comment_in
from hikitsugi.domain.records import PhaseResult, RecordedCall, RecordedRun, Task
from hikitsugi.domain.remembering import has_failed
from hikitsugi.domain.value import Value
from hikitsugi.messages import timeline as words

_LONGEST = 200
_REASONS = ("reasoning", "reason", "evaluation", "summary", "findings")
_HEADLINES = ("goal", "status", "kind")


class Entry(Value):
    """One thing that happened."""

    at: datetime
    who: str
    what: str
    why: str = ""
    session: int | None = None
    cost_usd: Decimal | None = None
    is_paid: bool = False
    """Whether it was a model call; then a cost that is missing is unknown."""


def of_task(language: Language, task: Task) -> list[Entry]:
    """The beginning and the end of a session."""
    began = words.session_began(language, task.session)
    entries = [Entry(at=task.started_at, who="hikitsugi", what=began, session=task.session)]
    if task.ended_at:
        ended = words.session_ended(language, task.session, task.status)
        entries.append(Entry(at=task.ended_at, who="hikitsugi", what=ended, session=task.session))
    return entries


def of_calls(language: Language, session: int, calls: Sequence[RecordedCall]) -> list[Entry]:
    """What the model did, and in which phase."""
    return [
        Entry(
            at=call.at,
            who=f"model {call.model}",
            what=_line(_said(language, call)),
            why=call.phase,
            session=session,
            cost_usd=call.cost_usd,
            is_paid=True,
        )
        for call in calls
    ]


def of_runs(language: Language, runs: Sequence[RecordedRun]) -> list[Entry]:
    """What the tools did, and what came of it."""
    return [
        Entry(
            at=run.begun_at,
            who=f"tool {run.intent.call.name}",
            what=_line(run.intent.call.label),
            why=_came(language, run),
            session=run.session,
        )
        for run in runs
    ]


def of_results(language: Language, results: Sequence[PhaseResult]) -> list[Entry]:
    """What the phases of planned work came to."""
    return [
        Entry(
            at=result.at,
            who="hikitsugi",
            what=_line(f"{result.phase}: {_headline(language, result)}".rstrip(": ")),
            why=_line(_first_of(_REASONS, result)),
            session=result.session,
        )
        for result in results
    ]


def _said(language: Language, call: RecordedCall) -> str:
    """What the model did in a call; of a reply in a form, what it tells people."""
    if call.tools:
        return ", ".join(call.tools)
    is_form = call.text.lstrip().startswith("{")
    return (comment_in(call.text) or words.replied(language)) if is_form else call.text or call.stop_reason


def _headline(language: Language, result: PhaseResult) -> str:
    passed = result.result.get("passed")
    return _first_of(_HEADLINES, result) if passed is None else words.verdict(language, passed=bool(passed))


def _first_of(keys: tuple[str, ...], result: PhaseResult) -> str:
    found = next((result.result[key] for key in keys if result.result.get(key)), "")
    return "; ".join(map(str, found)) if isinstance(found, list) else str(found)


def _came(language: Language, run: RecordedRun) -> str:
    if run.outcome is None:
        return words.cut_off(language)
    return _line(run.outcome.text) if has_failed(run.intent.call, run.outcome) else words.worked(language)


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST]}…"
