"""The log's lines about comments: each step with the issue and the comment's id, never a word of what was said."""

import logging
from collections.abc import Iterable

from temporalio import workflow

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.life import Life
from hikitsugi.domain.waiting import Waiting

COMMENT_LOG = "hikitsugi.comments"
"""A logger of its own, so that its level can be set."""

_lines = workflow.LoggerAdapter(logging.getLogger(COMMENT_LOG), None)


class CommentLog:
    """What happens to the comments of one issue."""

    def __init__(self, issue: IssueAddress, life: Life) -> None:
        self._issue = issue
        self._life = life

    def detected(self, comment: Comment) -> None:
        """A comment came, by whomever."""
        self._note(f"New comment detected (ID: {comment.id})")

    def left_aside(self, comments: Iterable[Comment]) -> None:
        """Comments are by somebody who does not count, or are known already."""
        for comment in comments:
            self._note(f"Comment left aside (ID: {comment.id})")

    def command(self, word: str | None, comment: Comment) -> None:
        """A comment is a command."""
        self._note(f"Command {word or 'unknown'} (ID: {comment.id})")

    def processing(self, comments: Iterable[Waiting]) -> None:
        """Comments were given to the model."""
        for comment in comments:
            self._note(f"Processing comment from @{comment.author} (ID: {comment.id})")

    def processed(self, comment_id: str) -> None:
        """The result of what was asked is told."""
        self._note(f"Comment processed successfully (ID: {comment_id})")

    def skipped(self, comment_id: str) -> None:
        """A comment could not be worked on."""
        self._note(f"Comment skipped after an error (ID: {comment_id})", logging.WARNING)

    def closing(self, comment: Waiting) -> None:
        """A comment says that all is well."""
        self._note(f"Completion keyword detected (ID: {comment.id})")

    def ending(self, ending: str) -> None:
        """A session is over: how it ended, and what was counted in it."""
        tally = self._life.tally.since(self._life.tally_before)
        self._note(f"Marking as {ending}")
        self._note(
            f"Statistics: checks {tally.checks}, found {tally.found}, added {tally.added}, errors {tally.errors}"
        )

    def _note(self, what: str, level: int = logging.INFO) -> None:
        _lines.log(level, "[COMMENT] Issue #%d - %s", self._issue.number, what)
