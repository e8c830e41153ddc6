"""Planned work that is taken up again: the planner hears how the last plan ended, and judges it."""

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.cli.demo import planner
from hikitsugi.devforge.kinds import KindName
from hikitsugi.language_model.scripted import Answer, Request, fail, use
from tests.end_to_end.plays import Play, blocked, writes
from tests.end_to_end.stage import BOT, Stage, stage
from tests.workflows.planner import action, plan, reflection, verdict
from workflows.issue_workflow import IssueWorkflow

HEADINGS = ("Previous Plan Summary", "Execution History", "Verification History", "Recommendations")
NOTICE = "📋 **過去のコンテキストを引き継ぎました**"
AGAIN = "やはりもう少し直してください。"
CONTINUED, LEARNED = "前回の計画の続きです。", "前回の経験を踏まえた新しい計画です。"


def _judged(earlier_plan: str, *actions: dict[str, object]) -> dict[str, object]:
    return {**plan(*actions), "earlier_plan": earlier_plan}


def _play(*later: dict[str, object]) -> Play:
    """A first session with an approach that fails and one that works, and later plans."""
    lines = {
        "PlanReply": (plan(action(5, title="Patch the parser"), action(1, title="Mend the total")), *later),
        "Reflection": (reflection(revise=False),),
        "Verdict": (verdict(),),
    }
    deeds = {"task_5": blocked, "task_6": writes("notes.md", "Rounding happens once.\n")}
    return Play(lines, deeds)


@pytest.mark.req("CI-01", "CI-10", "CI-11", "CI-12")
@pytest.mark.lesson("C23")
@pytest.mark.parametrize("kind", ["github", pytest.param("gitlab", marks=pytest.mark.long)])
async def test_a_plan_that_is_continued_keeps_its_ticks_and_does_nothing_again(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName
):
    play = _play(_judged("continued", action(1)), _judged("continued", action(6, 1)))
    async with stage(time, tmp_path, play=play, kind=kind) as s:
        s.configure(planning={"enabled": True})
        async with s.product():
            await _completed(s)
            await time.fast_forward(s.workflow, timedelta(days=10))
            asked = len(s.model.requests)
            s.says(AGAIN)
            await s.comes_to("awaiting-response", results=2)
            _assert_told(_first_texts(s, asked))
            assert NOTICE in s.headings
            assert [(item.id, item.status) for item in (await s.status()).plan] == [
                ("task_1", "done"),
                ("task_6", "done"),
            ]
            assert _carried_out(s, asked) == {"task_6"}
            told = await s.workflow.query(IssueWorkflow.plan)
            assert told.startswith(CONTINUED)
            assert "- [x] **task_1**: Mend the total" in told
            sent_back = [r.body.text for r in s.model.requests[asked:] if "cannot be used" in r.body.text]
            assert any("task_1 belongs to an action that stays" in text for text in sent_back)


@pytest.mark.req("CI-01", "CI-10", "CI-11")
@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        ("gitlab", "stopped"),
        pytest.param("github", "stopped", marks=pytest.mark.long),
        pytest.param("github", "terminated", marks=pytest.mark.long),
        pytest.param("gitlab", "terminated", marks=pytest.mark.long),
    ],
)
async def test_a_plan_that_is_only_learned_from_begins_empty(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName, ending: str
):
    async with stage(time, tmp_path, play=_play(_judged("learned_from", action(6))), kind=kind) as s:
        s.configure(planning={"enabled": True})
        async with s.product():
            await (_stopped(s) if ending == "stopped" else _terminated(s))
            asked = len(s.model.requests)
            s.says(AGAIN)
            await s.comes_to("awaiting-response", results=2)
            _assert_told(_first_texts(s, asked))
            assert [(item.id, item.status) for item in (await s.status()).plan] == [("task_6", "done")]
            assert (await s.workflow.query(IssueWorkflow.plan)).startswith(LEARNED)


