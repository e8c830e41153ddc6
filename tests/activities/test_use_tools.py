"""Each tool call is carried out at most once, whenever the step is cut off."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from activities.workspace_activities import (
    CUT_OFF,
    INTERRUPTED,
    MOVED,
    ToolsUsed,
    UseTools,
    WorkspaceActivities,
)
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.tools import Intent, ToolCall, ToolOutcome
from hikitsugi.memory.store import SqlMemory
from tests.activities.examples import CONVERSATION, ISSUE, asked_for, step
from tests.workflows.fakes import FakeForge, FakeWorkshop

USE = UseTools(issue=ISSUE, conversation=CONVERSATION, sequence=1)
RUN = ("run", {"command": "make test"})
WRITE = ("write", {"path": "a.py"})
SUBMIT = ("submit", {"status": "done", "summary": "Fixed."})


def unmeasured(_: str) -> int:
    return 0


class Workshop(FakeWorkshop):
    """Notes what is carried out, and of which files it was told."""

    def __init__(self, refuses: str = "") -> None:
        super().__init__()
        self.done: list[str] = []
        self.seen: list[Mapping[str, str]] = []
        self.refused = refuses

    async def intend(self, issue: IssueAddress, call: ToolCall, seen: Mapping[str, str]) -> Intent | ToolOutcome:
        self.seen.append(dict(seen))
        if call.name == self.refused:
            return ToolOutcome(text="Read the file first.", is_error=True)
        return await super().intend(issue, call, seen)

    async def carry_out(self, issue: IssueAddress, intent: Intent) -> ToolOutcome:
        self.done.append(intent.call.name)
        path = intent.call.input.get("path")
        return ToolOutcome(text="done", path=str(path) if path else None, sha256="a" * 64 if path else None)


class Killed(BaseException):
    """The worker died."""


class Fuse:
    """Burns down by one whenever a part is used, and once more when it has answered."""

    def __init__(self, left: int) -> None:
        self.left = left

    def burn(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed

    def on(self, part: object) -> Any:
        return _Fused(part, self)


class _Fused:
    def __init__(self, part: object, fuse: Fuse) -> None:
        self._part = part
        self._fuse = fuse

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def used(*given: Any) -> Any:
            self._fuse.burn()
            answer = await getattr(self._part, name)(*given)
            self._fuse.burn()
            return answer

        return used


async def use(memory: SqlMemory, workshop: Workshop) -> ToolsUsed:
    return await step(WorkspaceActivities("here", workshop, workshop, memory, {}, measure=unmeasured).use_tools, USE)


async def answers(memory: SqlMemory, conversation: str = CONVERSATION) -> list[tuple[Any, ...]]:
    turn = await memory.find_turn(conversation, 2)
    assert turn is not None
    return [(block["tool_use_id"], block["content"], block.get("is_error", False)) for block in turn.content]


@pytest.mark.req("BY-08")
async def test_using_tools_twice_carries_each_call_out_once(memory: SqlMemory):
    await asked_for(memory, RUN, WRITE, SUBMIT)
    workshop = Workshop()
    first, second = await use(memory, workshop), await use(memory, workshop)
    assert first == second == ToolsUsed(errors=0, submitted=True)
    assert workshop.done == ["run", "write", "submit"]
    assert await answers(memory) == [(f"call-{n}", "done", False) for n in range(3)]


@pytest.mark.req("BY-08")
async def test_a_command_that_was_cut_off_is_answered_as_interrupted_and_not_run_again(memory: SqlMemory):
    await asked_for(memory, RUN, WRITE)
    run = ToolCall(id="call-0", name="run", input={"command": "make test"})
    await memory.begin_tool_run(CONVERSATION, Intent(call=run, repeatable=False))
    workshop = Workshop()
    assert await use(memory, workshop) == ToolsUsed(errors=1, submitted=False)
    assert workshop.done == ["write"]
    assert await answers(memory) == [("call-0", INTERRUPTED, True), ("call-1", "done", False)]


@pytest.mark.req("BY-08")
async def test_a_file_change_that_was_cut_off_is_carried_out_again(memory: SqlMemory):
    await asked_for(memory, WRITE)
    write = ToolCall(id="call-0", name="write", input={"path": "a.py"})
    await memory.begin_tool_run(CONVERSATION, Intent(call=write, repeatable=True))
    workshop = Workshop()
    assert await use(memory, workshop) == ToolsUsed(errors=0, submitted=False)
    assert workshop.done == ["write"]
    assert workshop.seen == []


@pytest.mark.req("BY-08")
async def test_wherever_the_worker_dies_no_command_runs_twice_and_every_call_is_answered(memory: SqlMemory):
    points = 0
    died = True
    while died:
        points += 1
        conversation, workshop = f"killed-{points}", Workshop()
        await asked_for(memory, RUN, WRITE, conversation=conversation)
        died = await _dies(memory, workshop, conversation, Fuse(points))
        healthy = WorkspaceActivities("here", workshop, workshop, memory, {}, measure=unmeasured)
        await step(healthy.use_tools, USE.model_copy(update={"conversation": conversation}))
        run, write = await answers(memory, conversation)
        assert workshop.done.count("run") <= 1
        assert run in {("call-0", "done", False), ("call-0", INTERRUPTED, True)}
        assert write == ("call-1", "done", False)
    assert points > 20


async def _dies(memory: SqlMemory, workshop: Workshop, conversation: str, fuse: Fuse) -> bool:
    dying = WorkspaceActivities("here", workshop, fuse.on(workshop), fuse.on(memory), {}, measure=unmeasured)
    try:
        await step(dying.use_tools, USE.model_copy(update={"conversation": conversation}))
    except Killed:
        return True
    return False


@pytest.mark.req("PL-06")
async def test_a_call_cut_off_by_the_limit_of_tokens_is_not_carried_out(memory: SqlMemory):
    await asked_for(memory, WRITE, RUN, stop_reason="max_tokens")
    workshop = Workshop()
    assert await use(memory, workshop) == ToolsUsed(errors=1, submitted=False)
    assert workshop.done == ["write"]
    assert (await answers(memory))[1] == ("call-1", CUT_OFF, True)


async def test_a_call_the_toolbox_refuses_is_answered_with_its_reason(memory: SqlMemory):
    await asked_for(memory, WRITE, SUBMIT)
    assert await use(memory, Workshop(refuses="write")) == ToolsUsed(errors=1, submitted=True)
    assert (await answers(memory))[0] == ("call-0", "Read the file first.", True)


async def test_a_submission_that_is_refused_does_not_count(memory: SqlMemory):
    await asked_for(memory, SUBMIT)
    assert await use(memory, Workshop(refuses="submit")) == ToolsUsed(errors=1, submitted=False)


async def test_a_call_is_checked_against_the_files_seen_up_to_it(memory: SqlMemory):
    await asked_for(memory, ("read", {"path": "a.py"}), WRITE)
    workshop = Workshop()
    await use(memory, workshop)
    assert workshop.seen == [{}, {"a.py": "a" * 64}]


@pytest.mark.req("TW-04")
async def test_a_turn_that_the_store_does_not_know_is_refused(memory: SqlMemory, forge: FakeForge):
    await asked_for(memory, RUN)
    unknown = USE.model_copy(update={"sequence": 7})
    workspace = WorkspaceActivities("here", Workshop(), Workshop(), memory, {"github": forge}, measure=unmeasured)
    with pytest.raises(WillNeverWork, match="has no reply 7"):
        await step(workspace.use_tools, unknown)


async def test_a_lost_checkout_is_told_beside_the_answers(memory: SqlMemory):
    await asked_for(memory, RUN)
    moved = USE.model_copy(update={"moved": True})
    workshop = Workshop()
    await step(WorkspaceActivities("here", workshop, workshop, memory, {}, measure=unmeasured).use_tools, moved)
    turn = await memory.find_turn(CONVERSATION, 2)
    assert turn is not None
    assert turn.content[-1] == {"type": "text", "text": MOVED}


async def test_who_may_only_look_changes_no_file_and_runs_commands_in_a_copy(memory: SqlMemory):
    class Desk(Workshop):
        async def intend(self, issue: IssueAddress, call: ToolCall, seen: Mapping[str, str]) -> Intent | ToolOutcome:
            return Intent(call=call, path="a.py" if call.name == "write" else None, repeatable=call.name != "run")

        async def carry_out(self, issue: IssueAddress, intent: Intent) -> ToolOutcome:
            assert intent.throwaway
            return await super().carry_out(issue, intent)

    await asked_for(memory, RUN, WRITE)
    workshop = Desk()
    looking = USE.model_copy(update={"phase": Phase.VERIFICATION})
    await step(WorkspaceActivities("here", workshop, workshop, memory, {}, measure=unmeasured).use_tools, looking)
    assert workshop.done == ["run"]
    assert await answers(memory) == [
        ("call-0", "done", False),
        ("call-1", "there is no tool 'write' in this phase; there are read, glob, grep, recall, run", True),
    ]
