"""The desk with parts that a test puts in place of the real ones."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from hikitsugi.app.embedded_valkey import embedded_valkey
from hikitsugi.board.board import RedisBoard
from hikitsugi.broker.briefing import Briefing
from hikitsugi.broker.desk import Desk, Wish
from hikitsugi.broker.metrics import Metrics
from hikitsugi.broker.waiting_room import WaitingRoom
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.assignment import BUSY, Answer, Claim, Outcome, Report, Terms
from hikitsugi.domain.board import Held
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.issue import Base
from hikitsugi.domain.lease import Lease, LeaseId
from hikitsugi.domain.selection import Card, Rules, TaskType
from tests.workflows.fakes import FakeForge

HOME = RepositoryAddress(forge="github", repository="octo/repo")
BASE = Base(branch="main", commit="a" * 40)
SECOND = timedelta(seconds=1)


class ScriptedOffice:
    """Workflows that say what the test wants."""

    def __init__(self) -> None:
        self.claimed: list[int] = []
        self.asked = self.checked = 0
        self.refusals: dict[int, str] = {}
        self.meanwhile: Callable[[], Awaitable[object]] | None = None
        self.is_away = False
        self.silent: set[int] = set()
        self.limited: timedelta | None = None
        self.authors: dict[int, str] = {}
        self.leases: list[Held] = []
        self.reported: list[Report] = []

    async def claim(self, issue: IssueAddress, claim: Claim) -> Answer:
        self.claimed.append(issue.number)
        if self.meanwhile:
            await self.meanwhile()
        if issue.number in self.silent:
            raise TryAgainLater("silent")
        refusal = self.refusals.get(issue.number)
        return Answer(refusal=refusal, wait=self.limited) if refusal else Answer(lease=lease(issue, claim))

    async def report(self, issue: IssueAddress, report: Report) -> Answer:
        self.reported.append(report)
        return Answer(lease=Lease(id=report.lease_id, agent=report.agent, branch="b", expires_at=later()))

    async def held(self) -> list[Held]:
        self.asked += 1
        await asyncio.sleep(0)
        return self.leases

    async def held_of(self, issue: IssueAddress) -> Held | None:
        return next((each for each in self.leases if each.issue == issue), None)

    async def must_answer(self) -> None:
        self.checked += 1
        if self.is_away:
            raise TryAgainLater("away")

    async def author(self, issue: IssueAddress) -> str | None:
        return self.authors.get(issue.number)


class NoBell:
    async def ring(self, home: RepositoryAddress) -> None:
        pass


def later() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def lease(issue: IssueAddress, claim: Claim) -> Lease:
    lease_id = LeaseId(issue=issue, number=1, secret="0" * 16)
    return Lease(id=str(lease_id), agent=claim.agent, branch=claim.branch, expires_at=later())


def held(number: int, agent: str, until: datetime | None = None) -> Held:
    lease_id = str(LeaseId(issue=issue(number), number=1, secret="0" * 16))
    until = until or later()
    return Held(lease_id=lease_id, agent_id=agent, issue=issue(number), branch_name="b", lease_expires_at=until)


def issue(number: int) -> IssueAddress:
    return IssueAddress(forge=HOME.forge, repository=HOME.repository, number=number)


def card(number: int) -> Card:
    facts = {"title": "", "body": "", "url": "", "author": "alice", "labels": (), "role": "CODER"}
    return Card.model_validate({"address": issue(number), "branch": "b", "rank": number, **facts})


def wish(agent: str = "a1", timeout: timedelta = SECOND) -> Wish:
    return Wish(agent=agent, homes=[HOME], roles=["CODER"], types=[TaskType.DEVELOPMENT], timeout=timeout)


@pytest_asyncio.fixture(loop_scope="session")
async def redis(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Redis]:
    async with embedded_valkey(tmp_path_factory.mktemp("valkey")) as url, Redis.from_url(url) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="session")
async def board(redis: Redis) -> RedisBoard:
    made = RedisBoard(redis, ["CODER"])
    await made.fill(HOME, BASE, [card(1), card(2)])
    return made


@pytest.fixture
def office() -> ScriptedOffice:
    return ScriptedOffice()


@pytest.fixture
def room() -> WaitingRoom:
    return WaitingRoom()


@pytest.fixture
def desk(board: RedisBoard, office: ScriptedOffice, room: WaitingRoom) -> Desk:
    briefing = Briefing(board, {"github": FakeForge(issue(1))}, {"github": ["author"]}, Rules(), "en", {})
    return Desk(office, board, room, briefing, NoBell(), Terms(), Metrics(lambda: 0))


@pytest.mark.req("BR-12")
@pytest.mark.lesson("B5")
async def test_every_part_can_be_put_in_anothers_place_and_a_refused_candidate_leads_to_the_next(
    desk: Desk, office: ScriptedOffice
):
    office.refusals = {1: "no"}
    task = await desk.next_task(wish())
    assert task
    assert (task.issue_id, office.claimed) == (2, [1, 2])


@pytest.mark.req("BR-06")
async def test_an_agent_that_got_a_task_meanwhile_gets_that_one_and_the_candidate_stays(
    desk: Desk, office: ScriptedOffice, board: RedisBoard
):
    office.refusals = {1: BUSY}
    office.meanwhile = lambda: board.hold(held(2, "a1"), card(2).shelf)
    task = await desk.next_task(wish())
    assert task
    assert (task.issue_id, office.claimed) == (2, [1])
    office.refusals, office.meanwhile = {}, None
    following = await desk.next_task(wish("a2"))
    assert following
    assert following.issue_id == 1


async def test_after_a_loss_the_workflows_are_asked_once_however_many_wait(desk: Desk, office: ScriptedOffice):
    await asyncio.gather(*(desk.held() for _ in range(20)))
    assert office.asked == 1


@pytest.mark.req("BR-06", "BR-10")
async def test_a_loss_while_an_agent_waits_does_not_give_it_a_second_task(
    desk: Desk, office: ScriptedOffice, board: RedisBoard, redis: Redis, room: WaitingRoom
):
    for number in (1, 2):
        await board.remove(issue(number))
    waiting = asyncio.create_task(desk.next_task(wish(timeout=timedelta(seconds=30))))
    while not office.checked:  # noqa: ASYNC110 - the office has no event for it
        await asyncio.sleep(0.01)
    office.leases = [held(1, "a1")]
    await redis.flushall()
    await board.fill(HOME, BASE, [card(2)])
    room.ring(card(2).shelf)
    task = await waiting
    assert task
    assert (task.issue_id, office.claimed) == (1, [])


@pytest.mark.req("BR-06", "BR-10")
async def test_a_lease_that_was_noted_before_a_loss_is_noted_again_when_it_is_told(
    desk: Desk, office: ScriptedOffice, board: RedisBoard, redis: Redis
):
    async def lose() -> None:
        await board.hold(held(1, "a1"), card(1).shelf)
        await redis.flushall()
        await board.fill(HOME, BASE, [card(2)])

    office.meanwhile = lose
    tasks = [await desk.next_task(wish()) for _ in range(2)]
    assert [task.issue_id for task in tasks if task] == [1, 1]
    assert office.claimed == [1]


@pytest.mark.req("BR-06", "BR-10")
async def test_a_task_is_given_back_when_the_agent_got_another_one_after_a_loss(
    desk: Desk, office: ScriptedOffice, redis: Redis
):
    async def lose() -> None:
        office.leases = [held(2, "a1")]
        await redis.flushall()
        await desk.held()

    office.meanwhile = lose
    task = await desk.next_task(wish())
    assert task
    assert (task.issue_id, office.claimed) == (2, [1])
    given_back = office.reported[0]
    assert (LeaseId.parse(given_back.lease_id).issue, given_back.outcome) == (issue(1), Outcome.RELEASED)


async def test_who_cannot_be_served_because_the_workflows_are_away_is_told_so(desk: Desk, office: ScriptedOffice):
    office.is_away, office.refusals = True, {1: "no", 2: "no"}
    with pytest.raises(TryAgainLater):
        await desk.next_task(wish())
    with pytest.raises(TryAgainLater):
        await desk.held()


@pytest.mark.lesson("B5")
async def test_a_workflow_that_alone_is_silent_keeps_nobody_from_the_next_task(desk: Desk, office: ScriptedOffice):
    office.silent = {1}
    task = await desk.next_task(wish())
    assert task
    assert task.issue_id == 2
    assert await desk.next_task(wish("a2"))
    assert office.claimed == [1, 2, 2]


async def test_a_limit_of_the_forge_ends_the_search_and_is_waited_for(desk: Desk, office: ScriptedOffice):
    office.refusals, office.limited = {1: "limit", 2: "limit"}, timedelta(hours=1)
    limited = wish(timeout=timedelta(minutes=1))
    waiting = asyncio.create_task(desk.next_task(limited))
    while not office.checked:  # noqa: ASYNC110 - the office has no event for it
        await asyncio.sleep(0.01)
    limited.withdraw()
    assert await waiting is None
    assert office.claimed == [1]


@pytest.mark.req("BR-03")
async def test_who_has_hung_up_is_tried_no_further(desk: Desk, office: ScriptedOffice):
    gone = wish()

    async def hang_up() -> None:
        gone.withdraw()

    office.refusals, office.meanwhile = {1: "no", 2: "no"}, hang_up
    assert await desk.next_task(gone) is None
    assert office.claimed == [1]


@pytest.mark.req("BR-03")
async def test_what_was_refused_once_is_tried_again_when_it_is_offered_anew(
    desk: Desk, office: ScriptedOffice, board: RedisBoard, room: WaitingRoom
):
    office.refusals = {1: "no", 2: "no"}
    waiting = asyncio.create_task(desk.next_task(wish(timeout=timedelta(seconds=30))))
    while len(office.claimed) < 2:  # noqa: ASYNC110 - the office has no event for it
        await asyncio.sleep(0.01)
    office.refusals = {}
    while not waiting.done():
        await board.let_go(issue(1), "", again=True)
        room.ring(card(1).shelf)
        await asyncio.sleep(0.05)
    task = await waiting
    assert task
    assert task.issue_id == 1


@pytest.mark.req("BR-03")
async def test_all_who_wait_are_served_at_once_when_many_tasks_come(
    desk: Desk, office: ScriptedOffice, board: RedisBoard, room: WaitingRoom
):
    for number in (1, 2):
        await board.remove(issue(number))
    everybody = asyncio.Barrier(3)
    office.meanwhile = everybody.wait
    waiting = [asyncio.create_task(desk.next_task(wish(f"a{n}", timedelta(seconds=30)))) for n in range(3)]
    while office.checked < 3:  # noqa: ASYNC110 - the office has no event for it
        await asyncio.sleep(0.01)
    await board.fill(HOME, BASE, [card(n) for n in (1, 2, 3)])
    room.ring(card(1).shelf)
    async with asyncio.timeout(20):
        tasks = await asyncio.gather(*waiting)
    assert sorted(task.issue_id for task in tasks if task) == [1, 2, 3]


async def test_a_lease_that_its_workflow_does_not_know_any_more_is_given_up(
    desk: Desk, office: ScriptedOffice, board: RedisBoard
):
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    await board.restore_ledger(office.held)
    for number in (1, 2):
        await board.hold(held(number, f"lost-{number}", long_ago), card(number).shelf)
    office.leases = [held(2, "lost-2")]
    task = await desk.next_task(wish())
    assert task
    assert task.issue_id == 1
    assert [each.lease_expires_at > datetime.now(UTC) for each in await desk.held()] == [True]


async def test_a_task_that_cannot_be_told_any_more_is_given_back_and_the_next_is_given(
    desk: Desk, office: ScriptedOffice, board: RedisBoard
):
    elsewhere = issue(1).model_copy(update={"forge": "gone"})
    await board.restore_ledger(office.held)
    await board.hold(held(1, "a1").model_copy(update={"issue": elsewhere}), card(1).shelf)
    assert await desk.next_task(wish())
    assert [report.outcome for report in office.reported] == [Outcome.ASKS_AGAIN, Outcome.RELEASED]
