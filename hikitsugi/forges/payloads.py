"""What both forges' answers have in common for us."""

import logging
from collections.abc import Iterable
from hashlib import blake2s
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import AwareDatetime, BaseModel, JsonValue, SecretStr, ValidationError

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import Comment, GitRemote, Issue, IssueNews
from hikitsugi.forges.feed import Version

_log = logging.getLogger(__name__)

M = TypeVar("M", bound=BaseModel)


class ListedPayload(BaseModel):
    """Something that stands in a list sorted by its last change."""

    id: int
    updated_at: AwareDatetime

    @property
    def version(self) -> Version:
        """Its state; much can change at one stamp of the forge's clock, so what we read is marked."""
        return Version(self.updated_at, blake2s(self.model_dump_json().encode(), digest_size=6).hexdigest())


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


def git_remote(address: str, username: str, token: SecretStr, default_branch: str, api_url: str) -> GitRemote:
    """Where git goes with the token; never without TLS when the API is asked with it."""
    if urlsplit(api_url).scheme == "https" != urlsplit(address).scheme:
        raise WillNeverWork(f"{address} is no https address: the token is not sent there, check forges[].url.")
    return GitRemote(url=address, username=username, token=token, default_branch=default_branch)


def on_line(body: str, path: str | None, line: int | None) -> str:
    """A remark with the line it is about, as a quotation at its end, where it hides no command."""
    if not path:
        return body
    return f"{body}\n\n> {path}:{line}" if line else f"{body}\n\n> {path}"


def gathered(issues: Iterable[Issue], comments: Iterable[tuple[IssueAddress, Comment]]) -> tuple[IssueNews, ...]:
    """One piece of news per issue, its comments as they were written."""
    changed = {issue.address: issue for issue in issues}
    written: dict[IssueAddress, list[Comment]] = {}
    for address, comment in comments:
        written.setdefault(address, []).append(comment)
    return tuple(
        IssueNews(issue=changed.get(address), address=address, comments=tuple(written.get(address, ())))
        for address in dict.fromkeys([*changed, *written])
    )
