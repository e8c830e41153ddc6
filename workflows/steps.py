"""Every step a story can take: which activity, which limits, its name in the Web UI."""

from collections.abc import Callable
from datetime import datetime

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.forge_activities import (
    ForgeActivities,
    Hear,
    OpenChangeRequest,
    PostComment,
    PostResult,
    Reconcile,
    Work,
)
from activities.handover_activities import HandOver, HandoverActivities, TakenOver, TakeOver
from activities.memory_activities import MemoryActivities, OpenConversation, TellComments, TellToGoOn
from activities.thinking_activities import PhaseKey, Think, ThinkingActivities, Thought
from activities.workspace_activities import (
    PrepareWorkspace,
    Publish,
    ReadInstructions,
    ToolsUsed,
    UseTools,
    Verify,
    WorkspaceActivities,
)
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.life import Life
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import Action
from hikitsugi.domain.policy import Policy
from hikitsugi.domain.session import Called, Ending, Handover, Session
from hikitsugi.domain.verification import Verified
from hikitsugi.domain.waiting import Waiting
from hikitsugi.domain.workspace import Published
from hikitsugi.messages import change_request
from workflows import limits
from workflows.patience import A, P, Passage, Patience, R, Step, execute, is_without_checkout
from workflows.reasons import reason_of

_SUMMARY = 200


