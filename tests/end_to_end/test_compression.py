"""A conversation is compressed in the middle of the work, and the work comes to its end all the same."""

import json
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.settings_sections import Llm
from hikitsugi.cli.demo import sample
from hikitsugi.devforge.kinds import KindName
from hikitsugi.language_model.scripted import Answer, Reaction, Request, fail, say, use
from tests.end_to_end.stage import Stage, stage

pytestmark = [pytest.mark.req("CH-18"), pytest.mark.lesson("C20", "C21")]

SUMMARY = "## PENDING\nreceipt.py を直す。"
LOOK = "seq 1 3000"
EDIT = {"path": "receipt.py", "old_string": sample.BROKEN, "new_string": sample.MENDED}


def looks_around_and_mends(request: Request) -> Answer:
    """Read the file, print much, and mend it only after the conversation was compressed."""
    if request.model == Llm().summary_model:
        return say(SUMMARY)
    if not any(SUMMARY in text for text in request.texts):
        return use("run", command=LOOK) if request.turn else use("read", path="receipt.py")
    if not request.results_of("edit"):
        return use("edit", **EDIT)
    return use("submit", status="done", summary="直しました。", evidence="")


def looks_around_without_summary(request: Request) -> Reaction:
    """The same, where the summary model is away."""
    if request.model == Llm().summary_model:
        return fail(500)
    if request.turn < 4:
        return use("run", command=LOOK) if request.turn else use("read", path="receipt.py")
    if not request.results_of("edit"):
        return use("edit", **EDIT)
    return use("submit", status="done", summary="直しました。", evidence="")


def compressing(s: Stage) -> None:
    """Let conversations become no longer than this."""
    llm = json.loads(s.config.read_text())["llm"]
    s.configure(llm={**llm, "compress_at_tokens": 8_000})


@pytest.mark.parametrize("kind", ["github", pytest.param("gitlab", marks=pytest.mark.long)])
async def test_in_the_middle(time: WorkflowEnvironment, tmp_path: Path, kind: KindName):
    async with stage(time, tmp_path, looks_around_and_mends, kind=kind) as s:
        compressing(s)
        s.opens_issue()
        async with s.product():
            await s.comes_to("awaiting-response", results=1)
            sums = [r.body for r in s.model.requests if r.body.model == Llm().summary_model]
            short = [r.body for r in s.model.requests if any(SUMMARY in text for text in r.body.texts)]
            assert len(sums) == 1
            assert short[0].turn == 0
            assert sample.TITLE in short[0].texts[0]
            assert not any(result.is_error for result in short[-1].results_of("edit"))
            assert sample.MENDED in (s.checked_out() / "receipt.py").read_text()


async def test_where_no_summary_can_be_had(time: WorkflowEnvironment, tmp_path: Path):
    async with stage(time, tmp_path, looks_around_without_summary) as s:
        compressing(s)
        s.opens_issue()
        async with s.product():
            await s.comes_to("awaiting-response", results=1)
            assert any(r.body.model == Llm().summary_model for r in s.model.requests)
            assert sample.MENDED in (s.checked_out() / "receipt.py").read_text()
