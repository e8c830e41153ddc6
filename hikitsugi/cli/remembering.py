"""What the store and Temporal still know of an issue: told, exported, forgotten."""

import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import cast

from pydantic import JsonValue
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.service import RPCError

from hikitsugi.app.settings import Settings
from hikitsugi.app.temporal import is_missing
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
from hikitsugi.memory.archive import SqlArchive
from hikitsugi.memory.opening import open_memory
from workflows.display import STATE

_PATIENCE = timedelta(seconds=10)
_WORKED_ON = {State.PROCESSING, State.AWAITING_RESPONSE, State.PAUSED}


class Explanation(Value):
    """The story of an issue; `missing` is why Temporal's part of it is not there, `left_out` counts damaged records."""

    issue: str
    tasks: tuple[Task, ...]
    entries: tuple[Entry, ...]
    missing: str | None = None
    left_out: int = 0


@asynccontextmanager
async def _archive(settings: Settings) -> AsyncGenerator[SqlArchive]:
    # What is damaged is counted and told in one sentence, not logged row by row.
    logging.getLogger("hikitsugi.memory").addHandler(logging.NullHandler())
    async with open_memory(memory_url(settings), redact=Redactor(settings.secrets())) as memory:
        yield memory.archive


async def explain(settings: Settings, issue: IssueAddress) -> Explanation:
    """Who did what, when, why and at what cost."""
    language = settings.language
    async with _archive(settings) as archive:
        tasks = await archive.tasks(issue)
        entries = [entry for task in tasks for entry in timeline.of_task(language, task)]
        for session in await archive.sessions(issue):
            entries += timeline.of_calls(language, session, await archive.model_calls(issue, session))
        entries += timeline.of_runs(language, await archive.tool_runs(issue))
        entries += timeline.of_results(language, await archive.phase_results(issue))
    said, missing = await _said(settings, issue)
    story = sorted([*entries, *said], key=lambda entry: entry.at)
    if not story and not archive.left_out:
        raise _unknown(issue)
    clean = cleansed([entry.model_dump(mode="json") for entry in story], Redactor(settings.secrets()))
    told = [Entry.model_validate(entry) for entry in clean] if isinstance(clean, list) else []
    return Explanation(
        issue=str(issue), tasks=tuple(tasks), entries=tuple(told), missing=missing, left_out=archive.left_out
    )


async def _said(settings: Settings, issue: IssueAddress) -> tuple[list[Entry], str | None]:
    """What Temporal's histories tell; without Temporal, why not."""
    try:
        client = await connected(settings)
        with said_plainly(f"Temporal has no history of {issue}"):
            return await told_by_histories(client, issue), None
    except HikitsugiError as error:
        return [], str(error)


async def export(settings: Settings, issue: IssueAddress) -> dict[str, JsonValue]:
    """Everything the store holds of an issue; `left_out` counts damaged records that are not in it."""
    async with _archive(settings) as archive:
        if not await archive.holds(issue):
            raise _unknown(issue)
        held = {"issue": str(issue), **await _held(archive, issue), "left_out": archive.left_out}
    return cast("dict[str, JsonValue]", cleansed(held, Redactor(settings.secrets())))


async def _held(archive: SqlArchive, issue: IssueAddress) -> dict[str, JsonValue]:
    sessions = await archive.sessions(issue)
    calls = [call for session in sessions for call in await archive.model_calls(issue, session)]
    failed = [call for session in sessions for call in await archive.failed_calls(issue, session)]
    transcripts, seen = await archive.transcripts(issue), await archive.files_seen(issue)
    return {
        "tasks": _plain(await archive.tasks(issue)),
        "contexts": _plain(await archive.contexts(issue)),
        "summaries": {str(session): list(await archive.summaries(issue, session)) for session in sessions},
        "phase_results": _plain(await archive.phase_results(issue)),
        "model_calls": _plain(calls),
        "failed_calls": _plain(failed),
        "tool_runs": _plain(await archive.tool_runs(issue)),
        "conversations": dict(zip(transcripts, _plain(transcripts.values()), strict=True)),
        "files_seen": {conversation: dict(files) for conversation, files in seen.items()},
        "kept_comments": _plain(await archive.kept_comments(issue)),
        "comments_taken_in": _plain(await archive.comments_taken_in(issue)),
    }


def _plain(values: Iterable[Value]) -> list[JsonValue]:
    return [value.model_dump(mode="json") for value in values]


async def forget(settings: Settings, issue: IssueAddress) -> int:
    """Remove everything the store holds of an issue; how many sessions there were."""
    if await _is_worked_on(settings, issue):
        message = f"{issue} is in the middle of a session; end that first with: python starter.py stop {issue}"
        raise WillNeverWork(message)
    async with _archive(settings) as archive:
        if not await archive.holds(issue):
            raise _unknown(issue)
        return await archive.forget(issue)


async def _is_worked_on(settings: Settings, issue: IssueAddress) -> bool:
    """Whether a session needs the records; where Temporal does not answer, one might."""
    try:
        client = await connected(settings)
        with said_plainly(f"Temporal has no workflow for {issue}"):
            found = await _described(client, issue)
    except HikitsugiError as error:
        message = (
            f"Nothing was forgotten, because nobody can tell whether {issue} is in the middle of a session: {error}"
        )
        raise WillNeverWork(message) from error
    if found is None or found.status is not WorkflowExecutionStatus.RUNNING:
        return False
    return found.typed_search_attributes.get(STATE) in _WORKED_ON


async def _described(client: Client, issue: IssueAddress) -> WorkflowExecutionDescription | None:
    try:
        return await client.get_workflow_handle(str(issue)).describe(rpc_timeout=_PATIENCE)
    except RPCError as error:
        if is_missing(error):
            return None
        raise


def _unknown(issue: IssueAddress) -> WillNeverWork:
    return WillNeverWork(f"Nothing is known of {issue}; see the issues with: python starter.py list")
