"""The log tells what becomes of every comment."""

import logging
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.workflows.fakes import ALICE
from tests.workflows.house import House, house, until
from workflows.comment_log import COMMENT_LOG


@pytest.mark.req("CH-15")
async def test_each_step_of_a_comment_is_told_with_the_issue_and_its_id(
    time: WorkflowEnvironment, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, COMMENT_LOG)
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        ids = [await _says(h, *said) for said in (("mallory", "Hi."), (ALICE, "/status"), (ALICE, "Use tabs."))]
        await until(lambda: _results(h, 2))
        await h.comes_to("awaiting-response")
        ids.append(await _says(h, ALICE, "ありがとう"))
        await h.comes_to("completed")
    stranger, command, request, thanks = ids
    lines = [record.getMessage().partition(" ({")[0] for record in caplog.records if record.name == COMMENT_LOG]
    for comment, steps in {
        stranger: ["New comment detected", "Comment left aside"],
        command: ["New comment detected", "Command status"],
        request: ["New comment detected", f"Processing comment from @{ALICE}", "Comment processed successfully"],
        thanks: ["New comment detected", "Completion keyword detected"],
    }.items():
        told = [line for line in lines if line.endswith(f"(ID: {comment})")]
        assert told == [f"[COMMENT] Issue #1 - {step} (ID: {comment})" for step in steps]


async def _says(h: House, author: str, body: str) -> str:
    """Somebody writes; the comment's id, once it was heard."""
    comment = h.forge.says(author, body)
    await h.delivers(comment)
    await until(lambda: _is_heard(h))
    return comment.id


async def _is_heard(h: House) -> bool:
    return (await h.status()).comments_pending == 0


async def _results(h: House, number: int) -> bool:
    return h.forge.ours.count("## 実行完了") == number
