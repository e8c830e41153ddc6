"""Whatever is wrong outside ends in a clear sentence, and nothing is lost."""

import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.deliveries import start_issue
from hikitsugi.domain.address import RepositoryAddress
from hikitsugi.language_model.scripted import Answer, Request, fail, first, say, use
from tests.end_to_end.stage import Stage, stage, until


def _forge(s: Stage, **keys: Any) -> dict[str, Any]:
    """The configured forge, with some keys changed."""
    given: dict[str, Any] = json.loads(s.config.read_text())["forges"][0]
    return given | keys


@pytest.mark.req("TW-04", "BY-05")
async def test_an_unreachable_forge_is_waited_for(time: WorkflowEnvironment, tmp_path: Path):
    async with stage(time, tmp_path) as s:
        right = _forge(s)
        s.opens_issue()
        s.configure(forges=[_forge(s, url="http://127.0.0.1:9")])
        async with s.product():
            await until(lambda: _watcher_says(s, "127.0.0.1:9"))
        s.configure(forges=[right])
        async with s.product():
            await s.comes_to("awaiting-response")


@pytest.mark.req("TW-04", "OP-05")
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [({"token": "nobodys-token"}, "token"), ({"repositories": ["demo/none"]}, "demo/none")],
    ids=["wrong token", "unknown repository"],
)
async def test_a_forge_that_refuses_is_named_with_what_to_do(
    time: WorkflowEnvironment, tmp_path: Path, wrong: dict[str, Any], sentence: str
):
    async with stage(time, tmp_path) as s:
        settings = s.configure(forges=[_forge(s, **wrong)])
        [repository] = settings.forges[0].repositories
        s.repository = repository.name
        async with s.product():
            await until(lambda: _watcher_says(s, sentence))
            await start_issue(
                s.client, settings.temporal.task_queue, s.issue, "issue_changed", {"called_by": "operator"}
            )
            await until(lambda: _fails_with(s, "forges[]"))
            assert "nobodys-token" not in str(await s.status())


async def test_a_model_that_cannot_be_reached_is_waited_for(time: WorkflowEnvironment, tmp_path: Path):
    async with stage(time, tmp_path, lambda _: first(2, fail(529), then=_submit())) as s, s.product():
        s.opens_issue()
        await s.comes_to("awaiting-response")
        assert s.model.paid == 1


async def test_a_model_that_answers_nonsense_is_reported_and_the_issue_goes_on(
    time: WorkflowEnvironment, tmp_path: Path
):
    def nonsense(request: Request) -> Answer:
        if any("try again" in text for text in request.texts):
            return _submit()
        return use("fly", to="the moon") if request.turn == 0 else say("…")

    async with stage(time, tmp_path, nonsense) as s, s.product():
        s.opens_issue()
        await s.comes_to("awaiting-response", results=1)
        assert "作業を最後まで終えられませんでした" in s.forge.comments(s.repository, 1)[-1].body
        assert s.forge.pulls(s.repository) == []
        s.says("try again")
        await s.comes_to("awaiting-response", results=2)


async def test_a_wrong_key_for_the_model_fails_the_session_with_what_to_do(time: WorkflowEnvironment, tmp_path: Path):
    async with stage(time, tmp_path) as s:
        right = json.loads(s.config.read_text())["llm"]
        s.configure(llm=right | {"api_key": "nobodys-key"})
        s.opens_issue()
        async with s.product():
            await s.comes_to("failed")
        assert s.headings == ["## エラーが発生しました"]
        assert "llm.api_key" in s.forge.comments(s.repository, 1)[-1].body
        s.configure(llm=right)
        async with s.product():
            s.says("鍵を直しました。もう一度お願いします。")
            await s.comes_to("awaiting-response", results=1)


def _submit() -> Answer:
    return use("submit", status="done", summary="何もすることがありませんでした。")


async def _fails_with(s: Stage, sentence: str) -> bool:
    status = await s.status()
    return status.state == "failed" and sentence in str(status.error)


async def _watcher_says(s: Stage, sentence: str) -> bool:
    """Whether the watcher's page in the Web UI shows why it does not get on."""
    home = str(RepositoryAddress(forge="github", repository=s.repository))
    handle = s.client.get_workflow_handle(home)
    pending = (await handle.describe()).raw_description.pending_activities
    shown = [activity.last_failure.message for activity in pending]
    metadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    return sentence in f"{shown}{metadata}"
