"""What the broker counts, in Prometheus' form."""

from collections.abc import Callable
from time import perf_counter

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300)


class Metrics:
    """Requests, tasks and reports of this process."""

    def __init__(self, waiting: Callable[[], int]) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "hikitsugi_broker_requests", "Answered requests.", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "hikitsugi_broker_seconds", "How long answers took.", ["route"], registry=self.registry, buckets=_SECONDS
        )
        self.given = Counter("hikitsugi_broker_tasks", "Tasks given to agents.", ["type"], registry=self.registry)
        self.refused = Counter("hikitsugi_broker_refused_claims", "Claims a workflow refused.", registry=self.registry)
        self.reports = Counter("hikitsugi_broker_reports", "Reports of agents.", ["report"], registry=self.registry)
        gauge = Gauge("hikitsugi_broker_waiting_agents", "Requests that wait for a task.", registry=self.registry)
        gauge.set_function(waiting)

    def route(self) -> APIRouter:
        """Where Prometheus reads."""
        routes = APIRouter()

        @routes.get("/metrics", include_in_schema=False)
        async def metrics() -> Response:
            """Tell all counts."""
            return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)

        return routes


class Measured:
    """Counts every request under the name of its route, never under what was in its address."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note how an answer begins."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = perf_counter()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "none")
                self._metrics.requests.labels(route, message["status"]).inc()
                self._metrics.seconds.labels(route).observe(perf_counter() - begun)
            await send(message)

        await self._app(scope, receive, noted)
