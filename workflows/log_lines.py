"""Log lines that tell what becomes of comments, each with the issue and the comment's id."""

import logging

from temporalio import workflow

from hikitsugi.domain.address import IssueAddress

COMMENT_LOG = "hikitsugi.comments"
_lines = workflow.LoggerAdapter(logging.getLogger(COMMENT_LOG), None)


def tell(comment_id: str | None, what: str) -> None:
    """One line; a replay does not repeat it."""
    number = IssueAddress.parse(workflow.info().workflow_id).number
    _lines.info("[COMMENT] Issue #%d - %s (ID: %s)", number, what, comment_id)
