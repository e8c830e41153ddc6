"""What we read of GitHub's answers, and what it is called in our house."""

import re

from pydantic import AwareDatetime, BaseModel, Field, JsonValue, SecretStr

from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress
from hikitsugi.domain.issue import GHOST, ChangeRequest, Comment, GitRemote, Issue, wording_of
from hikitsugi.forges.payloads import ListedPayload, git_remote, on_line

REVIEW = "review:"
_ON_PULL = re.compile(r"/pull/[0-9]+(?:#|$)")


class UserPayload(BaseModel):
    """Somebody with an account."""

    login: str


class LabelPayload(BaseModel):
    """A label on an issue."""

    name: str


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
            wording=wording_of(self.body or ""),
        )

    def address(self, home: RepositoryAddress) -> IssueAddress:
        """The issue or pull request it was written on."""
        kind = Kind.PULL_REQUEST if _ON_PULL.search(self.html_url) else Kind.ISSUE
        return IssueAddress(**home.model_dump(), kind=kind, number=int(self.issue_url.rpartition("/")[2]))


class ReviewCommentPayload(CommentPayload):
    """A comment on a line of a pull request; its number says nothing among those of the conversation."""

    issue_url: str = Field(pattern=r"/[1-9][0-9]*$", alias="pull_request_url")
    path: str
    original_line: int | None = None

    def comment(self) -> Comment:
        """The comment as the house knows it, with the line it is about."""
        body = on_line(self.body or "", self.path, self.original_line)
        return super().comment().model_copy(update={"id": f"{REVIEW}{self.id}", "body": body})


class HomePayload(BaseModel):
    """Where a branch lies."""

    id: int


class BranchPayload(BaseModel):
    """One end of a pull request; a fork that was deleted has no home."""

    ref: str
    repo: HomePayload | None = None


class ComparisonPayload(BaseModel):
    """What one branch has beyond another."""

    ahead_by: int


class PullPayload(BaseModel):
    """A pull request."""

    number: int
    node_id: str
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
            is_from_fork=self.head.repo != self.base.repo,
        )


class ListedPullPayload(PullPayload, IssuePayload):
    """A pull request in the list of pull requests, told as fully as an issue."""

    def issue(self, home: RepositoryAddress) -> Issue:
        """The request as the house knows it, with its branches."""
        seen = super().issue(home)
        address = seen.address.model_copy(update={"kind": Kind.PULL_REQUEST})
        return seen.model_copy(update={"address": address, "request": self.change_request()})


class RepositoryPayload(BaseModel):
    """A repository."""

    clone_url: str
    default_branch: str

    def git_remote(self, api_url: str, token: SecretStr) -> GitRemote:
        """Where git goes with the token; never without TLS when the API is asked with it."""
        return git_remote(self.clone_url, "x-access-token", token, self.default_branch, api_url)


class PermissionPayload(BaseModel):
    """What somebody may do in a repository."""

    permission: str
    role_name: str | None = None


class CommitPayload(BaseModel):
    """What a branch points at."""

    sha: str


class RefPayload(BaseModel):
    """A branch as git knows it."""

    object: CommitPayload


def _login(user: UserPayload | None) -> str:
    return user.login if user else GHOST
