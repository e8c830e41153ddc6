"""GitLab, public or self-managed, as a forge."""

import logging
from collections.abc import Collection
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import quote

from pydantic import SecretStr

from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import Base, ChangeRequest, Comment, GitRemote, Issue, NewChangeRequest
from hikitsugi.domain.ports import Cursor, Sighting
from hikitsugi.forges.changes import ChangeRequests
from hikitsugi.forges.client import Answer, ForgeClient, Json, Parameters
from hikitsugi.forges.comments import LOOKBACK, Comments
from hikitsugi.forges.credentials import FixedToken
from hikitsugi.forges.gitlab_client import DIALECT, is_job_token
from hikitsugi.forges.gitlab_look import first_look, next_look, page_of
from hikitsugi.forges.gitlab_notes import read_notes
from hikitsugi.forges.gitlab_payloads import (
    DEVELOPER,
    BranchPayload,
    ComparisonPayload,
    JobPayload,
    ListedMergeRequestPayload,
    MemberPayload,
    MergeRequestPayload,
    NoteablePayload,
    NotePayload,
    ProjectPayload,
    UserPayload,
)
from hikitsugi.forges.gitlab_text import as_draft, as_ready, inert
from hikitsugi.forges.marker import shortened
from hikitsugi.forges.payloads import readable

_log = logging.getLogger(__name__)


