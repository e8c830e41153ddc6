"""Requests to one server: one call is one request, and what is not expected becomes one of our two errors."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from http import HTTPStatus
from typing import Protocol, TypeVar, cast

import requests
from pydantic import BaseModel, JsonValue, SecretStr, ValidationError

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.forges.credentials import Access
from hikitsugi.forges.refusals import server_time
from hikitsugi.forges.threads import ClientThreads

TIMEOUT_SECONDS = 10
PAGE_SIZE = 100

Parameters = Mapping[str, str | int]
Json = dict[str, JsonValue]
Told = tuple[int, Mapping[str, str], str]

M = TypeVar("M", bound=BaseModel)
R = TypeVar("R")


@dataclass(frozen=True)
class Answer:
    """What a forge answered to one request; the names of its headers are in lower case."""

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
        if "x-next-page" in self.headers:
            return not self.headers["x-next-page"]
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

    def read(self, model: type[M]) -> M:
        """What the body tells, as far as we read it."""
        try:
            return model.model_validate(self.json())
        except ValidationError:
            # Its text quotes what people wrote, which belongs in no log or history.
            raise self.half() from None

    def half(self) -> TryAgainLater:
        """The error for an answer that makes no sense."""
        return TryAgainLater(f"Forge {self.forge!r} answered {self.request} with something unreadable.")


class Connection(Protocol):
    """A client library's way to one server; for one thread."""

    def request(
        self, verb: str, path: str, parameters: Parameters, headers: Mapping[str, str], body: Json | None
    ) -> Told:
        """Ask once, and tell status, headers and body whatever they are."""
        ...

    def close(self) -> None:
        """Give the connection back."""
        ...


@dataclass(frozen=True)
class Dialect:
    """What tells one kind of forge from another at this level."""

    connect: Callable[[str, Access], Connection]
    failure: Callable[[Answer], WillNeverWork | TryAgainLater]
    updates_with: str
    repository: re.Pattern[str]


class ForgeClient:
    """Requests to one server in its dialect."""

    def __init__(self, forge: str, url: str, access: Access, dialect: Dialect) -> None:
        self.forge = forge
        self.url = url
        self._access = access
        self._dialect = dialect
        self._threads = ClientThreads(f"forge-{forge}", lambda: dialect.connect(url, access))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._threads.aclose()

    async def get(
        self,
        path: str,
        parameters: Parameters | None = None,
        etag: str | None = None,
        *,
        allow: Collection[int] = (),
    ) -> Answer:
        """Read; with an ETag, the answer may be 'unchanged'."""
        condition = {"If-None-Match": etag} if etag else {}
        return await self._ask("GET", path, parameters or {}, condition, allow=allow)

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

    async def update(self, path: str, body: Json, *, allow: Collection[int] = ()) -> Answer:
        """Change the named fields of what is there; an allowed status is the caller's to judge."""
        return await self._ask(self._dialect.updates_with, path, body=body, allow=allow)

    async def delete(self, path: str, *, allow: Collection[int] = ()) -> Answer:
        """Take away; an allowed status is the caller's to judge."""
        return await self._ask("DELETE", path, allow=allow)

    async def token(self) -> SecretStr:
        """The token of the moment."""
        return await self.beside(lambda _: self._access.token())

    async def beside(self, call: Callable[[Connection], R], path: str = "") -> R:
        """What a blocking call returns, run on a thread in the turn of the path's repository."""
        repository = self._dialect.repository.match(path)
        try:
            return await self._threads.run(call, repository[0] if repository else "")
        except requests.RequestException as error:
            raise self._unreachable(error) from error

    def failure(self, answer: Answer) -> WillNeverWork | TryAgainLater:
        """The error for an answer that is not the one we need."""
        return self._dialect.failure(answer)

    async def _ask(
        self,
        verb: str,
        path: str,
        parameters: Parameters | None = None,
        headers: Mapping[str, str] | None = None,
        body: Json | None = None,
        allow: Collection[int] = (),
    ) -> Answer:
        heads = headers or {}
        told = await self.beside(lambda c: c.request(verb, path, parameters or {}, heads, body), path)
        answer = Answer(self.forge, f"{verb} {path}", *told)
        if answer.status >= HTTPStatus.BAD_REQUEST:
            answer = replace(answer, body=self._access.hidden_in(answer.body))
        if answer.status in {200, 201, 204, *allow} or (answer.is_unchanged and "If-None-Match" in heads):
            return answer
        if answer.status == HTTPStatus.UNAUTHORIZED and self._access.forget():
            raise TryAgainLater(f"Forge {self.forge!r} does not accept the token it gave us: another one is asked for.")
        raise self.failure(answer)

    def _unreachable(self, error: requests.RequestException) -> TryAgainLater:
        if isinstance(error, requests.Timeout):
            return TryAgainLater(f"Forge {self.forge!r} at {self.url} did not answer within {TIMEOUT_SECONDS} s.")
        why = "the connection broke off" if isinstance(error, requests.exceptions.ChunkedEncodingError) else _why(error)
        return TryAgainLater(f"Forge {self.forge!r} at {self.url} cannot be reached ({why}): check forges[].url.")


def _why(error: requests.RequestException) -> str:
    text = str(error)
    for sign in ("Connection refused", "Name or service not known", "certificate verify failed"):
        if sign in text:
            return sign.lower()
    return type(error).__name__
