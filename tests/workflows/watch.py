"""One repository and its watcher on a real Temporal server; the workflows of its issues are only written to."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.failures import FailureTranslation
from activities.heartbeat import Heartbeat
from activities.watch_activities import WatchActivities
from hikitsugi.app.deliveries import SignalDeliveries
from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS
from hikitsugi.app.watching import start_watching
from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import Comment, Issue, IssueNews
from hikitsugi.domain.life import IssueFacts
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.ports import Cursor, Deliveries, Sighting
from hikitsugi.domain.redaction import Redactor
from tests.workflows.fakes import ALICE, BOT, EPOCH, FakeForge
from tests.workflows.house import until
from workflows.repository_workflow import RepositoryWorkflow

QUICK = timedelta(milliseconds=30)
LONG = timedelta(days=1)


def said(*ids: str) -> tuple[Comment, ...]:
    """Comments by alice."""
    return tuple(Comment(id=id_, author=ALICE, body=f"comment {id_}") for id_ in ids)


class WatchedForge(FakeForge):
    """A repository as a list of news; a cursor is a place in that list."""

    def __init__(self, home: RepositoryAddress) -> None:
        super().__init__(IssueAddress(forge=home.forge, repository=home.repository, number=1))
        self.news: list[IssueNews] = []
        self.cursors: list[Cursor | None] = []
        self.read: list[IssueAddress] = []
        self.refusals: list[Exception] = []

    def shows(self, number: int, *labels: str, comments: Sequence[str] = (), is_open: bool = True) -> IssueAddress:
        """An issue is changed, and perhaps somebody comments on it."""
        address = self.address.model_copy(update={"number": number})
        issue = Issue(
            address=address,
            title="It fails",
            body="",
            author=ALICE,
            url="http://forge.example/1",
            is_open=is_open,
            labels=labels,
            updated_at=EPOCH,
        )
        self.news.append(IssueNews(issue=issue, address=address, comments=said(*comments)))
        return address

    def shows_request(self, number: int, behind: int, comments: Sequence[str]) -> IssueAddress:
        """Somebody comments on the request that we opened for an issue."""
        address = self.address.model_copy(update={"kind": Kind.PULL_REQUEST, "number": number})
        shown = next(news.issue for news in self.news if news.issue and news.address.number == behind)
        ours = shown.model_copy(update={"address": address, "author": BOT, "body": f"Closes #{behind}\n\nFixed."})
        self.news.append(IssueNews(address=address, issue=ours, comments=said(*comments)))
        return address

    async def read_issue(self, issue: IssueAddress) -> Issue:
        self.read.append(issue)
        shown = [news.issue for news in self.news if news.issue and news.address == issue]
        if not shown:
            raise WillNeverWork("There is no such issue.")
        return shown[-1]

    async def look(self, home: RepositoryAddress, cursor: Cursor | None) -> Sighting:
        self.cursors.append(cursor)
        if self.refusals:
            raise self.refusals.pop(0)
        seen = len(self.news)
        if cursor is None:
            fresh = [news.model_copy(update={"comments": ()}) for news in self.news]
        else:
            fresh = self.news[int(str(cursor["seen"])) : seen]
        return Sighting(news=tuple(fresh), cursor={"seen": seen})

    @property
    def places(self) -> list[int]:
        """Where each look went on from; first looks and sweeps begin nowhere."""
        return [int(str(cursor["seen"])) for cursor in self.cursors if cursor]

    async def looks(self, times: int = 2) -> None:
        """Wait until somebody went on looking so many times more; what is there now has then been delivered."""
        wanted = len(self.places) + times

        async def looked() -> bool:
            return len(self.places) >= wanted

        await until(looked)


class UnreliableDeliveries:
    """Deliveries that fail a few times, after having done what they were asked to."""

    def __init__(self, inner: Deliveries) -> None:
        self.fails = 0
        self._inner = inner

    async def deliver(
        self, issue: IssueAddress, facts: IssueFacts | None, comments: Sequence[Comment], *, start: bool
    ) -> bool:
        was_there = await self._inner.deliver(issue, facts, comments, start=start)
        if self.fails and comments:
            self.fails -= 1
            raise TryAgainLater("Temporal is away", after=QUICK)
        return was_there

    async def revive(self, issue: IssueAddress) -> None:
        await self._inner.revive(issue)


class Bell:
    """A doorbell that the test rings."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        self._rung.set()

    async def rung(self, home: RepositoryAddress) -> None:
        await self._rung.wait()
        self._rung.clear()


