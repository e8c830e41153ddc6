"""The watching of a repository is begun and ended by hand."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.worker import Worker

from activities.heartbeat import Heartbeat
from activities.watch_activities import WatchActivities
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.life import IssueFacts
from hikitsugi.domain.policy import LabelNames
from tests.cli.shell import Shell
from tests.workflows.house import House


class Nowhere:
    """Deliveries that nobody waits for, and a bell that nobody rings."""

    async def deliver(
        self, issue: IssueAddress, facts: IssueFacts | None, comments: Sequence[Comment], *, start: bool
    ) -> bool:
        raise AssertionError(f"nothing happened on {issue}")

    async def revive(self, issue: IssueAddress) -> None:
        raise AssertionError(f"nothing happened on {issue}")

    async def rung(self, home: RepositoryAddress) -> None:
        await asyncio.Event().wait()


def watcher(home: House) -> Worker:
    interval, shift = timedelta(seconds=0.1), timedelta(hours=1)
    steps = WatchActivities({"github": home.forge}, Nowhere(), Nowhere(), LabelNames(), interval, shift)
    return Worker(
        home.time.client,
        task_queue=f"{home.task_queue}-watch",
        activities=[steps.watch],
        interceptors=[Heartbeat()],
        max_heartbeat_throttle_interval=timedelta(seconds=0.2),
    )


@pytest.mark.req("TW-06")
async def test_a_repository_is_watched_until_it_is_unwatched(home: House, shell: Shell):
    workflow = home.time.client.get_workflow_handle(str(home.issue.home))
    async with watcher(home):
        for _ in range(2):
            said = await shell.starter("watch-repository", str(home.issue.home))
            assert (said.status, said.err) == (0, "")
            assert (await workflow.describe()).status is WorkflowExecutionStatus.RUNNING

        ended = await shell.starter("unwatch-repository", str(home.issue.home))
        assert (ended.status, ended.out) == (0, f"{home.issue.home} is no longer watched.\n")
        assert (await workflow.describe()).status is WorkflowExecutionStatus.CANCELED

        again = await shell.starter("unwatch-repository", str(home.issue.home))
        assert (again.status, again.out) == (ended.status, ended.out)


async def test_unwatching_what_was_never_watched_says_so(home: House, shell: Shell):
    said = await shell.starter("unwatch-repository", home.issue.repository)
    assert said.status == 1
    assert said.is_one_sentence
    assert f"python starter.py watch-repository {home.issue.home}" in said.err


async def test_what_is_no_repository_is_refused(shell: Shell):
    said = await shell.starter("watch-repository", "github:nothing")
    assert said.status == 2
    assert said.is_one_sentence
    assert "FORGE:OWNER/REPO" in said.err
