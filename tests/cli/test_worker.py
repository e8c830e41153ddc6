"""The command that runs the product, as a process."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hikitsugi.app.run_file import read_run_file
from tests.end_to_end.stage import GENEROUS, until

WORKER = Path(__file__).parent.parent.parent / "worker.py"


def _configure(folder: Path, **keys: Any) -> Path:
    """A configuration that lacks nothing, with some keys changed."""
    given: dict[str, Any] = {
        "data_folder": str(folder / "data"),
        "forges": [{"url": "http://127.0.0.1:9", "token": "secret-token-1", "repositories": ["demo/none"]}],
        "llm": {"api_key": "secret-key-1"},
        "broker": {"port": 0},
        "telemetry": {"metrics_port": 0},
    }
    config = folder / "hikitsugi.yaml"
    config.write_text(json.dumps(given | keys))
    return config


@asynccontextmanager
async def _worker(config: Path, *arguments: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HIKITSUGI_")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(WORKER), "--config", str(config), *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=config.parent,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _ended(config: Path, *arguments: str) -> tuple[int | None, str]:
    async with _worker(config, *arguments) as process:
        told, _ = await asyncio.wait_for(process.communicate(), GENEROUS)
    return process.returncode, told.decode()


@pytest.mark.req("TW-06", "OP-05")
@pytest.mark.lesson("B12")
async def test_it_runs_with_embedded_servers_tells_where_they_are_and_ends_cleanly(tmp_path: Path):
    config = _configure(tmp_path)
    async with _worker(config) as process:
        await until(lambda: _is_up(tmp_path))
        facts = read_run_file(tmp_path / "data")
        assert facts is not None
        assert (tmp_path / "data" / "run.json").stat().st_mode & 0o777 == 0o600
        assert None not in (facts.temporal, facts.ui, facts.redis, facts.broker, facts.metrics)
        second = await _ended(config)
        assert second[0] == 1
        assert str(process.pid) in second[1]
        assert "Traceback" not in second[1]
        process.send_signal(signal.SIGTERM)
        told, _ = await asyncio.wait_for(process.communicate(), GENEROUS)
    assert process.returncode == 0
    assert str(facts.ui) in told.decode()
    assert "secret-" not in told.decode()
    assert not (tmp_path / "data" / "run.json").exists()


async def test_real_work_begins_without_what_a_demo_left(tmp_path: Path):
    left = tmp_path / "data" / "temporal.db"
    left.parent.mkdir()
    left.write_text("the demo's workflows")
    (left.parent / "demo").touch()
    async with _worker(_configure(tmp_path)):
        await until(lambda: _is_up(tmp_path))
        assert left.read_bytes()[:6] == b"SQLite"
        assert not (left.parent / "demo").exists()


@pytest.mark.req("OP-04")
@pytest.mark.parametrize("key", ["broker.port", "telemetry.metrics_port"])
async def test_a_taken_port_is_named_with_its_key_before_anything_runs(tmp_path: Path, key: str):
    section, name = key.split(".")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status, told = await _ended(_configure(tmp_path, **{section: {name: taken.getsockname()[1]}}))
    assert status == 1
    assert key in told
    assert "Traceback" not in told
    assert not (tmp_path / "data").exists()


@pytest.mark.req("OP-04", "OP-05")
async def test_a_bad_configuration_ends_with_2_and_a_line_for_every_problem(tmp_path: Path):
    config = _configure(tmp_path, polling={"interval_seconds": -1}, language="fr", llm={"api_key": ["secret-key-1"]})
    status, told = await _ended(config)
    assert status == 2
    assert [line.split(":")[0] for line in told.splitlines()] == ["language", "polling.interval_seconds", "llm.api_key"]
    assert "secret-" not in told


@pytest.mark.req("OP-04")
async def test_what_a_worker_needs_and_nobody_gave_is_named(tmp_path: Path):
    status, told = await _ended(_configure(tmp_path, forges=[], llm={}))
    assert status == 2
    assert "forges" in told


@pytest.mark.req("OP-04")
async def test_broken_yaml_ends_with_2_and_its_place(tmp_path: Path):
    config = tmp_path / "hikitsugi.yaml"
    config.write_text("language: ja\nforges: [\n")
    status, told = await _ended(config)
    assert status == 2
    assert "hikitsugi.yaml" in told
    assert "Traceback" not in told


@pytest.mark.req("TW-06", "OP-04")
@pytest.mark.parametrize("server", ["Temporal", "Valkey"])
async def test_an_embedded_server_that_dies_ends_the_worker_with_a_sentence(tmp_path: Path, server: str):
    async with _worker(_configure(tmp_path)) as process:
        await until(lambda: _is_up(tmp_path))
        os.kill(json.loads((tmp_path / "data" / f"{server.lower()}.lock").read_text())["server"], signal.SIGKILL)
        told, _ = await asyncio.wait_for(process.communicate(), GENEROUS)
    assert process.returncode == 1
    assert told.decode().splitlines()[-1].startswith(f"The embedded {server} ended: ")
    assert "Traceback" not in told.decode()
    assert not (tmp_path / "data" / "run.json").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only there one sees from outside what a process has loaded")
@pytest.mark.parametrize("moment", ["loading", "starting"])
async def test_ctrl_c_at_the_start_ends_without_a_traceback(tmp_path: Path, moment: str):
    async with _worker(_configure(tmp_path)) as process:
        await until(lambda: _has_loaded(process.pid) if moment == "loading" else _starts_temporal(tmp_path))
        process.send_signal(signal.SIGINT)
        told, _ = await asyncio.wait_for(process.communicate(), GENEROUS)
    assert process.returncode in (130, -signal.SIGINT)
    assert len(told.decode().splitlines()) <= 1


async def _has_loaded(pid: int) -> bool:
    maps = await asyncio.to_thread(Path(f"/proc/{pid}/maps").read_text)
    return "pydantic_core" in maps


async def _starts_temporal(folder: Path) -> bool:
    return (folder / "data" / "temporal.log").exists()


async def _is_up(folder: Path) -> bool:
    return read_run_file(folder / "data") is not None
