"""Turns become messages that the API accepts."""

from hikitsugi.domain.conversation import Turn
from hikitsugi.language_model.turns import as_messages


def test_turns_of_one_speaker_become_one_message():
    turns = [Turn.of_text("user", "a"), Turn.of_text("user", "b"), Turn.of_text("assistant", "c")]
    assert as_messages(turns) == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "c"}]},
    ]


def test_a_turn_without_words_disappears_and_its_neighbours_meet():
    turns = [Turn.of_text("user", "a"), Turn.of_text("assistant", " "), Turn.of_text("user", "b")]
    assert [message["role"] for message in as_messages(turns)] == ["user"]
