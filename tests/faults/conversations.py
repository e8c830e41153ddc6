"""What people and the model say in the kill tests: each conversation ends the same, however long each step takes."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from activities.workspace_activities import INTERRUPTED
from hikitsugi.devforge import DevForge
from hikitsugi.devforge.records import Comment, Issue
from hikitsugi.language_model.scripted import Answer, Request, say, use
from tests.end_to_end.stage import AUTHOR, BOT
from tests.faults.canonical import branch_of
from tests.workflows.planner import action, brief, plan, verdict

PATIENCE = 1800.0
READS_ON = "合図があるまで README.md を読み続けてください。"
THINKS_ON = "合図があるまで考え続けてください。"
_COMMAND = "echo checked"
_LOOK_EVERY = 0.1
_CALLS = re.compile(r"モデル呼び出し (\d+) 回")
_STATE = re.compile(r"^\*\*状態\*\*: `([a-z-]+)`.*", re.MULTILINE)


@dataclass
class Thread:
    """An issue in the eyes of its author; `asked` holds what the model was asked last, by title."""

    forge: DevForge
    repository: str
    number: int
    asked: Mapping[str, Request]

    def calls(self) -> None:
        """Ask for work."""
        tracker = self.forge.repository(self.repository).tracker
        tracker.add_labels(self.number, self.forge.person(AUTHOR), ["task:misc"])

    def says(self, body: str) -> Comment:
        """Comment on the issue."""
        return self.forge.comment(self.repository, self.number, AUTHOR, body)

    def rewords(self, comment: Comment, body: str) -> None:
        """Edit a comment."""
        self.forge.repository(self.repository).tracker.edit_comment(comment.id, body)

    async def is_answered(self, results: int) -> None:
        """Wait until the issue awaits a reply after so many results."""
        await self._until(lambda: self._shows("awaiting-response") and self._told("## 実行完了") >= results)

    async def comes_to(self, label: str) -> None:
        """Wait until the issue carries a label."""
        await self._until(lambda: self._shows(label))

    async def is_taken_in(self, comment: Comment) -> None:
        """Wait until a comment is acknowledged."""
        tracker = self.forge.repository(self.repository).tracker
        await self._until(lambda: bool(tracker.find_comment(comment.id).reactions))

    async def has_told_all(self) -> None:
        """Wait until the progress comment, if there is one, tells the state and as many calls as the request does."""
        await self._until(self._is_progress_told)

    async def has_comments(self) -> bool:
        """Whether anything was said."""
        return bool(self.forge.comments(self.repository, self.number))

    async def is_worked_on(self) -> None:
        """Wait until the model is at work."""
        await self._until(lambda: self.forge.issue(self.repository, self.number).title in self.asked)

    async def is_told(self, heading: str) -> None:
        """Wait until a comment of ours is there."""
        await self._until(lambda: self._told(heading) > 0)

    def _is_progress_told(self) -> bool:
        said = self.forge.comments(self.repository, self.number)
        calls = [_CALLS.findall(pull.body) for pull in self.forge.pulls(self.repository) if self._belongs(pull)]
        return all(
            self._shows(state[1])
            and (state[1] != "awaiting-response" or "コメントの返信" in state[0])
            and all(_CALLS.findall(comment.body) == known for known in calls)
            for comment in said
            if (state := _STATE.search(comment.body))
        )

    def _belongs(self, pull: Issue) -> bool:
        return pull.pull is not None and pull.pull.head == branch_of(self.number)

    def _shows(self, label: str) -> bool:
        return label in self.forge.issue(self.repository, self.number).labels

    def _told(self, heading: str) -> int:
        said = self.forge.comments(self.repository, self.number)
        return sum(c.author.login == BOT and c.body.startswith(heading) for c in said)

    async def _until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110 - the forge has no event for it
                await asyncio.sleep(_LOOK_EVERY)


async def is_content(thread: Thread) -> None:
    """Asks, and leaves it at the first result."""
    await thread.is_answered(1)


async def asks_for_more(thread: Thread) -> None:
    """Answers while the issue awaits a reply."""
    await thread.is_answered(1)
    thread.says("使い方も書いてください。")
    await thread.is_answered(2)


async def speaks_up(thread: Thread) -> None:
    """Writes while the model is at work."""
    await thread.is_worked_on()
    thread.says("合図です。表も付けてください。")
    await thread.is_answered(1)


async def changes_the_mind(thread: Thread) -> None:
    """Edits a comment that was answered already."""
    await thread.is_answered(1)
    said = thread.says("英語でも書いてください。")
    await thread.is_answered(2)
    thread.rewords(said, "英語と中国語でも書いてください。")
    await thread.is_answered(3)


async def pauses(thread: Thread) -> None:
    """Pauses, writes, and resumes."""
    await thread.is_answered(1)
    thread.says("/pause")
    await thread.comes_to("paused")
    await thread.is_told("## 🛠️")
    await thread.is_taken_in(thread.says("もう一つ足してください。"))
    thread.says("/resume")
    await thread.is_answered(2)


async def stops(thread: Thread) -> None:
    """Stops the work under way."""
    await thread.is_worked_on()
    thread.says("/stop")
    await thread.comes_to("stopped")


async def thanks(thread: Thread) -> None:
    """Closes the conversation."""
    await thread.is_answered(1)
    thread.says("ありがとう")
    await thread.comes_to("completed")


Conversation = Callable[[Thread], Awaitable[None]]
CONVERSATIONS: tuple[Conversation, ...] = (
    *(asks_for_more, speaks_up, pauses, stops),
    *(changes_the_mind, thanks, is_content),
)
PLANNED: tuple[Conversation, ...] = (asks_for_more, pauses, stops, changes_the_mind, thanks, is_content)
"""Those in which no turn depends on chance: the progress comment tells of every call."""

BODIES: dict[Conversation, str] = {speaks_up: READS_ON, stops: THINKS_ON}


def reply(request: Request) -> Answer:
    """The model's next turn: it writes what it was asked, checks, and submits."""
    requests = _requests(request)
    asked, done = requests[-1], request.results_since(requests[-1])
    if READS_ON in asked or THINKS_ON in asked:
        return use("read", path="README.md").delayed(PATIENCE if THINKS_ON in asked else 0.5)
    said = asked.partition("\n")[2].strip()
    if not any(result.tool == "write" and not result.is_error for result in done):
        return use("write", path=f"answer-{len(requests)}.md", content=f"{said}\n").delayed(0.1)
    if not any(result.tool == "run" and not result.is_error for result in done):
        return use("run", command=_COMMAND).delayed(0.1)
    return use("submit", status="done", summary=f"{len(requests)} 回目: {said}")


