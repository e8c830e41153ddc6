"""The way to the model's provider, with every failure in plain words."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta

import anthropic
import httpx2

from hikitsugi.domain.errors import HikitsugiError, TryAgainLater, WillNeverWork
from hikitsugi.domain.redaction import Redactor
from hikitsugi.language_model.failures import translate

_ANTHROPIC = "https://api.anthropic.com"
_CONNECTING = timedelta(seconds=10)
_LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")


def connection(base_url: str | None, key: str, silence: timedelta) -> anthropic.AsyncAnthropic:
    """A client that takes nothing from the environment but a proxy, and none towards this machine."""
    timeout = httpx2.Timeout(silence.total_seconds(), connect=_CONNECTING.total_seconds())
    http = anthropic.DefaultAsyncHttpxClient(
        timeout=timeout, follow_redirects=False, mounts=dict.fromkeys(_LOOPBACK, None)
    )
    return anthropic.AsyncAnthropic(
        base_url=base_url or _ANTHROPIC,
        api_key=key,
        max_retries=0,
        timeout=timeout,
        http_client=http,
        open_telemetry=False,
    )


@contextmanager
def told_plainly(key: str) -> Generator[None]:
    """Turn what goes wrong in a call into one of our two errors, without the key."""
    if not (key and key.isascii() and key.isprintable()):
        raise WillNeverWork("The key for the model is missing or malformed; set llm.api_key.")
    try:
        yield
    except (anthropic.AnthropicError, httpx2.HTTPError, ValueError) as error:
        raise _without(key, translate(error)) from None


def _without(key: str, failure: HikitsugiError) -> HikitsugiError:
    text = Redactor([key])(str(failure))
    return TryAgainLater(text, after=failure.after) if isinstance(failure, TryAgainLater) else WillNeverWork(text)
