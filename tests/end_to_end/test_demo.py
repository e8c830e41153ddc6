"""The demo, as somebody types it: embedded servers, a forge, a scripted model and the real product."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hikitsugi.app.run_file import RunFacts, read_run_file
from tests.end_to_end.stage import GENEROUS, until


@asynccontextmanager
async def demo(folder: Path, *arguments: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Play the demo in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HIKITSUGI_")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hikitsugi.cli.demo", "--data-folder", str(folder), *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.communicate(), GENEROUS)


@pytest.mark.req("OP-01")
async def test_played_once_it_ends_with_an_open_pull_request_that_passes_the_tests(tmp_path: Path):
    async with demo(tmp_path / "demo", "--once") as playing:
        output, _ = await asyncio.wait_for(playing.communicate(), GENEROUS)
    told = output.decode()
    assert playing.returncode == 0, told
    assert "/demo/receipt/issues/1" in told
    assert "/demo/receipt/pull/2" in told
    assert "Temporal Web UI" in told
    assert "awaiting-response" in told
    assert _tests_pass(tmp_path)
    assert read_run_file(tmp_path / "demo") is None


@pytest.mark.long
async def test_it_plays_on_gitlab_too(tmp_path: Path):
    async with demo(tmp_path / "demo", "--once", "--forge", "gitlab") as playing:
        output, _ = await asyncio.wait_for(playing.communicate(), GENEROUS)
    told = output.decode()
    assert playing.returncode == 0, told
    assert "/demo/receipt/-/merge_requests/1" in told
    assert _tests_pass(tmp_path)


@pytest.mark.req("OP-01", "BY-08", "TW-06")
async def test_killing_its_worker_changes_nothing(tmp_path: Path):
    folder = tmp_path / "demo"
    async with demo(folder) as playing:
        before = await _told_until(playing, "モデル呼び出し 1 回目")
        killed = _facts(folder)
        os.kill(killed.pid, signal.SIGKILL)
        await until(lambda: _is_up(folder, after=killed.pid))
        assert (_facts(folder).forge, _facts(folder).issue) == (killed.forge, "github:demo/receipt/issues/1")
        told = before + await _told_until(playing, "完了: ")
        assert told.count("プルリクエスト: ") == 1
        assert told.count("## 実行完了") == 1
        assert "ワーカーが戻りました" in told
    assert _tests_pass(tmp_path)


async def test_data_of_a_real_worker_is_never_touched(tmp_path: Path):
    kept = tmp_path / "demo" / "memory.db"
    kept.parent.mkdir()
    kept.write_text("a year of work")
    async with demo(tmp_path / "demo", "--once") as playing:
        output, _ = await asyncio.wait_for(playing.communicate(), GENEROUS)
    assert playing.returncode == 1
    assert "not the demo's" in output.decode()
    assert kept.read_text() == "a year of work"


async def _is_up(folder: Path, after: int | None = None) -> bool:
    facts = read_run_file(folder)
    return facts is not None and facts.pid != after


def _facts(folder: Path) -> RunFacts:
    facts = read_run_file(folder)
    assert facts is not None
    return facts


async def _told_until(playing: asyncio.subprocess.Process, words: str) -> str:
    assert playing.stdout is not None
    told = ""
    async with asyncio.timeout(GENEROUS):
        while words not in told:
            line = await playing.stdout.readline()
            assert line, told
            told += line.decode()
    return told


def _tests_pass(tmp_path: Path) -> bool:
    """Whether the sample's own tests pass on the pull request's branch."""
    bare, clone = tmp_path / "demo" / "forge" / "demo" / "receipt.git", tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "-b", "hikitsugi/issue-1", str(bare), str(clone)], check=True)
    return subprocess.run([sys.executable, "-m", "unittest", "-q"], cwd=clone, check=False).returncode == 0
