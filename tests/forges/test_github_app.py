"""Acting as an installation of a GitHub App."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import NewChangeRequest
from hikitsugi.forges.credentials import AppInstallation
from hikitsugi.forges.github import GitHubForge
from tests.forges.app_key import private_key, public_key
from tests.forges.payloads import HOME, ISSUE, comment, issue
from tests.forges.scripted_server import Reply, ScriptedServer
from tests.forges.world import World, world

TOKENS = "POST /app/installations/67890/access_tokens"
SECRET = "ghs_given_for_an_hour"
READ = "GET /repos/acme/shop/issues/7"


def given(token: str = SECRET, until: str = "13:00:00", **more: Any) -> Reply:
    return Reply(201, {"token": token, "expires_at": f"2026-03-02T{until}Z", **more})


@pytest.fixture
async def app(server: ScriptedServer) -> AsyncIterator[GitHubForge]:
    installation = AppInstallation(id=12345, installation_id=67890, private_key=SecretStr(private_key()))
    async with aclosing(GitHubForge("github", server.url, installation, None)) as opened:
        yield opened


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[World]:
    async with world("github", tmp_path / "forge") as opened:
        made = opened.dev.add_app("hikitsugi", public_key())
        installation = AppInstallation(
            id=made.id, installation_id=made.installation_id, private_key=SecretStr(private_key())
        )
        async with aclosing(GitHubForge("github", opened.url, installation, None)) as opened.forge:
            yield opened


@pytest.mark.req("CD-06", "CH-12")
async def test_an_app_does_all_the_work_under_its_own_name(here: World, tmp_path: Path):
    address = here.open_issue("task:misc")
    cursor = await here.started()
    posted = await here.forge.post_comment(address, "done", "k")
    assert await here.forge.post_comment(address, "done", "k") == posted
    said = here.say(address, "thanks")
    await here.push(await here.forge.git_remote(here.home), "topic", tmp_path / "clone")
    wanted = NewChangeRequest(home=here.home, head="topic", base="main", title="Topic", body="")
    opened = await here.forge.open_change_request(wanted)
    assert (await here.forge.set_draft(here.home, opened.number, draft=True)).is_draft
    assert await here.forge.whoami() == "hikitsugi[bot]"
    assert posted.author == "hikitsugi[bot]"
    news = await here.news(cursor)
    assert [told.id for one in news for told in one.comments] == [said]


@pytest.mark.req("CD-10")
async def test_one_token_serves_all_threads(here: World):
    addresses = [here.open_issue() for _ in range(40)]
    here.calls()
    await asyncio.gather(*map(here.forge.read_issue, addresses))
    assert [method for method, _ in here.calls()].count("POST") == 1


async def test_a_token_that_is_nearly_over_is_renewed(here: World):
    address = here.open_issue()
    here.clock.behind = timedelta(minutes=55)
    await here.forge.read_issue(address)
    here.clock.behind = timedelta()
    here.calls()
    await here.forge.read_issue(address)
    await here.forge.read_issue(address)
    assert here.calls() == [("POST", 201), ("GET", 200), ("GET", 200)]


async def test_how_long_a_token_is_good_goes_by_the_forges_clock(app: GitHubForge, server: ScriptedServer):
    server.will_answer(given("ghs_short", "12:09:00"), Reply(200, issue(7)), given("ghs_long"))
    server.will_answer(Reply(200, issue(7)), Reply(200, issue(7)))
    for _ in range(3):
        await app.read_issue(ISSUE)
    assert server.lines == [TOKENS, READ, TOKENS, READ, READ]
    assert [ask.headers["authorization"] for ask in server.asked[1::2]] == ["token ghs_short", "token ghs_long"]
    assert server.asked[0].headers["authorization"].startswith("Bearer ey")


async def test_git_gets_the_token_of_the_moment(app: GitHubForge, server: ScriptedServer):
    repository = Reply(200, {"clone_url": f"{server.url}/acme/shop.git", "default_branch": "main"})
    server.will_answer(given("ghs_1", "12:05:00"), repository, given("ghs_2"), repository)
    first = await app.git_remote(HOME)
    again = await app.git_remote(HOME)
    assert (first.username, first.token.get_secret_value()) == ("x-access-token", "ghs_2")
    assert again.token == first.token


@pytest.mark.req("CD-06")
async def test_the_app_itself_is_asked_for_its_name_once(app: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(200, {"slug": "robot"}))
    assert [await app.whoami(), await app.whoami()] == ["robot[bot]", "robot[bot]"]
    assert server.lines == ["GET /app"]


@pytest.mark.req("CD-06")
async def test_a_configured_name_is_not_asked_for(server: ScriptedServer):
    installation = AppInstallation(id=1, installation_id=2, private_key=SecretStr(private_key()))
    async with aclosing(GitHubForge("github", server.url, installation, "robot[bot]")) as forge:
        assert await forge.whoami() == "robot[bot]"
    assert server.asked == []


@pytest.mark.req("TW-04")
@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "A JSON web token could not be decoded"),
        (403, "This installation has been suspended"),
        (404, "Integration not found"),
    ],
)
async def test_a_refused_app_will_never_work_and_says_what_to_do(
    app: GitHubForge, server: ScriptedServer, status: int, told: str
):
    for ask in (app.read_issue(ISSUE), app.whoami()):
        server.will_answer(Reply(status, {"message": told}))
        with pytest.raises(WillNeverWork, match=rf"App 12345 \({status} {told}\): check id, installation_id and"):
            await ask


@pytest.mark.req("TW-04", "CD-08")
@pytest.mark.parametrize("reply", [Reply(502), Reply(429), Reply(201, {"token": SECRET}), given(), Reply(202)])
async def test_a_token_that_cannot_be_had_now_is_asked_for_later(
    app: GitHubForge, server: ScriptedServer, reply: Reply
):
    server.will_answer(Reply(reply.status, reply.body, half=reply.body == given().body))
    with pytest.raises(TryAgainLater):
        await app.read_issue(ISSUE)
    server.will_answer(given(), Reply(200, issue(7)))
    await app.read_issue(ISSUE)
    assert server.lines == [TOKENS, TOKENS, READ]


async def test_a_token_refused_before_its_time_is_replaced(app: GitHubForge, server: ScriptedServer):
    server.will_answer(given("ghs_1"), Reply(401, {"message": "Bad credentials"}))
    with pytest.raises(TryAgainLater, match="another one is asked for"):
        await app.read_issue(ISSUE)
    server.will_answer(given("ghs_2"), Reply(200, issue(7)))
    await app.read_issue(ISSUE)
    assert server.asked[-1].headers["authorization"] == "token ghs_2"


@pytest.mark.req("OP-05")
async def test_neither_key_nor_token_is_ever_shown(app: GitHubForge, server: ScriptedServer):
    server.will_answer(given(), Reply(422, {"message": f"token {SECRET} is odd"}))
    with pytest.raises(WillNeverWork, match=r"token \*\*\* is odd"):
        await app.read_issue(ISSUE)
    installation = AppInstallation(id=1, installation_id=2, private_key=SecretStr(private_key()))
    assert "BEGIN" not in f"{installation!r} {installation}"


@pytest.mark.req("CD-06", "CH-05")
async def test_where_the_app_may_not_tell_its_name_the_marker_decides(app: GitHubForge, server: ScriptedServer):
    server.will_answer(given(), Reply(200, []), Reply(200, []))
    cursor = (await app.look(HOME, None)).cursor
    ours = comment(1, "done\n\n<!-- hikitsugi:x -->", author="robot[bot]")
    server.will_answer(Reply(403, {"message": "no"}), Reply(200, []), Reply(200, [ours, comment(2)]))
    (news,) = (await app.look(HOME, cursor)).news
    assert [told.id for told in news.comments] == ["2"]
