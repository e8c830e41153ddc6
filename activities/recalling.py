"""Answers the model's `recall` from the records of the issue it works on, and of no other."""

import json

from pydantic import ValidationError

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.inheritance import without_names
from hikitsugi.domain.ports import Records
from hikitsugi.domain.recall import Memorandum, Recall, answer
from hikitsugi.domain.records import PhaseResult, RecordedRun, Task
from hikitsugi.domain.tools import ToolCall, ToolOutcome

_KIND = {"planning": "plan", "revision": "plan", "pre_planning": "plan", "replan_decision": "reflection"}
_LONGEST_RUN = 1500


async def recalled(records: Records, issue: IssueAddress, call: ToolCall) -> ToolOutcome:
    """What was found, or what is wrong with the question."""
    try:
        wanted = Recall.model_validate(call.input)
    except ValidationError as error:
        problem = error.errors()[0]
        return ToolOutcome(text=f"recall: {problem['loc'][0]}: {problem['msg']}", is_error=True)
    try:
        found = await _records_of(records, issue)
    except WillNeverWork:
        return ToolOutcome(text="The records of earlier sessions cannot be read.", is_error=True)
    return ToolOutcome(text=without_names(answer(wanted, found), ()))


async def _records_of(records: Records, issue: IssueAddress) -> list[Memorandum]:
    """Everything of the sessions that have ended, oldest first."""
    ended = [task for task in await records.tasks(issue) if task.ended_at]
    over = {task.session for task in ended}
    found = [_result(each) for each in await records.phase_results(issue) if each.session in over]
    found += [_run(each) for each in await records.tool_runs(issue) if each.session in over]
    found += [_metadata(task) for task in ended]
    for task in ended:
        context = await records.read_context(issue, task.key)
        if context:
            found.append(Memorandum(session=task.session, kind="summary", text=context.summary))
    return sorted(found, key=lambda each: each.session)


def _metadata(task: Task) -> Memorandum:
    text = f"{task.status}, from {task.started_at:%Y-%m-%d %H:%M} to {task.ended_at:%Y-%m-%d %H:%M} UTC, {_use(task)}"
    return Memorandum(session=task.session, kind="metadata", text=text)


def _use(task: Task) -> str:
    cost = "cost unknown" if task.use.cost_usd is None else f"{task.use.cost_usd:.4f} USD"
    return f"{task.use.llm_calls} calls of {task.use.model or 'no model'}, {cost}"


def _result(result: PhaseResult) -> Memorandum:
    text = f"{result.phase} {result.sequence}: {json.dumps(result.result, ensure_ascii=False)}"
    return Memorandum(session=result.session, kind=_KIND.get(result.phase, result.phase), text=text)


def _run(run: RecordedRun) -> Memorandum:
    if run.outcome is None:
        came = "cut off"
    else:
        came = ("failed: " if run.outcome.is_error else "") + run.outcome.text[-_LONGEST_RUN:]
    return Memorandum(session=run.session, kind="tool", text=f"{run.intent.call.label}: {came}")
