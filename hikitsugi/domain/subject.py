"""Where a subject is worked on: an issue on a branch of ours, a request on its own."""

import re

from hikitsugi.domain.address import IssueAddress, Kind
from hikitsugi.domain.issue import ChangeRequest

_REFS = {Kind.PULL_REQUEST: "pull", Kind.MERGE_REQUEST: "merge-requests"}


def work_branch(subject: IssueAddress, request: ChangeRequest | None) -> str:
    """The branch to work on; of a request from a fork, the forge's own ref of it, which can only be read."""
    if request is None:
        return f"hikitsugi/issue-{subject.number}"
    if request.is_from_fork:
        return f"refs/{_REFS[subject.kind]}/{subject.number}/head"
    return request.head


def issue_worked_on(branch: str) -> int | None:
    """The number of the issue that a branch of ours was made for."""
    match = re.fullmatch(r"hikitsugi/issue-([1-9][0-9]*)", branch)
    return int(match[1]) if match else None
