"""Pause, resume and stop, given in every way there is, on both forges."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.cli.demo import script
from hikitsugi.devforge.kinds import KindName
from hikitsugi.devforge.records import Edit
from hikitsugi.language_model.scripted import Answer, Request, use
from tests.cli.shell import Shell
from tests.end_to_end.stage import BOT, Stage, stage, until

both_forges = pytest.mark.parametrize("kind", ["github", pytest.param("gitlab", marks=pytest.mark.long)])
Way = Callable[[], Awaitable[None]]
Ways = list[tuple[Way, Way]]


def submits(_: Request) -> Answer:
    """A model that is done at once."""
    return use("submit", status="done", summary="できました。")


class Hands:
    """Everything a person can give an order with."""

    def __init__(self, s: Stage, folder: Path) -> None:
        self._stage = s
        self._tracker = s.forge.repository(s.repository).tracker
        self._kenji = s.forge.person("kenji")
        folder.mkdir()
        self._shell = Shell(folder, **json.loads(s.config.read_text()))

    async def comment(self, body: str) -> None:
        self._stage.says(body, author="kenji")

    async def command_line(self, *words: str) -> None:
        said = await self._shell.starter(*words, str(self._stage.issue))
        assert said.status == 0, said.err

    async def signal(self, name: str) -> None:
        await self._stage.workflow.signal(name)

    async def label(self, name: str) -> None:
        self._tracker.add_labels(1, self._kenji, [name])

    async def unlabel(self, name: str) -> None:
        self._tracker.remove_label(1, self._kenji, name)

    async def opens(self, *, is_open: bool) -> None:
        self._tracker.edit(1, self._kenji, Edit(is_open=is_open))

    async def assigns(self, *people: str) -> None:
        found = tuple(self._stage.forge.person(login) for login in people)
        self._tracker.edit(1, self._kenji, Edit(assignees=found))


@both_forges
@pytest.mark.req("PR-01", "PR-03", "TW-02", "CH-06")
@pytest.mark.lesson("C10")
async def test_an_issue_is_paused_and_resumed_in_every_way(time: WorkflowEnvironment, tmp_path: Path, kind: KindName):
    async with stage(time, tmp_path, submits, kind=kind) as s, s.product():
        s.forge.add_person("mallory", "token-of-mallory", "read")
        s.opens_issue()
        await s.comes_to("awaiting-response", results=1)
        hands = Hands(s, tmp_path / "shell")
        on_the_forge: Ways = [
            (lambda: hands.comment("/pause お昼にします"), lambda: hands.comment("/resume")),
            (lambda: hands.comment(f"@{BOT} pause"), lambda: hands.comment(f"@{BOT} resume")),
            (lambda: hands.label("paused"), lambda: hands.unlabel("paused")),
        ]
        past_it: Ways = [
            (lambda: hands.command_line("pause"), lambda: hands.command_line("resume")),
            (lambda: hands.signal("pause"), lambda: hands.signal("resume")),
        ]
        for pause, resume in on_the_forge + (past_it if kind == "github" else []):
            await pause()
            await until(lambda: _shows(s, "paused"))
            s.says("/resume", author="mallory")
            await resume()
            await until(lambda: _shows(s, "awaiting-response"))
        assert len(s.model.requests) == 1
        assert s.headings == ["## 実行完了", "## 🛠️ 進捗(セッション 1)"]


@both_forges
@pytest.mark.req("PR-02", "PR-03", "TW-02", "TW-05", "CH-06")
@pytest.mark.lesson("C12")
async def test_an_issue_is_stopped_and_called_up_again_in_every_way(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName
):
    async with stage(time, tmp_path, submits, kind=kind) as s, s.product():
        s.opens_issue()
        hands = Hands(s, tmp_path / "shell")
        await hands.assigns(BOT)
        on_the_forge: Ways = [
            (lambda: hands.comment("/stop 別の方法にします"), lambda: hands.comment("/retry")),
            (lambda: hands.label("stopped"), lambda: hands.comment(f"@{BOT} retry")),
            (hands.assigns, lambda: _relabels(hands, s)),
            (lambda: hands.opens(is_open=False), lambda: hands.opens(is_open=True)),
        ]
        past_it: Ways = [
            (lambda: hands.command_line("stop"), lambda: hands.command_line("start")),
            (lambda: hands.signal("stop"), lambda: hands.comment("もう一度お願いします。")),
        ]
        ways = on_the_forge + (past_it if kind == "github" else [])
        await s.comes_to("awaiting-response", results=1)
        for session, (stop, again) in enumerate(ways, start=1):
            await until(lambda: _shows(s, "awaiting-response"))
            await stop()
            await until(lambda: _shows(s, "stopped"))
            assert s.headings.count("## ⛔ タスク停止") == session
            await again()
            await s.comes_to("awaiting-response", results=session + 1)
        assert (await s.status()).session == len(ways) + 1


@both_forges
@pytest.mark.req("PR-02", "BY-08")
async def test_a_stop_in_the_middle_saves_and_pushes_what_is_there(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName
):
    def edits_and_sleeps(request: Request) -> Answer:
        edited = any(result.tool == "edit" for result in request.results)
        return use("run", command="sleep 300") if edited else script.reply(request)

    async with stage(time, tmp_path, edits_and_sleeps, kind=kind) as s, s.product():
        s.opens_issue()
        await until(lambda: _runs_long(s))
        s.says("/stop")
        await s.comes_to("stopped")
        assert "net = sum(prices)" in (s.checked_out() / "receipt.py").read_text()
        assert s.headings == ["## ⛔ タスク停止"]


async def _relabels(hands: Hands, s: Stage) -> None:
    """The trigger label is taken off, noticed, and put on again."""
    seen = len(s.forge.requests)
    await hands.unlabel("task:misc")
    await until(lambda: _looked(s, seen))
    await hands.label("task:misc")


async def _looked(s: Stage, since: int) -> bool:
    """Whether the watcher has come round twice."""
    looks = [call for call in s.forge.requests[since:] if call.method == "GET" and call.path.endswith("/issues")]
    return len(looks) > 2


async def _shows(s: Stage, state: str) -> bool:
    """Whether the issue is in a state, and its labels tell that and nothing else."""
    return s.labels == {"task:misc", state} and (await s.status()).state == state


async def _runs_long(s: Stage) -> bool:
    """Whether the model, after its edit, was asked for the turn that takes long."""
    return len(s.model.requests) == 3
