"""Comments on the lines of a pull or merge request, which count only where that is wanted."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from hikitsugi.devforge.reviews import NewRemark
from hikitsugi.domain.closing import closes
from hikitsugi.domain.commands import Command, Word, command_in
from hikitsugi.domain.issue import NewChangeRequest
from hikitsugi.forges.github import GitHubForge
from hikitsugi.forges.gitlab import GitLabForge
from hikitsugi.forges.payloads import on_line
from tests.forges import gitlab_payloads
from tests.forges.conftest import TOKEN, introduced
from tests.forges.gitlab_payloads import note, noteable
from tests.forges.payloads import HOME, ISSUE, Payload, comment
from tests.forges.scripted_server import Reply, ScriptedServer
from tests.forges.world import TOKENS, World, world

EMPTY = Reply(200, [])
PLACE = "/repos/acme/shop/pulls/comments"


def remark(id_: int, body: str = "why?", **changed: Any) -> Payload:
    told = comment(id_, body, on="pull/8")
    return {**told, "pull_request_url": "https://api.github.com/repos/acme/shop/pulls/8", "path": "a.py", **changed}


def diff_note(id_: int, line: int | None = 3) -> Payload:
    position = {"new_path": "a.py", "new_line": line, "old_path": "a.py", "old_line": 2}
    return {**note(id_), "type": "DiffNote", "position": position}


@pytest.fixture
async def github(server: ScriptedServer) -> AsyncIterator[GitHubForge]:
    async with aclosing(GitHubForge("github", server.url, SecretStr(TOKEN), None, review_comments=True)) as opened:
        await introduced(opened, server)
        yield opened


@pytest.fixture
async def gitlab(server: ScriptedServer) -> AsyncIterator[GitLabForge]:
    async with aclosing(GitLabForge("gitlab", server.url, SecretStr(TOKEN), None, review_comments=True)) as opened:
        await introduced(opened, server)
        yield opened


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[World]:
    async with world("github", tmp_path / "forge") as opened:
        token = SecretStr(TOKENS["bot"])
        async with aclosing(GitHubForge("github", opened.url, token, None, review_comments=True)) as opened.forge:
            yield opened


@pytest.mark.req("CD-04", "CH-12")
@pytest.mark.lesson("C3")
async def test_remarks_on_lines_are_news_of_the_pull_request_once_and_when_edited(here: World, tmp_path: Path):
    await here.push(await here.forge.git_remote(here.home), "topic", tmp_path / "clone")
    wanted = NewChangeRequest(home=here.home, head="topic", base="main", title="Topic", body="")
    address = here.request_address(await here.forge.open_change_request(wanted))
    cursor = await here.started()
    home = here.dev.repository(here.repository)
    request = home.pull(address.number)
    said = home.reviews.say(*request, here.dev.person("ann"), NewRemark("too long", "README.md", 1))
    home.reviews.say(*request, here.dev.person("bot"), NewRemark("our own", "README.md", 1))
    sighting = await here.forge.look(here.home, cursor)
    (news,) = [one for one in sighting.news if one.comments]
    assert news.address == address
    told = [(one.id, one.author, one.body) for one in news.comments]
    assert told == [(f"review:{said.id}", "ann", "too long\n\n> README.md:1")]
    assert await here.forge.read_comment(address, f"review:{said.id}") == news.comments[0]
    assert news.comments[0] in await here.forge.read_comments(address)
    assert await here.news(sighting.cursor) == ()
    home.reviews.reword(said.id, "far too long")
    (news,) = await here.news(sighting.cursor)
    assert [one.body for one in news.comments] == ["far too long\n\n> README.md:1"]
    home.reviews.withdraw(said.id)
    assert await here.forge.read_comment(address, f"review:{said.id}") is None


@pytest.mark.req("CD-10", "CD-04")
async def test_they_cost_no_call_unless_they_are_wanted(
    forge: GitHubForge, github: GitHubForge, server: ScriptedServer
):
    server.will_answer(EMPTY, EMPTY, EMPTY, EMPTY)
    await forge.look(HOME, (await forge.look(HOME, None)).cursor)
    assert not any("pulls" in line for line in server.lines)
    tagged = Reply(200, [], {"ETag": '"x"'})
    server.will_answer(EMPTY, EMPTY, EMPTY, tagged, tagged, tagged, Reply(304), Reply(304), Reply(304))
    started = await github.look(HOME, None)
    warm = await github.look(HOME, started.cursor)
    server.asked.clear()
    idle = await github.look(HOME, warm.cursor)
    assert idle.cursor == warm.cursor
    assert server.lines[2] == f"GET {PLACE}"
    assert server.asked[2].headers["if-none-match"] == '"x"'


@pytest.mark.req("CD-07")
async def test_remarks_from_before_they_were_wanted_are_no_news(
    forge: GitHubForge, github: GitHubForge, server: ScriptedServer
):
    server.will_answer(EMPTY, EMPTY)
    cursor = (await forge.look(HOME, None)).cursor
    server.will_answer(EMPTY, EMPTY, Reply(200, [remark(1)]))
    switched_on = await github.look(HOME, cursor)
    assert switched_on.news == ()
    server.will_answer(EMPTY, EMPTY, Reply(200, [remark(1), remark(2)]))
    (news,) = (await github.look(HOME, switched_on.cursor)).news
    assert [told.id for told in news.comments] == ["review:2"]


async def test_a_remark_never_collides_with_a_comment_of_the_same_number(github: GitHubForge, server: ScriptedServer):
    server.will_answer(EMPTY, EMPTY, EMPTY)
    cursor = (await github.look(HOME, None)).cursor
    server.will_answer(EMPTY, Reply(200, [comment(5, on="pull/8")]), Reply(200, [remark(5, original_line=2)]))
    (news,) = (await github.look(HOME, cursor)).news
    assert [(told.id, told.body) for told in news.comments] == [("5", "hello"), ("review:5", "why?\n\n> a.py:2")]


async def test_a_remark_is_acknowledged_where_it_stands(github: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(201, {}))
    await github.acknowledge(ISSUE, "review:5")
    assert server.lines == [f"POST {PLACE}/5/reactions"]
    assert await github.read_comment(ISSUE, "review:") is None
    assert len(server.asked) == 1


@pytest.mark.req("CD-04")
@pytest.mark.parametrize("is_wanted", [True, False])
async def test_on_gitlab_notes_on_lines_count_where_they_are_wanted(server: ScriptedServer, is_wanted: bool):  # noqa: FBT001
    said = ["1", "2"] if is_wanted else ["2"]
    discussion = {**note(2), "type": "DiscussionNote"}
    async with aclosing(GitLabForge("gitlab", server.url, SecretStr(TOKEN), None, review_comments=is_wanted)) as forge:
        await introduced(forge, server)
        server.will_answer(EMPTY, EMPTY, EMPTY, EMPTY)
        cursor = (await forge.look(gitlab_payloads.HOME, None)).cursor
        server.will_answer(EMPTY, Reply(200, [noteable(3, notes=2)]), Reply(200, [discussion, diff_note(1)]))
        (news,) = (await forge.look(gitlab_payloads.HOME, cursor)).news
        assert [told.id for told in news.comments] == said
        server.will_answer(Reply(200, [diff_note(1), discussion]))
        assert [told.id for told in await forge.read_comments(gitlab_payloads.ISSUE)] == said


@pytest.mark.parametrize(("line", "place"), [(3, "a.py:3"), (None, "a.py:2")])
async def test_on_gitlab_a_note_tells_its_line(
    gitlab: GitLabForge, server: ScriptedServer, line: int | None, place: str
):
    server.will_answer(Reply(200, diff_note(1, line)))
    told = await gitlab.read_comment(gitlab_payloads.ISSUE, "1")
    assert told
    assert told.body == f"hello\n\n> {place}"


async def test_on_gitlab_a_note_that_moves_with_a_push_is_not_edited(gitlab: GitLabForge, server: ScriptedServer):
    server.will_answer(EMPTY, EMPTY, EMPTY, EMPTY)
    cursor = (await gitlab.look(gitlab_payloads.HOME, None)).cursor
    server.will_answer(EMPTY, Reply(200, [noteable(3, notes=1)]), Reply(200, [diff_note(1)]))
    sighting = await gitlab.look(gitlab_payloads.HOME, cursor)
    server.will_answer(EMPTY, Reply(200, [noteable(3, notes=1)]), Reply(200, [diff_note(1, line=40)]))
    assert (await gitlab.look(gitlab_payloads.HOME, sighting.cursor)).news == ()


def test_the_line_hides_neither_a_command_nor_thanks():
    assert command_in(on_line("/pause", "errors.py", 3), None) == Command(word=Word.PAUSE, text="> errors.py:3")
    assert closes(on_line("thanks!", "errors.py", 3), ["thanks"])
    assert on_line("why?", "a.py", None) == "why?\n\n> a.py"
    assert on_line("why?", None, 3) == "why?"
