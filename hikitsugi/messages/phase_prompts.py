"""What the platform tells the model in the phases of planned work."""

from collections.abc import Sequence

from hikitsugi.domain.phase_replies import PlannedAction
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import Action, ActionStatus, Plan
from hikitsugi.domain.tools import Submission
from hikitsugi.domain.verification import Verified

_NAMES = {
    Phase.PRE_PLANNING: "What was found before planning",
    Phase.PLANNING: "The plan in full",
    Phase.EXECUTION: "The action's report",
    Phase.REFLECTION: "The reflection",
    Phase.REVISION: "The latest revision",
    Phase.VERIFICATION: "The latest verification",
    Phase.REPLAN_DECISION: "Why it is planned anew",
}
_TASKS = {
    Phase.PRE_PLANNING: "Find out what a plan for this request needs to know, then reply with the brief.",
    Phase.PLANNING: "Make the plan for this request.",
    Phase.EXECUTION: "Carry out this action and nothing else, then call `submit`.",
    Phase.REFLECTION: "Look at what was done so far and reply with your reflection.",
    Phase.REVISION: "Reply with every action that is still to be done.",
    Phase.VERIFICATION: "Verify the work against the goal and every criterion of success.",
    Phase.REPLAN_DECISION: "Decide whether it is worth planning anew, and how far back to go.",
}


def task(phase: Phase) -> str:
    """What is to be done in a phase, as the last words of its opening."""
    return _TASKS[phase]


def earlier_reply(phase: Phase, text: str) -> str:
    """A reply of an earlier phase."""
    return f"# {_NAMES[phase]}\n\n```json\n{text}\n```"


def unanswered() -> str:
    """People were asked, and did not answer."""
    return "Nobody answered the questions in time. The stated assumptions hold."


def outline(plan: Plan, results: Sequence[Submission | None]) -> str:
    """The plan with what became of each action."""
    lines = [_line(action, result) for action, result in zip(plan.actions, results, strict=True)]
    return "\n".join(["# The plan and how far it went", "", *lines])


def _line(action: Action, result: Submission | None) -> str:
    after = f" (after {', '.join(action.dependencies)})" if action.dependencies else ""
    line = f"- {action.id} [{action.status}] {action.title}{after}"
    if result:
        told = f"{result.summary} {result.evidence} {result.needs}".strip().replace("\n", "\n  ")
        return f"{line}\n  {told}"
    if action.status is ActionStatus.FAILED:
        return f"{line}\n  It ended at a limit, without a report."
    return line


def action(outlined: Action, planned: PlannedAction | None) -> str:
    """The action to carry out now."""
    lines = [f"# Your action: {outlined.id}", "", outlined.title]
    if planned:
        lines += ["", f"Purpose: {planned.purpose}", f"Expected outcome: {planned.expected_outcome}"]
        lines += [f"If that does not work: {planned.fallback}"] if planned.fallback else []
    return "\n".join(lines)


def evidence(verified: Verified) -> str:
    """What the platform found on the pushed commit; nobody's word, but what was seen."""
    lines = ["# What the platform saw on the pushed commit", ""]
    lines += [f"- `{check.command}` exited with {check.exit_code}\n{_quoted(check.tail)}" for check in verified.checks]
    lines += [] if verified.checks else ["- No check was found to run."]
    lines += [f"- Placeholder at {one.path}:{one.line}: `{one.text.strip()}`" for one in verified.placeholders]
    return "\n".join(lines)


def _quoted(tail: str) -> str:
    return "\n".join(f"    {line}" for line in tail.splitlines())


def does_not_fit(problem: str) -> str:
    """Sends a reply back."""
    return f"Your reply cannot be used: {problem}. Reply again, whole and in the required form."
