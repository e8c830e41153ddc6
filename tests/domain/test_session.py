"""What a session counts and names."""

import pytest

from hikitsugi.domain.budget import Spending
from hikitsugi.domain.conversation import Usage
from hikitsugi.domain.session import Session, Talk

USAGE = Usage(input_tokens=10, cache_read_tokens=200, cache_write_tokens=30, output_tokens=4)


def session() -> Session:
    return Session(number=1, key="ab12", branch="hikitsugi/issue-1", talk=Talk(id="c1"))


@pytest.mark.req("OP-03")
def test_every_token_that_was_sent_counts_as_input_and_the_cached_ones_are_told():
    spending = Spending()
    spending.add(USAGE, 0.25)
    spending.add(USAGE, 0.5)
    assert spending == Spending(
        llm_calls=2,
        input_tokens=480,
        cached_tokens=400,
        output_tokens=8,
        cost_usd=0.75,
        dearest_usd=0.5,
        longest_tokens=244,
    )


@pytest.mark.req("OP-03")
@pytest.mark.parametrize("costs", [(None,), (0.5, None), (None, 0.5), (0.5, None, 0.5)])
def test_one_unknown_price_makes_the_whole_cost_unknown(costs: tuple[float | None, ...]):
    spending = Spending()
    for cost in costs:
        spending.add(USAGE, cost)
    assert spending.cost_usd is None
    assert spending.llm_calls == len(costs)


@pytest.mark.req("BY-08")
def test_an_effect_has_the_same_name_at_every_attempt_and_in_every_run():
    carried = Session.model_validate_json(session().model_dump_json())
    assert carried.key_of("result-0") == session().key_of("result-0") == "ab12:result-0"


def test_another_pass_goes_on_in_the_same_conversation_with_fresh_iterations():
    working = session()
    working.talk.sequence, working.talk.iterations = 9, 4
    working.next_pass()
    assert (working.passes, working.talk.iterations, working.talk.sequence, working.talk.id) == (1, 0, 9, "c1")