def reply_by_plan(request: Request) -> Answer:
    """The model's next turn in any phase: its plan is one action, which writes what was asked."""
    if request.text.startswith("Record of session"):
        return say("## Purpose\nなし")
    asked = _requests(request)
    if THINKS_ON in asked[-1]:
        return use("read", path="README.md").delayed(PATIENCE)
    said = asked[-1].partition("\n")[2].strip()
    if request.form:
        forms = {"Brief": brief(), "PlanReply": plan(action(1)), "Verdict": {**verdict(), "summary": said}}
        return say(json.dumps(forms[request.form])).delayed(0.1)
    if not request.results_of("write"):
        return use("write", path=f"answer-{len(said)}.md", content=f"{said}\n").delayed(0.1)
    return use("submit", status="done", summary=said, evidence="", needs="")


def _requests(request: Request) -> list[str]:
    """What people asked for so far."""
    return [text for text in request.texts if text.startswith(("Issue #", "[New Comment", "[Edited Comment"))]


def turns_by_chance(request: Request) -> int:
    """How many turns of a conversation depend on how fast the product is, or on when it was killed.

    A command that a kill cut off is never run again unasked: the model is told, and asks for it in one more turn.
    """
    cut_off = [result for result in request.results_of("run") if result.text == INTERRUPTED]
    return len(cut_off) + len(request.results_of("read"))
