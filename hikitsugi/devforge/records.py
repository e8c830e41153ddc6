"""What the development forge keeps: frozen facts, replaced when they change."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum


class Permission(StrEnum):
    """What a person may do in every repository of this forge."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@dataclass(frozen=True)
class Person:
    """Somebody with an account; the token is both the API token and the git password."""

    id: int
    login: str
    token: str = field(repr=False)
    permission: Permission = Permission.WRITE
    is_bot: bool = False
    joined_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def may_write(self) -> bool:
        """Whether this person may push, label, assign and merge."""
        return self.permission is not Permission.READ


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


@dataclass(frozen=True)
class Issue:
    """An issue or, with `pull`, a pull request: both share one sequence of numbers."""

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


@dataclass(frozen=True)
class Call:
    """One answered HTTP request, for counting."""

    method: str
    path: str
    query: str
    status: int