class Watch:
    """One repository with its watcher; the workflows of its issues are only written to."""

    def __init__(
        self, time: WorkflowEnvironment, plain: Client, interval: timedelta = QUICK, shift: timedelta = LONG
    ) -> None:
        self.home = RepositoryAddress(forge="github", repository=f"octo/{uuid4().hex[:8]}")
        self.forge = WatchedForge(self.home)
        self.queue = f"watch-{uuid4().hex[:8]}"
        self.plain = plain
        self.deliveries = UnreliableDeliveries(SignalDeliveries(plain, f"{self.queue}-unworked", COMPLETION_KEYWORDS))
        self._time = time
        self.bell = Bell()
        self._activities = WatchActivities(
            {"github": self.forge}, self.deliveries, self.bell, LabelNames(), interval, shift
        )

    @asynccontextmanager
    async def stories(self) -> AsyncGenerator["Watch"]:
        """The repository's workflow, without anybody who looks."""
        async with Worker(self._time.client, task_queue=self.queue, workflows=[RepositoryWorkflow]):
            with self._time.with_time_skipping_disabled():
                await start_watching(self._time.client, self.queue, self.home)
            try:
                yield self
            finally:
                with suppress(RPCError):
                    await self.workflow.terminate()

    def watcher(self) -> Worker:
        """Somebody who looks."""
        return Worker(
            self._time.client,
            task_queue=f"{self.queue}-watch",
            activities=[self._activities.watch],
            interceptors=[FailureTranslation(Redactor()), Heartbeat()],
            graceful_shutdown_timeout=timedelta(seconds=5),
            max_heartbeat_throttle_interval=timedelta(milliseconds=100),
        )

    @property
    def workflow(self) -> WorkflowHandle[RepositoryWorkflow, None]:
        """The newest run of the repository's workflow."""
        return self._time.client.get_workflow_handle_for(RepositoryWorkflow.run, str(self.home))

    async def details(self) -> str:
        """What the Web UI shows of the repository's workflow."""
        metadata = await self.workflow.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
        return metadata.current_details

    async def signals(self, issue: IssueAddress) -> list[tuple[str, Any]]:
        """Name and content of every signal that an issue's workflow got."""
        history = await self.plain.get_workflow_handle(str(issue)).fetch_history()
        found = [
            event for event in history.events if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
        ]
        told = [event.workflow_execution_signaled_event_attributes for event in found]
        return [(signal.signal_name, _read(signal.input.payloads[0])) for signal in told]

    async def comments(self, issue: IssueAddress) -> list[list[str]]:
        """The ids of the comments an issue's workflow got, signal by signal."""
        signals = await self.signals(issue)
        return [[comment["id"] for comment in told] for name, told in signals if name == "comment"]

    async def was_looked_at(self) -> bool:
        return bool(self.forge.cursors)

    async def failed(self, reason: str) -> bool:
        """Whether the watch waits for its next attempt, for this reason."""
        pending = (await self.workflow.describe()).raw_description.pending_activities
        return [each.last_failure.message for each in pending] == [reason]

    async def tells(self, reason: str) -> bool:
        return reason in await self.details()

    async def lives(self, issue: IssueAddress) -> bool:
        """Whether an issue has a running workflow."""
        try:
            described = await self.plain.get_workflow_handle(str(issue)).describe()
        except RPCError:
            return False
        return described.status is WorkflowExecutionStatus.RUNNING

    async def has_comments(self, issue: IssueAddress) -> bool:
        return await self.lives(issue) and bool(await self.comments(issue))


def _read(payload: Payload) -> Any:
    return json.loads(payload.data)
