"""What a look asks for, and what it makes of the answers."""

from contextlib import aclosing
from typing import Any

import pytest
from pydantic import SecretStr

from hikitsugi.domain.address import Kind
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.ports import Cursor
from hikitsugi.forges.github import GitHubForge
from tests.forges.conftest import TOKEN
from tests.forges.payloads import HOME, Payload, comment, issue
from tests.forges.scripted_server import Reply, ScriptedServer

FIXED: dict[str, Any] = {"direction": "asc", "per_page": "100", "sort": "updated"}


async def start(forge: GitHubForge, server: ScriptedServer) -> Cursor:
    server.will_answer(Reply(200, []), Reply(200, []))
    sighting = await forge.look(HOME, None)
    server.asked.clear()
    return sighting.cursor


def lists(issues: list[Payload], comments: list[Payload]) -> tuple[Reply, Reply]:
    return Reply(200, issues, {"ETag": 'W/"issues"'}), Reply(200, comments, {"ETag": 'W/"comments"'})


@pytest.mark.req("CD-07", "TW-08")
async def test_the_first_look_tells_the_open_issues_and_no_comment(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(*lists([issue(7), issue(8, pull_request={"url": "x"})], [comment(1)]))
    sighting = await forge.look(HOME, None)
    assert [str(news.address) for news in sighting.news] == [
        "github:acme/shop/issues/7",
        "github:acme/shop/pull/8",
    ]
    assert [news.comments for news in sighting.news] == [(), ()]
    issues, comments = server.asked
    assert issues.query == {**FIXED, "state": "open"}
    assert comments.query == {**FIXED, "since": "2026-03-02T11:59:00Z"}


@pytest.mark.req("CD-07")
async def test_comments_of_the_first_look_are_not_news_later(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(*lists([], [comment(1)]), *lists([], [comment(1), comment(2)]))
    first = await forge.look(HOME, None)
    (news,) = (await forge.look(HOME, first.cursor)).news
    assert [told.id for told in news.comments] == ["2"]


@pytest.mark.req("TW-08", "CH-12")
async def test_news_are_grouped_by_issue_with_comments_in_order(forge: GitHubForge, server: ScriptedServer):
    cursor = await start(forge, server)
    server.will_answer(
        *lists(
            [issue(7, labels=["plain", {"name": "bug"}], state="closed")],
            [
                comment(3, at="2026-03-02T12:00:09Z", on="pull/8"),
                comment(5, at="2026-03-02T12:00:20Z"),
                {**comment(2, at="2026-03-02T12:00:10Z"), "updated_at": "2026-03-02T12:00:30Z"},
            ],
        )
    )
    seven, eight = (await forge.look(HOME, cursor)).news
    assert seven.issue is not None
    assert (seven.issue.labels, seven.issue.is_open, seven.issue.assignees) == (("plain", "bug"), False, ("bot",))
    assert [told.id for told in seven.comments] == ["2", "5"]
    assert (eight.issue, eight.address.kind, eight.comments[0].author_role) == (None, Kind.PULL_REQUEST, "MEMBER")


@pytest.mark.req("CD-04", "CH-12")
@pytest.mark.parametrize(("page", "kind"), [("pull/issues/7", Kind.ISSUE), ("pull/pull/7", Kind.PULL_REQUEST)])
async def test_a_repository_may_be_called_pull(forge: GitHubForge, server: ScriptedServer, page: str, kind: Kind):
    cursor = await start(forge, server)
    said = {**comment(1), "html_url": f"https://github.com/acme/{page}#issuecomment-1"}
    server.will_answer(*lists([], [said]))
    assert [news.address.kind for news in (await forge.look(HOME, cursor)).news] == [kind]


@pytest.mark.req("CD-10")
@pytest.mark.lesson("C4")
async def test_an_idle_look_is_two_questions_answered_with_unchanged(forge: GitHubForge, server: ScriptedServer):
    cursor = await start(forge, server)
    server.will_answer(*lists([], []), Reply(304), Reply(304))
    warm = await forge.look(HOME, cursor)
    idle = await forge.look(HOME, warm.cursor)
    assert idle.news == ()
    assert idle.cursor == warm.cursor
    warming, asked = server.asked[:2], server.asked[2:]
    assert [ask.headers["if-none-match"] for ask in asked] == ['W/"issues"', 'W/"comments"']
    assert [ask.query for ask in asked] == [ask.query for ask in warming]


@pytest.mark.lesson("C1", "C2")
async def test_a_failing_list_loses_nothing_and_replays_nothing(forge: GitHubForge, server: ScriptedServer):
    cursor = await start(forge, server)
    server.will_answer(Reply(200, [issue(7)]), Reply(502))
    with pytest.raises(TryAgainLater):
        await forge.look(HOME, cursor)
    server.will_answer(*lists([issue(7)], [comment(1)]))
    sighting = await forge.look(HOME, cursor)
    assert [told.id for news in sighting.news for told in news.comments] == ["1"]
    server.will_answer(*lists([], []), *lists([issue(7)], [comment(1)]))
    emptied = await forge.look(HOME, sighting.cursor)
    assert (await forge.look(HOME, emptied.cursor)).news == ()


@pytest.mark.req("CH-12")
@pytest.mark.lesson("C5", "C6")
async def test_a_full_page_is_read_on_by_time(forge: GitHubForge, server: ScriptedServer):
    cursor = await start(forge, server)
    full = [comment(n, at=f"2026-03-02T12:{n // 60:02}:{n % 60:02}Z") for n in range(1, 101)]
    server.will_answer(
        Reply(200, []), Reply(200, full), Reply(200, [full[-1], comment(101, at="2026-03-02T12:02:00Z")])
    )
    (news,) = (await forge.look(HOME, cursor)).news
    assert [told.id for told in news.comments] == [str(n) for n in range(1, 102)]
    assert server.asked[2].query == {**FIXED, "since": "2026-03-02T12:01:40Z"}


@pytest.mark.req("CH-12")
@pytest.mark.lesson("C5")
async def test_a_full_page_of_one_second_is_turned_by_number(forge: GitHubForge, server: ScriptedServer):
    cursor = await start(forge, server)
    full = [comment(n) for n in range(1, 101)]
    server.will_answer(Reply(200, []), Reply(200, full), Reply(200, [comment(101)]))
    (news,) = (await forge.look(HOME, cursor)).news
    assert len(news.comments) == 101
    assert server.asked[2].query == {**server.asked[1].query, "page": "2"}


@pytest.mark.req("CD-08")
async def test_a_malformed_entry_is_left_out_of_the_news(
    forge: GitHubForge, server: ScriptedServer, caplog: pytest.LogCaptureFixture
):
    cursor = await start(forge, server)
    server.will_answer(*lists([{"id": 5}], [{**comment(1), "issue_url": "nowhere"}, comment(2, author=None)]))
    (news,) = (await forge.look(HOME, cursor)).news
    assert [(told.id, told.author) for told in news.comments] == [("2", "ghost")]
    assert "IssuePayload with id 5" in caplog.text
    assert "CommentPayload with id 1: issue_url" in caplog.text


@pytest.mark.req("CH-05")
@pytest.mark.lesson("C8")
async def test_our_own_comments_are_known_by_name_and_a_borrowed_marker_hides_nobody(
    forge: GitHubForge, server: ScriptedServer
):
    cursor = await start(forge, server)
    borrowed = comment(2, "me too\n\n<!-- hikitsugi:x -->", author="ann")
    server.will_answer(*lists([], [comment(1, author="BOT"), borrowed]))
    (news,) = (await forge.look(HOME, cursor)).news
    assert [told.id for told in news.comments] == ["2"]


@pytest.mark.req("CH-05", "CD-06")
async def test_where_our_name_cannot_be_known_the_marker_decides(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
):
    async with aclosing(GitHubForge("github", server.url, SecretStr(TOKEN), None)) as forge:
        cursor = await start(forge, server)
        server.will_answer(Reply(403, {"message": "Resource not accessible by integration"}))
        ours = comment(1, "done\n\n<!-- hikitsugi:x -->", author="app[bot]")
        server.will_answer(*lists([], [ours, comment(2)]), *lists([], []))
        sighting = await forge.look(HOME, cursor)
        assert [told.id for news in sighting.news for told in news.comments] == ["2"]
        await forge.look(HOME, sighting.cursor)
    assert server.lines.count("GET /user") == 1
    assert "the hidden marker alone" in caplog.text
