"""Everything the stories need from the outside, as small protocols; adapters implement them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from pydantic import JsonValue

from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.conversation import Opening, Reply, Transcript, Turn
from hikitsugi.domain.handover import Context
from hikitsugi.domain.issue import Base, ChangeRequest, Comment, GitRemote, Issue, IssueNews, NewChangeRequest
from hikitsugi.domain.life import IssueFacts
from hikitsugi.domain.records import FailedCall, PhaseResult, RecordedCall, RecordedRun, Task
from hikitsugi.domain.tools import Intent, ToolCall, ToolOutcome
from hikitsugi.domain.value import Value
from hikitsugi.domain.verification import Verified
from hikitsugi.domain.workspace import Commit, Published

Cursor = dict[str, JsonValue]


class Sighting(Value):
    """What changed in a repository since the last look, and from where to look next."""

    news: tuple[IssueNews, ...]
    cursor: Cursor


class Forge(Protocol):
    """A GitHub or GitLab server. Every writing verb has the same effect once or twice."""

    async def whoami(self) -> str:
        """The name we are called by: the configured one, or the one our token acts as."""
        ...

    async def our_names(self) -> frozenset[str]:
        """Every user name our words may stand under, in lower case; none where the forge does not tell."""
        ...

    async def look(self, home: RepositoryAddress, cursor: Cursor | None) -> Sighting:
        """Issues and comments changed since the cursor; with None, the open issues and a first cursor."""
        ...

    async def list_open_issues(self, home: RepositoryAddress) -> list[Issue]:
        """All open issues, read in an order that their changes do not disturb."""
        ...

    async def read_issue(self, issue: IssueAddress) -> Issue:
        """The issue as it stands now."""
        ...

    async def read_comments(self, issue: IssueAddress, *, on_lines: bool = False) -> list[Comment]:
        """All comments of the conversation, oldest first; those on lines of a request where wanted here or for all."""
        ...

    async def read_comment(self, issue: IssueAddress, comment_id: str) -> Comment | None:
        """The comment as it stands now; None when it is not there any more."""
        ...

    async def may_write(self, home: RepositoryAddress, user: str) -> bool:
        """Whether a person maintains the repository; False when that cannot be read."""
        ...

    async def post_comment(self, issue: IssueAddress, body: str, key: str) -> Comment:
        """Write a comment that ends with the hidden marker for `key`, unless ours is there already."""
        ...

    async def edit_comment(self, issue: IssueAddress, comment_id: str, body: str, key: str) -> Comment | None:
        """Replace the text of a comment of ours, which keeps its marker; None when it is not there any more."""
        ...

    async def reconcile_comment(self, issue: IssueAddress, key: str) -> int:
        """Take back late duplicates of our comment with this marker, the first stays; how many there were."""
        ...

    async def change_labels(self, issue: IssueAddress, add: Collection[str], remove: Collection[str]) -> None:
        """Put labels on and take labels off; labels not named stay untouched."""
        ...

    async def acknowledge(self, issue: IssueAddress, comment_id: str) -> None:
        """Show on a comment that it was taken in (👀)."""
        ...

    async def open_change_request(self, wanted: NewChangeRequest) -> ChangeRequest:
        """The open change request from the head branch, made if there is none; no draft where there are none."""
        ...

    async def find_change_request(self, home: RepositoryAddress, head: str) -> ChangeRequest | None:
        """The change request from a branch of the repository: the open one, else the latest."""
        ...

    async def update_change_request(self, home: RepositoryAddress, number: int, title: str, body: str) -> ChangeRequest:
        """Give a change request another title and text; a draft stays one."""
        ...

    async def set_draft(self, home: RepositoryAddress, number: int, *, draft: bool) -> ChangeRequest:
        """Make a change request a draft, or ready for review; one that the forge will not change stays as it is."""
        ...

    async def ensure_branch(self, home: RepositoryAddress, name: str, from_ref: str) -> None:
        """Make a branch where another branch or a commit is; one that is there stays where it is."""
        ...

    async def read_base(self, home: RepositoryAddress) -> Base:
        """The default branch and its newest commit."""
        ...

    async def has_commits(self, home: RepositoryAddress, branch: str, base: str) -> bool:
        """Whether a branch holds commits beyond another; one that is not there holds none."""
        ...

    async def list_change_requests(self, home: RepositoryAddress) -> list[Issue]:
        """The open change requests from branches of the repository itself."""
        ...

    async def git_remote(self, home: RepositoryAddress) -> GitRemote:
        """Where to clone from and push to."""
        ...


class LanguageModel(Protocol):
    """A model that continues a conversation."""

    async def reply(self, transcript: Transcript) -> Reply:
        """The next turn."""
        ...


class Memory(Protocol):
    """The store of conversations and tool runs. Writing the same fact again changes nothing."""

    async def open_conversation(self, opening: Opening) -> int:
        """Store an opening with its comments as taken in, unless its id is known; the number of turns it holds."""
        ...

    async def read_conversation(self, conversation: str) -> Transcript:
        """System text, tools and all turns."""
        ...

    async def append(self, conversation: str, sequence: int, turn: Turn) -> Turn:
        """Store a turn under its number, unless one is there; the turn that is stored."""
        ...

    async def append_reply(self, conversation: str, sequence: int, reply: Reply) -> Reply:
        """Store a model's reply under its number, unless one is there; the reply that is stored."""
        ...

    async def find_turn(self, conversation: str, sequence: int) -> Turn | None:
        """The turn stored under a number, if any."""
        ...

    async def find_reply(self, conversation: str, sequence: int) -> Reply | None:
        """The model's reply stored under a number, if any."""
        ...

    async def comments_taken_in(self, issue: IssueAddress) -> frozenset[str]:
        """The versions of the comments the model was given in any conversation of the issue."""
        ...

    async def take_in_comments(self, issue: IssueAddress, conversation: str, versions: Collection[str]) -> None:
        """Remember that the model was given these versions of comments."""
        ...

    async def keep_comments(self, issue: IssueAddress, comments: Collection[Comment]) -> None:
        """Keep comments that no forge has, each in its newest text, until the model is told."""
        ...

    async def kept_comments(self, issue: IssueAddress, ids: Collection[str]) -> dict[str, Comment]:
        """Comments that were kept, by id."""
        ...

    async def find_tool_run(self, conversation: str, call_id: str) -> "ToolRun | None":
        """What is known of a tool call, if it was ever begun."""
        ...

    async def begin_tool_run(self, conversation: str, intent: Intent) -> "ToolRun | None":
        """Record what a call is about to do, unless it was ever begun; what is known of it then."""
        ...

    async def finish_tool_run(self, conversation: str, call_id: str, outcome: ToolOutcome) -> None:
        """Record what came of it."""
        ...

    async def files_seen(self, conversation: str) -> dict[str, str]:
        """Path to content hash of every file the model has read or written in this conversation."""
        ...

    async def carry_files(self, conversation: str, into: str) -> None:
        """Let another conversation know the files seen in this one, where it knows nothing newer of them."""
        ...


