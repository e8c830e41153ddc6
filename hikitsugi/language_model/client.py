"""The language model behind Anthropic's Messages API."""

import logging
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

from anthropic import transform_schema
from anthropic.types import Message, OutputConfigParam, ThinkingConfigAdaptiveParam
from pydantic import SecretStr

from hikitsugi.domain.conversation import Reply, Transcript, Turn, Usage
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.phase_replies import REPLIES
from hikitsugi.language_model.connection import connection, told_plainly
from hikitsugi.language_model.prices import PRICE_VERSION, PriceList
from hikitsugi.language_model.turns import as_messages

THINKING: ThinkingConfigAdaptiveParam = {"type": "adaptive", "display": "summarized"}
OUTPUT: OutputConfigParam = {"effort": "high"}
SILENCE = timedelta(seconds=120)
_WHOLE = frozenset({"message_start", "message_delta", "message_stop"})

_log = logging.getLogger(__name__)


class AnthropicModel:
    """Continues conversations with one model; every call is streamed and tried once."""

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: SecretStr,
        model: str,
        max_tokens: int,
        prices: PriceList,
        silence: timedelta = SILENCE,
    ) -> None:
        self._key = api_key.get_secret_value().strip()
        self._model = model
        self._max_tokens = max_tokens
        self._prices = prices
        self._client = connection(base_url, self._key, silence)
        if not prices.knows(model):
            _log.warning("no price is known for model %s; set llm.prices to have its cost counted", model)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def reply(self, transcript: Transcript) -> Reply:
        """The next turn."""
        with told_plainly(self._key):
            message = await self._stream(transcript)
        return self._as_reply(message)

    async def _stream(self, transcript: Transcript) -> Message:
        seen: set[str] = set()
        async with self._client.messages.stream(**self._request(transcript)) as stream:
            if not stream.response.headers.get("content-type", "").startswith("text/event-stream"):
                raise WillNeverWork("The model's address does not speak the Messages API; check llm.base_url.")
            async for event in stream:
                seen.add(event.type)
            # The client takes a stream that merely ends for a whole one.
            if not seen >= _WHOLE or stream.current_message_snapshot.stop_reason is None:
                raise TryAgainLater("The model's answer ended before it was complete.")
            return stream.current_message_snapshot

    def _request(self, transcript: Transcript) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._model,
            "max_tokens": self._max_tokens,
            "messages": as_messages(transcript.turns),
            "thinking": THINKING,
            "output_config": _output(transcript.purpose),
            "cache_control": {"type": "ephemeral"},
        }
        if transcript.system:
            request["system"] = transcript.system
        if transcript.tools:
            request["tools"] = [tool.model_dump(mode="json") for tool in transcript.tools]
        return request

    def _as_reply(self, message: Message) -> Reply:
        usage = Usage(
            input_tokens=message.usage.input_tokens,
            cache_read_tokens=message.usage.cache_read_input_tokens or 0,
            cache_write_tokens=message.usage.cache_creation_input_tokens or 0,
            output_tokens=message.usage.output_tokens,
        )
        content = [block.to_dict(mode="json") for block in message.content]
        return Reply(
            turn=Turn.model_validate({"role": "assistant", "content": content}),
            stop_reason=str(message.stop_reason),
            model=message.model,
            usage=usage,
            cost_usd=self._prices.cost(self._model, usage),
            price_version=PRICE_VERSION,
        )


def _output(purpose: str) -> OutputConfigParam:
    """A phase of planned work wants its final text as JSON; the same form over the whole conversation."""
    form = next((reply for phase, reply in REPLIES.items() if phase == purpose), None)
    return {**OUTPUT, "format": {"type": "json_schema", "schema": transform_schema(form)}} if form else OUTPUT
