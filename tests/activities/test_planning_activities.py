"""The conversations of phases are opened from the records, and people are asked once."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from activities.planning_activities import AskPeople, OpenPhase, PlanningActivities, ProposePlan, SendBack, Shown
from activities.reading import conclusion_of
from activities.thinking_activities import PhaseKey, Think, ThinkingActivities
from hikitsugi.domain.conversation import Opening, Turn
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import ActionStatus, Plan, Sketch, TurnRef
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.tools import SubmissionStatus
from hikitsugi.domain.verification import CheckRun, Placeholder, Verified
from hikitsugi.language_model.prompts import phase_prompt
from hikitsugi.memory.store import SqlMemory
from hikitsugi.workspace.inputs import TOOL_SPECS
from tests.activities.examples import ISSUE, step
from tests.workflows.fakes import FakeForge, FakeModel
from tests.workflows.planner import action, brief, plan, verdict

AT = datetime(2026, 1, 1, tzinfo=UTC)
REQUEST = TurnRef(conversation="request", sequence=1)


def activities(memory: SqlMemory, forge: FakeForge | None = None) -> PlanningActivities:
    forges = {ISSUE.forge: forge or FakeForge(ISSUE)}
    return PlanningActivities(memory, forges, phase_prompt, Redactor(["hunter22"]))


async def said(memory: SqlMemory, conversation: str, text: str) -> TurnRef:
    """A reply of the model in a conversation of its own."""
    opening = (Turn.of_text("user", "Issue #1: It fails"),)
    facts = {"id": conversation, "issue": ISSUE, "session": 1, "purpose": "x", "system": "", "opened_at": AT}
    made = Opening.model_validate({**facts, "tools": TOOL_SPECS, "turns": opening})
    await memory.open_conversation(made)
    await memory.append(conversation, 1, Turn.of_text("assistant", text))
    return TurnRef(conversation=conversation, sequence=1)


def opens(phase: Phase, **more: object) -> OpenPhase:
    facts = {"issue": ISSUE, "session": 1, "conversation": "c", "phase": phase, "language": "en", "at": AT}
    return OpenPhase.model_validate({**facts, "request": REQUEST, **more})


@pytest.mark.req("PL-01", "LC-07", "BY-08")
async def test_a_phase_starts_from_the_request_and_what_is_known_and_opens_once(memory: SqlMemory):
    await said(memory, "request", "never shown")
    planned = await said(memory, "p", json.dumps(plan(action(1), action(2, 1))))
    made = Plan()
    made.replace([Sketch.of("task_1", "Step 1", ()), Sketch.of("task_2", "Step 2", ["task_1"])], planned)
    request = opens(
        Phase.EXECUTION, shown=(Shown(phase=Phase.PLANNING, turn=planned),), plan=made, action="task_2", told=(planned,)
    )
    assert await step(activities(memory).open_phase, request) == 3
    assert await step(activities(memory).open_phase, request) == 3
    transcript = await memory.read_conversation("c")
    assert transcript.purpose == "execution"
    assert [tool.name for tool in transcript.tools] == [spec.name for spec in TOOL_SPECS]
    assert transcript.turns[0].text == "Issue #1: It fails"
    briefing = transcript.turns[-1].text
    assert "never shown" not in briefing
    assert "# Your action: task_2\n\nStep 2\n\nPurpose: to mend it\nExpected outcome: it works" in briefing
    assert "- task_2 [todo] Step 2 (after task_1)" in briefing
    assert "in English" in transcript.system


@pytest.mark.req("PL-01")
@pytest.mark.parametrize("phase", [Phase.PRE_PLANNING, Phase.PLANNING, Phase.REFLECTION, Phase.REVISION])
async def test_read_only_phases_get_read_only_tools(memory: SqlMemory, phase: Phase):
    await said(memory, "request", "x")
    await step(activities(memory).open_phase, opens(phase))
    assert [tool.name for tool in (await memory.read_conversation("c")).tools] == ["read", "glob", "grep"]


@pytest.mark.req("PL-04", "BY-03")
async def test_verification_is_shown_what_the_platform_saw(memory: SqlMemory):
    await said(memory, "request", "x")
    verified = Verified(
        commit="c",
        checks=(CheckRun(command="make test", exit_code=2, tail="1 failed"),),
        placeholders=(Placeholder(path="a.py", line=3, text="pass"),),
    )
    await step(activities(memory).open_phase, opens(Phase.VERIFICATION, verified=verified))
    briefing = (await memory.read_conversation("c")).turns[-1].text
    assert "`make test` exited with 2\n    1 failed" in briefing
    assert "Placeholder at a.py:3: `pass`" in briefing


@pytest.mark.req("PL-01", "BY-08")
async def test_a_reply_is_sent_back_once(memory: SqlMemory):
    await said(memory, "c", "garbage")
    request = SendBack(conversation="c", sequence=2, problem="it is garbage")
    await step(activities(memory).send_back, request)
    await step(activities(memory).send_back, request)
    turns = (await memory.read_conversation("c")).turns
    assert len(turns) == 3
    assert "it is garbage" in turns[-1].text


@pytest.mark.req("BY-04", "BY-08", "OP-05")
async def test_questions_and_plans_are_posted_once_and_without_secrets(memory: SqlMemory):
    forge = FakeForge(ISSUE)
    asked = await said(memory, "b", json.dumps(brief("Is hunter22 the password?")))
    planned = await said(memory, "p", json.dumps(plan(action(1))))
    made = Plan()
    made.replace([Sketch.of("task_1", "Step <!-- 1", ())], planned)
    ask = AskPeople(
        issue=ISSUE, key="q", language="en", phase=Phase.PRE_PLANNING, turn=asked, wait=timedelta(minutes=30)
    )
    propose = ProposePlan(issue=ISSUE, key="p", language="en", turn=planned, plan=made, bot="bot")
    for _ in range(2):
        await step(activities(memory, forge).ask_people, ask)
        await step(activities(memory, forge).propose_plan, propose)
    questions, proposal = [comment.body for comment in forge.comments]
    assert "1. Is [redacted] the password?" in questions
    assert "within 30 minutes" in questions
    assert "`@bot approve`" in proposal
    assert "- [ ] **task_1**: Step &lt;!-- 1" in proposal


@pytest.mark.lesson("C19")
@pytest.mark.parametrize("concluded", [True, False])
async def test_planned_work_is_done_only_if_it_was_concluded(memory: SqlMemory, *, concluded: bool):
    judged = await said(memory, "v", json.dumps(verdict(passed=concluded)))
    made = Plan()
    made.replace([Sketch.of("task_1", "Step 1", ())], judged)
    made.actions[0].status = ActionStatus.DONE
    told = await conclusion_of(memory, made, judged, concluded=concluded)
    assert told is not None
    assert told.status == (SubmissionStatus.DONE if concluded else SubmissionStatus.BLOCKED)
    assert ("Something is missing." in told.needs) is not concluded
    assert await conclusion_of(memory, Plan(), judged, concluded=concluded) is None


@pytest.mark.req("PL-01", "CI-05", "OP-05")
async def test_a_reply_becomes_small_facts_and_a_record(memory: SqlMemory):
    reply = {**plan(action(1, title="Use hunter22 " + "x" * 200)), "comment": "hunter22 is used."}
    await said(memory, "request", "x")
    await step(activities(memory).open_phase, opens(Phase.PLANNING))
    thinking = ThinkingActivities(
        FakeModel(lambda _: json.dumps(reply)), memory, Redactor(["hunter22"]), memory.records
    )
    key = PhaseKey(issue=ISSUE, session=1, number=7)
    think = Think(conversation="c", sequence=2, phase=Phase.PLANNING, keep_as=key)
    first, again = await step(thinking.think, think), await step(thinking.think, think)
    assert first == again
    assert first.outcome is not None
    [sketch] = first.outcome.actions
    assert sketch.title.startswith("Use [redacted]")
    [kept] = await memory.records.phase_results(ISSUE)
    assert (kept.phase, kept.sequence, kept.result["goal"]) == ("planning", 7, "It works.")


@pytest.mark.req("PL-01")
async def test_garbage_is_answered_with_what_is_wrong(memory: SqlMemory):
    await said(memory, "request", "x")
    await step(activities(memory).open_phase, opens(Phase.PLANNING))
    thinking = ThinkingActivities(FakeModel(lambda _: "garbage"), memory, Redactor(), memory.records)
    thought = await step(thinking.think, Think(conversation="c", sequence=2, phase=Phase.PLANNING))
    assert thought.outcome is None
    assert "Invalid JSON" in str(thought.problem)
