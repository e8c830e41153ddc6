"""A conversation that becomes too long goes on in a shorter one, once, and nothing is forgotten on the way."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Reply, Transcript, Usage
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.policy import Policy
from hikitsugi.domain.tools import Intent, ToolCall, ToolOutcome
from hikitsugi.language_model.tokens import estimate
from tests.workflows.fakes import FakeModel, FakeWorkshop, Script
from tests.workflows.house import House
from tests.workflows.planner import Planner, planned

pytestmark = [pytest.mark.req("CH-18"), pytest.mark.lesson("C20", "C21")]

LIMIT = 4_000
SUMMARY = "## PENDING\nEdit a.py."
Calls = Sequence[tuple[str, Mapping[str, Any]]]


class Measuring(FakeModel):
    """Tells how long its conversations are."""

    async def reply(self, transcript: Transcript) -> Reply:
        said = await super().reply(transcript)
        usage = Usage(input_tokens=estimate("".join(turn.model_dump_json() for turn in transcript.turns)))
        return said.model_copy(update={"usage": usage})


class Careful(FakeWorkshop):
    """Commands print much, and a file must have been read before it is changed."""

    def __init__(self) -> None:
        super().__init__()
        self.edited: list[str] = []

    async def intend(self, issue: IssueAddress, call: ToolCall, seen: Mapping[str, str]) -> Intent | ToolOutcome:
        if call.name == "edit" and seen.get("a.py") != "a" * 64:
            return ToolOutcome(text="Read it first.", is_error=True)
        return await super().intend(issue, call, seen)

    async def carry_out(self, issue: IssueAddress, intent: Intent) -> ToolOutcome:
        name = intent.call.name
        if name == "read":
            return ToolOutcome(text="x = 1", path="a.py", sha256="a" * 64)
        self.edited += ["a.py"] if name == "edit" else []
        await super().carry_out(issue, intent)
        return ToolOutcome(text="line\n" * 600 if name == "run" else "done")


def reads_runs_and_edits(transcript: Transcript) -> Calls:
    """Read a file, run until the conversation was compressed, edit the file, submit."""
    calls = [call.name for turn in transcript.turns for call in turn.tool_calls]
    if is_compressed(transcript):
        done = ("submit", {"status": "done", "summary": "Fixed it.", "evidence": ""})
        return [done if "edit" in calls else ("edit", {"path": "a.py"})]
    return [("run", {"command": f"step {len(calls)}"}) if calls else ("read", {"path": "a.py"})]


def is_compressed(transcript: Transcript) -> bool:
    return any(SUMMARY in turn.text for turn in transcript.turns)


def a_house(time: WorkflowEnvironment, script: Script, policy: Policy | None = None, says: str = SUMMARY) -> House:
    ours = policy or Policy(completion_keywords=COMPLETION_KEYWORDS)
    here = House(time, script, ours.model_copy(update={"compress_at_tokens": LIMIT}))
    here.model, here.workshop = Measuring(script), Careful()
    here.summarist.says = says
    return here


async def test_the_talk_goes_on_from_request_and_summary_and_files_stay_known(
    time: WorkflowEnvironment, tmp_path: Path
):
    here = a_house(time, reads_runs_and_edits)
    here.workshop = workshop = Careful()
    async with here.open(tmp_path) as h:
        await h.start()
        status = await h.comes_to("awaiting-response")
        long = [transcript for transcript in h.model.transcripts if not is_compressed(transcript)]
        first = next(transcript for transcript in h.model.transcripts if is_compressed(transcript))
        assert len(h.summarist.records) == 1
        assert first.turns[0] == long[0].turns[0]
        assert [turn.role for turn in first.turns] == ["user", "user"]
        assert (first.system, first.tools, first.purpose) == (long[0].system, long[0].tools, long[0].purpose)
        assert workshop.edited == ["a.py"]
        assert "Fixed it." in h.forge.comments[-1].body
        assert status.llm_calls == len(h.model.transcripts) + 1


async def test_without_a_summary_the_talk_stays_and_is_tried_again_only_when_it_has_grown(
    time: WorkflowEnvironment, tmp_path: Path
):
    rounds = 16

    def runs(transcript: Transcript) -> Calls:
        done = sum(len(turn.tool_calls) for turn in transcript.turns)
        submit = ("submit", {"status": "done", "summary": "Fixed it.", "evidence": ""})
        return [submit if done >= rounds else ("run", {"command": f"step {done}"})]

    async with a_house(time, runs, says="").open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        assert len(h.workshop.carried_out) == rounds
        assert 1 < len(h.summarist.records) < rounds - 4
        lengths = [estimate(record.turns[0].text) for record in h.summarist.records]
        assert lengths == sorted(set(lengths))


async def test_an_action_of_a_plan_is_compressed_too(time: WorkflowEnvironment, tmp_path: Path):
    def script(transcript: Transcript) -> Calls | str:
        return reads_runs_and_edits(transcript) if transcript.purpose == Phase.EXECUTION else plan(transcript)

    plan = Planner()
    async with a_house(time, script, planned()).open(tmp_path) as h:
        await h.start()
        status = await h.comes_to("awaiting-response")
        assert [item.status for item in status.plan] == ["done", "done"]
        assert len(h.summarist.records) == 2
        first = next(transcript for transcript in h.model.transcripts if is_compressed(transcript))
        assert "# Your action: task_1" in "\n".join(turn.text for turn in first.turns)


async def test_a_comment_that_came_just_before_is_told_to_the_letter(time: WorkflowEnvironment, tmp_path: Path):
    here = a_house(time, reads_runs_and_edits)
    async with here.open(tmp_path) as h:
        h.model.may_speak.clear()
        await h.start()
        said = f"Keep the name. {'Why? ' * 1000}"
        await h.hears("alice", said)
        h.model.may_speak.set()
        await h.comes_to("awaiting-response")
        told = next(transcript for transcript in h.model.transcripts if is_compressed(transcript))
        assert said.strip() in "\n".join(turn.text for turn in told.turns)
