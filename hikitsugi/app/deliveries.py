"""From the watcher, the command line and the broker to the workflows."""

import hashlib
from collections.abc import Collection, Sequence
from typing import Any

from temporalio.client import Client
from temporalio.common import Priority, WorkflowIDConflictPolicy
from temporalio.service import RPCError

from hikitsugi.app.temporal import is_missing
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.closing import closes
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.life import IssueFacts
from workflows.issue_workflow import IssueWorkflow

_FAIRNESS_BYTES = 64
_PER_SIGNAL = 100
_BEGINNING = 500


class SignalDeliveries:
    """Delivers news of issues as signals to their workflows."""

    def __init__(self, client: Client, task_queue: str, completion_keywords: Collection[str]) -> None:
        self._client = client
        self._task_queue = task_queue
        self._completion_keywords = completion_keywords

    async def deliver(
        self, issue: IssueAddress, facts: IssueFacts | None, comments: Sequence[Comment], *, start: bool
    ) -> bool:
        """Comments in as few signals as Temporal takes, then the facts; False when nobody was there to take them."""
        for first in range(0, len(comments), _PER_SIGNAL):
            said = [self._as_said(comment) for comment in comments[first : first + _PER_SIGNAL]]
            if not await self._signal(issue, "comment", said, start=start):
                return False
        return not facts or await self._signal(issue, "issue_changed", facts.model_dump(mode="json"), start=start)

    async def revive(self, issue: IssueAddress) -> None:
        """Start the workflow; one that lives is not disturbed."""
        await start_issue(self._client, self._task_queue, issue)

    def _as_said(self, comment: Comment) -> dict[str, Any]:
        """The beginning of a comment, and what the whole comes to; the model is told it as it is read from the forge.

        Whether it closes the conversation is judged here, so that no replay judges it by other rules.
        """
        body = comment.body
        if len(body) > _BEGINNING:
            body = f"{body[:_BEGINNING]}\n{comment.mark}" if comment.is_ours else body[:_BEGINNING]
        begun = {"watched": True, "body": body, "is_cut": len(comment.body) > _BEGINNING, "length": comment.size}
        judged = {"closing": closes(comment.body, self._completion_keywords)}
        return comment.model_copy(update=begun | judged).model_dump(mode="json", exclude_defaults=True)

    async def _signal(self, issue: IssueAddress, signal: str, payload: Any, *, start: bool) -> bool:
        if start:
            await start_issue(self._client, self._task_queue, issue, signal, payload)
            return True
        try:
            await self._client.get_workflow_handle(str(issue)).signal(signal, payload)
        except RPCError as error:
            if not is_missing(error):
                raise
            return False
        return True


async def start_issue(
    client: Client, task_queue: str, issue: IssueAddress, signal: str | None = None, payload: Any = None
) -> None:
    """Start an issue's workflow if there is none, and signal it if there is something to say."""
    await client.start_workflow(
        IssueWorkflow.run,
        id=str(issue),
        task_queue=task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        start_signal=signal,
        start_signal_args=[payload] if signal else [],
        priority=Priority(fairness_key=fairness_key(issue.home)),
    )


def fairness_key(home: RepositoryAddress) -> str:
    """The repository's address; a longer one than Temporal takes is cut and hashed."""
    address = str(home)
    if len(address) <= _FAIRNESS_BYTES:
        return address
    return f"{address[: _FAIRNESS_BYTES - 9]}~{hashlib.sha256(address.encode()).hexdigest()[:8]}"
