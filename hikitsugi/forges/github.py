"""GitHub, and GitHub Enterprise Server, as a forge."""

import logging
import re
from collections.abc import Collection
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import quote

from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import Base, ChangeRequest, Comment, GitRemote, Issue, NewChangeRequest
from hikitsugi.domain.ports import Cursor, Sighting
from hikitsugi.forges.changes import ChangeRequests
from hikitsugi.forges.client import Answer, ForgeClient, Json, Parameters
from hikitsugi.forges.comments import LOOKBACK, Comments
from hikitsugi.forges.credentials import AppInstallation, Credentials, FixedToken
from hikitsugi.forges.github_app import InstallationTokens
from hikitsugi.forges.github_client import DIALECT, GRAPHQL
from hikitsugi.forges.github_errors import kinds_in
from hikitsugi.forges.github_look import first_look, next_look
from hikitsugi.forges.github_payloads import (
    REVIEW,
    CommentPayload,
    ComparisonPayload,
    IssuePayload,
    LabelPayload,
    ListedPullPayload,
    PermissionPayload,
    PullPayload,
    RefPayload,
    RepositoryPayload,
    ReviewCommentPayload,
    UserPayload,
)
from hikitsugi.forges.marker import shortened
from hikitsugi.forges.payloads import readable

_log = logging.getLogger(__name__)

_WRITERS = frozenset({"admin", "maintain", "write"})
_MAY_REFUSE = frozenset({"FORBIDDEN", "UNPROCESSABLE"})
_DRAFT = "mutation($id: ID!) { %s(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"


