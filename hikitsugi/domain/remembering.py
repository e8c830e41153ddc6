"""From the records of a session to what is worth remembering of it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

from pydantic import JsonValue

from hikitsugi.domain.handover import Attempts, PlanRecord
from hikitsugi.domain.plan import Sketch
from hikitsugi.domain.records import PhaseResult, RecordedCall, RecordedRun, Use
from hikitsugi.domain.status import PlanItem
from hikitsugi.domain.tools import Submission, SubmissionStatus, ToolCall, ToolOutcome
from hikitsugi.domain.verification import Verified

_MOST_FAILURES = 10
_MOST_PATTERNS = 5
_REASON = 300
_NOT_ZERO = re.compile(r"Exit code (?!0\b)")
_PLANS = ("plan", "planning", "revision")


def attempts_in(runs: Sequence[RecordedRun]) -> Attempts:
    """What was tried with tools, and what went wrong; a run that our own crash cut off is neither."""
    ended = [run for run in runs if run.outcome and not run.outcome.is_cut_off and _is_attempt(run.intent.call)]
    failed = [run for run in ended if run.outcome and has_failed(run.intent.call, run.outcome)]
    commands = [run.intent.call.label for run in ended if run.intent.call.name == "run" and run not in failed]
    return Attempts(
        succeeded=len(ended) - len(failed),
        failed=len(failed),
        failures=tuple(_failure(run) for run in failed[-_MOST_FAILURES:]),
        succeeded_with=tuple(list(dict.fromkeys(commands))[-_MOST_PATTERNS:]),
    )


def _is_attempt(call: ToolCall) -> bool:
    """Whether a call tried something; a submission counts where it gives up."""
    return call.name not in ("submit", "recall") or _gives_up(call)


def _gives_up(call: ToolCall) -> bool:
    return call.name == "submit" and call.input.get("status") == SubmissionStatus.BLOCKED


def has_failed(call: ToolCall, outcome: ToolOutcome) -> bool:
    """Whether a call did not work: it was refused, or its command ended with another code than 0."""
    if outcome.is_error or call.name != "run":
        return outcome.is_error or _gives_up(call)
    return bool(_NOT_ZERO.match(outcome.text))


def _failure(run: RecordedRun) -> str:
    if _gives_up(run.intent.call):
        given_up = Submission.model_validate(run.intent.call.input)
        return " ".join(f"{given_up.summary} {given_up.needs}".split())[:_REASON]
    said = run.outcome.text.strip() if run.outcome else ""
    # What went wrong stands at the end of a command's output, and at the beginning of a refusal.
    part = said[-_REASON:] if run.intent.call.name == "run" else said[:_REASON]
    return f"{run.intent.call.label}: {' '.join(part.split())}"


def submissions_in(runs: Sequence[RecordedRun]) -> list[Submission]:
    """What the model submitted, oldest first."""
    submitted = [run for run in runs if run.intent.call.name == "submit" and run.outcome and not run.outcome.is_error]
    return [Submission.model_validate(run.intent.call.input) for run in submitted]


def plans_in(results: Sequence[PhaseResult], outcomes: Sequence[PlanItem]) -> tuple[PlanRecord, ...]:
    """The plans of a session, oldest first, each action with what became of it."""
    became = {(item.id, item.title): item.status for item in outcomes}
    planned = [result for result in results if result.phase in _PLANS]
    return tuple(_plan(result.session, result.result, became) for result in planned)


def _plan(session: int, result: Mapping[str, JsonValue], became: Mapping[tuple[str, str], str]) -> PlanRecord:
    actions = _dicts(result.get("actions"))
    outline = [f"{action.get('id', '')} {action.get('title', '')} ({_status(action, became)})" for action in actions]
    return PlanRecord(
        goal=str(result.get("goal") or result.get("reason") or ""),
        session=session,
        outline=tuple(outline),
        details=tuple(f"{line}{_detail(action)}" for line, action in zip(outline, actions, strict=True)),
    )


def _status(action: Mapping[str, Any], became: Mapping[tuple[str, str], str]) -> str:
    """What became of an action; another plan may have used its id for something else."""
    sketch = Sketch.of(str(action.get("id")), str(action.get("title", "")), ())
    return became.get((sketch.id, sketch.title), str(action.get("status", "todo")))


def _detail(action: Mapping[str, Any]) -> str:
    wanted = ("purpose", "expected_outcome", "complexity", "depends_on")
    told = [f"{key}: {_words(action[key])}" for key in wanted if action.get(key)]
    return f" | {'; '.join(told)}" if told else ""


def verifications_in(
    results: Sequence[PhaseResult], submissions: Sequence[Submission], verified: Verified | None = None
) -> tuple[str, ...]:
    """What was verified: each round's verdict, else what the model gave as evidence; and what the checks showed."""
    rounds = [result for result in results if result.phase == "verification"]
    told = [_verdict(number, result.result) for number, result in enumerate(rounds, start=1)]
    told = told or [submission.evidence for submission in submissions if submission.evidence]
    checks = verified.checks if verified else ()
    return (*told, *(f"`{check.command}` exited with {check.exit_code} on the pushed commit" for check in checks))


def recommendations_in(plan: Sequence[PlanItem]) -> tuple[str, ...]:
    """What follows from how far the plan went."""
    advice = {
        "done": "Done, not to be done again",
        "failed": "Failed, to be done in another way",
        "skipped": "Skipped, still to be done",
    }
    return tuple(f"{advice.get(item.status, 'Still to be done')}: {item.id} {item.title}" for item in plan)


def _verdict(number: int, result: Mapping[str, JsonValue]) -> str:
    unmet = [str(each.get("criterion", "")) for each in _dicts(result.get("criteria")) if not each.get("met")]
    found = [*unmet, *_texts(result.get("issues"))]
    passed = "passed" if result.get("passed") else "failed"
    return f"Round {number} {passed}: {result.get('summary', '')}" + (f" Found: {'; '.join(found)}" if found else "")


def reflections_in(results: Sequence[PhaseResult]) -> tuple[str, ...]:
    """What the session learned about itself, and why it planned anew."""
    told: list[str] = []
    for result in results:
        given = result.result
        if result.phase == "reflection":
            parts = [str(given.get("evaluation", "")), str(given.get("root_cause", "")), *_texts(given.get("issues"))]
            told.append(f"{given.get('status', '')}: {' '.join(part for part in parts if part)}")
        elif result.phase == "replan_decision" and given.get("kind") not in (None, "none"):
            told.append(f"{given.get('kind')}: {given.get('reasoning', '')}")
    return tuple(told)


def use_in(calls: Iterable[RecordedCall]) -> Use:
    """What the model was used for; one unknown price makes the whole cost unknown."""
    made = list(calls)
    costs = [call.cost_usd for call in made]
    known = [cost for cost in costs if cost is not None]
    return Use(
        model=made[0].model if made else None,
        llm_calls=len(made),
        input_tokens=sum(call.usage.context_tokens - call.usage.output_tokens for call in made),
        output_tokens=sum(call.usage.output_tokens for call in made),
        cost_usd=sum(known, Decimal(0)) if len(known) == len(costs) else None,
    )


def _dicts(value: JsonValue) -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", each) for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _texts(value: JsonValue) -> list[str]:
    return [_words(each) for each in value] if isinstance(value, list) else []


def _words(value: Any) -> str:
    return ", ".join(map(str, cast("list[Any]", value))) if isinstance(value, list) else str(value)