class Steps:
    """The steps on one issue; those that work on it wait at the gate first."""

    def __init__(self, issue: IssueAddress, life: Life, patience: Patience, passage: Passage) -> None:
        self._issue = issue
        self._life = life
        self._patience = patience
        self._passage = passage
        self.is_opening = False
        """While a conversation is opened nobody is heard, so that no comment is in it and told again."""

    @property
    def _session(self) -> Session:
        return self._life.current

    async def take_up(self) -> Called:
        """Read the issue and the rules."""
        return await self._patience.take(ForgeActivities.take_up, self._issue, limits.FORGE, "read the issue")

    async def hear(self, comments: tuple[Comment, ...]) -> tuple[Waiting, ...]:
        """Those of the comments that count."""
        request = Hear(
            issue=self._issue,
            issue_author=self._life.called.author if self._life.called else "",
            accept_from=self._life.policy.accept_comments_from,
            comments=tuple(comment.without_text for comment in comments),
        )
        summary = f"hear {len(comments)} comment(s)"
        return tuple(await self._patience.take(ForgeActivities.hear, request, limits.FORGE, summary))

    async def reply(self, comment: Comment | Waiting, body: str) -> None:
        """Answer a comment."""
        answered = comment.version if comment.edited else comment.id
        await self._post(f"reply-{answered}", body, f"comment: reply {comment.id}", comment.place)

    async def post_comment(self, effect: str, body: str, place: IssueAddress | None = None) -> None:
        """Write a comment."""
        await self._post(self._session.key_of(effect), body, f"comment: {effect}", place)

    async def _post(self, key: str, body: str, summary: str, place: IssueAddress | None = None) -> None:
        request = PostComment(issue=place or self._issue, key=key, body=body)
        if await self._patience.take(ForgeActivities.post_comment, request, limits.FORGE, summary):
            self._life.doubt(key, place)

    async def reconcile(self) -> None:
        """Remove what arrived twice of comments that had to be written again."""
        keys, places = tuple(self._life.doubtful), dict(self._life.doubtful_at)
        self._life.doubtful, self._life.doubtful_at = [], {}
        request = Reconcile(issue=self._issue, keys=keys, places=places)
        await self._patience.take(ForgeActivities.reconcile, request, limits.FORGE, "reconcile comments")

    async def open_conversation(self, now: datetime) -> int:
        """Begin the session's conversation; the number of its next turn."""
        step, summary = MemoryActivities.open_conversation, "open the conversation"

        async def attempt() -> int:
            """Whoever holds the work or writes during a limit is heard: nobody is only while it is read."""
            self.is_opening = True
            try:
                return await execute(step, self._opening(now), limits.STORE, summary, None)
            finally:
                self.is_opening = False

        return await self._patience.outlast(attempt, limits.STORE.whose, self._passage)

    def _opening(self, now: datetime) -> OpenConversation:
        return OpenConversation(
            issue=self._issue,
            session=self._session.number,
            conversation=self._session.talk.id,
            language=self._life.policy.language,
            accept_from=self._life.policy.accept_comments_from,
            leave_out=(*self._life.pending, *self._life.heard),
            handover=self._session.inherited,
            terms=self._life.policy.inheritance,
            inherits=self._life.policy.inherits,
            at=now,
            purpose="request" if self._life.policy.planning.enabled else "plain_work",
            instructions=self._session.key_of("instructions"),
            branch=self._life.request_branch,
        )

    async def tell_comments(self, comments: tuple[Waiting, ...]) -> tuple[Waiting, ...]:
        """Give comments to the model; those that were still there."""
        request = TellComments(
            issue=self._issue,
            conversation=self._session.talk.id,
            sequence=self._session.talk.sequence,
            comments=comments,
            more=len(self._life.heard) - len(comments),
            overlooked=self._life.overlooked,
            bot=self._life.called.bot if self._life.called else None,
        )
        summary = f"tell the model {len(comments)} comment(s)"
        versions = await self._work(MemoryActivities.tell_comments, request, limits.FORGE, summary)
        self._session.talk.sequence += bool(versions)
        self._session.talk.context_tokens += sum(comment.size for comment in comments)
        self._life.overlooked = 0
        self._life.forget_heard([*versions, *(comment.version for comment in comments)])
        told = {version.rpartition("@")[0] for version in versions}
        return tuple(comment for comment in comments if comment.id in told)

    async def read_instructions(self, now: datetime) -> None:
        """Keep what the repository asks of agents, for all conversations of the session."""
        key = self._session.key_of("instructions")
        request = ReadInstructions(issue=self._issue, session=self._session.number, conversation=key, at=now)
        step = WorkspaceActivities.read_instructions
        await self._work(step, request, limits.GIT, "read the repository's instructions")
        self._session.is_instructed = True

    async def tell_to_go_on(self, *, moved: bool = False) -> None:
        """Remind the model that it has to act or to submit, or tell it that unpushed work was lost."""
        talk = self._session.talk
        request = TellToGoOn(conversation=talk.id, sequence=talk.sequence, moved=moved)
        await self._work(MemoryActivities.tell_to_go_on, request, limits.STORE, "remind the model")
        self._session.talk.sequence += 1
        self._session.talk.asked = None

    async def prepare_workspace(self) -> str:
        """Have the checkout ready; the queue of its host, which is another one when the last is gone."""
        request = PrepareWorkspace(issue=self._issue, branch=self._session.branch)
        summary = f"check out {request.branch}"
        while True:
            queue = self._session.workspace_queue
            try:
                return await self._work(
                    WorkspaceActivities.prepare_workspace, request, limits.GIT, summary, queue=queue
                )
            except ActivityError as error:
                if queue is None or not is_without_checkout(error):
                    raise
                self._session.workspace_queue = None

    async def _at_checkout(
        self, step: Step[A, P, R], request: Callable[[], P], limit: limits.Limits, summary: str
    ) -> R:
        """Take a step where the checkout is; when that is gone, where it was prepared anew from the pushed branch."""
        while True:
            try:
                return await self._work(step, request(), limit, summary, queue=self._session.workspace_queue)
            except ActivityError as error:
                if not is_without_checkout(error):
                    raise
            self._session.moves += 1
            self._session.workspace_queue = None
            self._session.workspace_queue = await self.prepare_workspace()

    async def think(self) -> Thought:
        """Let the model say its next turn."""
        talk, phase = self._session.talk, self._session.phase
        request = Think(conversation=talk.id, sequence=talk.sequence, phase=phase, keep_as=self._phase_key(phase))
        summary = f"{phase}: turn {talk.iterations + 1}" if phase else f"turn {talk.iterations + 1}"
        thought = await self._work(ThinkingActivities.think, request, limits.MODEL, summary)
        talk.sequence += 1
        talk.iterations += 1
        talk.context_tokens = thought.usage.context_tokens
        talk.asked = thought.tools
        self._life.spend(thought.usage, thought.cost_usd)
        return thought

    def _phase_key(self, phase: Phase | None) -> PhaseKey | None:
        """Only phases that end in a reply of their own form have a result to keep."""
        if phase in {None, Phase.EXECUTION}:
            return None
        return PhaseKey(issue=self._issue, session=self._session.number, number=self._life.spending.llm_calls + 1)

    async def use_tools(self) -> ToolsUsed:
        """Run the tools the model asked for in its last turn."""
        talk, moves = self._session.talk, self._session.moves
        summary = ", ".join(talk.asked or ())[:_SUMMARY]

        def request() -> UseTools:
            return UseTools(
                issue=self._issue,
                conversation=talk.id,
                sequence=talk.sequence - 1,
                phase=self._session.phase,
                moved=self._session.moves > moves,
            )

        used = await self._at_checkout(WorkspaceActivities.use_tools, request, limits.TOOLS, summary)
        talk.sequence += 1
        talk.context_tokens += used.tokens
        talk.asked = None
        return used

    async def publish(self, now: datetime, action: Action | None = None) -> Published:
        """Commit and push what is there, if the branch is one that we may push to."""
        if not self._session.pushes:
            return Published(commit="", withheld=True)
        message = change_request.commit(self._issue, self._life.title, action)
        request = Publish(issue=self._issue, branch=self._session.branch, message=message, at=now)
        summary, moves = f"commit and push {request.branch}", self._session.moves
        published = await self._at_checkout(WorkspaceActivities.publish, lambda: request, limits.GIT, summary)
        self._session.has_lost_work = self._session.moves > moves
        await self._withdraw_unless_shown(published)
        return published

    async def _withdraw_unless_shown(self, published: Published) -> None:
        """What the checks showed of another commit says nothing of this one; a request that was ready is so no more."""
        known, ready_with = self._session.verified, self._life.ready_with
        if known and known.commit != published.commit:
            self._session.verified = None
        if ready_with not in {None, published.commit} and not published.is_empty:
            await self.open_change_request()

    async def keep_work(self, now: datetime) -> bool:
        """Push what work that ends early leaves behind; whether the branch holds any of it."""
        if self._session.workspace_queue is None:
            return False
        try:
            return not (await self.publish(now)).is_empty
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            workflow.logger.warning("the work could not be pushed: %s", reason_of(error))
            return False

    async def verify(self, commit: str) -> Verified:
        """Run the checks on a pushed commit."""
        request = Verify(issue=self._issue, commit=commit)
        summary = f"verify {commit[:8]}"
        return await self._at_checkout(WorkspaceActivities.verify, lambda: request, limits.TOOLS, summary)

    async def gather_evidence(self, now: datetime) -> Published:
        """Push what is there, and run the checks on it unless they ran on this very commit."""
        published = await self.publish(now)
        if self._session.verified is None and not published.is_empty:
            self._session.verified = await self.verify(published.commit)
        return published

    @property
    def _done(self) -> Work:
        """The work behind the result of this pass."""
        session, spent = self._session, self._life.spending
        planned = self._life.policy.planning.enabled
        return Work(
            plan=session.plan if planned else None,
            verdict=session.planning.verdict,
            concluded=session.planning.concluded,
            verified=session.verified,
            calls=spent.llm_calls,
            cost_usd=spent.cost_usd,
        )

    async def open_change_request(self) -> None:
        """Have a pull or merge request for the branch. One that is worked on itself is its own."""
        if self._life.called and (own := self._life.called.request):
            self._life.change_request, self._life.is_draft = self._life.called.url, own.is_draft
            return
        request = OpenChangeRequest(
            issue=self._issue,
            issue_title=self._life.title,
            branch=self._session.branch,
            language=self._life.policy.language,
            submitted=self._session.submitted,
            work=self._done,
            known=self._life.change_request,
            earlier=tuple(self._life.handed_in),
        )
        step = ForgeActivities.open_change_request
        opened = await self._work(step, request, limits.FORGE, "open the change request")
        self._life.hand_in(opened.url)
        self._life.is_draft = opened.is_draft
        self._life.ready_with = self._session.verified.commit if self._session.verified and opened.is_ready else None

    async def post_result(self, published: Published, *, concluded: bool, place: IssueAddress | None = None) -> None:
        """Tell the result of this pass, where its last comment was written or elsewhere too."""
        at, beside = place or self._session.answer_at, f"-{place.kind}-{place.number}" if place else ""
        request = PostResult(
            issue=at or self._issue,
            key=self._session.key_of(f"result-{self._session.passes}{beside}"),
            language=self._life.policy.language,
            submitted=self._session.submitted if concluded else None,
            published=published,
            change_request=self._life.change_request,
            is_draft=self._life.is_draft,
            work=self._done,
            awaits=self._life.awaits_reply_for,
        )
        if await self._work(ForgeActivities.post_result, request, limits.FORGE, "comment: result"):
            self._life.doubt(request.key, at)

    async def _work(
        self, step: Step[A, P, R], request: P, limit: limits.Limits, summary: str, queue: str | None = None
    ) -> R:
        return await self._patience.take(step, request, limit, summary, queue=queue, passage=self._passage)

    async def take_over(self, key: str, policy: Policy, now: datetime) -> TakenOver:
        """Begin a session with what the last one left; a store that cannot tell in time leaves what we carried."""
        request = TakeOver(
            issue=self._issue,
            key=key,
            session=self._life.sessions + 1,
            inherits=policy.inherits,
            expiry=policy.context_expiry,
            now=now,
        )
        try:
            return await self._patience.take(HandoverActivities.take_over, request, limits.EARLIER, "take over")
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
        return TakenOver(session=await self._number(request), handover=self._life.inheritance)

    async def _number(self, request: TakeOver) -> int:
        """Which session this is, once the store can tell; without a store that can be read, we count ourselves."""
        alone = request.model_copy(update={"inherits": False})
        try:
            taken = await self._patience.take(HandoverActivities.take_over, alone, limits.STORE, "count the session")
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return request.session
        return taken.session

    async def hand_over(self, ending: Ending, now: datetime) -> Handover:
        """Leave the next session a record of this one."""
        request = HandOver(
            issue=self._issue,
            key=self._session.key,
            session=self._session.number,
            ending=ending,
            language=self._life.policy.language,
            title=self._life.title,
            author=self._life.called.author if self._life.called else "",
            change_request=self._life.change_request,
            error=self._life.error if ending is Ending.FAILED else None,
            plan=self._session.plan.items(),
            past=tuple(self._session.plan.past),
            verified=self._session.verified,
            inherited=self._session.inherited.id if self._session.inherited else "",
            branch=self._life.request_branch,
            started_at=self._session.started_at or now,
            now=now,
        )
        left = await self._patience.take(HandoverActivities.hand_over, request, limits.SUMMARY, "final summary")
        if left.usage:
            self._life.spending.add(left.usage, left.cost_usd)
        return left.handover
