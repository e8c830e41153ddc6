"""Who is let in: tokens, ids that can be labels, small bodies, and nobody in another's name."""

import hashlib
from collections.abc import AsyncGenerator
from typing import Any, cast

import httpx2
import pytest
import pytest_asyncio
from fastapi import FastAPI
from temporalio.testing import WorkflowEnvironment

from hikitsugi.broker.agents import Agents
from hikitsugi.broker.desk import Desk
from hikitsugi.broker.guard import LARGEST_BODY
from hikitsugi.broker.pace import Pace
from hikitsugi.broker.task_routes import task_routes
from hikitsugi.domain.policy import LabelNames
from tests.broker.counter import Counter, counter

TOKENS = {
    "agent-a": "token-a-0123456789",
    "agent-b": "token-b-0123456789",
    "checker": "token-t-0123456789",
    "stranger": "token-s-0123456789",
}
LEASE = "Z2l0aHViOm8vci9pc3N1ZXMvMQ.1.0123456789abcdef"
ASKING = {"agent_id": "agent-a", "timeout_seconds": 0}
ROUTES: list[tuple[str, str, dict[str, Any] | None]] = [
    ("POST", "/api/v1/request-task", ASKING),
    *(("POST", f"/api/v1/tasks/{LEASE}/{report}", ASKING) for report in ("heartbeat", "complete", "fail", "release")),
    ("GET", "/api/v1/tasks", None),
    ("GET", "/", None),
    ("GET", "/issue?id=github:o/r/issues/1", None),
    ("GET", "/style.css", None),
    ("GET", "/openapi.json", None),
    ("GET", "/nothing", None),
]
A14 = [
    *(
        "needs-review",
        "in-progress",
        "processing",
        "completed",
        "task:misc",
        "p0",
        "coder",
        "epic",
        "story",
        ",x",
        "../",
    ),
    *("a/b", "", "-a", "A", "a" * 40, "a b", "a\u202eb", "a\n", "ａ", "a\x00", "agent_a", "a,b", "a%2e", "é"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def guarded(time: WorkflowEnvironment, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Counter]:
    passes: dict[str, Any] = {
        agent: {"sha256": hashlib.sha256(token.encode()).hexdigest()} for agent, token in TOKENS.items()
    }
    passes["checker"] |= {"roles": ["TESTER"]}
    passes["stranger"] |= {"repositories": ["octo/elsewhere"]}
    folder = tmp_path_factory.mktemp("guarded")
    async with counter(time, folder, tokens=passes, roles=["CODER", "TESTER"]) as broker:
        yield broker


def bearer(agent: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKENS[agent]}"}


@pytest.mark.parametrize(("method", "path", "body"), ROUTES, ids=lambda given: str(given)[:40])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer guessed"},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic token-a-0123456789"},
    ],
    ids=["none", "unknown", "empty", "another scheme"],
)
async def test_without_a_known_token_nothing_is_told(
    guarded: Counter, method: str, path: str, body: dict[str, Any] | None, headers: dict[str, str]
):
    answer = await guarded.http.request(method, path, json=body, headers=headers)
    assert answer.status_code == 401
    assert "Bearer" in answer.headers["www-authenticate"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_health_and_metrics_are_told_to_everybody(guarded: Counter, path: str):
    assert (await guarded.http.get(path)).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body"), [route for route in ROUTES if route[2]], ids=lambda given: str(given)[:40]
)
async def test_nobody_speaks_in_anothers_name(guarded: Counter, method: str, path: str, body: dict[str, Any]):
    assert (await guarded.http.request(method, path, json=body, headers=bearer("agent-b"))).status_code == 403


async def test_a_lease_is_its_agents_alone_and_each_gets_what_its_roles_allow(guarded: Counter):
    number, other = guarded.opens(), guarded.opens("TESTER")
    http = guarded.http

    async def asked(agent: str) -> httpx2.Response:
        body = {"agent_id": agent, "timeout_seconds": 20}
        return await http.post("/api/v1/request-task", json=body, headers=bearer(agent), timeout=60)

    task = (await asked("agent-a")).json()
    assert task["issue_id"] == number
    assert (await asked("checker")).json()["issue_id"] == other
    path = f"/api/v1/tasks/{task['lease_id']}/complete"
    assert (await http.post(path, json={"agent_id": "agent-b"}, headers=bearer("agent-b"))).status_code == 403
    previous = {"lease_id": task["lease_id"], "outcome": "completed"}
    stolen = {"agent_id": "agent-b", "timeout_seconds": 0, "previous": previous}
    assert (await http.post("/api/v1/request-task", json=stolen, headers=bearer("agent-b"))).status_code == 403
    assert guarded.labels(number) == {"in-progress", "agent-a"}
    assert (await http.post(path, json={"agent_id": "agent-a"}, headers=bearer("agent-a"))).status_code == 204


