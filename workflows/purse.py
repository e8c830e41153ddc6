"""Holds the work when the next model call might cost more than was granted."""

from collections.abc import Awaitable, Callable

from hikitsugi.domain.budget import Budget, amount_in
from hikitsugi.domain.life import BUDGET, Life, Order
from hikitsugi.domain.status import Status
from hikitsugi.messages import budget as texts
from workflows.gate import Gate
from workflows.steps import Steps


class Purse:
    """Asks once for each budget that is used up, and waits at the gate for a larger one."""

    def __init__(self, life: Life, steps: Steps, gate: Gate, status: Callable[[], Status]) -> None:
        self._life = life
        self._steps = steps
        self._gate = gate
        self._status = status

    @property
    def budget(self) -> Budget:
        """What a person granted on the issue, else what the settings allow."""
        granted = self._life.granted_usd
        return self._life.policy.budget if granted is None else Budget(usd=granted)

    async def passage(self, take_in: Callable[[], Awaitable[None]]) -> None:
        """Go on when the money suffices; what people wrote while it did not is taken in before."""
        while not self.budget.covers(self._life.spending):
            await self._ask()
            if self.budget.covers(self._life.spending):
                return
            self._life.hold = self._life.hold or Order(by=BUDGET, reason=texts.reason(self._life.policy.language))
            await self._gate.passage(at_checkpoint=True)
            await take_in()

    async def _ask(self) -> None:
        if self._life.asked_for_more != (asked := str(self.budget)):
            effect = f"budget-{self._life.spending.llm_calls}"
            language, mention = self._life.policy.language, self._life.mention
            text = texts.is_used_up(language, self._status(), self.budget, self._life.spent_on, mention)
            await self._steps.post_comment(effect, text)
            self._life.asked_for_more = asked

    def grant(self, text: str) -> str:
        """Take a new budget from a person; the answer to it."""
        language, usd = self._life.policy.language, amount_in(text)
        if usd is None:
            return texts.is_no_amount(language, self._life.mention)
        if not Budget(usd=usd).covers(self._life.spending):
            return texts.is_too_small(language, usd, self._status())
        self._life.granted_usd = usd
        self._release()
        return texts.is_granted(language, usd, self._status())

    def _release(self) -> None:
        if self._life.hold and self._life.hold.by == BUDGET:
            self._life.hold = None
