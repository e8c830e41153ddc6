"""What becomes of everything a GitLab server can answer or fail to answer."""

import socket
import threading
from contextlib import aclosing
from datetime import timedelta

import pytest
from pydantic import SecretStr

from hikitsugi.domain.address import Kind
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.forges import client
from hikitsugi.forges.gitlab import GitLabForge
from tests.forges.conftest import TOKEN
from tests.forges.gitlab_payloads import HOME, ISSUE, PROJECT, note, noteable
from tests.forges.scripted_server import Reply, ScriptedServer

NOON = 1772452800  # the scripted server's clock


@pytest.mark.req("TW-04")
@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(401, {"message": "401 Unauthorized"}), "check forges[].token"),
        (
            Reply(403, {"error": "insufficient_scope", "error_description": "needs api"}),
            "insufficient_scope; needs api",
        ),
        (Reply(404, {"message": "404 Project Not Found"}), "acme/web/shop#7"),
        (Reply(400, {"message": {"title": ["is too long", "is odd"]}}), "title is too long, is odd"),
        (Reply(409, {"message": ["Another one exists"]}), "Another one exists"),
        (Reply(301, None, {"Location": "http://127.0.0.1:1/elsewhere"}), "has moved"),
        (Reply(418, "<html>"), "with 418"),
        (Reply(400, ["odd"]), "with 400"),
    ],
)
async def test_a_refusal_will_never_work_and_says_what_to_do(
    gitlab: GitLabForge, server: ScriptedServer, reply: Reply, says: str
):
    server.will_answer(reply)
    with pytest.raises(WillNeverWork) as refused:
        await gitlab.read_issue(ISSUE)
    assert says in str(refused.value)
    assert len(server.asked) == 1


async def test_a_merge_request_is_named_as_people_write_it(gitlab: GitLabForge, server: ScriptedServer):
    server.will_answer(Reply(404, {"message": "404 Not found"}))
    with pytest.raises(WillNeverWork, match="acme/web/shop!7"):
        await gitlab.read_issue(ISSUE.model_copy(update={"kind": Kind.MERGE_REQUEST}))


@pytest.mark.req("CD-10")
@pytest.mark.parametrize(
    ("reply", "after"),
    [
        (Reply(429, "Retry later\n", {"Retry-After": "17", "RateLimit-Reset": str(NOON + 90)}), 17),
        (Reply(429, "Retry later\n", {"Retry-After": "0"}), 0),
        (Reply(429, "Retry later\n", {"RateLimit-Reset": str(NOON + 90)}), 91),
        (Reply(429, {"message": "This endpoint has been requested too many times."}), 60),
    ],
)
async def test_a_limit_tells_how_long_to_wait_and_nothing_sleeps(
    gitlab: GitLabForge, server: ScriptedServer, reply: Reply, after: int
):
    server.will_answer(reply)
    with pytest.raises(TryAgainLater, match="limits our requests") as limited:
        await gitlab.post_comment(ISSUE, "hello", "k")
    assert limited.value.after == timedelta(seconds=after)
    assert len(server.asked) == 1


@pytest.mark.req("TW-04", "CD-08")
@pytest.mark.parametrize(
    "reply",
    [
        Reply(500, {"message": "500 Internal Server Error"}),
        Reply(502, "<html>Bad Gateway</html>"),
        Reply(202, {}),
        Reply(409, {"message": "409 Conflict: Resource lock"}),
        Reply(200, noteable(7), half=True),
        Reply(200, '{"id": 1, "ii'),
        Reply(200, ""),
        Reply(200, "<html>login</html>"),
        Reply(200, {"id": 7}),
        Reply(204),
    ],
)
async def test_a_passing_fault_may_work_later_and_is_not_retried_inside(
    gitlab: GitLabForge, server: ScriptedServer, reply: Reply
):
    server.will_answer(reply)
    with pytest.raises(TryAgainLater):
        await gitlab.read_issue(ISSUE)
    assert len(server.asked) == 1


