"""What of a repository's news is worth a signal, and to whom."""

import hashlib
import re

from hikitsugi.domain.address import IssueAddress, Kind
from hikitsugi.domain.issue import Issue
from hikitsugi.domain.life import IssueFacts
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.states import ENDED
from hikitsugi.domain.subject import issue_worked_on


def calls_for_work(issue: Issue, labels: LabelNames, *, was_idle: bool = False) -> bool:
    """An open issue or request with a trigger label: no session has ended it, or it was closed or unlabelled before."""
    return may_be_answered(issue, labels) and (was_idle or not labels.shown_by(issue.labels) & ENDED)


def may_be_answered(issue: Issue, labels: LabelNames) -> bool:
    """An open issue or request with a trigger label: a comment on it may bring its workflow to life."""
    return issue.is_open and labels.trigger_in(issue.labels)


def issue_behind(request: Issue, ours: frozenset[str]) -> IssueAddress | None:
    """The issue that a pull or merge request of ours was opened for."""
    if not is_request_of(request, ours):
        return None
    number = _named_in(request.body) or issue_worked_on(request.request.head if request.request else "")
    return request.address.model_copy(update={"kind": Kind.ISSUE, "number": number}) if number else None


def is_request_of(issue: Issue, ours: frozenset[str]) -> bool:
    """Whether it is a pull or merge request opened under one of our names."""
    return issue.address.kind is not Kind.ISSUE and issue.author.casefold() in ours


def _named_in(body: str) -> int | None:
    match = re.match(r"Closes #([1-9][0-9]*)\b", body)
    return int(match[1]) if match else None


def fingerprint(issue: Issue) -> str:
    """Changes exactly when labels, state or assignees do."""
    facts = repr((sorted(issue.labels), issue.is_open, sorted(issue.assignees)))
    return hashlib.sha256(facts.encode()).hexdigest()[:8]


def facts_of(issue: Issue, *, for_work: bool) -> IssueFacts:
    """What the workflow is told of an issue beside its comments."""
    state = "open" if issue.is_open else "closed"
    return IssueFacts(state=state, labels=issue.labels, assignees=issue.assignees, for_work=for_work)
