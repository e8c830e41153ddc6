"""Records the history of every path of a story: `python -m tests.histories.record VERSION`."""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from temporalio.client import WorkflowHistory
from temporalio.testing import WorkflowEnvironment

from hikitsugi.cli.ending import ended
from hikitsugi.domain.assignment import Outcome
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.phases import Phase
from tests.conftest import time_skipping_server
from tests.workflows.fakes import ALICE
from tests.workflows.house import House, house, until
from tests.workflows.office import HOUR, AgentsIssue
from tests.workflows.planner import Planner, action, decision, plan, planned, reflection, submits, verdict

HERE = Path(__file__).parent
Play = Callable[[House], Awaitable[None]]


async def completed(h: House) -> None:
    """Result, comment, second result, thanks."""
    await h.comes_to("awaiting-response")
    await h.hears(ALICE, "One more thing.")
    await h.comes_to("processing")
    await h.comes_to("awaiting-response")
    await h.hears(ALICE, "thanks")
    await h.comes_to("completed")


async def paused_and_resumed(h: House) -> None:
    """Paused and resumed, with a comment in between."""
    await h.comes_to("awaiting-response")
    await h.workflow.signal("pause", "tea")
    await h.comes_to("paused")
    await h.hears(ALICE, "One more thing.")
    await h.workflow.signal("resume")
    await h.comes_to("processing")
    await h.comes_to("awaiting-response")


async def stopped(h: House) -> None:
    """Stopped by a comment."""
    await h.comes_to("awaiting-response")
    await h.hears(ALICE, "/stop")
    await h.comes_to("stopped")


async def inherited(h: House) -> None:
    """Completed, then called up again by a comment."""
    await h.comes_to("awaiting-response")
    await h.hears(ALICE, "thanks")
    await h.comes_to("completed")
    await h.hears(ALICE, "It fails again.")
    await h.comes_to("awaiting-response")


async def failed(h: House) -> None:
    """The model refuses."""
    await h.comes_to("failed")


async def continued_as_new(h: House) -> None:
    """A session longer than one run."""
    await h.comes_to("awaiting-response")


async def planned_work(h: House) -> None:
    """Approved, then worked by plan with a failure, a revision, a further round and a replan, approved too."""
    for number in (1, 2):
        await until(lambda times=number: _posted(h, "## 📋 計画の承認をお願いします", times))
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "/approve")
    await until(lambda: _posted(h, "## 実行完了", 1))
    await h.comes_to("awaiting-response")


async def _posted(h: House, heading: str, times: int) -> bool:
    return h.forge.ours.count(heading) == times


ADVENTURE = {
    Phase.PLANNING: (plan(action(1), action(2, 1)), plan(action(9))),
    Phase.EXECUTION: (submits("blocked"), submits()),
    Phase.REFLECTION: reflection(revise=True),
    Phase.REVISION: {"reason": "Another way.", "actions": [action(3)]},
    Phase.VERIFICATION: (verdict(action(4), passed=False), verdict(passed=False), verdict()),
    Phase.REPLAN_DECISION: decision("partial_replan"),
}
PATHS: dict[str, tuple[Play, Callable[[WorkflowEnvironment], House]]] = {
    "completed": (completed, lambda time: house(time, rounds=2)),
    "stopped": (stopped, lambda time: house(time, rounds=1)),
    "paused_and_resumed": (paused_and_resumed, lambda time: house(time, rounds=1)),
    "inherited": (inherited, lambda time: house(time, rounds=1)),
    "failed": (failed, lambda time: house(time, rounds=1)),
    "continued_as_new": (continued_as_new, lambda time: house(time, rounds=40)),
    "planned_work": (planned_work, lambda time: House(time, Planner(ADVENTURE), planned(approval="always"))),
}


async def main(version: str) -> None:
    """Play and record every path; each run of a path becomes one file."""
    async with time_skipping_server() as time:
        for name, (play, made) in PATHS.items():
            with tempfile.TemporaryDirectory() as folder:
                await _record(made(time), Path(folder), f"{version}_{name}", play)
        await _record_assigned(time, f"{version}_assigned")


async def _record_assigned(time: WorkflowEnvironment, name: str) -> None:
    """Given to agents of which one falls silent, one fails and one finishes."""
    # The ids of leases tell the issue, so its address cannot be replaced afterwards.
    async with AgentsIssue(time, "octo/repo").open() as issue:
        await issue.reports(await issue.gets("a1"), Outcome.HEARTBEAT)
        await issue.after(2 * HOUR)
        await until(lambda: issue.is_given_to("a2"))
        await issue.reports(await issue.gets("a2"), Outcome.FAILED, "no compiler")
        await issue.after(HOUR)
        await until(lambda: issue.is_given_to("a3"))
        await issue.reports(await issue.gets("a3"), Outcome.COMPLETED)
        (HERE / f"{name}_1.json").write_text((await issue.workflow.fetch_history()).to_json())


async def _record(made: House, folder: Path, name: str, play: Play) -> None:
    async with made.open(folder) as h:
        if play is failed:
            h.model.refuses = WillNeverWork("The model refuses.")
        first = await h.start()
        await play(h)
        for number, history in enumerate(await _runs(h, str(first.first_execution_run_id)), start=1):
            text = history.to_json().replace(h.issue.repository, "octo/repo").replace(f"{HERE.parents[1]}/", "")
            (HERE / f"{name}_{number}.json").write_text(text)


async def _runs(h: House, run_id: str) -> list[WorkflowHistory]:
    """The histories of all runs, from the first to the one that is under way."""
    runs: list[WorkflowHistory] = []
    while run_id:
        runs.append(await h.time.client.get_workflow_handle(str(h.issue), run_id=run_id).fetch_history())
        run_id = runs[-1].events[-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    # A run that has not taken its first step yet has nothing to replay.
    return [
        run for run in runs if any(event.HasField("workflow_task_completed_event_attributes") for event in run.events)
    ]


if __name__ == "__main__":
    ended(lambda: asyncio.run(main(sys.argv[1])))
