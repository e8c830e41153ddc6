"""Work by plan, phase by phase."""

from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.policy import PlanningLimits
from hikitsugi.domain.verification import CheckRun, Placeholder
from tests.workflows.fakes import ALICE
from tests.workflows.house import House, house, until
from tests.workflows.planner import Planner, action, decision, plan, planned, reflection, submits, verdict
from workflows.display import PHASE
from workflows.issue_workflow import IssueWorkflow


@pytest.mark.req("PL-01", "PL-02", "PL-04", "PL-07", "BY-03", "TW-07")
async def test_a_plan_is_made_carried_out_in_order_verified_and_shown(time: WorkflowEnvironment, tmp_path: Path):
    lines = {Phase.PLANNING: plan(action(2, 1), action(1))}
    async with House(time, Planner(lines), planned()).open(tmp_path) as h:
        await h.start()
        status = await h.comes_to("awaiting-response")
        assert [t.purpose for t in h.model.transcripts] == [
            "pre_planning",
            "planning",
            *(["execution"] * 4),
            "verification",
        ]
        assert h.workshop.carried_out == ["task_1", "task_2"]
        assert [(item.id, item.status) for item in status.plan] == [("task_2", "done"), ("task_1", "done")]
        assert [commit.message.splitlines()[0] for commit in h.workshop.published[:2]] == [
            "Step 1 (task_1)",
            "Step 2 (task_2)",
        ]
        assert h.forge.is_draft is False
        assert h.forge.requests[0].draft
        assert "All is mended." in h.forge.comments[-1].body
        body = h.forge.bodies[-1]
        assert all(
            text in body for text in ("Closes #1", "All is mended.", "- [x] **task_1**: Step 1", "✅ `make test`")
        )
        assert "*Progress: 2/2 (100%)*" in await h.workflow.query(IssueWorkflow.plan)
        assert status.phase is None
        assert PHASE not in (await h.workflow.describe()).typed_search_attributes
        assert len(h.workshop.verified) == 1


def asked_in(h: House) -> list[str]:
    """The phases, without repetition."""
    seen = [t.purpose for t in h.model.transcripts]
    return [phase for n, phase in enumerate(seen) if n == 0 or seen[n - 1] != phase]


@pytest.mark.req("PL-02", "PL-03")
async def test_a_failed_action_is_reflected_on_and_the_plan_revised(time: WorkflowEnvironment, tmp_path: Path):
    lines = {
        Phase.PLANNING: plan(action(1), action(2, 1)),
        Phase.EXECUTION: (submits("blocked", needs="a key"), submits()),
        Phase.REFLECTION: reflection(revise=True),
        Phase.REVISION: {"reason": "Another way.", "actions": [action(3), action(4, 3)]},
    }
    async with House(time, Planner(lines), planned()).open(tmp_path) as h:
        await h.start()
        status = await h.comes_to("awaiting-response")
        assert asked_in(h) == [
            *("pre_planning", "planning", "execution", "reflection", "revision"),
            *("execution", "verification"),
        ]
        assert [(item.id, item.status) for item in status.plan] == [
            ("task_1", "failed"),
            ("task_3", "done"),
            ("task_4", "done"),
        ]
        assert h.forge.is_draft is False


@pytest.mark.req("PL-02")
@pytest.mark.lesson("C19")
async def test_what_depends_on_a_failed_action_is_skipped_and_nothing_is_called_a_success(
    time: WorkflowEnvironment, tmp_path: Path
):
    lines = {
        Phase.PLANNING: plan(action(1), action(2, 1), action(3, 2), action(4)),
        Phase.EXECUTION: (submits("blocked", needs="a key"), submits()),
        Phase.VERIFICATION: verdict(passed=False),
    }
    async with House(time, Planner(lines), planned()).open(tmp_path) as h:
        await h.start()
        status = await h.comes_to("awaiting-response")
        assert [item.status for item in status.plan] == ["failed", "skipped", "skipped", "done"]
        assert asked_in(h)[-1] == "replan_decision"
        assert h.forge.is_draft is True
        told = h.forge.comments[-1].body
        assert "作業は途中で止まっています" in told
        assert "a key" in told
        assert "下書き" in told


