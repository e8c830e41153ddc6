"""Steps in the checkout, on the host that holds it."""

from collections.abc import Mapping
from datetime import datetime

from pydantic import JsonValue
from temporalio import activity

from activities.brevity import ShortAddress
from activities.recalling import recalled
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Block, Opening, Turn
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.inheritance import Measure
from hikitsugi.domain.issue import GitRemote
from hikitsugi.domain.phases import Phase, tools_of
from hikitsugi.domain.ports import Forge, Memory, Records, Toolbox, Workspaces
from hikitsugi.domain.recall import RECALL
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.tools import CHANGING_FILES, Intent, SubmissionStatus, ToolCall, ToolOutcome
from hikitsugi.domain.value import Sparse, Value
from hikitsugi.domain.verification import Verified
from hikitsugi.domain.visible import without_unseen
from hikitsugi.domain.workspace import Commit, Published
from hikitsugi.messages import prompts

INTERRUPTED = (
    "Interrupted: the command was cut off before it ended, and its effect is unknown. "
    "Check what is there, then run it again if needed."
)

MOVED = (
    "The checkout was lost with its host and was prepared anew from the work branch: whatever you changed since the "
    "last push is gone. Look at what is there, then do again what is missing."
)

CUT_OFF = "The call was cut off by the limit of tokens and was not carried out. Send it again, in smaller pieces."


class PrepareWorkspace(Value):
    """Have the issue's checkout ready on its work branch."""

    issue: IssueAddress
    branch: str


class UseTools(Sparse, Value):
    """Run the tool calls of a model turn and store the answers as the next turn."""

    issue: ShortAddress
    conversation: str
    sequence: int
    phase: Phase | None = None
    moved: bool = False
    """Whether the checkout was lost and prepared anew since the model's turn."""

    @property
    def is_read_only(self) -> bool:
        """Whether the model may only look: without tools that change files, and with commands in a throwaway copy."""
        return self.phase not in {None, Phase.EXECUTION}


class ToolsUsed(Sparse, Value):
    """What the story needs to know of the tools' answers."""

    errors: int = 0
    submitted: bool = False
    blocked: bool = False
    """Whether the model submitted that it cannot go on."""
    closes: bool = False
    """Whether it submitted that people have ended the conversation."""
    tokens: int = 0
    """How much longer the conversation became, by a guess."""


class Publish(Value):
    """Commit what changed and push the work branch."""

    issue: IssueAddress
    branch: str
    message: str
    at: datetime


class Verify(Value):
    """Run the checks on a commit that was pushed."""

    issue: IssueAddress
    commit: str


class ReadInstructions(Value):
    """Keep what the repository's base branch asks of agents, under an id of the store."""

    issue: IssueAddress
    session: int
    conversation: str
    at: datetime


