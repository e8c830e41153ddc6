"""What we read of GitHub's answers, and what it is called in our house."""

import logging
from collections.abc import Iterable
from hashlib import blake2s
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import AwareDatetime, BaseModel, Field, JsonValue, SecretStr, ValidationError

from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import ChangeRequest, Comment, GitRemote, Issue
from hikitsugi.forges.feed import Version

_log = logging.getLogger(__name__)

M = TypeVar("M", bound=BaseModel)

GHOST = "ghost"


class UserPayload(BaseModel):
    """Somebody with an account."""

    login: str


class LabelPayload(BaseModel):
    """A label on an issue."""

    name: str


class ListedPayload(BaseModel):
    """Something that stands in a list sorted by its last change."""

    id: int
    updated_at: AwareDatetime

    @property
    def version(self) -> Version:
        """Its state; GitHub counts whole seconds, in which much can change, so what we read is marked."""
        return Version(self.updated_at, blake2s(self.model_dump_json().encode(), digest_size=6).hexdigest())


class IssuePayload(ListedPayload):
    """An issue, or a pull request in the list of issues."""

    number: int
    title: str
    body: str | None = None
    state: str
    html_url: str
    user: UserPayload | None = None
    labels: tuple[LabelPayload | str, ...] = ()
    assignees: tuple[UserPayload, ...] | None = None
    pull_request: dict[str, JsonValue] | None = None

    def issue(self, home: RepositoryAddress) -> Issue:
        """The issue as the house knows it."""
        kind = Kind.PULL_REQUEST if self.pull_request is not None else Kind.ISSUE
        return Issue(
            address=IssueAddress(**home.model_dump(), kind=kind, number=self.number),
            title=self.title,
            body=self.body or "",
            author=_login(self.user),
            url=self.html_url,
            is_open=self.state == "open",
            labels=tuple(label if isinstance(label, str) else label.name for label in self.labels),
            assignees=tuple(user.login for user in self.assignees or ()),
            updated_at=self.updated_at,
        )


class CommentPayload(ListedPayload):
    """A comment of a conversation."""

    body: str | None = None
    html_url: str
    issue_url: str = Field(pattern=r"/[1-9][0-9]*$")
    created_at: AwareDatetime
    user: UserPayload | None = None
    author_association: str | None = None

    def comment(self) -> Comment:
        """The comment as the house knows it."""
        return Comment(
            id=str(self.id),
            author=_login(self.user),
            body=self.body or "",
            created_at=self.created_at,
            updated_at=self.updated_at,
            url=self.html_url,
            author_role=self.author_association,
        )

    def address(self, home: RepositoryAddress) -> IssueAddress:
        """The issue or pull request it was written on."""
        kind = Kind.PULL_REQUEST if "/pull/" in self.html_url else Kind.ISSUE
        return IssueAddress(**home.model_dump(), kind=kind, number=int(self.issue_url.rpartition("/")[2]))


class BranchPayload(BaseModel):
    """One end of a pull request."""

    ref: str


class PullPayload(BaseModel):
    """A pull request."""

    number: int
    html_url: str
    state: str
    draft: bool = False
    head: BranchPayload
    base: BranchPayload

    def change_request(self) -> ChangeRequest:
        """The change request as the house knows it."""
        return ChangeRequest(
            number=self.number,
            url=self.html_url,
            head=self.head.ref,
            base=self.base.ref,
            is_open=self.state == "open",
            is_draft=self.draft,
        )


class RepositoryPayload(BaseModel):
    """A repository."""

    clone_url: str
    default_branch: str

    def git_remote(self, api_url: str, token: SecretStr) -> GitRemote:
        """Where git goes with the token; never without TLS when the API is asked with it."""
        if urlsplit(api_url).scheme == "https" != urlsplit(self.clone_url).scheme:
            raise WillNeverWork(
                f"{self.clone_url} is no https address: the token is not sent there, check forges[].url."
            )
        return GitRemote(url=self.clone_url, username="x-access-token", token=token, default_branch=self.default_branch)


class PermissionPayload(BaseModel):
    """What somebody may do in a repository."""

    permission: str
    role_name: str | None = None


def readable(model: type[M], entries: Iterable[JsonValue]) -> list[M]:
    """The entries that make sense; a malformed one is left out with a warning, the others go on."""
    read: list[M] = []
    for entry in entries:
        try:
            read.append(model.model_validate(entry))
        except ValidationError as error:
            id_ = entry.get("id") if isinstance(entry, dict) else None
            fields = ", ".join(".".join(map(str, problem["loc"])) for problem in error.errors(include_input=False))
            _log.warning("left out a malformed %s with id %s: %s", model.__name__, id_, fields)
    return read


def _login(user: UserPayload | None) -> str:
    return user.login if user else GHOST
