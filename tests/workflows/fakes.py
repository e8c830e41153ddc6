"""The outside as the stories see it: small classes that keep what was done to them."""

import asyncio
import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from pydantic import SecretStr

from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.conversation import Reply, Transcript, Turn, Usage
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import MARKER_PREFIX, Base, ChangeRequest, Comment, GitRemote, Issue, NewChangeRequest
from hikitsugi.domain.ports import Cursor, Sighting
from hikitsugi.domain.tools import Intent, ToolCall, ToolOutcome
from hikitsugi.domain.verification import CheckRun, Placeholder, Verified
from hikitsugi.domain.workspace import Commit, Published

BOT = "hikitsugi-bot"
ALICE = "alice"
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class FakeForge:
    """One issue by alice, whose labels and comments can be looked at."""

    def __init__(self, address: IssueAddress) -> None:
        self.address = address
        self.names = frozenset({BOT})
        self.labels: set[str] = {"task:misc", "a human's label"}
        self.comments: list[Comment] = []
        self.where: dict[str, IssueAddress] = {}
        """Where each of them was written."""
        self.written = 0
        self.acknowledged: list[str] = []
        self.requests: list[NewChangeRequest] = []
        self.bodies: list[str] = []
        self.titles: list[str] = []
        self.has_drafts = True
        self.standings: list[bool] = []
        """Each change of the request: whether it was to be a draft."""
        self.is_draft: bool | None = None
        self.is_open = True
        self.author = ALICE
        self.body = "Please fix it."
        self.maintainers = {"maria"}
        self.refuses: Exception | None = None
        self.reconciled: list[str] = []
        self.reconciled_at: list[IssueAddress] = []
        self.posts_fail = 0
        self.locked = False
        self.edited = 0
        self.refuses_edits = False
        self.progress_fails = 0

    def says(self, author: str, body: str, place: IssueAddress | None = None) -> Comment:
        """Somebody comments on the forge's page."""
        self.written += 1
        at = EPOCH + timedelta(seconds=self.written)
        comment = Comment(id=str(self.written), author=author, body=body, created_at=at, updated_at=at)
        self.comments.append(comment)
        self.where[comment.id] = place or self.address
        return comment

    @property
    def ours(self) -> list[str]:
        """The first line of each of our comments."""
        return [comment.body.splitlines()[0] for comment in self.comments if comment.author == BOT]

    async def whoami(self) -> str:
        return BOT

    async def our_names(self) -> frozenset[str]:
        return self.names

    async def look(self, home: RepositoryAddress, cursor: Cursor | None) -> Sighting:
        return Sighting(news=(), cursor=cursor or {})

    async def list_open_issues(self, home: RepositoryAddress) -> list[Issue]:
        return []

    async def read_issue(self, issue: IssueAddress) -> Issue:
        if self.refuses:
            raise self.refuses
        return Issue(
            address=issue,
            title="It fails",
            body=self.body,
            author=self.author,
            url=f"http://forge.example/{issue.repository}/issues/{issue.number}",
            is_open=self.is_open,
            labels=tuple(self.labels),
            updated_at=EPOCH,
        )

    async def read_comments(self, issue: IssueAddress, *, on_lines: bool = False) -> list[Comment]:
        return [comment for comment in self.comments if self.where[comment.id] == issue]

    async def read_comment(self, issue: IssueAddress, comment_id: str) -> Comment | None:
        return next((comment for comment in self.comments if comment.id == comment_id), None)

    def edits(self, comment: Comment, body: str) -> Comment:
        """Somebody changes a comment on the forge's page."""
        later = (comment.updated_at or EPOCH) + timedelta(minutes=1)
        edited = comment.model_copy(update={"body": body, "updated_at": later})
        self.comments = [edited if each.id == comment.id else each for each in self.comments]
        return edited

    def deletes(self, comment: Comment) -> None:
        """Somebody takes a comment back."""
        self.comments = [each for each in self.comments if each.id != comment.id]

    async def may_write(self, home: RepositoryAddress, user: str) -> bool:
        return user in self.maintainers

    async def post_comment(self, issue: IssueAddress, body: str, key: str) -> Comment:
        if self.locked and key.startswith("reply"):
            raise WillNeverWork("The conversation is locked.")
        if self.progress_fails and key.endswith("progress"):
            self.progress_fails -= 1
            raise TryAgainLater("502")
        if self.posts_fail:
            self.posts_fail -= 1
            raise TryAgainLater("502")
        marker = f"{MARKER_PREFIX}{key} -->"
        found = [c for c in self.comments if c.author == BOT and c.body.endswith(marker)]
        return found[0] if found else self.says(BOT, f"{body}\n\n{marker}", issue)

    async def change_labels(self, issue: IssueAddress, add: Collection[str], remove: Collection[str]) -> None:
        self.labels = (self.labels | set(add)) - set(remove)

    async def acknowledge(self, issue: IssueAddress, comment_id: str) -> None:
        self.acknowledged.append(comment_id)

    async def open_change_request(self, wanted: NewChangeRequest) -> ChangeRequest:
        if wanted.head not in [request.head for request in self.requests]:
            self.requests.append(wanted)
            self.is_draft = wanted.draft and self.has_drafts
        url = f"http://forge.example/{wanted.home.repository}/pull/2"
        draft = bool(self.is_draft)
        return ChangeRequest(number=2, url=url, head=wanted.head, base=wanted.base, is_open=True, is_draft=draft)

    async def edit_comment(self, issue: IssueAddress, comment_id: str, body: str, key: str) -> Comment | None:
        self.edited += 1
        if self.refuses_edits:
            raise WillNeverWork("The conversation is locked.")
        comment = await self.read_comment(issue, comment_id)
        return comment and self.edits(comment, f"{body}\n\n{MARKER_PREFIX}{key} -->")

    async def reconcile_comment(self, issue: IssueAddress, key: str) -> int:
        self.reconciled.append(key)
        self.reconciled_at.append(issue)
        if self.refuses:
            raise self.refuses
        return 0

    async def find_change_request(self, home: RepositoryAddress, head: str) -> ChangeRequest | None:
        wanted = [request for request in self.requests if request.head == head]
        return await self.open_change_request(wanted[0]) if wanted else None

    async def update_change_request(self, home: RepositoryAddress, number: int, title: str, body: str) -> ChangeRequest:
        self.bodies.append(body)
        self.titles.append(title)
        return ChangeRequest(number=number, url="", head="", base="", is_open=True)

    async def set_draft(self, home: RepositoryAddress, number: int, *, draft: bool) -> ChangeRequest:
        self.standings += [draft] if draft != self.is_draft else []
        self.is_draft = draft and self.has_drafts
        return ChangeRequest(number=number, url="", head="", base="", is_open=True, is_draft=self.is_draft)

    async def ensure_branch(self, home: RepositoryAddress, name: str, from_ref: str) -> None:
        pass

    async def read_base(self, home: RepositoryAddress) -> Base:
        return Base(branch="main", commit="b" * 40)

    async def has_commits(self, home: RepositoryAddress, branch: str, base: str) -> bool:
        return False

    async def list_change_requests(self, home: RepositoryAddress) -> list[Issue]:
        return []

    async def git_remote(self, home: RepositoryAddress) -> GitRemote:
        return GitRemote(url="http://forge.example/r.git", username="x", token=SecretStr("t"), default_branch="main")


