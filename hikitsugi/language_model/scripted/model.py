"""A model that answers by a script, and a log of what it was asked."""

import json
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass

from pydantic import JsonValue

from hikitsugi.language_model.scripted.answers import Answer, Called, Fail, Reaction, Said, fail, settle
from hikitsugi.language_model.scripted.prefix import points, whole
from hikitsugi.language_model.scripted.request import Request

Script = Callable[[Request], Reaction | None]
_SHORTEST_CACHED_TOKENS = 512
_CUT = frozenset({"max_tokens", "refusal", "model_context_window_exceeded"})
"""Ends at which a real model's text does not follow the wanted form."""


@dataclass
class Received:
    """One well-formed request: its body, which arrival of it this was, and whether its reply went out whole."""

    body: Request
    digest: str
    attempt: int
    answered: bool = False


class ScriptedModel:
    """Reacts to requests by a script; what it answers depends on the request and on how often it arrived."""

    def __init__(self, script: Script, api_key: str = "scripted", unknown: Collection[str] = ()) -> None:
        self.api_key = api_key
        self.unknown = frozenset(unknown)
        """The models it does not offer; it answers under any other name."""
        self.requests: list[Received] = []
        self._script = script
        self._arrivals: Counter[str] = Counter()
        self._cached: set[str] = set()

    @property
    def paid(self) -> int:
        """How many replies went out whole."""
        return sum(received.answered for received in self.requests)

    def receive(self, request: Request) -> Received:
        """Write a request into the log."""
        digest = whole(request).digest
        received = Received(request, digest, self._arrivals[digest])
        self._arrivals[digest] += 1
        self.requests.append(received)
        return received

    def react(self, received: Received) -> Answer | Fail:
        """What the script does about a request; a mistake of the script's comes back as a refusal that names it."""
        try:
            reaction = self._script(received.body)
        except Exception as mistake:  # noqa: BLE001  # a script is somebody else's code
            return _mistake(f"{type(mistake).__name__}: {mistake}")
        if reaction is None:
            return _mistake(f"it has no reply for turn {received.body.turn}")
        reaction = settle(reaction, received.attempt)
        problem = _misfit(received.body, reaction) if isinstance(reaction, Answer) else None
        return _mistake(problem) if problem else reaction

    def usage(self, received: Received) -> dict[str, JsonValue]:
        """What the prompt counts as: read from the cache up to where another request's prompt ended."""
        read = total = 0
        for point in points(received.body):
            total = point.tokens
            # A repeated request does not find its own traces, so that it gets an equal reply.
            if point.digest in self._cached and point.digest != received.digest:
                read = point.tokens
        written = 0
        if received.body.cache_control and total >= _SHORTEST_CACHED_TOKENS:
            written = total - read
            self._cached.add(received.digest)
        return {
            "input_tokens": total - read - written,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
            "service_tier": "standard",
        }


def _mistake(problem: str) -> Fail:
    return fail(400, f"the model's script is wrong: {problem}")


def _misfit(request: Request, answer: Answer) -> str | None:
    """Why the answer cannot be what a real model would give to this request."""
    if answer.breakage and not request.stream:
        return "a broken stream needs a request with stream: true"
    if request.output_config.format is None or any(isinstance(part, Called) for part in answer.parts):
        return None
    if answer.stop_reason in _CUT:
        return None
    text = "".join(part.text for part in answer.parts if isinstance(part, Said))
    try:
        given = json.loads(text)
    except ValueError:
        return f"the request wants JSON, and this is none: {text[:80]!r}"
    wanted = request.output_config.format.schema_.get("required")
    missing = [key for key in wanted if key not in given] if isinstance(wanted, list) else []
    return f"the request's schema requires {', '.join(map(str, missing))}" if missing else None
