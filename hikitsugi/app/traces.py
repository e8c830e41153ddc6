"""Where traces go: each run of a workflow is one trace, with the run's id."""

from collections.abc import Generator
from contextlib import contextmanager
from uuid import UUID

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import NoOpTracer, Tracer
from temporalio import activity

_NAME = "hikitsugi"
_PATH = "/v1/traces"
_PATIENCE_SECONDS = 2


@contextmanager
def tracer_to(endpoint: str | None) -> Generator[Tracer]:
    """A tracer that sends to the collector at the address, or to nobody; what is left is sent at the end."""
    if not endpoint:
        yield NoOpTracer()
        return
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: _NAME}), id_generator=_RunIds())
    exporter = OTLPSpanExporter(endpoint.rstrip("/") + _PATH, timeout=_PATIENCE_SECONDS)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    try:
        yield provider.get_tracer(_NAME)
    finally:
        provider.shutdown()


class _RunIds(RandomIdGenerator):
    """A run's id has the size of a trace's id, so that each leads to the other."""

    def generate_trace_id(self) -> int:
        run = activity.info().workflow_run_id if activity.in_activity() else None
        return UUID(run).int if run else super().generate_trace_id()