async def test_who_may_work_in_some_repositories_is_told_of_no_others(guarded: Counter):
    number = guarded.opens()
    body = {"agent_id": "agent-b", "timeout_seconds": 20}
    task = await guarded.http.post("/api/v1/request-task", json=body, headers=bearer("agent-b"), timeout=60)
    assert task.json()["issue_id"] == number
    seen = {
        agent: len((await guarded.http.get("/api/v1/tasks", headers=bearer(agent))).json())
        for agent in ("agent-a", "stranger")
    }
    assert seen["agent-a"] >= 1
    assert seen["stranger"] == 0
    asked = {"agent_id": "stranger", "timeout_seconds": 0}
    assert (await guarded.http.post("/api/v1/request-task", json=asked, headers=bearer("stranger"))).status_code == 204


async def test_an_id_that_is_nobodys_is_refused_as_such_also_with_a_token(guarded: Counter):
    for agent in ("needs-review", ",x", "p0"):
        body = {"agent_id": agent, "timeout_seconds": 0}
        answer = await guarded.http.post("/api/v1/request-task", json=body, headers=bearer("agent-a"))
        assert answer.status_code == 422


@pytest.mark.parametrize("agent", A14, ids=repr)
async def test_an_id_that_cannot_be_a_label_of_its_own_is_refused_without_a_call_to_the_forge(
    broker: Counter, agent: str
):
    calls = len(broker.calls())
    for path in ("/api/v1/request-task", f"/api/v1/tasks/{LEASE}/heartbeat"):
        answer = await broker.http.post(path, json={"agent_id": agent, "timeout_seconds": 0})
        assert answer.status_code == 422
    assert len(broker.calls()) == calls


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout_seconds": 301},
        {"timeout_seconds": -1},
        {"timeout_seconds": "soon"},
        {"task_types": ["cooking"]},
        {"task_types": []},
        {"previous": {"lease_id": "x", "outcome": "completed"}},
        {"previous": {"lease_id": LEASE, "outcome": "eaten"}},
        {"agent_role": "x" * 101},
    ],
    ids=str,
)
async def test_what_does_not_fit_is_refused(broker: Counter, wrong: dict[str, Any]):
    body = {"agent_id": "fits", "timeout_seconds": 0, **wrong}
    assert (await broker.http.post("/api/v1/request-task", json=body)).status_code == 422


@pytest.mark.parametrize(
    "text",
    [
        '{"agent_id": "fits", "timeout_seconds": NaN}',
        '{"agent_id": "fits", "timeout_seconds": -Infinity}',
        '{"agent_id": "\\ud800"}',
        '{"agent_id": "fits", "agent_role": "\\ud800"}',
        '{"agent_id": {"\\ud800": NaN}}',
        "[NaN]",
        '"\\udfff"',
        "{",
        "",
        "[" * 30_000,
        "9" * 5000,
    ],
    ids=lambda text: text[:40],
)
async def test_what_can_hardly_be_read_is_refused_without_a_failure(broker: Counter, text: str):
    for path in ("/api/v1/request-task", f"/api/v1/tasks/{LEASE}/complete"):
        kind = {"content-type": "application/json"}
        answer = await broker.http.post(path, content=text.encode(), headers=kind)
        assert answer.status_code in {400, 409, 422}, answer.text


async def test_a_lease_that_never_was_is_lost(broker: Counter):
    for lease in (LEASE, "nonsense", "x" * 600):
        answer = await broker.http.post(f"/api/v1/tasks/{lease}/heartbeat", json={"agent_id": "fits"})
        assert answer.status_code == 409


async def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(broker: Counter):
    async def pieces() -> AsyncGenerator[bytes]:
        for _ in range(3):
            yield b"x" * (LARGEST_BODY // 2)

    for content in (b"x" * (LARGEST_BODY + 1), pieces()):
        assert (await broker.http.post("/api/v1/request-task", content=content)).status_code == 413


async def test_an_agent_that_asks_too_often_is_asked_to_wait():
    pace = Pace(lambda: 0.0)
    app = FastAPI()
    app.include_router(task_routes(cast("Desk", None), Agents({}, LabelNames()), pace, [], ["CODER"]))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://broker") as http:
        path, hasty = "/api/v1/tasks/nonsense/heartbeat", {"agent_id": "hasty"}
        answers = [await http.post(path, json=hasty) for _ in range(70)]
        assert [answer.status_code for answer in answers] == [409] * 60 + [429] * 10
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert (await http.post(path, json={"agent_id": "calm"})).status_code == 409


def test_the_pace_recovers_with_time():
    now = [0.0]
    pace = Pace(lambda: now[0])
    while not pace.wait("a"):
        pass
    now[0] += pace.wait("a") + 0.001
    assert pace.wait("a") == 0
    assert pace.wait("a") > 0
