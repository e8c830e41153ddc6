"""Taking over and handing over happen once, whoever is away."""

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue

from activities.handover_activities import HandOver, HandoverActivities, TakeOver
from hikitsugi.domain.address import IssueAddress, Kind
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import OPERATOR, Comment, NewChangeRequest
from hikitsugi.domain.policy import Language
from hikitsugi.domain.session import Ending
from hikitsugi.domain.status import PlanItem
from hikitsugi.domain.tools import Intent, ToolCall, ToolOutcome
from hikitsugi.language_model.tokens import estimate
from hikitsugi.memory.store import SqlMemory
from tests.activities.examples import CONVERSATION, ISSUE, opened, reply, step
from tests.workflows.fakes import ALICE, EPOCH, FakeForge, FakeSummarist

DAY = timedelta(days=1)
PLAN: dict[str, JsonValue] = {
    "goal": "Fix the tax",
    "actions": [{"id": "task_1", "title": "Read it", "purpose": "to know", "complexity": "low", "depends_on": []}],
}
VERDICT: dict[str, JsonValue] = {
    "passed": False,
    "summary": "The tax is still wrong.",
    "criteria": [{"criterion": "326 yen", "met": False, "evidence": ""}],
    "issues": ["a TODO is left"],
}


def activities(memory: SqlMemory, forge: FakeForge, model: FakeSummarist) -> HandoverActivities:
    def prompt(language: Language) -> str:
        return f"Close the record in {language}."

    return HandoverActivities(memory.records, memory, {"github": forge}, model, prompt, estimate)


def take_over(key: str = "k1", *, inherits: bool = True, days: int = 0) -> TakeOver:
    now = EPOCH + days * DAY
    return TakeOver(issue=ISSUE, key=key, session=1, inherits=inherits, expiry=90 * DAY, now=now)


def hand_over(ending: Ending = Ending.COMPLETED, session: int = 1, inherited: str = "") -> HandOver:
    return HandOver(
        issue=ISSUE,
        key=f"k{session}",
        session=session,
        inherited=inherited,
        ending=ending,
        language="en",
        title="It fails",
        author=ALICE,
        change_request="https://forge.example/pull/2",
        error=None,
        plan=(PlanItem(id="task_1", title="Read it", status="done"),),
        started_at=EPOCH,
        now=EPOCH,
    )


async def worked(memory: SqlMemory) -> None:
    await opened(memory)
    tried: list[tuple[str, dict[str, JsonValue], str]] = [
        ("run", {"command": "pytest"}, "Exit code 1 after 1 s.\nE assert 325 == 326")
    ]
    tried.append(("submit", {"status": "done", "summary": "Fixed.", "evidence": "12 passed"}, "Submitted."))
    for number, (name, given, came) in enumerate(tried):
        call = ToolCall.model_validate({"id": f"call-{number}", "name": name, "input": given})
        await memory.begin_tool_run(CONVERSATION, Intent(call=call))
        await memory.finish_tool_run(CONVERSATION, call.id, ToolOutcome(text=came))


@pytest.mark.req("CI-03", "BY-08")
async def test_a_handover_is_made_and_paid_once(memory: SqlMemory, forge: FakeForge):
    model = FakeSummarist()
    model.says = "## Purpose\nIt failed."
    between = activities(memory, forge, model)
    await worked(memory)
    first = await step(between.hand_over, hand_over())
    again = await step(between.hand_over, hand_over())
    assert first.handover == again.handover
    assert first.handover.summary == "## Purpose\nIt failed."
    assert first.usage is not None
    assert again.usage is None
    assert len(model.records) == 1
    [task] = await memory.records.tasks(ISSUE)
    assert task.status == "completed"


@pytest.mark.req("CI-03", "CI-09")
async def test_the_closing_model_reads_what_was_tried_decided_and_submitted_but_no_names(
    memory: SqlMemory, forge: FakeForge
):
    model = FakeSummarist()
    await worked(memory)
    decision = forge.says(ALICE, "alice wants tabs.").model_copy(update={"url": "https://forge.example/1#c1"})
    decision = decision.model_copy(update={"wording": "tabs"})
    await memory.take_in_comments(ISSUE, CONVERSATION, decision.names)
    forge.comments = [forge.edits(decision, decision.body)]
    left = (await step(activities(memory, forge, model).hand_over, hand_over())).handover
    for told in (model.records[0].turns[0].text, left.summary):
        assert "assert 325 == 326" in told
        assert "[user] wants tabs. (https://forge.example/1#c1)" in told
        assert "12 passed" in told
        assert "alice" not in told


@pytest.mark.req("CI-03", "CI-08")
@pytest.mark.parametrize("damage", ['{"a": 1}', "null", "{"])
async def test_a_session_with_damaged_records_is_closed_with_those_that_can_be_read(
    memory: SqlMemory, forge: FakeForge, tmp_path: Path, damage: str
):
    await worked(memory)
    for sequence in (1, 2):
        await memory.append_reply(CONVERSATION, sequence, reply(("run", {"command": f"try {sequence}"})))
    with sqlite3.connect(tmp_path / "memory.db") as connection:
        connection.execute("UPDATE messages SET content = ? WHERE sequence = 1", [damage])
        connection.execute("UPDATE tool_runs SET intent = ? WHERE call = 'call-1'", [damage])
    connection.close()
    await step(activities(memory, forge, FakeSummarist()).hand_over, hand_over())
    kept = await memory.records.read_context(ISSUE, "k1")
    assert kept is not None
    assert kept.attempts.failures == ("run pytest: Exit code 1 after 1 s. E assert 325 == 326",)
    assert kept.use.llm_calls == 1


