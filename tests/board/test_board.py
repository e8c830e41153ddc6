"""The board: one step in Redis each, locks that only their owner releases, and nothing that cannot be rebuilt."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from hikitsugi.app.embedded_valkey import embedded_valkey
from hikitsugi.board.board import LOCKED_FOR, Entry, RedisBoard
from hikitsugi.board.keys import LOCK
from hikitsugi.board.wake_calls import wake_calls
from hikitsugi.broker.waiting_room import WaitingRoom
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.board import Held
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.issue import Base
from hikitsugi.domain.selection import Card

BASE = Base(branch="main", commit="a" * 40)
HOME = RepositoryAddress(forge="github", repository="octo/repo")
SHELF = f"{HOME}|CODER|development"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def valkey(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[str]:
    async with embedded_valkey(tmp_path_factory.mktemp("valkey")) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="session")
async def redis(valkey: str) -> AsyncGenerator[Redis]:
    async with Redis.from_url(valkey) as client:
        await client.flushall()
        yield client


@pytest_asyncio.fixture(loop_scope="session")
async def board(redis: Redis) -> RedisBoard:
    made = RedisBoard(redis, ["CODER", "TESTER"])
    await made.restore_ledger(found())
    return made


def found(*leases: Held) -> Callable[[], Awaitable[Sequence[Held]]]:
    async def find() -> Sequence[Held]:
        return leases

    return find


def card(number: int, rank: int | None = None, role: str = "CODER") -> Card:
    address = IssueAddress(forge=HOME.forge, repository=HOME.repository, number=number)
    return Card(
        address=address,
        title="Do it",
        body="",
        url="",
        author="alice",
        labels=(),
        branch=f"feature/issue-{number}",
        role=role,
        rank=number if rank is None else rank,
    )


def held(number: int, agent: str) -> Held:
    issue = card(number).address
    later = datetime.now(UTC) + timedelta(hours=1)
    return Held(lease_id=uuid4().hex, agent_id=agent, issue=issue, branch_name="b", lease_expires_at=later)


@pytest.mark.req("BR-06")
async def test_many_who_take_at_once_get_each_a_task_of_their_own_in_order(board: RedisBoard):
    await board.fill(HOME, BASE, [card(n) for n in range(1, 101)])
    taken = await asyncio.gather(*(board.take([SHELF], []) for _ in range(60)))
    numbers = [each.card.address.number for each in taken if each.card]
    assert sorted(numbers) == list(range(1, 61))


@pytest.mark.req("BR-06")
@pytest.mark.lesson("B8")
async def test_a_lock_ends_by_itself_and_only_its_owner_releases_it(board: RedisBoard, redis: Redis):
    await board.fill(HOME, BASE, [card(1)])
    taken = await board.take([SHELF], [])
    assert taken.card
    name = str(taken.card.address)
    assert 0 < await redis.pttl(LOCK + name) <= LOCKED_FOR.total_seconds() * 1000
    nothing = await board.take([SHELF], [])
    assert nothing.card is None
    assert nothing.wait
    assert timedelta() < nothing.wait <= LOCKED_FOR
    assert not await board.unlock(name, "somebody else")
    assert (await board.take([SHELF], [])).card is None
    assert await board.unlock(name, taken.owner)
    assert (await board.take([SHELF], [])).card


@pytest.mark.lesson("B8")
async def test_only_its_owner_makes_a_lock_last_longer(board: RedisBoard, redis: Redis):
    entry = await board.enter("a1")
    assert isinstance(entry, Entry)
    assert isinstance(await board.enter("a1"), timedelta)
    await redis.pexpire(f"{LOCK}agent|a1", 5000)
    assert not await board.keep("agent|a1", "somebody else")
    assert await redis.pttl(f"{LOCK}agent|a1") <= 5000
    assert await board.keep(entry.name, entry.owner)
    assert await redis.pttl(f"{LOCK}agent|a1") > 5000
    assert await board.unlock(entry.name, entry.owner)
    assert not await board.keep(entry.name, entry.owner)


@pytest.mark.req("BR-06")
async def test_an_agent_holds_one_task_and_the_same_one_twice(board: RedisBoard):
    assert await board.hold(held(1, "a1"), SHELF)
    assert await board.hold(held(1, "a1"), SHELF)
    assert not await board.hold(held(2, "a1"), SHELF)
    assert [each.issue.number for each in await board.held()] == [1]
    await board.let_go(card(1).address, "a1", again=False)
    assert await board.hold(held(2, "a1"), SHELF)


async def test_a_task_that_was_put_back_meanwhile_is_not_withdrawn(board: RedisBoard):
    await board.fill(HOME, BASE, [card(1)])
    taken = await board.take([SHELF], [])
    assert taken.card
    await board.let_go(taken.card.address, "a1", again=True)
    await board.withdraw(taken.card, taken.turn)
    await board.unlock(str(taken.card.address), taken.owner)
    again = await board.take([SHELF], [])
    assert again.card
    await board.withdraw(again.card, again.turn)
    await board.unlock(str(again.card.address), again.owner)
    assert (await board.take([SHELF], [])).card is None


@pytest.mark.lesson("B7")
async def test_what_somebody_has_is_not_shown_again_by_old_news(board: RedisBoard):
    await board.fill(HOME, BASE, [card(1), card(2)])
    await board.hold(held(1, "a1"), SHELF)
    await board.put(card(1))
    await board.fill(HOME, BASE, [card(1), card(2)])
    taken = await board.take([SHELF], [])
    assert taken.card
    assert taken.card.address.number == 2
    await board.let_go(card(1).address, "another", again=True)
    await board.let_go(card(1).address, "", again=True)
    assert (await board.take([SHELF], [])).card is None
    entry = await board.enter("a1")
    assert isinstance(entry, Entry)
    assert entry.held
    assert entry.held.issue.number == 1


async def test_a_lease_that_is_over_or_anothers_does_not_come_back_by_a_late_sign_of_life(board: RedisBoard):
    mine, others = held(1, "a1"), held(1, "a2")
    await board.refresh(mine)
    assert await board.held() == []
    await board.hold(others, SHELF)
    await board.refresh(mine)
    assert await board.held() == [others]
    later = others.model_copy(update={"lease_expires_at": datetime.now(UTC) + timedelta(hours=2)})
    await board.refresh(later)
    assert await board.held() == [later]


@pytest.mark.req("BR-05")
async def test_what_comes_back_has_its_own_place_whatever_was_labelled_while_somebody_had_it(board: RedisBoard):
    urgent = card(9, rank=1)
    await board.fill(HOME, BASE, [urgent, card(2)])
    await board.hold(held(9, "a1"), SHELF)
    await board.put(urgent.model_copy(update={"seems_taken": True}))
    await board.let_go(urgent.address, "a1", again=True)
    first = (await board.take([SHELF], [])).card
    assert first
    assert first.address.number == 9


async def test_what_seems_to_be_taken_comes_last(board: RedisBoard):
    await board.fill(HOME, BASE, [card(1).model_copy(update={"seems_taken": True}), card(2)])
    found = [(await board.take([SHELF], [])).card for _ in range(2)]
    assert [each.address.number for each in found if each] == [2, 1]


@pytest.mark.lesson("B14")
async def test_filling_shows_exactly_what_is_given_and_other_repositories_stay(board: RedisBoard):
    await board.fill(HOME, BASE, [card(1), card(2)])
    other = RepositoryAddress(forge="github", repository="octo/other")
    await board.fill(other, BASE, [])
    await board.fill(HOME, BASE, [card(2), card(3)])
    numbers = [(await board.take([SHELF], [])).card for _ in range(3)]
    assert [each.address.number if each else None for each in numbers] == [2, 3, None]
    assert await board.is_filled(other)


async def test_a_changed_role_moves_a_task_and_a_removed_one_is_gone(board: RedisBoard):
    await board.fill(HOME, BASE, [card(1)])
    await board.put(card(1, role="TESTER"))
    assert (await board.take([SHELF], [])).card is None
    await board.remove(card(1).address)
    assert (await board.take([f"{HOME}|TESTER|development"], [])).card is None


@pytest.mark.req("BR-03")
async def test_one_ring_wakes_one_who_fits_and_an_unused_one_the_next(board: RedisBoard, redis: Redis):
    room = WaitingRoom()
    async with wake_calls(redis, room.ring, room.ring_all):
        with room.seat(["other"]) as other, room.seat([SHELF]) as second:
            with room.seat([SHELF]):
                await board.fill(HOME, BASE, [])
                while not any(seat.woken.is_set() for seat in (other, second)):
                    await board.put(card(1))
                    await board.remove(card(1).address)
                    await asyncio.sleep(0.01)
            assert await second.rung(timedelta(seconds=30))
            other.clear()
            assert not await other.rung(timedelta(seconds=0.05))


@pytest.mark.req("BR-06")
async def test_while_the_ledger_is_lost_nobody_enters_and_nothing_is_held(board: RedisBoard, redis: Redis):
    await redis.flushall()
    assert (await board.lacks([])).ledger
    assert await board.enter("a1") is None
    assert not await board.hold(held(2, "a1"), SHELF)
    lease = held(1, "a1")
    await board.restore_ledger(found(lease))
    assert not (await board.lacks([])).ledger
    assert await board.held() == [lease]
    entry = await board.enter("a1")
    assert isinstance(entry, Entry)
    assert entry.held == lease


async def test_what_was_found_before_a_further_loss_restores_nothing(board: RedisBoard, redis: Redis):
    async def find_and_lose() -> Sequence[Held]:
        await redis.flushall()
        return [held(1, "a1")]

    await redis.flushall()
    await board.restore_ledger(find_and_lose)
    assert (await board.lacks([])).ledger
    assert await board.held() == []


async def test_who_restores_the_ledger_last_changes_nothing(board: RedisBoard, redis: Redis):
    async def find_while_another_restores() -> Sequence[Held]:
        await board.restore_ledger(found(held(1, "a1")))
        await board.let_go(card(1).address, "a1", again=False)
        return [held(1, "a1")]

    await redis.flushall()
    await board.restore_ledger(find_while_another_restores)
    assert await board.held() == []


async def test_without_redis_everybody_is_asked_to_come_again():
    async with Redis.from_url("redis://127.0.0.1:1/0") as away:
        board = RedisBoard(away, ["CODER"])
        for asks in (board.is_filled(HOME), board.take([SHELF], []), board.held(), board.enter("x")):
            with pytest.raises(TryAgainLater):
                await asks
