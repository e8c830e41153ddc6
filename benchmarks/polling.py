"""What watching costs: calls per look, against the design that asks for the comments of every issue; and time."""

import asyncio
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
CHANGED = 10
THREADS = (100, 10_000)


class Cost(NamedTuple):
    """What something cost; a call answered 304 costs no quota on GitHub."""

    calls: int
    free: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.calls:3} calls, {self.free} free, {self.seconds * 1000:4.0f} ms"


class Looks(NamedTuple):
    """The costs of three looks in a row: nothing new, comments on ten issues, nothing new again."""

    idle: Cost
    busy: Cost
    after: Cost


class Decision(NamedTuple):
    """The costs of finding a new comment, and of knowing whether it counts."""

    look: Cost
    hearing: Cost


async def measure() -> None:
    """Print calls per look for 50 and 500 open issues, and the time to decide about one issue."""
    await _measure(SHORT)


async def measure_long() -> None:
    """The same, and for 5,000 open issues too."""
    await _measure(LONG)


async def _measure(sizes: tuple[int, ...]) -> None:
    columns = [f"{name:26}" for name in ("idle look", "10 new comments", "the look after")]
    print(" | ".join(["forge ", "issues", *columns, "asking every issue"]))
    for kind in ADAPTERS:
        for size in sizes:
            looks, naive = await looked(kind, size), await asked_per_issue(kind, size)
            ratios = (
                f"{naive / looks.idle.calls:.0f} times an idle look, {naive / looks.busy.calls:.0f} times a busy one"
            )
            print(" | ".join([f"{kind:6}", f"{size:6}", *map(str, looks), f"{naive} calls: {ratios}"]), flush=True)
    print(f"\nforge  | comments on the issue | {'a look that finds one more':26} | deciding whether it counts")
    for kind in ADAPTERS:
        for size in THREADS:
            print(" | ".join([f"{kind:6}", f"{size:21}", *map(str, await decided(kind, size))]), flush=True)


async def looked(kind: KindName, issues: int) -> Looks:
    """Look at a repository with many open issues; every look is checked to have seen what there was."""
    with tempfile.TemporaryDirectory() as folder:
        async with world(kind, Path(folder)) as here:
            with here.earlier():
                addresses = [here.open_issue("task:misc") for _ in range(issues)]
            nothing, idle = await _look(here, await _settled(here))
            for address in addresses[:CHANGED]:
                here.say(address, "one more thing")
            found, busy = await _look(here, nothing.cursor)
            repeated, after = await _look(here, found.cursor)
    told = [len([comment for news in seen.news for comment in news.comments]) for seen in (nothing, found, repeated)]
    assert told == [0, CHANGED, 0]
    return Looks(idle, busy, after)


async def asked_per_issue(kind: KindName, issues: int) -> int:
    """How many calls the design makes that lists the issues and then asks each for its comments."""
    with tempfile.TemporaryDirectory() as folder:
        # It would pass what GitHub allows in an hour.
        async with world(kind, Path(folder), call_limit=10 * issues) as here:
            for _ in range(issues):
                here.open_issue("task:misc")
            await asyncio.to_thread(_ask_github if kind == "github" else _ask_gitlab, here)
            return len(here.calls())


async def decided(kind: KindName, comments: int) -> Decision:
    """Find one more comment on an issue with many that the model was given, and decide whether it counts."""
    with tempfile.TemporaryDirectory() as folder:
        async with world(kind, Path(folder) / "forge") as here:
            with here.earlier():
                address = here.open_issue("task:misc")
                for n in range(comments):
                    here.say(address, f"comment {n}")
            cursor = await _settled(here)
            here.say(address, "one more thing")
            found, look = await _look(here, cursor)
            return Decision(look, await _heard(here, found, Path(folder)))


async def _heard(here: World, found: Sighting, folder: Path) -> Cost:
    """The cost of the step `hear` where the model was given every older comment."""
    [news] = found.news
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
        watched = [comment.model_copy(update={"watched": True}) for comment in news.comments]
        request = Hear(issue=news.address, issue_author="ann", accept_from=("author",), comments=tuple(watched))
        here.calls()
        began = clock.perf_counter()
        accepted = await steps.hear(request)
    assert len(accepted) == 1
    return _cost(here, began)


async def _settled(here: World) -> Cursor:
    """A position some looks after the first one."""
    await here.forge.whoami()
    cursor = await here.started()
    for _ in range(2):
        cursor = (await here.forge.look(here.home, cursor)).cursor
    return cursor


async def _look(here: World, cursor: Cursor) -> tuple[Sighting, Cost]:
    here.calls()
    began = clock.perf_counter()
    sighting = await here.forge.look(here.home, cursor)
    return sighting, _cost(here, began)


def _cost(here: World, began: float) -> Cost:
    seconds = clock.perf_counter() - began
    calls = here.calls()
    return Cost(len(calls), sum(status == 304 for _, status in calls), seconds)


def _ask_github(here: World) -> None:
    client = Github(
        base_url=here.url,
        auth=Auth.Token(TOKENS["bot"]),
        per_page=PAGE_SIZE,
        lazy=True,
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
    )
    with client:
        for issue in client.get_repo(here.repository).get_issues():
            list(issue.get_comments())


def _ask_gitlab(here: World) -> None:
    with Gitlab(here.url, private_token=TOKENS["bot"], per_page=PAGE_SIZE) as client:
        for issue in client.projects.get(here.repository, lazy=True).issues.list(iterator=True):
            issue.notes.list(get_all=True)