Script = Callable[[Transcript], Sequence[tuple[str, Mapping[str, Any]]] | str]


class FakeModel:
    """Says what its script makes of the transcript, and counts how often it was asked."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.transcripts: list[Transcript] = []
        self.may_speak = asyncio.Event()
        self.may_speak.set()
        self.silent_in: str | None = None
        """The purpose of the conversation in which it falls silent until it may speak, once."""
        self.refuses: Exception | None = None
        self.costs: Decimal | None = None
        self.refuses_once: Exception | None = None
        self.refuses_after_tools: Exception | None = None

    async def reply(self, transcript: Transcript) -> Reply:
        self.transcripts.append(transcript)
        if transcript.purpose == self.silent_in:
            self.may_speak.clear()
            self.silent_in = None
        await self.may_speak.wait()
        if self.refuses:
            raise self.refuses
        if self.refuses_after_tools and transcript.turns[-1].content[0]["type"] == "tool_result":
            raise self.refuses_after_tools
        if refusal := self.refuses_once:
            self.refuses_once = None
            raise refusal
        said = self.script(transcript)
        calls, text = ((), said) if isinstance(said, str) else (said, "Hmm.")
        turn = len(transcript.turns)
        blocks = [
            {"type": "tool_use", "id": f"call-{turn}-{n}", "name": name, "input": dict(given)}
            for n, (name, given) in enumerate(calls)
        ]
        answer = Turn.model_validate({"role": "assistant", "content": blocks or [{"type": "text", "text": text}]})
        usage = Usage(input_tokens=10, output_tokens=5)
        return Reply(turn=answer, stop_reason="tool_use", model="fake", usage=usage, cost_usd=self.costs)


class FakeSummarist:
    """Closes the records of sessions, where it was given something to say."""

    def __init__(self) -> None:
        self.says = ""
        self.records: list[Transcript] = []

    async def reply(self, transcript: Transcript) -> Reply:
        self.records.append(transcript)
        if not self.says:
            raise WillNeverWork("The summary model is away.")
        usage = Usage(input_tokens=10, output_tokens=5)
        return Reply(turn=Turn.of_text("assistant", self.says), stop_reason="end_turn", model="fake", usage=usage)


def submits_after(rounds: int) -> Script:
    """A model that runs a command a number of times after each request, then submits."""

    def script(transcript: Transcript) -> Sequence[tuple[str, Mapping[str, Any]]]:
        since = 0
        for turn in reversed(transcript.turns):
            if turn.role == "user" and turn.text:
                break
            since += turn.role == "assistant"
        if since < rounds:
            return [("run", {"command": f"step {since}"})]
        return [("submit", {"status": "done", "summary": "Fixed it.", "evidence": "tests pass"})]

    return script


class FakeWorkshop:
    """Checkouts and tools in one, where each carried-out call changes a file."""

    def __init__(self) -> None:
        self.carried_out: list[str] = []
        self.published: list[Commit] = []
        self.prepared = 0
        self.checks: list[CheckRun] = [CheckRun(command="make test", exit_code=0)]
        self.placeholders: list[Placeholder] = []
        self.touched: list[str] = []
        self.verified: list[str] = []
        self.asks = ""
        """What the repository's instruction files say."""
        self.refuses: Exception | None = None

    async def prepare(self, issue: IssueAddress, remote: GitRemote, branch: str) -> None:
        self.prepared += 1
        if self.refuses:
            raise self.refuses

    async def publish(self, issue: IssueAddress, remote: GitRemote, branch: str, commit: Commit) -> Published:
        self.published.append(commit)
        digest = hashlib.sha256(repr(self.carried_out).encode()).hexdigest()[:40]
        return Published(commit=digest, files_changed=1, insertions=2, deletions=1)

    async def verify(self, issue: IssueAddress, remote: GitRemote, commit: str, commands: tuple[str, ...]) -> Verified:
        self.verified.append(commit)
        return Verified(
            commit=commit,
            checks=tuple(self.checks),
            placeholders=tuple(self.placeholders),
            touches_instructions=tuple(self.touched),
        )

    async def instructions(self, issue: IssueAddress, remote: GitRemote) -> str:
        return self.asks

    async def sweep(self, now: datetime, keep: timedelta, under_way: Collection[IssueAddress] = ()) -> list[str]:
        return []

    async def intend(self, issue: IssueAddress, call: ToolCall, seen: Mapping[str, str]) -> Intent | ToolOutcome:
        return Intent(call=call, repeatable=call.name != "run")

    async def carry_out(self, issue: IssueAddress, intent: Intent) -> ToolOutcome:
        if intent.call.name == "run":
            self.carried_out.append(str(intent.call.input["command"]))
        return ToolOutcome(text="done")
