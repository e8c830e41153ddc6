"""What we read of GitLab's answers, and what it is called in our house."""

from pydantic import AliasChoices, AwareDatetime, BaseModel, Field, SecretStr

from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import GHOST, ChangeRequest, Comment, GitRemote, Issue, wording_of
from hikitsugi.forges.payloads import ListedPayload, git_remote, on_line

DEVELOPER = 30
_OPEN = frozenset({"opened", "locked"})  # Locked is a merge request while it is being merged.


class UserPayload(BaseModel):
    """Somebody with an account."""

    id: int
    username: str


class JobPayload(BaseModel):
    """A CI job, and who runs it."""

    user: UserPayload


class MemberPayload(BaseModel):
    """What somebody may do in a project."""

    access_level: int


class NoteablePayload(ListedPayload):
    """An issue or a merge request."""

    iid: int
    title: str
    description: str | None = None
    state: str
    web_url: str
    author: UserPayload | None = None
    labels: tuple[str, ...] = ()
    assignees: tuple[UserPayload, ...] | None = None
    user_notes_count: int

    def issue(self, home: RepositoryAddress, kind: Kind) -> Issue:
        """The issue as the house knows it."""
        return Issue(
            address=IssueAddress(**home.model_dump(), kind=kind, number=self.iid),
            title=self.title,
            body=self.description or "",
            author=_username(self.author),
            url=self.web_url,
            is_open=self.state in _OPEN,
            labels=self.labels,
            assignees=tuple(user.username for user in self.assignees or ()),
            updated_at=self.updated_at,
        )


class PositionPayload(BaseModel):
    """A line of a merge request; one that was taken out has only an old number."""

    new_path: str | None = None
    new_line: int | None = None
    old_line: int | None = None


class NotePayload(ListedPayload):
    """A note: what somebody said, or what GitLab noted down itself."""

    body: str | None = None
    system: bool
    created_at: AwareDatetime
    author: UserPayload | None = None
    # GitLab moves the place of a note with each push, which is no edit.
    type: str | None = Field(default=None, exclude=True)
    position: PositionPayload | None = Field(default=None, exclude=True)
    internal: bool = Field(default=False, exclude=True, validation_alias=AliasChoices("internal", "confidential"))

    def is_said(self, *, on_lines: bool) -> bool:
        """Whether a person said it, in the conversation or, where that counts, on a line.

        An internal note is not said to everybody, but our answer would be.
        """
        return not self.system and not self.internal and (on_lines or self.type != "DiffNote")

    def comment(self, page: str) -> Comment:
        """The comment as the house knows it, on a page of the site."""
        return Comment(
            id=str(self.id),
            author=_username(self.author),
            body=self._text(),
            created_at=self.created_at,
            updated_at=self.updated_at,
            url=f"{page}#note_{self.id}",
            wording=wording_of(self.body or ""),
        )

    def _text(self) -> str:
        at = self.position or PositionPayload()
        return on_line(self.body or "", at.new_path, at.new_line or at.old_line)


class MergeRequestPayload(BaseModel):
    """A merge request."""

    iid: int
    title: str
    web_url: str
    state: str
    draft: bool = False
    source_branch: str
    target_branch: str
    source_project_id: int | None = None
    target_project_id: int | None = None

    @property
    def is_from_fork(self) -> bool:
        """Whether its branch lies in another project."""
        return self.source_project_id != self.target_project_id

    def change_request(self) -> ChangeRequest:
        """The change request as the house knows it."""
        return ChangeRequest(
            number=self.iid,
            url=self.web_url,
            head=self.source_branch,
            base=self.target_branch,
            is_open=self.state in _OPEN,
            is_draft=self.draft,
            kind=Kind.MERGE_REQUEST,
            is_from_fork=self.is_from_fork,
        )


class ListedMergeRequestPayload(MergeRequestPayload, NoteablePayload):
    """A merge request in the list of merge requests, told as fully as an issue."""

    def issue(self, home: RepositoryAddress, kind: Kind) -> Issue:
        """The request as the house knows it, with its branches."""
        return super().issue(home, kind).model_copy(update={"request": self.change_request()})


class CommitPayload(BaseModel):
    """A commit."""

    id: str


class BranchPayload(BaseModel):
    """A branch and where it stands."""

    commit: CommitPayload


class ComparisonPayload(BaseModel):
    """What one branch has beyond another."""

    commits: list[CommitPayload]


class ProjectPayload(BaseModel):
    """A project."""

    path_with_namespace: str
    http_url_to_repo: str
    default_branch: str | None = None

    def git_remote(self, api_url: str, username: str, token: SecretStr) -> GitRemote:
        """Where git goes with the token."""
        if not self.default_branch:
            raise WillNeverWork(f"{self.path_with_namespace} has no branch yet: push a first commit.")
        return git_remote(self.http_url_to_repo, username, token, self.default_branch, api_url)


def _username(user: UserPayload | None) -> str:
    return user.username if user else GHOST
