"""GitHub, and GitHub Enterprise Server, as a forge."""

import logging
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import quote

from pydantic import BaseModel, SecretStr, ValidationError

from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.errors import HikitsugiError, WillNeverWork
from hikitsugi.domain.issue import ChangeRequest, Comment, GitRemote, Issue, NewChangeRequest
from hikitsugi.domain.ports import Cursor, Sighting
from hikitsugi.forges.github_client import Answer, GitHubClient
from hikitsugi.forges.github_look import first_look, is_own, next_look
from hikitsugi.forges.github_payloads import (
    CommentPayload,
    IssuePayload,
    LabelPayload,
    PermissionPayload,
    PullPayload,
    RepositoryPayload,
    UserPayload,
    readable,
)
from hikitsugi.forges.marker import is_marked, marked, shortened

_log = logging.getLogger(__name__)

LONGEST_BODY = 65_536
# An attempt that was reported as failed is looked for this far back; most issues answer that with one short page.
_LOOKBACK = timedelta(days=7)
_WRITERS = frozenset({"admin", "maintain", "write"})

M = TypeVar("M", bound=BaseModel)


class GitHubForge:
    """The forge port on PyGithub; every writing verb looks before it writes."""

    def __init__(self, name: str, url: str, token: SecretStr, username: str | None) -> None:
        self._name = name
        self._url = url
        self._token = token
        self._username = username
        self._is_nameless = False
        self._client = GitHubClient(name, url, token)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def whoami(self) -> str:
        """The configured user name, or the one the token belongs to."""
        if self._username is None:
            self._username = _read(UserPayload, await self._client.get("/user")).login
        return self._username

    async def look(self, home: RepositoryAddress, cursor: Cursor | None) -> Sighting:
        """Two lists, answered with 'unchanged' while nothing happens."""
        if cursor is None:
            return await first_look(self._client, home)
        return await next_look(self._client, home, cursor, await self._me())

    async def read_issue(self, issue: IssueAddress) -> Issue:
        """The issue as it stands now."""
        return _read(IssuePayload, await self._client.get(_path(issue))).issue(issue.home)

    async def read_comments(self, issue: IssueAddress) -> list[Comment]:
        """All comments of the conversation, oldest first."""
        entries = await self._client.pages(f"{_path(issue)}/comments")
        return [payload.comment() for payload in readable(CommentPayload, entries)]

    async def may_write(self, home: RepositoryAddress, user: str) -> bool:
        """Whether a person maintains the repository; False when we may not know."""
        path = f"/repos/{home.repository}/collaborators/{quote(user, safe='')}/permission"
        try:
            may = _read(PermissionPayload, await self._client.get(path))
        except WillNeverWork as error:
            _log.info("what %s may do in %s is unknown: %s", user, home, error)
            return False
        return not _WRITERS.isdisjoint({may.permission, may.role_name})

    async def post_comment(self, issue: IssueAddress, body: str, key: str) -> Comment:
        """Write a comment that ends with the hidden marker for `key`, unless ours is there already."""
        path = f"{_path(issue)}/comments"
        since = f"{datetime.now(UTC) - _LOOKBACK:%Y-%m-%dT%H:%M:%SZ}"
        me = await self._me()
        for payload in readable(CommentPayload, await self._client.pages(path, {"since": since})):
            if is_marked(payload.body or "", key) and is_own(payload.comment(), me):
                return payload.comment()
        answer = await self._client.post(path, {"body": marked(body, key, LONGEST_BODY)})
        return _read(CommentPayload, answer).comment()

    async def change_labels(self, issue: IssueAddress, add: Collection[str], remove: Collection[str]) -> None:
        """Take labels off, then put labels on, so that two states never show at once; GitHub's labels ignore case."""
        path = f"{_path(issue)}/labels"
        present = {label.name.casefold() for label in readable(LabelPayload, await self._client.pages(path))}
        wanted = {label.casefold() for label in add}
        for label in remove:
            if label.casefold() in present - wanted:
                await self._client.delete(f"{path}/{quote(label, safe='')}", allow={HTTPStatus.NOT_FOUND})
        missing = [label for label in add if label.casefold() not in present]
        if missing:
            await self._client.post(path, {"labels": list(missing)})

    async def acknowledge(self, issue: IssueAddress, comment_id: str) -> None:
        """Put 👀 on a comment; GitHub keeps one however often it is asked."""
        if not comment_id.isdecimal():  # An operator's words, which are not on the forge.
            return
        path = f"/repos/{issue.repository}/issues/comments/{comment_id}/reactions"
        try:
            await self._client.post(path, {"content": "eyes"})
        except HikitsugiError as error:
            _log.warning("comment %s of %s got no 👀: %s", comment_id, issue, error)

    async def open_change_request(self, wanted: NewChangeRequest) -> ChangeRequest:
        """The open pull request from the head branch, made if there is none."""
        found = await self._find_pull(wanted)
        if found:
            return found
        body = shortened(wanted.body, LONGEST_BODY)
        answer = await self._client.post(
            f"/repos/{wanted.home.repository}/pulls",
            {"title": wanted.title, "head": wanted.head, "base": wanted.base, "body": body},
            allow={HTTPStatus.UNPROCESSABLE_ENTITY},
        )
        if answer.status != HTTPStatus.UNPROCESSABLE_ENTITY:
            return _read(PullPayload, answer).change_request()
        found = await self._find_pull(wanted)
        if not found:
            raise answer.failure()
        return found

    async def git_remote(self, home: RepositoryAddress) -> GitRemote:
        """Where to clone from and push to."""
        repository = _read(RepositoryPayload, await self._client.get(f"/repos/{home.repository}"))
        return repository.git_remote(self._url, self._token)

    async def _me(self) -> str | None:
        if self._is_nameless:
            return None
        try:
            return await self.whoami()
        except WillNeverWork as error:
            self._is_nameless = True
            _log.warning(
                "our name on forge %r is unknown, the hidden marker alone tells our comments: %s", self._name, error
            )
            return None

    async def _find_pull(self, wanted: NewChangeRequest) -> ChangeRequest | None:
        owner = wanted.home.repository.partition("/")[0]
        question = {"head": f"{owner}:{wanted.head}", "state": "open"}
        entries = await self._client.pages(f"/repos/{wanted.home.repository}/pulls", question)
        requests = [payload.change_request() for payload in readable(PullPayload, entries)]
        return next((request for request in requests if request.head == wanted.head), None)


def _path(issue: IssueAddress) -> str:
    return f"/repos/{issue.repository}/issues/{issue.number}"


def _read(model: type[M], answer: Answer) -> M:
    try:
        return model.model_validate(answer.json())
    except ValidationError:
        # Its text quotes what people wrote, which belongs in no log or history.
        raise answer.half() from None
