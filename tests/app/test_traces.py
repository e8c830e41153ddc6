"""Traces: every step is a span in the trace of its workflow's run, sent to the configured collector."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast
from uuid import uuid4

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from activities.failures import FailureTranslation
from activities.tracing import Tracing
from hikitsugi.app.traces import tracer_to
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.redaction import Redactor

RUN = str(uuid4())


class Collector(ThreadingHTTPServer):
    """The receiving end of OTLP over HTTP."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receiving)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.requests: list[tuple[str, bytes]] = []

    @property
    def spans(self) -> list[Span]:
        """All spans that came in."""
        told = [ExportTraceServiceRequest.FromString(body) for _, body in self.requests]
        return [
            span for one in told for group in one.resource_spans for scope in group.scope_spans for span in scope.spans
        ]


class _Receiving(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        cast("Collector", self.server).requests.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def collecting() -> Generator[Collector]:
    with Collector() as collector:
        thread = threading.Thread(target=collector.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()


class Step(ActivityInboundInterceptor):
    """An activity that ends well, or raises."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    async def execute_activity(self, input: ExecuteActivityInput) -> str:  # noqa: A002
        if self._error:
            raise self._error
        return "done"


async def take(step: Step, endpoint: str | None) -> str:
    async def activity() -> str:
        inner = FailureTranslation(Redactor()).intercept_activity(step)
        around = Tracing(tracer).intercept_activity(inner)
        return await around.execute_activity(ExecuteActivityInput(fn=activity, args=(), executor=None, headers={}))

    environment = ActivityEnvironment()
    environment.info = replace(environment.info, workflow_run_id=RUN, activity_type="think")
    with tracer_to(endpoint) as tracer:
        return await environment.run(activity)


@pytest.mark.req("OP-07")
async def test_a_step_is_a_span_in_the_trace_that_bears_the_runs_id():
    with collecting() as collector:
        assert await take(Step(), collector.address + "/") == "done"
    [span] = collector.spans
    assert {path for path, _ in collector.requests} == {"/v1/traces"}
    assert span.name == "think"
    assert span.trace_id.hex() == RUN.replace("-", "")
    assert "temporal.workflow.id" in {fact.key for fact in span.attributes}


@pytest.mark.req("OP-07")
async def test_a_failing_step_tells_its_kind_and_none_of_its_words():
    with collecting() as collector, pytest.raises(Exception, match="private words"):
        await take(Step(WillNeverWork("private words")), collector.address)
    [span] = collector.spans
    assert (span.status.code, span.status.message) == (Status.STATUS_CODE_ERROR, "WillNeverWork")
    assert all(b"private words" not in body for _, body in collector.requests)


async def test_without_a_collector_nothing_is_sent_and_the_step_is_taken():
    assert await take(Step(), None) == "done"


async def test_a_collector_that_is_away_holds_nothing_up():
    with collecting() as collector:
        address = collector.address
    async with asyncio.timeout(30):
        assert await take(Step(), address) == "done"
