"""PyGithub without its sleeping, retrying and hidden requests: one call is one request."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

import requests
from github import Auth, Consts, Github
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass
from pydantic import JsonValue, SecretStr

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.forges.github_errors import failure, server_time
from hikitsugi.forges.threads import ClientThreads

TIMEOUT_SECONDS = 10
PAGE_SIZE = 100

Parameters = Mapping[str, str | int]
Json = dict[str, JsonValue]


@dataclass(frozen=True)
class Answer:
    """What GitHub answered to one request."""

    forge: str
    request: str
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: str = field(repr=False)

    @property
    def is_unchanged(self) -> bool:
        """Whether it is what the ETag we sent stands for."""
        return self.status == HTTPStatus.NOT_MODIFIED

    @property
    def etag(self) -> str | None:
        """What to ask with next time."""
        return self.headers.get("etag")

    @property
    def at(self) -> datetime:
        """The server's clock."""
        return server_time(self.headers)

    @property
    def is_last_page(self) -> bool:
        """Whether the list ends here; a full page is asked on even where a proxy lost the link."""
        return 'rel="next"' not in self.headers.get("link", "") and len(self.items()) < PAGE_SIZE

    def json(self) -> JsonValue:
        """The parsed body; half a body is a passing fault."""
        try:
            return cast("JsonValue", json.loads(self.body))
        except ValueError as error:
            raise self.half() from error

    def items(self) -> list[JsonValue]:
        """The entries of an answered list."""
        answer = self.json()
        if not isinstance(answer, list):
            raise self.half()
        return answer

    def half(self) -> TryAgainLater:
        """The error for an answer that makes no sense."""
        return TryAgainLater(f"Forge {self.forge!r} answered {self.request} with something unreadable.")

    def failure(self) -> WillNeverWork | TryAgainLater:
        """The error for an answer that is not the one we need."""
        return failure(self.forge, self.request, self.status, self.headers, self.body)


class _NotFollowedError(Exception):
    """An answer PyGithub would act on by itself."""

    def __init__(self, response: requests.Response) -> None:
        super().__init__(response.status_code)
        self.response = response


def _stop(response: requests.Response, **_: Any) -> None:
    # PyGithub asks again for ever on a 202, and follows a 301 without its query.
    if response.status_code in {HTTPStatus.ACCEPTED, HTTPStatus.MOVED_PERMANENTLY}:
        raise _NotFollowedError(response)


class _Session:
    """PyGithub's requester on a connection of our own; for one thread."""

    def __init__(self, url: str, token: SecretStr) -> None:
        self._requester = Github(
            base_url=url,
            auth=Auth.Token(token.get_secret_value()),
            timeout=TIMEOUT_SECONDS,
            per_page=PAGE_SIZE,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
            api_version=Consts.API_VERSION_2022_11_28,
        ).requester
        address = urlsplit(url)
        kind = HTTPSRequestsConnectionClass if address.scheme == "https" else HTTPRequestsConnectionClass
        self._connection = kind(address.hostname or "", address.port, timeout=TIMEOUT_SECONDS)
        self._connection.session.hooks["response"].append(_stop)

    def request(
        self, verb: str, path: str, parameters: Parameters, headers: Mapping[str, str], body: Json | None
    ) -> tuple[int, Mapping[str, str], str]:
        try:
            return self._requester.requestJson(verb, path, dict(parameters), dict(headers), body, cnx=self._connection)
        except _NotFollowedError as error:
            response = error.response
            return response.status_code, {k.lower(): v for k, v in response.headers.items()}, response.text

    def close(self) -> None:
        self._connection.close()


class GitHubClient:
    """Requests to one GitHub server; every answer that is not expected becomes one of our two errors."""

    def __init__(self, forge: str, url: str, token: SecretStr) -> None:
        if not token.get_secret_value():
            raise WillNeverWork(f"Forge {forge!r} has no token: set forges[].token.")
        self._forge = forge
        self._url = url
        self._token = token
        self._threads = ClientThreads(f"forge-{forge}", lambda: _Session(url, token))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._threads.aclose()

    async def get(self, path: str, parameters: Parameters | None = None, etag: str | None = None) -> Answer:
        """Read; with an ETag, the answer may be 'unchanged'."""
        condition = {"If-None-Match": etag} if etag else {}
        return await self._ask("GET", path, parameters or {}, condition)

    async def pages(self, path: str, parameters: Parameters | None = None) -> list[JsonValue]:
        """All entries of a list, page by page."""
        entries: list[JsonValue] = []
        page = 1
        while True:
            answer = await self.get(path, {**(parameters or {}), "per_page": PAGE_SIZE, "page": page})
            entries += answer.items()
            if answer.is_last_page:
                return entries
            page += 1

    async def post(self, path: str, body: Json, *, allow: Collection[int] = ()) -> Answer:
        """Write; an allowed status is the caller's to judge."""
        return await self._ask("POST", path, body=body, allow=allow)

    async def delete(self, path: str, *, allow: Collection[int] = ()) -> Answer:
        """Take away; an allowed status is the caller's to judge."""
        return await self._ask("DELETE", path, allow=allow)

    async def _ask(
        self,
        verb: str,
        path: str,
        parameters: Parameters | None = None,
        headers: Mapping[str, str] | None = None,
        body: Json | None = None,
        allow: Collection[int] = (),
    ) -> Answer:
        heads = {"Accept": "application/vnd.github+json", **(headers or {})}
        try:
            told = await self._threads.run(lambda s: s.request(verb, path, parameters or {}, heads, body))
        except requests.RequestException as error:
            raise self._unreachable(error) from error
        answer = Answer(self._forge, f"{verb} {path}", *told)
        if answer.status >= HTTPStatus.BAD_REQUEST:
            answer = replace(answer, body=answer.body.replace(self._token.get_secret_value(), "***"))
        if answer.status in {200, 201, 204, *allow} or (answer.is_unchanged and "If-None-Match" in heads):
            return answer
        raise answer.failure()

    def _unreachable(self, error: requests.RequestException) -> TryAgainLater:
        if isinstance(error, requests.Timeout):
            return TryAgainLater(f"Forge {self._forge!r} at {self._url} did not answer within {TIMEOUT_SECONDS} s.")
        why = "the connection broke off" if isinstance(error, requests.exceptions.ChunkedEncodingError) else _why(error)
        return TryAgainLater(f"Forge {self._forge!r} at {self._url} cannot be reached ({why}): check forges[].url.")


def _why(error: requests.RequestException) -> str:
    text = str(error)
    for sign in ("Connection refused", "Name or service not known", "certificate verify failed"):
        if sign in text:
            return sign.lower()
    return type(error).__name__
