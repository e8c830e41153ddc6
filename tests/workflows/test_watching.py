"""A repository is watched: what is new there arrives as signals, once and in order, whatever happens to the watcher."""

from datetime import timedelta

import pytest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import CancelledError
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from activities.failures import UNEXPECTED_ATTEMPTS
from hikitsugi.domain.address import Kind
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import Comment, IssueNews
from tests.workflows.fakes import ALICE
from tests.workflows.house import until
from tests.workflows.watch import QUICK, Watch, said
from workflows import limits


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
            watch.forge.news[0].model_copy(update={"comments": said("3", "1", "2")}),
            watch.forge.news[1].model_copy(update={"comments": said("4")}),
        ]
        await watch.forge.looks()
        assert await watch.comments(first) == [["3", "1", "2"]]
        assert await watch.comments(second) == [["4"]]


@pytest.mark.req("TW-08", "CH-12")
async def test_comments_come_before_the_facts_of_the_same_look(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        issue = watch.forge.shows(1, "task:misc", comments=["1"])
        await watch.forge.looks()
        assert [name for name, _ in await watch.signals(issue)] == ["comment", "issue_changed"]


@pytest.mark.req("TW-08", "CH-12")
async def test_long_comments_reach_the_workflow_by_their_beginning_and_stop_nobody_else(
    time: WorkflowEnvironment, plain: Client
):
    watch = Watch(time, plain)
    first, second = watch.forge.shows(1, "task:misc"), watch.forge.shows(2, "task:misc")
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        long = tuple(Comment(id=str(n), author=ALICE, body="あ" * 65_000) for n in range(12))
        watch.forge.news += [
            watch.forge.news[0].model_copy(update={"comments": long}),
            watch.forge.news[1].model_copy(update={"comments": said("99")}),
        ]
        await watch.forge.looks(3)
        (told,) = [told for name, told in await watch.signals(first) if name == "comment"]
        assert [each["id"] for each in told] == [str(n) for n in range(12)]
        assert all(each["watched"] and each["is_cut"] and each["body"] == "あ" * 500 for each in told)
        ((only,),) = [told for name, told in await watch.signals(second) if name == "comment"]
        assert (only["id"], only["body"], only["watched"], "is_cut" in only) == ("99", "comment 99", True, False)


@pytest.mark.req("TW-08", "CH-12")
async def test_a_flood_of_comments_comes_in_several_signals_and_in_order(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    issue = watch.forge.shows(1, "task:misc")
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        ids = [str(n) for n in range(250)]
        watch.forge.shows(1, "task:misc", comments=ids)
        await watch.forge.looks(3)
        told = await watch.comments(issue)
        assert [len(signal) for signal in told] == [100, 100, 50]
        assert [id_ for signal in told for id_ in signal] == ids


@pytest.mark.req("TW-08")
async def test_a_comment_without_its_issue_does_not_make_us_forget_how_it_stood(
    time: WorkflowEnvironment, plain: Client
):
    watch = Watch(time, plain)
    issue = watch.forge.shows(1, "task:misc")
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        watch.forge.news.append(IssueNews(address=issue, comments=said("1")))
        await watch.forge.looks()
        watch.forge.shows(1, "task:misc")
        await watch.forge.looks()
        assert [name for name, _ in await watch.signals(issue)] == ["issue_changed", "comment"]


@pytest.mark.req("TW-08")
async def test_a_request_of_the_same_number_does_not_make_us_forget_how_the_issue_stood(
    time: WorkflowEnvironment, plain: Client
):
    watch = Watch(time, plain)
    issue = watch.forge.shows(1, "task:misc")
    news = watch.forge.news[0]
    assert news.issue
    address = issue.model_copy(update={"kind": Kind.MERGE_REQUEST})
    request = news.issue.model_copy(update={"address": address, "labels": ("bug",)})
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        for _ in range(2):
            watch.forge.news += [IssueNews(address=address, issue=request), news]
            await watch.forge.looks()
        assert [name for name, _ in await watch.signals(issue)] == ["issue_changed"]


@pytest.mark.lesson("C26")
async def test_comments_on_a_request_of_ours_reach_its_issue_with_their_place(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    issue = watch.forge.shows(1, "task:misc")
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        address = watch.forge.shows_request(2, behind=1, comments=["5"])
        await watch.forge.looks()
        ((told,),) = [told for name, told in await watch.signals(issue) if name == "comment"]
        assert (told["id"], told["place"]["kind"], told["place"]["number"]) == ("5", Kind.PULL_REQUEST, 2)
        assert not await watch.lives(address)
        assert watch.forge.read == []


@pytest.mark.req("CD-08")
async def test_a_comment_whose_issue_is_gone_stops_nothing(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    issue = watch.forge.shows(1, "task:misc")
    gone = issue.model_copy(update={"number": 9})
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        watch.forge.news.append(IssueNews(address=gone, comments=said("1")))
        watch.forge.shows(1, "task:misc", comments=["2"])
        await watch.forge.looks()
        assert await watch.comments(issue) == [["2"]]
        assert not await watch.lives(gone)


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
        left_off = len(watch.forge.cursors)
        async with watch.watcher():
            await watch.forge.looks()
        assert watch.forge.cursors[left_off] == {"seen": 2}
        assert watch.forge.places == sorted(watch.forge.places)
        assert await watch.comments(issue) == [["1"], ["2"]]


@pytest.mark.req("TW-04", "TW-08")
async def test_after_many_watchers_one_unexpected_failure_is_no_reason_to_rest(
    time: WorkflowEnvironment, plain: Client
):
    watch = Watch(time, plain)
    async with watch.stories():
        for _ in range(UNEXPECTED_ATTEMPTS):
            async with watch.watcher():
                await watch.forge.looks(1)
        watch.forge.refusals.append(KeyError("id"))
        async with watch.watcher():
            await watch.forge.looks()
        assert watch.forge.refusals == []


@pytest.mark.req("CH-16")
async def test_an_issue_found_at_work_without_a_workflow_is_adopted(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    issue = watch.forge.shows(1, "task:misc", "processing")
    async with watch.stories():
        async with watch.watcher():
            await watch.forge.looks()
            await plain.get_workflow_handle(str(issue)).terminate()
        async with watch.watcher():
            await until(lambda: watch.lives(issue))


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
        assert watch.forge.places == sorted(watch.forge.places)
        assert await watch.comments(issue) == [["1"], ["2"]]


@pytest.mark.req("TW-08", "BY-05")
@pytest.mark.lesson("C4", "C2")
async def test_an_hour_of_rate_limit_neither_loses_nor_repeats(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    issue = watch.forge.shows(1, "task:misc")
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        watch.forge.refusals.append(TryAgainLater("rate limit", after=timedelta(hours=1)))
        await watch.forge.looks(1)
        watch.forge.shows(1, "task:misc", comments=["1"])
        await until(lambda: watch.failed("rate limit"))
        left_off = len(watch.forge.cursors)
        await time.fast_forward(watch.workflow, timedelta(hours=1))
        await watch.forge.looks()
        assert watch.forge.cursors[left_off] == {"seen": 1}
        assert await watch.comments(issue) == [["1"]]


@pytest.mark.req("CH-17")
async def test_a_ring_is_answered_before_the_interval_is_over(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain, interval=timedelta(hours=1))
    async with watch.stories(), watch.watcher():
        await until(watch.was_looked_at)
        issue = watch.forge.shows(1, "task:misc", comments=["1"])
        watch.bell.ring()
        await until(lambda: watch.has_comments(issue))


@pytest.mark.req("TW-08", "CH-12")
@pytest.mark.lesson("C1", "P1")
async def test_a_delivery_that_fails_is_made_again_before_the_cursor_moves(time: WorkflowEnvironment, plain: Client):
    watch = Watch(time, plain)
    first, second = watch.forge.shows(1, "task:misc"), watch.forge.shows(2, "task:misc")
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        watch.deliveries.fails = 1
        watch.forge.news += [
            watch.forge.news[0].model_copy(update={"comments": said("1")}),
            watch.forge.news[1].model_copy(update={"comments": said("2")}),
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
        assert watch.forge.places == sorted(watch.forge.places)


@pytest.mark.req("TW-04", "TW-07")
async def test_a_forge_that_refuses_is_told_in_the_details_and_tried_again_later(
    time: WorkflowEnvironment, plain: Client
):
    watch = Watch(time, plain)
    watch.forge.refusals.append(WillNeverWork("The token is refused; check forges[].token."))
    async with watch.stories(), watch.watcher():
        await until(lambda: watch.tells("The token is refused; check forges[].token."))
        assert (await watch.workflow.describe()).status is WorkflowExecutionStatus.RUNNING
        assert len(watch.forge.cursors) == 1
        issue = watch.forge.shows(1, "task:misc")
        await time.fast_forward(watch.workflow, limits.WATCH_PAUSE)
        await watch.forge.looks()
        assert len(await watch.signals(issue)) == 1
        assert await watch.details() == f"Watches `{watch.home}` / `{watch.home}` を監視中"


@pytest.mark.req("TW-04", "TW-08", "CH-12")
async def test_what_is_written_while_the_forge_refuses_is_delivered_once_it_answers_again(
    time: WorkflowEnvironment, plain: Client
):
    watch = Watch(time, plain)
    issue = watch.forge.shows(1, "task:misc")
    async with watch.stories(), watch.watcher():
        await watch.forge.looks()
        watch.forge.refusals.append(WillNeverWork("The token has expired."))
        await until(lambda: watch.tells("The token has expired."))
        watch.forge.shows(1, "task:misc", comments=["1"])
        await time.fast_forward(watch.workflow, limits.WATCH_PAUSE)
        await watch.forge.looks()
        assert await watch.comments(issue) == [["1"]]
        assert [name for name, _ in await watch.signals(issue)] == ["issue_changed", "comment"]


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
