"""Logs say what happened, on one line, without secrets; metrics are served."""

import asyncio
import json
import logging
import socket
from collections.abc import Generator
from pathlib import Path
from urllib.request import urlopen

import pytest
import structlog
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from hikitsugi.app.embedded_temporal import embedded_temporal
from hikitsugi.app.telemetry import configure_logging, make_runtime
from hikitsugi.domain.errors import WillNeverWork
from workflows.comment_log import COMMENT_LOG

SECRET = "canary-0123456789"
FORMATS = pytest.mark.parametrize("log_format", ["console", "json"])


@pytest.fixture(autouse=True)
def restored_logging() -> Generator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()


def test_json_logs_are_one_object_per_line_from_both_libraries(capsys: pytest.CaptureFixture[str]):
    configure_logging("json", "info", [])
    structlog.get_logger("ours").info("started", issue="o/r#1")
    logging.getLogger("theirs").warning("slow: %s", "引き継ぎ")
    logging.getLogger("theirs").debug("too quiet")
    ours, theirs = map(json.loads, capsys.readouterr().err.splitlines())
    assert (ours["event"], ours["issue"], ours["level"], ours["logger"]) == ("started", "o/r#1", "info", "ours")
    assert (theirs["event"], theirs["level"]) == ("slow: 引き継ぎ", "warning")


@pytest.mark.req("CD-05")
@pytest.mark.lesson("C4")
def test_the_log_of_comments_has_a_level_of_its_own(capsys: pytest.CaptureFixture[str]):
    for level in ("warning", "info"):
        configure_logging("json", "info", [], level)
        logging.getLogger(COMMENT_LOG).info("received while at %s", level)
    assert [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()] == ["received while at info"]


def test_nothing_is_written_to_standard_output(capsys: pytest.CaptureFixture[str]):
    configure_logging("console", "debug", [])
    logging.getLogger("any").error("words")
    captured = capsys.readouterr()
    assert "words" in captured.err
    assert captured.out == ""


@FORMATS
@pytest.mark.req("OP-05")
def test_loaded_secrets_are_blotted_out_wherever_they_are(log_format: str, capsys: pytest.CaptureFixture[str]):
    configure_logging("json" if log_format == "json" else "console", "info", [SECRET, "quote\"d'secret", "short"])
    log = structlog.get_logger("ours")
    log.info(SECRET, key=SECRET, nested={"deep": [SECRET]}, quoted="quote\"d'secret")
    logging.getLogger("theirs").warning("argument %s and %r", SECRET, {"a": SECRET})
    fail_aloud()
    written = capsys.readouterr().err
    assert "canary" not in written
    assert "d'secret" not in written
    assert "RuntimeError" in written


def fail_aloud() -> None:
    local = SECRET
    try:
        raise RuntimeError(local)  # noqa: TRY301
    except RuntimeError:
        logging.getLogger("theirs").exception("failed")
        structlog.get_logger("ours").exception("failed")


@FORMATS
def test_text_from_outside_cannot_forge_a_line_or_steer_a_terminal(log_format: str, capsys: pytest.CaptureFixture[str]):
    configure_logging("json" if log_format == "json" else "console", "info", [])
    hostile = "title\r\n2026 [info] forged\x1b[2J\x9b1m\u202e"
    structlog.get_logger("ours").info(hostile, title=hostile, nested={"title": [hostile]})
    logging.getLogger("theirs").warning("%s", hostile)
    written = capsys.readouterr().err
    assert len(written.splitlines()) == 2
    assert not set("\r\x1b\x9b\u202e") & set(written)
    assert "forged" in written


@workflow.defn
class Stuck:
    @workflow.run
    async def run(self) -> None:
        message = "a plain exception fails the workflow task"
        raise ValueError(message)


async def test_core_logs_come_through_python_logging(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
):
    runtime, _ = make_runtime(0)
    async with embedded_temporal(tmp_path, runtime=runtime) as temporal:
        client = await Client.connect(temporal.address, runtime=runtime)
        plain = UnsandboxedWorkflowRunner()
        async with Worker(client, task_queue="queue", workflows=[Stuck], workflow_runner=plain), asyncio.timeout(60):
            stuck = await client.start_workflow(Stuck.run, id="stuck", task_queue="queue")
            while not any(record.name.startswith("temporal.core") for record in caplog.records):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            await stuck.terminate()
    assert capfd.readouterr().out == ""


def test_metrics_are_served_on_any_free_port():
    _, address = make_runtime(0)
    with urlopen(address, timeout=30) as answer:  # noqa: S310  the address of our own server
        assert answer.status == 200


def test_metrics_are_served_on_the_wanted_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    _, address = make_runtime(port)
    assert address == f"http://127.0.0.1:{port}/metrics"


@pytest.mark.req("OP-04")
def test_a_taken_port_names_the_key_to_change():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(WillNeverWork, match=rf"port {port}: .*in use.* Set telemetry\.metrics_port to a free port"):
            make_runtime(port)
