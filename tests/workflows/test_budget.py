"""A budget that is used up holds the work and asks; a larger one continues at the same step."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from activities.forge_activities import PostComment
from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS
from hikitsugi.domain.budget import Budget
from hikitsugi.domain.policy import Policy
from tests.workflows.fakes import ALICE
from tests.workflows.house import House, house, until


def dear_house(time: WorkflowEnvironment, budget: Budget, rounds: int = 4) -> House:
    h = house(time, rounds, Policy(completion_keywords=COMPLETION_KEYWORDS, budget=budget))
    h.model.costs = Decimal("0.5")
    return h


async def is_answered(h: House, words: str) -> None:
    async def said() -> bool:
        return any(words in comment.body for comment in h.forge.comments)

    await until(said)


@pytest.mark.req("OP-03")
async def test_the_work_pauses_before_the_call_that_might_exceed_the_budget_and_goes_on_at_the_same_step(
    time: WorkflowEnvironment, tmp_path: Path
):
    h = dear_house(time, Budget(usd=1.2))
    async with h.open(tmp_path):
        await h.start()
        status = await h.comes_to("paused")
        assert status.cost_usd == pytest.approx(1.0)
        assert str(status.waiting_for).startswith("予算の追加(`/budget 8` のようにコメント)")
        asked = [body for body in h.forge.ours if "予算の確認" in body]
        assert len(asked) == 1
        assert "**内訳**:\n- 作業: $1.0000" in h.forge.comments[-1].body
        await time.fast_forward(h.workflow, timedelta(days=30))
        assert len(h.model.transcripts) == 2
        await h.hears(ALICE, "/budget 8")
        status = await h.comes_to("awaiting-response")
        assert status.cost_usd == pytest.approx(2.5)
        assert h.workshop.carried_out == ["step 0", "step 1", "step 2", "step 3"]
        assert [body for body in h.forge.ours if "予算の確認" in body] == asked
        await is_answered(h, "予算を $8 にしました")


@pytest.mark.req("OP-03")
async def test_a_budget_of_nothing_pays_for_no_call_at_all(time: WorkflowEnvironment, tmp_path: Path):
    h = dear_house(time, Budget(usd=0))
    async with h.open(tmp_path):
        await h.start()
        assert (await h.comes_to("paused")).llm_calls == 0
        assert h.model.transcripts == []
        await h.hears(ALICE, "/budget 8")
        await h.comes_to("awaiting-response")


@pytest.mark.req("OP-03")
async def test_neither_a_resume_nor_a_budget_below_what_was_spent_goes_on(time: WorkflowEnvironment, tmp_path: Path):
    h = dear_house(time, Budget(usd=1.2))
    async with h.open(tmp_path):
        await h.start()
        await h.comes_to("paused")
        await h.hears(ALICE, "/resume")
        await is_answered(h, "再開できません")
        await h.hears(ALICE, "/budget 1")
        await is_answered(h, "$1 では足りません")
        await h.hears(ALICE, "/budget lots")
        await is_answered(h, "金額を一つ書いてください")
        await h.workflow.signal("resume")
        assert (await h.comes_to("paused")).llm_calls == 2
        assert len(h.model.transcripts) == 2
        await h.hears(ALICE, "/budget 8")
        await h.comes_to("awaiting-response")


@pytest.mark.req("OP-03")
async def test_a_limit_of_tokens_holds_even_where_the_price_is_unknown(time: WorkflowEnvironment, tmp_path: Path):
    h = dear_house(time, Budget(usd=1.2, tokens=40))
    h.model.costs = None
    async with h.open(tmp_path):
        await h.start()
        status = await h.comes_to("paused")
        assert status.cost_usd is None
        assert status.llm_calls == 2


class Answering(Interceptor):
    """Lets people answer while they are being asked for money."""

    def __init__(self, answer: Callable[[], Awaitable[None]]) -> None:
        self.answer = answer

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        return _Answering(next, self)


class _Answering(ActivityInboundInterceptor):
    def __init__(self, inner: ActivityInboundInterceptor, answering: Answering) -> None:
        super().__init__(inner)
        self._answering = answering

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        result = await super().execute_activity(input)
        if isinstance(input.args[0], PostComment) and ":budget-" in input.args[0].key:
            await self._answering.answer()
        return result


@pytest.mark.req("OP-03")
async def test_a_budget_granted_while_it_is_asked_for_holds_nothing_up(time: WorkflowEnvironment, tmp_path: Path):
    h = dear_house(time, Budget(usd=1.2))

    async def grant() -> None:
        await h.hears(ALICE, "/budget 8")
        await is_answered(h, "予算を $8 にしました")

    async with h.open(tmp_path, (Answering(grant),)):
        await h.start()
        assert (await h.comes_to("awaiting-response")).cost_usd == pytest.approx(2.5)


@pytest.mark.req("OP-03", "PR-01")
@pytest.mark.parametrize("asked", [False, True], ids=["while it is asked for", "afterwards"])
async def test_a_pause_by_a_person_outlasts_a_new_budget(time: WorkflowEnvironment, tmp_path: Path, *, asked: bool):
    h = dear_house(time, Budget(usd=1.2))

    async def pause() -> None:
        await h.workflow.signal("pause", {"by": "maria", "reason": "release"})

    async with h.open(tmp_path, () if asked else (Answering(pause),)):
        await h.start()
        await h.comes_to("paused")
        if asked:
            await pause()
        await until(lambda: _waits_for(h, "maria"))
        await h.hears(ALICE, "/budget 8")
        await is_answered(h, "予算を $8 にしました")
        assert "release" in str((await h.comes_to("paused")).waiting_for)
        await h.hears(ALICE, "/resume")
        assert (await h.comes_to("awaiting-response")).cost_usd == pytest.approx(2.5)


@pytest.mark.req("OP-03", "PR-02")
async def test_work_that_waits_for_money_can_be_stopped(time: WorkflowEnvironment, tmp_path: Path):
    h = dear_house(time, Budget(usd=1.2))
    async with h.open(tmp_path):
        await h.start()
        await h.comes_to("paused")
        await h.hears(ALICE, "/stop")
        await h.comes_to("stopped")
        assert len(h.model.transcripts) == 2


async def _waits_for(h: House, words: str) -> bool:
    return words in str((await h.status()).waiting_for)