@pytest.mark.long
@pytest.mark.req("CI-02")
@pytest.mark.parametrize("kind", ["github", "gitlab"])
@pytest.mark.parametrize("ending", ["failed", "expired"])
async def test_a_plan_of_a_failed_or_an_expired_session_is_not_heard_of(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName, ending: str
):
    play = _play(_judged("continued", action(6)))

    def refuses(request: Request) -> Answer:
        failing = ending == "failed" and planner.action_in(request) == "task_1" and AGAIN not in str(request.texts)
        return fail(401, "no such key") if failing else play(request)  # pyright: ignore[reportReturnType]

    async with stage(time, tmp_path, play=refuses, kind=kind) as s:
        s.configure(planning={"enabled": True})
        async with s.product():
            if ending == "failed":
                s.opens_issue()
                await s.comes_to("failed")
            else:
                await _terminated(s)
                _age(s, days=91)
            asked = len(s.model.requests)
            s.says(AGAIN)
            await s.comes_to("awaiting-response", results=1 if ending == "failed" else 2)
            assert not any("earlier record follows" in text for text in _first_texts(s, asked))
            first, *further = (await s.status()).plan
            assert (first.id, first.status) == ("task_6", "done")
            assert all(item.id.startswith("further_") for item in further)
            assert NOTICE not in s.headings


@pytest.mark.req("CI-05")
async def test_the_planner_can_recall_the_plans_of_earlier_sessions(time: WorkflowEnvironment, tmp_path: Path):
    play = _play(_judged("learned_from", action(6)))

    def recalls(request: Request) -> Answer:
        is_later = any("earlier record follows" in text for text in request.texts)
        if is_later and request.form == "PlanReply" and not request.results_of("recall"):
            return use("recall", query="Patch the parser", kind="plan")
        return play(request)

    async with stage(time, tmp_path, play=recalls) as s:
        s.configure(planning={"enabled": True})
        async with s.product():
            await _stopped(s)
            s.says(AGAIN)
            await s.comes_to("awaiting-response", results=2)
            [found] = [
                result.text
                for request in s.model.requests
                if request.body.form == "PlanReply"
                for result in request.body.results_of("recall")
            ]
            assert found.startswith("[session 1, plan] planning ")
            assert "task_5" in found


def _assert_told(first: list[str]) -> None:
    assert "earlier record follows" in first[0]
    inherited = first[1]
    assert all(f"## {heading}" in inherited for heading in HEADINGS)
    assert "task_5 Patch the parser (failed)" in inherited
    assert "task_1 Mend the total (done)" in inherited
    assert "Key failure: Could not do it. another way" in inherited
    assert "Round 1 passed: All is mended." in inherited
    assert "exited with 0 on the pushed commit" in inherited
    assert "Failed, to be done in another way: task_5 Patch the parser" in inherited
    assert "Done, not to be done again: task_1 Mend the total" in inherited


def _first_texts(s: Stage, asked: int) -> list[str]:
    """The texts of the first request of the session, which is the planner's."""
    request = s.model.requests[asked].body
    assert request.form == "Brief"
    return [str(getattr(block, "text", "")) for message in request.messages for block in message.content]


def _carried_out(s: Stage, asked: int) -> set[str | None]:
    return {planner.action_in(request.body) for request in s.model.requests[asked:]} - {None}


async def _completed(s: Stage) -> None:
    s.opens_issue()
    await s.comes_to("awaiting-response", results=1)
    s.says("ありがとう")
    await s.comes_to("completed")


async def _stopped(s: Stage) -> None:
    s.opens_issue()
    await s.comes_to("awaiting-response", results=1)
    s.says(f"@{BOT} stop")
    await s.comes_to("stopped")


async def _terminated(s: Stage) -> None:
    await _completed(s)
    await s.workflow.terminate()


def _age(s: Stage, days: int) -> None:
    with sqlite3.connect(s.folder / "data" / "memory.db") as connection:
        connection.execute("UPDATE contexts SET ended_at = datetime(ended_at, ?)", (f"-{days} days",))
    connection.close()
