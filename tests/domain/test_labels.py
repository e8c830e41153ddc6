"""What people ask for by moving labels: the whole table."""

from itertools import chain, combinations

import pytest

from hikitsugi.domain.labels import Wish, wish_before, wish_in
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.states import OF_OUR_WORK, State

NAMES = LabelNames(completed="済", awaiting_response="返信待ち")
ENDED = {State.COMPLETED, State.STOPPED, State.FAILED}
SETS = [
    set(shown) for shown in chain.from_iterable(combinations(OF_OUR_WORK, size) for size in range(len(OF_OUR_WORK) + 1))
]


def wish(state: State, shown: set[State]) -> Wish:
    return wish_in(["task:misc", "a human's label", *(NAMES.of(each) for each in shown)], state, NAMES)


@pytest.mark.req("CH-06")
@pytest.mark.parametrize("state", OF_OUR_WORK)
def test_the_right_label_asks_for_nothing(state: State):
    assert wish(state, {state}) is Wish.NOTHING
    assert [shown for shown in SETS if wish(state, shown) is Wish.NOTHING] == [{state}]


@pytest.mark.req("CH-06", "PR-03")
@pytest.mark.parametrize(
    ("state", "added", "meant"),
    [
        (State.PROCESSING, State.PAUSED, Wish.PAUSE),
        (State.PROCESSING, State.STOPPED, Wish.STOP),
        (State.PROCESSING, State.COMPLETED, Wish.PUT_RIGHT),
        (State.PROCESSING, State.AWAITING_RESPONSE, Wish.PUT_RIGHT),
        (State.PROCESSING, State.FAILED, Wish.PUT_RIGHT),
        (State.AWAITING_RESPONSE, State.PAUSED, Wish.PAUSE),
        (State.AWAITING_RESPONSE, State.STOPPED, Wish.STOP),
        (State.AWAITING_RESPONSE, State.PROCESSING, Wish.PUT_RIGHT),
        (State.AWAITING_RESPONSE, State.COMPLETED, Wish.PUT_RIGHT),
        (State.AWAITING_RESPONSE, State.FAILED, Wish.PUT_RIGHT),
        (State.PAUSED, State.STOPPED, Wish.STOP),
        (State.PAUSED, State.PROCESSING, Wish.PUT_RIGHT),
        (State.PAUSED, State.AWAITING_RESPONSE, Wish.PUT_RIGHT),
        (State.PAUSED, State.COMPLETED, Wish.PUT_RIGHT),
        (State.PAUSED, State.FAILED, Wish.PUT_RIGHT),
        (State.COMPLETED, State.PAUSED, Wish.PAUSE),
        (State.COMPLETED, State.STOPPED, Wish.PUT_RIGHT),
        (State.COMPLETED, State.PROCESSING, Wish.PUT_RIGHT),
        (State.COMPLETED, State.AWAITING_RESPONSE, Wish.PUT_RIGHT),
        (State.COMPLETED, State.FAILED, Wish.PUT_RIGHT),
        (State.STOPPED, State.PAUSED, Wish.PAUSE),
        (State.STOPPED, State.PROCESSING, Wish.PUT_RIGHT),
        (State.STOPPED, State.AWAITING_RESPONSE, Wish.PUT_RIGHT),
        (State.STOPPED, State.COMPLETED, Wish.PUT_RIGHT),
        (State.STOPPED, State.FAILED, Wish.PUT_RIGHT),
        (State.FAILED, State.PAUSED, Wish.PAUSE),
        (State.FAILED, State.STOPPED, Wish.PUT_RIGHT),
        (State.FAILED, State.PROCESSING, Wish.PUT_RIGHT),
        (State.FAILED, State.AWAITING_RESPONSE, Wish.PUT_RIGHT),
        (State.FAILED, State.COMPLETED, Wish.PUT_RIGHT),
    ],
)
def test_a_label_put_on_beside_the_right_one_is_a_request_or_put_right(state: State, added: State, meant: Wish):
    assert wish(state, {state, added}) is meant


@pytest.mark.req("CH-06", "PR-03")
@pytest.mark.parametrize("state", OF_OUR_WORK)
def test_the_right_label_taken_off_is_put_right_and_only_a_pause_is_ended_by_it(state: State):
    assert wish(state, set()) is (Wish.RESUME if state is State.PAUSED else Wish.PUT_RIGHT)


@pytest.mark.req("CH-06", "PR-03")
@pytest.mark.parametrize("state", OF_OUR_WORK)
@pytest.mark.parametrize("shown", SETS, ids=lambda shown: "+".join(sorted(shown)) or "none")
def test_every_set_of_labels_means_one_thing(state: State, shown: set[State]):
    meant = wish(state, shown)
    assert (meant is Wish.STOP) == (State.STOPPED in shown and state not in ENDED)
    assert (meant is Wish.RESUME) == (state is State.PAUSED and not shown & {State.PAUSED, State.STOPPED})
    assert (meant is Wish.PAUSE) == (state is not State.PAUSED and State.PAUSED in shown and meant is not Wish.STOP)


def test_labels_of_other_names_mean_nothing():
    assert wish_in(["completed", "awaiting-response", "processing"], State.PROCESSING, NAMES) is Wish.NOTHING


def test_a_label_in_other_letters_is_the_same_label():
    assert wish_in(["Processing"], State.PROCESSING, NAMES) is Wish.NOTHING
    assert wish_in(["PAUSED", "processing"], State.PROCESSING, NAMES) is Wish.PAUSE


@pytest.mark.req("CH-06", "PR-03")
@pytest.mark.parametrize("was", OF_OUR_WORK)
@pytest.mark.parametrize("wanted", OF_OUR_WORK)
def test_a_request_that_nobody_saw_yet_is_not_taken_off(was: State, wanted: State):
    for shown in SETS:
        meant = wish_before([NAMES.of(each) for each in shown], was, wanted, NAMES)
        stops = State.STOPPED in shown and was not in ENDED
        pauses = State.PAUSED in shown and was is not State.PAUSED and not stops
        assert (meant is Wish.STOP) == (stops and wanted not in ENDED)
        assert (meant is Wish.PAUSE) == (pauses and wanted is not State.PAUSED)
        assert meant in {None, Wish.STOP, Wish.PAUSE}


@pytest.mark.req("CH-06")
def test_every_other_label_of_a_state_gives_way_as_it_is_written():
    labels = ["task:misc", "Paused", "paused", "済", "Processing", "stopped "]
    assert NAMES.instead_of(State.PROCESSING, labels) == ["Paused", "paused", "済", "Processing"]
    assert NAMES.instead_of(State.PAUSED, labels) == ["Paused", "済", "Processing"]