@pytest.mark.req("CI-03", "CI-09")
async def test_decisions_on_the_request_and_by_the_operator_are_handed_over_without_names(
    memory: SqlMemory, forge: FakeForge
):
    await worked(memory)
    forge.requests = [NewChangeRequest(home=ISSUE.home, head="hikitsugi/issue-1", base="main", title="", body="")]
    on_request = ISSUE.model_copy(update={"kind": Kind.PULL_REQUEST, "number": 2})
    decision = forge.says("maria", "maria wants tabs.", on_request)
    typed = Comment(id="operator:1", author=OPERATOR, body="The operator pattern stays.", created_at=EPOCH)
    await memory.keep_comments(ISSUE, [typed])
    await memory.take_in_comments(ISSUE, CONVERSATION, [decision.version, typed.version])
    order = hand_over().model_copy(update={"branch": "hikitsugi/issue-1"})
    summary = (await step(activities(memory, forge, FakeSummarist()).hand_over, order)).handover.summary
    assert "- The operator pattern stays.\n- [user] wants tabs." in summary


class MuteForge(FakeForge):
    """Does not tell what people said."""

    async def read_comments(self, issue: IssueAddress, *, on_lines: bool = False) -> list[Comment]:
        raise self.refuses or TryAgainLater("The forge is away.")


@pytest.mark.req("CI-03")
async def test_a_forge_that_is_away_for_a_moment_is_asked_again_and_one_that_refuses_leaves_the_decisions_out(
    memory: SqlMemory,
):
    forge = MuteForge(ISSUE)
    between = activities(memory, forge, FakeSummarist())
    await worked(memory)
    with pytest.raises(TryAgainLater):
        await step(between.hand_over, hand_over())
    forge.refuses = WillNeverWork("No such issue.")
    assert "Fixed." in (await step(between.hand_over, hand_over())).handover.summary


@pytest.mark.req("CI-05", "CI-10")
@pytest.mark.lesson("C23")
async def test_plans_verdicts_and_failures_are_kept_under_the_names_they_were_written_with(
    memory: SqlMemory, forge: FakeForge
):
    await worked(memory)
    await memory.records.record_phase(ISSUE, 1, "planning", 1, PLAN)
    await memory.records.record_phase(ISSUE, 1, "verification", 1, VERDICT)
    await step(activities(memory, forge, FakeSummarist()).hand_over, hand_over(Ending.STOPPED))
    kept = await memory.records.read_context(ISSUE, "k1")
    assert kept is not None
    [plan] = kept.plans
    assert (plan.goal, plan.outline) == ("Fix the tax", ("task_1 Read it (done)",))
    assert "purpose: to know" in plan.details[0]
    assert kept.verifications == ("Round 1 failed: The tax is still wrong. Found: 326 yen; a TODO is left",)
    assert kept.attempts.failed == 1


@pytest.mark.req("CI-10", "CI-02")
@pytest.mark.lesson("C23")
async def test_plans_and_verifications_are_handed_down_from_session_to_session_but_not_by_a_failed_one(
    memory: SqlMemory, forge: FakeForge
):
    between = activities(memory, forge, FakeSummarist())
    endings = (Ending.COMPLETED, Ending.FAILED, Ending.STOPPED, Ending.COMPLETED)
    heirs = {1: "", 2: "k1", 3: "k1", 4: "k3"}
    for session, ending in enumerate(endings, start=1):
        await memory.records.record_phase(ISSUE, session, "planning", 1, {"goal": f"goal {session}"})
        await memory.records.record_phase(ISSUE, session, "verification", 1, {"passed": True, "summary": f"{session}"})
        await step(between.hand_over, hand_over(ending, session, heirs[session]))
    kept = await memory.records.read_context(ISSUE, "k4")
    assert kept is not None
    assert [(plan.session, plan.goal) for plan in kept.plans] == [(1, "goal 1"), (3, "goal 3"), (4, "goal 4")]
    assert kept.verifications == ("Session 1: Round 1 passed: 1", "Session 3: Round 1 passed: 3", "Round 1 passed: 4")
    assert "Round 1 passed: 3" not in kept.summary


@pytest.mark.req("CI-01", "CI-02", "BY-08")
@pytest.mark.parametrize(
    ("ending", "days", "inherits", "found"),
    [
        (Ending.COMPLETED, 90, True, True),
        (Ending.STOPPED, 10, True, True),
        (Ending.COMPLETED, 91, True, False),
        (Ending.FAILED, 1, True, False),
        (Ending.COMPLETED, 1, False, False),
    ],
)
async def test_a_session_takes_over_what_may_be_inherited_and_counts_on(
    memory: SqlMemory, forge: FakeForge, ending: Ending, days: int, *, inherits: bool, found: bool
):
    between = activities(memory, forge, FakeSummarist())
    assert (await step(between.take_over, take_over())).session == 1
    await step(between.hand_over, hand_over(ending))
    for _ in range(2):
        taken = await step(between.take_over, take_over("k2", inherits=inherits, days=days))
        assert taken.session == 2
        assert (taken.handover is not None) is found
