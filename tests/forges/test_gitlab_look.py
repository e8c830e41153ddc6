"""What a look over a GitLab project asks for, and what it makes of the answers."""

import json
from contextlib import aclosing
from typing import Any

import pytest
from pydantic import SecretStr

from hikitsugi.domain.address import IssueAddress, Kind
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import IssueNews
from hikitsugi.domain.ports import Cursor
from hikitsugi.forges.gitlab import GitLabForge
from tests.forges.conftest import TOKEN
from tests.forges.gitlab_payloads import HOME, NOTES, PROJECT, Payload, note, noteable
from tests.forges.scripted_server import Reply, ScriptedServer

ISSUES, REQUESTS = f"GET {PROJECT}/issues", f"GET {PROJECT}/merge_requests"
FIXED: dict[str, Any] = {"order_by": "updated_at", "sort": "asc", "per_page": "100"}
LATEST: dict[str, Any] = {"order_by": "updated_at", "sort": "desc", "activity_filter": "only_comments"}
NONE = Reply(200, [])
SECONDS_LATER = {"Date": "Mon, 02 Mar 2026 12:00:30 GMT"}
MINUTES_LATER = {"Date": "Mon, 02 Mar 2026 12:02:00 GMT"}


def listed(*entries: Payload, at: dict[str, str] | None = None) -> Reply:
    return Reply(200, list(entries), {"X-Next-Page": "", **(at or {})})


def ids(news: tuple[IssueNews, ...]) -> list[str]:
    return [comment.id for issue in news for comment in issue.comments]


async def start(forge: GitLabForge, server: ScriptedServer, *entries: Payload) -> Cursor:
    server.will_answer(listed(*entries), listed(*entries), NONE, NONE)
    sighting = await forge.look(HOME, None)
    server.asked.clear()
    return sighting.cursor


@pytest.mark.req("CD-07", "TW-08")
async def test_the_first_look_tells_what_is_open_and_no_comment(gitlab: GitLabForge, server: ScriptedServer):
    seven, closed = noteable(7, notes=1), noteable(8, notes=1, state="closed")
    server.will_answer(listed(seven), listed(seven, closed), listed(note(1)), listed(note(2)))
    server.will_answer(listed(noteable(7)), NONE)
    sighting = await gitlab.look(HOME, None)
    assert [str(news.address) for news in sighting.news] == [
        "gitlab:acme/web/shop/issues/7",
        "gitlab:acme/web/shop/merge_requests/7",
    ]
    assert ids(sighting.news) == []
    opened, recent, *_ = server.asked
    assert opened.query == {**FIXED, "state": "opened"}
    assert recent.query == {**FIXED, "state": "all", "updated_after": "2026-03-02T11:58:00.000+00:00"}
    server.will_answer(listed(seven, closed), NONE)
    assert (await gitlab.look(HOME, sighting.cursor)).news == ()


@pytest.mark.req("TW-08", "CH-12")
async def test_an_idle_look_is_two_questions_and_leaves_the_cursor_as_it_is(
    gitlab: GitLabForge, server: ScriptedServer
):
    cursor = await start(gitlab, server, noteable(7))
    server.will_answer(listed(noteable(7)), NONE)
    idle = await gitlab.look(HOME, json.loads(json.dumps(cursor)))
    assert server.lines == [ISSUES, REQUESTS]
    assert (idle.news, idle.cursor) == ((), cursor)


@pytest.mark.req("CH-12")
async def test_a_note_that_moved_no_time_is_found_by_the_count(gitlab: GitLabForge, server: ScriptedServer):
    cursor = await start(gitlab, server, noteable(7))
    later = note(1, at="2026-03-02T12:00:20.500Z")
    server.will_answer(listed(noteable(7, notes=1)), listed(later), NONE)
    sighting = await gitlab.look(HOME, cursor)
    assert ids(sighting.news) == ["1"]
    assert server.lines == [ISSUES, f"GET {NOTES}", REQUESTS]
    assert server.asked[1].query == {**LATEST, "per_page": "100", "page": "1"}


