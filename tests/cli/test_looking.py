"""What can be seen of an issue is told to people in a panel and to programs in JSON."""

import json

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.status import Status
from tests.cli.shell import WIDTH, Shell
from tests.workflows.house import House


@pytest.mark.req("CH-14", "TW-06")
async def test_status_as_json_is_the_status_document_and_nothing_else(home: House, shell: Shell):
    await home.start()
    status = await home.comes_to("awaiting-response")
    said = await shell.starter("status", home.issue.short, "--json")
    assert (said.status, said.err) == (0, "")
    document = json.loads(said.out)
    assert document == status.model_dump(mode="json")
    assert set(document) == set(Status.model_fields)
    assert said.out.isascii()


@pytest.mark.req("CH-14")
async def test_status_for_people_fits_a_terminal_of_80_columns(home: House, shell: Shell):
    await home.start()
    status = await home.comes_to("awaiting-response")
    said = await shell.starter("status", home.issue.short)
    assert (said.status, said.err) == (0, "")
    assert said.widest <= WIDTH
    for told in (
        home.issue.short,
        "It fails",
        "awaiting-response",
        "a reply on the issue",
        status.branch,
        "Model calls",
    ):
        assert str(told) in said.out


async def test_status_speaks_the_configured_language(home: House, shell: Shell):
    await home.start()
    await home.comes_to("awaiting-response")
    said = await shell.starter("status", home.issue.short, HIKITSUGI_LANGUAGE="ja")
    assert "待っているもの" in said.out
    assert said.widest <= WIDTH


async def test_a_terminal_without_japanese_is_no_failure(home: House, shell: Shell):
    await home.start()
    await home.comes_to("awaiting-response")
    said = await shell.starter("status", home.issue.short, HIKITSUGI_LANGUAGE="ja", PYTHONIOENCODING="ascii")
    assert (said.status, said.err) == (0, "")
    assert "awaiting-response" in said.out


async def test_what_people_wrote_cannot_steer_the_terminal(home: House, shell: Shell):
    await home.start()
    await home.comes_to("awaiting-response")
    await shell.starter("pause", home.issue.short, "\x1b]0;owned\x07 \x9b31m [bold]\u202eabc[/bold]")
    await home.comes_to("paused")
    said = await shell.starter("status", home.issue.short)
    assert not set("\x1b\x07\x9b\u202e") & set(said.out)
    assert "[bold]" in said.out


@pytest.mark.req("TW-06")
async def test_list_shows_the_issues_in_a_state(home: House, shell: Shell):
    await home.start()
    await home.comes_to("awaiting-response")
    said = await shell.starter("list", "--state", "awaiting-response", "--json")
    assert (said.status, said.err) == (0, "")
    found = [issue for issue in json.loads(said.out) if issue["issue"] == str(home.issue)]
    assert [(issue["state"], issue["repository"], issue["title"]) for issue in found] == [
        ("awaiting-response", home.issue.repository, "It fails")
    ]
    others = await shell.starter("list", "--state", "paused", "--json")
    assert str(home.issue) not in others.out


async def test_a_title_stays_in_the_list_when_a_fresh_run_has_begun(home: House, shell: Shell):
    await home.start()
    await home.comes_to("awaiting-response")
    await home.workflow.signal("stop")
    await home.comes_to("stopped")
    said = await shell.starter("list", "--state", "stopped", "--json")
    assert said.status == 0, said.err
    found = [issue for issue in json.loads(said.out) if issue["issue"] == str(home.issue)]
    assert [(issue["title"], bool(issue["url"])) for issue in found] == [("It fails", True)]


async def test_list_for_people_fits_a_terminal_of_80_columns(home: House, shell: Shell):
    await home.start()
    await home.comes_to("awaiting-response")
    said = await shell.starter("list")
    assert (said.status, said.err) == (0, "")
    assert said.widest <= WIDTH
    assert "It fails" in said.out
    assert "awaiting-response" in said.out


@pytest.mark.req("TW-06")
async def test_a_workflow_under_an_id_that_is_no_issues_is_listed_as_it_is(
    time: WorkflowEnvironment, home: House, shell: Shell
):
    await home.start()
    await home.comes_to("awaiting-response")
    odd = await time.client.start_workflow("IssueWorkflow", id="foo", task_queue="nobodys")
    said = await shell.starter("list")
    await odd.terminate()
    assert (said.status, said.err) == (0, "")
    assert " foo " in said.out
    assert home.issue.short in said.out.replace("\n", "")


async def test_list_refuses_an_unknown_state(shell: Shell):
    said = await shell.starter("list", "--state", "sleeping")
    assert (said.status, said.out) == (2, "")
    assert "awaiting-response" in said.err
