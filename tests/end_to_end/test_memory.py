"""Somebody comes back to an issue, and the agent knows what was decided, tried and verified."""

from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.devforge.kinds import KindName
from tests.end_to_end.stage import Stage, stage

NOTICE = "📋 **過去のコンテキストを引き継ぎました**"
DECISION = "README に使い方を書いてください。"


@pytest.mark.req("CI-01", "CI-03", "CI-04", "CI-05", "CI-07", "CI-09", "CH-07")
@pytest.mark.parametrize("kind", ["github", "gitlab"])
async def test_ten_days_later_the_first_request_holds_the_failure_the_decision_and_the_verification(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName
):
    async with stage(time, tmp_path, kind=kind) as s, s.product():
        s.opens_issue()
        await s.comes_to("awaiting-response", results=1)
        s.says(DECISION)
        await s.comes_to("awaiting-response", results=2)
        s.says("ありがとう")
        await s.comes_to("completed")
        await time.fast_forward(s.workflow, timedelta(days=10))
        asked = len(s.model.requests)
        s.says("やはりもう一度 README を直してください。")
        await s.comes_to("awaiting-response", results=3)
        first = _texts(s, asked)
        assert first[0] == f"Issue {s.issue}: earlier record follows."
        inherited = first[1]
        assert inherited.startswith("前回の処理要約: ")
        assert "AssertionError" in inherited or "FAILED" in inherited
        assert DECISION in inherited
        assert "#issuecomment-" in inherited or "#note_" in inherited
        assert "は成功しました" in inherited
        assert "hanako" not in inherited
        assert NOTICE in s.headings


def _texts(s: Stage, number: int) -> list[str]:
    """The texts of a request to the model, oldest first."""
    messages = s.model.requests[number].body.messages
    return [str(getattr(block, "text", "")) for message in messages for block in message.content]