@pytest.mark.req("PL-04", "BY-03")
async def test_a_placeholder_found_by_code_becomes_a_further_action(time: WorkflowEnvironment, tmp_path: Path):
    async with House(time, Planner(), planned()).open(tmp_path) as h:
        h.workshop.placeholders = [Placeholder(path="a.py", line=3, text="    pass  # TODO")]
        await h.start()
        status = await h.comes_to("awaiting-response")
        assert [item.id for item in status.plan] == ["task_1", "task_2", "further_1_1"]
        assert "a.py:3" in status.plan[-1].title
        assert h.workshop.carried_out[-1] == "further_1_1"
        assert "### 追加作業" in await h.workflow.query(IssueWorkflow.plan)
        assert "仮の実装が残っています" in h.forge.comments[-1].body
        assert h.forge.is_draft is True


@pytest.mark.req("BY-03", "PL-04")
@pytest.mark.lesson("C19")
async def test_a_model_that_says_the_tests_pass_is_overruled_by_the_checks(time: WorkflowEnvironment, tmp_path: Path):
    async with House(time, Planner(), planned()).open(tmp_path) as h:
        h.workshop.checks = [CheckRun(command="make test", exit_code=2, tail="FAILED test_a\n1 failed")]
        await h.start()
        status = await h.comes_to("awaiting-response")
        assert [item.id for item in status.plan] == ["task_1", "task_2", "further_1_1", "further_2_1"]
        assert h.forge.is_draft is True
        told = h.forge.comments[-1].body
        assert "❌ `make test` (exit 2)" in told
        assert "FAILED test_a" in told
        assert "作業は途中で止まっています" in told


@pytest.mark.req("BY-03")
@pytest.mark.parametrize("what", ["no check", "instructions"])
async def test_without_a_check_or_with_changed_instructions_the_request_stays_a_draft(
    time: WorkflowEnvironment, tmp_path: Path, what: str
):
    async with House(time, Planner(), planned()).open(tmp_path) as h:
        if what == "no check":
            h.workshop.checks = []
        else:
            h.workshop.touched = [".github/workflows/ci.yml"]
        await h.start()
        await h.comes_to("awaiting-response")
        told = h.forge.comments[-1].body
        assert h.forge.is_draft is True
        assert "All is mended." in told
        assert ("チェックが見つかりませんでした" if what == "no check" else ".github/workflows/ci.yml") in told


@pytest.mark.req("PL-05")
@pytest.mark.parametrize(
    ("kind", "then", "kept"),
    [
        ("retry", "execution", True),
        ("partial_replan", "planning", True),
        ("task_redecomposition", "planning", False),
        ("goal_revision", "pre_planning", False),
    ],
)
async def test_a_replan_goes_back_as_far_as_its_kind_says(
    time: WorkflowEnvironment, tmp_path: Path, kind: str, then: str, *, kept: bool
):
    lines = {
        Phase.PLANNING: (plan(action(1), action(2)), plan(action(5))),
        Phase.EXECUTION: (submits(), submits("blocked"), submits()),
        Phase.VERIFICATION: (verdict(passed=False), verdict()),
        Phase.REPLAN_DECISION: decision(kind),
    }
    async with House(time, Planner(lines), planned()).open(tmp_path) as h:
        await h.start()
        status = await h.comes_to("awaiting-response")
        asked = asked_in(h)
        assert asked[asked.index("replan_decision") + 1] == then
        assert ("task_1" in [item.id for item in status.plan]) is kept
        assert {item.status for item in status.plan} == {"done"}
        assert h.forge.is_draft is False


@pytest.mark.req("PL-05")
@pytest.mark.parametrize("said", [decision("retry", 0.2), "garbage", decision("none")])
async def test_a_wild_or_unreadable_decision_means_no_replan(time: WorkflowEnvironment, tmp_path: Path, said: object):
    lines = {Phase.VERIFICATION: verdict(passed=False), Phase.REPLAN_DECISION: said}
    async with House(time, Planner(lines), planned()).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        assert asked_in(h)[-1] == "replan_decision"
        assert h.forge.is_draft is True


@pytest.mark.req("PL-01")
async def test_a_reply_that_does_not_fit_goes_back_with_the_reason(time: WorkflowEnvironment, tmp_path: Path):
    circle = plan(action(1, 2), action(2, 1))
    lines = {Phase.PLANNING: ({"goal": "x"}, circle, plan(action(1)))}
    async with House(time, Planner(lines), planned()).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        told = [t.turns[-1].text for t in h.model.transcripts if t.purpose == "planning"]
        assert "success_criteria: Field required" in told[1]
        assert "in a circle" in told[2]
        assert h.forge.is_draft is False