class Records(Protocol):
    """What was done on an issue, session by session. Writing the same fact again changes nothing."""

    async def begin_task(self, task: Task) -> None:
        """Record that a session runs."""
        ...

    async def tasks(self, issue: IssueAddress) -> list[Task]:
        """The sessions of the issue, oldest first."""
        ...

    async def record_phase(
        self, issue: IssueAddress, session: int, phase: str, sequence: int, result: Mapping[str, JsonValue]
    ) -> None:
        """Keep what a phase of planned work came to, unless something is kept under its number."""
        ...

    async def phase_results(self, issue: IssueAddress) -> list[PhaseResult]:
        """The results of all phases of all sessions of the issue, oldest first."""
        ...

    async def record_summary(self, issue: IssueAddress, session: int, sequence: int, text: str) -> None:
        """Keep a summary made within a session, unless one is kept under its number."""
        ...

    async def summaries(self, issue: IssueAddress, session: int) -> list[str]:
        """The summaries made within a session, oldest first."""
        ...

    async def model_calls(self, issue: IssueAddress, session: int) -> list[RecordedCall]:
        """The calls of the model in a session, oldest first."""
        ...

    async def tool_runs(self, issue: IssueAddress) -> list[RecordedRun]:
        """The tool runs of all sessions of the issue, oldest first."""
        ...

    async def failed_runs(self, issue: IssueAddress, session: int) -> list[RecordedRun]:
        """The tool runs of a session that ended in an error, oldest first."""
        ...

    async def record_failed_call(self, conversation: str, sequence: int, attempt: int, message: str) -> None:
        """Keep why the model could not be called for a turn, unless something is kept for this attempt."""
        ...

    async def failed_calls(self, issue: IssueAddress, session: int) -> list[FailedCall]:
        """The failed calls of the model in a session, oldest first."""
        ...

    async def conversations(self, issue: IssueAddress) -> list[str]:
        """The ids of the conversations about the issue, oldest first."""
        ...

    async def keep_context(self, context: Context) -> Context:
        """Keep what a session leaves behind and close its task, unless that was done; the context that is kept."""
        ...

    async def find_context(self, issue: IssueAddress, since: datetime) -> Context | None:
        """The newest context of a completed or stopped session that ended no earlier; None if it is unreadable."""
        ...

    async def read_context(self, issue: IssueAddress, context_id: str) -> Context | None:
        """The context under an id; None where it is not there, unreadable or another issue's."""
        ...

    async def forget(self, issue: IssueAddress) -> int:
        """Remove everything of the issue; how many sessions there were."""
        ...

    async def expire(self, before: datetime, under_way: Collection[IssueAddress]) -> int:
        """Remove everything of sessions that ended before a time, or began before it and never came to an end.

        Those of issues that are still under way stay; how many went.
        """
        ...


