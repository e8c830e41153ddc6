"""What an operator tells an issue arrives at its workflow."""

import pytest

from tests.cli.shell import Shell
from tests.workflows.house import House, until


@pytest.mark.req("TW-02", "TW-06")
async def test_an_issue_is_started_commented_and_brought_to_its_end(home: House, shell: Shell):
    started = await shell.starter("start", home.issue.short)
    assert (started.status, started.err) == (0, "")
    assert str(home.issue) in started.out
    assert (await home.comes_to("awaiting-response")).session == 1

    said = await shell.starter("comment", str(home.issue), "Also 日本語, please.")
    assert (said.status, said.err) == (0, "")
    await until(lambda: _processed(home, 1))
    status = await home.comes_to("awaiting-response")
    assert status.last_comment_id
    assert status.last_comment_id.startswith("operator:")
    assert any("[New Comment from @operator]" in turn.text for turn in home.model.transcripts[-1].turns)
    assert any("Also 日本語, please." in turn.text for turn in home.model.transcripts[-1].turns)


@pytest.mark.req("TW-02", "TW-06")
async def test_a_pause_holds_until_the_resume_and_a_stop_ends_the_session(home: House, shell: Shell):
    home.model.may_speak.clear()
    await shell.starter("start", f"github:{home.issue.short}")
    await until(lambda: _asked(home))
    paused = await shell.starter("pause", f"https://github.com/{home.issue.repository}/issues/1", "lunch")
    assert paused.status == 0
    assert "resume" in paused.out
    home.model.may_speak.set()
    assert "lunch" in ((await home.comes_to("paused")).waiting_for or "")

    home.model.may_speak.clear()
    assert (await shell.starter("resume", home.issue.short)).status == 0
    await home.comes_to("processing")
    assert (await shell.starter("stop", home.issue.short, "not needed")).status == 0
    await home.comes_to("stopped")
    assert any("not needed" in comment.body for comment in home.forge.comments)


@pytest.mark.req("TW-06")
async def test_starting_again_begins_a_new_session(home: House, shell: Shell):
    await shell.starter("start", home.issue.short)
    await home.comes_to("awaiting-response")
    await shell.starter("stop", home.issue.short)
    await home.comes_to("stopped")
    assert (await shell.starter("start", home.issue.short)).status == 0
    await until(lambda: _in_session(home, 2))


async def _processed(home: House, comments: int) -> bool:
    return (await home.status()).comments_processed == comments


async def _in_session(home: House, number: int) -> bool:
    return (await home.status()).session == number


async def _asked(home: House) -> bool:
    return bool(home.model.transcripts)
