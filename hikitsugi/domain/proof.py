"""When a change may be shown as ready: only by what was seen, never by what was said."""

from hikitsugi.domain.tools import Submission, SubmissionStatus
from hikitsugi.domain.verification import Verified


def is_ready(submission: Submission | None, verified: Verified | None) -> bool:
    """Work that was concluded, whose checks exited with 0, and that touches no instructions for machines."""
    concluded = submission is not None and submission.status is SubmissionStatus.DONE
    shown = verified is not None and verified.passed and not verified.touches_instructions
    return concluded and shown
