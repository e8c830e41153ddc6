"""When a change may be shown as ready: only by what was seen, never by what was said."""

from hikitsugi.domain.tools import Submission, SubmissionStatus
from hikitsugi.domain.verification import Verified


def is_ready(submission: Submission | None, verified: Verified | None) -> bool:
    """Concluded work whose checks exited with 0, without placeholders, and without a word to machines."""
    if submission is None or verified is None:
        return False
    raises_doubts = verified.placeholders or verified.touches_instructions
    return submission.status is SubmissionStatus.DONE and verified.passed and not raises_doubts
