"""One issue for external agents on a real Temporal server, with fakes of forge and board around it."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import uuid4

from temporalio.client import WorkflowHandle
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.assignment_activities import AssignmentActivities
from activities.failures import FailureTranslation
from activities.heartbeat import Heartbeat
from hikitsugi.app.leases import TemporalOffice
from hikitsugi.app.temporal import WORKFLOWS
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.assignment import Answer, Claim, Outcome, Report, Terms
from hikitsugi.domain.board import Held
from hikitsugi.domain.issue import Base, Issue
from hikitsugi.domain.lease import Lease
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.selection import Card
from hikitsugi.domain.status import Status
from tests.workflows.fakes import FakeForge
from workflows.issue_workflow import IssueWorkflow

HOUR = timedelta(hours=1)


class FakeBoard:
    """Keeps what it was told, in order."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.busy: set[str] = set()
        """The agents that have another task."""
        self.answers = asyncio.Event()
        """Set, unless it offers an issue long before it says that it did."""
        self.answers.set()

    async def is_filled(self, home: RepositoryAddress) -> bool:
        return True

    async def fill(
        self, home: RepositoryAddress, base: Base, cards: Iterable[Card], waiting: Iterable[Issue] = ()
    ) -> None:
        self.told.append("fill")

    async def set_base(self, home: RepositoryAddress, base: Base) -> None:
        self.told.append("base")

    async def put(self, card: Card) -> None:
        self.told.append("put")

    async def remove(self, issue: IssueAddress) -> None:
        self.told.append("remove")

    async def keep_waiting(self, issue: Issue) -> None:
        self.told.append("waits")

    async def waiting(self, home: RepositoryAddress) -> list[Issue]:
        return []

    async def hold(self, held: Held, shelf: str) -> bool:
        self.told.append(f"hold {held.agent_id}")
        return held.agent_id not in self.busy

    async def let_go(self, issue: IssueAddress, agent: str, *, again: bool) -> None:
        self.told.append("again" if again else "let go")
        await self.answers.wait()


class AgentsForge(FakeForge):
    """A forge that counts branches and can refuse to make one."""

    def __init__(self, address: IssueAddress) -> None:
        super().__init__(address)
        self.branches: list[str] = []
        self.poison: Exception | None = None
        self.refusal: Exception | None = None
        self.answers = asyncio.Event()
        """Set, unless labels take their time."""
        self.answers.set()
        self.has_work = False
        self.calls = 0

    async def ensure_branch(self, home: RepositoryAddress, name: str, from_ref: str) -> None:
        self.calls += 1
        if self.poison:
            raise self.poison
        self.branches.append(name)

    async def change_labels(self, issue: IssueAddress, add: Collection[str], remove: Collection[str]) -> None:
        self.calls += 1
        await self.answers.wait()
        if self.refusal:
            raise self.refusal
        await super().change_labels(issue, add, remove)

    async def has_commits(self, home: RepositoryAddress, branch: str, base: str) -> bool:
        return self.has_work


class AgentsIssue:
    """The issue, the agents' way to it, and what can be seen of it."""

    def __init__(self, time: WorkflowEnvironment, repository: str = "") -> None:
        self.time = time
        self.issue = IssueAddress(forge="github", repository=repository or f"octo/{uuid4().hex[:8]}", number=1)
        self.forge = AgentsForge(self.issue)
        self.forge.labels = {"bug"}
        self.board = FakeBoard()
        self.queue = f"office-{uuid4().hex[:8]}"
        self.office = TemporalOffice(time.client, self.queue)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator["AgentsIssue"]:
        """Run the worker; the issue's clock moves only when told."""
        leases = AssignmentActivities({"github": self.forge}, self.board, Redactor())
        async with Worker(
            self.time.client,
            task_queue=self.queue,
            workflows=WORKFLOWS,
            activities=[
                leases.prepare_assignment,
                leases.has_evidence,
                leases.settle_assignment,
                leases.clear_board,
                leases.offer_again,
            ],
            interceptors=[FailureTranslation(Redactor()), Heartbeat()],
            graceful_shutdown_timeout=timedelta(seconds=5),
        ):
            with self.time.with_time_skipping_disabled():
                yield self

    async def asks(self, agent: str) -> Answer:
        """An agent claims the issue."""
        claim = Claim(
            agent=agent,
            title="It fails",
            url="http://forge.example/1",
            branch="feature/issue-1",
            base="main",
            base_commit="b" * 40,
            shelf="shelf",
            terms=Terms(lease=HOUR, language="en"),
        )
        return await self.office.claim(self.issue, claim)

    async def gets(self, agent: str) -> Lease:
        """An agent claims the issue and gets it."""
        answer = await self.asks(agent)
        assert answer.lease, answer
        return answer.lease

    async def is_given_to(self, agent: str) -> bool:
        """Whether an agent that claims the issue has it then."""
        return (await self.asks(agent)).lease is not None

    async def reports(self, lease: Lease, outcome: Outcome, note: str = "", agent: str | None = None) -> Answer:
        """An agent reports on its lease."""
        report = Report(lease_id=lease.id, agent=agent or lease.agent, outcome=outcome, note=note)
        return await self.office.report(self.issue, report)

    @property
    def workflow(self) -> WorkflowHandle[IssueWorkflow, None]:
        """The newest run of the issue's workflow."""
        return self.time.client.get_workflow_handle_for(IssueWorkflow.run, str(self.issue))

    async def status(self) -> Status:
        return await self.workflow.query(IssueWorkflow.status)

    async def after(self, passed: timedelta) -> None:
        """Time passes."""
        await self.time.fast_forward(self.workflow, passed)
