"""Steps on the forge: reading the issue, hearing comments, showing state, writing results."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from pydantic import Field
from temporalio import activity

from activities.audience import Audience, our_name
from activities.reading import conclusion_of, submission_at, summary_at
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import Comment, NewChangeRequest
from hikitsugi.domain.labels import Wish, wish_before
from hikitsugi.domain.plan import Plan, TurnRef
from hikitsugi.domain.policy import LabelNames, Language, Policy
from hikitsugi.domain.ports import Forge, Memory
from hikitsugi.domain.proof import is_ready
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.session import Called
from hikitsugi.domain.states import State
from hikitsugi.domain.tools import Submission
from hikitsugi.domain.value import Value
from hikitsugi.domain.verification import Verified
from hikitsugi.domain.waiting import Waiting
from hikitsugi.domain.watching import issue_behind
from hikitsugi.domain.workspace import Published
from hikitsugi.messages import change_request as request_texts
from hikitsugi.messages import comments as comment_texts
from hikitsugi.messages.proof import proof, standing


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
    was: State | None = None
    """The state we showed before, if we know; what another label asks for beside it is told."""


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


class Work(Value):
    """What is known of the work behind a result: its plan, if it has one, the evidence, and the cost."""

    plan: Plan | None = None
    verdict: TurnRef | None = None
    concluded: bool = False
    verified: Verified | None = None
    calls: int = 0
    cost_usd: float | None = None


class OpenChangeRequest(Value):
    """Make sure the work branch has its pull or merge request."""

    issue: IssueAddress
    issue_title: str
    branch: str
    language: Language
    submitted: TurnRef | None
    """The model turn that submitted last, if one did."""
    work: Work = Work()
    known: str | None = None
    """The request that earlier passes went into."""
    earlier: tuple[TurnRef, ...] = ()
    """The turns that tell what those came to."""


class Requested(Value):
    """The request for the work, as it stands now."""

    url: str
    is_draft: bool
    is_ready: bool = False
    """Whether it says that all is shown to work."""


class PostResult(Value):
    """Write the result of one pass once."""

    issue: IssueAddress
    key: str
    language: Language
    submitted: TurnRef | None
    """The model turn that submitted, if one did."""
    published: Published
    change_request: str | None
    is_draft: bool = True
    """Whether the request is a draft, as far as anybody can see."""
    work: Work = Work()
    awaits: timedelta | None = None
    """How long a reply is waited for, if it is."""


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
        forge = self._forge(issue)
        seen = await forge.read_issue(issue)
        meant = issue_behind(seen, await forge.our_names()) or seen.address
        if meant != issue:
            raise WillNeverWork(f"{issue} is worked on as {meant}")
        return Called(
            policy=self._policies[issue.forge],
            title=seen.title,
            author=seen.author,
            url=seen.url,
            is_open=seen.is_open,
            labels=seen.labels,
            bot=await our_name(forge),
            request=seen.request,
        )

    @activity.defn
    async def hear(self, request: Hear) -> list[Waiting]:
        """The comments that count, in order: by accepted people, and new to the model."""
        audience = Audience(self._forge(request.issue), request.issue.home, request.issue_author, request.accept_from)
        known = await self._memory.comments_taken_in(request.issue)
        told = ids_in(known)
        heard: list[Comment] = []
        for comment in request.comments:
            if _is_only_touched(comment, known) or not await audience.hears(comment):
                continue
            # What came while the conversation was opened is in it already, but not acknowledged.
            is_news = comment.version not in known
            edited = is_news and (comment.edited or comment.id in told)
            await self._acknowledge(request.issue, comment, edited=edited)
            if is_news:
                heard.append(comment.model_copy(update={"edited": edited}))
        await self._memory.keep_comments(request.issue, [comment for comment in heard if not comment.watched])
        return [Waiting.of(comment) for comment in heard]

    async def _acknowledge(self, issue: IssueAddress, comment: Comment, *, edited: bool) -> None:
        if comment.watched and not edited:
            await self._forge(issue).acknowledge(comment.place or issue, comment.id)

    @activity.defn
    async def show_state(self, request: ShowState) -> Wish | None:
        """Set the wanted state's label and take the others off, unless one of them asks for something else first."""
        forge, names, wanted = self._forge(request.issue), request.labels, request.labels.of(request.state)
        present = (await forge.read_issue(request.issue)).labels
        if request.was and (wish := wish_before(present, request.was, request.state, names)):
            return wish
        add, remove = [] if wanted in present else [wanted], names.instead_of(request.state, present)
        if add or remove:
            await forge.change_labels(request.issue, add, remove)
        return None

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
    async def open_change_request(self, request: OpenChangeRequest) -> Requested:
        """The work branch's request, opened as a draft where there are drafts; ready only if the evidence says so."""
        forge, home = self._forge(request.issue), request.issue.home
        submission, base = await self._conclusion(request), (await forge.git_remote(home)).default_branch
        ready = is_ready(submission, request.work.verified)
        title, body = self._worded(request, submission, ready=ready, draft=True)
        wanted = NewChangeRequest(home=home, head=request.branch, base=base, title=title, body=body, draft=True)
        opened = await forge.open_change_request(wanted)
        stands = opened if ready else await forge.set_draft(home, opened.number, draft=True)
        refs = request.earlier if opened.url == request.known else ()
        earlier = [told for ref in refs if (told := await summary_at(self._memory, ref))]
        title, body = self._worded(request, submission, earlier, ready=ready, draft=stands.is_draft)
        await forge.update_change_request(home, opened.number, title, body)
        if ready:
            stands = await forge.set_draft(home, opened.number, draft=False)
        return Requested(url=opened.url, is_draft=stands.is_draft, is_ready=ready)

    def _worded(
        self,
        request: OpenChangeRequest,
        submission: Submission | None,
        earlier: Sequence[str] = (),
        *,
        ready: bool,
        draft: bool,
    ) -> tuple[str, str]:
        """Title and text of the request; what is not ready says so, in its title too where it is no draft."""
        language, work = request.language, request.work
        body = request_texts.body(
            language,
            request.issue,
            submission,
            earlier=earlier,
            plan=work.plan,
            verified=work.verified,
            cost=request_texts.cost(language, work.calls, work.cost_usd),
            notice=standing(language, is_ready=ready, is_draft=draft and not ready),
        )
        is_unfinished = not ready and not draft
        title = request_texts.title(request.issue, request.issue_title, is_unfinished=is_unfinished)
        return self._redact(title), self._redact(body)

    async def _conclusion(self, request: OpenChangeRequest | PostResult) -> Submission | None:
        """What the work came to, in the model's words; planned work speaks through its verification."""
        if request.work.plan is None:
            return await submission_at(self._memory, request.submitted)
        return await conclusion_of(
            self._memory, request.work.plan, request.work.verdict, concluded=request.work.concluded
        )

    @activity.defn
    async def post_result(self, request: PostResult) -> bool:
        """Tell the people on the issue what came of it; whether an earlier attempt may still arrive late."""
        submission, verified = await self._conclusion(request), request.work.verified
        warning = "" if self._confined else comment_texts.unconfined_warning(request.language)
        evidence = [proof(request.language, verified)]
        if not request.published.is_empty:
            ready = is_ready(submission, verified)
            evidence.append(standing(request.language, is_ready=ready, is_draft=request.is_draft))
        body = comment_texts.result(
            request.language,
            submission,
            request.published,
            request.change_request,
            warning,
            "\n\n".join(part for part in evidence if part),
            request.awaits,
        )
        return await self.post_comment(PostComment(issue=request.issue, key=request.key, body=body))

    def _forge(self, issue: IssueAddress) -> Forge:
        return self._forges[issue.forge]


def _is_only_touched(comment: Comment, known: Collection[str]) -> bool:
    """Whether the model knows its text; of an edit that was seen when it came, and a text may also come back."""
    return not comment.edited and comment.version not in known and not comment.names.isdisjoint(known)


def ids_in(versions: Collection[str]) -> frozenset[str]:
    """The comments of which some text is among the versions."""
    return frozenset(version.rpartition("@")[0] for version in versions)
