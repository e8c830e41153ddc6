"""What the development forge keeps: frozen facts, replaced when they change."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum


class Permission(StrEnum):
    """What a person may do in a repository."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@dataclass(frozen=True)
class Person:
    """Somebody with an account; the token is both the API token and the git password."""

    id: int
    login: str
    token: str = field(repr=False)
    permission: Permission = field(default=Permission.WRITE, compare=False)
    is_bot: bool = False
    is_app: bool = False
    joined_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def may_write(self) -> bool:
        """Whether this person may push, label, assign and merge."""
        return self.permission in {Permission.WRITE, Permission.ADMIN}


@dataclass(frozen=True)
class Label:
    """A label that issues of one repository may carry."""

    id: int
    name: str
    color: str
    description: str = ""


@dataclass(frozen=True)
class Reaction:
    """One person's emoji on a comment."""

    id: int
    author: Person
    content: str
    created_at: datetime


@dataclass(frozen=True)
class Comment:
    """One comment on an issue or pull request."""

    id: int
    number: int
    author: Person
    body: str
    created_at: datetime
    updated_at: datetime
    reactions: tuple[Reaction, ...] = ()
    is_system: bool = False


@dataclass(frozen=True)
class Merge:
    """How a pull request ended in its base branch."""

    commit: str
    by: Person
    at: datetime


@dataclass(frozen=True)
class Pull:
    """What makes an issue a pull request; the commits are those last seen while it was open."""

    head: str
    base: str
    head_commit: str
    base_commit: str
    is_draft: bool = False
    merge: Merge | None = None
    approved_by: tuple[Person, ...] = ()
    is_from_fork: bool = False


@dataclass(frozen=True)
class Issue:
    """An issue or, with `pull`, a pull request."""

    id: int
    number: int
    title: str
    body: str
    author: Person
    created_at: datetime
    updated_at: datetime
    labels: tuple[str, ...] = ()
    assignees: tuple[Person, ...] = ()
    closed_at: datetime | None = None
    closed_by: Person | None = None
    reason: str | None = None
    pull: Pull | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has closed it."""
        return self.closed_at is None


@dataclass(frozen=True)
class Edit:
    """Changes to an issue; what is None stays as it is."""

    title: str | None = None
    body: str | None = None
    is_open: bool | None = None
    reason: str | None = None
    labels: tuple[str, ...] | None = None
    assignees: tuple[Person, ...] | None = None


class Verdict(StrEnum):
    """What a review comes to."""

    COMMENT = "COMMENTED"
    APPROVE = "APPROVED"
    REQUEST_CHANGES = "CHANGES_REQUESTED"


@dataclass(frozen=True)
class Review:
    """One person's judgement of a pull request."""

    id: int
    number: int
    author: Person
    body: str
    verdict: Verdict
    commit: str
    submitted_at: datetime


@dataclass(frozen=True)
class Remark:
    """One comment on a line of a pull request."""

    id: int
    review_id: int
    number: int
    author: Person
    body: str
    path: str
    line: int | None
    commit: str
    created_at: datetime
    updated_at: datetime
    side: str = "RIGHT"
    in_reply_to: int | None = None


class Deed(StrEnum):
    """What somebody did."""

    OPENED = "opened"
    CHANGED = "changed"
    COMMENTED = "commented"
    REWORDED = "reworded"
    WITHDREW = "withdrew"
    PUSHED = "pushed"
    REVIEWED = "reviewed"
    REMARKED = "remarked"


@dataclass(frozen=True)
class Entry:
    """One thing that happened, with the issue before and after it."""

    id: int
    at: datetime
    deed: Deed
    by: Person
    after: Issue
    before: Issue | None = None
    comment: Comment | None = None
    comment_before: Comment | None = None
    review: Review | None = None
    remark: Remark | None = None

    @property
    def labels_added(self) -> tuple[str, ...]:
        """The labels that came."""
        had = self.before.labels if self.before else ()
        return tuple(name for name in self.after.labels if name not in had)

    @property
    def labels_removed(self) -> tuple[str, ...]:
        """The labels that went."""
        had = self.before.labels if self.before else ()
        return tuple(name for name in had if name not in self.after.labels)

    @property
    def assigned(self) -> tuple[Person, ...]:
        """The people who were put on it."""
        had = self.before.assignees if self.before else ()
        return tuple(somebody for somebody in self.after.assignees if somebody not in had)

    @property
    def unassigned(self) -> tuple[Person, ...]:
        """The people who were taken off it."""
        had = self.before.assignees if self.before else ()
        return tuple(somebody for somebody in had if somebody not in self.after.assignees)


@dataclass(frozen=True)
class Call:
    """One answered HTTP request, for counting."""

    method: str
    path: str
    query: str
    status: int