@pytest.mark.req("TW-04")
async def test_an_unavailable_server_that_says_when_is_believed(gitlab: GitLabForge, server: ScriptedServer):
    server.will_answer(Reply(503, {"message": "Unavailable"}, {"Retry-After": "30"}))
    with pytest.raises(TryAgainLater) as later:
        await gitlab.read_issue(ISSUE)
    assert later.value.after == timedelta(seconds=30)


@pytest.mark.req("TW-04")
async def test_a_refused_connection_names_the_address():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        async with aclosing(GitLabForge("gitlab", url, SecretStr(TOKEN), None)) as forge:
            with pytest.raises(TryAgainLater, match=f"{url} cannot be reached .connection refused."):
                await forge.look(HOME, None)


@pytest.mark.req("TW-04")
async def test_a_server_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch, server: ScriptedServer):
    monkeypatch.setattr(client, "TIMEOUT_SECONDS", 1)
    gate = threading.Event()
    server.will_answer(Reply(200, noteable(7), gate=gate))
    async with aclosing(GitLabForge("gitlab", server.url, SecretStr(TOKEN), None)) as forge:
        with pytest.raises(TryAgainLater, match="did not answer within"):
            await forge.read_issue(ISSUE)
    gate.set()


@pytest.mark.req("OP-05")
async def test_an_error_never_shows_the_token(gitlab: GitLabForge, server: ScriptedServer):
    server.will_answer(Reply(200, []), Reply(400, {"message": f"token {TOKEN} is odd"}))
    with pytest.raises(WillNeverWork, match=r"token \*\*\* is odd"):
        await gitlab.post_comment(ISSUE, "hello", "k")
    assert server.asked[0].headers["private-token"] == TOKEN


@pytest.mark.req("TW-04")
def test_a_forge_without_a_token_is_refused_at_once():
    with pytest.raises(WillNeverWork, match=r"set forges\[\]\.token"):
        GitLabForge("gitlab", "https://gitlab.com", SecretStr(""), None)


@pytest.mark.parametrize("below", ["", "/", "/api/v4", "/api/v4/"])
async def test_the_address_is_taken_with_and_without_the_api(server: ScriptedServer, below: str):
    server.will_answer(Reply(200, noteable(7)))
    async with aclosing(GitLabForge("gitlab", f"{server.url}{below}", SecretStr(TOKEN), None)) as forge:
        await forge.read_issue(ISSUE)
    assert server.lines == [f"GET {PROJECT}/issues/7"]


@pytest.mark.req("CD-06")
async def test_a_job_token_goes_in_its_own_header_and_asks_the_job_whose_it_is(server: ScriptedServer):
    server.will_answer(Reply(200, {"id": 1, "user": {"id": 2, "username": "robot"}}))
    server.will_answer(
        Reply(200, {"path_with_namespace": "a/b", "http_url_to_repo": "http://x", "default_branch": "m"})
    )
    async with aclosing(GitLabForge("gitlab", server.url, SecretStr("glcbt-64_x"), None)) as forge:
        assert await forge.whoami() == "robot"
        assert (await forge.git_remote(HOME)).username == "gitlab-ci-token"
    assert server.lines == ["GET /api/v4/job", f"GET {PROJECT}"]
    assert server.asked[0].headers["job-token"] == "glcbt-64_x"
    assert "private-token" not in server.asked[0].headers


@pytest.mark.req("CD-08")
async def test_a_malformed_note_is_left_out_and_the_others_go_on(
    gitlab: GitLabForge, server: ScriptedServer, caplog: pytest.LogCaptureFixture
):
    secret = {**note(2), "updated_at": "private words"}
    server.will_answer(Reply(200, [note(1), secret, None, note(3, author=None)]))
    comments = await gitlab.read_comments(ISSUE)
    assert [(read.id, read.author) for read in comments] == [("1", "ann"), ("3", "ghost")]
    assert "malformed NotePayload with id 2: updated_at" in caplog.text
    assert "private words" not in caplog.text
