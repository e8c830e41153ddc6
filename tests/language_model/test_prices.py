"""Costs are exact, and unknown when the price is."""

from decimal import Decimal

import pytest
from pydantic import ValidationError

from hikitsugi.domain.conversation import Usage
from hikitsugi.language_model.prices import Price, PriceList

pytestmark = pytest.mark.req("OP-03")

LARGE = Usage(input_tokens=2_000, cache_read_tokens=110_000, cache_write_tokens=8_000, output_tokens=3_000)
OWN = Price(input=Decimal(1), output=Decimal(2), cache_read=Decimal(0), write_5m=Decimal(0))


def test_each_kind_of_token_has_its_price():
    assert PriceList().cost("claude-opus-5-5", LARGE) == Decimal("0.13")


def test_a_dated_model_has_the_price_of_its_family():
    assert PriceList().cost("claude-opus-5-5-20261021", LARGE) == Decimal("0.13")


@pytest.mark.parametrize("model", ["claude-mythos-5-2", "claude-opus-5", "claude-opus-5-55", ""])
def test_an_unknown_model_has_no_cost_rather_than_none(model: str):
    assert PriceList().cost(model, LARGE) is None


def test_a_long_prompt_makes_the_small_model_dearer():
    short = Usage(input_tokens=100_000, output_tokens=1_000)
    long = Usage(input_tokens=100_001, output_tokens=1_000)
    assert PriceList().cost("claude-haiku-5-5", short) == Decimal("0.0105")
    assert PriceList().cost("claude-haiku-5-5", long) == Decimal("0.0525005")


def test_the_operators_price_counts_and_the_longest_name_wins():
    prices = PriceList({"claude-opus-5": OWN, "house-model": OWN})
    usage = Usage(input_tokens=1_000_000)
    assert prices.cost("house-model", usage) == 1
    assert prices.cost("claude-opus-5-1", usage) == 1
    assert prices.cost("claude-opus-5-5", usage) == 4
    assert PriceList({"claude-opus-5-5": OWN}).cost("claude-opus-5-5", usage) == 1


@pytest.mark.parametrize(
    "given", [{"input": "4"}, {**OWN.model_dump(), "outputs": 1}, {**OWN.model_dump(), "input": -1}]
)
def test_a_price_with_a_wrong_or_missing_part_is_refused(given: dict[str, object]):
    with pytest.raises(ValidationError):
        Price.model_validate(given)


def test_cache_prices_that_are_left_out_follow_the_inputs():
    price = Price(input=Decimal(10), output=Decimal(0))
    assert price.of(Usage(cache_read_tokens=1_000_000)) == Decimal(1)
    assert price.of(Usage(cache_write_tokens=1_000_000)) == Decimal("12.5")
