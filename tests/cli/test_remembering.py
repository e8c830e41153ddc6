"""Operators can read the story of an issue, take it with them, and have it forgotten."""

import json
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.assignment import Outcome
from tests.cli.conftest import address_of, settings_for
from tests.cli.shell import Shell
from tests.workflows.fakes import ALICE
from tests.workflows.house import House, until
from tests.workflows.office import AgentsIssue


@pytest.mark.req("BY-07", "CI-05", "CI-09")
async def test_the_story_is_explained_exported_and_forgotten(time: WorkflowEnvironment, home: House, tmp_path: Path):
    memory = {"url": f"sqlite+aiosqlite:///{tmp_path / 'memory.db'}"}
    shell, issue = Shell(tmp_path, **settings_for(time, home), memory=memory), str(home.issue)
    await home.start()
    await home.comes_to("awaiting-response")
    refused = await shell.starter("forget", issue, "--yes")
    assert refused.status == 1
    assert refused.is_one_sentence
    assert f"starter.py stop {issue}" in refused.err
    await home.hears(ALICE, "Use tabs, please.")
    await until(lambda: _answered(home))
    await home.workflow.signal("stop", {"by": "maria", "reason": "enough"})
    await home.comes_to("stopped")

    told = await shell.starter("explain", issue)
    assert told.status == 0, told.err
    for words in (
        "session 1 began",
        "alice",
        "Use tabs",
        "model fake",
        "run step 0",
        "maria",
        "enough",
        "stopped",
        "· cost unknown",
    ):
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


@pytest.mark.req("BY-07")
async def test_what_agents_asked_and_reported_is_part_of_the_story(time: WorkflowEnvironment, tmp_path: Path):
    async with AgentsIssue(time).open() as office:
        lease = await office.gets("agent-1")
        await office.reports(lease, Outcome.COMPLETED, "all tests pass")
        shell = Shell(
            tmp_path,
            forges=[{"token": "a-forge-token", "repositories": [office.issue.repository]}],
            temporal={"address": address_of(time)},
            memory={"url": f"sqlite+aiosqlite:///{tmp_path / 'memory.db'}"},
        )
        said = await shell.starter("explain", str(office.issue), "--json")
    assert said.status == 0, said.err
    entries = json.loads(said.out)["entries"]
    by_agent = [(entry["what"], entry["why"]) for entry in entries if entry["who"] == "agent-1"]
    assert by_agent == [("claim", "It fails"), ("report", "all tests pass")]


async def _answered(home: House) -> bool:
    return home.forge.ours.count("## Done") == len(("the issue", "the comment"))