@pytest.mark.lesson("C3")
async def test_where_somebody_has_just_spoken_an_edit_is_seen_at_the_next_look(
    gitlab: GitLabForge, server: ScriptedServer
):
    cursor = await start(gitlab, server, noteable(7))
    spoken = noteable(7, notes=1)
    edited = {**note(1, "hello!", at="2026-03-02T12:00:10.000Z"), "updated_at": "2026-03-02T12:00:20.000Z"}
    server.will_answer(listed(spoken), listed(note(1, at="2026-03-02T12:00:10.000Z")), NONE)
    first = await gitlab.look(HOME, cursor)
    server.will_answer(listed(spoken, at=SECONDS_LATER), listed(edited), NONE)
    (news,) = (await gitlab.look(HOME, first.cursor)).news
    assert [comment.body for comment in news.comments] == ["hello!"]


@pytest.mark.lesson("C3")
async def test_an_edit_without_a_trace_is_found_when_the_minute_is_over(gitlab: GitLabForge, server: ScriptedServer):
    labelled = noteable(7, notes=1, labels=["new"], at="2026-03-02T12:00:05.000Z")
    old, edited = note(1, at="2026-03-01T12:00:00.000Z"), note(1, "now", at="2026-03-02T12:00:40.000Z")
    cursor = await start(gitlab, server, noteable(7, at="2026-03-01T12:00:00.000Z"))
    server.will_answer(listed(labelled), listed(old), NONE)
    cursor = (await gitlab.look(HOME, cursor)).cursor
    server.will_answer(listed(labelled, at=SECONDS_LATER), NONE)
    cursor = (await gitlab.look(HOME, cursor)).cursor
    server.will_answer(listed(labelled, at=MINUTES_LATER), listed(edited), NONE)
    sighting = await gitlab.look(HOME, cursor)
    assert ids(sighting.news) == ["1"]
    server.will_answer(listed(labelled, at=MINUTES_LATER), NONE)
    assert (await gitlab.look(HOME, sighting.cursor)).news == ()


@pytest.mark.lesson("C5", "C7")
async def test_pages_of_notes_are_read_back_to_what_is_known_and_system_notes_are_left_out(
    gitlab: GitLabForge, server: ScriptedServer
):
    cursor = await start(gitlab, server, noteable(7))
    new = [note(n, at=f"2026-03-02T12:00:01.{n:03}Z", system=n % 50 == 0) for n in range(150, 0, -1)]
    old = [note(1000 + n, at="2026-03-01T00:00:00.000Z") for n in range(50)]
    server.will_answer(
        listed(noteable(7, notes=147)),
        Reply(200, new[:100], {"X-Next-Page": "2"}),
        Reply(200, [*new[100:], *old], {"X-Next-Page": "3"}),
        NONE,
    )
    sighting = await gitlab.look(HOME, cursor)
    assert ids(sighting.news) == [str(n) for n in range(1, 151) if n % 50]
    assert len(server.asked) == 4


@pytest.mark.req("CH-04", "CD-04")
@pytest.mark.parametrize("flag", ["internal", "confidential"])
async def test_what_is_said_among_members_only_is_not_heard(gitlab: GitLabForge, server: ScriptedServer, flag: str):
    cursor = await start(gitlab, server, noteable(7))
    secret = {**note(5, "The customer is ACME."), flag: True}
    server.will_answer(listed(noteable(7, notes=2)), listed(secret, {**note(6), flag: False}), NONE)
    assert ids((await gitlab.look(HOME, cursor)).news) == ["6"]
    issue = IssueAddress(**HOME.model_dump(), number=7)
    server.will_answer(listed(secret, note(6)), Reply(200, secret))
    assert [comment.id for comment in await gitlab.read_comments(issue)] == ["6"]
    assert await gitlab.read_comment(issue, "5") is None


