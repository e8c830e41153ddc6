"""A span of OpenTelemetry for every activity, without texts or secrets."""

from typing import Any

from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor


class Tracing(Interceptor):
    """Tells each step with its issue, attempt and outcome."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        """Stand around every activity."""
        return _Traced(next, self._tracer)


class _Traced(ActivityInboundInterceptor):
    def __init__(self, inner: ActivityInboundInterceptor, tracer: Tracer) -> None:
        super().__init__(inner)
        self._tracer = tracer

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        here = activity.info()
        facts = {
            "temporal.workflow.id": here.workflow_id or "",
            "temporal.workflow.type": here.workflow_type or "",
            "temporal.task_queue": here.task_queue,
            "temporal.attempt": here.attempt,
        }
        with self._tracer.start_as_current_span(
            here.activity_type,
            kind=SpanKind.CONSUMER,
            attributes=facts,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                return await super().execute_activity(input)
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR, _kind(error)))
                raise


def _kind(error: BaseException) -> str:
    return (isinstance(error, ApplicationError) and error.type) or type(error).__name__
