"""Steps in the store: opening a conversation, adding to it, handing it over."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from temporalio import activity

from activities.audience import Audience, our_name
from activities.forge_activities import any_text_of, submission_in
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.commands import command_in
from hikitsugi.domain.conversation import Opening, Turn
from hikitsugi.domain.issue import Comment, Issue
from hikitsugi.domain.policy import Language
from hikitsugi.domain.ports import Forge, Memory
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.session import Handover
from hikitsugi.domain.tools import ToolSpec
from hikitsugi.domain.value import Value
from hikitsugi.messages import comments as comment_texts
from hikitsugi.messages import prompts


class OpenConversation(Value):
    """Begin the conversation of a session from what stands on the issue."""

    issue: IssueAddress
    session: int
    conversation: str
    language: Language
    accept_from: tuple[str, ...]
    leave_out: tuple[str, ...]
    """Comments that are still to be told, as news."""
    handover: Handover | None
    at: datetime


class TellComments(Value):
    """Give comments to the model as a user turn."""

    issue: IssueAddress
    conversation: str
    sequence: int
    comments: tuple[Comment, ...]


class TellToGoOn(Value):
    """Remind the model that it has to act or to submit."""

    conversation: str
    sequence: int


class Summarise(Value):
    """Make the final summary of a session."""

    language: Language
    title: str
    conversation: str
    sequence: int | None
    change_request: str | None
    answered: int


class MemoryActivities:
    """The store, seeded from the forge."""

    def __init__(
        self,
        memory: Memory,
        forges: Mapping[str, Forge],
        system_prompt: Callable[[Language, str], str],
        tools: Sequence[ToolSpec],
        redact: Redactor,
    ) -> None:
        self._redact = redact
        self._memory = memory
        self._forges = forges
        self._system_prompt = system_prompt
        self._tools = tuple(tools)

    @activity.defn
    async def open_conversation(self, request: OpenConversation) -> int:
        """Store the opening; the number of the next turn."""
        forge = self._forges[request.issue.forge]
        issue = await forge.read_issue(request.issue)
        audience = Audience(forge, request.issue.home, issue.author, request.accept_from)
        comments = [c for c in await forge.read_comments(request.issue) if c.id not in request.leave_out]
        bot = await our_name(forge)
        heard = [c for c in comments if command_in(c.body, bot) is None and await audience.hears(c)]
        ours = [c for c in comments if await audience.said(c)]
        told = [_turn_of(c, by_us=c in ours) for c in comments if c in heard or c in ours]
        opening = Opening(
            id=request.conversation,
            issue=request.issue,
            session=request.session,
            purpose="plain_work",
            system=self._system_prompt(request.language, request.issue.repository),
            tools=self._tools,
            turns=tuple(_opening_turns(request, issue, told)),
            comments=tuple(comment.version for comment in heard),
            opened_at=request.at,
        )
        return await self._memory.open_conversation(opening)

    @activity.defn
    async def tell_comments(self, request: TellComments) -> list[str]:
        """Store the comments in their newest text; the ids of those that are still there."""
        if await self._memory.find_turn(request.conversation, request.sequence):
            known = await self._memory.comments_taken_in(request.issue)
            return [comment.id for comment in request.comments if any_text_of(comment, known)]
        newest = [await self._newest(request.issue, comment) for comment in request.comments]
        there = [comment for comment in newest if comment]
        if there:
            versions = [comment.version for comment in there]
            await self._memory.take_in_comments(request.issue, request.conversation, versions)
            turn = Turn.of_text("user", prompts.new_comments(there))
            await self._memory.append(request.conversation, request.sequence, turn)
        return [comment.id for comment in there]

    async def _newest(self, issue: IssueAddress, comment: Comment) -> Comment | None:
        """What stands on the forge now; None when it was deleted."""
        if not comment.watched:
            return comment
        now = await self._forges[issue.forge].read_comment(comment.place or issue, comment.id)
        return now.model_copy(update={"edited": comment.edited}) if now else None

    @activity.defn
    async def tell_to_go_on(self, request: TellToGoOn) -> None:
        """Store the reminder."""
        await self._memory.append(request.conversation, request.sequence, Turn.of_text("user", prompts.go_on()))

    @activity.defn
    async def summarise(self, request: Summarise) -> str:
        """The final summary, from the records."""
        submission = await submission_in(self._memory, request.conversation, request.sequence)
        summary = comment_texts.summary_by_rule(
            request.language,
            title=request.title,
            told=submission.summary if submission else "",
            change_request=request.change_request,
            answered=request.answered,
        )
        return self._redact(summary)


def _opening_turns(request: OpenConversation, issue: Issue, told: Sequence[Turn]) -> list[Turn]:
    turns: list[Turn] = []
    if request.handover:
        turns.append(Turn.of_text("user", prompts.earlier_record(str(request.issue))))
        turns.append(Turn.of_text("assistant", prompts.inherited(request.handover.summary)))
    turns.append(Turn.of_text("user", _asked(issue)))
    turns.extend(told)
    if turns[-1].role == "assistant" and not request.leave_out:
        turns.append(Turn.of_text("user", prompts.please_continue()))
    return turns


def _asked(issue: Issue) -> str:
    """What the issue or request itself says."""
    if issue.request:
        return prompts.opens_request(issue.address, issue.title, issue.body, issue.request)
    return prompts.opens(issue.address.number, issue.title, issue.body)


def _turn_of(comment: Comment, *, by_us: bool) -> Turn:
    """A person's comment as the user's turn, a result of ours as the assistant's."""
    if not by_us:
        return Turn.of_text("user", prompts.shortened(comment.body))
    without_marker = comment.body.rstrip().rpartition("\n")[0]
    return Turn.of_text("assistant", without_marker.split("\n", 1)[-1].strip())