@pytest.mark.req("CD-04")
async def test_merge_requests_are_looked_at_in_the_same_way(gitlab: GitLabForge, server: ScriptedServer):
    cursor = await start(gitlab, server)
    server.will_answer(NONE, listed(noteable(3, notes=1)), listed(note(5)))
    (news,) = (await gitlab.look(HOME, cursor)).news
    assert (news.address.kind, news.address.number, ids((news,))) == (Kind.MERGE_REQUEST, 3, ["5"])
    assert news.comments[0].url == f"{server.url}/acme/web/shop/-/merge_requests/3#note_5"
    assert server.lines[2] == f"GET {PROJECT}/merge_requests/3/notes"


async def test_a_project_without_merge_requests_is_watched_all_the_same(gitlab: GitLabForge, server: ScriptedServer):
    forbidden = Reply(403, {"message": "403 Forbidden"})
    server.will_answer(listed(noteable(7)), NONE, forbidden, forbidden)
    sighting = await gitlab.look(HOME, None)
    assert [news.address.number for news in sighting.news] == [7]
    server.will_answer(forbidden)
    with pytest.raises(WillNeverWork, match="lacks the permission"):
        await gitlab.look(HOME, sighting.cursor)


async def test_an_issue_deleted_meanwhile_stops_nothing(gitlab: GitLabForge, server: ScriptedServer):
    cursor = await start(gitlab, server)
    gone = Reply(404, {"message": "404 Not found"})
    server.will_answer(listed(noteable(7, notes=1), noteable(8, notes=1)), gone, listed(note(4)), NONE)
    assert ids((await gitlab.look(HOME, cursor)).news) == ["4"]


@pytest.mark.lesson("C1", "C2")
async def test_a_failing_call_loses_nothing_and_an_empty_answer_replays_nothing(
    gitlab: GitLabForge, server: ScriptedServer
):
    cursor = await start(gitlab, server)
    server.will_answer(listed(noteable(7, notes=1)), Reply(502))
    with pytest.raises(TryAgainLater):
        await gitlab.look(HOME, cursor)
    server.will_answer(listed(noteable(7, notes=1)), listed(note(1)), NONE)
    sighting = await gitlab.look(HOME, cursor)
    assert ids(sighting.news) == ["1"]
    server.will_answer(NONE, NONE, NONE)
    emptied = await gitlab.look(HOME, sighting.cursor)
    server.will_answer(listed(noteable(7, notes=1)), listed(note(1)), NONE)
    assert ids((await gitlab.look(HOME, emptied.cursor)).news) == []


@pytest.mark.req("CH-05")
@pytest.mark.lesson("C8")
async def test_our_own_comments_are_known_by_name_and_a_borrowed_marker_hides_nobody(
    gitlab: GitLabForge, server: ScriptedServer
):
    cursor = await start(gitlab, server)
    borrowed = note(2, "me too\n\n<!-- hikitsugi:x -->")
    server.will_answer(listed(noteable(7, notes=2)), listed(borrowed, note(1, author="BOT")), NONE)
    assert ids((await gitlab.look(HOME, cursor)).news) == ["2"]


@pytest.mark.req("CH-05", "CD-06")
async def test_where_our_name_cannot_be_known_the_marker_decides(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
):
    async with aclosing(GitLabForge("gitlab", server.url, SecretStr(TOKEN), None)) as forge:
        cursor = await start(forge, server)
        server.will_answer(Reply(403, {"error": "insufficient_scope"}))
        ours = note(1, "done\n\n<!-- hikitsugi:x -->", author="app")
        server.will_answer(listed(noteable(7, notes=2)), listed(note(2), ours), NONE)
        assert ids((await forge.look(HOME, cursor)).news) == ["2"]
    assert "the hidden marker alone" in caplog.text


async def test_what_must_be_remembered_does_not_grow_with_what_is_open(gitlab: GitLabForge, server: ScriptedServer):
    old = [noteable(n, notes=5, at=f"2026-03-01T12:00:{n // 10:02}.{n % 10}00Z") for n in range(1, 90)]
    server.will_answer(listed(*old), listed(noteable(99)), NONE, NONE)
    sighting = await gitlab.look(HOME, None)
    assert len(sighting.news) == 90
    assert len(json.dumps(sighting.cursor)) < 500
