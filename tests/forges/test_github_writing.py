"""Every writing verb: the fewest calls, and the same effect once or twice."""

from contextlib import aclosing

import pytest
from pydantic import SecretStr

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import NewChangeRequest
from hikitsugi.forges.github import GitHubForge
from hikitsugi.forges.github_payloads import RepositoryPayload
from tests.forges.conftest import TOKEN
from tests.forges.payloads import HOME, ISSUE, comment, pull
from tests.forges.scripted_server import Reply, ScriptedServer

COMMENTS = "/repos/acme/shop/issues/7/comments"
LABELS = "/repos/acme/shop/issues/7/labels"
PULLS = "/repos/acme/shop/pulls"
WANTED = NewChangeRequest(home=HOME, head="hikitsugi/issue-7", base="main", title="Fix", body="Closes #7")


async def test_a_comment_ends_with_its_marker(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(200, []), Reply(201, comment(9, "done", author="bot")))
    posted = await forge.post_comment(ISSUE, "done", "run-1/result")
    assert posted.id == "9"
    assert server.lines == [f"GET {COMMENTS}", f"POST {COMMENTS}"]
    assert server.asked[1].body == {"body": "done\n\n<!-- hikitsugi:run-1/result -->"}


@pytest.mark.req("CH-12")
async def test_a_comment_done_but_reported_as_failed_is_found_again(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(200, []), Reply(502, "<html>"))
    with pytest.raises(TryAgainLater):
        await forge.post_comment(ISSUE, "done", "k")
    server.will_answer(Reply(200, [comment(9, server.asked[1].body["body"], author="Bot")]))
    assert (await forge.post_comment(ISSUE, "done", "k")).id == "9"
    assert server.lines.count(f"POST {COMMENTS}") == 1


async def test_a_marker_of_somebody_else_or_in_the_middle_is_not_ours(forge: GitHubForge, server: ScriptedServer):
    mark = "<!-- hikitsugi:k -->"
    others = [comment(1, mark, author="ann"), comment(2, f"{mark}\nmore", author="bot"), comment(3, "", author="bot")]
    server.will_answer(Reply(200, others), Reply(201, comment(9)))
    assert (await forge.post_comment(ISSUE, "done", "k")).id == "9"


async def test_a_comment_too_long_for_github_is_cut_and_says_so(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(200, []), Reply(201, comment(9)))
    await forge.post_comment(ISSUE, "あ" * 70_000, "k")
    body: str = server.asked[1].body["body"]
    assert len(body) == 65_536
    assert "✂ 70,000 →" in body
    assert body.endswith("<!-- hikitsugi:k -->")


@pytest.mark.lesson("C17")
async def test_only_the_named_labels_change_and_only_where_needed(forge: GitHubForge, server: ScriptedServer):
    present = [{"name": name} for name in ("bug", "Processing", "待ち/x")]
    server.will_answer(Reply(200, present), Reply(404, {"message": "Label does not exist"}), Reply(200, []))
    await forge.change_labels(ISSUE, ["completed", "BUG"], ["待ち/x", "failed", "bug"])
    assert server.lines == [
        f"GET {LABELS}",
        f"DELETE {LABELS}/%E5%BE%85%E3%81%A1%2Fx",
        f"POST {LABELS}",
    ]
    assert server.asked[2].body == {"labels": ["completed"]}


async def test_labels_that_are_right_cost_one_call(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(200, [{"name": "completed"}]))
    await forge.change_labels(ISSUE, ["completed"], ["processing"])
    assert server.lines == [f"GET {LABELS}"]


async def test_a_pull_request_that_is_there_is_left_as_it_is(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(200, [pull(3, "other"), pull(4, WANTED.head, draft=True)]))
    found = await forge.open_change_request(WANTED)
    assert (found.number, found.is_draft, found.base) == (4, True, "main")
    assert server.asked[0].query["head"] == "acme:hikitsugi/issue-7"
    assert len(server.asked) == 1


async def test_a_pull_request_opened_but_reported_as_failed_is_found_again(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(200, []), Reply(504), Reply(200, [pull(4, WANTED.head)]))
    with pytest.raises(TryAgainLater):
        await forge.open_change_request(WANTED)
    assert (await forge.open_change_request(WANTED)).number == 4
    assert server.lines.count(f"POST {PULLS}") == 1


async def test_labels_changed_but_reported_as_failed_are_not_changed_again(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(200, [{"name": "old"}]), Reply(200, []), Reply(502))
    with pytest.raises(TryAgainLater):
        await forge.change_labels(ISSUE, ["new"], ["old"])
    server.will_answer(Reply(200, [{"name": "new"}]))
    await forge.change_labels(ISSUE, ["new"], ["old"])
    assert server.lines.count(f"POST {LABELS}") == 1


async def test_a_pull_request_that_appears_meanwhile_is_taken(forge: GitHubForge, server: ScriptedServer):
    exists = {"message": "Validation Failed", "errors": [{"message": "A pull request already exists for acme:x."}]}
    server.will_answer(Reply(200, []), Reply(422, exists), Reply(200, [pull(4, WANTED.head)]))
    assert (await forge.open_change_request(WANTED)).number == 4
    assert server.lines == [f"GET {PULLS}", f"POST {PULLS}", f"GET {PULLS}"]


async def test_a_pull_request_github_refuses_will_never_work(forge: GitHubForge, server: ScriptedServer):
    refusal = {"message": "Validation Failed", "errors": [{"message": "No commits between main and x"}]}
    server.will_answer(Reply(200, []), Reply(422, refusal), Reply(200, []))
    with pytest.raises(WillNeverWork, match="No commits between main and x"):
        await forge.open_change_request(WANTED)


