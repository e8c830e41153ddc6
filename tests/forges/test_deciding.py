"""Whether an issue with a long conversation needs work is known soon."""

import time

import pytest

from activities.audience import Audience
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.watching import calls_for_work
from tests.forges.world import World

ENOUGH_SECONDS = 5.0


@pytest.mark.req("CH-10")
async def test_an_issue_with_a_hundred_comments_is_decided_on_within_five_seconds(here: World):
    address = here.open_issue("task:misc")
    cursor = await here.started()
    for n in range(100):
        here.say(address, f"comment {n}", author="ann" if n % 2 else "guest")
    began = time.monotonic()
    news = [each for each in await here.news(cursor) if each.address == address]
    issue = await here.forge.read_issue(address)
    audience = Audience(here.forge, here.home, "nobody", ("author", "maintainers"))
    heard = [comment for each in news for comment in each.comments if await audience.hears(comment)]
    taken = time.monotonic() - began
    assert calls_for_work(issue, LabelNames())
    assert len(heard) == 50
    assert taken < ENOUGH_SECONDS
