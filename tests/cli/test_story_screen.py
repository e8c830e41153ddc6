"""The story of an issue on a screen: what is known of the cost, and no more."""

from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO

import pytest
from rich.console import Console

from hikitsugi.cli.remembering import Explanation
from hikitsugi.cli.story_screen import story
from hikitsugi.cli.timeline import Entry
from hikitsugi.domain.policy import Language

AT = datetime(2026, 3, 2, 12, tzinfo=UTC)


def call(cost: str | None) -> Entry:
    return Entry(at=AT, who="model m", what="edit", cost_usd=None if cost is None else Decimal(cost), is_paid=True)


def shown(language: Language, *entries: Entry) -> list[str]:
    """The last line of the story, and above it one for each entry."""
    screen = StringIO()
    told = Explanation(issue="github:octo/repo/issues/1", tasks=(), entries=entries)
    Console(width=120, file=screen).print(story(language, told))
    lines = [line.rstrip() for line in screen.getvalue().splitlines() if line.strip()]
    return lines[-1 - len(entries) :]


@pytest.mark.req("BY-07", "OP-03")
@pytest.mark.parametrize(("language", "unknown"), [("en", "cost unknown"), ("ja", "費用不明")])
def test_one_unknown_price_makes_the_whole_cost_unknown_and_never_nothing(language: Language, unknown: str):
    known, unpriced, said, summed = shown(language, call("0.5"), call(None), Entry(at=AT, who="alice", what="hello"))
    assert known.endswith(" $0.5000")
    assert unpriced.endswith(unknown)
    assert said.endswith("hello")
    assert summed.endswith(f"· {unknown}")


@pytest.mark.req("BY-07", "OP-03")
def test_known_costs_are_added_and_what_people_say_costs_nothing():
    said = Entry(at=AT, who="alice", what="hello")
    assert shown("en", call("0.5"), said, call("0.25"))[-1].endswith("· $0.7500")
    assert shown("en", said)[-1].endswith("· $0.0000")
