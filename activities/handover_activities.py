"""Steps between two sessions on an issue: taking over what the last one left, and leaving something to the next."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TypeVar

from temporalio import activity

from activities.forge_activities import ids_in
from activities.said import everything_said, people_in
from activities.summing_up import summary_of
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Opening, Reply, Turn, Usage
from hikitsugi.domain.errors import HikitsugiError, TryAgainLater, WillNeverWork
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
from hikitsugi.domain.value import Value
from hikitsugi.domain.verification import Verified
from hikitsugi.domain.visible import only_visible, without_unseen
from hikitsugi.messages.handover import Closing, Source, summary_by_rule
from hikitsugi.messages.session_record import fitting, session_record

R = TypeVar("R")
_RECORD_TOKENS = 60_000
_PURPOSE = "summary"
_MOST_DECISIONS = 20
_ATTEMPTS = 3
"""How often the forge is asked what people said, before a handover is made without it."""


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
    inherited: str = ""
    """The context that had been handed down to the session, if any."""
    branch: str | None = None
    """The branch whose request people may have written on, if there is one."""
    started_at: datetime
    now: datetime


class HandedOver(Value):
    """The small form of what was left, and what making it cost."""

    handover: Handover
    usage: Usage | None = None
    cost_usd: float | None = None


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
        decisions, names = await self._said(request)
        closing = Closing(
            title=only_visible(request.title),
            context=context,
            submissions=submissions_in(runs),
            decisions=decisions,
            change_request=request.change_request,
            error=request.error,
        )
        record = fitting(session_record(closing, calls, runs), _RECORD_TOKENS, self._measure)
        reply = await self._closing_reply(request, without_names(without_unseen(record), names))
        summary = reply.turn.text if reply and _is_whole(reply) else summary_by_rule(request.language, closing)
        used = use_in(await _readable(self._records.model_calls(request.issue, request.session)))
        whole = context.model_copy(update={"summary": summary, "use": used}).after(await self._inherited(request))
        kept = await self._records.keep_context(whole)
        if reply is None:
            return HandedOver(handover=kept.carried)
        cost = None if reply.cost_usd is None else float(reply.cost_usd)
        return HandedOver(handover=kept.carried, usage=reply.usage, cost_usd=cost)

    async def _inherited(self, request: HandOver) -> Context | None:
        with suppress(WillNeverWork):
            return await self._records.read_context(request.issue, request.inherited)
        return None

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
        )
        return context, runs, calls

    async def _said(self, request: HandOver) -> tuple[list[Source], Collection[str]]:
        """What people decided, with links, and who they are; a forge that does not answer for long leaves it out."""
        try:
            known = await self._memory.comments_taken_in(request.issue)
            forge = self._forges[request.issue.forge]
            comments = await everything_said(forge, self._memory, request.issue, request.branch, ids_in(known))
        except HikitsugiError as error:
            if isinstance(error, TryAgainLater) and activity.info().attempt < _ATTEMPTS:
                raise
            return [], {request.author}
        heard = [comment for comment in comments if not known.isdisjoint(comment.names)]
        names = {request.author, *people_in(heard)}
        latest = heard[-_MOST_DECISIONS:]
        return [Source(without_names(only_visible(each.body), names), each.url) for each in latest], names

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
    """The records, or none where the memory refuses them: a session is closed with what can still be read."""
    try:
        return await records
    except WillNeverWork as error:
        activity.logger.warning("some records of the session cannot be read: %s", error)
        return []


def _is_whole(reply: Reply) -> bool:
    """Whether the model wrote a summary to its end."""
    return reply.stop_reason == "end_turn" and bool(reply.turn.text.strip())
