"""Records the history of every path of a story: `python -m tests.histories.record VERSION`."""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from temporalio.client import WorkflowHandle
from temporalio.testing import WorkflowEnvironment

from hikitsugi.cli.ending import ended
from hikitsugi.domain.errors import WillNeverWork
from tests.conftest import time_skipping_server
from tests.workflows.fakes import ALICE
from tests.workflows.house import House, house
from workflows.issue_workflow import IssueWorkflow

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


async def paused_and_stopped(h: House) -> None:
    """Paused and resumed, then stopped."""
    await h.comes_to("awaiting-response")
    await h.workflow.signal("pause", "tea")
    await h.comes_to("paused")
    await h.workflow.signal("resume")
    await h.comes_to("awaiting-response")
    await h.workflow.signal("stop")
    await h.comes_to("stopped")


async def failed(h: House) -> None:
    """The model refuses."""
    await h.comes_to("failed")


async def continued_as_new(h: House) -> None:
    """A session longer than one run."""
    await h.comes_to("awaiting-response")


PATHS: dict[str, tuple[Play, int]] = {
    "completed": (completed, 2),
    "paused_and_stopped": (paused_and_stopped, 1),
    "failed": (failed, 1),
    "continued_as_new": (continued_as_new, 40),
}


async def main(version: str) -> None:
    """Play and record every path; each run of a path becomes one file."""
    async with time_skipping_server() as time:
        for name, (play, rounds) in PATHS.items():
            with tempfile.TemporaryDirectory() as folder:
                await _record(time, Path(folder), f"{version}_{name}", play, rounds)


async def _record(time: WorkflowEnvironment, folder: Path, name: str, play: Play, rounds: int) -> None:
    async with house(time, rounds=rounds).open(folder) as h:
        if play is failed:
            h.model.refuses = WillNeverWork("The model refuses.")
        first = await h.start()
        await play(h)
        handle: WorkflowHandle[IssueWorkflow, None] = h.time.client.get_workflow_handle_for(
            IssueWorkflow.run, str(h.issue), run_id=first.first_execution_run_id
        )
        text = (await handle.fetch_history()).to_json()
        (HERE / f"{name}.json").write_text(text.replace(h.issue.repository, "octo/repo"))


if __name__ == "__main__":
    ended(lambda: asyncio.run(main(sys.argv[1])))
