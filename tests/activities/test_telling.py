"""What the model is told while a conversation goes on: each comment once, in its newest text."""

import re

import pytest

from activities.memory_activities import MemoryActivities, TellComments, TellToGoOn
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.policy import Language
from hikitsugi.domain.waiting import Waiting
from hikitsugi.language_model.tokens import estimate
from hikitsugi.memory.store import SqlMemory
from tests.activities.examples import CONVERSATION, ISSUE, opened, step
from tests.workflows.fakes import ALICE, FakeForge

OPERATORS = Comment(id="operator:5f", author="operator", body="Go on.")


def activities(forge: FakeForge, memory: SqlMemory) -> MemoryActivities:
    def system_prompt(language: Language, repository: str) -> str:
        return f"Work on {repository} in {language}."

    return MemoryActivities(memory, {"github": forge}, system_prompt, (), memory.records, estimate)


async def tell(forge: FakeForge, memory: SqlMemory, *comments: Comment, more: int = 0) -> list[str]:
    """The ids of those that were told; what no forge has was kept when it was heard."""
    await memory.keep_comments(ISSUE, [comment for comment in comments if not comment.watched])
    waiting = tuple(Waiting.of(comment) for comment in comments)
    request = TellComments(issue=ISSUE, conversation=CONVERSATION, sequence=1, comments=waiting, more=more)
    return [version.rpartition("@")[0] for version in await step(activities(forge, memory).tell_comments, request)]


async def said(memory: SqlMemory) -> list[str]:
    """What was added to the conversation."""
    return [turn.text for turn in (await memory.read_conversation(CONVERSATION)).turns[1:]]


def watched(comment: Comment, **changes: object) -> Comment:
    return comment.model_copy(update={"watched": True, **changes})


@pytest.mark.req("CH-12", "BY-08")
async def test_comments_are_told_once_and_remembered_as_taken_in(forge: FakeForge, memory: SqlMemory):
    await opened(memory)
    comment = forge.says(ALICE, "Use tabs.")
    for _ in range(2):
        assert await tell(forge, memory, watched(comment), OPERATORS) == [comment.id, OPERATORS.id]
    (told,) = await said(memory)
    assert told.startswith("[New Comments Detected]:")
    assert "Comment 2 from @operator (now):\nGo on." in told
    assert await memory.comments_taken_in(ISSUE) == {comment.version, OPERATORS.version}


@pytest.mark.req("CH-12", "BY-02")
async def test_a_comment_that_became_a_command_is_left_to_those_who_obey(forge: FakeForge, memory: SqlMemory):
    await opened(memory)
    comment, command = forge.says(ALICE, "Use tabs."), forge.says(ALICE, "/revise Use tabs.")
    forge.edits(comment, "/stop")
    assert await tell(forge, memory, watched(comment), watched(command)) == [command.id]
    assert await memory.comments_taken_in(ISSUE) == {command.version}


@pytest.mark.req("CH-12", "BY-04")
async def test_a_revision_is_told_though_the_forge_touched_it_meanwhile(forge: FakeForge, memory: SqlMemory):
    await opened(memory)
    command = forge.says(ALICE, "/revise Use tabs.")
    forge.edits(command, command.body)
    waiting = Waiting.of(watched(command)).model_copy(update={"steers": True})
    request = TellComments(issue=ISSUE, conversation=CONVERSATION, sequence=1, comments=(waiting,))
    assert len(await step(activities(forge, memory).tell_comments, request)) == 1
    assert await said(memory) == ["[New Comment from @alice]:\n/revise Use tabs."]


@pytest.mark.req("CH-12")
async def test_a_comment_that_came_cut_is_told_whole(forge: FakeForge, memory: SqlMemory):
    await opened(memory)
    comment = forge.says(ALICE, "あ" * 2000)
    await tell(forge, memory, watched(comment, body="あ" * 500, is_cut=True))
    assert await said(memory) == [f"[New Comment from @alice]:\n{'あ' * 2000}"]


