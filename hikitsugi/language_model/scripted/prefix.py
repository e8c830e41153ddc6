"""Everything before a point of a conversation: what caching compares and what a thinking block is bound to."""

import hashlib
import hmac
import json
from collections.abc import Iterator

from pydantic import BaseModel, JsonValue

from hikitsugi.language_model.scripted.request import Prompt
from hikitsugi.language_model.tokens import estimate

# A fixed key, so that a conversation goes on after the server was restarted.
_SIGNING_KEY = b"scripted model"


def canonical(value: BaseModel | dict[str, JsonValue]) -> str:
    """The same text for the same meaning; where a cache ends is no part of the meaning."""
    plain = value.model_dump(mode="json", exclude_unset=True) if isinstance(value, BaseModel) else value
    meant = {key: item for key, item in plain.items() if key != "cache_control" and item is not None}
    return json.dumps(meant, sort_keys=True, ensure_ascii=False)


class Prefix:
    """Grows block by block; each point has a digest and a length in tokens."""

    def __init__(self, prompt: Prompt) -> None:
        self._hash = hashlib.sha256()
        self.tokens = 0
        self._grow(prompt.model, counted=False)
        self._grow(prompt.system)
        for tool in prompt.tools:
            self._grow(canonical(tool))

    @property
    def digest(self) -> str:
        """Names this point; equal exactly when everything before it is equal."""
        return self._hash.hexdigest()

    def add(self, role: str, block: BaseModel | dict[str, JsonValue]) -> None:
        """Go past one content block."""
        self._grow(role, counted=False)
        self._grow(canonical(block))

    def sign(self, thinking: str) -> str:
        """The signature of a thought at this point."""
        bound = f"{self.digest}\n{thinking}".encode()
        return hmac.new(_SIGNING_KEY, bound, hashlib.sha256).hexdigest()

    def _grow(self, text: str, *, counted: bool = True) -> None:
        self._hash.update(f"{len(text)}:{text}".encode())
        self.tokens += estimate(text) if counted else 0


def points(prompt: Prompt) -> Iterator[Prefix]:
    """The prefix after system and tools, and then after each block; one object that grows."""
    prefix = Prefix(prompt)
    yield prefix
    for message in prompt.messages:
        for block in message.content:
            prefix.add(message.role, block)
            yield prefix


def whole(prompt: Prompt) -> Prefix:
    """The prefix that is the whole prompt."""
    *_, last = points(prompt)
    return last
