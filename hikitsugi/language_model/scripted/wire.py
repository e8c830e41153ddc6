"""Replies and errors in the form they cross the wire in."""

import hashlib
import json
from collections.abc import Iterator

from pydantic import BaseModel, JsonValue

from hikitsugi.language_model.scripted.answers import Answer, Called, Said, Thought
from hikitsugi.language_model.scripted.prefix import Prefix, canonical, whole
from hikitsugi.language_model.scripted.request import Request
from hikitsugi.language_model.tokens import estimate

Json = dict[str, JsonValue]
_PIECE = 24


class Message(BaseModel):
    """A whole reply."""

    id: str
    type: str = "message"
    role: str = "assistant"
    model: str
    content: list[Json]
    stop_reason: str | None
    stop_sequence: str | None = None
    usage: Json


def compose(request: Request, answer: Answer, usage: Json) -> Message:
    """The reply; its ids depend on the request alone, so that a repeated request gets an equal one."""
    prefix = whole(request)
    seed = prefix.digest
    shows_thoughts = request.thinking is not None and request.thinking.display == "summarized"
    content: list[Json] = []
    for index, part in enumerate(answer.parts):
        block = _block(part, prefix, f"{seed}{index}", shows_thoughts=shows_thoughts)
        prefix.add("assistant", block)
        content.append(block)
    calls = any(isinstance(part, Called) for part in answer.parts)
    return Message(
        id=f"msg_{_short(seed)}",
        model=request.model,
        content=content,
        stop_reason=answer.stop_reason or ("tool_use" if calls else "end_turn"),
        usage={**usage, "output_tokens": 1 + sum(estimate(canonical(block)) for block in content)},
    )


def _block(part: Said | Thought | Called, prefix: Prefix, seed: str, *, shows_thoughts: bool) -> Json:
    match part:
        case Said(text):
            return {"type": "text", "text": text}
        case Thought(text):
            shown = text if shows_thoughts else ""
            return {"type": "thinking", "thinking": shown, "signature": prefix.sign(shown)}
        case Called(tool, given):
            direct: Json = {"type": "direct"}
            return {"type": "tool_use", "id": f"toolu_{_short(seed)}", "name": tool, "input": given, "caller": direct}


def _short(seed: str) -> str:
    return hashlib.sha256(seed.encode()).hexdigest()[:24]


def events(message: Message) -> Iterator[str]:
    """The reply as server-sent events."""
    start = message.model_copy(
        update={"content": [], "stop_reason": None, "usage": {**message.usage, "output_tokens": 1}}
    )
    yield event("message_start", {"message": start.model_dump(mode="json")})
    yield event("ping", {})
    for index, block in enumerate(message.content):
        yield event("content_block_start", {"index": index, "content_block": {**block, **_EMPTY[str(block["type"])]}})
        for delta in _deltas(block):
            yield event("content_block_delta", {"index": index, "delta": delta})
        yield event("content_block_stop", {"index": index})
    delta: Json = {"stop_reason": message.stop_reason, "stop_sequence": None}
    yield event("message_delta", {"delta": delta, "usage": message.usage})
    yield event("message_stop", {})


_EMPTY: dict[str, Json] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
}


def _deltas(block: Json) -> Iterator[Json]:
    match block["type"]:
        case "text":
            yield from _pieces("text_delta", "text", str(block["text"]))
        case "thinking":
            yield from _pieces("thinking_delta", "thinking", str(block["thinking"]))
            yield {"type": "signature_delta", "signature": block["signature"]}
        case _:
            yield from _pieces("input_json_delta", "partial_json", json.dumps(block["input"], ensure_ascii=False))


def _pieces(kind: str, key: str, text: str) -> Iterator[Json]:
    for start in range(0, len(text), _PIECE):
        yield {"type": kind, key: text[start : start + _PIECE]}


def event(name: str, data: Json) -> str:
    """One named event."""
    return f"event: {name}\ndata: {json.dumps({'type': name, **data}, ensure_ascii=False)}\n\n"


def described(model: str) -> Json:
    """What is told of a model."""
    return {
        "type": "model",
        "id": model,
        "display_name": model,
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active",
    }


def error(error_type: str, message: str, request_id: str, error_code: str | None = None) -> Json:
    """The body of an error."""
    details: Json = {"details": {"error_code": error_code}} if error_code else {}
    return {
        "type": "error",
        "error": {"type": error_type, "message": message, **details},
        "request_id": request_id,
    }
