"""The routes for agents: asking for a task, and reporting on it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from hikitsugi.broker.agents import AGENT_ID, Agents
from hikitsugi.broker.briefing import Task
from hikitsugi.broker.desk import Desk, Wish
from hikitsugi.broker.pace import Pace
from hikitsugi.domain.address import RepositoryAddress
from hikitsugi.domain.assignment import ANOTHERS, LOST, Outcome
from hikitsugi.domain.lease import LeaseId
from hikitsugi.domain.selection import TaskType

_LONGEST_NOTE = 10_000
_LONGEST_WAIT = 300
_LEASE_ID = Path(max_length=700, examples=["Z2l0aHViOm8vci9pc3N1ZXMvMQ.1.0123456789abcdef"])

AgentId = Annotated[str, Field(pattern=AGENT_ID, examples=["gemini-agent"])]
ReportName = Literal["heartbeat", "complete", "fail", "release"]
_OUTCOMES: dict[str, Outcome] = {
    "heartbeat": Outcome.HEARTBEAT,
    "complete": Outcome.COMPLETED,
    "fail": Outcome.FAILED,
    "release": Outcome.RELEASED,
}


class Previous(BaseModel):
    """What came of the agent's last task."""

    lease_id: Annotated[str, Field(max_length=700)]
    outcome: Literal["completed", "failed", "released"]


class TaskRequest(BaseModel):
    """An agent asks for its next task."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"agent_id": "gemini-agent", "agent_role": "CODER", "timeout_seconds": 120}]}
    )

    agent_id: AgentId
    agent_role: Annotated[str, Field(max_length=100)] | None = None
    timeout_seconds: Annotated[float, Field(ge=0, le=_LONGEST_WAIT)] = 120
    task_types: Annotated[list[TaskType], Field(min_length=1, max_length=2)] = [TaskType.DEVELOPMENT]
    previous: Previous | None = None


class ReportBody(BaseModel):
    """An agent reports on its lease."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"agent_id": "gemini-agent", "note": "tests pass"}]})

    agent_id: AgentId
    note: Annotated[str, Field(max_length=_LONGEST_NOTE)] = ""


class HeldTask(BaseModel):
    """Who has what."""

    lease_id: str
    agent_id: str
    issue_id: int
    repository: str
    branch_name: str
    lease_expires_at: datetime


def task_routes(
    desk: Desk, agents: Agents, pace: Pace, homes: Sequence[RepositoryAddress], roles: Sequence[str]
) -> APIRouter:
    """The routes under `/api/v1`."""
    routes = APIRouter(prefix="/api/v1", responses=_REFUSALS)

    @routes.post("/request-task", responses={204: {"description": "No task became available in time."}})
    async def request_task(asked: TaskRequest, request: Request, response: Response) -> Task | None:
        """Get the next task, waiting for one if need be."""
        _must_be(agents, request, asked.agent_id)
        _must_keep(pace, asked.agent_id)
        if asked.previous:
            _must_be_lease(asked.previous.lease_id)
            outcome = Outcome(asked.previous.outcome)
            _must_be_own(await desk.report(asked.agent_id, asked.previous.lease_id, outcome))
        wish = Wish(
            agent=asked.agent_id,
            homes=[home for home in homes if agents.may_work_in(asked.agent_id, home.repository)],
            roles=agents.roles_of(asked.agent_id, roles, asked.agent_role),
            types=list(dict.fromkeys(asked.task_types)),
            timeout=timedelta(seconds=asked.timeout_seconds),
        )
        leaving = asyncio.create_task(_withdraw_when_gone(request, wish))
        try:
            task = await desk.next_task(wish)
        finally:
            leaving.cancel()
        if task is None:
            response.status_code = 204
        return task

    @routes.get("/tasks")
    async def tasks(request: Request) -> list[HeldTask]:
        """Tell who has what, in the repositories that concern whoever asks."""
        asking = _known(request) or ""
        return [
            HeldTask(
                **held.model_dump(include={"lease_id", "agent_id", "branch_name", "lease_expires_at"}),
                issue_id=held.issue.number,
                repository=held.issue.repository,
            )
            for held in await desk.held()
            if agents.may_work_in(asking, held.issue.repository)
        ]

    @routes.post("/tasks/{lease_id}/{report}", status_code=204, responses={409: {"description": "The lease is lost."}})
    async def report(
        lease_id: Annotated[str, _LEASE_ID], report: ReportName, body: ReportBody, request: Request
    ) -> Response:
        """Report a sign of life, or how the work ended."""
        _must_be(agents, request, body.agent_id)
        _must_keep(pace, body.agent_id)
        if not _is_lease(lease_id):
            raise HTTPException(409, LOST)
        refusal = await desk.report(body.agent_id, lease_id, _OUTCOMES[report], body.note)
        _must_be_own(refusal)
        if refusal:
            raise HTTPException(409, refusal)
        return Response(status_code=204)

    return routes


_REFUSALS: dict[int | str, dict[str, object]] = {
    401: {"description": "No token, or an unknown one."},
    403: {"description": "Another agent's id or lease."},
    413: {"description": "The body is too large."},
    429: {"description": "Too many requests; come back after `Retry-After` seconds."},
    503: {"description": "Temporal or Redis is away; come back after `Retry-After` seconds."},
}


async def _withdraw_when_gone(request: Request, wish: Wish) -> None:
    """An agent that hangs up while it waits is given nothing."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    wish.withdraw()


def _must_be(agents: Agents, request: Request, agent_id: str) -> None:
    """An agent speaks for itself alone, and its id is nobody else's label."""
    if not agents.may_be_called(agent_id):
        raise HTTPException(422, "agent_id must not be one of the labels")
    if _known(request) not in (None, agent_id):
        raise HTTPException(403, "the token is another agent's")


def _known(request: Request) -> str | None:
    """Whose token came with a request, where tokens are needed."""
    return getattr(request.state, "agent", None)


def _must_keep(pace: Pace, agent_id: str) -> None:
    if wait := pace.wait(agent_id):
        raise HTTPException(429, "too many requests", {"Retry-After": str(ceil(wait))})


def _must_be_own(refusal: str | None) -> None:
    if refusal == ANOTHERS:
        raise HTTPException(403, ANOTHERS)


def _must_be_lease(lease_id: str) -> None:
    if not _is_lease(lease_id):
        raise HTTPException(422, "previous.lease_id is not a lease's id")


def _is_lease(lease_id: str) -> bool:
    try:
        LeaseId.parse(lease_id)
    except ValueError:
        return False
    return True
