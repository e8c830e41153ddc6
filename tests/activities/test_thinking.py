"""The model is asked once for each turn, however often the step is taken."""

import asyncio
from decimal import Decimal

import pytest

from activities.thinking_activities import Think, ThinkingActivities
from hikitsugi.domain.conversation import Reply, Transcript, Usage
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.redaction import Redactor
from hikitsugi.memory.store import SqlMemory
from tests.activities.examples import CONVERSATION, SECRET, opened, reply, step
from tests.workflows.fakes import FakeModel, submits_after

THINK = Think(conversation=CONVERSATION, sequence=1)


class PricedModel:
    """Answers each question differently, at a price."""

    def __init__(self, price: Decimal | None) -> None:
        self.price = price
        self.asked = 0

    async def reply(self, transcript: Transcript) -> Reply:
        self.asked += 1
        said = reply(("run", {"command": f"echo {self.asked} {SECRET}"}))
        usage = Usage(input_tokens=self.asked, output_tokens=5)
        return said.model_copy(update={"cost_usd": self.price, "usage": usage})


@pytest.mark.req("BY-08")
async def test_thinking_twice_pays_once_and_tells_the_same(memory: SqlMemory):
    await opened(memory)
    model = PricedModel(Decimal("0.25"))
    thinking = ThinkingActivities(model, memory, Redactor())
    assert await step(thinking.think, THINK) == await step(thinking.think, THINK)
    assert model.asked == 1


@pytest.mark.req("BY-08")
async def test_two_attempts_at_once_agree_on_one_reply(memory: SqlMemory):
    await opened(memory)
    model = PricedModel(Decimal("0.25"))
    thinking = ThinkingActivities(model, memory, Redactor())
    first, second = await asyncio.gather(step(thinking.think, THINK), step(thinking.think, THINK))
    assert first == second
    assert len((await memory.read_conversation(CONVERSATION)).turns) == 2


@pytest.mark.req("BY-08")
async def test_a_call_that_failed_leaves_nothing_and_is_made_again(memory: SqlMemory):
    await opened(memory)
    model = FakeModel(submits_after(0))
    model.refuses = TryAgainLater("overloaded")
    thinking = ThinkingActivities(model, memory, Redactor())
    with pytest.raises(TryAgainLater):
        await step(thinking.think, THINK)
    model.refuses = None
    thought = await step(thinking.think, THINK)
    assert thought.tools == ("submit done",)
    assert model.transcripts[0] == model.transcripts[1]


@pytest.mark.req("OP-03", "OP-05")
@pytest.mark.parametrize(("price", "cost"), [(Decimal("0.25"), 0.25), (Decimal(0), 0.0), (None, None)])
async def test_a_thought_is_small_priced_and_without_secrets(
    memory: SqlMemory, price: Decimal | None, cost: float | None
):
    await opened(memory)
    thinking = ThinkingActivities(PricedModel(price), memory, Redactor([SECRET]))
    thought = await step(thinking.think, THINK)
    assert thought.tools == ("run echo 1 [redacted]",)
    assert thought.cost_usd == cost
    assert thought.usage.output_tokens == 5
