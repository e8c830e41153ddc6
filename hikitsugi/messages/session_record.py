"""The record of a session as the model that closes it reads it."""

from collections.abc import Callable, Sequence

from hikitsugi.domain.records import RecordedCall, RecordedRun
from hikitsugi.domain.tools import Submission
from hikitsugi.messages.handover import Closing

_RUN = 400
_SAID = 1500


def session_record(closing: Closing, calls: Sequence[RecordedCall], runs: Sequence[RecordedRun]) -> list[str]:
    """The record in parts, the most telling first."""
    context = closing.context
    parts = [
        f"Record of session {context.session} on {context.issue}, which ended {context.ending}.",
        f"# Request\n{closing.title}",
        _part("Change request", [closing.change_request or "none"]),
        _part("Error", [closing.error] if closing.error else []),
        _part("Comments of people", [source.line for source in closing.decisions]),
        _part("Plans", ["\n".join([plan.goal, *plan.details]) for plan in context.plans]),
        _part("Submitted", [_submission(each) for each in closing.submissions]),
        _part("Verified", context.verifications),
        _part("Reflections", context.reflections),
        _part("Failed", context.attempts.failures),
        _part("Earlier summaries of this session", context.older_summaries),
        _part("Said by the model", [call.text[:_SAID] for call in calls if call.text.strip()]),
        _part("Tool runs", [_run(run) for run in runs if run.intent.call.name != "submit"]),
    ]
    return [part for part in parts if part]


def fitting(parts: Sequence[str], limit: int, measure: Callable[[str], int]) -> str:
    """The parts from the first, as far as they fit; of the one that does not, its beginning."""
    told: list[str] = []
    for part in parts:
        left = limit - sum(map(measure, told))
        if measure(part) <= left:
            told.append(part)
        elif left > 0:
            told.append(part[:left])
            break
    return "\n\n".join(told)


def _part(name: str, lines: Sequence[str]) -> str:
    return "\n".join([f"# {name}", *(f"- {line}" for line in lines)]) if lines else ""


def _submission(submission: Submission) -> str:
    told = [submission.status, submission.summary, submission.evidence, submission.needs]
    return " | ".join(part for part in told if part)


def _run(run: RecordedRun) -> str:
    if run.outcome is None:
        return f"{run.intent.call.label}: cut off"
    failed = "failed: " if run.outcome.is_error else ""
    return f"{run.intent.call.label}: {failed}{' '.join(run.outcome.text[:_RUN].split())}"
