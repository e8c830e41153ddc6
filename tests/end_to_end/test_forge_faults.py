"""A forge that fails in every way it can: the issue ends as it would have without."""

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.common import RetryPolicy
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import (
    Interceptor,
    StartActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)
from temporalio.workflow import ActivityHandle

from activities import watch_activities
from hikitsugi.devforge.faults import Failing, Fault, Faults
from hikitsugi.devforge.kinds import KindName
from tests.end_to_end.stage import BOT, Stage, stage

SEED = 20261116
SOON = timedelta(milliseconds=50)
README = "README に使い方を書いてください。"
FAULTS = {
    "done but dropped": Fault(Failing.DROP, when="after"),
    "dropped": Fault(Failing.DROP),
    "half an answer": Fault(Failing.HALF),
    "done but reported as failed": Fault(Failing.SERVER_ERROR, when="after"),
    "failed": Fault(Failing.SERVER_ERROR),
    "limited": Fault(Failing.TOO_MANY, retry_after=1),
    "slow": Fault(Failing.SLOW, seconds=0.2),
}


class EachOnce(Faults):
    """Lets every call fail the first time it is made, in one of several ways."""

    def __init__(self, repository: str, *ways: Fault) -> None:
        super().__init__()
        self._repository = repository
        self._ways = ways
        self.struck: Counter[str] = Counter()

    def strike(self, method: str, path: str) -> Fault | None:
        """The fault for a call; the same for the same call at every run."""
        call = f"{method} {path.replace(self._repository, 'HOME')}"
        self.struck[call] += 1
        if self.struck[call] > 1:
            return None
        return random.Random(f"{SEED} {call}").choice(self._ways)  # noqa: S311 - chooses faults, not secrets


class Impatience(Interceptor):
    """Lets every step that fails be tried again at once, where the forge did not say when."""

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - the name in the SDK
    ) -> type[WorkflowInboundInterceptor]:
        return _Impatient


class _Impatient(WorkflowInboundInterceptor):
    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_AtOnce(outbound))


class _AtOnce(WorkflowOutboundInterceptor):
    def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:  # noqa: A002 - the name in the SDK
        input.retry_policy = RetryPolicy(initial_interval=SOON, maximum_interval=SOON)
        return super().start_activity(input)


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watcher tries again at once, too."""
    monkeypatch.setattr(watch_activities, "_LONGEST_PAUSE", SOON)


@pytest.mark.parametrize("kind", [pytest.param("github", marks=pytest.mark.long), "gitlab"])
@pytest.mark.req("TW-04", "CH-12", "CD-08", "CD-10", "BY-05")
async def test_the_issue_ends_as_if_no_call_had_failed(time: WorkflowEnvironment, tmp_path: Path, kind: KindName):
    await _played(time, tmp_path, kind, *FAULTS.values())


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", ["github", "gitlab"])
@pytest.mark.req("TW-04", "CH-12", "CD-08", "CD-10", "BY-05")
async def test_the_issue_ends_as_if_nothing_had_failed_in_this_way(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName, fault: str
):
    await _played(time, tmp_path, kind, FAULTS[fault])


async def _played(time: WorkflowEnvironment, folder: Path, kind: KindName, *ways: Fault) -> None:
    """A first pass and an answered comment, with every call failing once."""
    async with stage(time, folder, kind=kind) as s:
        s.forge.faults = faults = EachOnce(s.repository, *ways)
        async with s.product(Impatience()):
            s.opens_issue()
            await s.comes_to("awaiting-response", results=1)
            s.says(README)
            await s.comes_to("awaiting-response", results=2)
            await _check(s)
    assert len(faults.struck) > 10


async def _check(s: Stage) -> None:
    """The end of an undisturbed run."""
    assert s.labels == {"task:misc", "awaiting-response"}
    assert s.headings == ["## 実行完了", "## 実行完了"]
    assert len(s.forge.pulls(s.repository)) == 1
    work = s.checked_out()
    assert "net = sum(prices)" in (work / "receipt.py").read_text()
    assert "## Usage" in (work / "README.md").read_text()
    assert s.model.requests[-1].body.model_dump_json().count(README) == 1
    status = await s.status()
    assert (status.session, status.comments_processed, status.comments_pending) == (1, 1, 0)
    assert max(len(c.reactions) for c in s.forge.comments(s.repository, 1) if c.author.login != BOT) <= 1
