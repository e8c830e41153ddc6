"""What people and agents said, and what was done on the forge for it, as Temporal's histories of an issue have it."""

from datetime import UTC
from typing import Any, cast

from temporalio.api.common.v1 import Payloads
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from hikitsugi.cli.timeline import Entry
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import OPERATOR

_LONGEST = 200
_EFFECTS = {"show_state", "post_comment", "post_result", "open_change_request", "publish", "ask_people", "propose_plan"}
"""The steps that people on the forge see."""
_SENDERS = ("author", "by", "called_by", "agent")
_WORDS = ("body", "reason", "note", "outcome", "title")


async def told_by_histories(client: Client, issue: IssueAddress) -> list[Entry]:
    """Every signal, update and effect of every run that Temporal still has."""
    entries: list[Entry] = []
    async for run in client.list_workflows(f"WorkflowId = '{issue}'"):
        history = await client.get_workflow_handle(run.id, run_id=run.run_id).fetch_history()
        for event in history.events:
            if event.HasField("workflow_execution_signaled_event_attributes"):
                signal = event.workflow_execution_signaled_event_attributes
                entries += await _said(client, event, signal.signal_name, signal.input)
            elif event.HasField("workflow_execution_update_accepted_event_attributes"):
                asked = event.workflow_execution_update_accepted_event_attributes.accepted_request.input
                entries += await _said(client, event, asked.name, asked.args)
            elif event.activity_task_scheduled_event_attributes.activity_type.name in _EFFECTS:
                entries.append(await _done(client, event))
    return entries


async def _said(client: Client, event: HistoryEvent, name: str, words: Payloads) -> list[Entry]:
    given: list[Any] = await client.data_converter.decode(list(words.payloads))
    said: Any = given[0] if given else None
    several = cast("list[Any]", said) if isinstance(said, list) else [said]
    return [_entry(event, name, each) for each in several]


async def _done(client: Client, event: HistoryEvent) -> Entry:
    [summary] = await client.data_converter.decode([event.user_metadata.summary])
    return Entry(at=event.event_time.ToDatetime(UTC), who="hikitsugi", what=str(summary))


def _entry(event: HistoryEvent, name: str, said: Any) -> Entry:
    facts = cast("dict[str, Any]", said) if isinstance(said, dict) else {"body": said}
    who = next((facts[key] for key in _SENDERS if facts.get(key)), None)
    words = next((facts[key] for key in _WORDS if facts.get(key)), None) or _as_seen(facts)
    why = " ".join(str(words).split())[:_LONGEST]
    return Entry(at=event.event_time.ToDatetime(UTC), who=str(who or _sender(name)), what=name, why=why)


def _as_seen(facts: dict[str, Any]) -> str:
    """The state and labels of an issue."""
    return ", ".join(map(str, (*filter(None, [facts.get("state")]), *(facts.get("labels") or ()))))


def _sender(name: str) -> str:
    return "forge" if name == "issue_changed" else OPERATOR
