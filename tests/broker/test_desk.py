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
from hikitsugi.domain.assignment import BUSY, Answer, Claim, Report, Terms
from hikitsugi.domain.board import Held
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.issue import Base
from hikitsugi.domain.lease import Lease, LeaseId
from hikitsugi.domain.selection import Card, Rules, TaskType
from tests.workflows.fakes import FakeForge

HOME = RepositoryAddress(forge="github", repository="octo/repo")
SECOND = timedelta(seconds=1)


class ScriptedOffice:
    """Workflows that say what the test wants."""

    def __init__(self) -> None:
        self.claimed: list[int] = []
        self.asked = 0
        self.refusals: dict[int, str] = {}
        self.meanwhile: Callable[[], Awaitable[object]] | None = None
        self.is_away = False

    async def claim(self, issue: IssueAddress, claim: Claim) -> Answer:
        self.claimed.append(issue.number)
        if self.meanwhile:
            await self.meanwhile()
        refusal = self.refusals.get(issue.number)
        return Answer(refusal=refusal) if refusal else Answer(lease=lease(issue, claim))

    async def report(self, issue: IssueAddress, report: Report) -> Answer:
        return Answer(lease=Lease(id=report.lease_id, agent=report.agent, branch="b", expires_at=later()))

    async def held(self) -> list[Held]:
        self.asked += 1
        await asyncio.sleep(0)
        return []

    async def must_answer(self) -> None:
        if self.is_away:
            raise TryAgainLater("away")

    async def author(self, issue: IssueAddress) -> str | None:
        return None


class NoBell:
    async def ring(self, home: RepositoryAddress) -> None:
        pass


def later() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def lease(issue: IssueAddress, claim: Claim) -> Lease:
    lease_id = LeaseId(issue=issue, number=1, secret="0" * 16)
    return Lease(id=str(lease_id), agent=claim.agent, branch=claim.branch, expires_at=later())


def held(number: int, agent: str) -> Held:
    lease_id = str(LeaseId(issue=issue(number), number=1, secret="0" * 16))
    return Held(lease_id=lease_id, agent_id=agent, issue=issue(number), branch_name="b", lease_expires_at=later())


def issue(number: int) -> IssueAddress:
    return IssueAddress(forge=HOME.forge, repository=HOME.repository, number=number)


def card(number: int) -> Card:
    facts = {"title": "", "body": "", "url": "", "author": "alice", "labels": (), "role": "CODER"}
    return Card.model_validate({"address": issue(number), "branch": "b", "rank": number, **facts})


def wish(agent: str = "a1") -> Wish:
    return Wish(agent=agent, homes=[HOME], roles=["CODER"], types=[TaskType.DEVELOPMENT], timeout=SECOND)


@pytest_asyncio.fixture(loop_scope="session")
async def board(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[RedisBoard]:
    async with embedded_valkey(tmp_path_factory.mktemp("valkey")) as url, Redis.from_url(url) as redis:
        made = RedisBoard(redis, ["CODER"])
        await made.fill(HOME, Base(branch="main", commit="a" * 40), [card(1), card(2)])
        yield made


@pytest.fixture
def office() -> ScriptedOffice:
    return ScriptedOffice()


@pytest.fixture
def desk(board: RedisBoard, office: ScriptedOffice) -> Desk:
    briefing = Briefing(board, {"github": FakeForge(issue(1))}, {"github": ["author"]}, Rules(), "en", {})
    return Desk(office, board, WaitingRoom(), briefing, NoBell(), Terms(), Metrics(lambda: 0))


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


async def test_who_cannot_be_served_because_the_workflows_are_away_is_told_so(desk: Desk, office: ScriptedOffice):
    office.is_away, office.refusals = True, {1: "no", 2: "no"}
    with pytest.raises(TryAgainLater):
        await desk.next_task(wish())
    with pytest.raises(TryAgainLater):
        await desk.held()
