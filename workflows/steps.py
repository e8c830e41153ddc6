"""Every step a story can take: which activity, which limits, its name in the Web UI."""

from collections.abc import Callable
from datetime import datetime

from temporalio.exceptions import ActivityError

from activities.forge_activities import (
    ForgeActivities,
    Hear,
    OpenChangeRequest,
    PostComment,
    PostResult,
    Reconcile,
)
from activities.memory_activities import MemoryActivities, OpenConversation, Summarise, TellComments, TellToGoOn
from activities.thinking_activities import Think, ThinkingActivities, Thought
from activities.workspace_activities import (
    PrepareWorkspace,
    Publish,
    ToolsUsed,
    UseTools,
    WorkspaceActivities,
)
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.life import Life
from hikitsugi.domain.session import Called, Session
from hikitsugi.domain.workspace import Published
from hikitsugi.messages import change_request
from workflows import limits
from workflows.patience import A, P, Passage, Patience, R, Step, is_without_checkout

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

    async def hear(self, comments: tuple[Comment, ...]) -> tuple[Comment, ...]:
        """Those of the comments that count."""
        request = Hear(
            issue=self._issue,
            issue_author=self._life.called.author if self._life.called else "",
            accept_from=self._life.policy.accept_comments_from,
            comments=comments,
        )
        summary = f"hear {len(comments)} comment(s)"
        return tuple(await self._patience.take(ForgeActivities.hear, request, limits.FORGE, summary))

    async def reply(self, comment: Comment, body: str) -> None:
        """Answer a comment."""
        await self._post(f"reply-{comment.id}", body, f"comment: reply {comment.id}", comment.place)

    async def post_comment(self, effect: str, body: str) -> None:
        """Write a comment."""
        await self._post(self._session.key_of(effect), body, f"comment: {effect}")

    async def _post(self, key: str, body: str, summary: str, place: IssueAddress | None = None) -> None:
        request = PostComment(issue=place or self._issue, key=key, body=body)
        if await self._patience.take(ForgeActivities.post_comment, request, limits.FORGE, summary):
            self._life.doubtful.append(key)

    async def reconcile(self) -> None:
        """Remove what arrived twice of comments that had to be written again."""
        request = Reconcile(issue=self._issue, keys=tuple(self._life.doubtful))
        self._life.doubtful = []
        await self._patience.take(ForgeActivities.reconcile, request, limits.FORGE, "reconcile comments")

    async def open_conversation(self, now: datetime) -> int:
        """Begin the session's conversation; the number of its next turn."""
        request = OpenConversation(
            issue=self._issue,
            session=self._session.number,
            conversation=self._session.conversation,
            language=self._life.policy.language,
            accept_from=self._life.policy.accept_comments_from,
            leave_out=tuple(comment.id for comment in (*self._life.pending, *self._life.heard)),
            handover=self._life.inheritance,
            at=now,
        )
        self.is_opening = True
        try:
            return await self._work(MemoryActivities.open_conversation, request, limits.STORE, "open the conversation")
        finally:
            self.is_opening = False

    async def tell_comments(self, comments: tuple[Comment, ...]) -> tuple[Comment, ...]:
        """Give comments to the model; those that were still there."""
        request = TellComments(
            issue=self._issue,
            conversation=self._session.conversation,
            sequence=self._session.sequence,
            comments=comments,
        )
        summary = f"tell the model {len(comments)} comment(s)"
        told = await self._work(MemoryActivities.tell_comments, request, limits.FORGE, summary)
        self._session.sequence += bool(told)
        return tuple(comment for comment in comments if comment.id in told)

    async def tell_to_go_on(self) -> None:
        """Remind the model that it has to act or to submit."""
        request = TellToGoOn(conversation=self._session.conversation, sequence=self._session.sequence)
        await self._work(MemoryActivities.tell_to_go_on, request, limits.STORE, "remind the model")
        self._session.sequence += 1

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
        request = Think(conversation=self._session.conversation, sequence=self._session.sequence)
        thought = await self._work(
            ThinkingActivities.think, request, limits.MODEL, f"turn {self._session.iterations + 1}"
        )
        self._session.sequence += 1
        self._session.iterations += 1
        self._life.spend(thought.usage, thought.cost_usd)
        return thought

    async def use_tools(self, thought: Thought) -> ToolsUsed:
        """Run the tools the model asked for in its last turn."""
        moves, summary = self._session.moves, ", ".join(thought.tools)[:_SUMMARY]

        def request() -> UseTools:
            return UseTools(
                issue=self._issue,
                conversation=self._session.conversation,
                sequence=self._session.sequence - 1,
                moved=self._session.moves > moves,
            )

        used = await self._at_checkout(WorkspaceActivities.use_tools, request, limits.TOOLS, summary)
        self._session.sequence += 1
        return used

    async def publish(self, now: datetime) -> Published:
        """Commit and push what is there."""
        message = change_request.commit(self._issue, self._life.title)
        request = Publish(issue=self._issue, branch=self._session.branch, message=message, at=now)
        summary = f"commit and push {request.branch}"
        return await self._at_checkout(WorkspaceActivities.publish, lambda: request, limits.GIT, summary)

    async def open_change_request(self) -> str:
        """Have a pull or merge request for the branch; its address."""
        request = OpenChangeRequest(
            issue=self._issue,
            issue_title=self._life.title,
            branch=self._session.branch,
            language=self._life.policy.language,
            conversation=self._session.conversation,
            sequence=self._session.submitted,
        )
        return await self._work(ForgeActivities.open_change_request, request, limits.FORGE, "open the change request")

    async def post_result(self, published: Published, *, concluded: bool) -> None:
        """Tell the result of this pass."""
        request = PostResult(
            issue=self._session.answer_at or self._issue,
            key=self._session.key_of(f"result-{self._session.passes}"),
            language=self._life.policy.language,
            conversation=self._session.conversation,
            sequence=self._session.submitted if concluded else None,
            published=published,
            change_request=self._life.change_request,
        )
        if await self._work(ForgeActivities.post_result, request, limits.FORGE, "comment: result"):
            self._life.doubtful.append(request.key)

    async def _work(
        self, step: Step[A, P, R], request: P, limit: limits.Limits, summary: str, queue: str | None = None
    ) -> R:
        return await self._patience.take(step, request, limit, summary, queue=queue, passage=self._passage)

    async def summarise(self) -> str:
        """The final summary of the session."""
        request = Summarise(
            language=self._life.policy.language,
            title=self._life.title,
            conversation=self._session.conversation,
            sequence=self._session.submitted,
            change_request=self._life.change_request,
            answered=self._session.comments_answered,
        )
        return await self._patience.take(MemoryActivities.summarise, request, limits.STORE, "final summary")
