"""A conversation that is over says what ended it."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS
from hikitsugi.domain.policy import Policy
from tests.workflows.fakes import ALICE
from tests.workflows.house import House, house


async def thanks(h: House) -> None:
    await h.hears(ALICE, "ありがとう")


async def says_nothing(h: House) -> None:
    await h.time.fast_forward(h.workflow, timedelta(hours=25))


async def says_more(h: House) -> None:
    await h.hears(ALICE, "One more thing.")


@pytest.mark.req("CH-08")
@pytest.mark.parametrize(
    ("deed", "why"),
    [
        (thanks, "終了を告げるコメントを受け取りました。"),
        (says_nothing, "24 時間、返信がありませんでした。"),
        (says_more, "1 セッションで対応するコメントの上限(1 件)に達しました。"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
async def test_a_completion_says_its_reason(
    time: WorkflowEnvironment, tmp_path: Path, deed: Callable[[House], Awaitable[None]], why: str
):
    policy = Policy(completion_keywords=COMPLETION_KEYWORDS, max_comment_count=1)
    async with house(time, rounds=0, policy=policy).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        assert "24 時間返信がなければ、完了とします。" in h.forge.comments[-1].body
        await deed(h)
        await h.comes_to("completed")
        assert h.forge.comments[-1].body.startswith(f"## ✅ 完了\n\n{why}\n\n")


@pytest.mark.req("CH-08", "CH-13")
async def test_without_conversation_the_completion_says_so(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0, policy=Policy(converses=False)).open(tmp_path) as h:
        await h.start()
        await h.comes_to("completed")
        assert "時間返信がなければ" not in h.forge.comments[0].body
        assert h.forge.comments[-1].body.startswith("## ✅ 完了\n\n会話は設定で無効になっています。\n\n")
