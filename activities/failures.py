"""Domain errors to Temporal failures, in one place."""

from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory, CancelledError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from activities.heartbeat import carries_progress
from hikitsugi.domain.errors import Away, TryAgainLater, Unprepared, WillNeverWork
from hikitsugi.domain.redaction import Redactor

LIMITED = "Limited"
"""The type of a failure that asks the story to stay away for a while; its detail is the seconds."""

AWAY = "Away"
"""The type of a failure that asks the story to stay away for as long as it sees fit."""

UNPREPARED = "Unprepared"
"""The type of a failure that asks the story to have the checkout prepared again."""

LONG_WAIT = timedelta(seconds=10)
"""From this on a wait is the story's own, so that it can be seen and stopped."""

UNEXPECTED_ATTEMPTS = 5
_EXPECTED = ApplicationErrorCategory.BENIGN


class FailureTranslation(Interceptor):
    """Lets every activity fail in the form its retry policy understands, without secrets."""

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        """Stand around every activity."""
        return _Translating(next, self._redact)


class _Translating(ActivityInboundInterceptor):
    def __init__(self, inner: ActivityInboundInterceptor, redact: Redactor) -> None:
        super().__init__(inner)
        self._redact = redact

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        try:
            return await super().execute_activity(input)
        except (ApplicationError, CancelledError):
            raise
        except Exception as error:  # noqa: BLE001 - the one place where anything becomes a failure Temporal understands
            raise self._translated(error) from None

    def _translated(self, error: Exception) -> ApplicationError:
        text = self._redact(str(error) or type(error).__name__)
        if isinstance(error, TryAgainLater):
            activity.logger.info("tries again later: %s", text)
            if error.after and error.after >= LONG_WAIT and not carries_progress():
                seconds = error.after.total_seconds()
                return ApplicationError(text, seconds, type=LIMITED, non_retryable=True, category=_EXPECTED)
            if isinstance(error, Away):
                return ApplicationError(text, type=AWAY, non_retryable=True, category=_EXPECTED)
            return ApplicationError(text, type="TryAgainLater", next_retry_delay=error.after, category=_EXPECTED)
        if isinstance(error, WillNeverWork):
            activity.logger.warning("gives up: %s", text)
            kind = UNPREPARED if isinstance(error, Unprepared) else "WillNeverWork"
            return ApplicationError(text, type=kind, non_retryable=True, category=_EXPECTED)
        activity.logger.error("unexpected failure: %s", text, exc_info=True)
        final = activity.info().attempt >= UNEXPECTED_ATTEMPTS and not carries_progress()
        return ApplicationError(f"{type(error).__name__}: {text}", type="Unexpected", non_retryable=final)
