"""One session: work, tell the result, and talk until the conversation is over."""

from contextlib import suppress
from datetime import datetime

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.life import Life, Order
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.planning import Planning
from hikitsugi.domain.policy import Language
from hikitsugi.domain.session import Called, Closure, Ending, Handover, Part, Session, Talk
from hikitsugi.domain.states import State
from hikitsugi.domain.subject import work_branch
from hikitsugi.messages import comments, handover, operators
from workflows.comment_log import CommentLog
from workflows.compression import Compression
from workflows.display import Display
from workflows.gate import Gate
from workflows.ids import new_id
from workflows.people import People
from workflows.plain_work import PlainWork
from workflows.planned_work import PlannedWork
from workflows.planning_steps import PlanningSteps
from workflows.purse import Purse
from workflows.reasons import reason_of
from workflows.steps import Steps
from workflows.waits import Waits

ANSWERED_EVERYWHERE = "answered-everywhere"


class SessionStory:
    """A stretch of work on an issue, from being called to its last answer."""

    def __init__(
        self,
        issue: IssueAddress,
        life: Life,
        steps: Steps,
        planning_steps: PlanningSteps,
        display: Display,
        gate: Gate,
        purse: Purse,
        compression: Compression,
        waits: Waits,
    ) -> None:
        self.issue = issue
        self.life = life
        self.steps = steps
        self.planning_steps = planning_steps
        self.display = display
        self.gate = gate
        self.purse = purse
        self.compression = compression
        self.log = CommentLog(issue, life)
        self.waits = waits

    async def play(self) -> Ending:
        """Work, tell the result, and work again on every answer until the conversation is over."""
        if self.life.session is None and not await self.open_session():
            return Ending.STOPPED
        while True:
            if self.life.current.awaits_until is None:
                await self.answer()
            self.life.current.closed_by = await self.closure()
            if self.life.current.closed_by:
                return Ending.COMPLETED

    async def answer(self) -> None:
        """One pass of work; one that fails on a comment is reported, and the conversation goes on without it."""
        try:
            await self.work()
            self.life.error = self.life.trouble = None
        except ActivityError as error:
            if self.life.current.passes == 0 or self.life.stop or is_cancelled_exception(error):
                raise
            await self.report_failure(reason_of(error))
        await self.display.show(State.AWAITING_RESPONSE)

    async def report_failure(self, reason: str) -> None:
        """Say that a comment could not be worked on, and leave the conversation it broke."""
        session = self.life.current
        self.life.note_error(reason)
        self.log.skipped(self.life.last_comment_id or "-")
        await self.steps.keep_work(workflow.now())
        text = comments.skipped(self.language, reason)
        await self.steps.post_comment(f"error-{session.passes}", text, session.answer_at)
        session.begin_anew(new_id())

    async def open_session(self) -> bool:
        """Read the issue and begin the conversation about it; a closed one is left alone."""
        called = await self.steps.take_up()
        self.display.remember(title=called.title, url=called.url)
        if not called.is_open:
            self.life.called, self.life.error = called, operators.is_closed(called.policy.language)
            await self.ask_to_reopen()
            return False
        key, now = workflow.uuid4().hex[:12], workflow.now()
        taken = await self.steps.take_over(key, called.policy, now)
        session = Session(
            number=taken.session,
            key=key,
            branch=work_branch(self.issue, called.request),
            pushes=not (called.request and called.request.is_from_fork),
            talk=Talk(id=new_id()),
            started_at=now,
            inherited=taken.handover,
        )
        self.life.open_session(called, session)
        await self.show_begin(called)
        await self.tell_inheritance(taken.handover)
        return True

    async def show_begin(self, called: Called) -> None:
        """Show that the work begins; who called for it with the label of a pause resumes it first."""
        if State.PAUSED not in called.policy.labels.shown_by(called.labels):
            return await self.display.show(State.PROCESSING)
        self.life.hold = self.life.hold or Order(by="label")
        self.life.before_pause = State.PROCESSING
        return await self.gate.passage()

    async def ask_to_reopen(self) -> None:
        """Answer who writes on a closed issue; a forge that refuses changes nothing."""
        if asking := [waiting for waiting in self.life.heard.values() if not waiting.passed_over]:
            with suppress(ActivityError):
                await self.steps.reply(asking[-1], comments.is_closed(self.language))

    async def tell_inheritance(self, left: Handover | None) -> None:
        """Say on the issue that an earlier context was taken over; a forge that refuses changes nothing."""
        if left:
            with suppress(ActivityError):
                await self.steps.post_comment("inherited", handover.notice(self.language, left))

    async def work(self) -> None:
        """One pass: work in the checkout, publish it, tell the result; a fresh run goes on where the last one was."""
        session = self.life.current
        self.life.note_work(workflow.now())
        if session.part is Part.HEARING:
            if not await self.begin_pass():
                return
            session.part = Part.WORKING
        while session.part in {Part.WORKING, Part.PUBLISHING}:
            await self.work_and_publish(session)
        await self.hand_in(session)
        if session.passes and self.life.last_comment_id:
            self.log.processed(self.life.last_comment_id)
        self.life.note_work(workflow.now())

    async def work_and_publish(self, session: Session) -> None:
        """Work, and push what it came to; work that was lost before it could be pushed is done again."""
        if session.part is Part.WORKING:
            session.workspace_queue = await self.steps.prepare_workspace()
            session.concluded = await self.way_of_working().run()
            session.part = Part.PUBLISHING
            if session.is_over and not session.concluded:
                session.part, session.published = Part.TELLING, None
                return
        self.display.wait_for(operators.verifies(self.language))
        session.published = await self.steps.gather_evidence(workflow.now())
        if session.has_lost_work and session.concluded and not self.life.policy.planning.enabled:
            await self.steps.tell_to_go_on(moved=True)
            session.part = Part.WORKING
        else:
            session.part = Part.REQUESTING

    async def hand_in(self, session: Session) -> None:
        """Open the request for what was published, and tell it."""
        self.display.wait_for(operators.publishes(self.language))
        if session.part is Part.REQUESTING:
            if session.published and not session.published.is_empty:
                await self.steps.open_change_request()
            session.part = Part.TELLING
        if session.published:
            await self.steps.post_result(session.published, concluded=session.concluded)
            for place in session.asked_elsewhere(self.issue):
                if workflow.patched(ANSWERED_EVERYWHERE):
                    await self.steps.post_result(session.published, concluded=session.concluded, place=place)

    async def begin_pass(self) -> bool:
        """Open the conversation about what is asked for; False when what was said is there no more."""
        session, is_planned = self.life.current, self.life.policy.planning.enabled
        if not session.is_instructed:
            await self.steps.read_instructions(workflow.now())
        if is_planned:
            session.begin_anew(new_id())
        if not session.talk.is_open:
            session.talk.open(await self.steps.open_conversation(workflow.now()))
        if session.passes or not self.life.policy.hears_while_working:
            is_told = await self.take_in()
            if session.passes and not is_told:
                return False
        if is_planned:
            session.planning = Planning(request=session.talk.turn(back=0))
        return True

    def way_of_working(self) -> PlannedWork | PlainWork:
        """By plan, or in one tool loop."""
        if not self.life.policy.planning.enabled:
            return PlainWork(self.life.current, self.steps, self.checkpoint, self.life.policy.max_iterations)
        people = People(self.life, self.steps, self.planning_steps, self.display, self.hears_before, self.take_in)
        return PlannedWork(self.life, self.steps, self.planning_steps, people, self.checkpoint, self.display.show_plan)

    async def checkpoint(self) -> bool:
        """Between two rounds of work: pause, stop, comments, budget, compression, then a fresh run if it is long.

        Whether comments were told.
        """
        told_before = self.life.comments_processed
        await self.gate.passage(at_checkpoint=True)
        await self.hear_people()
        await self.purse.passage(self.hear_people)
        await self.compression.passage()
        self.display.wait_for(self.next_step())
        await self.waits.renew_if_long()
        return self.life.comments_processed > told_before

    def next_step(self) -> str:
        """What the work waits for."""
        session = self.life.current
        if session.phase is None:
            return operators.works(self.language, session.talk.iterations + 1)
        action = session.plan.next() if session.phase is Phase.EXECUTION else None
        return operators.acts(self.language, action.id) if action else operators.plans(self.language, session.phase)

    async def hears_before(self, until: datetime) -> bool:
        """Whether something comes up before the time is up; a pause is lived through and does not count."""
        planning = self.life.current.planning
        if not await self.waits.comes_before(until, lambda: self.waits.has_news() or planning.is_approved):
            return False
        await self.waits.renew_if_long()
        began = workflow.now()
        await self.gate.passage()
        planning.wait_longer(workflow.now() - began)
        return True

    async def hear_people(self) -> None:
        """Give the model what people wrote meanwhile, where that is wanted."""
        if self.life.policy.hears_at(self.life.current.talk.iterations):
            await self.take_in()

    async def closure(self) -> Closure | None:
        """Wait for an answer; what ends the conversation, None when the answer asks for another pass."""
        policy, session = self.life.policy, self.life.current
        if not policy.converses:
            return Closure.SETTINGS
        if session.comments_answered >= policy.max_comment_count:
            return Closure.ENOUGH
        if session.is_over and session.passes and not self.life.heard:
            return Closure.MODEL
        session.awaits_until = session.awaits_until or workflow.now() + policy.reply_timeout
        while True:
            self.display.wait_for_people(operators.awaits_reply(self.language, session.awaits_until))
            if not await self.waits.comes_before(session.awaits_until, self.waits.has_news):
                return Closure.SILENCE
            await self.waits.renew_if_long()
            if self.gate.is_closed:
                await self.gate.passage()
                session.awaits_until = workflow.now() + policy.reply_timeout
            await self.gate.passage()
            if self.life.heard:
                session.awaits_until = None
                return Closure.WORDS if await self.is_closed_by_words() else None

    async def is_closed_by_words(self) -> bool:
        """Whether what was heard closes the conversation; otherwise the next pass begins."""
        if self.life.only_closing_is_heard:
            last, self.life.heard = list(self.life.heard.values())[-1], {}
            self.log.closing(last)
            return True
        await self.display.show(State.PROCESSING)
        self.life.current.next_pass()
        return False

    async def take_in(self) -> bool:
        """Give the model what was heard, as much as one turn can hold; whether any of it was still there."""
        self.life.checks += 1
        heard = self.life.next_heard
        if not heard:
            return False
        told = await self.steps.tell_comments(heard)
        self.life.current.comments_answered += sum(not comment.closing for comment in told)
        self.life.count_comments(told, workflow.now())
        self.life.current.note_asked(self.issue, [comment.place for comment in told])
        if told and self.life.current.phase:
            self.life.current.planning.note_comments(self.life.current.talk.turn())
        self.log.processing(told)
        return bool(told)

    @property
    def language(self) -> Language:
        """The language people on this issue read."""
        return self.life.policy.language
