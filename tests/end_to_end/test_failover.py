"""The host of a checkout dies: another one goes on from the pushed branch, and the model is told."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from activities.workspace_activities import INTERRUPTED, MOVED
from hikitsugi.language_model.scripted import Answer, Request, use
from tests.end_to_end.stage import Stage, stage, until

pytestmark = [pytest.mark.req("TW-08", "BY-08", "PL-02")]


def _reply(request: Request) -> Answer:
    """Write a file, fall asleep in a command, and write the file again if it is gone."""
    if request.turn == 0:
        return use("write", path="made.txt", content="made\n") + use("run", command="touch asleep.tmp; sleep 300")
    if MOVED in request.text:
        return use("write", path="made.txt", content="made again\n") + use("run", command="cat made.txt")
    return use("submit", status="done", summary="Made.", evidence=request.results[-1].text)


@asynccontextmanager
async def _host(s: Stage, name: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A worker with a disk of its own, as on another machine; only the databases are shared."""
    given = json.loads(s.config.read_text())
    root = Path(given["workspace"]["root"]) / name
    root.mkdir(mode=0o711, exist_ok=True)
    own = {
        "workspace": {"root": str(root), "host": name},
        "data_folder": str(s.folder / name),
        "memory": {"url": f"sqlite+aiosqlite:///{s.folder / 'memory.db'}"},
    }
    config = s.folder / f"{name}.yaml"
    config.write_text(json.dumps(given | own))
    command = [sys.executable, "-m", "tests.end_to_end.lone_host", str(config)]
    with (s.folder / f"{name}.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


def _made(root: Path, host: str, name: str) -> bool:
    """Whether a file is in the checkout on a host."""
    return any(root.glob(f"{host}/work/*/{name}"))


async def test_another_host_goes_on_from_the_branch(time: WorkflowEnvironment, tmp_path: Path):
    async with stage(time, tmp_path, _reply) as s:
        s.opens_issue()
        root = Path(s.configure().workspace.root or "")
        async with _host(s, "first") as first:

            async def sleeps() -> bool:
                return _made(root, "first", "asleep.tmp")

            await until(sleeps)
            assert (
                ((await s.workflow.describe()).raw_description.pending_activities[0]).activity_type.name == "use_tools"
            )
            async with _host(s, "second"):
                first.kill()
                await s.comes_to("awaiting-response", results=1)
        told = [result.text for received in s.model.requests for result in received.body.results]
        assert INTERRUPTED in told
        assert (s.checked_out() / "made.txt").read_text() == "made again\n"
        assert _made(root, "second", "made.txt")
        assert len(s.forge.pulls(s.repository)) == 1
        assert s.model.paid == 3
