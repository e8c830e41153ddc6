"""What the store and Temporal still know of an issue: told, exported, forgotten."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from pydantic import JsonValue
from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from hikitsugi.app.settings import Settings
from hikitsugi.app.wiring import memory_url
from hikitsugi.cli import timeline
from hikitsugi.cli.connection import connected, said_plainly
from hikitsugi.cli.histories import told_by_histories
from hikitsugi.cli.timeline import Entry
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.cleansing import cleansed
from hikitsugi.domain.errors import HikitsugiError, WillNeverWork
from hikitsugi.domain.records import Task
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.states import State
from hikitsugi.domain.value import Value
from hikitsugi.memory.opening import open_memory
from hikitsugi.memory.store import SqlMemory
from workflows.display import STATE

_PATIENCE = timedelta(seconds=10)
_WORKED_ON = {State.PROCESSING, State.AWAITING_RESPONSE, State.PAUSED}


class Explanation(Value):
    """The story of an issue; `missing` is why Temporal's part of it is not there."""

    issue: str
    tasks: tuple[Task, ...]
    entries: tuple[Entry, ...]
    missing: str | None = None


@asynccontextmanager
async def _memory(settings: Settings) -> AsyncGenerator[SqlMemory]:
    async with open_memory(memory_url(settings), redact=Redactor(settings.secrets())) as memory:
        yield memory


async def explain(settings: Settings, issue: IssueAddress) -> Explanation:
    """Who did what, when, why and at what cost."""
    language = settings.language
    async with _memory(settings) as memory:
        tasks = await memory.records.tasks(issue)
        entries = [entry for task in tasks for entry in timeline.of_task(language, task)]
        for session in sorted({task.session for task in tasks}):
            entries += timeline.of_calls(language, session, await memory.records.model_calls(issue, session))
        entries += timeline.of_runs(language, await memory.records.tool_runs(issue))
        entries += timeline.of_results(language, await memory.records.phase_results(issue))
    said, missing = await _said(settings, issue)
    story = sorted([*entries, *said], key=lambda entry: entry.at)
    if not story:
        raise _unknown(issue)
    clean = cleansed([entry.model_dump(mode="json") for entry in story], Redactor(settings.secrets()))
    told = [Entry.model_validate(entry) for entry in clean] if isinstance(clean, list) else []
    return Explanation(issue=str(issue), tasks=tuple(tasks), entries=tuple(told), missing=missing)


async def _said(settings: Settings, issue: IssueAddress) -> tuple[list[Entry], str | None]:
    """What Temporal's histories tell; without Temporal, why not."""
    try:
        client = await connected(settings)
        with said_plainly(f"Temporal has no history of {issue}"):
            return await told_by_histories(client, issue), None
    except HikitsugiError as error:
        return [], str(error)


async def export(settings: Settings, issue: IssueAddress) -> JsonValue:
    """Everything the store holds of an issue."""
    async with _memory(settings) as memory:
        records = memory.records
        tasks = await records.tasks(issue)
        conversations = await records.conversations(issue)
        if not tasks and not conversations:
            raise _unknown(issue)
        contexts = [await records.read_context(issue, task.key) for task in tasks]
        calls = [call for task in tasks for call in await records.model_calls(issue, task.session)]
        failed = [call for task in tasks for call in await records.failed_calls(issue, task.session)]
        held: dict[str, JsonValue] = {
            "issue": str(issue),
            "tasks": [task.model_dump(mode="json") for task in tasks],
            "contexts": [context.model_dump(mode="json") for context in contexts if context],
            "summaries": {str(task.session): list(await records.summaries(issue, task.session)) for task in tasks},
            "phase_results": [each.model_dump(mode="json") for each in await records.phase_results(issue)],
            "model_calls": [call.model_dump(mode="json") for call in calls],
            "failed_calls": [call.model_dump(mode="json") for call in failed],
            "tool_runs": [run.model_dump(mode="json") for run in await records.tool_runs(issue)],
            "conversations": {
                each: (await memory.read_conversation(each)).model_dump(mode="json") for each in conversations
            },
        }
    return cleansed(held, Redactor(settings.secrets()))


async def forget(settings: Settings, issue: IssueAddress) -> int:
    """Remove everything the store holds of an issue; how many sessions there were."""
    if await _is_worked_on(settings, issue):
        message = f"{issue} is in the middle of a session; end that first with: python starter.py stop {issue}"
        raise WillNeverWork(message)
    async with _memory(settings) as memory:
        if not await memory.records.tasks(issue) and not await memory.records.conversations(issue):
            raise _unknown(issue)
        return await memory.records.forget(issue)


async def _is_worked_on(settings: Settings, issue: IssueAddress) -> bool:
    """Whether a session needs the records, as far as Temporal can tell."""
    with suppress(HikitsugiError, RPCError):
        workflow = (await connected(settings)).get_workflow_handle(str(issue))
        found = await workflow.describe(rpc_timeout=_PATIENCE)
        has_ended = found.status is not WorkflowExecutionStatus.RUNNING
        return not has_ended and found.typed_search_attributes.get(STATE) in _WORKED_ON
    return False


def _unknown(issue: IssueAddress) -> WillNeverWork:
    return WillNeverWork(f"Nothing is known of {issue}; see the issues with: python starter.py list")