class WorkspaceActivities:
    """Checkout and tools of one host."""

    def __init__(
        self,
        queue: str,
        workspaces: Workspaces,
        toolbox: Toolbox,
        memory: Memory,
        forges: Mapping[str, Forge],
        redact: Redactor | None = None,
        *,
        measure: Measure,
        records: Records | None = None,
    ) -> None:
        self._measure = measure
        self._redact = redact or Redactor()
        self._records = records
        self._queue = queue
        self._workspaces = workspaces
        self._toolbox = toolbox
        self._memory = memory
        self._forges = forges

    @activity.defn
    async def prepare_workspace(self, request: PrepareWorkspace) -> str:
        """The task queue of the host that now holds the checkout."""
        remote = await self._remote(request.issue)
        await self._workspaces.prepare(request.issue, remote, request.branch)
        return self._queue

    @activity.defn
    async def read_instructions(self, request: ReadInstructions) -> bool:
        """Whether there are any; a repository that cannot be read has none to follow."""
        try:
            said = await self._workspaces.instructions(request.issue, await self._remote(request.issue))
        except WillNeverWork as error:
            activity.logger.warning("the repository's instructions cannot be read: %s", error)
            return False
        if said:
            turn = Turn.of_text("user", prompts.repository_instructions(said))
            opening = Opening(
                id=request.conversation,
                issue=request.issue,
                session=request.session,
                purpose="instructions",
                system="",
                turns=(turn,),
                opened_at=request.at,
            )
            await self._memory.open_conversation(opening)
        return bool(said)

    @activity.defn
    async def use_tools(self, request: UseTools) -> ToolsUsed:
        """Answer every call of the turn, each carried out at most once."""
        reply = await self._memory.find_reply(request.conversation, request.sequence)
        if reply is None:
            raise WillNeverWork(f"conversation {request.conversation} has no reply {request.sequence}")
        calls = reply.turn.tool_calls
        whole = calls[:-1] if reply.stop_reason == "max_tokens" else calls
        outcomes = [(call, await self._outcome(request, call)) for call in whole]
        outcomes += [(call, ToolOutcome(text=CUT_OFF, is_error=True)) for call in calls[len(whole) :]]
        news: tuple[Block, ...] = ({"type": "text", "text": MOVED},) if request.moved else ()
        answers = Turn(role="user", content=(*(_answer(call, outcome) for call, outcome in outcomes), *news))
        await self._memory.append(request.conversation, request.sequence + 1, answers)
        submitted = [call for call, outcome in outcomes if call.name == "submit" and not outcome.is_error]
        return ToolsUsed(
            errors=sum(outcome.is_error for _, outcome in outcomes),
            submitted=bool(submitted),
            blocked=any(call.input.get("status") == SubmissionStatus.BLOCKED for call in submitted),
            closes=any(call.input.get("closes") is True for call in submitted),
            tokens=sum(self._measure(outcome.text) for _, outcome in outcomes),
        )

    async def _outcome(self, request: UseTools, call: ToolCall) -> ToolOutcome:
        # What a change of a file intends depends on the file, so that a change begun before is not weighed anew.
        depends = call.name in CHANGING_FILES
        known = await self._memory.find_tool_run(request.conversation, call.id) if depends else None
        if call.name == RECALL.name and self._records:
            return await recalled(self._records, request.issue, call)
        intent = known.intent if known else await self._intent(request, call)
        if isinstance(intent, ToolOutcome):
            return intent
        known = known or await self._memory.begin_tool_run(request.conversation, intent)
        if known and known.outcome:
            return known.outcome
        if known and not intent.repeatable:
            outcome = ToolOutcome(text=INTERRUPTED, is_error=True, is_cut_off=True)
        else:
            outcome = await self._toolbox.carry_out(request.issue, intent)
        await self._memory.finish_tool_run(request.conversation, call.id, outcome)
        return outcome

    async def _intent(self, request: UseTools, call: ToolCall) -> Intent | ToolOutcome:
        if request.phase and call.name not in tools_of(request.phase):
            return ToolOutcome(text=_unavailable(call.name, request.phase), is_error=True)
        seen = await self._memory.files_seen(request.conversation) if call.name in CHANGING_FILES else {}
        intent = await self._toolbox.intend(request.issue, call, seen)
        is_fleeting = isinstance(intent, Intent) and request.is_read_only
        return intent.model_copy(update={"throwaway": True}) if is_fleeting else intent

    @activity.defn
    async def publish(self, request: Publish) -> Published:
        """What the work branch holds after the push."""
        commit = Commit(message=request.message, at=request.at)
        remote = await self._remote(request.issue)
        return await self._workspaces.publish(request.issue, remote, request.branch, commit)

    @activity.defn
    async def verify(self, request: Verify) -> Verified:
        """What the checks of the pushed commit showed, without secrets."""
        remote = await self._remote(request.issue)
        found = await self._workspaces.verify(request.issue, remote, request.commit, ())
        checks = [check.model_copy(update={"tail": self._redact(without_unseen(check.tail))}) for check in found.checks]
        lines = [one.model_copy(update={"text": self._redact(one.text)}) for one in found.placeholders]
        return found.model_copy(update={"checks": tuple(checks), "placeholders": tuple(lines)})

    async def _remote(self, issue: IssueAddress) -> GitRemote:
        return await self._forges[issue.forge].git_remote(issue.home)


def _unavailable(tool: str, phase: Phase) -> str:
    return f"there is no tool {tool!r} in this phase; there are {', '.join(tools_of(phase))}"


def _answer(call: ToolCall, outcome: ToolOutcome) -> Block:
    answer: dict[str, JsonValue] = {
        "type": "tool_result",
        "tool_use_id": call.id,
        "content": without_unseen(outcome.text),
    }
    return {**answer, "is_error": True} if outcome.is_error else answer
