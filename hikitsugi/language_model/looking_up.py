"""Asking the provider about a model, which costs nothing and shows whether the key is good."""

from datetime import timedelta
from enum import Enum, auto
from http import HTTPStatus

import anthropic
from pydantic import SecretStr

from hikitsugi.language_model.connection import connection, told_plainly

_PATIENCE = timedelta(seconds=10)
_NO_SUCH_ROUTE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED})


class Offer(Enum):
    """What a provider says of a model; not every server that speaks the Messages API can be asked."""

    OFFERED = auto()
    NOT_OFFERED = auto()
    UNTOLD = auto()


async def look_up(base_url: str | None, api_key: SecretStr, model: str) -> Offer:
    """Whether the provider offers a model to the owner of the key."""
    key = api_key.get_secret_value().strip()
    with told_plainly(key):
        async with connection(base_url, key, _PATIENCE) as client:
            return await _ask(client, model)


async def _ask(client: anthropic.AsyncAnthropic, model: str) -> Offer:
    try:
        found: object = await client.models.retrieve(model)
    except anthropic.APIStatusError as error:
        # Without this type the route is missing, not the model.
        if error.status_code == HTTPStatus.NOT_FOUND and error.type == "not_found_error":
            return Offer.NOT_OFFERED
        if error.status_code in _NO_SUCH_ROUTE:
            return Offer.UNTOLD
        raise
    if getattr(found, "type", None) != "model":
        return Offer.UNTOLD
    return Offer.NOT_OFFERED if getattr(found, "lifecycle", None) == "retired" else Offer.OFFERED
