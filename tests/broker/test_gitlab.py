"""The same counter before GitLab: from the request to the label for a review."""

from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.broker.counter import counter


@pytest.mark.req("BR-01", "BR-02", "BR-04", "BR-07")
async def test_an_agent_works_an_issue_of_gitlab_and_its_commits_are_the_evidence(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with counter(time, tmp_path, "gitlab") as broker:
        number = broker.opens("bug")
        task = await broker.gets("gemini-agent", timeout=60)
        assert (task["issue_id"], task["forge"], task["branch_name"]) == (number, "gitlab", f"feature/issue-{number}")
        assert broker.labels(number) == {"bug", "in-progress", "gemini-agent"}
        assert (await broker.gets("gemini-agent"))["lease_id"] == task["lease_id"]
        broker.pushes(task["branch_name"])
        assert (await broker.asks("gemini-agent", timeout=0)).status_code == 204
        assert broker.labels(number) == {"bug", "needs-review"}