class GitLabForge(Comments, ChangeRequests):
    """The forge port on python-gitlab; every writing verb looks before it writes, or has the same effect twice."""

    longest_body = 1_000_000
    refuses_second_with = HTTPStatus.CONFLICT
    refuses_branch_with = HTTPStatus.BAD_REQUEST

    def __init__(
        self, name: str, url: str, token: SecretStr, username: str | None, *, review_comments: bool = False
    ) -> None:
        site = url.rstrip("/").removesuffix("/api/v4")
        super().__init__(ForgeClient(name, site, FixedToken(name, token), DIALECT), username)
        self._token = token
        self._review_comments = review_comments

    async def look(self, home: RepositoryAddress, cursor: Cursor | None) -> Sighting:
        """Two lists, and the notes of what changed."""
        if cursor is None:
            return await first_look(self._client, home, self._client.url, on_lines=self._review_comments)
        names = await self.our_names()
        return await next_look(self._client, home, self._client.url, cursor, names, on_lines=self._review_comments)

    async def list_open_issues(self, home: RepositoryAddress) -> list[Issue]:
        """All open issues, oldest first."""
        question = {"state": "opened", "order_by": "created_at", "sort": "asc"}
        listed = readable(NoteablePayload, await self._client.pages(f"{_project(home)}/issues", question))
        return [payload.issue(home, Kind.ISSUE) for payload in listed]

    async def read_issue(self, issue: IssueAddress) -> Issue:
        """The issue or merge request as it stands now."""
        answer = await self._client.get(_path(issue))
        seen = answer.read(NoteablePayload).issue(issue.home, issue.kind)
        if issue.kind is not Kind.MERGE_REQUEST:
            return seen
        return seen.model_copy(update={"request": self._request(answer)})

    async def read_comments(self, issue: IssueAddress, *, on_lines: bool = False) -> list[Comment]:
        """What people said, oldest first."""
        question = {"sort": "asc", "order_by": "created_at", "activity_filter": "only_comments"}
        notes = readable(NotePayload, await self._client.pages(self._thread(issue), question))
        wanted = on_lines or self._review_comments
        return [self._told(issue, note) for note in notes if note.is_said(on_lines=wanted)]

    async def may_write(self, home: RepositoryAddress, user: str) -> bool:
        """Whether a person may push, by membership or inheritance; False when we may not know."""
        try:
            found = readable(UserPayload, (await self._client.get("/users", {"username": user})).items())
            if not found:
                return False
            member = await self._client.get(f"{_project(home)}/members/all/{found[0].id}")
        except WillNeverWork as error:
            _log.info("what %s may do in %s is unknown: %s", user, home, error)
            return False
        return member.read(MemberPayload).access_level >= DEVELOPER

    async def change_labels(self, issue: IssueAddress, add: Collection[str], remove: Collection[str]) -> None:
        """Put labels on and take labels off at once, so that two states never show."""
        gone = [label for label in remove if label not in add]
        change: Json = {"add_labels": ",".join(add), "remove_labels": ",".join(gone)}
        if any(change.values()):
            await self._client.update(_path(issue), {name: labels for name, labels in change.items() if labels})

    async def update_change_request(self, home: RepositoryAddress, number: int, title: str, body: str) -> ChangeRequest:
        """Give a merge request another title and text; a draft stays one."""
        path = f"{self._requests(home)}/{number}"
        now = (await self._client.get(path)).read(MergeRequestPayload)
        change: Json = {"title": as_draft(title) if now.draft else title, "description": self._description(body)}
        return self._request(await self._client.update(path, change))

    async def set_draft(self, home: RepositoryAddress, number: int, *, draft: bool) -> ChangeRequest:
        """Make a merge request a draft or ready, which its title tells."""
        path = f"{self._requests(home)}/{number}"
        now = (await self._client.get(path)).read(MergeRequestPayload)
        if now.draft == draft:
            return now.change_request()
        title = as_draft(now.title) if draft else as_ready(now.title)
        return self._request(await self._client.update(path, {"title": title}))

    async def git_remote(self, home: RepositoryAddress) -> GitRemote:
        """Where to clone from and push to."""
        project = (await self._client.get(_project(home))).read(ProjectPayload)
        username = "gitlab-ci-token" if is_job_token(self._token) else "oauth2"
        return project.git_remote(self._client.url, username, self._token)

    async def read_base(self, home: RepositoryAddress) -> Base:
        """The default branch and its newest commit."""
        project = (await self._client.get(_project(home))).read(ProjectPayload)
        branch = project.default_branch or "main"
        head = (await self._client.get(self._branch(home, branch))).read(BranchPayload)
        return Base(branch=branch, commit=head.commit.id)

    async def _ask_name(self) -> str:
        if is_job_token(self._token):
            return (await self._client.get("/job")).read(JobPayload).user.username
        return (await self._client.get("/user")).read(UserPayload).username

    async def _recent(self, issue: IssueAddress) -> list[Comment]:
        since = datetime.now(UTC) - LOOKBACK
        notes = await read_notes(self._client, self._thread(issue), since, "created_at")
        return [self._told(issue, note) for note in notes]

    async def _put_eyes_on(self, issue: IssueAddress, comment_id: str) -> None:
        path = f"{self._place(issue, comment_id)}/award_emoji"
        answer = await self._client.post(path, {"name": "eyes"}, allow={HTTPStatus.NOT_FOUND})
        # GitLab says so of an emoji that is there already.
        if answer.status == HTTPStatus.NOT_FOUND and "already been taken" not in answer.body:
            raise self._client.failure(answer)

    def _text(self, body: str, key: str) -> str:
        return super()._text(inert(body), key)

    def _description(self, body: str) -> str:
        return shortened(inert(body), self.longest_body)

    def _comment(self, issue: IssueAddress, answer: Answer) -> Comment | None:
        note = answer.read(NotePayload)
        return self._told(issue, note) if note.is_said(on_lines=True) else None

    def _told(self, issue: IssueAddress, note: NotePayload) -> Comment:
        return note.comment(page_of(self._client.url, issue))

    def _thread(self, issue: IssueAddress) -> str:
        return f"{_path(issue)}/notes"

    def _place(self, issue: IssueAddress, comment_id: str) -> str:
        return f"{self._thread(issue)}/{comment_id}"

    async def _list_open(self, home: RepositoryAddress) -> list[Issue]:
        entries = await self._client.pages(self._requests(home), {"state": "opened"})
        return [one.issue(home, Kind.MERGE_REQUEST) for one in readable(ListedMergeRequestPayload, entries)]

    async def _find(self, home: RepositoryAddress, head: str, *, only_open: bool) -> list[ChangeRequest]:
        question = {"state": "opened" if only_open else "all", "source_branch": head}
        found = readable(MergeRequestPayload, await self._client.pages(self._requests(home), question))
        return [one.change_request() for one in found if one.source_branch == head and not one.is_from_fork]

    async def _new_branch(self, home: RepositoryAddress, name: str, from_ref: str) -> tuple[str, Json]:
        return f"{_project(home)}/repository/branches", {"branch": name, "ref": from_ref}

    def _comparison(self, home: RepositoryAddress, branch: str, base: str) -> tuple[str, Parameters]:
        return f"{_project(home)}/repository/compare", {"from": base, "to": branch}

    def _is_ahead(self, answer: Answer) -> bool:
        return bool(answer.read(ComparisonPayload).commits)

    def _creation(self, wanted: NewChangeRequest) -> Json:
        return {
            "title": as_draft(wanted.title) if wanted.draft else wanted.title,
            "source_branch": wanted.head,
            "target_branch": wanted.base,
            "description": self._description(wanted.body),
            "remove_source_branch": False,
        }

    def _request(self, answer: Answer) -> ChangeRequest:
        return answer.read(MergeRequestPayload).change_request()

    def _requests(self, home: RepositoryAddress) -> str:
        return f"{_project(home)}/{Kind.MERGE_REQUEST}"

    def _branch(self, home: RepositoryAddress, name: str) -> str:
        return f"{_project(home)}/repository/branches/{quote(name, safe='')}"


def _project(home: RepositoryAddress) -> str:
    return f"/projects/{quote(home.repository, safe='')}"


def _path(issue: IssueAddress) -> str:
    return f"{_project(issue.home)}/{issue.kind}/{issue.number}"
