"""The log's lines about comments: each step with the issue and the comment's id, never a word of what was said."""

import logging
from collections.abc import Iterable

from temporalio import workflow

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.life import Life
from hikitsugi.domain.waiting import Waiting


class CommentLog:
    """What happens to the comments of one issue."""

    def __init__(self, issue: IssueAddress, life: Life) -> None:
        self._issue = issue
        self._life = life

    def detected(self, comments: Iterable[Comment]) -> None:
        """Comments came, by whomever."""
        level = logging.getLevelNamesMapping()[self._life.policy.detection_log_level.upper()]
        for comment in comments:
            self._note(f"New comment detected (ID: {comment.id})", level)

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
        workflow.logger.log(level, "[COMMENT] Issue #%d - %s", self._issue.number, what)