class GitHubForge(Comments, ChangeRequests):
    """The forge port on PyGithub; every writing verb looks before it writes."""

    longest_body = 65_536
    ids = re.compile(rf"(?:{REVIEW})?[0-9]+")
    refuses_second_with = HTTPStatus.UNPROCESSABLE_ENTITY
    refuses_branch_with = HTTPStatus.UNPROCESSABLE_ENTITY

    def __init__(
        self, name: str, url: str, credentials: Credentials, username: str | None, *, review_comments: bool = False
    ) -> None:
        if isinstance(credentials, AppInstallation):
            access = self._app = InstallationTokens(name, url, credentials)
        else:
            access, self._app = FixedToken(name, credentials), None
        super().__init__(ForgeClient(name, url, access, DIALECT), username)
        self._review_comments = review_comments

    async def look(self, home: RepositoryAddress, cursor: Cursor | None) -> Sighting:
        """Two lists, or three with review comments, answered with 'unchanged' while nothing happens."""
        if cursor is None:
            return await first_look(self._client, home, reviews=self._review_comments)
        return await next_look(self._client, home, cursor, await self.our_names(), reviews=self._review_comments)

    async def list_open_issues(self, home: RepositoryAddress) -> list[Issue]:
        """All open issues and pull requests, oldest first."""
        question = {"state": "open", "sort": "created", "direction": "asc"}
        listed = readable(IssuePayload, await self._client.pages(f"/repos/{home.repository}/issues", question))
        return [payload.issue(home) for payload in listed]

    async def read_issue(self, issue: IssueAddress) -> Issue:
        """The issue as it stands now; of a pull request, its branches too."""
        seen = (await self._client.get(_path(issue))).read(IssuePayload).issue(issue.home)
        if seen.address.kind is not Kind.PULL_REQUEST:
            return seen
        pull = await self._client.get(f"{self._requests(issue.home)}/{issue.number}")
        return seen.model_copy(update={"request": self._request(pull)})

    async def read_comments(self, issue: IssueAddress, *, on_lines: bool = False) -> list[Comment]:
        """All comments of the conversation, oldest first."""
        said = readable(CommentPayload, await self._client.pages(self._thread(issue)))
        if (on_lines or self._review_comments) and issue.kind is Kind.PULL_REQUEST:
            path = f"{self._requests(issue.home)}/{issue.number}/comments"
            said += readable(ReviewCommentPayload, await self._client.pages(path))
        return [payload.comment() for payload in sorted(said, key=lambda payload: payload.created_at)]

    async def may_write(self, home: RepositoryAddress, user: str) -> bool:
        """Whether a person maintains the repository; False when we may not know."""
        path = f"/repos/{home.repository}/collaborators/{quote(user, safe='')}/permission"
        try:
            may = (await self._client.get(path)).read(PermissionPayload)
        except WillNeverWork as error:
            _log.info("what %s may do in %s is unknown: %s", user, home, error)
            return False
        return not _WRITERS.isdisjoint({may.permission, may.role_name})

    async def change_labels(self, issue: IssueAddress, add: Collection[str], remove: Collection[str]) -> None:
        """Take labels off, then put labels on, so that two states never show at once; GitHub's labels ignore case."""
        path = f"{_path(issue)}/labels"
        if not remove:
            await self._client.post(path, {"labels": list(add)})
            return
        present = {label.name.casefold() for label in readable(LabelPayload, await self._client.pages(path))}
        wanted = {label.casefold() for label in add}
        for label in remove:
            if label.casefold() in present - wanted:
                await self._client.delete(f"{path}/{quote(label, safe='')}", allow={HTTPStatus.NOT_FOUND})
        missing = [label for label in add if label.casefold() not in present]
        if missing:
            await self._client.post(path, {"labels": list(missing)})

    async def update_change_request(self, home: RepositoryAddress, number: int, title: str, body: str) -> ChangeRequest:
        """Give a pull request another title and text."""
        change: Json = {"title": title, "body": shortened(body, self.longest_body)}
        return self._request(await self._client.update(f"{self._requests(home)}/{number}", change))

    async def set_draft(self, home: RepositoryAddress, number: int, *, draft: bool) -> ChangeRequest:
        """Make a pull request a draft or ready for review, which only GraphQL can; where that is refused, it stays."""
        pull = (await self._client.get(f"{self._requests(home)}/{number}")).read(PullPayload)
        if pull.draft != draft:
            mutation = "convertPullRequestToDraft" if draft else "markPullRequestReadyForReview"
            answer = await self._client.post(GRAPHQL, {"query": _DRAFT % mutation, "variables": {"id": pull.node_id}})
            if not self._is_obeyed(answer):
                return pull.change_request()
        return pull.change_request().model_copy(update={"is_draft": draft})

    def _is_obeyed(self, answer: Answer) -> bool:
        """Whether GraphQL did as asked; a plan without drafts or a token without the permission is no failure."""
        told = answer.json()
        if isinstance(told, dict) and not told.get("errors"):
            return True
        failure = self._client.failure(answer)
        if not kinds_in(answer) & _MAY_REFUSE:
            raise failure
        _log.warning("the pull request is left as it is: %s", failure)
        return False

    async def git_remote(self, home: RepositoryAddress) -> GitRemote:
        """Where to clone from and push to."""
        repository = (await self._client.get(f"/repos/{home.repository}")).read(RepositoryPayload)
        return repository.git_remote(self._client.url, await self._client.token())

    async def read_base(self, home: RepositoryAddress) -> Base:
        """The default branch and its newest commit."""
        repository = (await self._client.get(f"/repos/{home.repository}")).read(RepositoryPayload)
        head = (await self._client.get(self._branch(home, repository.default_branch))).read(RefPayload)
        return Base(branch=repository.default_branch, commit=head.object.sha)

    async def _ask_name(self) -> str:
        app = self._app
        if app:
            return await self._client.beside(lambda _: app.login())
        return (await self._client.get("/user")).read(UserPayload).login

    async def _recent(self, issue: IssueAddress) -> list[Comment]:
        since = f"{datetime.now(UTC) - LOOKBACK:%Y-%m-%dT%H:%M:%SZ}"
        entries = await self._client.pages(self._thread(issue), {"since": since})
        return [payload.comment() for payload in readable(CommentPayload, entries)]

    async def _put_eyes_on(self, issue: IssueAddress, comment_id: str) -> None:
        await self._client.post(f"{self._place(issue, comment_id)}/reactions", {"content": "eyes"})

    def _comment(self, issue: IssueAddress, answer: Answer) -> Comment:
        is_review = "/pulls/comments/" in answer.request
        return answer.read(ReviewCommentPayload if is_review else CommentPayload).comment()

    def _thread(self, issue: IssueAddress) -> str:
        return f"{_path(issue)}/comments"

    def _place(self, issue: IssueAddress, comment_id: str) -> str:
        number = comment_id.removeprefix(REVIEW)
        return f"/repos/{issue.repository}/{'issues' if number == comment_id else 'pulls'}/comments/{number}"

    async def _list_open(self, home: RepositoryAddress) -> list[Issue]:
        pulls = readable(ListedPullPayload, await self._client.pages(self._requests(home), {"state": "open"}))
        return [pull.issue(home) for pull in pulls]

    async def _find(self, home: RepositoryAddress, head: str, *, only_open: bool) -> list[ChangeRequest]:
        owner = home.repository.partition("/")[0]
        question = {"state": "open" if only_open else "all", "head": f"{owner}:{head}"}
        pulls = readable(PullPayload, await self._client.pages(self._requests(home), question))
        return [pull.change_request() for pull in pulls if pull.head.ref == head]

    async def _new_branch(self, home: RepositoryAddress, name: str, from_ref: str) -> tuple[str, Json]:
        commit = from_ref
        if not re.fullmatch(r"[0-9a-f]{40}", from_ref):
            commit = (await self._client.get(self._branch(home, from_ref))).read(RefPayload).object.sha
        return f"/repos/{home.repository}/git/refs", {"ref": f"refs/heads/{name}", "sha": commit}

    def _comparison(self, home: RepositoryAddress, branch: str, base: str) -> tuple[str, Parameters]:
        return f"/repos/{home.repository}/compare/{quote(base)}...{quote(branch)}", {"per_page": 1}

    def _is_ahead(self, answer: Answer) -> bool:
        return answer.read(ComparisonPayload).ahead_by > 0

    def _creation(self, wanted: NewChangeRequest) -> Json:
        body = shortened(wanted.body, self.longest_body)
        draft = {"draft": True} if wanted.draft else {}
        return {"title": wanted.title, "head": wanted.head, "base": wanted.base, "body": body, **draft}

    def _request(self, answer: Answer) -> ChangeRequest:
        return answer.read(PullPayload).change_request()

    def _requests(self, home: RepositoryAddress) -> str:
        return f"/repos/{home.repository}/pulls"

    def _branch(self, home: RepositoryAddress, name: str) -> str:
        return f"/repos/{home.repository}/git/ref/heads/{quote(name)}"


def _path(issue: IssueAddress) -> str:
    return f"/repos/{issue.repository}/issues/{issue.number}"
