"""What people said and ordered, as Temporal's histories of an issue have it."""

from datetime import UTC
from typing import Any, cast

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import OPERATOR
from hikitsugi.domain.timeline import Entry

_LONGEST = 200


async def signals_sent(client: Client, issue: IssueAddress) -> list[Entry]:
    """Every signal of every run that Temporal still has."""
    entries: list[Entry] = []
    async for run in client.list_workflows(f"WorkflowId = '{issue}'"):
        history = await client.get_workflow_handle(run.id, run_id=run.run_id).fetch_history()
        for event in history.events:
            if event.HasField("workflow_execution_signaled_event_attributes"):
                entries += await _entries(client, event)
    return entries


async def _entries(client: Client, event: HistoryEvent) -> list[Entry]:
    signal = event.workflow_execution_signaled_event_attributes
    given: list[Any] = await client.data_converter.decode(list(signal.input.payloads))
    said: Any = given[0] if given else None
    several = cast("list[Any]", said) if isinstance(said, list) else [said]
    return [_entry(event, signal.signal_name, each) for each in several]


def _entry(event: HistoryEvent, name: str, said: Any) -> Entry:
    facts = cast("dict[str, Any]", said) if isinstance(said, dict) else {"body": said}
    who = facts.get("author") or facts.get("by") or facts.get("called_by")
    words = facts.get("body") or facts.get("reason") or facts.get("state") or ""
    why = " ".join(str(words).split())[:_LONGEST]
    return Entry(at=event.event_time.ToDatetime(UTC), who=str(who or _sender(name)), what=name, why=why)


def _sender(name: str) -> str:
    return "forge" if name == "issue_changed" else OPERATOR
