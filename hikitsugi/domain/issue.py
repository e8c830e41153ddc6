"""What a forge tells about an issue, its comments and its change request."""

from datetime import datetime
from hashlib import blake2s

from pydantic import Field, SecretStr

from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress
from hikitsugi.domain.value import Value

MARKER_PREFIX = "<!-- hikitsugi:"
OPERATOR = "operator"
GHOST = "ghost"
"""Stands for everybody whose account was deleted."""
_LONGEST_NAME = 300
_LONGEST_ADDRESS = 3000
_WORDED = "@#"


def wording_of(text: str) -> str:
    """Names a text: another one has another name."""
    return blake2s(text.encode(errors="replace"), digest_size=6).hexdigest()


class Issue(Value):
    """An issue, pull request or merge request as the forge shows it now."""

    address: IssueAddress
    title: str
    body: str
    author: str
    url: str
    is_open: bool
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    updated_at: datetime
    request: "ChangeRequest | None" = None
    """Its branches, where it is a request and that was asked for."""


class Comment(Value):
    """One comment of a conversation; ids are strings on every forge."""

    id: str = Field(coerce_numbers_to_str=True, max_length=_LONGEST_NAME)
    author: str = Field(max_length=_LONGEST_NAME)
    body: str
    created_at: datetime | None = None
    updated_at: datetime | None = None
    url: str | None = Field(default=None, max_length=_LONGEST_ADDRESS)
    author_role: str | None = Field(default=None, max_length=_LONGEST_NAME)
    place: IssueAddress | None = None
    """Where it was written, if not on the issue itself but on the request we opened for it."""
    watched: bool = False
    """Whether the watcher saw it on the forge; then one that is no longer there was deleted."""
    is_cut: bool = False
    """Whether only the beginning of its text is here."""
    length: int = 0
    """How many characters its whole text has, where only the beginning is here."""
    edited: bool = False
    """Whether the model was given an earlier text of it."""
    closing: bool | None = None
    """Whether it says nothing but that all is well, where whoever read it has judged that."""
    wording: str = Field(default="", max_length=_LONGEST_NAME)
    """Names its text, where it comes from a forge."""

    @property
    def version(self) -> str:
        """Names this very text: another edit has another name."""
        return f"{self.id}@{self.at}"

    @property
    def names(self) -> frozenset[str]:
        """Its version, and its text whenever that was written: a forge may touch a comment that nobody edits."""
        return frozenset({self.version, f"{self.id}{_WORDED}{self.wording}"} if self.wording else {self.version})

    @property
    def at(self) -> str:
        """When its text was last changed, in a form that sorts."""
        return self.updated_at.isoformat() if self.updated_at else ""

    @property
    def size(self) -> int:
        """How many characters its whole text has."""
        return self.length or len(self.body)

    @property
    def without_text(self) -> "Comment":
        """Itself, but for a text that can be read on the forge; what tells it as ours stays."""
        if not self.watched:
            return self
        return self.model_copy(update={"body": self.mark if self.is_ours else "", "length": self.size})

    @property
    def mark(self) -> str:
        """Its last line."""
        return (self.body.rstrip().splitlines() or [""])[-1]

    @property
    def is_ours(self) -> bool:
        """Whether its last line is the hidden marker that each of our comments ends with."""
        return self.mark.startswith(MARKER_PREFIX)

    @property
    def is_operators(self) -> bool:
        """Whether an operator sent it directly, past the forge."""
        return self.id.startswith(f"{OPERATOR}:") and self.author == OPERATOR


def is_version(name: str) -> bool:
    """Whether a name of a comment tells when its text was written."""
    return _WORDED not in name


class IssueNews(Value):
    """What the watcher saw of one issue: how it stands now, and comments not delivered before."""

    issue: Issue | None = None
    address: IssueAddress
    comments: tuple[Comment, ...] = ()


class NewChangeRequest(Value):
    """A pull or merge request that should exist."""

    home: RepositoryAddress
    head: str
    base: str
    title: str
    body: str
    draft: bool = False


class ChangeRequest(Value):
    """A pull or merge request as the forge shows it."""

    number: int
    url: str
    head: str
    base: str
    is_open: bool
    is_draft: bool = False
    is_from_fork: bool = False
    """Whether its branch lies in somebody else's copy of the repository, where we cannot push."""
    kind: Kind = Kind.PULL_REQUEST


class Base(Value):
    """Where work starts from: the default branch and its newest commit."""

    branch: str
    commit: str


class GitRemote(Value):
    """Where a repository is cloned from and pushed to; the token never travels further than this process."""

    url: str
    username: str
    token: SecretStr
    default_branch: str
