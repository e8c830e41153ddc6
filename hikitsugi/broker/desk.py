"""The desk: gives each agent that asks its next task, and takes reports."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from hikitsugi.board.board import RedisBoard, Taken
from hikitsugi.broker.briefing import Briefing, Task
from hikitsugi.broker.metrics import Metrics
from hikitsugi.broker.waiting_room import Seat, WaitingRoom
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.assignment import BUSY, Answer, Claim, Outcome, Report, Terms
from hikitsugi.domain.board import Held
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.lease import Lease, LeaseId
from hikitsugi.domain.selection import Card, TaskType, shelf

_AGENT = "agent|"
_A_MOMENT = timedelta(seconds=0.1)


class Office(Protocol):
    """The workflows of the issues, which alone decide who has what."""

    async def claim(self, issue: IssueAddress, claim: Claim) -> Answer:
        """Ask for an issue."""
        ...

    async def report(self, issue: IssueAddress, report: Report) -> Answer:
        """Tell what an agent says of its lease."""
        ...

    async def held(self) -> list[Held]:
        """All leases there are."""
        ...

    async def must_answer(self) -> None:
        """TryAgainLater when they cannot be asked."""
        ...

    async def author(self, issue: IssueAddress) -> str | None:
        """Whose work on an issue waits for a review."""
        ...


class Bell(Protocol):
    """The way to the watcher."""

    async def ring(self, home: RepositoryAddress) -> None:
        """Have a repository looked at."""
        ...


@dataclass
class Wish:
    """What an agent asks for, and what it was refused so far."""

    agent: str
    homes: Sequence[RepositoryAddress]
    roles: Sequence[str]
    types: Sequence[TaskType]
    timeout: timedelta
    refused: set[str] = field(default_factory=set[str])
    is_withdrawn: bool = False
    seat: Seat | None = None

    def withdraw(self) -> None:
        """Whoever asked has gone: nothing more is to be given."""
        self.is_withdrawn = True
        if self.seat:
            self.seat.woken.set()

    @property
    def shelves(self) -> list[str]:
        """Where its task may lie."""
        return [shelf(str(home), role, kind) for home in self.homes for role in self.roles for kind in self.types]


class Desk:
    """One for all agents of this process; other brokers may serve the same board."""

    def __init__(
        self,
        office: Office,
        board: RedisBoard,
        room: WaitingRoom,
        briefing: Briefing,
        bell: Bell,
        terms: Terms,
        metrics: Metrics,
    ) -> None:
        self._office = office
        self._board = board
        self._room = room
        self._briefing = briefing
        self._bell = bell
        self._terms = terms
        self._metrics = metrics
        self._restoring = asyncio.Lock()

    async def next_task(self, wish: Wish) -> Task | None:
        """The agent's task, as soon as there is one; None when the time is up."""
        until = asyncio.get_running_loop().time() + wish.timeout.total_seconds()
        await self._have_board(wish.homes)
        with self._room.seat(wish.shelves) as seat:
            wish.seat = seat
            while not self._room.is_closed:
                seat.clear()
                if wish.is_withdrawn:
                    return None
                found = await self._attempt(wish, seat)
                if isinstance(found, Task):
                    return found
                await self._office.must_answer()
                left = timedelta(seconds=until - asyncio.get_running_loop().time())
                if left <= timedelta():
                    return None
                await seat.rung(min(left, found or left))
        return None

    async def report(self, agent: str, lease_id: str, outcome: Outcome, note: str = "") -> str | None:
        """Take a report; why it is refused, if it is."""
        lease = LeaseId.parse(lease_id)
        await self._office.must_answer()
        report = Report(lease_id=lease_id, agent=agent, outcome=outcome, note=note)
        answer = await self._office.report(lease.issue, report)
        self._metrics.reports.labels("refused" if answer.refusal else outcome).inc()
        if answer.lease:
            await self._board.refresh(_held(lease.issue, answer.lease))
        return answer.refusal

    async def held(self) -> list[Held]:
        """Who has what."""
        await self._office.must_answer()
        await self._have_board([])
        return await self._board.held()

    async def _have_board(self, homes: Sequence[RepositoryAddress]) -> None:
        """After a loss the leases are read from the workflows, and the watchers are asked to look at once."""
        lack = await self._board.lacks(homes)
        if lack.ledger:
            await self._restore_ledger()
        for home in lack.homes:
            await self._bell.ring(home)

    async def _restore_ledger(self) -> None:
        """One request asks all workflows; those that wait for it find the ledger."""
        async with self._restoring:
            if (await self._board.lacks([])).ledger:
                await self._board.restore_ledger(await self._office.held())

    async def _attempt(self, wish: Wish, seat: Seat) -> Task | timedelta | None:
        """The agent's task; else how long to wait at most before looking again, if anything is known of that."""
        name = f"{_AGENT}{wish.agent}"
        owner = await self._board.lock(name)
        if isinstance(owner, timedelta):
            # Another request of the same agent is being served: its end wakes us.
            seat.names.add(name)
            owner = await self._board.lock(name)
        if isinstance(owner, timedelta):
            return owner
        seat.names.discard(name)
        try:
            return await self._same_again(wish) or await self._new_task(wish, name, owner)
        finally:
            await self._board.unlock(name, owner, wake=name)

    async def _same_again(self, wish: Wish) -> Task | None:
        """The task an agent still has, unless it has finished or lost it."""
        held = await self._board.held_by(wish.agent)
        if held is None:
            return None
        report = Report(lease_id=held.lease_id, agent=wish.agent, outcome=Outcome.ASKS_AGAIN)
        answer = await self._office.report(held.issue, report)
        if answer.lease:
            await self._board.refresh(_held(held.issue, answer.lease))
            return await self._briefing.again(held.issue, answer.lease, answer.handover)
        if answer.refusal:
            await self._board.let_go(held.issue, wish.agent, again=False)
        return None

    async def _new_task(self, wish: Wish, name: str, owner: str) -> Task | timedelta | None:
        """Try candidates in their order until one is given; one that cannot be given keeps nobody waiting."""
        while await self._board.keep(name, owner):
            taken = await self._board.take(wish.shelves, wish.refused)
            if taken.card is None:
                return taken.wait
            self._room.ring(taken.card.shelf)
            async with self._briefing.about(taken.card, taken.base) as told:
                answer = await self._claimed(wish, taken.card, taken)
                if answer.lease:
                    self._metrics.given.labels(taken.card.task_type).inc()
                    return self._briefing.task(taken.card, answer.lease, answer.handover, await told)
            self._metrics.refused.inc()
            if answer.refusal == BUSY:
                break
            wish.refused.add(str(taken.card.address))
        # Another request of the same agent was served meanwhile: what came of it is seen at the next attempt.
        return _A_MOMENT

    async def _claimed(self, wish: Wish, card: Card, taken: Taken) -> Answer:
        wake = card.shelf
        try:
            answer = await self._claim(wish, card, taken)
            if answer.refusal and answer.refusal != BUSY:
                await self._board.withdraw(card, taken.turn)
            wake = "" if answer.refusal or answer.lease else card.shelf
            return answer
        finally:
            await self._board.unlock(str(card.address), taken.owner, wake)

    async def _claim(self, wish: Wish, card: Card, taken: Taken) -> Answer:
        if taken.base is None:
            raise TryAgainLater("the board is being filled")
        if card.behind and await self._office.author(card.behind) == wish.agent:
            return Answer(outcome=Outcome.RELEASED)
        claim = Claim(
            agent=wish.agent,
            title=card.title,
            url=card.url,
            branch=card.branch,
            base=taken.base.branch,
            base_commit=taken.base.commit,
            shelf=card.shelf,
            task_type=card.task_type,
            terms=self._terms,
        )
        return await self._office.claim(card.address, claim)


def _held(issue: IssueAddress, lease: Lease) -> Held:
    return Held(
        lease_id=lease.id,
        agent_id=lease.agent,
        issue=issue,
        branch_name=lease.branch,
        lease_expires_at=lease.expires_at,
    )
