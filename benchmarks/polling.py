"""What watching costs: calls per look, against the design that asks for the comments of every issue; and time."""

import asyncio
import math
import tempfile
import time as clock
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from github import Auth, Github
from gitlab import Gitlab

from activities.forge_activities import ForgeActivities, Hear
from hikitsugi.devforge.kinds import KindName
from hikitsugi.domain.conversation import Opening, Turn
from hikitsugi.domain.policy import Policy
from hikitsugi.domain.ports import Cursor, Sighting
from hikitsugi.domain.redaction import Redactor
from hikitsugi.forges.client import PAGE_SIZE
from hikitsugi.memory.opening import open_memory
from tests.forges.world import ADAPTERS, TOKENS, World, world

SHORT, LONG = (50, 500), (50, 500, 5000)
REALLY_ASKED = 50
CHANGED = 10
THREADS = (100, 10_000)


class Look(NamedTuple):
    """What one look saw, and what it cost; a 304 costs no quota on GitHub."""

    sighting: Sighting
    calls: int
    free: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.calls:3} calls, {self.free} free, {self.seconds * 1000:4.0f} ms"


async def measure() -> None:
    """Print calls per look for 50 and 500 open issues, and the time to decide about one issue."""
    await _measure(SHORT)


async def measure_long() -> None:
    """The same, and for 5,000 open issues too."""
    await _measure(LONG)


async def _measure(sizes: tuple[int, ...]) -> None:
    columns = [f"{name:26}" for name in ("idle look", "10 new comments", "the look after")]
    print(" | ".join(["forge ", "issues", *columns, "per issue"]))
    for kind in ADAPTERS:
        for size in sizes:
            await _looks(kind, size)
    print("\nforge  | comments on the issue | calls | a look that finds a new one | deciding about it")
    for kind in ADAPTERS:
        for size in THREADS:
            await _decision(kind, size)


async def _looks(kind: KindName, size: int) -> None:
    """One line: three looks at a repository with many open issues."""
    with tempfile.TemporaryDirectory() as folder:
        async with world(kind, Path(folder)) as here:
            with here.earlier():
                addresses = [here.open_issue("task:misc") for _ in range(size)]
            naive = await _per_issue(here, size)
            idle = await _settled(here)
            for address in addresses[:CHANGED]:
                here.say(address, "one more thing")
            busy = await _look(here, idle.sighting.cursor)
            after = await _look(here, busy.sighting.cursor)
    assert idle.sighting.news == ()
    assert len(busy.sighting.news) == CHANGED
    ratio = f"{naive} calls: {naive / idle.calls:.0f} times an idle look, {naive / busy.calls:.0f} times a busy one"
    print(f"{kind:6} | {size:6} | {idle} | {busy} | {after} | {ratio}", flush=True)


async def _decision(kind: KindName, size: int) -> None:
    """One line: how long it takes from a look to knowing whether a comment counts, on an issue with many of them."""
    with tempfile.TemporaryDirectory() as folder:
        async with world(kind, Path(folder) / "forge") as here:
            with here.earlier():
                address = here.open_issue("task:misc")
                for n in range(size):
                    here.say(address, f"comment {n}")
            idle = await _settled(here)
            here.say(address, "one more thing")
            look = await _look(here, idle.sighting.cursor)
            deciding = await _deciding(here, look, Path(folder))
    print(
        f"{kind:6} | {size:21} | {look.calls:5} | {look.seconds * 1000:24.0f} ms | {deciding * 1000:14.0f} ms",
        flush=True,
    )


async def _deciding(here: World, look: Look, folder: Path) -> float:
    """How long the step `hear` takes where the model was given every older comment."""
    [news] = look.sighting.news
    known = [comment.version for comment in await here.forge.read_comments(news.address)][:-1]
    opening = Opening(
        id="conversation",
        issue=news.address,
        session=1,
        purpose="plain_work",
        system="",
        turns=(Turn.of_text("user", "Please."),),
        comments=tuple(known),
        opened_at=datetime.now(UTC),
    )
    async with open_memory(f"sqlite+aiosqlite:///{folder / 'memory.db'}") as memory:
        await memory.open_conversation(opening)
        steps = ForgeActivities({here.name: here.forge}, {here.name: Policy()}, memory, Redactor(), confined=True)
        request = Hear(issue=news.address, issue_author="ann", accept_from=("author",), comments=news.comments)
        began = clock.perf_counter()
        accepted = await steps.hear(request)
    assert len(accepted) == 1
    return clock.perf_counter() - began


async def _settled(here: World) -> Look:
    """An idle look, some looks after the first one."""
    await here.forge.whoami()
    cursor = await here.started()
    for _ in range(2):
        cursor = (await here.forge.look(here.home, cursor)).cursor
    return await _look(here, cursor)


async def _look(here: World, cursor: Cursor) -> Look:
    here.calls()
    began = clock.perf_counter()
    sighting = await here.forge.look(here.home, cursor)
    seconds = clock.perf_counter() - began
    calls = here.calls()
    return Look(sighting, len(calls), sum(status == 304 for _, status in calls), seconds)


async def _per_issue(here: World, size: int) -> int:
    """How many calls the design that lists the issues and then asks each for its comments would make."""
    expected = math.ceil(size / PAGE_SIZE) + size
    if size <= REALLY_ASKED:
        here.calls()
        await asyncio.to_thread(_ask_github if here.name == "github" else _ask_gitlab, here)
        assert len(here.calls()) == expected
    return expected


def _ask_github(here: World) -> None:
    with Github(base_url=here.url, auth=Auth.Token(TOKENS["bot"]), per_page=PAGE_SIZE, lazy=True, retry=None) as client:
        for issue in client.get_repo(here.repository).get_issues():
            list(issue.get_comments())


def _ask_gitlab(here: World) -> None:
    with Gitlab(here.url, private_token=TOKENS["bot"], per_page=PAGE_SIZE) as client:
        for issue in client.projects.get(here.repository, lazy=True).issues.list(iterator=True):
            issue.notes.list(get_all=True)
