"""What is kept of a turn holds no secret, and the model's provider still accepts it."""

from typing import Any

import pytest

from hikitsugi.domain.cleansing import cleansed, cleansed_reply, cleansed_turn, withheld_calls
from hikitsugi.domain.conversation import Reply, Turn
from hikitsugi.domain.redaction import HIDDEN, Redactor

SECRET = "correct-horse-battery"
REDACT = Redactor([SECRET])


def turn(*blocks: dict[str, Any]) -> Turn:
    return Turn.model_validate({"role": "assistant", "content": blocks})


def thought(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": f"signed {SECRET}"}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(number: int, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}


@pytest.mark.req("OP-05")
def test_keys_and_values_are_cleansed_at_any_depth():
    assert cleansed({"a": [SECRET, {SECRET: 1}], "b": None}, REDACT) == {"a": [HIDDEN, {HIDDEN: 1}], "b": None}


def test_a_turn_without_secrets_is_kept_to_the_letter():
    said = turn(thought("hm"), text("fine"), call(1, "run", command="ls"))
    assert cleansed_turn(said, REDACT) is said


@pytest.mark.req("OP-05")
def test_a_signed_thought_stays_whole_or_goes():
    said = turn(thought("hm"), text(SECRET), thought("bound to what was changed"), call(1, "run", command="ls"))
    assert cleansed_turn(said, REDACT).content == (thought("hm"), text(HIDDEN), call(1, "run", command="ls"))
    assert cleansed_turn(turn(thought(f"use {SECRET}"), text("x")), REDACT).content == (text("x"),)


@pytest.mark.req("OP-05")
def test_cleansing_is_the_same_every_time_so_that_a_conversation_keeps_its_beginning():
    said = turn(thought("hm"), text(f"{SECRET} and more"), call(1, "write", content=SECRET))
    once = cleansed_turn(said, REDACT)
    assert cleansed_turn(said, REDACT) == once
    assert cleansed_turn(once, REDACT) == once


@pytest.mark.req("OP-05")
def test_a_call_that_had_to_be_changed_is_withheld_but_words_for_people_are_not():
    said = turn(call(1, "write", content=SECRET), call(2, "run", command="ls"), call(3, "submit", summary=SECRET))
    reply = Reply(turn=said, stop_reason="tool_use", model="fake")
    withheld = withheld_calls(reply, cleansed_reply(reply, REDACT))
    assert [(each.id, each.input) for each in withheld] == [("toolu_1", {"content": HIDDEN})]
