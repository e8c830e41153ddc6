"""Operators can read the story of an issue, take it with them, and have it forgotten."""

import json
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.cli.conftest import settings_for
from tests.cli.shell import Shell
from tests.workflows.fakes import ALICE
from tests.workflows.house import House


@pytest.mark.req("BY-07", "CI-05", "CI-09")
async def test_the_story_is_explained_exported_and_forgotten(time: WorkflowEnvironment, home: House, tmp_path: Path):
    memory = {"url": f"sqlite+aiosqlite:///{tmp_path / 'memory.db'}"}
    shell, issue = Shell(tmp_path, **settings_for(time, home), memory=memory), str(home.issue)
    await home.start()
    await home.comes_to("awaiting-response")
    await home.hears(ALICE, "Use tabs, please.")
    await home.workflow.signal("stop", {"by": "maria", "reason": "enough"})
    await home.comes_to("stopped")

    told = await shell.starter("explain", issue)
    assert told.status == 0, told.err
    for words in ("session 1 began", "alice", "Use tabs", "model fake", "run step 0", "maria", "enough", "stopped"):
        assert words in told.out
    entries = json.loads((await shell.starter("explain", issue, "--json")).out)["entries"]
    assert [entry["at"] for entry in entries] == sorted(entry["at"] for entry in entries)

    file = tmp_path / "story.json"
    assert (await shell.starter("export", issue, "--to", str(file))).status == 0
    held = json.loads(file.read_text())
    assert (held["issue"], held["tasks"][0]["status"]) == (issue, "stopped")
    assert held["conversations"]
    assert held["contexts"][0]["summary"]

    assert (await shell.starter("forget", issue)).status != 0
    assert (await shell.starter("forget", issue, "--yes")).status == 0
    gone = await shell.starter("export", issue)
    assert gone.status == 1
    assert gone.is_one_sentence
