"""The desk: gives each agent that asks its next task, and takes reports."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from hikitsugi.board.board import Entry, RedisBoard, Taken
from hikitsugi.broker.briefing import Briefing, Task
from hikitsugi.broker.metrics import Metrics
from hikitsugi.broker.waiting_room import Seat, WaitingRoom
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.assignment import BUSY, Answer, Claim, Outcome, Report, Terms
from hikitsugi.domain.board import Held
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.lease import Lease, LeaseId
from hikitsugi.domain.selection import Card, TaskType, shelf

_A_MOMENT = timedelta(seconds=0.1)
_TRIES_FOR = timedelta(seconds=10)
_OVERDUE = timedelta(minutes=1)
_SILENT = "its workflow does not answer"


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

    async def held_of(self, issue: IssueAddress) -> Held | None:
        """The lease of an issue."""
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
    """What an agent asks for, and until when."""

    agent: str
    homes: Sequence[RepositoryAddress]
    roles: Sequence[str]
    types: Sequence[TaskType]
    timeout: timedelta
    own: set[str] = field(default_factory=set[str])
    """The requests it cannot review, as the work is its own."""
    is_withdrawn: bool = False
    seat: Seat | None = None
    began: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    @property
    def left(self) -> timedelta:
        """How long it may still wait."""
        return self.timeout - self._waited

    @property
    def may_be_tried(self) -> bool:
        """Whether a further candidate may be tried for it, however short the wait that was asked for."""
        return not self.is_withdrawn and self._waited < max(self.timeout, _TRIES_FOR)

    @property
    def _waited(self) -> timedelta:
        return timedelta(seconds=asyncio.get_running_loop().time() - self.began)

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
        await self._have_board(wish.homes)
        with self._room.seat(wish.shelves) as seat:
            wish.seat = seat
            while not self._room.is_closed and not wish.is_withdrawn:
                seat.clear()
                found = await self._attempt(wish, seat)
                if isinstance(found, Task):
                    return found
                await self._office.must_answer()
                if wish.left <= timedelta():
                    return None
                await seat.rung(min(wish.left, found or wish.left))
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
        elif lack.audit:
            await self._audit()
        for home in lack.homes:
            await self._bell.ring(home)

    async def _restore_ledger(self) -> None:
        """One request asks all workflows; those that wait for it find the ledger."""
        async with self._restoring:
            while (await self._board.lacks([])).ledger:
                await self._board.restore_ledger(self._office.held)

    async def _audit(self) -> None:
        """A lease long over should have been let go; its workflow, which somebody may have ended, is asked."""
        for held in await self._board.held():
            if datetime.now(UTC) < held.lease_expires_at + _OVERDUE:
                continue
            with suppress(TryAgainLater):
                known = await self._office.held_of(held.issue)
                if known and known.lease_id == held.lease_id:
                    await self._board.refresh(known)
                else:
                    await self._board.let_go(held.issue, held.agent_id, again=True)

    async def _attempt(self, wish: Wish, seat: Seat) -> Task | timedelta | None:
        """The agent's task; else how long to wait at most before looking again, if anything is known of that."""
        name = self._board.entry_name(wish.agent)
        entry = await self._enter(wish.agent)
        if isinstance(entry, timedelta):
            # Another request of the same agent is being served: its end wakes us.
            seat.names.add(name)
            entry = await self._enter(wish.agent)
        if isinstance(entry, timedelta):
            return entry
        seat.names.discard(name)
        try:
            same = await self._same_again(entry.held) if entry.held else None
            return same or await self._new_task(wish, entry)
        finally:
            await self._board.unlock(name, entry.owner, wake=name)

    async def _enter(self, agent: str) -> Entry | timedelta:
        """Act for an agent; what it has is found out first, should that be lost since its request came."""
        while (entry := await self._board.enter(agent)) is None:
            await self._restore_ledger()
        return entry

    async def _same_again(self, held: Held) -> Task | None:
        """The task an agent still has, unless it has finished or lost it, or it cannot be told any more."""
        report = Report(lease_id=held.lease_id, agent=held.agent_id, outcome=Outcome.ASKS_AGAIN)
        answer = await self._office.report(held.issue, report)
        if answer.refusal:
            await self._board.let_go(held.issue, held.agent_id, again=True)
        if answer.lease is None:
            return None
        try:
            task = await self._briefing.again(held.issue, answer.lease, answer.handover)
        except WillNeverWork as error:
            given_back = report.model_copy(update={"outcome": Outcome.RELEASED, "note": str(error)})
            await self._office.report(held.issue, given_back)
            return None
        await self._board.refresh(_held(held.issue, answer.lease))
        return task

    async def _new_task(self, wish: Wish, entry: Entry) -> Task | timedelta | None:
        """Try candidates in their order until one is given; one that cannot be given keeps nobody waiting."""
        refused = set[str]()
        while True:
            taken = await self._board.take(wish.shelves, refused | wish.own)
            if taken.card is None:
                return taken.wait
            if taken.others:
                self._room.ring(taken.card.shelf, but=wish.seat)
            async with self._briefing.about(taken.card, taken.base) as told:
                answer = await self._claimed(wish, taken.card, taken)
                if answer.lease and not await self._is_noted(entry, taken.card, answer.lease):
                    return _A_MOMENT
                if answer.lease:
                    self._metrics.given.labels(taken.card.task_type).inc()
                    return self._briefing.task(taken.card, answer.lease, answer.handover, await told)
            self._metrics.refused.inc()
            (refused if answer.refusal else wish.own).add(str(taken.card.address))
            if answer.wait or self._room.is_closed or not wish.may_be_tried:
                return answer.wait
            if answer.refusal == BUSY or not await self._board.keep(entry.name, entry.owner):
                # Another request of the same agent was served meanwhile: what came of it is seen at the next attempt.
                return _A_MOMENT

    async def _is_noted(self, entry: Entry, card: Card, lease: Lease) -> bool:
        """A loss that took our entry may have taken the note of the lease: it is made again, or the task given back."""
        if await self._board.keep(entry.name, entry.owner):
            return True
        await self._restore_ledger()
        if await self._board.hold(_held(card.address, lease), card.shelf):
            return True
        await self._office.report(card.address, Report(lease_id=lease.id, agent=lease.agent, outcome=Outcome.RELEASED))
        return False

    async def _claimed(self, wish: Wish, card: Card, taken: Taken) -> Answer:
        """What a task's workflow says; where it alone is silent, the task stays locked and others have their turn."""
        wake: str | None = card.shelf
        try:
            answer = await self._claim(wish, card, taken)
            if answer.refusal and answer.refusal != BUSY:
                await self._board.withdraw(card, taken.turn)
            wake = "" if answer.refusal or answer.lease else card.shelf
        except TryAgainLater:
            await self._office.must_answer()
            await self._board.keep(str(card.address), taken.owner)
            wake = None
            return Answer(refusal=_SILENT)
        else:
            return answer
        finally:
            if wake is not None:
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
