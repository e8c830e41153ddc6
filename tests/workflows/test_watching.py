"""A repository is watched: what is new there arrives as signals, once and in order, whatever happens to the watcher."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import CancelledError
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.failures import FailureTranslation
from activities.heartbeat import Heartbeat
from activities.watch_activities import WatchActivities
from hikitsugi.app.deliveries import SignalDeliveries, start_watching
from hikitsugi.app.temporal import plugin
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import Comment, Issue, IssueNews
from hikitsugi.domain.life import IssueFacts
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.ports import Cursor, Deliveries, Sighting
from hikitsugi.domain.redaction import Redactor
from tests.workflows.fakes import ALICE, EPOCH, FakeForge
from tests.workflows.house import until
from workflows import limits
from workflows.repository_workflow import RepositoryWorkflow

QUICK = timedelta(milliseconds=30)
LONG = timedelta(days=1)


class WatchedForge(FakeForge):
    """A repository as a list of news; a cursor is a place in that list."""

    def __init__(self, home: RepositoryAddress) -> None:
        super().__init__(IssueAddress(forge=home.forge, repository=home.repository, number=1))
        self.news: list[IssueNews] = []
        self.cursors: list[Cursor | None] = []
        self.refusals: list[Exception] = []

    def shows(self, number: int, *labels: str, comments: Sequence[str] = ()) -> IssueAddress:
        """An issue is changed, and perhaps somebody comments on it."""
        address = self.address.model_copy(update={"number": number})
        issue = Issue(
            address=address,
            title="It fails",
            body="",
            author=ALICE,
            url="http://forge.example/1",
            is_open=True,
            labels=labels,
            updated_at=EPOCH,
        )
        said = tuple(Comment(id=id_, author=ALICE, body=f"comment {id_}") for id_ in comments)
        self.news.append(IssueNews(issue=issue, address=address, comments=said))
        return address

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

    async def looks(self, times: int = 2) -> None:
        """Wait until the repository was looked at so many times more."""
        wanted = len(self.cursors) + times

        async def looked() -> bool:
            return len(self.cursors) >= wanted

        await until(looked)


class UnreliableDeliveries:
    """Deliveries that fail a few times, after having done what they were asked to."""

    def __init__(self, inner: Deliveries) -> None:
        self.fails = 0
        self._inner = inner

    async def deliver(
        self, issue: IssueAddress, facts: IssueFacts | None, comments: Sequence[Comment], *, start: bool
    ) -> None:
        await self._inner.deliver(issue, facts, comments, start=start)
        if self.fails and comments:
            self.fails -= 1
            raise TryAgainLater("Temporal is away", after=QUICK)


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
        self.deliveries = UnreliableDeliveries(SignalDeliveries(plain, f"{self.queue}-unworked"))
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
        return [[comment["id"] for comment in said] for name, said in signals if name == "comment"]


def _read(payload: Payload) -> Any:
    return json.loads(payload.data)


@pytest.fixture(scope="session")
async def plain(time: WorkflowEnvironment) -> Client:
    """A client whose workflows live by the real clock."""
    return await Client.connect(time.client.service_client.config.target_host, plugins=[plugin()])


@pytest.mark.req("CH-01", "TW-01", "TW-08")
async def test_a_labelled_issue_comes_to_life_once_and_others_do_not(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    labelled = watch.forge.shows(1, "task:misc")
    others = [watch.forge.shows(2), watch.forge.shows(3, "bug"), watch.forge.shows(4, "task:misc", "completed")]
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        described = await plain.get_workflow_handle(str(labelled)).describe()
        assert (described.workflow_type, described.status) == ("IssueWorkflow", WorkflowExecutionStatus.RUNNING)
        ((name, facts),) = await watch.signals(labelled)
        assert (name, facts["labels"], facts["for_work"]) == ("issue_changed", ["task:misc"], True)
        for other in others:
            with pytest.raises(RPCError, match="not found"):
                await plain.get_workflow_handle(str(other)).describe()
        watch.forge.shows(1, "task:misc", comments=["7"])
        await watch.forge.looks()
        assert (await plain.get_workflow_handle(str(labelled)).describe()).run_id == described.run_id


@pytest.mark.req("TW-08", "CH-12")
async def test_the_comments_of_one_look_arrive_as_one_signal_and_in_order(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    first, second = watch.forge.shows(1, "task:misc"), watch.forge.shows(2, "task:misc")
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        watch.forge.news += [
            watch.forge.news[0].model_copy(update={"comments": _said("3", "1", "2")}),
            watch.forge.news[1].model_copy(update={"comments": _said("4")}),
        ]
        await watch.forge.looks()
        assert await watch.comments(first) == [["3", "1", "2"]]
        assert await watch.comments(second) == [["4"]]


@pytest.mark.req("CH-16")
async def test_a_comment_brings_a_labelled_issue_to_life_and_no_other(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        completed = watch.forge.shows(1, "task:misc", "completed", comments=["1"])
        unlabelled = watch.forge.shows(2, "bug", comments=["2"])
        await watch.forge.looks()
        assert await watch.comments(completed) == [["1"]]
        with pytest.raises(RPCError, match="not found"):
            await plain.get_workflow_handle(str(unlabelled)).describe()


async def test_an_issue_is_told_as_changed_only_when_it_did(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    issue = watch.forge.shows(1, "task:misc")
    async with watch.stories(), watch.watcher():
        for labels in (["task:misc"], ["task:misc", "processing"], ["processing", "task:misc"]):
            await watch.forge.looks()
            watch.forge.shows(1, *labels)
        await watch.forge.looks()
        told = [facts["labels"] for name, facts in await watch.signals(issue) if name == "issue_changed"]
        assert told == [["task:misc"], ["task:misc", "processing"]]


@pytest.mark.req("TW-08", "CH-12")
@pytest.mark.lesson("C1", "C2")
async def test_a_watcher_that_shuts_down_hands_over_at_once_and_nothing_is_lost_or_repeated(
    time: WorkflowEnvironment, plain: Client
):
    watch = Watch(time, plain)
    issue = watch.forge.shows(1, "task:misc")
    async with watch.stories():
        async with watch.watcher():
            await watch.forge.looks()
            watch.forge.shows(1, "task:misc", comments=["1"])
            await watch.forge.looks()
        (pending,) = (await watch.workflow.describe()).raw_description.pending_activities
        assert (pending.attempt, pending.last_failure.message) == (2, "the worker shuts down")
        watch.forge.shows(1, "task:misc", comments=["2"])
        async with watch.watcher():
            await watch.forge.looks()
        assert await watch.comments(issue) == [["1"], ["2"]]
        assert watch.forge.cursors.count(None) == 1
        assert _seen(watch.forge) == sorted(_seen(watch.forge))


@pytest.mark.req("TW-08", "BY-05", "CD-10")
@pytest.mark.lesson("C2")
async def test_a_passing_fault_of_the_forge_neither_loses_nor_repeats(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    issue = watch.forge.shows(1, "task:misc")
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        watch.forge.shows(1, "task:misc", comments=["1"])
        await watch.forge.looks()
        watch.forge.refusals += [TryAgainLater("rate limit", after=QUICK) for _ in range(3)]
        watch.forge.shows(1, "task:misc", comments=["2"])
        await watch.forge.looks(6)
        assert watch.forge.refusals == []
        assert await watch.comments(issue) == [["1"], ["2"]]
        assert watch.forge.cursors.count(None) == 1


@pytest.mark.req("TW-08", "BY-05")
@pytest.mark.lesson("C2")
async def test_an_hour_of_rate_limit_neither_loses_nor_repeats(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    issue = watch.forge.shows(1, "task:misc")
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        watch.forge.refusals.append(TryAgainLater("rate limit", after=timedelta(hours=1)))
        await watch.forge.looks(1)
        watch.forge.shows(1, "task:misc", comments=["1"])
        await until(lambda: _failed(watch, "rate limit"))
        await time.fast_forward(watch.workflow, timedelta(hours=1))
        await watch.forge.looks()
        assert await watch.comments(issue) == [["1"]]
        assert watch.forge.cursors.count(None) == 1


@pytest.mark.req("CH-17")
async def test_a_ring_is_answered_before_the_interval_is_over(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain, interval=timedelta(hours=1))
    async with watch.stories(), watch.watcher():
        await until(lambda: _looked(watch, 1))
        issue = watch.forge.shows(1, "task:misc", comments=["1"])
        watch.bell.ring()
        await until(lambda: _has_comments(watch, issue))
        assert len(watch.forge.cursors) == 2


@pytest.mark.req("TW-08", "CH-12")
@pytest.mark.lesson("C1", "P1")
async def test_a_delivery_that_fails_is_made_again_before_the_cursor_moves(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    first, second = watch.forge.shows(1, "task:misc"), watch.forge.shows(2, "task:misc")
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        watch.deliveries.fails = 1
        watch.forge.news += [
            watch.forge.news[0].model_copy(update={"comments": _said("1")}),
            watch.forge.news[1].model_copy(update={"comments": _said("2")}),
        ]
        await watch.forge.looks(4)
        assert await watch.comments(first) == [["1"], ["1"]]
        assert await watch.comments(second) == [["2"]]


@pytest.mark.req("TW-08", "TW-05")
async def test_a_shift_that_is_over_goes_on_in_a_fresh_run_from_the_same_place(
    time: WorkflowEnvironment, plain: Client
):
    watch = Watch(time, plain, shift=2 * QUICK)
    issue = watch.forge.shows(1, "task:misc")
    async with watch.stories(), watch.watcher():
        first = (await watch.workflow.describe()).run_id
        await watch.forge.looks(3)
        watch.forge.shows(1, "task:misc", comments=["1"])
        await watch.forge.looks(5)
        assert (await watch.workflow.describe()).run_id != first
        assert await watch.comments(issue) == [["1"]]
        assert [name for name, _ in await watch.signals(issue)] == ["issue_changed", "comment"]
        assert watch.forge.cursors.count(None) == 1


@pytest.mark.req("TW-04", "TW-07")
async def test_a_forge_that_refuses_is_told_in_the_details_and_tried_again_later(
    time: WorkflowEnvironment, plain: Client
):
    watch = Watch(time, plain)
    watch.forge.refusals.append(WillNeverWork("The token is refused; check forges[].token."))
    async with watch.stories(), watch.watcher():
        await until(lambda: _tells(watch, "The token is refused; check forges[].token."))
        assert (await watch.workflow.describe()).status is WorkflowExecutionStatus.RUNNING
        assert len(watch.forge.cursors) == 1
        issue = watch.forge.shows(1, "task:misc")
        await time.fast_forward(watch.workflow, limits.WATCH_PAUSE)
        await watch.forge.looks()
        assert len(await watch.signals(issue)) == 1
        assert await watch.details() == f"Watches `{watch.home}` / `{watch.home}` を監視中"


@pytest.mark.req("TW-04")
async def test_a_watch_that_is_cancelled_ends(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        await watch.workflow.cancel()
        with pytest.raises(WorkflowFailureError) as ended:
            await watch.workflow.result()
        assert isinstance(ended.value.cause, CancelledError)
        looked = len(watch.forge.cursors)
    assert len(watch.forge.cursors) == looked


def _said(*ids: str) -> tuple[Comment, ...]:
    return tuple(Comment(id=id_, author=ALICE, body=f"comment {id_}") for id_ in ids)


def _seen(forge: WatchedForge) -> list[int]:
    return [int(str(cursor["seen"])) for cursor in forge.cursors if cursor]


async def _looked(watch: Watch, times: int) -> bool:
    return len(watch.forge.cursors) == times


async def _has_comments(watch: Watch, issue: IssueAddress) -> bool:
    try:
        return bool(await watch.comments(issue))
    except RPCError:
        return False


async def _failed(watch: Watch, reason: str) -> bool:
    pending = (await watch.workflow.describe()).raw_description.pending_activities
    return [each.last_failure.message for each in pending] == [reason]


async def _tells(watch: Watch, reason: str) -> bool:
    return reason in await watch.details()
