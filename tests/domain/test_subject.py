"""Where issues and requests are worked on."""

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import ChangeRequest
from hikitsugi.domain.subject import issue_worked_on, work_branch


@pytest.mark.parametrize(
    ("subject", "fork", "branch"),
    [
        ("github:o/r/issues/12", None, "hikitsugi/issue-12"),
        ("github:o/r/pull/12", False, "fix"),
        ("github:o/r/pull/12", True, "refs/pull/12/head"),
        ("gitlab:g/s/r/merge_requests/3", False, "fix"),
        ("gitlab:g/s/r/merge_requests/3", True, "refs/merge-requests/3/head"),
    ],
)
def test_an_issue_has_a_branch_of_ours_and_a_request_its_own(subject: str, branch: str, *, fork: bool | None):
    request = None
    if fork is not None:
        request = ChangeRequest(number=1, url="", head="fix", base="main", is_open=True, is_from_fork=fork)
    assert work_branch(IssueAddress.parse(subject), request) == branch


def test_a_branch_of_ours_names_its_issue():
    assert issue_worked_on("hikitsugi/issue-7") == 7
    assert issue_worked_on("hikitsugi/issue-7-again") is None
