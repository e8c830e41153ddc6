"""Every writing verb on GitLab: the fewest calls, and the same effect once or twice."""

import pytest
from pydantic import SecretStr

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import NewChangeRequest
from hikitsugi.forges.gitlab import GitLabForge
from hikitsugi.forges.gitlab_payloads import ProjectPayload
from tests.forges.conftest import TOKEN
from tests.forges.gitlab_payloads import DATE, HOME, ISSUE, NOTES, PROJECT, note, noteable, request, user
from tests.forges.scripted_server import Reply, ScriptedServer

REQUESTS = f"{PROJECT}/merge_requests"
WANTED = NewChangeRequest(home=HOME, head="hikitsugi/issue-7", base="main", title="Fix", body="Closes #7\n/merge")


async def test_a_comment_ends_with_its_marker_and_gives_no_orders(gitlab: GitLabForge, server: ScriptedServer):
    server.will_answer(Reply(200, []), Reply(201, note(9, "done", author="bot")))
    posted = await gitlab.post_comment(ISSUE, "/close\nsee /tmp\n/usr/bin/env", "run-1/result")
    assert (posted.id, posted.url) == ("9", f"{server.url}/acme/web/shop/-/issues/7#note_9")
    assert server.lines == [f"GET {NOTES}", f"POST {NOTES}"]
    assert server.asked[1].body == {"body": "\\/close\nsee /tmp\n/usr/bin/env\n\n<!-- hikitsugi:run-1/result -->"}


async def test_a_marker_of_somebody_else_or_of_the_system_is_not_ours(gitlab: GitLabForge, server: ScriptedServer):
    mark = "<!-- hikitsugi:k -->"
    others = [note(1, mark), note(2, f"{mark}\nmore", author="bot"), note(3, mark, author="bot", system=True)]
    server.will_answer(Reply(200, others), Reply(201, note(9)))
    assert (await gitlab.post_comment(ISSUE, "done", "k")).id == "9"


async def test_an_earlier_attempt_is_looked_for_no_longer_than_a_week_back(gitlab: GitLabForge, server: ScriptedServer):
    old = [note(n, author="bot", at="2020-01-01T00:00:00.000Z") for n in range(100, 0, -1)]
    server.will_answer(Reply(200, old, {"X-Next-Page": "2"}), Reply(201, note(200)))
    await gitlab.post_comment(ISSUE, "done", "k")
    assert server.lines == [f"GET {NOTES}", f"POST {NOTES}"]


@pytest.mark.req("CH-12")
async def test_a_note_taken_back_while_pages_are_read_hides_none(gitlab: GitLabForge, server: ScriptedServer):
    ours = note(1, "done\n\n<!-- hikitsugi:k -->", author="bot", at="2099-01-01T00:00:00.000Z")
    many = [note(n, at="2099-01-01T00:00:00.000Z") for n in range(200, 100, -1)]
    server.will_answer(
        Reply(200, many, {"X-Next-Page": "2", "X-Total": "101"}),
        Reply(200, [], {"X-Next-Page": "", "X-Total": "100"}),
        Reply(200, [*many[1:], ours], {"X-Next-Page": "", "X-Total": "100"}),
    )
    assert (await gitlab.post_comment(ISSUE, "done", "k")).id == "1"
    assert [asked.query["page"] for asked in server.asked] == ["1", "2", "1"]


@pytest.mark.lesson("C17")
async def test_labels_come_and_go_in_one_call(gitlab: GitLabForge, server: ScriptedServer):
    server.will_answer(Reply(200, noteable(7)))
    await gitlab.change_labels(ISSUE, ["completed", "both"], ["processing", "待ち", "both"])
    assert server.lines == [f"PUT {PROJECT}/issues/7"]
    assert server.asked[0].body == {"add_labels": "completed,both", "remove_labels": "processing,待ち"}


async def test_no_labels_are_no_call(gitlab: GitLabForge, server: ScriptedServer):
    await gitlab.change_labels(ISSUE, [], [])
    assert server.asked == []


async def test_a_merge_request_that_is_there_is_left_as_it_is(gitlab: GitLabForge, server: ScriptedServer):
    from_fork = request(3, WANTED.head, source_project_id=2)
    server.will_answer(Reply(200, [from_fork, request(4, WANTED.head, draft=True)]))
    found = await gitlab.open_change_request(WANTED)
    assert (found.number, found.is_draft, found.base) == (4, True, "main")
    assert server.asked[0].query["source_branch"] == "hikitsugi/issue-7"
    assert len(server.asked) == 1


