"""A town for the kill tests: two forges, their issues and one model, all outside the worker that is killed."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from hikitsugi.devforge import DevForge
from hikitsugi.devforge import serve as serve_forge
from hikitsugi.devforge.kinds import KindName
from hikitsugi.language_model.scripted import Answer, Request, ScriptedModel
from hikitsugi.language_model.scripted import serve as serve_model
from hikitsugi.language_model.scripted.wire import compose
from tests.end_to_end.stage import AUTHOR, BOT, MODEL_KEY, TOKENS, until
from tests.faults.canonical import SeenIssue, canonical, cost_of
from tests.faults.conversations import BODIES, Conversation, Thread, reply, reply_by_plan, turns_by_chance

KINDS: tuple[KindName, ...] = ("github", "gitlab")
FILES = {"README.md": "# town\n"}


class Town:
    """Issues that alternate between the forges, each with a conversation of its own."""

    def __init__(self, folder: Path, conversations: Sequence[Conversation], *, planned: bool = False) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.config = folder / "hikitsugi.yaml"
        self.workshop = Path("/var/tmp") / f"hikitsugi-tests-{uuid4().hex[:8]}"  # noqa: S108 - where the sandbox can go
        self.conversations = conversations
        self.planned = planned
        self.repository = f"town/{uuid4().hex[:8]}"
        self.forges = [self._forge(kind) for kind in KINDS]
        self.asked: dict[str, Request] = {}
        self.paid_again: list[str] = []
        self.model = ScriptedModel(self._reply, api_key=MODEL_KEY)
        self.threads = [self._thread(number) for number in range(len(conversations))]
        self.turns = [asyncio.Event() for _ in conversations]

    async def live(self) -> list[SeenIssue]:
        """Hold every conversation when its turn comes; what is seen of the issues in the end."""
        await asyncio.gather(*(self._hold(number) for number in range(len(self.conversations))))
        return [
            canonical(thread.forge, thread.repository, thread.number, by_chance)
            for thread, by_chance in zip(self.threads, self.turns_by_chance, strict=True)
        ]

    @property
    def turns_by_chance(self) -> list[int]:
        """How many turns the model took on each issue that it might have done without."""
        titles = [thread.forge.issue(thread.repository, thread.number).title for thread in self.threads]
        return [turns_by_chance(self.asked[title]) for title in titles]

    @property
    def costs(self) -> list[float]:
        """What the work on each issue cost."""
        return [cost_of(thread.forge, thread.repository, thread.number) for thread in self.threads]

    def begin(self, share: float = 1.0) -> None:
        """Let a share of the conversations begin."""
        for turn in self.turns[: max(1, round(share * len(self.turns)))]:
            turn.set()

    async def stirs(self) -> None:
        """Wait until the product does anything that can be noticed from outside."""
        noticed = self._noticed

        async def stirring() -> bool:
            return self._noticed > noticed

        await until(stirring)

    @property
    def _noticed(self) -> int:
        return len(self.model.requests) + sum(len(forge.requests) for forge in self.forges)

    def figures(self) -> str:
        """How often the model was asked, and how many replies went out whole."""
        calls = f"{len(self.model.requests)} model calls, {self.model.paid} answered, {len(self.paid_again)} paid again"
        return f"{calls}, {sum(self.turns_by_chance)} turns by chance"

    def configure(self, forge_urls: Sequence[str], model_url: str, servers: dict[str, Any]) -> None:
        """Write the product's configuration."""
        self.workshop.mkdir(mode=0o711, exist_ok=True)
        forges = [
            {"name": kind, "kind": kind, "url": url, "token": TOKENS[BOT], "repositories": [self.repository]}
            for kind, url in zip(KINDS, forge_urls, strict=True)
        ]
        keys: dict[str, Any] = {
            "data_folder": str(self.folder / "data"),
            "forges": forges,
            "llm": {"base_url": model_url, "api_key": MODEL_KEY},
            "workspace": {"root": str(self.workshop)},
            "polling": {"interval_seconds": 0.5},
            "planning": {"enabled": self.planned},
            "plain": {"max_iterations": 1000},
            "sandbox": {"kind": "auto" if shutil.which("bwrap") else "none"},
            "broker": {"port": 0},
            "telemetry": {"metrics_port": 0},
        }
        self.config.write_text(json.dumps(keys | servers))

    async def _hold(self, number: int) -> None:
        await self.turns[number].wait()
        self.threads[number].calls()
        await self.conversations[number](self.threads[number])
        await self.threads[number].has_told_all()

    def _forge(self, kind: KindName) -> DevForge:
        forge = DevForge(self.folder / kind, kind)
        for name, token in TOKENS.items():
            forge.add_person(name, token, "write", is_bot=name == BOT)
        forge.add_repository(self.repository, FILES)
        return forge

    def _thread(self, number: int) -> Thread:
        """An issue that nobody asks to work on yet."""
        forge, conversation = self.forges[number % len(KINDS)], self.conversations[number]
        title = f"依頼 {number + 1}: {conversation.__name__}"
        issue = forge.open_issue(self.repository, title, BODIES.get(conversation, "答えを書いてください。"), AUTHOR)
        return Thread(forge, self.repository, issue.number, self.asked)

    def _reply(self, request: Request) -> Answer:
        answer = (reply_by_plan if self.planned else reply)(request)
        self.asked[request.texts[0].splitlines()[0].partition(": ")[2]] = request
        if self._is_stored(request, answer):
            self.paid_again.append(request.texts[0])
        return answer

    def _is_stored(self, request: Request, answer: Answer) -> bool:
        """Whether the product has kept this very reply already; the ids of its calls depend on the request alone."""
        [call] = compose(request, answer, {}).content
        if "id" not in call:
            return False
        with sqlite3.connect(f"file:{self.folder / 'data' / 'memory.db'}?mode=ro", uri=True) as store:
            query = "SELECT count(*) FROM messages WHERE role = 'assistant' AND content LIKE ?"
            [found] = store.execute(query, (f"%{call['id']}%",)).fetchone()
        store.close()
        return found > 0


@asynccontextmanager
async def town(
    folder: Path, conversations: Sequence[Conversation], servers: dict[str, Any], *, planned: bool = False
) -> AsyncGenerator[Town]:
    """Forges and model are up, the issues are there, and nothing of the product runs yet."""
    made = Town(folder, conversations, planned=planned)
    async with AsyncExitStack() as stack:
        urls = [await stack.enter_async_context(serve_forge(forge)) for forge in made.forges]
        model_url = await stack.enter_async_context(serve_model(made.model))
        made.configure(urls, model_url, servers)
        yield made


def assert_paid_alike(killed: Town, undisturbed: Town) -> None:
    """Nothing stored was paid again, and no issue cost more but for the turns that chance brought."""
    assert (undisturbed.paid_again, killed.paid_again) == ([], [])
    turns = zip(killed.turns_by_chance, undisturbed.turns_by_chance, strict=True)
    for (more, fewer), cost, usual in zip(turns, killed.costs, undisturbed.costs, strict=True):
        if more == fewer:
            # How long a command took is told in digits, and those count as tokens.
            assert cost == pytest.approx(usual, rel=0.01)
        else:
            assert (cost > usual) == (more > fewer)
