"""Carries webhooks: a thread beside the forge, so that no change ever waits for a receiver."""

import http.client
import json
import threading
import time
import uuid
from queue import SimpleQueue
from urllib.parse import urlsplit

from hikitsugi.devforge.events import Event
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.github import post as github_post
from hikitsugi.devforge.gitlab import post as gitlab_post
from hikitsugi.devforge.hooks import Delivery, Hook, Letter, Outcome
from hikitsugi.devforge.records import Entry
from hikitsugi.devforge.repository import Repository

_TIMEOUT_SECONDS = 10
_LONGEST_GOODBYE_SECONDS = 2
_REMEMBERED_ANSWER = 10_000
_POSTS = {"github": github_post, "gitlab": gitlab_post}


class Courier:
    """Sends what happens on a forge to the hooks of its repositories, in order and once."""

    def __init__(self, forge: DevForge, site: str) -> None:
        self._forge = forge
        self._site = site
        self._post = _POSTS[forge.kind.name]
        self._jobs: SimpleQueue[tuple[Repository, Entry | tuple[Letter, bool]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="courier", daemon=True)
        self._stop_listening = lambda: None

    def start(self) -> None:
        """Begin to listen and to carry."""
        self._stop_listening = self._forge.listen(self._hear)
        self._thread.start()

    def close(self) -> None:
        """Stop listening, and give the letters on their way a moment."""
        self._stop_listening()
        self._jobs.put(None)
        if self._thread.is_alive():
            self._thread.join(_LONGEST_GOODBYE_SECONDS)

    def send(self, home: Repository, hook: Hook, event: Event) -> None:
        """Send one event to one hook."""
        self._jobs.put((home, (_letter(hook, event), False)))

    def send_again(self, home: Repository, delivery: Delivery) -> None:
        """Send the same letter once more, under the same key."""
        self._jobs.put((home, (delivery.letter, True)))

    def _hear(self, home: Repository, entry: Entry) -> None:
        if home.hooks.all:
            self._jobs.put((home, entry))

    def _work(self) -> None:
        while job := self._jobs.get():
            home, task = job
            if isinstance(task, tuple):
                self._carry(home, *task)
                continue
            for event in self._post.events(self._site, home, task):
                for hook in home.hooks.wanting(event.name):
                    self._carry(home, _letter(hook, event), is_repeat=False)

    def _carry(self, home: Repository, letter: Letter, is_repeat: bool) -> None:  # noqa: FBT001 - unpacked from a job
        headers = self._post.headers(self._site, home, letter)
        home.hooks.record(letter, headers, _deliver(letter, headers), is_repeat=is_repeat)


def _letter(hook: Hook, event: Event) -> Letter:
    body = json.dumps(event.payload, ensure_ascii=False, separators=(",", ":")).encode()
    return Letter(hook, str(uuid.uuid4()), event.name, event.action, body)


def _deliver(letter: Letter, headers: dict[str, str]) -> Outcome:
    began = time.monotonic()
    address = urlsplit(letter.hook.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_TIMEOUT_SECONDS)
    try:
        path = f"{address.path or '/'}{f'?{address.query}' if address.query else ''}"
        connection.request("POST", path, letter.body, headers)
        answer = connection.getresponse()
        text = answer.read(_REMEMBERED_ANSWER).decode(errors="replace")
        return Outcome(time.monotonic() - began, answer.status, text)
    except (OSError, http.client.HTTPException) as reason:
        return Outcome(time.monotonic() - began, 0, str(reason))
    finally:
        connection.close()
