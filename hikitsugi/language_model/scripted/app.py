"""The scripted model behind Anthropic's Messages API."""

import hashlib
from hmac import compare_digest
from typing import TypeVar

from fastapi import FastAPI
from fastapi import Request as HttpRequest
from fastapi.responses import JSONResponse, Response
from pydantic import JsonValue, ValidationError

from hikitsugi.language_model.scripted import wire
from hikitsugi.language_model.scripted.answers import Fail, fail
from hikitsugi.language_model.scripted.model import ScriptedModel
from hikitsugi.language_model.scripted.prefix import whole
from hikitsugi.language_model.scripted.request import Prompt, Request
from hikitsugi.language_model.scripted.rules import breach
from hikitsugi.language_model.scripted.streaming import EventStream, has_left

P = TypeVar("P", bound=Prompt)


class Refused(Exception):
    """A request that is answered with an HTTP error."""

    def __init__(self, failure: Fail) -> None:
        super().__init__(failure.message)
        self.failure = failure


def application(model: ScriptedModel) -> FastAPI:
    """The HTTP face of a scripted model."""
    app = FastAPI(openapi_url=None)

    @app.post("/v1/messages")
    async def messages(http: HttpRequest) -> Response:
        received = model.receive(await _read(Request, http, model.api_key))
        reaction = model.react(received)
        if await has_left(http.receive, within=reaction.delay):
            return Response()
        if isinstance(reaction, Fail):
            raise Refused(reaction)
        message = wire.compose(received.body, reaction, model.usage(received))
        if received.body.stream:
            return EventStream(received, message, reaction.breakage, await _request_id(http))
        received.answered = True
        return JSONResponse(message.model_dump(mode="json"), headers={"request-id": await _request_id(http)})

    @app.post("/v1/messages/count_tokens")
    async def count_tokens(http: HttpRequest) -> dict[str, int]:
        return {"input_tokens": whole(await _read(Prompt, http, model.api_key)).tokens}

    @app.get("/v1/models/{name}")
    async def look_up(name: str, http: HttpRequest) -> dict[str, JsonValue]:
        _check_key(http, model.api_key)
        if name in model.unknown:
            raise Refused(fail(404, f"model: {name}"))
        return wire.described(name)

    @app.exception_handler(Refused)
    async def refuse(http: HttpRequest, refused: Refused) -> JSONResponse:
        failure, request_id = refused.failure, await _request_id(http)
        body = wire.error(failure.error_type, failure.message, request_id, failure.error_code)
        return JSONResponse(body, failure.status, {**failure.headers, "request-id": request_id})

    return app


async def _read(kind: type[P], http: HttpRequest, api_key: str) -> P:
    """The request, if the key is right and no rule is broken."""
    _check_key(http, api_key)
    try:
        prompt = kind.model_validate_json(await http.body())
    except ValidationError as invalid:
        problem = invalid.errors()[0]
        place = ".".join(map(str, problem["loc"])) or "body"
        raise Refused(fail(400, f"{place}: {problem['msg']}")) from None
    if broken := breach(prompt):
        raise Refused(fail(400, broken))
    return prompt


def _check_key(http: HttpRequest, api_key: str) -> None:
    given = http.headers.get("authorization", "").removeprefix("Bearer ") or http.headers.get("x-api-key", "")
    if not compare_digest(given.encode(), api_key.encode()):
        raise Refused(fail(401, "invalid x-api-key"))


async def _request_id(http: HttpRequest) -> str:
    return f"req_{hashlib.sha256(await http.body()).hexdigest()[:24]}"
