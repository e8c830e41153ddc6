"""The board: what can be given to agents, kept in Redis, and rebuilt from the forge whenever it is lost."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

from redis.asyncio import Redis
from redis.exceptions import RedisError

from hikitsugi.board import scripts
from hikitsugi.board.keys import (
    AGENTS,
    AUDITED,
    CHANNEL,
    LEASES,
    LEDGER,
    LOCK,
    SHARED,
    SHELF,
    TURNS,
    base_key,
    cards_key,
    filled_key,
    waiting_key,
)
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.board import Held
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.issue import Base, Issue
from hikitsugi.domain.selection import Card, TaskType, home_of, shelf
from hikitsugi.domain.value import Value

LOCKED_FOR = timedelta(seconds=30)
_AUDITED_EVERY = timedelta(minutes=1)
_RESTORED_WITHIN = timedelta(minutes=10)
_AGENT = "agent|"


class Taken(Value):
    """A task locked for its taker; without one, how long the first lock of another may still hold."""

    card: Card | None = None
    base: Base | None = None
    owner: str = ""
    turn: str = "0"
    """Counts how often the task was put on its shelf."""
    others: int = 0
    """How many more tasks the shelves show, locked or not."""
    wait: timedelta | None = None


class Entry(Value):
    """The right of one request to act for its agent, and what the agent has, as far as the board knows."""

    name: str
    owner: str
    held: Held | None


class Lack(Value):
    """What is missing on the board after a loss, and whether it is time to look for leases that nobody has any more."""

    ledger: bool
    audit: bool
    homes: tuple[RepositoryAddress, ...]


class RedisBoard:
    """All that brokers, watchers and workers share; every change is one step in Redis."""

    def __init__(self, redis: Redis, roles: Sequence[str]) -> None:
        self._redis = redis
        self._roles = tuple(roles)
        self._take = redis.register_script(scripts.TAKE)
        self._unlock = redis.register_script(scripts.UNLOCK)
        self._keep = redis.register_script(scripts.KEEP)
        self._enter = redis.register_script(scripts.ENTER)
        self._refresh = redis.register_script(scripts.REFRESH)
        self._hold = redis.register_script(scripts.HOLD)
        self._restore = redis.register_script(scripts.RESTORE)
        self._put = redis.register_script(scripts.PUT)
        self._withdraw = redis.register_script(scripts.WITHDRAW)
        self._let_go = redis.register_script(scripts.LET_GO)

    async def is_filled(self, home: RepositoryAddress) -> bool:
        """Whether the repository's issues are on it; after a loss they are not."""
        async with _said_plainly():
            return bool(await self._redis.exists(filled_key(home)))

    async def fill(
        self, home: RepositoryAddress, base: Base, cards: Iterable[Card], waiting: Iterable[Issue] = ()
    ) -> None:
        """Let it show exactly these tasks of a repository, all at once, and know what waits for a review."""
        shown = list(cards)
        async with _said_plainly():
            names: Any = await self._redis.hkeys(LEASES)
            taken = {name.decode() for name in names}
            async with self._redis.pipeline(transaction=True) as change:
                change.delete(cards_key(home), waiting_key(home), *self._shelves_of(home))
                for issue in waiting:
                    change.hset(waiting_key(home), str(issue.address), issue.model_dump_json())
                for card in shown:
                    change.hset(cards_key(home), str(card.address), _written(card))
                    if str(card.address) not in taken:
                        change.zadd(SHELF + card.shelf, {str(card.address): card.place})
                change.set(base_key(home), base.model_dump_json())
                change.set(filled_key(home), 1)
                for name in {card.shelf for card in shown}:
                    change.publish(CHANNEL, name)
                await change.execute()

    async def put(self, card: Card) -> None:
        """Show a task as it stands now; whoever waits for such a one is woken."""
        home, own = card.address.home, SHELF + card.shelf
        others = [key for key in self._shelves_of(home) if key != own]
        async with _said_plainly():
            await self._put(
                keys=[cards_key(home), LEASES, TURNS, own, *others],
                args=[str(card.address), _written(card), card.place, CHANNEL, card.shelf],
            )

    async def remove(self, issue: IssueAddress) -> None:
        """Take a task off."""
        async with _said_plainly(), self._redis.pipeline(transaction=True) as change:
            change.hdel(cards_key(issue.home), str(issue))
            change.hdel(waiting_key(issue.home), str(issue))
            for key in self._shelves_of(issue.home):
                change.zrem(key, str(issue))
            await change.execute()

    async def keep_waiting(self, issue: Issue) -> None:
        """Take an issue off that waits for a review, and remember it."""
        await self.remove(issue.address)
        async with _said_plainly():
            key, text = waiting_key(issue.address.home), issue.model_dump_json()
            await self._redis.hset(key, str(issue.address), text)

    async def waiting(self, home: RepositoryAddress) -> list[Issue]:
        """The issues that wait for a review."""
        async with _said_plainly():
            texts: Any = await self._redis.hvals(waiting_key(home))
        return [Issue.model_validate_json(text) for text in texts]

    async def set_base(self, home: RepositoryAddress, base: Base) -> None:
        """Note where new branches start."""
        async with _said_plainly():
            await self._redis.set(base_key(home), base.model_dump_json())

    async def take(self, shelves: Sequence[str], refused: Iterable[str]) -> Taken:
        """The best task of these shelves that nobody has locked, locked for us."""
        owner = uuid4().hex
        keys = [key for name in shelves for key in (SHELF + name, cards_key(home_of(name)), base_key(home_of(name)))]
        async with _said_plainly():
            found, told, *base = await self._take(
                keys=[TURNS, *keys], args=[LOCK, owner, _milliseconds(LOCKED_FOR), *refused]
            )
        if not found:
            return Taken(wait=timedelta(milliseconds=told) if told >= 0 else None)
        known = Card.model_validate_json(found), Base.model_validate_json(base[0])
        return Taken(card=known[0], base=known[1], owner=owner, turn=told.decode(), others=base[1] - 1)

    async def card(self, issue: IssueAddress) -> Card | None:
        """What the board shows of a task."""
        async with _said_plainly():
            text: Any = await self._redis.hget(cards_key(issue.home), str(issue))
        return Card.model_validate_json(text) if text else None

    async def base(self, home: RepositoryAddress) -> Base | None:
        """Where new branches start."""
        async with _said_plainly():
            text = await self._redis.get(base_key(home))
        return Base.model_validate_json(text) if text else None

    async def withdraw(self, card: Card, turn: str) -> None:
        """Give a task to nobody until it is put back; one that was put back meanwhile stays."""
        async with _said_plainly():
            await self._withdraw(keys=[SHELF + card.shelf, TURNS], args=[str(card.address), turn])

    def entry_name(self, agent: str) -> str:
        """What is rung when a request of an agent is over."""
        return f"{_AGENT}{agent}"

    async def enter(self, agent: str) -> Entry | timedelta | None:
        """Act for an agent; while another of its requests does so, how long that may still last.

        None when the ledger is lost: what the agent has must be found out first.
        """
        name, owner = self.entry_name(agent), uuid4().hex
        async with _said_plainly():
            is_ours, told = await self._enter(
                keys=[LOCK + name, AGENTS, LEASES, LEDGER], args=[owner, _milliseconds(LOCKED_FOR), agent]
            )
        if is_ours < 0:
            return None
        if not is_ours:
            return timedelta(milliseconds=max(told, 10))
        held = Held.model_validate_json(told) if told else None
        return Entry(name=name, owner=owner, held=held if held and held.agent_id == agent else None)

    async def unlock(self, name: str, owner: str, wake: str = "") -> bool:
        """Release a lock that is still ours, and wake who waits for it; whether it was."""
        async with _said_plainly():
            return bool(await self._unlock(keys=[LOCK + name], args=[owner, CHANNEL, wake]))

    async def keep(self, name: str, owner: str) -> bool:
        """Let a lock that is still ours last as long as at first; whether it was."""
        async with _said_plainly():
            return bool(await self._keep(keys=[LOCK + name], args=[owner, _milliseconds(LOCKED_FOR)]))

    async def hold(self, held: Held, shelf: str) -> bool:
        """Note that an agent has a task; False when it has another one, or when the ledger that would tell is lost."""
        async with _said_plainly():
            given = await self._hold(
                keys=[LEASES, AGENTS, SHELF + shelf, LEDGER],
                args=[str(held.issue), held.agent_id, held.model_dump_json()],
            )
        return bool(given)

    async def let_go(self, issue: IssueAddress, agent: str, *, again: bool) -> None:
        """Note that nobody has it any more; where it can be given again, who waits is woken."""
        async with _said_plainly():
            await self._let_go(
                keys=[LEASES, AGENTS, cards_key(issue.home), TURNS],
                args=[str(issue), agent, CHANNEL, SHELF, int(again)],
            )

    async def held(self) -> list[Held]:
        """Who has what."""
        async with _said_plainly():
            texts: Any = await self._redis.hvals(LEASES)
        return [Held.model_validate_json(text) for text in texts]

    async def refresh(self, held: Held) -> None:
        """Note that a lease lasts longer, unless it is over meanwhile."""
        async with _said_plainly():
            await self._refresh(keys=[LEASES], args=[str(held.issue), held.lease_id, held.model_dump_json()])

    async def secret(self, name: str) -> bytes:
        """A random text that all brokers share."""
        key = f"{SHARED}{name}"
        async with _said_plainly():
            await self._redis.set(key, uuid4().hex, nx=True)
            text: Any = await self._redis.get(key)
        return text or b""

    async def lacks(self, homes: Sequence[RepositoryAddress]) -> Lack:
        """What it would have to show for these repositories, and does not."""
        async with _said_plainly(), self._redis.pipeline(transaction=False) as asked:
            asked.set(AUDITED, 1, nx=True, px=_AUDITED_EVERY)
            for key in (LEDGER, *map(filled_key, homes)):
                asked.exists(key)
            audit, has_ledger, *filled = await asked.execute()
        empty = tuple(home for home, is_there in zip(homes, filled, strict=True) if not is_there)
        return Lack(ledger=not has_ledger, audit=bool(audit), homes=empty)

    async def restore_ledger(self, find: Callable[[], Awaitable[Iterable[Held]]]) -> None:
        """Write down leases found elsewhere; what was found before a further loss is not all there is, and is left."""
        sign = f"{LEDGER}:{uuid4().hex}"
        async with _said_plainly():
            await self._redis.set(sign, 1, px=_RESTORED_WITHIN)
        leases = [(str(held.issue), held.agent_id, held.model_dump_json()) for held in await find()]
        async with _said_plainly():
            await self._restore(keys=[sign, LEDGER, LEASES, AGENTS], args=[part for lease in leases for part in lease])

    def _shelves_of(self, home: RepositoryAddress) -> list[str]:
        return [SHELF + shelf(str(home), role, kind) for role in self._roles for kind in TaskType]


def _milliseconds(time: timedelta) -> int:
    return int(time.total_seconds() * 1000)


def _written(card: Card) -> str:
    return json.dumps(card.model_dump(mode="json") | {"shelf": card.shelf}, ensure_ascii=False)


@asynccontextmanager
async def _said_plainly() -> AsyncGenerator[None]:
    try:
        yield
    except (RedisError, OSError) as error:
        raise TryAgainLater("Redis does not answer; check redis.url") from error
