"""What an issue has cost, and what it may cost."""

import re

from pydantic import BaseModel

from hikitsugi.domain.conversation import Usage
from hikitsugi.domain.value import Value


class Spending(BaseModel):
    """Model calls, tokens and money of an issue over all its sessions."""

    llm_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    dearest_usd: float = 0.0
    longest_tokens: int = 0

    @property
    def tokens(self) -> int:
        """All tokens together."""
        return self.input_tokens + self.output_tokens

    def add(self, usage: Usage, cost_usd: float | None) -> None:
        """Count one model call; one unknown price makes the whole cost unknown."""
        self.llm_calls += 1
        self.dearest_usd = max(self.dearest_usd, cost_usd or 0.0)
        self.longest_tokens = max(self.longest_tokens, usage.context_tokens)
        self.input_tokens += usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        self.cached_tokens += usage.cache_read_tokens
        self.output_tokens += usage.output_tokens
        self.cost_usd = None if self.cost_usd is None or cost_usd is None else self.cost_usd + cost_usd


class Budget(Value):
    """The most an issue may use over all its sessions; None means no limit."""

    usd: float | None = None
    tokens: int | None = None

    def covers(self, spending: Spending) -> bool:
        """Whether something is left and a call as dear as the dearest fits; an unknown price cannot be judged."""
        cost = spending.cost_usd
        too_dear = (
            self.usd is not None and cost is not None and (cost >= self.usd or cost + spending.dearest_usd > self.usd)
        )
        too_long = self.tokens is not None and spending.tokens + spending.longest_tokens > self.tokens
        return not too_dear and not too_long


def amount_in(text: str) -> float | None:
    """The US dollars somebody wrote, as `8`, `$8` or `8.50 USD`; None when it is no amount."""
    match = re.fullmatch(r"\$?\s*(\d{1,7}(?:\.\d{1,4})?)\s*(?:usd|ドル)?", text.strip(), re.IGNORECASE)
    return float(match[1]) if match else None