@pytest.mark.req("PL-01")
@pytest.mark.lesson("C19")
async def test_garbage_ends_at_the_limit_and_is_told_as_what_it_is(time: WorkflowEnvironment, tmp_path: Path):
    lines = {Phase.PRE_PLANNING: "garbage", Phase.PLANNING: "more garbage"}
    async with House(time, Planner(lines), planned()).open(tmp_path) as h:
        await h.start()
        status = await h.comes_to("awaiting-response")
        assert [t.purpose for t in h.model.transcripts] == ["pre_planning"] * 3 + ["planning"] * 3
        assert status.plan == ()
        assert "作業を最後まで終えられませんでした" in h.forge.comments[-1].body


@pytest.mark.req("PL-01", "PL-02")
async def test_unknown_tools_and_endless_loops_end_at_the_limit_of_steps(time: WorkflowEnvironment, tmp_path: Path):
    limits = PlanningLimits(steps_per_action=3, replans=0)
    lines = {
        Phase.PRE_PLANNING: [("edit", {"path": "a"})],
        Phase.PLANNING: plan(action(1)),
        Phase.EXECUTION: [("launch", {"missiles": 1})],
        Phase.VERIFICATION: verdict(passed=False),
    }
    async with House(time, Planner(lines), planned(limits=limits)).open(tmp_path) as h:
        await h.start()
        status = await h.comes_to("awaiting-response")
        asked = [t.purpose for t in h.model.transcripts]
        assert asked.count("pre_planning") == 3
        assert asked.count("execution") == 3
        assert [item.status for item in status.plan] == ["failed"]
        told = str([t.turns[-1].content for t in h.model.transcripts])
        assert "there is no tool 'edit' in this phase" in told
        assert "there is no tool 'launch' in this phase" in told


@pytest.mark.req("PL-02")
async def test_the_limit_of_actions_is_kept(time: WorkflowEnvironment, tmp_path: Path):
    lines = {
        Phase.PLANNING: plan(action(1), action(2)),
        Phase.VERIFICATION: verdict(action(3), action(4), passed=False),
    }
    limits = PlanningLimits(actions=3, replans=0)
    async with House(time, Planner(lines), planned(limits=limits)).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        assert len(h.workshop.carried_out) <= 3


@pytest.mark.req("PL-07", "CH-03", "BY-03")
async def test_a_comment_after_the_result_is_planned_anew_with_the_earlier_plan_known(
    time: WorkflowEnvironment, tmp_path: Path
):
    lines = {Phase.PLANNING: (plan(action(1)), plan(action(7)))}
    async with House(time, Planner(lines), planned()).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "Also the README, please.")
        await until(lambda: _results(h, 2))
        status = await h.comes_to("awaiting-response")
        again = [t for t in h.model.transcripts if t.purpose == "pre_planning"][-1]
        text = "\n".join(turn.text for turn in again.turns)
        assert "[New Comment from @alice]:\nAlso the README, please." in text
        assert "- task_1 [done] Step 1" in text
        assert [item.id for item in status.plan] == ["task_7"]
        assert len({request.head for request in h.forge.requests}) == 1
        assert h.forge.standings == [False, True, False]


@pytest.mark.req("BY-08", "CH-11")
@pytest.mark.parametrize("again", [False, True], ids=["first pass", "second pass"])
async def test_work_that_fails_is_pushed_before_that_is_told(time: WorkflowEnvironment, tmp_path: Path, *, again: bool):
    lines = {Phase.PLANNING: (plan(action(1)), plan(action(7)))}
    async with House(time, Planner(lines), planned()).open(tmp_path) as h:
        if again:
            await h.start()
            await h.comes_to("awaiting-response")
            await h.hears(ALICE, "Also the README, please.")
        h.model.refuses_after_tools = WillNeverWork("The model does not accept the key.")
        pushed = len(h.workshop.published)
        if not again:
            await h.start()
        await until(lambda: _errors(h))
        await h.comes_to("awaiting-response" if again else "failed")
        assert len(h.workshop.published) == pushed + 1
        assert h.workshop.carried_out[-1] == ("task_7" if again else "task_1")
        assert h.forge.is_draft is not False
        assert "The model does not accept the key." in h.forge.comments[-1].body
        if not again:
            assert "`hikitsugi/issue-1`" in h.forge.comments[-1].body


@pytest.mark.req("PL-07", "BY-03")
async def test_a_later_session_that_changes_nothing_leaves_the_request_ready(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "thanks")
        await h.comes_to("completed")
        await h.hears(ALICE, "What was wrong?")
        await until(lambda: _results(h, 2))
        await h.comes_to("awaiting-response")
        assert h.forge.standings == [False]


async def _errors(h: House) -> bool:
    return "## エラーが発生しました" in h.forge.ours


async def _results(h: House, number: int) -> bool:
    return h.forge.ours.count("## 実行完了") == number
