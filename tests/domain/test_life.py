"""What an issue's workflow carries: comments, calls and the status document."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Usage
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.life import IssueFacts, Life, Order
from hikitsugi.domain.plan import TurnRef
from hikitsugi.domain.policy import Policy
from hikitsugi.domain.session import Called, Ending, Handover, Session, Talk
from hikitsugi.domain.states import State
from hikitsugi.domain.waiting import Waiting

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
ISSUE = IssueAddress(forge="github", repository="octo/repo", number=1)
CALLED = Called(policy=Policy(), title="It fails", author="alice", url="http://forge.example/1", is_open=True)
REMEMBERED = 500


def comment(number: int, edits: int = 0) -> Comment:
    body = f"comment {number}, edit {edits}"
    return Comment(id=str(number), author="alice", body=body, updated_at=NOW + timedelta(minutes=edits))


def session(number: int = 1) -> Session:
    return Session(number=number, key="ab12", branch="hikitsugi/issue-1", talk=Talk(id="c1"))


def hear_all(life: Life) -> None:
    """Everybody who wrote is accepted."""
    asked = tuple(life.pending.values())
    life.hear(asked, [Waiting.of(each) for each in asked])


def take(life: Life) -> list[Waiting]:
    """Everything that one turn can hold is told."""
    taken = life.next_heard
    life.forget_heard([each.version for each in taken])
    return list(taken)


def waiting(number: int, edits: int = 0, *, edited: bool = False) -> Waiting:
    return Waiting.of(comment(number, edits)).model_copy(update={"edited": edited})


@pytest.mark.req("CH-12")
def test_comments_wait_to_be_heard_and_then_to_be_told():
    life = Life()
    for number in (3, 1, 2):
        life.receive(comment(number))
    assert take(life) == []
    life.hear((comment(3), comment(1)), [waiting(3)])
    assert (list(life.pending), list(life.heard)) == (["2"], ["3"])
    assert take(life) == [waiting(3)]
    assert take(life) == []
    assert life.found == 3


@pytest.mark.req("CH-12")
def test_a_repeated_delivery_changes_nothing_wherever_the_first_one_is():
    life = Life()
    for _ in range(2):
        life.receive(comment(1))
    assert len(life.pending) == 1
    hear_all(life)
    life.receive(comment(1))
    take(life)
    life.receive(comment(1))
    assert (life.pending, life.heard, life.found) == ({}, {}, 1)


@pytest.mark.req("CH-12")
@pytest.mark.parametrize("heard_before", [False, True])
def test_an_edit_takes_the_place_of_its_older_text_while_that_was_not_told(*, heard_before: bool):
    life = Life()
    for number in (1, 2):
        life.receive(comment(number))
    if heard_before:
        hear_all(life)
    life.receive(comment(1, edits=1))
    hear_all(life)
    assert take(life) == [waiting(1, edits=1), waiting(2)]


@pytest.mark.req("CH-12")
def test_an_edit_of_a_told_comment_is_news():
    life = Life()
    life.receive(comment(1))
    hear_all(life)
    assert take(life) == [waiting(1)]
    life.receive(comment(1, edits=1))
    hear_all(life)
    assert take(life) == [waiting(1, edits=1, edited=True)]


@pytest.mark.req("CH-12")
def test_comments_that_come_while_others_are_asked_about_stay_pending():
    life = Life()
    life.receive(comment(1))
    life.receive(comment(2))
    life.hear([comment(1)], [waiting(1)])
    assert (list(life.pending.values()), list(life.heard.values())) == ([comment(2)], [waiting(1)])


@pytest.mark.req("CH-12")
def test_an_edit_that_comes_while_its_older_text_is_asked_about_is_not_lost():
    life = Life()
    life.receive(comment(1))
    life.receive(comment(1, edits=1))
    life.hear([comment(1)], [waiting(1)])
    hear_all(life)
    assert list(life.heard.values()) == [waiting(1, edits=1)]


@pytest.mark.req("CH-12")
def test_an_edit_that_is_heard_while_its_older_text_is_told_stays_as_an_edit():
    life = Life()
    life.receive(comment(1))
    hear_all(life)
    life.receive(comment(1, edits=1))
    hear_all(life)
    life.forget_heard([comment(1).version])
    assert take(life) == [waiting(1, edits=1, edited=True)]


@pytest.mark.req("CH-12")
def test_an_edit_that_was_told_in_its_newest_text_is_not_told_again():
    life = Life()
    life.receive(comment(1))
    hear_all(life)
    life.receive(comment(1, edits=1))
    hear_all(life)
    life.forget_heard([comment(1).version, comment(1, edits=1).version])
    assert life.heard == {}


@pytest.mark.req("CH-12")
def test_an_edit_that_is_learned_of_while_a_later_text_is_told_is_not_told_again():
    life = Life()
    life.receive(comment(1))
    hear_all(life)
    life.receive(comment(1, edits=1))
    life.receive(comment(1, edits=2))
    life.hear([comment(1, edits=1)], [waiting(1, edits=1)])
    life.forget_heard([comment(1).version, comment(1, edits=2).version])
    assert life.heard == {}


@pytest.mark.req("CH-12")
def test_an_edit_that_is_learned_of_after_a_later_text_was_told_is_not_told_again():
    life = Life()
    life.receive(comment(1))
    hear_all(life)
    life.receive(comment(1, edits=1))
    life.receive(comment(1, edits=2))
    life.forget_heard([comment(1).version, comment(1, edits=2).version])
    life.hear([comment(1, edits=1)], [waiting(1, edits=1)])
    assert life.heard == {}


@pytest.mark.req("CH-12")
def test_a_flood_is_told_whole_in_portions_while_the_memory_of_deliveries_stays_bounded():
    life = Life()
    for number in range(3 * REMEMBERED):
        life.receive(comment(number))
    for number in range(2 * REMEMBERED, 3 * REMEMBERED):
        life.receive(comment(number))
    hear_all(life)
    portions = [take(life) for _ in range(3)]
    assert [int(each.id) for portion in portions for each in portion] == list(range(3 * REMEMBERED))
    assert take(life) == []
    assert len(life.received) == REMEMBERED


@pytest.mark.req("CD-09", "CH-12")
def test_long_comments_are_told_in_turns_that_a_model_can_hold():
    life = Life()
    for number in range(9):
        life.receive(comment(number).model_copy(update={"body": "あ" * 500, "is_cut": True, "length": 25_000}))
    hear_all(life)
    assert [len(take(life)) for _ in range(5)] == [2, 2, 2, 2, 1]


@pytest.mark.req("PR-02", "CH-12")
def test_what_came_before_a_stop_calls_for_nothing_and_what_comes_after_it_does():
    life = Life()
    for number in (1, 2):
        life.receive(comment(number))
    life.hear((comment(1),), [waiting(1)])
    life.end_by(Order())
    life.hear((comment(2),), [waiting(2)])
    assert (list(life.heard), life.somebody_writes) == (["1", "2"], False)
    life.receive(comment(3))
    hear_all(life)
    assert life.somebody_writes


@pytest.mark.req("TW-05", "CH-12")
def test_ten_thousand_comments_that_wait_fit_into_one_payload():
    life = Life()
    for number in range(10_000):
        life.receive(comment(4_000_000_000 + number).model_copy(update={"watched": True}))
    assert not life.is_light
    hear_all(life)
    assert life.is_light
    assert len(life.model_dump_json()) < 1_200_000
    assert list(Life.model_validate_json(life.model_dump_json()).heard) == list(life.heard)


@pytest.mark.req("CH-12")
def test_a_comment_that_was_only_touched_is_no_news_and_one_whose_text_comes_back_is():
    life = Life()
    first, touched, edited, back = (
        comment(1, edits=n).model_copy(update={"wording": text}) for n, text in enumerate(("a", "a", "b", "a"))
    )
    assert life.receive(first)
    assert not life.receive(touched)
    hear_all(life)
    assert take(life) == [Waiting.of(first)]
    assert not life.receive(touched)
    assert not life.receive(edited.model_copy(update={"wording": "a"}))
    assert (life.pending, life.found) == ({}, 1)
    for again in (edited, back):
        later = again.model_copy(update={"updated_at": (again.updated_at or NOW) + timedelta(hours=1)})
        assert life.receive(later)
        assert life.pending["1"].edited
        hear_all(life)
        assert [each.version for each in take(life)] == [later.version]


@pytest.mark.req("TW-05")
def test_of_more_comments_than_anybody_can_read_the_latest_wait_and_the_rest_is_counted():
    life = Life()
    for number in range(10_005):
        life.receive(comment(number))
    hear_all(life)
    assert (len(life.heard), next(iter(life.heard)), life.overlooked) == (10_000, "5", 5)


@pytest.mark.req("TW-05", "CH-12")
def test_what_is_asked_about_at_once_fits_into_one_payload():
    life = Life()
    for number in range(300):
        life.receive(comment(number).model_copy(update={"body": "あ" * 16_000 if number < 50 else "Short."}))
    asked = life.next_pending
    assert sum(len(each.body) for each in asked) <= 100_000
    life.hear(life.next_pending, [])
    assert next(iter(life.pending)) == str(len(asked))
    while life.pending:
        assert 0 < len(life.next_pending) <= 100
        life.hear(life.next_pending, [])


def test_a_command_is_new_once():
    life = Life()
    assert [life.is_new_command(id_, "pause") for id_ in ("1", "2", "1")] == [True, True, False]


@pytest.mark.req("BY-01")
def test_a_command_that_was_edited_into_another_is_new_once():
    life = Life()
    orders = ("pause", "pause", "resume", "resume", "pause")
    assert [life.is_new_command("1", each, edited=True) for each in orders] == [True, False, True, False, True]
    assert not life.is_new_command("1", "stop")


def test_what_an_earlier_run_obeyed_is_not_obeyed_again():
    life = Life(obeyed=["1"])
    assert not life.is_new_command("1", "pause", edited=True)
    assert life.is_new_command("2", "resume")
    assert not life.is_new_command("1", "pause", edited=True)


@pytest.mark.parametrize(
    ("earlier", "now", "calls"),
    [
        (None, IssueFacts(labels=("task:misc",)), False),
        (None, IssueFacts(called_by="operator"), True),
        (IssueFacts(labels=("task:misc",)), IssueFacts(labels=("task:misc",)), False),
        (IssueFacts(labels=()), IssueFacts(labels=("task:misc",)), True),
        (IssueFacts(labels=()), IssueFacts(labels=("bug",)), False),
        (IssueFacts(labels=("task:misc",)), IssueFacts(labels=()), False),
        (IssueFacts(labels=("task:misc",)), IssueFacts(labels=("task:dogfooding",)), False),
        (IssueFacts(labels=("task:misc",)), IssueFacts(labels=("task:misc", "completed")), False),
        (IssueFacts(labels=("task:misc",)), IssueFacts(labels=None), False),
        (IssueFacts(labels=None), IssueFacts(labels=None), False),
        (IssueFacts(state="closed"), IssueFacts(state="open"), True),
        (IssueFacts(state="open"), IssueFacts(state="closed"), False),
        (IssueFacts(labels=()), IssueFacts(state="closed", labels=("task:misc",)), False),
        (IssueFacts(state="closed"), IssueFacts(state="closed", called_by="operator"), True),
    ],
)
def test_a_resting_issue_is_called_by_reopening_relabelling_or_a_person(
    earlier: IssueFacts | None, now: IssueFacts, *, calls: bool
):
    life = Life(facts=earlier, called=CALLED)
    assert life.calls_again(now) is calls


def test_the_same_call_delivered_again_calls_once():
    life = Life(facts=IssueFacts(labels=()), called=CALLED)
    labelled = IssueFacts(labels=("task:misc",))
    assert [life.calls_again(labelled) for _ in range(3)] == [True, False, False]


def test_an_operators_call_does_not_make_the_watcher_forget_what_it_told():
    life = Life(facts=IssueFacts(labels=("task:misc",)), called=CALLED)
    assert life.calls_again(IssueFacts(called_by="operator"))
    assert not life.calls_again(IssueFacts(labels=("task:misc",)))


@pytest.mark.req("PR-03")
@pytest.mark.parametrize(
    ("earlier", "now", "loses"),
    [
        (("bot",), (), True),
        (("bot", "maria"), ("maria",), True),
        (("Bot",), (), True),
        (("bot",), ("Bot",), False),
        (("bot",), ("bot", "maria"), False),
        (("bot",), None, False),
        (None, (), False),
        ((), (), False),
        (("maria",), (), False),
        ((), ("bot",), False),
    ],
)
def test_an_issue_is_taken_from_us_when_we_were_assigned_and_are_no_more(
    earlier: tuple[str, ...] | None, now: tuple[str, ...] | None, *, loses: bool
):
    called = CALLED.model_copy(update={"bot": "bot"})
    facts = IssueFacts(assignees=now)
    assert Life(called=called, facts=IssueFacts(assignees=earlier)).loses_bot(facts) is loses
    assert not Life(called=CALLED, facts=IssueFacts(assignees=earlier)).loses_bot(facts)
    assert not Life(called=called).loses_bot(facts)


@pytest.mark.req("PR-02", "PR-03")
def test_a_stop_is_told_as_the_first_gave_it_and_that_only_reopening_helps_once_it_is_closed():
    life = Life()
    life.end_by(Order(by="alice", reason="Enough."))
    life.end_by(Order(by="forge", closing=True))
    life.end_by(Order(by="maria"))
    assert life.stop == Order(by="alice", reason="Enough.", closing=True)


@pytest.mark.req("CH-06")
@pytest.mark.parametrize(
    ("labels", "state", "told"),
    [
        (("task:misc", "Completed"), State.PROCESSING, State.COMPLETED),
        (("failed",), State.PROCESSING, State.FAILED),
        (("failed",), State.PAUSED, State.PAUSED),
        (("task:misc",), State.PROCESSING, State.PROCESSING),
        (("paused",), State.PROCESSING, State.PROCESSING),
        (("completed", "stopped"), State.PROCESSING, State.PROCESSING),
    ],
)
def test_what_ended_before_this_life_is_told_as_its_label_says(labels: tuple[str, ...], state: State, told: State):
    called = CALLED.model_copy(update={"labels": labels})
    life, later = Life(state=state), Life(state=state, sessions=1)
    for each in (life, later):
        each.follow(called)
    assert (life.state, later.state, life.called) == (told, state, called)


def test_a_session_opens_closes_and_leaves_its_handover():
    life = Life(error="earlier")
    assert life.is_new
    life.open_session(CALLED, session())
    assert (life.is_new, life.title, life.branch, life.error) == (False, "It fails", "hikitsugi/issue-1", None)
    handover = Handover(session=1, ending=Ending.STOPPED, ended_at=NOW, summary="half done")
    life.close_session(handover)
    assert (life.session, life.handover, life.state) == (None, handover, State.STOPPED)
    with pytest.raises(RuntimeError, match="no session is open"):
        _ = life.current


def test_a_request_knows_the_passes_that_went_into_it_and_no_others():
    life = Life()
    life.open_session(CALLED, session())
    first, second = TurnRef(conversation="c1", sequence=4), TurnRef(conversation="c2", sequence=6)
    for told, request in ((first, "http://forge.example/2"), (second, "http://forge.example/2")):
        life.current.submitted = told
        life.hand_in(request)
    assert life.handed_in == [first, second]
    life.hand_in("http://forge.example/3")
    assert (life.handed_in, life.change_request) == ([second], "http://forge.example/3")


@pytest.mark.req("CI-02", "CI-12")
@pytest.mark.parametrize(
    ("ending", "policy", "inherits"),
    [
        (Ending.COMPLETED, Policy(), True),
        (Ending.STOPPED, Policy(), True),
        (Ending.FAILED, Policy(), False),
        (Ending.COMPLETED, Policy(inherits=False), False),
    ],
)
def test_a_session_inherits_from_one_that_did_not_fail(ending: Ending, policy: Policy, *, inherits: bool):
    handover = Handover(session=1, ending=ending, ended_at=NOW, summary="half done")
    life = Life(called=CALLED.model_copy(update={"policy": policy}), handover=handover)
    assert life.inheritance == (handover if inherits else None)
    assert Life().inheritance is None


@pytest.mark.req("CH-14", "OP-03")
def test_the_status_tells_what_the_contract_promises():
    life = Life()
    life.open_session(CALLED, session(2))
    life.spending.add(Usage(input_tokens=10, output_tokens=5), None)
    life.receive(comment(7))
    hear_all(life)
    life.count_comments(take(life), NOW)
    life.receive(comment(8))
    hear_all(life)
    life.receive(comment(9))
    life.change_request = "http://forge.example/octo/repo/pull/2"
    told = json.loads(life.status(ISSUE, "a reply").model_dump_json())
    assert told == {
        "issue": "github:octo/repo/issues/1",
        "state": "processing",
        "phase": None,
        "session": 2,
        "plan": [],
        "llm_calls": 1,
        "input_tokens": 10,
        "cached_tokens": 0,
        "output_tokens": 5,
        "cost_usd": None,
        "comments_processed": 1,
        "comments_pending": 2,
        "last_comment_id": "7",
        "first_processed_at": "2026-03-02T12:00:00Z",
        "last_processed_at": "2026-03-02T12:00:00Z",
        "change_request": "http://forge.example/octo/repo/pull/2",
        "branch": "hikitsugi/issue-1",
        "inherited_from": None,
        "waiting_for": "a reply",
        "error": None,
    }


@pytest.mark.req("TW-05")
def test_a_life_carried_by_an_older_version_is_understood():
    assert Life.model_validate({"state": "paused", "sessions": 3, "something_forgotten": 1}).sessions == 3
