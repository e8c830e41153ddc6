"""What an issue's workflow carries: comments, calls and the status document."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Usage
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.life import IssueFacts, Life
from hikitsugi.domain.policy import Policy
from hikitsugi.domain.session import Called, Ending, Handover, Session
from hikitsugi.domain.states import State

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
ISSUE = IssueAddress(forge="github", repository="octo/repo", number=1)
CALLED = Called(policy=Policy(), title="It fails", author="alice", url="http://forge.example/1", is_open=True)
REMEMBERED = 500

TAKE, CARRY = "take", "carry"
events = st.lists(st.integers(1, 12) | st.sampled_from([TAKE, CARRY]), max_size=60)


def comment(number: int) -> Comment:
    return Comment(id=str(number), author="alice", body=f"comment {number}")


def session(number: int = 1) -> Session:
    return Session(number=number, key="ab12", branch="hikitsugi/issue-1", conversation="c1")


@pytest.mark.req("CH-12", "TW-05")
@given(events)
def test_comments_are_taken_once_each_in_the_order_of_their_first_delivery(happened: list[int | str]):
    life, taken = Life(), list[str]()
    for event in happened:
        if event == CARRY:
            life = Life.model_validate_json(life.model_dump_json())
        elif event == TAKE:
            taken += [each.id for each in life.take_pending()]
        else:
            life.receive(comment(int(event)))
    taken += [each.id for each in life.take_pending()]
    delivered = [str(event) for event in happened if isinstance(event, int)]
    assert taken == list(dict.fromkeys(delivered))
    assert life.take_pending() == ()


@pytest.mark.req("CH-12")
def test_a_flood_is_kept_whole_while_the_memory_of_deliveries_stays_bounded():
    life = Life()
    for number in range(3 * REMEMBERED):
        life.receive(comment(number))
    for number in range(2 * REMEMBERED, 3 * REMEMBERED):
        life.receive(comment(number))
    assert [int(each.id) for each in life.take_pending()] == list(range(3 * REMEMBERED))
    assert len(life.received) == REMEMBERED


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
    life.count_comments(life.take_pending(), NOW)
    life.receive(comment(8))
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
        "comments_pending": 1,
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
