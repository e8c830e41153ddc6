"""The board is kept in step with the forge, at a cost that does not grow with what is open there."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from activities.board_keeper import BoardKeeper
from hikitsugi.app.embedded_valkey import embedded_valkey
from hikitsugi.board.board import RedisBoard
from hikitsugi.devforge.kinds import KindName
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.ports import Cursor
from hikitsugi.domain.selection import Rules, TaskType, shelf
from tests.forges.world import World, world

FEW, MANY = 3, 12


@pytest_asyncio.fixture(loop_scope="session")
async def board(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[RedisBoard]:
    async with embedded_valkey(tmp_path_factory.mktemp("valkey")) as url, Redis.from_url(url) as redis:
        yield RedisBoard(redis, ["CODER"])


class Kept:
    """A repository for agents with so many issues, and so many more with a request that waits for a review."""

    def __init__(self, here: World, board: RedisBoard) -> None:
        self.here = here
        self.board = board
        self.keeper = BoardKeeper({here.name: here.forge}, board, Rules(), [here.home])

    async def fills(self, many: int, folder: Path) -> None:
        home = self.here.dev.repository(self.here.repository)
        await self.here.push(await self.here.forge.git_remote(self.here.home), "topic", folder)
        for _ in range(many):
            self.here.dev.open_issue(self.here.repository, "Do it", "## Deliverables\n- a file", "ann", [])
            behind = self.here.open_issue("needs-review")
            head = f"feature/issue-{behind.number}"
            home.git.create_ref(f"refs/heads/{head}", self.here.branch("topic") or "")
            home.open_pull(self.here.dev.person("ann"), "Did it", "", head, "main")

    async def looks(self, cursor: Cursor | None) -> tuple[Cursor, int]:
        """One look, as the watcher takes it; where it came to and how many calls it made."""
        self.here.calls()
        seen = await self.here.forge.look(self.here.home, cursor)
        await self.keeper.keep(self.here.home, seen.news, afresh=cursor is None)
        return seen.cursor, len(self.here.calls())

    async def reviews(self) -> list[int]:
        """What is on the shelf for reviews."""
        name, seen = shelf(str(self.here.home), "CODER", TaskType.REVIEW), list[IssueAddress]()
        while (taken := await self.board.take([name], map(str, seen))).card:
            seen.append(taken.card.address)
            await self.board.unlock(str(taken.card.address), taken.owner)
        return [address.number for address in seen]


@pytest.mark.parametrize("kind", ["github", "gitlab"])
@pytest.mark.req("BR-01", "BR-09")
@pytest.mark.lesson("B3")
async def test_a_look_costs_the_same_calls_however_many_issues_and_reviews_wait(
    kind: KindName, board: RedisBoard, tmp_path: Path
):
    costs: dict[int, list[int]] = {}
    for many in (FEW, MANY):
        async with world(kind, tmp_path / str(many)) as here:
            kept = Kept(here, board)
            await kept.fills(many, tmp_path / f"clone-{many}")
            cursor, first = await kept.looks(None)
            cursor, idle = await kept.looks(cursor)
            here.label(here.open_issue("needs-review"), "P1")
            cursor, busy = await kept.looks(cursor)
            costs[many] = [first, idle, busy]
            assert len(await kept.reviews()) == many
    assert costs[FEW] == costs[MANY]
    assert max(costs[MANY]) <= 7
    assert max(costs[MANY][1:]) <= 5


@pytest.mark.parametrize("kind", ["github", "gitlab"])
@pytest.mark.req("BR-01")
async def test_issues_that_change_while_they_are_listed_hide_none_of_the_others(kind: KindName, tmp_path: Path):
    async with world(kind, tmp_path / "forge") as here:
        issues = [here.open_issue() for _ in range(250)]
        last = issues[-1].number

        async def while_listing() -> list[int]:
            listing = asyncio.create_task(here.forge.list_open_issues(here.home))
            while not listing.done():
                here.label(issues.pop(0), "P1")
                await asyncio.sleep(0.001)
            return [issue.address.number for issue in await listing]

        assert await while_listing() == list(range(last - 249, last + 1))


@pytest.mark.parametrize("kind", ["github", "gitlab"])
@pytest.mark.req("BR-01")
async def test_filled_anew_the_board_shows_what_was_never_news(kind: KindName, board: RedisBoard, tmp_path: Path):
    async with world(kind, tmp_path / "forge") as here:
        kept = Kept(here, board)
        await kept.looks(None)
        issue = here.dev.open_issue(here.repository, "Do it", "## Deliverables\n- a file", "ann", [])
        await kept.keeper.fill(here.home)
        taken = (await board.take([shelf(str(here.home), "CODER", TaskType.DEVELOPMENT)], [])).card
        assert taken
        assert taken.address.number == issue.number


@pytest.mark.req("BR-09")
async def test_a_request_whose_issue_is_worked_on_again_is_not_reviewed(board: RedisBoard, tmp_path: Path):
    async with world("github", tmp_path / "forge") as here:
        kept = Kept(here, board)
        await kept.fills(1, tmp_path / "clone")
        cursor, _ = await kept.looks(None)
        behind = next(issue for issue in here.dev.repository(here.repository).tracker.issues if issue.labels)
        here.dev.repository(here.repository).tracker.remove_label(behind.number, here.dev.person("ann"), "needs-review")
        await kept.looks(cursor)
        assert await kept.reviews() == []
