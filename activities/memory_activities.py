"""Steps in the store: opening a conversation, adding to it, handing it over."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from temporalio import activity

from activities.audience import Audience, our_name
from activities.forge_activities import ids_in
from activities.said import everything_said, is_talk, people_in
from activities.workspace_activities import MOVED
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.commands import Word, command_in
from hikitsugi.domain.conversation import Opening, Turn
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.handover import Context
from hikitsugi.domain.inheritance import Measure, inherited_text
from hikitsugi.domain.issue import Comment, Issue, is_version
from hikitsugi.domain.policy import InheritanceTerms, Language
from hikitsugi.domain.ports import Forge, Memory, Records
from hikitsugi.domain.recall import RECALL
from hikitsugi.domain.session import Handover
from hikitsugi.domain.tools import ToolSpec
from hikitsugi.domain.value import Value
from hikitsugi.domain.visible import only_visible, without_unseen
from hikitsugi.domain.waiting import Waiting
from hikitsugi.messages import prompts

_READ_ALONE = 20
_OPENING_CHARACTERS = 120_000


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
    terms: InheritanceTerms = InheritanceTerms()
    inherits: bool = True
    """Whether earlier sessions may be looked up."""
    at: datetime
    purpose: str = "plain_work"
    instructions: str = ""
    """Under which the store keeps what the repository asks of agents, if it asks for anything."""
    branch: str | None = None
    """The branch whose request people may have written on, if there is one."""


class TellComments(Value):
    """Give comments to the model as a user turn."""

    issue: IssueAddress
    conversation: str
    sequence: int
    comments: tuple[Waiting, ...]
    more: int = 0
    """How many further ones wait behind them."""
    overlooked: int = 0
    """How many that came before them are left out."""
    bot: str | None = None


class TellToGoOn(Value):
    """Remind the model that it has to act or to submit."""

    conversation: str
    sequence: int
    moved: bool = False
    """Whether to go on because the checkout was lost with what was not pushed."""


class MemoryActivities:
    """The store, seeded from the forge."""

    def __init__(
        self,
        memory: Memory,
        forges: Mapping[str, Forge],
        system_prompt: Callable[[Language, str], str],
        tools: Sequence[ToolSpec],
        records: Records,
        measure: Measure,
    ) -> None:
        self._records = records
        self._measure = measure
        self._memory = memory
        self._forges = forges
        self._system_prompt = system_prompt
        self._tools = tuple(tools)

    @activity.defn
    async def open_conversation(self, request: OpenConversation) -> int:
        """Store the opening; the number of the next turn."""
        forge = self._forges[request.issue.forge]
        issue = _as_seen(await forge.read_issue(request.issue))
        audience = Audience(forge, request.issue.home, issue.author, request.accept_from)
        left_out = frozenset(request.leave_out)
        before = ids_in(await self._memory.comments_taken_in(request.issue))
        said = await everything_said(forge, self._memory, request.issue, request.branch, before)
        comments, bot = [c for c in said if c.id not in left_out], await our_name(forge)
        heard = [c for c in comments if is_talk(c, bot, before) and await audience.hears(c)]
        ours = {c.id for c in comments if await audience.said(c)}
        counting = {c.id for c in heard} | ours
        told = [_turn_of(c, by_us=c.id in ours) for c in comments if c.id in counting]
        turns = _opening_turns(request, issue, [turn for turn in told if turn.text.strip()])
        opening = Opening(
            id=request.conversation,
            issue=request.issue,
            session=request.session,
            purpose=request.purpose,
            system=self._system_prompt(request.language, request.issue.repository),
            tools=(*self._tools, RECALL) if await self._has_history(request) else self._tools,
            turns=(
                *await self._inherited(request, {issue.author, *people_in(heard)}),
                *await self._instructions(request),
                *turns,
            ),
            comments=tuple(name for comment in heard for name in comment.names),
            opened_at=request.at,
        )
        return await self._memory.open_conversation(opening)

    async def _inherited(self, request: OpenConversation, names: Collection[str]) -> list[Turn]:
        """The turns that open a later session: a record of the earlier one, whole where the store can give it."""
        if request.handover is None:
            return []
        whole = None
        with suppress(WillNeverWork):
            whole = await self._records.read_context(request.issue, request.handover.id)
        context = whole or Context.of(request.issue, request.handover)
        text = without_unseen(inherited_text(context, request.terms, self._measure, names))
        fixed = Turn.of_text("user", prompts.earlier_record(str(request.issue)))
        return [fixed, Turn.of_text("assistant", text)] if text else []

    async def _instructions(self, request: OpenConversation) -> list[Turn]:
        """What the repository asks of agents."""
        kept = await self._memory.find_turn(request.instructions, 0)
        return [kept] if kept else []

    async def _has_history(self, request: OpenConversation) -> bool:
        """Whether there is anything of earlier sessions to recall."""
        try:
            return request.inherits and any(
                task.session < request.session for task in await self._records.tasks(request.issue)
            )
        except WillNeverWork:
            return False

    @activity.defn
    async def tell_comments(self, request: TellComments) -> list[str]:
        """Store the comments in their newest text; the versions of those that are still there."""
        if await self._memory.find_turn(request.conversation, request.sequence):
            return await self._told_before(request)
        there = await self._newest(request)
        if there:
            names = [name for comment in there for name in comment.names]
            await self._memory.take_in_comments(request.issue, request.conversation, names)
            turn = Turn.of_text("user", prompts.new_comments(there, request.more, request.overlooked))
            await self._memory.append(request.conversation, request.sequence, turn)
        return [comment.version for comment in there]

    async def _told_before(self, request: TellComments) -> list[str]:
        """What an earlier attempt told, in whatever text it found."""
        ids = {comment.id for comment in request.comments}
        known = await self._memory.comments_taken_in(request.issue)
        return sorted(name for name in known if is_version(name) and ids_in([name]) <= ids)

    async def _newest(self, request: TellComments) -> list[Comment]:
        """What stands on the forge now, or was typed; left out are those that were deleted, or became commands."""
        issue, comments = request.issue, request.comments
        found = await self._memory.kept_comments(issue, [waiting.id for waiting in comments if not waiting.watched])
        watched = [waiting for waiting in comments if waiting.watched]
        for place in {str(waiting.place or issue) for waiting in watched}:
            ids = {waiting.id for waiting in watched if str(waiting.place or issue) == place}
            found |= await self._read(IssueAddress.parse(place), ids)
        there = [(found[waiting.id], waiting) for waiting in comments if waiting.id in found]
        return [
            comment.model_copy(update={"edited": waiting.edited, "body": only_visible(comment.body)})
            for comment, waiting in there
            if comment.version == waiting.version or _is_for_model(comment, waiting, request.bot)
        ]

    async def _read(self, place: IssueAddress, ids: Collection[str]) -> dict[str, Comment]:
        """Comments as they stand on the forge; many are looked for in the whole conversation first."""
        forge = self._forges[place.forge]
        listed = await forge.read_comments(place) if len(ids) > _READ_ALONE else []
        found = {comment.id: comment for comment in listed if comment.id in ids}
        alone = [await forge.read_comment(place, id_) for id_ in ids if id_ not in found]
        return found | {comment.id: comment for comment in alone if comment}

    @activity.defn
    async def tell_to_go_on(self, request: TellToGoOn) -> None:
        """Store the reminder, or the reason."""
        text = MOVED if request.moved else prompts.go_on()
        await self._memory.append(request.conversation, request.sequence, Turn.of_text("user", text))


def _is_for_model(comment: Comment, waiting: Waiting, bot: str | None) -> bool:
    """Whether a comment is no command, or still the one whose words the model was to be given."""
    command = command_in(comment.body, bot)
    return command is None or (waiting.steers and command.word is Word.REVISE)


def _opening_turns(request: OpenConversation, issue: Issue, told: Sequence[Turn]) -> list[Turn]:
    turns = [Turn.of_text("user", _asked(issue)), *_latest(told)]
    if turns[-1].role == "assistant":
        asks = prompts.news_follows() if request.leave_out else prompts.please_continue()
        turns.append(Turn.of_text("user", asks))
    return turns


def _latest(told: Sequence[Turn]) -> list[Turn]:
    """As many of the latest turns as an opening can hold, and how many came before them."""
    room, latest = _OPENING_CHARACTERS, list[Turn]()
    for turn in reversed(told):
        room -= len(turn.text)
        if room < 0:
            earlier = prompts.left_out(len(told) - len(latest))
            return [Turn.of_text("user", earlier), *reversed(latest)]
        latest.append(turn)
    return list(told)


def _as_seen(issue: Issue) -> Issue:
    """The issue with only what a person sees of it."""
    return issue.model_copy(update={"title": only_visible(issue.title), "body": only_visible(issue.body)})


def _asked(issue: Issue) -> str:
    """What the issue or request itself says."""
    if issue.request:
        return prompts.opens_request(issue.address, issue.title, issue.body, issue.request)
    return prompts.opens(issue.address.number, issue.title, issue.body)


def _turn_of(comment: Comment, *, by_us: bool) -> Turn:
    """A person's comment as the user's turn, a result of ours as the assistant's."""
    if not by_us:
        return Turn.of_text("user", prompts.shortened(only_visible(comment.body)))
    without_marker = comment.body.rstrip().rpartition("\n")[0]
    return Turn.of_text("assistant", without_unseen(without_marker.split("\n", 1)[-1].strip()))
