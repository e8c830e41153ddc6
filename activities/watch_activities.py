"""The watcher: one long step per repository that turns news into signals."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

from pydantic import Field
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.board_keeper import BoardKeeper
from activities.heartbeat import carry
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import Issue, IssueNews
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.ports import Cursor, Deliveries, Doorbell, Forge
from hikitsugi.domain.value import Value
from hikitsugi.domain.watching import (
    calls_for_work,
    facts_of,
    fingerprint,
    is_request_of,
    issue_behind,
    may_be_answered,
)

_REMEMBERED = 1000
_LONGEST_PAUSE = timedelta(seconds=60)
_SWEEP_EVERY = timedelta(hours=1)
_SHORTEST_PAUSE = timedelta(seconds=1)


class Watched(Value):
    """How far a repository has been watched; lives in the heartbeat and travels with continue-as-new."""

    cursor: Cursor | None = None
    fingerprints: dict[str, str] = Field(default_factory=dict[str, str])
    idle: frozenset[str] = frozenset()
    """Which of these were closed or had no trigger label."""
    failures: int = 0
    """How often in a row the forge could not be read."""
    refusal: str | None = None
    """Why the forge cannot be watched at all, until somebody mends it."""

    @property
    def pause(self) -> timedelta:
        """How long to wait after a failure: 1, 2, 4 … 60 s."""
        return min(timedelta(seconds=2 ** min(self.failures, 6)), _LONGEST_PAUSE)


class Watch(Value):
    """Watch a repository, from where an earlier watch left off."""

    home: RepositoryAddress
    watched: Watched = Watched()


class WatchActivities:
    """Looks at repositories and delivers what is new."""

    def __init__(
        self,
        forges: Mapping[str, Forge],
        deliveries: Deliveries,
        doorbell: Doorbell,
        labels: LabelNames,
        interval: timedelta,
        shift: timedelta,
        keeper: BoardKeeper | None = None,
    ) -> None:
        self._forges = forges
        self._deliveries = deliveries
        self._doorbell = doorbell
        self._labels = labels
        self._interval = interval
        self._shift = shift
        self._keeper = keeper

    @activity.defn
    async def watch(self, request: Watch) -> Watched:
        """Look again and again until the shift is over; how far it came."""
        watched = _resumed() or request.watched
        for turn in range(max(1, round(self._shift / self._interval))):
            watched = await self._look(request.home, watched)
            if watched.refusal:
                break
            carry(watched.model_dump(mode="json"))
            if turn % self._turns_between_sweeps == 0:
                await self._sweep(request.home)
            await self._sleep(request.home)
        return watched

    async def _look(self, home: RepositoryAddress, watched: Watched) -> Watched:
        """One round; a forge that cannot be read now is left alone for as long as it asks, or ever longer."""
        try:
            return await self._round(home, watched)
        except WillNeverWork as error:
            return watched.model_copy(update={"refusal": str(error)})
        except TryAgainLater as error:
            carry(watched.model_copy(update={"failures": watched.failures + 1}).model_dump(mode="json"))
            raise TryAgainLater(str(error), after=error.after or watched.pause) from None

    @property
    def _turns_between_sweeps(self) -> int:
        return max(1, round(_SWEEP_EVERY / self._interval))

    async def _sweep(self, home: RepositoryAddress) -> None:
        """Bring to life whatever should live and does not, and show on the board whatever should be there."""
        try:
            if self._keeper and self._keeper.keeps(home):
                await self._keeper.fill(home)
                return
            sighting = await self._forges[home.forge].look(home, None)
        except (TryAgainLater, WillNeverWork):
            return
        for news in sighting.news:
            if news.issue and calls_for_work(news.issue, self._labels) and not await self._behind(news.issue):
                await self._deliveries.revive(news.address)

    async def _round(self, home: RepositoryAddress, watched: Watched) -> Watched:
        sighting = await self._forges[home.forge].look(home, watched.cursor)
        if self._keeper and self._keeper.keeps(home):
            closed = await self._keeper.keep(home, sighting.news, afresh=watched.cursor is None)
            for issue in closed:
                await self._deliveries.deliver(issue.address, facts_of(issue, for_work=False), (), start=False)
            return Watched(cursor=sighting.cursor)
        fingerprints, idle = dict(watched.fingerprints), set(watched.idle)
        for news in sighting.news:
            await self._deliver(news, fingerprints, idle)
        latest = dict(list(fingerprints.items())[-_REMEMBERED:])
        return Watched(cursor=sighting.cursor, fingerprints=latest, idle=frozenset(idle & latest.keys()))

    async def _deliver(self, news: IssueNews, fingerprints: dict[str, str], idle: set[str]) -> None:
        number = f"{news.address.kind}/{news.address.number}"
        issue = news.issue or await _read(self._forges[news.address.forge], news.address)
        if issue is None:
            return
        if behind := await self._behind(issue):
            await self._pass_on(behind, news)
            return
        earlier = fingerprints.pop(number, None)
        fingerprints[number] = fingerprint(issue)
        answerable = may_be_answered(issue, self._labels)
        calls = calls_for_work(issue, self._labels, was_idle=number in idle)
        if answerable:
            idle.discard(number)
        else:
            idle.add(number)
        facts = facts_of(issue, for_work=calls) if fingerprints[number] != earlier else None
        if facts or news.comments:
            start = calls or (bool(news.comments) and answerable)
            await self._deliveries.deliver(news.address, facts, news.comments, start=start)

    async def _pass_on(self, issue: IssueAddress, news: IssueNews) -> None:
        """Tell an issue what was said on its request; where its workflow has ended, as if it was said on the issue."""
        said = [comment.model_copy(update={"place": news.address}) for comment in news.comments]
        if await self._deliveries.deliver(issue, None, said, start=False):
            return
        seen = await _read(self._forges[issue.forge], issue)
        if seen and may_be_answered(seen, self._labels):
            await self._deliveries.deliver(issue, None, said, start=True)

    async def _behind(self, issue: Issue) -> IssueAddress | None:
        """The issue that a request of ours belongs to; its branch tells where its text does not any more."""
        forge = self._forges[issue.address.forge]
        ours = await forge.our_names()
        behind = issue_behind(issue, ours)
        if behind or issue.request or not is_request_of(issue, ours):
            return behind
        whole = await _read(forge, issue.address)
        return whole and issue_behind(whole, ours)

    async def _sleep(self, home: RepositoryAddress) -> None:
        """Wait one interval or for the bell; when the worker shuts down, hand the watch over at once."""
        shutdown = asyncio.ensure_future(activity.wait_for_worker_shutdown())
        bell = asyncio.ensure_future(self._rung(home))
        try:
            waiting = self._interval.total_seconds()
            await asyncio.wait([shutdown, bell], timeout=waiting, return_when=asyncio.FIRST_COMPLETED)
            if activity.is_worker_shutdown():
                raise _handed_over()
        finally:
            shutdown.cancel()
            bell.cancel()

    async def _rung(self, home: RepositoryAddress) -> None:
        """Hear the bell, but not so soon that a flood of rings becomes a flood of looks."""
        await asyncio.sleep(min(_SHORTEST_PAUSE, self._interval).total_seconds())
        await self._doorbell.rung(home)


async def _read(forge: Forge, address: IssueAddress) -> Issue | None:
    """The issue of a comment that came alone; None when it is gone."""
    try:
        return await forge.read_issue(address)
    except WillNeverWork:
        return None


def _handed_over() -> ApplicationError:
    return ApplicationError(
        "the worker shuts down",
        type="HandedOver",
        next_retry_delay=timedelta(milliseconds=1),
        category=ApplicationErrorCategory.BENIGN,
    )


def _resumed() -> Watched | None:
    details = activity.info().heartbeat_details
    return Watched.model_validate(details[0]) if details else None
