"""Under which names every forge adapter knows our own words."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

import pytest
from pydantic import SecretStr

from hikitsugi.forges.github import GitHubForge
from hikitsugi.forges.gitlab import GitLabForge
from hikitsugi.forges.marker import marked
from tests.forges.conftest import TOKEN
from tests.forges.payloads import ISSUE, comment
from tests.forges.scripted_server import Reply, ScriptedServer
from tests.forges.world import TOKENS, World


@asynccontextmanager
async def configured(here: World, username: str) -> AsyncGenerator[GitHubForge | GitLabForge]:
    """The adapter with a configured name, whose token is the bot's."""
    adapter = type(here.forge)(here.name, here.url, SecretStr(TOKENS["bot"]), username)
    async with aclosing(adapter) as forge:
        yield forge


@pytest.mark.req("CH-05", "CD-06")
@pytest.mark.lesson("C8")
async def test_what_our_token_writes_is_no_news_whatever_name_is_configured(here: World):
    address = here.open_issue()
    cursor = await here.started()
    async with configured(here, "guest") as forge:
        posted = await forge.post_comment(address, "1 of 2", "k")
        await forge.edit_comment(address, posted.id, "2 of 2", "k")
        here.say(address, "by whom the settings name", author="guest")
        theirs = here.say(address, marked("me too", "k", 1000))
        (news,) = (await forge.look(here.home, cursor)).news
    assert [told.id for told in news.comments] == [theirs]


@pytest.mark.req("CH-12", "CD-06")
async def test_our_comment_is_found_again_whatever_name_is_configured(here: World):
    address = here.open_issue()
    async with configured(here, "guest") as forge:
        posted = [await forge.post_comment(address, "done", "k") for _ in range(2)]
        here.say(address, marked("done", "k", 1000), "bot")
        assert await forge.reconcile_comment(address, "k") == 1
    assert posted[0].id == posted[1].id
    assert here.said(address) == [marked("done", "k", 1000)]


@pytest.mark.req("CD-06", "CD-10")
@pytest.mark.parametrize(("username", "is_told"), [("Bot", False), ("guest", True)])
async def test_whose_token_it_is_is_asked_once_and_another_configured_name_is_warned_of(
    here: World, caplog: pytest.LogCaptureFixture, username: str, *, is_told: bool
):
    async with configured(here, username) as forge:
        assert await forge.whoami() == username
        assert here.calls() == []
        for _ in range(2):
            assert await forge.our_names() == {"bot", username.lower()}
    assert here.calls() == [("GET", 200)]
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    told = f"the token of forge {here.name!r} belongs to 'bot', but 'guest' is configured"
    assert [warning.startswith(told) for warning in warnings] == [True] * is_told


@pytest.mark.req("CH-05", "CD-06")
async def test_where_the_token_may_not_ask_the_configured_name_decides(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
):
    borrowed, ours = (comment(n, marked("done", "k", 1000), author=who) for n, who in ((1, "ann"), (2, "robot[bot]")))
    refused = Reply(403, {"message": "Resource not accessible by integration"})
    server.will_answer(refused, Reply(200, [borrowed, ours]), Reply(200, [borrowed, ours]))
    async with aclosing(GitHubForge("github", server.url, SecretStr(TOKEN), "robot[bot]")) as forge:
        assert [(await forge.post_comment(ISSUE, "done", "k")).id for _ in range(2)] == ["2", "2"]
    assert server.lines.count("GET /user") == 1
    assert caplog.text == ""
