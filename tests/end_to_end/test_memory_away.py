"""A memory that is away in the middle of the work, or between two sessions, is waited for; nothing is lost."""

import asyncio
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import create_async_engine
from temporalio.testing import WorkflowEnvironment

from hikitsugi.memory.tables import Message
from tests.end_to_end.stage import Stage, stage, until
from tests.memory.postgres import PostgresServer, find_binaries, running_server

NOTICE = "📋 **過去のコンテキストを引き継ぎました**"
WISH = "README に使い方を書いてください。"


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("PostgreSQL's server binaries (initdb, pg_ctl) are not on this machine")
    with running_server(binaries) as server:
        yield server


@pytest.mark.req("CI-08", "CI-01")
@pytest.mark.lesson("C11", "C20")
@pytest.mark.parametrize("seconds", [0, pytest.param(30, marks=pytest.mark.long)])
async def test_a_server_that_is_stopped_twice_is_waited_for_and_no_message_is_lost(
    time: WorkflowEnvironment,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    server: PostgresServer,
    seconds: float,
):
    caplog.set_level("INFO")
    address = await server.new_database()
    async with stage(time, tmp_path) as s:
        s.configure(memory={"url": address})
        async with s.product():
            s.opens_issue()
            await until(lambda: _is_asked(s))
            await _away(server, s, caplog, seconds)
            await until(lambda: _has_answered(s, 1))
            s.says("ありがとう")
            await s.comes_to("completed")
            await _away(server, s, caplog, seconds)
            await until(lambda: _has_answered(s, 2))
            assert NOTICE in s.headings
            assert (await s.status()).session == 2
            assert not {"failed", "stopped"} & s.labels
    for turns in await _conversations(address):
        assert [sequence for sequence, _ in turns] == list(range(len(turns)))
    said = [str(content) for turns in await _conversations(address) for _, content in turns]
    assert all(any(f"{WISH} ({number})" in text for text in said) for number in (1, 2))


async def _away(server: PostgresServer, s: Stage, caplog: pytest.LogCaptureFixture, seconds: float) -> None:
    """Stop the server until a step has missed it, and for so long; meanwhile somebody writes."""
    caplog.clear()
    server.stop()
    s.says(f"{WISH} ({2 if 'completed' in s.labels else 1})")

    async def is_missed() -> bool:
        return "cannot be used right now" in caplog.text

    await until(is_missed)
    await asyncio.sleep(seconds)
    server.start()


async def _is_asked(s: Stage) -> bool:
    return bool(s.model.requests)


async def _has_answered(s: Stage, comments: int) -> bool:
    return "awaiting-response" in s.labels and (await s.status()).comments_processed >= comments


async def _conversations(address: str) -> list[list[tuple[int, object]]]:
    """The numbers and contents of the turns of every conversation."""
    engine = create_async_engine(address)
    ordered = select(Message.conversation, Message.sequence, Message.content).order_by(
        Message.conversation, Message.sequence
    )
    async with engine.connect() as connection:
        rows = (await connection.execute(ordered)).all()
    await engine.dispose()
    return [[(row[1], row[2]) for row in turns] for _, turns in groupby(rows, key=lambda row: row[0])]
