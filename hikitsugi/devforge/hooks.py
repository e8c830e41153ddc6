"""Webhooks of one repository and what was sent to them."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock
from urllib.parse import urlsplit

from hikitsugi.devforge.journal import Clock
from hikitsugi.devforge.refusals import Invalid, NotThere

_THIS_MACHINE = {"127.0.0.1", "localhost", "::1"}
_REMEMBERED = 1000


@dataclass(frozen=True)
class Hook:
    """An address that wants to hear of events; the secret is GitHub's secret or GitLab's token."""

    id: int
    url: str
    events: frozenset[str]
    created_at: datetime
    updated_at: datetime
    secret: str = field(default="", repr=False)
    signing_token: str = field(default="", repr=False)
    is_active: bool = True


@dataclass(frozen=True)
class Letter:
    """One event as it goes to one hook; the same key is used when it goes again."""

    hook: Hook
    key: str
    event: str
    action: str | None
    body: bytes = field(repr=False)


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended; status 0 means that nobody answered."""

    seconds: float
    status: int
    answer: str


@dataclass(frozen=True)
class Delivery:
    """One attempt to deliver a letter."""

    id: int
    letter: Letter
    at: datetime
    headers: Mapping[str, str] = field(repr=False)
    outcome: Outcome
    is_repeat: bool

    @property
    def arrived(self) -> bool:
        """Whether the receiver took it."""
        return 200 <= self.outcome.status < 300  # noqa: PLR2004 - the 2xx of HTTP


class Hooks:
    """Who wants to hear of a repository's events."""

    def __init__(self, next_id: Callable[[], int], now: Clock) -> None:
        self._next_id = next_id
        self._now = now
        self._lock = Lock()
        self._hooks: dict[int, Hook] = {}
        self._deliveries: deque[Delivery] = deque(maxlen=_REMEMBERED)

    @property
    def all(self) -> list[Hook]:
        """All hooks, oldest first."""
        return list(self._hooks.values())

    def hook(self, hook_id: int) -> Hook:
        """One hook."""
        try:
            return self._hooks[hook_id]
        except KeyError:
            raise NotThere(f"hook {hook_id}") from None

    def add(self, url: str, events: Iterable[str], secret: str = "", signing_token: str = "") -> Hook:
        """Let an address of this machine hear of events."""
        _refuse_other_machines(url)
        with self._lock:
            now = self._now()
            hook = Hook(self._next_id(), url, frozenset(events), now, now, secret, signing_token)
            self._hooks[hook.id] = hook
            return hook

    def change(self, hook: Hook) -> Hook:
        """Put a changed hook in the old one's place."""
        _refuse_other_machines(hook.url)
        with self._lock:
            self._hooks[self.hook(hook.id).id] = replace(hook, updated_at=self._now())
            return self._hooks[hook.id]

    def remove(self, hook_id: int) -> None:
        """Send nothing there any more."""
        with self._lock:
            del self._hooks[self.hook(hook_id).id]

    def wanting(self, event: str) -> list[Hook]:
        """The hooks that want to hear of an event."""
        return [hook for hook in self.all if hook.is_active and hook.events & {event, "*"}]

    def record(self, letter: Letter, headers: Mapping[str, str], outcome: Outcome, *, is_repeat: bool) -> None:
        """Note what became of a letter."""
        with self._lock:
            self._deliveries.append(Delivery(self._next_id(), letter, self._now(), headers, outcome, is_repeat))

    def deliveries(self, hook_id: int | None = None) -> list[Delivery]:
        """What was sent, oldest first."""
        return [one for one in list(self._deliveries) if hook_id in {None, one.letter.hook.id}]

    def delivery(self, hook_id: int, delivery_id: int) -> Delivery:
        """One attempt."""
        found = next((one for one in self.deliveries(hook_id) if one.id == delivery_id), None)
        if not found:
            raise NotThere(f"delivery {delivery_id}")
        return found


def _refuse_other_machines(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_ours = parts.scheme == "http" and parts.hostname in _THIS_MACHINE and (parts.port or 80) > 0
    except ValueError:
        is_ours = False
    if not is_ours:
        raise Invalid("Hook", "url", "custom", "url must be an http address of this machine")
