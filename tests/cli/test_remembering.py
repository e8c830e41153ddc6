"""Operators can read the story of an issue, take it with them, and have it forgotten."""

import json
import sqlite3
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.embedded import free_port
from hikitsugi.domain.assignment import Outcome
from hikitsugi.domain.issue import Comment
from hikitsugi.memory.opening import open_memory
from tests.cli.conftest import address_of, settings_for
from tests.cli.shell import Shell
from tests.memory.examples import ISSUE, intent, opening, outcome, replied
from tests.memory.test_records import context, task
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


@pytest.fixture
async def alone(tmp_path: Path) -> Shell:
    """A shell beside a memory in which an issue was worked on, and no Temporal."""
    url = f"sqlite+aiosqlite:///{tmp_path / 'memory.db'}"
    async with open_memory(url) as memory:
        await memory.records.begin_task(task())
        await memory.open_conversation(opening("c1"))
        for sequence in (1, 2):
            await memory.append_reply("c1", sequence, replied(f"reply {sequence}"))
            await memory.begin_tool_run("c1", intent(f"toolu_{sequence}"))
            await memory.finish_tool_run("c1", f"toolu_{sequence}", outcome())
        await memory.records.record_failed_call("c1", 3, 1, "overloaded")
        await memory.keep_comments(ISSUE, [Comment(id="operator:1", author="operator", body="Use tabs.")])
        await memory.take_in_comments(ISSUE, "c1", ["operator:1@"])
        await memory.records.keep_context(context())
    return Shell(tmp_path, language="en", memory={"url": url}, temporal={"address": f"127.0.0.1:{free_port()}"})


@pytest.mark.req("BY-07")
async def test_an_export_holds_everything_also_what_only_the_operator_said(alone: Shell):
    said = await alone.starter("export", str(ISSUE))
    assert (said.status, said.err) == (0, "")
    held = json.loads(said.out)
    assert held["left_out"] == 0
    assert [comment["body"] for comment in held["kept_comments"]] == ["Use tabs."]
    assert [(each["conversation"], each["comment"]) for each in held["comments_taken_in"]] == [("c1", "operator:1@")]
    assert held["files_seen"] == {"c1": {"a.py": "a" * 64}}
    assert [call["message"] for call in held["failed_calls"]] == ["overloaded"]
    assert (held["conversations"]["c1"]["session"], len(held["conversations"]["c1"]["turns"])) == (1, 3)


@pytest.mark.req("BY-07", "CI-08")
@pytest.mark.parametrize("damage", ['{"a": 1}', "null", "{"])
async def test_what_is_damaged_is_left_out_and_counted_and_the_rest_is_told(alone: Shell, damage: str):
    with sqlite3.connect(alone.folder / "memory.db") as connection:
        connection.execute("UPDATE messages SET content = ? WHERE sequence = 1", [damage])
        connection.execute("UPDATE tool_runs SET intent = ? WHERE call = 'toolu_1'", [damage])
    connection.close()
    told = await alone.starter("explain", str(ISSUE))
    assert (told.status, told.err) == (0, "2 damaged record(s) could not be read and were left out.\n")
    assert "reply 2" in told.out
    assert json.loads((await alone.starter("explain", str(ISSUE), "--json")).out)["left_out"] == 2
    exported = await alone.starter("export", str(ISSUE))
    assert (exported.status, exported.err.count("\n")) == (0, 1)
    held = json.loads(exported.out)
    assert [call["text"] for call in held["model_calls"]] == ["reply 2"]
    assert [run["intent"]["call"]["id"] for run in held["tool_runs"]] == ["toolu_2"]
    assert held["left_out"] == 3


@pytest.mark.req("CI-09")
async def test_nothing_is_forgotten_while_nobody_can_tell_whether_a_session_needs_it(alone: Shell):
    refused = await alone.starter("forget", str(ISSUE), "--yes")
    assert refused.status == 1
    assert refused.is_one_sentence
    assert "Nothing was forgotten" in refused.err
    assert json.loads((await alone.starter("export", str(ISSUE))).out)["tasks"]


@pytest.mark.req("CI-09")
async def test_an_issue_whose_workflow_is_gone_is_forgotten_also_when_its_records_are_damaged(
    time: WorkflowEnvironment, alone: Shell
):
    with sqlite3.connect(alone.folder / "memory.db") as connection:
        connection.execute("DELETE FROM conversations")
        connection.execute("UPDATE tasks SET cost_usd = '{'")
    connection.close()
    said = await alone.starter("forget", str(ISSUE), "--yes", HIKITSUGI_TEMPORAL__ADDRESS=address_of(time))
    assert (said.status, said.err) == (0, "")
    assert (await alone.starter("export", str(ISSUE))).status == 1


async def _answered(home: House) -> bool:
    return home.forge.ours.count("## Done") == len(("the issue", "the comment"))
