"""What a script answers with: parts of a reply, put together with `+`, and the faults a provider can have."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import JsonValue

ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(frozen=True)
class Said:
    """A text."""

    text: str


@dataclass(frozen=True)
class Thought:
    """A thought, which the server signs."""

    text: str


@dataclass(frozen=True)
class Called:
    """A call of a tool."""

    tool: str
    input: dict[str, JsonValue]


@dataclass(frozen=True)
class Breakage:
    """How a stream goes wrong half way: an error event, a cut connection, a clean end too early, or silence."""

    kind: Literal["error", "cut", "early_eof", "stall"]
    error_type: str = "overloaded_error"


@dataclass(frozen=True)
class Answer:
    """A reply of the model."""

    parts: tuple[Said | Thought | Called, ...] = ()
    stop_reason: str | None = None
    delay: float = 0
    breakage: Breakage | None = None

    def __add__(self, other: "Answer") -> "Answer":
        return Answer(
            self.parts + other.parts,
            stop_reason=other.stop_reason or self.stop_reason,
            delay=self.delay + other.delay,
            breakage=other.breakage or self.breakage,
        )

    def ending(self, stop_reason: str) -> "Answer":
        """The same with a stop reason of its own, such as `max_tokens` or `refusal`."""
        return replace(self, stop_reason=stop_reason)

    def delayed(self, seconds: float) -> "Answer":
        """The same, after a while."""
        return replace(self, delay=seconds)

    def cut(self) -> "Answer":
        """Half of it, then the connection is torn."""
        return replace(self, breakage=Breakage("cut"))

    def early_eof(self) -> "Answer":
        """Half of it, then the stream ends as if all was well."""
        return replace(self, breakage=Breakage("early_eof"))

    def stalled(self) -> "Answer":
        """Half of it, then nothing more, until the caller leaves."""
        return replace(self, breakage=Breakage("stall"))

    def stream_error(self, error_type: str = "overloaded_error") -> "Answer":
        """Half of it, then an error event."""
        return replace(self, breakage=Breakage("error", error_type))


@dataclass(frozen=True)
class Fail:
    """An HTTP error instead of a reply."""

    status: int
    message: str
    headers: dict[str, str] = field(default_factory=dict[str, str])
    error_code: str | None = None
    delay: float = 0

    @property
    def error_type(self) -> str:
        """The type that belongs to the status."""
        return ERROR_TYPES.get(self.status, "api_error")

    def delayed(self, seconds: float) -> "Fail":
        """The same, after a while."""
        return replace(self, delay=seconds)


@dataclass(frozen=True)
class First:
    """A fault for the first few times that the same request arrives, and what comes then."""

    times: int
    fault: "Reaction"
    then: "Reaction"


Reaction = Answer | Fail | First


def say(text: str) -> Answer:
    """Say something; the reply ends here unless a tool is used too."""
    return Answer((Said(text),))


def think(text: str) -> Answer:
    """Think something, signed and bound to the conversation before it."""
    return Answer((Thought(text),))


def use(tool: str, /, **given: JsonValue) -> Answer:
    """Call a tool; several calls put together with `+` are made in parallel."""
    return Answer((Called(tool, given),))


def fail(
    status: int, message: str = "", *, retry_after: float | str | None = None, code: str | None = None, **headers: str
) -> Fail:
    """Refuse with an HTTP error; `retry_after` is in seconds or a date, further headers by keyword."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if retry_after is not None:
        sent["retry-after"] = str(retry_after)
    return Fail(status, message or ERROR_TYPES.get(status, "error").replace("_", " "), sent, code)


def first(times: int, fault: Reaction, *, then: Reaction) -> First:
    """The fault for the first `times` arrivals of the same request, then the other."""
    return First(times, fault, then)


def settle(reaction: Reaction, attempt: int) -> Answer | Fail:
    """What the reaction is on the given attempt, counted from 0."""
    while isinstance(reaction, First):
        is_early = attempt < reaction.times
        attempt -= reaction.times
        reaction = reaction.fault if is_early else reaction.then
    return reaction
