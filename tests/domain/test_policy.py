"""The names of labels."""

import pytest

from hikitsugi.domain.policy import LabelNames, Policy
from hikitsugi.domain.states import OF_OUR_WORK, State


@pytest.mark.req("CH-06")
def test_every_state_has_a_label_of_its_own():
    labels = LabelNames()
    assert labels.states == OF_OUR_WORK
    assert len(set(labels.states)) == len(OF_OUR_WORK)


def test_a_renamed_label_shows_its_state():
    labels = LabelNames(awaiting_response="返信待ち")
    assert labels.of(State.AWAITING_RESPONSE) == "返信待ち"
    assert "返信待ち" in labels.states
    assert "awaiting-response" not in labels.states


@pytest.mark.req("CH-06")
def test_labels_are_read_whatever_their_letters():
    labels = LabelNames(paused="Hold")
    assert labels.shown_by(["HOLD", "completed", "P1"]) == {State.PAUSED, State.COMPLETED}
    assert labels.trigger_in(["TASK:misc"])
    assert not labels.trigger_in(["misc"])


@pytest.mark.req("CD-05")
@pytest.mark.lesson("C4")
def test_comments_are_told_at_every_turn_unless_configured_otherwise():
    assert all(map(Policy().hears_at, range(5)))
    assert [turn for turn in range(7) if Policy(check_interval=3).hears_at(turn)] == [0, 3, 6]
    assert not any(map(Policy(hears_while_working=False).hears_at, range(5)))
