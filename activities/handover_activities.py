"""Steps between two sessions on an issue: taking over what the last one left, and leaving something to the next."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TypeVar

from temporalio import activity

from activities.summing_up import summary_of
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Opening, Reply, Turn, Usage
from hikitsugi.domain.errors import HikitsugiError, WillNeverWork
from hikitsugi.domain.handover import Context
from hikitsugi.domain.inheritance import Measure, without_names
from hikitsugi.domain.policy import Language
from hikitsugi.domain.ports import Forge, LanguageModel, Memory, Records
from hikitsugi.domain.records import RecordedCall, RecordedRun, Task
from hikitsugi.domain.remembering import (
    attempts_in,
    plans_in,
    recommendations_in,
    reflections_in,
    submissions_in,
    use_in,
    verifications_in,
)
from hikitsugi.domain.session import Ending, Handover
from hikitsugi.domain.status import PlanItem
from hikitsugi.domain.tools import Submission
from hikitsugi.domain.value import Value
from hikitsugi.domain.verification import Verified
from hikitsugi.domain.visible import only_visible, without_unseen
from hikitsugi.messages.handover import Source, summary_by_rule
from hikitsugi.messages.session_record import fitting, session_record

R = TypeVar("R")
_RECORD_TOKENS = 60_000
_PURPOSE = "summary"
_MOST_DECISIONS = 20


class TakeOver(Value):
    """Begin a session, with what an earlier one on the same issue left."""

    issue: IssueAddress
    key: str
    session: int
    """The number it has if no later session is known."""
    inherits: bool
    expiry: timedelta
    now: datetime


class TakenOver(Value):
    """The number of the session, and what it inherits."""

    session: int
    handover: Handover | None = None


class HandOver(Value):
    """Close a session with a record for the next one."""

    issue: IssueAddress
    key: str
    session: int
    ending: Ending
    language: Language
    title: str
    author: str
    change_request: str | None
    error: str | None
    plan: tuple[PlanItem, ...] = ()
    past: tuple[PlanItem, ...] = ()
    """What became of actions of earlier plans of the session."""
    verified: Verified | None = None
    started_at: datetime
    now: datetime


class HandedOver(Value):
    """The small form of what was left, and what making it cost."""

    handover: Handover
    usage: Usage | None = None
    cost_usd: float | None = None


class Told(Value):
    """What people said in a session, and who they are."""

    decisions: tuple[tuple[str, str | None], ...] = ()
    names: tuple[str, ...] = ()

    @property
    def sources(self) -> list[Source]:
        """What people decided, and where it is written."""
        return [Source(without_names(text, self.names), url) for text, url in self.decisions]


class HandoverActivities:
    """The records of sessions, and the model that closes them."""

    def __init__(
        self,
        records: Records,
        memory: Memory,
        forges: Mapping[str, Forge],
        model: LanguageModel,
        system_prompt: Callable[[Language], str],
        measure: Measure,
    ) -> None:
        self._records = records
        self._memory = memory
        self._forges = forges
        self._model = model
        self._system_prompt = system_prompt
        self._measure = measure

    @activity.defn
    async def take_over(self, request: TakeOver) -> TakenOver:
        """Record that a session runs; what it inherits, if anything is left that can be read."""
        number = await self._number(request)
        task = Task(key=request.key, issue=request.issue, session=number, started_at=request.now)
        await self._records.begin_task(task)
        left = await self._left(request) if request.inherits else None
        if left:
            activity.logger.info("inherits context %s of session %d", left.id, left.session)
        return TakenOver(session=number, handover=left.carried if left else None)

    async def _number(self, request: TakeOver) -> int:
        known = await self._records.tasks(request.issue)
        ours = [task.session for task in known if task.key == request.key]
        return ours[0] if ours else max([request.session, *(task.session + 1 for task in known)])

    async def _left(self, request: TakeOver) -> Context | None:
        try:
            return await self._records.find_context(request.issue, request.now - request.expiry)
        except WillNeverWork as error:
            activity.logger.warning("the earlier context cannot be read, so this is a new task: %s", error)
            return None

    @activity.defn
    async def hand_over(self, request: HandOver) -> HandedOver:
        """Keep what the session leaves, unless that was done; a summary by rule where the model gives none."""
        kept = await self._records.read_context(request.issue, request.key)
        if kept:
            return HandedOver(handover=kept.carried)
        task = Task(key=request.key, issue=request.issue, session=request.session, started_at=request.started_at)
        await self._records.begin_task(task)
        context, runs, calls = await self._gathered(request)
        told, submissions = await self._told(request), submissions_in(runs)
        record = session_record(
            only_visible(request.title),
            context=context,
            submissions=submissions,
            decisions=told.sources,
            calls=calls,
            runs=runs,
            change_request=request.change_request,
            error=request.error,
        )
        reply = await self._closing_reply(request, without_names(self._fitting(record), told.names))
        by_rule = self._by_rule(request, context, submissions, told)
        summary = reply.turn.text if reply and _is_whole(reply) else by_rule
        kept = await self._records.keep_context(context.model_copy(update={"summary": summary}))
        if reply is None:
            return HandedOver(handover=kept.carried)
        cost = None if reply.cost_usd is None else float(reply.cost_usd)
        return HandedOver(handover=kept.carried, usage=reply.usage, cost_usd=cost)

    def _fitting(self, record: list[str]) -> str:
        return without_unseen(fitting(record, _RECORD_TOKENS, self._measure))

    def _by_rule(self, request: HandOver, context: Context, submissions: list[Submission], told: Told) -> str:
        return summary_by_rule(
            request.language,
            title=request.title,
            submissions=submissions,
            context=context,
            decisions=told.sources,
            change_request=request.change_request,
            error=request.error,
        )

    async def _gathered(self, request: HandOver) -> tuple[Context, list[RecordedRun], list[RecordedCall]]:
        """Everything that is known of the session, still without its final summary."""
        issue, session = request.issue, request.session
        runs = [run for run in await _readable(self._records.tool_runs(issue)) if run.session == session]
        results = [each for each in await _readable(self._records.phase_results(issue)) if each.session == session]
        calls = await _readable(self._records.model_calls(issue, session))
        context = Context(
            id=request.key,
            issue=request.issue,
            session=request.session,
            ending=request.ending,
            ended_at=request.now,
            summary="",
            older_summaries=tuple(await _readable(self._records.summaries(issue, session))),
            plans=plans_in(results, (*request.past, *request.plan)),
            attempts=attempts_in(runs),
            verifications=verifications_in(results, submissions_in(runs), request.verified),
            reflections=reflections_in(results),
            recommendations=recommendations_in(request.plan),
            done=tuple(item for item in request.plan if item.status == "done"),
            use=use_in(calls),
        )
        return context, runs, calls

    async def _told(self, request: HandOver) -> Told:
        """What the model was told by people, with links; a forge that does not answer leaves it out."""
        told = Told(names=(request.author,))
        with suppress(HikitsugiError):
            known = await self._memory.comments_taken_in(request.issue)
            comments = await self._forges[request.issue.forge].read_comments(request.issue)
            heard = [comment for comment in comments if comment.version in known]
            names = {request.author, *(comment.author for comment in heard)}
            told = Told(
                decisions=tuple((only_visible(each.body), each.url) for each in heard[-_MOST_DECISIONS:]),
                names=tuple(sorted(names)),
            )
        return told

    async def _closing_reply(self, request: HandOver, record: str) -> Reply | None:
        """What the model makes of the record, if anything."""
        opening = Opening(
            id=f"{request.key}-{_PURPOSE}",
            issue=request.issue,
            session=request.session,
            purpose=_PURPOSE,
            system=self._system_prompt(request.language),
            turns=(Turn.of_text("user", record),),
            opened_at=request.now,
        )
        return await summary_of(self._memory, self._model, opening)


async def _readable(records: Awaitable[list[R]]) -> list[R]:
    """The records, or none where they are damaged: a session is closed with what can still be read."""
    try:
        return await records
    except WillNeverWork as error:
        activity.logger.warning("some records of the session cannot be read: %s", error)
        return []


def _is_whole(reply: Reply) -> bool:
    """Whether the model wrote a summary to its end."""
    return reply.stop_reason == "end_turn" and bool(reply.turn.text.strip())
