"""What an issue may cost."""

import pytest

from hikitsugi.domain.budget import Budget, Spending, amount_in
from hikitsugi.domain.conversation import Usage

CALL = Usage(input_tokens=60, cache_read_tokens=20, cache_write_tokens=10, output_tokens=10)


def spent(*costs: float | None) -> Spending:
    spending = Spending()
    for cost in costs:
        spending.add(CALL, cost)
    return spending


@pytest.mark.req("OP-03")
@pytest.mark.parametrize(
    ("budget", "spending", "is_covered"),
    [
        (Budget(), spent(100.0), True),
        (Budget(usd=1.0), spent(), True),
        (Budget(usd=0.0), spent(), False),
        (Budget(usd=1.0), spent(0.5), True),
        (Budget(usd=1.0), spent(0.4, 0.2), True),
        (Budget(usd=1.0), spent(0.4, 0.3), False),
        (Budget(usd=1.0), spent(0.9), False),
        (Budget(usd=1.0), spent(None, 5.0), True),
        (Budget(tokens=200), spent(0.1), True),
        (Budget(tokens=200), spent(0.1, 0.1), False),
        (Budget(usd=9.0, tokens=200), spent(None, None), False),
    ],
)
def test_a_call_as_dear_as_the_dearest_must_still_fit(budget: Budget, spending: Spending, *, is_covered: bool):
    assert budget.covers(spending) is is_covered


@pytest.mark.req("OP-03")
@pytest.mark.parametrize(
    ("text", "usd"),
    [
        ("8", 8.0),
        ("$8", 8.0),
        ("8.50 USD", 8.5),
        ("10ドル", 10.0),
        ("", None),
        ("-3", None),
        ("8 please", None),
        ("1e9", None),
        ("nan", None),
        ("99999999", None),
    ],
)
def test_an_amount_is_read_only_where_there_is_one(text: str, usd: float | None):
    assert amount_in(text) == usd
