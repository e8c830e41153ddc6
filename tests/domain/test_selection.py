"""Which issues agents are given, and in what order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hikitsugi.domain.address import IssueAddress, Kind
from hikitsugi.domain.issue import Base, ChangeRequest, Issue
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.selection import Card, Rules, TaskType, deliverables_in
from tests.workflows.fakes import EPOCH

BASE = Base(branch="main", commit="a" * 40)
RULES = Rules(roles=("CODER", "TESTER"))
DONE = "## 成果物\n- a file"

pytestmark = pytest.mark.req("BR-05")


def issue(number: int = 1, *labels: str, body: str = DONE, kind: Kind = Kind.ISSUE, is_open: bool = True) -> Issue:
    return Issue(
        address=IssueAddress(forge="github", repository="octo/repo", kind=kind, number=number),
        title="Do it",
        body=body,
        author="alice",
        url="http://forge.example/1",
        is_open=is_open,
        labels=labels,
        updated_at=EPOCH,
    )


def card(given: Issue) -> Card:
    found = RULES.development_card(given, BASE)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("body", "content"),
    [
        ("## 成果物\n- a file", "- a file"),
        ("# Deliverables\n\nA file\n\n## Notes\nmore", "A file"),
        ("###### DELIVERABLES:\r\nx", "x"),
        ("text\n\n### 🎯 成果物 (Deliverables)\n\n`a.py`", "`a.py`"),
        ("成果物\n---\nx", "x"),
        ("Deliverable\n===\nx", "x"),
        ("## 成果物", ""),
        ("### 期待する成果物\n\n#### 一つ目\nx", ""),
    ],
)
def test_a_deliverables_section_is_found_under_any_heading(body: str, content: str):
    assert deliverables_in(body) == content


@pytest.mark.parametrize(
    "body",
    [
        "",
        "成果物: a file",
        "**Deliverables**\nx",
        "```\n## 成果物\n```\nx",
        "~~~~md\n# Deliverables\n~~~~",
        "##成果物\nx",
        "## Undeliverables",
    ],
)
def test_without_such_a_heading_there_is_no_task(body: str):
    assert deliverables_in(body) is None
    assert RULES.development_card(issue(body=body), BASE) is None


@given(st.text())
def test_any_text_can_be_looked_through(body: str):
    deliverables_in(body)
    RULES.development_card(issue(body=body), BASE)


@pytest.mark.parametrize("label", ["story", "Epic", "needs-review", "NEEDS-REVIEW"])
def test_stories_epics_and_what_waits_for_review_are_not_given(label: str):
    assert RULES.development_card(issue(1, label), BASE) is None


def test_closed_issues_and_requests_are_not_given():
    assert RULES.development_card(issue(is_open=False), BASE) is None
    assert RULES.development_card(issue(kind=Kind.PULL_REQUEST), BASE) is None


def test_by_priority_then_by_number_and_what_seems_taken_comes_last():
    issues = [issue(9, "P0"), issue(2, "p1"), issue(3, "P1"), issue(4, "P3", "P2"), issue(1), issue(7)]
    issues.append(issue(5, "P0", "in-progress"))
    ranked = sorted(map(card, reversed(issues)), key=lambda each: each.place)
    assert [each.address.number for each in ranked] == [9, 2, 3, 4, 1, 7, 5]


@pytest.mark.parametrize(
    ("labels", "role"), [((), "CODER"), (("bug",), "CODER"), (("tester",), "TESTER"), (("TESTER", "CODER"), "CODER")]
)
def test_the_role_is_a_label_and_without_one_the_first(labels: tuple[str, ...], role: str):
    found = card(issue(1, *labels))
    assert (found.role, found.shelf) == (role, f"github:octo/repo|{role}|development")


@pytest.mark.req("BR-09")
def test_a_review_is_an_open_request_from_the_branch_of_an_issue_that_waits_for_one():
    waiting = [issue(1, "needs-review", "P1", "TESTER"), issue(2, "needs-review"), issue(3, "needs-review", "epic")]
    found = RULES.review_cards(
        waiting,
        [
            request(11, "feature/issue-1"),
            request(12, "feature/other"),
            request(13, "feature/issue-2", "needs-review"),
            request(14, "feature/issue-3"),
        ],
        BASE,
    )
    assert [(card.address.number, card.behind) for card in found] == [(11, waiting[0].address)]
    assert (found[0].task_type, found[0].role, found[0].branch) == (TaskType.REVIEW, "TESTER", "feature/issue-1")


def request(number: int, head: str, *labels: str) -> Issue:
    branches = ChangeRequest(number=number, url="", head=head, base="main", is_open=True)
    return issue(number, *labels, kind=Kind.PULL_REQUEST, body="").model_copy(update={"request": branches})


def test_labels_that_an_operator_renamed_are_read():
    rules = Rules(labels=LabelNames(needs_review="確認待ち"))
    assert rules.development_card(issue(1, "確認待ち"), BASE) is None
    assert rules.development_card(issue(1, "needs-review"), BASE) is not None
