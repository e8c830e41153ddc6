"""What cannot be done is told in one sentence on standard error, with the right exit status."""

import os
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment
from typer.testing import CliRunner

from hikitsugi.app.embedded import free_port
from hikitsugi.app.run_file import RunFacts, write_run_file
from hikitsugi.cli.starter import app
from tests.cli.conftest import address_of
from tests.cli.shell import Shell
from tests.workflows.house import House

COMMANDS = (
    *("start", "comment", "pause", "resume", "stop", "status", "list", "watch"),
    *("watch-repository", "unwatch-repository", "check-config"),
)


async def test_without_arguments_the_help_names_every_command(tmp_path: Path):
    said = await Shell(tmp_path).starter()
    assert said.status == 2
    assert all(f"│ {command} " in said.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_text_with_an_example(command: str):
    said = CliRunner().invoke(app, [command, "--help"])
    assert said.exit_code == 0
    assert f"Example: python starter.py {command}" in said.output


@pytest.mark.parametrize("arguments", [("start",), ("comment", "o/r#1"), ("dance",), ("status", "o/r#1", "--loud")])
async def test_wrong_usage_ends_with_2(tmp_path: Path, arguments: tuple[str, ...]):
    said = await Shell(tmp_path).starter(*arguments)
    assert (said.status, said.out) == (2, "")
    assert "Usage:" in said.err


@pytest.mark.parametrize(
    "arguments", [("status", "nonsense"), ("start", "https://example.com/o/r/issues/1"), ("comment", "o/r#1", "  ")]
)
async def test_what_is_no_issue_or_no_comment_ends_with_2(tmp_path: Path, arguments: tuple[str, ...]):
    said = await Shell(tmp_path, forges=[{}]).starter(*arguments)
    assert said.status == 2
    assert said.is_one_sentence


@pytest.mark.req("OP-04")
async def test_a_wrong_configuration_is_refused_with_2_by_every_command(tmp_path: Path):
    shell = Shell(tmp_path, polling={"interval_seconds": -1}, language="xx")
    said = await shell.starter("list")
    assert (said.status, said.out) == (2, "")
    assert said.err.splitlines()[0].startswith("language: ")
    assert any(line.startswith("polling.interval_seconds: -1 — ") for line in said.err.splitlines())


@pytest.mark.req("OP-04")
async def test_broken_yaml_is_refused_with_2(tmp_path: Path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("forges: [", encoding="utf-8")
    shell = Shell(tmp_path)
    for arguments in (("--config", str(broken), "list"), ("list", "--config", str(broken))):
        said = await shell.starter(*arguments)
        assert said.status == 2
        assert said.is_one_sentence
        assert "broken.yaml, line" in said.err


@pytest.mark.parametrize("command", ["status", "start", "pause", "watch"])
async def test_without_a_worker_it_says_how_to_start_one(tmp_path: Path, command: str):
    said = await Shell(tmp_path, forges=[{}]).starter(command, "o/r#1")
    assert said.status == 1
    assert said.is_one_sentence
    assert "start `python worker.py`, or set temporal.address" in said.err


async def test_a_server_that_does_not_answer_is_named(tmp_path: Path):
    address = f"127.0.0.1:{free_port()}"
    said = await Shell(tmp_path, forges=[{}], temporal={"address": address}).starter("status", "o/r#1")
    assert said.status == 1
    assert said.is_one_sentence
    assert address in said.err


@pytest.mark.parametrize("arguments", [("status",), ("comment", "hello"), ("pause",), ("resume",), ("stop",)])
async def test_an_issue_without_a_workflow_says_how_to_start_it(home: House, shell: Shell, arguments: tuple[str, ...]):
    command, *rest = arguments
    said = await shell.starter(command, home.issue.short, *rest)
    assert said.status == 1
    assert said.is_one_sentence
    assert said.err == (f"There is no workflow for {home.issue}; start it with: python starter.py start {home.issue}\n")


async def test_an_unknown_namespace_is_named(time: WorkflowEnvironment, tmp_path: Path):
    temporal = {"address": address_of(time), "namespace": "elsewhere"}
    shell = Shell(tmp_path, forges=[{}], temporal=temporal)
    for arguments in (("status", "o/r#1"), ("list",), ("start", "o/r#1")):
        said = await shell.starter(*arguments)
        assert said.status == 1
        assert said.is_one_sentence
        assert "temporal.namespace" in said.err


async def test_a_worker_that_is_away_is_asked_for(time: WorkflowEnvironment, tmp_path: Path):
    temporal = {"address": address_of(time), "task_queue": "nobody-works-here"}
    shell = Shell(tmp_path, forges=[{}], temporal=temporal)
    issue = "nobody/here#1"
    assert (await shell.starter("start", issue)).status == 0
    said = await shell.starter("status", issue)
    await time.client.get_workflow_handle("github:nobody/here/issues/1").terminate()
    assert said.status == 1
    assert said.is_one_sentence
    assert "python worker.py" in said.err


async def test_the_server_of_a_running_worker_is_found(time: WorkflowEnvironment, home: House, tmp_path: Path):
    write_run_file(tmp_path / "data", RunFacts(pid=os.getpid(), temporal=address_of(time)))
    shell = Shell(tmp_path, forges=[{}], data_folder="data", temporal={"task_queue": home.task_queue})
    assert (await shell.starter("start", home.issue.short)).status == 0
    await home.comes_to("awaiting-response")
