"""The model recalls ended sessions of its own issue, and nothing else."""

import pytest
from pydantic import JsonValue

from activities.recalling import recalled
from hikitsugi.domain.records import Task
from hikitsugi.domain.tools import ToolCall
from hikitsugi.memory.store import SqlMemory
from tests.memory.examples import ANOTHER_ISSUE, ISSUE
from tests.memory.test_records import NOON, context

PHASES = {"planning": "plan", "verification": "verification", "reflection": "reflection", "revision": "plan"}


@pytest.mark.req("CI-05", "CI-09")
@pytest.mark.lesson("C24")
async def test_plans_verifications_reflections_decisions_and_metadata_of_ended_sessions_of_this_issue(
    memory: SqlMemory,
):
    for issue in (ISSUE, ANOTHER_ISSUE):
        for session in (1, 2):
            key = f"{issue.repository}-{session}"
            await memory.records.begin_task(Task(key=key, issue=issue, session=session, started_at=NOON))
            for phase in (*PHASES, "replan_decision"):
                said: dict[str, JsonValue] = {"said": f"{phase} {issue.repository} {session} @kenji"}
                await memory.records.record_phase(issue, session, phase, 1, said)
            if session == 1:
                ended = context(key).model_copy(update={"issue": issue})
                await memory.records.keep_context(ended)

    told = await _asked(memory, {"query": ""})

    assert "other" not in told
    assert "[session 2" not in told
    assert "kenji" not in told
    for phase, kind in {**PHASES, "replan_decision": "reflection"}.items():
        assert f"[session 1, {kind}] {phase} 1: " in told
    assert "[session 1, summary] セッション 1 の要約" in told
    assert "4 calls of claude-opus-5-5, 0.1000 USD" in await _asked(memory, {"query": "", "kind": "metadata"})


async def test_a_wrong_question_is_answered_with_what_is_wrong(memory: SqlMemory):
    assert "kind" in await _asked(memory, {"query": "x", "kind": "all"})


async def _asked(memory: SqlMemory, given: dict[str, JsonValue]) -> str:
    outcome = await recalled(memory.records, ISSUE, ToolCall(id="toolu_1", name="recall", input=given))
    return outcome.text
