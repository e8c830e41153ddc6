"""An issue is followed live, on a screen or line by line, until its workflow ends or the reader leaves."""

import asyncio
import signal

import pytest

from tests.cli.shell import Shell, seen
from tests.workflows.house import House


@pytest.mark.req("TW-06")
async def test_watch_prints_a_line_per_change_and_ends_with_the_workflow(home: House, shell: Shell):
    home.model.may_speak.clear()
    await home.start()
    await home.comes_to("processing")
    async with shell.piped("watch", home.issue.short) as watching:
        assert watching.stdout
        first = (await watching.stdout.readline()).decode()
        assert "processing" in first
        home.model.may_speak.set()
        await seen(watching.stdout, "awaiting-response")
        await home.workflow.terminate()
        rest = (await watching.stdout.read()).decode().splitlines()
        assert "the workflow has ended" in rest[-1]
        assert await watching.wait() == 0


@pytest.mark.req("TW-06")
async def test_watch_redraws_a_screen_until_ctrl_c(home: House, shell: Shell):
    home.model.may_speak.clear()
    await home.start()
    await home.comes_to("processing")
    async with shell.on_screen("watch", home.issue.short) as (watching, screen):
        await seen(screen, "● processing")
        home.model.may_speak.set()
        assert "\x1b[1A" in await seen(screen, "● awaiting-response")
        watching.send_signal(signal.SIGINT)
        assert "\x1b[?25h" in await seen(screen, "\x1b[?25h")
        async with asyncio.timeout(30):
            assert await watching.wait() == 0
        assert watching.stderr
        assert await watching.stderr.read() == b""


async def test_watch_of_nothing_says_how_to_start_it(home: House, shell: Shell):
    said = await shell.starter("watch", home.issue.short)
    assert said.status == 1
    assert said.is_one_sentence
    assert f"start it with: python starter.py start {home.issue}" in said.err
