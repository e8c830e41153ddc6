"""What of a repository's news is worth a signal."""

from itertools import permutations

import pytest

from hikitsugi.domain.address import IssueAddress, Kind
from hikitsugi.domain.issue import ChangeRequest, Issue
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.watching import calls_for_work, facts_of, fingerprint, issue_behind, may_be_answered
from tests.workflows.fakes import EPOCH

LABELS = LabelNames()
OURS = frozenset({"bot", "old-bot"})


def issue(*labels: str, is_open: bool = True, assignees: tuple[str, ...] = (), title: str = "It fails") -> Issue:
    address = IssueAddress(forge="github", repository="octo/repo", number=1)
    return Issue(
        address=address,
        title=title,
        body="Please fix it.",
        author="alice",
        url="http://forge.example/octo/repo/issues/1",
        is_open=is_open,
        labels=labels,
        assignees=assignees,
        updated_at=EPOCH,
    )


@pytest.mark.req("CH-01", "CH-16")
@pytest.mark.parametrize(
    ("labels", "is_open", "calls", "answered"),
    [
        (("task:misc",), True, True, True),
        (("task:dogfooding", "a human's label"), True, True, True),
        (("task:misc", "processing"), True, True, True),
        (("task:misc", "awaiting-response"), True, True, True),
        (("task:misc", "paused"), True, True, True),
        (("task:misc", "completed"), True, False, True),
        (("task:misc", "stopped"), True, False, True),
        (("task:misc", "failed"), True, False, True),
        (("task:misc",), False, False, False),
        (("completed",), True, False, False),
        (("task:misc2",), True, False, False),
        (("Task:Misc",), True, True, True),
        (("Task:Misc", "COMPLETED"), True, False, True),
        ((), True, False, False),
    ],
)
def test_labels_say_whether_an_issue_calls_for_work_or_may_be_answered(
    labels: tuple[str, ...], *, is_open: bool, calls: bool, answered: bool
):
    seen = issue(*labels, is_open=is_open)
    assert calls_for_work(seen, LABELS) is calls
    assert may_be_answered(seen, LABELS) is answered


@pytest.mark.req("CH-16")
@pytest.mark.parametrize("ended", ["completed", "stopped", "failed"])
def test_an_ended_issue_calls_for_work_once_it_is_reopened_or_labelled_again(ended: str):
    assert calls_for_work(issue("task:misc", ended), LABELS, was_idle=True)
    assert not calls_for_work(issue("task:misc", ended, is_open=False), LABELS, was_idle=True)
    assert not calls_for_work(issue(ended), LABELS, was_idle=True)


@pytest.mark.parametrize("kind", [Kind.PULL_REQUEST, Kind.MERGE_REQUEST])
def test_a_labelled_request_calls_for_work_as_an_issue_does(kind: Kind):
    seen = issue("task:misc")
    request = seen.model_copy(update={"address": seen.address.model_copy(update={"kind": kind})})
    assert calls_for_work(request, LABELS)
    assert may_be_answered(request, LABELS)


@pytest.mark.lesson("C26")
@pytest.mark.parametrize(("head", "number"), [("hikitsugi/issue-12", 12), ("hikitsugi/issue-", None), ("fix-12", None)])
def test_a_request_of_ours_with_another_text_is_known_by_its_branch(head: str, number: int | None):
    seen = issue()
    address = seen.address.model_copy(update={"kind": Kind.PULL_REQUEST, "number": 99})
    pull = ChangeRequest(number=99, url="", head=head, base="main", is_open=True)
    request = seen.model_copy(update={"address": address, "author": "bot", "body": "Another text.", "request": pull})
    assert issue_behind(request, OURS) == (seen.address.model_copy(update={"number": number}) if number else None)


@pytest.mark.lesson("C26")
@pytest.mark.parametrize(
    ("kind", "author", "body", "number"),
    [
        (Kind.PULL_REQUEST, "bot", "Closes #12\n\nFixed.", 12),
        (Kind.MERGE_REQUEST, "Bot", "Closes #1", 1),
        (Kind.PULL_REQUEST, "old-bot", "Closes #1", 1),
        (Kind.ISSUE, "bot", "Closes #12", None),
        (Kind.PULL_REQUEST, "alice", "Closes #12", None),
        (Kind.PULL_REQUEST, "bot", "It closes #12", None),
        (Kind.PULL_REQUEST, "bot", "Closes #0", None),
        (Kind.PULL_REQUEST, "bot", "", None),
    ],
)
def test_a_request_of_ours_leads_to_its_issue(kind: Kind, author: str, body: str, number: int | None):
    seen = issue()
    address = seen.address.model_copy(update={"kind": kind, "number": 99})
    request = seen.model_copy(update={"address": address, "author": author, "body": body})
    behind = issue_behind(request, OURS)
    assert behind == (seen.address.model_copy(update={"number": number}) if number else None)
    assert issue_behind(request, frozenset()) is None


@pytest.mark.req("CH-16")
def test_renamed_labels_are_obeyed():
    ours = LabelNames(trigger=("作業",), completed="済")
    assert calls_for_work(issue("作業", "completed"), ours)
    assert not calls_for_work(issue("作業", "済"), ours)
    assert not calls_for_work(issue("task:misc"), ours)


def test_the_order_of_labels_and_people_and_other_texts_do_not_change_the_fingerprint():
    same = {
        fingerprint(issue(*labels, assignees=people, title=title))
        for labels in permutations(("a", "b", "task:misc"))
        for people in (("alice", "maria"), ("maria", "alice"))
        for title in ("It fails", "It fails again")
    }
    assert len(same) == 1


def test_labels_state_and_assignees_change_the_fingerprint():
    different = [
        issue(),
        issue("a"),
        issue("a", "b"),
        issue("ab"),
        issue("a", is_open=False),
        issue("a", assignees=("b",)),
        issue(assignees=("a",)),
    ]
    assert len({fingerprint(each) for each in different}) == len(different)


def test_the_workflow_is_told_labels_state_assignees_and_why_it_is_called():
    facts = facts_of(issue("task:misc", is_open=False, assignees=("maria",)), for_work=False)
    assert (facts.state, facts.labels, facts.assignees, facts.for_work) == ("closed", ("task:misc",), ("maria",), False)
    assert facts_of(issue("task:misc"), for_work=True).state == "open"
