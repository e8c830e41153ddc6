"""Steps on the forge: reading the issue, hearing comments, showing state, writing results."""

from collections.abc import Collection, Mapping

from pydantic import Field
from temporalio import activity

from activities.audience import Audience, our_name
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import Comment, NewChangeRequest
from hikitsugi.domain.policy import LabelNames, Language, Policy
from hikitsugi.domain.ports import Forge, Memory
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.session import Called
from hikitsugi.domain.states import State
from hikitsugi.domain.tools import Submission
from hikitsugi.domain.value import Value
from hikitsugi.domain.workspace import Published
from hikitsugi.messages import change_request as request_texts
from hikitsugi.messages import comments as comment_texts


class Hear(Value):
    """Find out which of these comments count."""

    issue: IssueAddress
    issue_author: str
    accept_from: tuple[str, ...]
    comments: tuple[Comment, ...]


class ShowState(Value):
    """Let exactly one state label stand on the issue."""

    issue: IssueAddress
    state: State
    labels: LabelNames


class PostComment(Value):
    """Write a comment once."""

    issue: IssueAddress
    key: str
    body: str


class Reconcile(Value):
    """Look once more after comments whose writing was tried again."""

    issue: IssueAddress
    keys: tuple[str, ...]
    places: dict[str, IssueAddress] = Field(default_factory=dict[str, IssueAddress])
    """Where to look for those that are not on the issue itself."""


class OpenChangeRequest(Value):
    """Make sure the work branch has its pull or merge request."""

    issue: IssueAddress
    issue_title: str
    branch: str
    language: Language
    conversation: str
    sequence: int | None


class PostResult(Value):
    """Write the result of one pass once."""

    issue: IssueAddress
    key: str
    language: Language
    conversation: str
    sequence: int | None
    """The model turn that submitted, if one did."""
    published: Published
    change_request: str | None


class ForgeActivities:
    """Everything that is said and shown on a forge."""

    def __init__(
        self,
        forges: Mapping[str, Forge],
        policies: Mapping[str, Policy],
        memory: Memory,
        redact: Redactor,
        *,
        confined: bool,
    ) -> None:
        self._forges = forges
        self._policies = policies
        self._memory = memory
        self._redact = redact
        self._confined = confined

    @activity.defn
    async def take_up(self, issue: IssueAddress) -> Called:
        """Read what a session starts from."""
        seen = await self._forge(issue).read_issue(issue)
        return Called(
            policy=self._policies[issue.forge],
            title=seen.title,
            author=seen.author,
            url=seen.url,
            is_open=seen.is_open,
            labels=seen.labels,
            bot=await our_name(self._forge(issue)),
        )

    @activity.defn
    async def hear(self, request: Hear) -> list[Comment]:
        """The comments that count, in order: by accepted people, and new to the model."""
        audience = Audience(self._forge(request.issue), request.issue.home, request.issue_author, request.accept_from)
        known = await self._memory.comments_taken_in(request.issue)
        heard: list[Comment] = []
        for comment in request.comments:
            if comment.version not in known and await audience.hears(comment):
                edited = comment.edited or any_text_of(comment, known)
                heard.append(comment.model_copy(update={"edited": edited}))
                await self._acknowledge(request.issue, heard[-1])
        return heard

    async def _acknowledge(self, issue: IssueAddress, comment: Comment) -> None:
        if comment.watched and not comment.edited:
            await self._forge(issue).acknowledge(comment.place or issue, comment.id)

    @activity.defn
    async def show_state(self, request: ShowState) -> None:
        """Set the wanted state's label and take the others off."""
        wanted = request.labels.of(request.state)
        others = [label for label in request.labels.states if label != wanted]
        await self._forge(request.issue).change_labels(request.issue, add=[wanted], remove=others)

    @activity.defn
    async def post_comment(self, request: PostComment) -> bool:
        """Write a comment, unless it is there; whether an earlier attempt may still arrive late."""
        await self._forge(request.issue).post_comment(request.issue, self._redact(request.body), request.key)
        return activity.info().attempt > 1

    @activity.defn
    async def reconcile(self, request: Reconcile) -> None:
        """Remove late duplicates of comments."""
        for key in request.keys:
            place = request.places.get(key, request.issue)
            await self._forge(place).reconcile_comment(place, key)

    @activity.defn
    async def open_change_request(self, request: OpenChangeRequest) -> str:
        """The address of the work branch's open request."""
        forge = self._forge(request.issue)
        remote = await forge.git_remote(request.issue.home)
        submission = await submission_in(self._memory, request.conversation, request.sequence)
        body = request_texts.body(request.language, request.issue, submission)
        wanted = NewChangeRequest(
            home=request.issue.home,
            head=request.branch,
            base=remote.default_branch,
            title=request_texts.title(request.issue, request.issue_title),
            body=self._redact(body),
        )
        return (await forge.open_change_request(wanted)).url

    @activity.defn
    async def post_result(self, request: PostResult) -> bool:
        """Tell the people on the issue what came of it; whether an earlier attempt may still arrive late."""
        submission = await submission_in(self._memory, request.conversation, request.sequence)
        warning = "" if self._confined else comment_texts.unconfined_warning(request.language)
        body = comment_texts.result(request.language, submission, request.published, request.change_request, warning)
        return await self.post_comment(PostComment(issue=request.issue, key=request.key, body=body))

    def _forge(self, issue: IssueAddress) -> Forge:
        return self._forges[issue.forge]


def any_text_of(comment: Comment, versions: Collection[str]) -> bool:
    """Whether any text of the comment is among the versions."""
    return any(version.rpartition("@")[0] == comment.id for version in versions)


async def submission_in(memory: Memory, conversation: str, sequence: int | None) -> Submission | None:
    """What the model submitted in a turn of a conversation."""
    turn = None if sequence is None else await memory.find_turn(conversation, sequence)
    calls = [call for call in (turn.tool_calls if turn else ()) if call.name == "submit"]
    return Submission.model_validate(calls[0].input) if calls else None