@pytest.mark.req("CH-12")
async def test_a_comment_edited_before_it_is_told_is_told_in_its_newest_text(forge: FakeForge, memory: SqlMemory):
    await opened(memory)
    comment = forge.says(ALICE, "Use tabs.")
    edited = forge.edits(comment, "Use spaces.")
    assert await tell(forge, memory, watched(comment)) == [comment.id]
    assert await said(memory) == ["[New Comment from @alice]:\nUse spaces."]
    assert await memory.comments_taken_in(ISSUE) == {edited.version}


@pytest.mark.req("CH-12")
async def test_a_comment_edited_after_it_was_told_is_told_as_an_edit(forge: FakeForge, memory: SqlMemory):
    await opened(memory)
    edited = forge.edits(forge.says(ALICE, "Use tabs."), "Use spaces.")
    await tell(forge, memory, watched(edited, edited=True))
    assert await said(memory) == ["[Edited Comment from @alice]:\nUse spaces."]


@pytest.mark.req("CH-12")
async def test_a_comment_deleted_before_it_is_told_is_dropped(forge: FakeForge, memory: SqlMemory):
    await opened(memory)
    kept, gone = forge.says(ALICE, "Use tabs."), forge.says(ALICE, "My password is …")
    forge.deletes(gone)
    assert await tell(forge, memory, watched(kept), watched(gone)) == [kept.id]
    assert await said(memory) == ["[New Comment from @alice]:\nUse tabs."]
    assert await memory.comments_taken_in(ISSUE) == {kept.version}


@pytest.mark.req("CH-12")
async def test_nothing_is_said_when_every_comment_was_deleted(forge: FakeForge, memory: SqlMemory):
    await opened(memory)
    gone = forge.says(ALICE, "Never mind.")
    forge.deletes(gone)
    assert await tell(forge, memory, watched(gone)) == []
    assert await said(memory) == []
    assert await memory.comments_taken_in(ISSUE) == frozenset()


@pytest.mark.req("TW-02")
async def test_a_typed_comment_is_told_though_the_forge_does_not_know_it(forge: FakeForge, memory: SqlMemory):
    await opened(memory)
    assert await tell(forge, memory, Comment(id="7", author="maria", body="Go on.")) == ["7"]
    assert await said(memory) == ["[New Comment from @maria]:\nGo on."]


@pytest.mark.req("BY-08")
async def test_a_second_attempt_tells_of_what_the_first_one_said(forge: FakeForge, memory: SqlMemory):
    await opened(memory)
    comment = forge.says(ALICE, "Use tabs.")
    first = await tell(forge, memory, watched(comment))
    forge.deletes(comment)
    assert await tell(forge, memory, watched(comment)) == first


@pytest.mark.req("BY-08")
async def test_a_model_that_does_nothing_is_reminded_once(forge: FakeForge, memory: SqlMemory):
    await opened(memory)
    for _ in range(2):
        await step(activities(forge, memory).tell_to_go_on, TellToGoOn(conversation=CONVERSATION, sequence=1))
    assert await said(memory) == ["You did not call a tool. Continue the work, or call `submit` to end it."]


@pytest.mark.req("CH-12", "CD-09")
async def test_many_comments_are_looked_for_at_once_and_told_in_order_with_what_follows(
    forge: FakeForge, memory: SqlMemory
):
    await opened(memory)
    comments = [forge.says(ALICE, f"Wish {n}.") for n in range(300)]
    forge.deletes(comments[7])
    wanted = [comment.id for comment in comments if comment != comments[7]]
    assert await tell(forge, memory, *map(watched, comments), more=1200) == wanted
    (told,) = await said(memory)
    assert re.findall(r"Wish (\d+)\.", told) == [str(n) for n in range(300) if n != 7]
    assert told.endswith("[1200 more comments wait and follow later.]")
