"""What of a repository's news is worth a signal, and to whom."""

import hashlib
import re

from hikitsugi.domain.address import IssueAddress, Kind
from hikitsugi.domain.issue import Issue
from hikitsugi.domain.life import IssueFacts
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.states import State

_ENDED = frozenset({State.COMPLETED, State.STOPPED, State.FAILED})


def calls_for_work(issue: Issue, labels: LabelNames) -> bool:
    """An open issue with a trigger label that no earlier session has ended; requests have no story of their own yet."""
    return may_be_answered(issue, labels) and not labels.shown_by(issue.labels) & _ENDED


def may_be_answered(issue: Issue, labels: LabelNames) -> bool:
    """An open issue with a trigger label: a comment on it may bring its workflow to life."""
    return issue.address.kind is Kind.ISSUE and issue.is_open and labels.trigger_in(issue.labels)


def issue_behind(request: Issue, bot: str | None) -> IssueAddress | None:
    """The issue that a pull or merge request of ours was opened for."""
    ours = bot is not None and request.author.casefold() == bot.casefold()
    match = re.match(r"Closes #([1-9][0-9]*)\b", request.body)
    if request.address.kind is Kind.ISSUE or not ours or not match:
        return None
    return request.address.model_copy(update={"kind": Kind.ISSUE, "number": int(match[1])})


def fingerprint(issue: Issue) -> str:
    """Changes exactly when labels, state or assignees do."""
    facts = repr((sorted(issue.labels), issue.is_open, sorted(issue.assignees)))
    return hashlib.sha256(facts.encode()).hexdigest()[:8]


def facts_of(issue: Issue, *, for_work: bool) -> IssueFacts:
    """What the workflow is told of an issue beside its comments."""
    state = "open" if issue.is_open else "closed"
    return IssueFacts(state=state, labels=issue.labels, assignees=issue.assignees, for_work=for_work)
