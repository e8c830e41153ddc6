"""What the model recalls is searched, capped and newest first."""

import json

import pytest
from pydantic import ValidationError

from hikitsugi.domain.recall import RECALL, Memorandum, Recall, answer

LONG = "x" * 5000


def _records(number: int, text: str = "tried") -> list[Memorandum]:
    return [Memorandum(session=session, kind="tool", text=f"{text} {session}") for session in range(number)]


@pytest.mark.req("CI-05")
def test_all_words_must_occur_and_the_newest_come_first():
    records = [
        Memorandum(session=1, kind="plan", text="Mend the PARSER"),
        Memorandum(session=2, kind="tool", text="run parser: 消費税の端数"),
        Memorandum(session=3, kind="tool", text="run lexer"),
    ]
    assert answer(Recall(query="parser"), records).split("\n\n") == [
        "[session 2, tool] run parser: 消費税の端数",
        "[session 1, plan] Mend the PARSER",
    ]
    assert answer(Recall(query="端数 run"), records) == "[session 2, tool] run parser: 消費税の端数"
    assert answer(Recall(query="parser", kind="plan"), records) == "[session 1, plan] Mend the PARSER"
    assert answer(Recall(query="nowhere"), records) == "Nothing of earlier sessions on this issue fits."


@pytest.mark.req("CI-05")
def test_the_answer_is_capped_in_entries_and_characters_and_says_so():
    many = answer(Recall(), _records(50)).split("\n\n")
    assert (len(many), many[-1]) == (21, "(30 more; use a narrower query.)")
    long = answer(Recall(), _records(50, LONG))
    assert len(long) < 17_000
    assert long.endswith("more; use a narrower query.)")


def test_only_kinds_that_are_offered_can_be_asked_for():
    for kind in ("plan", "tool", "verification", "reflection", "summary", "metadata"):
        assert f'"{kind}"' in json.dumps(RECALL.input_schema)
        Recall.model_validate({"query": "", "kind": kind})
    with pytest.raises(ValidationError):
        Recall.model_validate({"kind": "everything"})
