"""Reading what a model said from the store."""

from collections.abc import Iterable

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.phase_replies import Misfit, PhaseReply, Verdict, parsed
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import ActionStatus, Plan, TurnRef
from hikitsugi.domain.ports import Memory
from hikitsugi.domain.tools import Submission, SubmissionStatus


async def submission_at(memory: Memory, ref: TurnRef | None) -> Submission | None:
    """What the model submitted in a turn."""
    turn = await memory.find_turn(ref.conversation, ref.sequence) if ref else None
    calls = [call for call in (turn.tool_calls if turn else ()) if call.name == "submit"]
    return Submission.model_validate(calls[0].input) if calls else None


async def summary_at(memory: Memory, ref: TurnRef) -> str:
    """What a pass came to, in the words of the turn that submitted or judged it; a damaged one says nothing."""
    try:
        if submission := await submission_at(memory, ref):
            return submission.summary.strip()
        reply = await reply_in(memory, Phase.VERIFICATION, ref)
    except WillNeverWork:
        return ""
    return reply.summary.strip() if isinstance(reply, Verdict) else ""


async def reply_in(memory: Memory, phase: Phase, ref: TurnRef | None) -> PhaseReply | None:
    """What the model replied in a phase; None where there is no such reply."""
    turn = await memory.find_turn(ref.conversation, ref.sequence) if ref else None
    if turn is None:
        return None
    try:
        return parsed(phase, turn.text)
    except Misfit:
        return None


async def conclusion_of(memory: Memory, plan: Plan, verdict: TurnRef | None, *, concluded: bool) -> Submission | None:
    """Planned work in the form of a submission: done only if verification found the goal reached."""
    if not plan.actions:
        return None
    reply = await reply_in(memory, Phase.VERIFICATION, verdict)
    told = [(action, await submission_at(memory, action.result)) for action in plan.actions]
    needs = [one.needs for action, one in told if one and one.needs and action.status is ActionStatus.FAILED]
    if isinstance(reply, Verdict):
        needs += [] if concluded else reply.issues
        summary, evidence = reply.summary, _listed(reply.told_criteria)
    else:
        summary, evidence = _listed(f"**{action.id}** {action.title}: {one.summary}" for action, one in told if one), ""
    status = SubmissionStatus.DONE if concluded else SubmissionStatus.BLOCKED
    return Submission(status=status, summary=summary, evidence=evidence, needs=_listed(dict.fromkeys(needs)))


def _listed(points: Iterable[str]) -> str:
    """A list that stands on lines of its own."""
    return "".join(f"\n- {point}" for point in points)
