"""Why a step failed, in the words of whoever refused."""

from temporalio.exceptions import ActivityError, ApplicationError


def reason_of(error: ActivityError) -> str:
    """The sentence behind a failed step."""
    cause = error.cause
    return cause.message if isinstance(cause, ApplicationError) else str(cause)
