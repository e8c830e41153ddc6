"""Webhooks only ring: the watcher then reads the forge, so a forged or repeated delivery changes nothing."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from fastapi import APIRouter, Request, Response
from pydantic import SecretStr

from hikitsugi.domain.address import RepositoryAddress
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.value import Value
from hikitsugi.forges.webhooks import Delivery, ForgeKind

LARGEST_BODY = 5 * 1024 * 1024


class Bell(Protocol):
    """What a genuine delivery rings."""

    async def ring(self, home: RepositoryAddress) -> None:
        """Tell the repository's watcher that there is news."""
        ...

    async def is_new(self, delivery: str) -> bool:
        """Whether a delivery comes for the first time."""
        ...

    async def forget(self, delivery: str) -> None:
        """Let a delivery count as new again."""
        ...


class Sender(Value):
    """A configured forge that may send webhooks."""

    name: str
    kind: ForgeKind
    secret: SecretStr
    repositories: frozenset[str]

    def home_of(self, repository: str | None) -> RepositoryAddress | None:
        """The configured repository of that name; capital letters make no difference."""
        named = [name for name in self.repositories if name.casefold() == (repository or "").casefold()]
        return RepositoryAddress(forge=self.name, repository=named[0]) if named else None


def webhook_routes(senders: Sequence[Sender], bell: Bell, now: Callable[[], datetime]) -> APIRouter:
    """The two doors; one without a secret is not there."""
    routes = APIRouter()

    @routes.post("/webhooks/{kind}")
    async def receive(kind: ForgeKind, request: Request) -> Response:
        """Ring for the repository that a signed delivery names."""
        known = [sender for sender in senders if sender.kind == kind]
        if not known:
            return Response(status_code=404)
        body = await _body(request)
        if body is None:
            return Response(status_code=413)
        delivery = Delivery(kind=kind, headers=dict(request.headers), body=body)
        sender = next((s for s in known if delivery.is_signed_with(s.secret.get_secret_value(), now())), None)
        if sender is None:
            return Response(status_code=401)
        return await _rung(bell, sender, delivery)

    return routes


async def _rung(bell: Bell, sender: Sender, delivery: Delivery) -> Response:
    name = f"{sender.name}:{delivery.id}" if delivery.id else None
    try:
        if name and not await bell.is_new(name):
            return Response(status_code=200)
        await _ring(bell, sender.home_of(delivery.repository), name)
    except TryAgainLater:
        return Response(status_code=503, headers={"Retry-After": "5"})
    return Response(status_code=202)


async def _ring(bell: Bell, home: RepositoryAddress | None, delivery: str | None) -> None:
    """Ring; a delivery that rang nobody has not been taken."""
    try:
        if home:
            await bell.ring(home)
    except TryAgainLater:
        if delivery:
            await bell.forget(delivery)
        raise


async def _body(request: Request) -> bytes | None:
    """The body's bytes; None when there are too many."""
    received = bytearray()
    async for chunk in request.stream():
        received += chunk
        if len(received) > LARGEST_BODY:
            return None
    return bytes(received)