async def test_a_merge_request_that_appears_meanwhile_is_taken(gitlab: GitLabForge, server: ScriptedServer):
    exists = {"message": ["Another open merge request already exists for this source branch: !4"]}
    server.will_answer(Reply(200, []), Reply(409, exists), Reply(200, [request(4, WANTED.head)]))
    assert (await gitlab.open_change_request(WANTED)).number == 4
    assert server.lines == [f"GET {REQUESTS}", f"POST {REQUESTS}", f"GET {REQUESTS}"]
    assert server.asked[1].body == {
        "title": "Fix",
        "source_branch": "hikitsugi/issue-7",
        "target_branch": "main",
        "description": "Closes #7\n\\/merge",
        "remove_source_branch": False,
    }


async def test_a_conflict_without_a_merge_request_will_never_work(gitlab: GitLabForge, server: ScriptedServer):
    server.will_answer(Reply(200, []), Reply(409, {"message": ["odd"]}), Reply(200, []))
    with pytest.raises(WillNeverWork, match="odd"):
        await gitlab.open_change_request(WANTED)


@pytest.mark.parametrize(
    ("replies", "may"),
    [
        ([Reply(200, [user("ann")]), Reply(200, {"access_level": 50})], True),
        ([Reply(200, [user("ann")]), Reply(200, {"access_level": 30})], True),
        ([Reply(200, [user("ann")]), Reply(200, {"access_level": 20})], False),
        ([Reply(200, [user("ann")]), Reply(404, {"message": "404 Not found"})], False),
        ([Reply(200, [user("ann")]), Reply(403, {"message": "403 Forbidden"})], False),
        ([Reply(200, [])], False),
    ],
)
async def test_who_maintains_the_project(
    gitlab: GitLabForge, server: ScriptedServer, replies: list[Reply], *, may: bool
):
    server.will_answer(*replies)
    assert await gitlab.may_write(HOME, "ann") is may
    assert server.asked[0].query == {"username": "ann"}
    assert server.lines[1:] == [f"GET {PROJECT}/members/all/3"] * (len(replies) - 1)


@pytest.mark.req("TW-04")
async def test_a_permission_that_is_limited_now_is_asked_again_later(gitlab: GitLabForge, server: ScriptedServer):
    server.will_answer(Reply(429))
    with pytest.raises(TryAgainLater):
        await gitlab.may_write(HOME, "ann")


@pytest.mark.parametrize("told", ["404 Award Emoji Name has already been taken Not Found", "404 Not found"])
async def test_an_emoji_that_is_there_is_fine_and_a_note_that_is_gone_is_logged(
    gitlab: GitLabForge, server: ScriptedServer, caplog: pytest.LogCaptureFixture, told: str
):
    server.will_answer(Reply(404, {"message": told}))
    await gitlab.acknowledge(ISSUE, "12")
    assert server.lines == [f"POST {NOTES}/12/award_emoji"]
    assert ("got no 👀" in caplog.text) is ("taken" not in told)


@pytest.mark.req("CD-04")
@pytest.mark.lesson("C7")
async def test_a_system_note_is_no_comment(gitlab: GitLabForge, server: ScriptedServer):
    server.will_answer(Reply(200, note(12, system=True)))
    assert await gitlab.read_comment(ISSUE, "12") is None


async def test_a_draft_with_an_old_prefix_becomes_ready(gitlab: GitLabForge, server: ScriptedServer):
    server.will_answer(Reply(200, request(4, "x", title="[Draft] WIP: Fix", draft=True)), Reply(200, request(4, "x")))
    await gitlab.set_draft(HOME, 4, draft=False)
    assert server.asked[1].body == {"title": "Fix"}


async def test_git_goes_where_the_project_says_with_the_token(gitlab: GitLabForge, server: ScriptedServer):
    there = {"path_with_namespace": "acme/web/shop", "http_url_to_repo": f"{server.url}/acme/web/shop.git"}
    server.will_answer(Reply(200, {**there, "default_branch": "trunk"}), Reply(200, {**there, "default_branch": None}))
    remote = await gitlab.git_remote(HOME)
    assert (remote.url, remote.username, remote.default_branch) == (there["http_url_to_repo"], "oauth2", "trunk")
    assert TOKEN not in repr(remote)
    with pytest.raises(WillNeverWork, match="has no branch yet"):
        await gitlab.git_remote(HOME)


@pytest.mark.req("OP-05")
def test_the_token_does_not_leave_a_forge_asked_by_tls_without_it():
    project = ProjectPayload(path_with_namespace="a/b", http_url_to_repo="http://x/a/b.git", default_branch="main")
    with pytest.raises(WillNeverWork, match="no https address"):
        project.git_remote("https://gitlab.com", "oauth2", SecretStr(TOKEN))


async def test_an_issue_of_somebody_who_is_gone_is_read(gitlab: GitLabForge, server: ScriptedServer):
    server.will_answer(Reply(200, noteable(7, author=None, assignees=None, state="closed", description="text")))
    issue = await gitlab.read_issue(ISSUE)
    assert (issue.author, issue.assignees, issue.is_open, issue.body) == ("ghost", (), False, "text")
    assert issue.updated_at.isoformat(timespec="milliseconds").replace("+00:00", "Z") == DATE
