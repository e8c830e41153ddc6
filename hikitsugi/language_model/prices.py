"""What model calls cost: a price list in US dollars per million tokens."""

from collections.abc import Mapping
from decimal import Decimal

from pydantic import BaseModel, ConfigDict, Field

from hikitsugi.domain.conversation import Usage

PRICE_VERSION = "2026-10"
_MILLION = Decimal(1_000_000)
_READ, _WRITE = Decimal("0.1"), Decimal("1.25")


class LongPrompt(BaseModel):
    """A surcharge: above so many prompt tokens, every price is multiplied."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: int = Field(gt=0)
    factor: Decimal = Field(ge=0)


class Price(BaseModel):
    """The price of one model, in US dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cache_read: Decimal | None = Field(default=None, ge=0)
    """A tenth of the input's price if left out."""
    write_5m: Decimal | None = Field(default=None, ge=0)
    """One and a quarter of the input's price if left out."""
    above: LongPrompt | None = None

    def of(self, usage: Usage) -> Decimal:
        """What one call with this usage costs."""
        prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        factor = self.above.factor if self.above and prompt > self.above.tokens else Decimal(1)
        read = self.input * _READ if self.cache_read is None else self.cache_read
        write = self.input * _WRITE if self.write_5m is None else self.write_5m
        total = (
            usage.input_tokens * self.input
            + usage.cache_read_tokens * read
            + usage.cache_write_tokens * write
            + usage.output_tokens * self.output
        )
        return total * factor / _MILLION


def _price(usd: str, above: LongPrompt | None = None) -> Price:
    given, made, read, write = map(Decimal, usd.split())
    return Price(input=given, output=made, cache_read=read, write_5m=write, above=above)


_BUILT_IN: Mapping[str, Price] = {
    "claude-opus-5-5": _price("4 20 0.20 5"),
    "claude-sonnet-5-5": _price("2 10 0.10 2.5"),
    "claude-haiku-5-5": _price("0.10 0.50 0.01 0.125", LongPrompt(tokens=100_000, factor=Decimal(5))),
    "claude-fable-5-1": _price("10 50 0.25 12.5"),
}


class PriceList:
    """The built-in prices, with the operator's own (`llm.prices`) over them."""

    def __init__(self, overrides: Mapping[str, Price] | None = None) -> None:
        self._prices = {**_BUILT_IN, **(overrides or {})}

    def knows(self, model: str) -> bool:
        """Whether a model has a price."""
        return self._find(model) is not None

    def cost(self, model: str, usage: Usage) -> Decimal | None:
        """What one call cost in US dollars; None when the model's price is unknown."""
        price = self._find(model)
        return price.of(usage) if price else None

    def _find(self, model: str) -> Price | None:
        names = [name for name in self._prices if model == name or model.startswith(f"{name}-")]
        return self._prices[max(names, key=len)] if names else None
