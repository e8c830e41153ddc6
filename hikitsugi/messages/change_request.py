"""What people read in a pull or merge request and in its commits."""

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.policy import Language
from hikitsugi.domain.tools import Submission
from hikitsugi.messages.language import either

_LONGEST_TITLE = 230


def title(issue: IssueAddress, issue_title: str) -> str:
    """The request's title names the issue."""
    return f"{issue_title[:_LONGEST_TITLE]} (#{issue.number})"


def body(language: Language, issue: IssueAddress, submission: Submission | None) -> str:
    """What was done and why, and which issue it closes."""
    parts = [f"Closes #{issue.number}"]
    if submission:
        parts.append(submission.summary)
        if submission.evidence:
            parts.append(either(language, ja="**確認したこと**: ", en="**Evidence**: ") + submission.evidence)
    return "\n\n".join(parts)


def commit(issue: IssueAddress, issue_title: str) -> str:
    """A commit's message."""
    return f"{issue_title}\n\nRefs {issue.short.removeprefix(issue.repository)}"