class ToolRun(Value):
    """A recorded tool call; without an outcome it was cut off."""

    intent: Intent
    outcome: ToolOutcome | None = None


class Workspaces(Protocol):
    """Checkouts on this host, one per issue."""

    async def prepare(self, issue: IssueAddress, remote: GitRemote, branch: str) -> None:
        """Make sure the issue's checkout exists on its work branch; uncommitted work in it is kept."""
        ...

    async def publish(self, issue: IssueAddress, remote: GitRemote, branch: str, commit: Commit) -> Published:
        """Commit whatever changed, push the branch, and tell what it holds."""
        ...

    async def verify(self, issue: IssueAddress, remote: GitRemote, commit: str, commands: tuple[str, ...]) -> Verified:
        """Run the given, else the configured, else the usual checks on exactly a pushed commit in a fresh tree."""
        ...

    async def instructions(self, issue: IssueAddress, remote: GitRemote) -> str:
        """What the repository's base branch asks of agents, without what nobody sees."""
        ...

    async def sweep(self, now: datetime, keep: timedelta, under_way: Collection[IssueAddress] = ()) -> list[str]:
        """Remove what was not used for so long by issues that are not under way; what was done, as sentences."""
        ...


class Toolbox(Protocol):
    """The tools the model works with in a checkout."""

    async def intend(self, issue: IssueAddress, call: ToolCall, seen: Mapping[str, str]) -> Intent | ToolOutcome:
        """Check a call against the checkout: what it would do, or at once the error to answer with."""
        ...

    async def carry_out(self, issue: IssueAddress, intent: Intent) -> ToolOutcome:
        """Do what was intended; a file change that is already there is not made again."""
        ...


class Deliveries(Protocol):
    """The way from the watcher to the workflows."""

    async def deliver(
        self, issue: IssueAddress, facts: IssueFacts | None, comments: Sequence[Comment], *, start: bool
    ) -> bool:
        """Signal the issue's workflow; with `start`, bring it to life if there is none. False when nobody was there."""
        ...

    async def revive(self, issue: IssueAddress) -> None:
        """Bring the issue's workflow to life if there is none; one that lives is not disturbed."""
        ...


class Household(Protocol):
    """What housekeeping has to know beyond its own host."""

    async def under_way(self) -> Collection[IssueAddress]:
        """The issues in the middle of a session."""
        ...

    async def dismiss(self, host: str) -> None:
        """Do not keep house for a host any more, until it comes back."""
        ...


class Doorbell(Protocol):
    """The way from whoever hears of news to the watcher."""

    async def rung(self, home: RepositoryAddress) -> None:
        """Wait until somebody rings for a repository."""
        ...
