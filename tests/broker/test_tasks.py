"""Agents ask for tasks, work on them and report, over HTTP and through every real part."""

from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.broker.counter import counter
from tests.workflows.house import until


@pytest.mark.req("BR-01", "BR-02", "BR-07", "BR-08")
async def test_an_agent_gets_the_issue_with_branch_labels_prompt_and_lease(time: WorkflowEnvironment, tmp_path: Path):
    async with counter(time, tmp_path) as broker:
        number = broker.opens("bug")
        task = await broker.gets("gemini-agent")
        assert (task["issue_id"], task["title"], task["labels"]) == (number, "Do it", ["bug"])
        assert task["branch_name"] == f"feature/issue-{number}"
        assert (task["required_role"], task["task_type"], task["forge"]) == ("CODER", "development", "github")
        assert broker.labels(number) == {"bug", "in-progress", "gemini-agent"}
        assert "done.txt" in task["prompt"]
        assert task["lease_id"] in task["prompt"]
        status = await broker.status(number)
        assert (status.state, status.branch) == ("in-progress", task["branch_name"])
        (held,) = (await broker.http.get("/api/v1/tasks")).json()
        assert held["agent_id"] == "gemini-agent"
        assert await broker.reports("gemini-agent", task, "heartbeat") == 204
        assert await broker.reports("gemini-agent", task, "complete") == 204
        assert broker.labels(number) == {"bug", "needs-review"}
        assert (await broker.status(number)).state == "needs-review"
        assert (await broker.http.get("/api/v1/tasks")).json() == []


@pytest.mark.req("BR-04")
@pytest.mark.lesson("B6")
async def test_asking_again_without_evidence_gives_the_same_task_and_with_it_the_next(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with counter(time, tmp_path) as broker:
        first, second = broker.opens(), broker.opens()
        task = await broker.gets("a1")
        again = await broker.gets("a1")
        assert (again["issue_id"], again["lease_id"]) == (first, task["lease_id"])
        assert again["lease_expires_at"] > task["lease_expires_at"]
        assert broker.labels(first) == {"in-progress", "a1"}
        broker.pushes(task["branch_name"])
        following = await broker.gets("a1")
        assert following["issue_id"] == second
        assert broker.labels(first) == {"needs-review"}
        assert await broker.reports("a1", task, "heartbeat") == 409


async def test_nothing_to_do_is_204_and_a_waiting_agent_is_answered_as_soon_as_there_is(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with counter(time, tmp_path) as broker:
        assert (await broker.asks("a1", timeout=0)).status_code == 204

        async def waits() -> bool:
            return True

        await until(waits)