@pytest.mark.parametrize("reply", [Reply(500), Reply(403, {"message": "no"}), Reply(404, {"message": "Not Found"})])
async def test_a_reaction_that_fails_is_logged_and_stops_nothing(
    forge: GitHubForge, server: ScriptedServer, caplog: pytest.LogCaptureFixture, reply: Reply
):
    server.will_answer(reply)
    await forge.acknowledge(ISSUE, "12")
    assert server.asked[0].body == {"content": "eyes"}
    assert "comment 12 of github:acme/shop/issues/7 got no 👀" in caplog.text


async def test_an_operators_words_are_not_looked_up_on_the_forge(forge: GitHubForge, server: ScriptedServer):
    await forge.acknowledge(ISSUE, "operator:1f0c")
    assert server.asked == []


@pytest.mark.parametrize(
    ("reply", "may"),
    [
        (Reply(200, {"permission": "admin", "role_name": "admin"}), True),
        (Reply(200, {"permission": "write", "role_name": "maintain"}), True),
        (Reply(200, {"permission": "write"}), True),
        (Reply(200, {"permission": "read", "role_name": "triage"}), False),
        (Reply(404, {"message": "Not Found"}), False),
        (Reply(403, {"message": "Must have push access to view collaborator permission."}), False),
    ],
)
async def test_who_maintains_the_repository(forge: GitHubForge, server: ScriptedServer, reply: Reply, *, may: bool):
    server.will_answer(reply)
    assert await forge.may_write(HOME, "app[bot]") is may
    assert server.lines == ["GET /repos/acme/shop/collaborators/app%5Bbot%5D/permission"]


@pytest.mark.req("TW-04")
async def test_a_permission_that_is_limited_now_is_asked_again_later(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(429))
    with pytest.raises(TryAgainLater):
        await forge.may_write(HOME, "ann")


@pytest.mark.req("CD-06")
async def test_our_name_is_asked_once(server: ScriptedServer):
    async with aclosing(GitHubForge("github", server.url, SecretStr(TOKEN), None)) as forge:
        server.will_answer(Reply(200, {"login": "robot"}))
        assert [await forge.whoami(), await forge.whoami()] == ["robot", "robot"]
    assert server.lines == ["GET /user"]


@pytest.mark.req("OP-05")
async def test_git_goes_where_the_repository_says_with_the_token(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(200, {"clone_url": f"{server.url}/acme/shop.git", "default_branch": "trunk"}))
    remote = await forge.git_remote(HOME)
    assert (remote.url, remote.username, remote.default_branch) == (
        f"{server.url}/acme/shop.git",
        "x-access-token",
        "trunk",
    )
    assert TOKEN not in repr(remote)


@pytest.mark.req("OP-05")
def test_the_token_does_not_leave_a_forge_asked_by_tls_without_it():
    repository = RepositoryPayload(clone_url="http://elsewhere/acme/shop.git", default_branch="main")
    with pytest.raises(WillNeverWork, match="no https address"):
        repository.git_remote("https://api.github.com", SecretStr(TOKEN))


@pytest.mark.parametrize(
    ("kind", "error", "says"),
    [
        ("NOT_FOUND", WillNeverWork, "knows no pull request"),
        ("RATE_LIMITED", TryAgainLater, "limits our requests"),
    ],
)
async def test_graphql_says_no_with_200(
    forge: GitHubForge, server: ScriptedServer, kind: str, error: type[Exception], says: str
):
    refusal = {"data": None, "errors": [{"type": kind, "message": "not now"}]}
    server.will_answer(Reply(200, pull(4, "x")), Reply(200, refusal))
    with pytest.raises(error, match=says):
        await forge.set_draft(HOME, 4, draft=True)
    assert server.lines == [f"GET {PULLS}/4", "POST /graphql"]
    assert server.asked[1].body["variables"] == {"id": "PR_4"}


@pytest.mark.parametrize("kind", ["FORBIDDEN", "UNPROCESSABLE"])
async def test_a_pull_request_that_may_not_leave_draft_stays_one(forge: GitHubForge, server: ScriptedServer, kind: str):
    refusal = {"data": None, "errors": [{"type": kind, "message": "not now"}]}
    server.will_answer(Reply(200, pull(4, "x", draft=True)), Reply(200, refusal))
    assert (await forge.set_draft(HOME, 4, draft=False)).is_draft


async def test_graphql_lies_beside_the_api_of_an_enterprise_server(server: ScriptedServer):
    server.will_answer(Reply(200, pull(4, "x", draft=True)), Reply(200, {"data": {}}))
    async with aclosing(GitHubForge("ghe", f"{server.url}/api/v3", SecretStr(TOKEN), None)) as forge:
        changed = await forge.set_draft(HOME, 4, draft=False)
    assert not changed.is_draft
    assert server.lines == [f"GET /api/v3{PULLS}/4", "POST /api/graphql"]


async def test_a_branch_that_appears_meanwhile_is_taken(forge: GitHubForge, server: ScriptedServer):
    ref = {"ref": "refs/heads/main", "object": {"sha": "a" * 40}}
    exists = Reply(422, {"message": "Reference already exists"})
    refused = Reply(422, {"message": "Object does not exist"})
    missing = Reply(404, {"message": "Not Found"})
    server.will_answer(Reply(200, ref), exists)
    await forge.ensure_branch(HOME, "agent/x", "main")
    assert server.asked[1].body == {"ref": "refs/heads/agent/x", "sha": "a" * 40}
    server.will_answer(refused, Reply(200, ref))
    await forge.ensure_branch(HOME, "agent/x", "b" * 40)
    server.will_answer(refused, missing)
    with pytest.raises(WillNeverWork, match="Object does not exist"):
        await forge.ensure_branch(HOME, "agent/x", "b" * 40)
