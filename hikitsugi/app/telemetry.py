"""Logs without secrets or control characters, and Temporal's own logs and metrics."""

import logging
import re
import sys
from collections.abc import Iterable, MutableMapping
from typing import Any, Literal, cast

import structlog
from structlog.typing import Processor
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from hikitsugi.app.embedded import HOST, free_port
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.redaction import Redactor
from workflows.comment_log import COMMENT_LOG

# C0 and C1 controls, and the marks that turn or break a line of text on a screen.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_CONTROL_IN_TRACEBACK = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_TALKATIVE = ("httpx", "httpx2", "httpcore", "urllib3", "github", "gitlab", "aiosqlite", "asyncio", "uvicorn.access")


def configure_logging(
    log_format: Literal["console", "json"], level: str, secrets: Iterable[str], comment_level: str = "info"
) -> None:
    """Send every log of the process to standard error, one way for structlog and the standard library."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(log_format, shared, secrets))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    logging.getLogger(COMMENT_LOG).setLevel(comment_level.upper())
    logging.captureWarnings(capture=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


def make_runtime(metrics_port: int) -> tuple[Runtime, str]:
    """Temporal's runtime with its logs in ours, and the address of its metrics; port 0 means any free one."""
    port = metrics_port or free_port()
    forwarding = LogForwardingConfig(logger=logging.getLogger("temporal.core"))
    quiet = TelemetryFilter(core_level="WARN", other_level="ERROR")
    telemetry = TelemetryConfig(
        logging=LoggingConfig(filter=quiet, forwarding=forwarding),
        metrics=PrometheusConfig(bind_address=f"{HOST}:{port}", durations_as_seconds=True),
    )
    try:
        return Runtime(telemetry=telemetry), f"http://{HOST}:{port}/metrics"
    except ValueError as error:
        raise WillNeverWork(
            f"The metrics cannot be served on port {port}: {error}. Set telemetry.metrics_port to a free port or to 0."
        ) from error


def _formatter(
    log_format: Literal["console", "json"], shared: list[Processor], secrets: Iterable[str]
) -> structlog.stdlib.ProcessorFormatter:
    plain = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
    as_json = structlog.processors.JSONRenderer(ensure_ascii=False)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _escape_controls,
            as_json if log_format == "json" else plain,
            _redaction(secrets),
        ],
    )


def _escape_controls(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key, value in event.items():
        event[key] = _escaped(value, _CONTROL_IN_TRACEBACK if key in ("exception", "stack") else _CONTROL)
    return event


def _escaped(value: Any, controls: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return controls.sub(lambda match: repr(match[0])[1:-1], value)
    if isinstance(value, dict):
        return {key: _escaped(inner, controls) for key, inner in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_escaped(inner, controls) for inner in cast("list[Any]", value)]
    return value


def _redaction(secrets: Iterable[str]) -> Processor:
    redact = Redactor(secrets)

    def blot_out(_: Any, __: str, line: Any) -> str:
        return redact(str(line))

    return blot_out
