"""One issue, its conversation, and what a model says in it."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from temporalio.testing import ActivityEnvironment

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Opening, Reply, Turn
from hikitsugi.memory.store import SqlMemory
from tests.workflows.fakes import EPOCH

ISSUE = IssueAddress(forge="github", repository="octo/repo", number=1)
CONVERSATION = "conversation-1"
SECRET = "correct-horse-battery-staple"

P = TypeVar("P")
R = TypeVar("R")


async def step(activity: Callable[[P], Awaitable[R]], request: P) -> R:
    """Take a step once, as a worker does."""
    return await ActivityEnvironment().run(activity, request)


async def opened(memory: SqlMemory, conversation: str = CONVERSATION) -> None:
    """A conversation with one request in it."""
    opening = Opening(
        id=conversation,
        issue=ISSUE,
        session=1,
        purpose="plain_work",
        system="Work.",
        turns=(Turn.of_text("user", "Please fix it."),),
        opened_at=EPOCH,
    )
    await memory.open_conversation(opening)


def reply(*calls: tuple[str, dict[str, Any]], stop_reason: str = "tool_use") -> Reply:
    """A model's turn that calls tools, numbered from call-0."""
    blocks = [
        {"type": "tool_use", "id": f"call-{n}", "name": name, "input": given} for n, (name, given) in enumerate(calls)
    ]
    turn = Turn.model_validate({"role": "assistant", "content": blocks})
    return Reply(turn=turn, stop_reason=stop_reason, model="fake")


async def asked_for(
    memory: SqlMemory,
    *calls: tuple[str, dict[str, Any]],
    stop_reason: str = "tool_use",
    conversation: str = CONVERSATION,
) -> None:
    """A conversation in which the model has just called tools, in turn 1."""
    await opened(memory, conversation)
    await memory.append_reply(conversation, 1, reply(*calls, stop_reason=stop_reason))
