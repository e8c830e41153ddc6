"""What becomes of everything a server can answer or fail to answer."""

import socket
import threading
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import NewChangeRequest
from hikitsugi.forges import client
from hikitsugi.forges.github import GitHubForge
from hikitsugi.forges.refusals import server_time
from tests.forges.conftest import TOKEN
from tests.forges.payloads import HOME, ISSUE, comment, issue
from tests.forges.scripted_server import Reply, ScriptedServer

NOON = 1772452800  # the scripted server's clock
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
PRIMARY = {"message": "API rate limit exceeded for user ID 1."}


@pytest.mark.req("TW-04")
@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(401, {"message": "Bad credentials"}), "check forges[].token"),
        (Reply(403, {"message": "Resource not accessible by personal access token"}), "lacks the permission"),
        (Reply(404, {"message": "Not Found"}), "acme/shop#7"),
        (Reply(410, {"message": "This issue was deleted"}), "acme/shop#7 on forge 'github' is gone"),
        (
            Reply(422, {"message": "Validation Failed", "errors": [{"message": "no such field"}, "odd"]}),
            "no such field; odd",
        ),
        (Reply(301, {"message": "Moved Permanently"}, {"Location": "/repositories/1/issues/7"}), "has moved"),
        (Reply(307, {"message": "Temporary Redirect"}, {"Location": "/repositories/1/issues/7"}), "has moved"),
        (Reply(418, "<html>"), "with 418"),
        (Reply(400, ["odd"]), "with 400"),
    ],
)
async def test_a_refusal_will_never_work_and_says_what_to_do(
    forge: GitHubForge, server: ScriptedServer, reply: Reply, says: str
):
    server.will_answer(reply)
    with pytest.raises(WillNeverWork) as refused:
        await forge.read_issue(ISSUE)
    assert says in str(refused.value)
    assert len(server.asked) == 1


@pytest.mark.req("CD-10")
@pytest.mark.parametrize(
    ("reply", "after"),
    [
        (Reply(403, SECONDARY, {"Retry-After": "17"}), 17),
        (Reply(403, SECONDARY, {"X-RateLimit-Remaining": "4000", "X-RateLimit-Reset": str(NOON + 3000)}), 60),
        (Reply(403, PRIMARY, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOON + 90)}), 91),
        (Reply(403, PRIMARY, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOON - 5)}), 1),
        (Reply(403, PRIMARY), 60),
        (Reply(403, {"message": "quota"}, {"Retry-After": "5"}), 5),
        (Reply(429, {"message": "Too many requests"}), 60),
        (Reply(429, "", {"Retry-After": "3"}), 3),
    ],
)
async def test_a_limit_tells_how_long_to_wait_by_the_servers_clock(
    forge: GitHubForge, server: ScriptedServer, reply: Reply, after: int
):
    server.will_answer(reply)
    with pytest.raises(TryAgainLater, match="limits our requests") as limited:
        await forge.read_issue(ISSUE)
    assert limited.value.after == timedelta(seconds=after)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "date", ["Mon, 02 Mar 2026 12:00:00 GMT", "Mon, 02 Mar 2026 12:00:00 GMT, Mon, 02 Mar 2026 12:00:01 GMT"]
)
def test_the_servers_clock_is_read_even_behind_a_proxy_that_adds_its_own(date: str):
    assert server_time({"date": date}).timestamp() == NOON


@pytest.mark.parametrize("headers", [{}, {"date": "soon"}])
def test_where_the_server_tells_no_time_ours_is_taken(headers: dict[str, str]):
    assert abs(server_time(headers) - datetime.now(UTC)) < timedelta(minutes=1)


@pytest.mark.req("TW-04", "CD-08")
@pytest.mark.parametrize(
    "reply",
    [
        Reply(500, {"message": "Server Error"}),
        Reply(502, "<html>Bad Gateway</html>"),
        Reply(202, {"message": "is being prepared"}),
        Reply(200, issue(7), half=True),
        Reply(200, '{"id": 1, "numb'),
        Reply(200, ""),
        Reply(200, "<html>login</html>"),
        Reply(200, {"id": 7}),
        Reply(204),
    ],
)
async def test_a_passing_fault_may_work_later_and_is_not_retried_inside(
    forge: GitHubForge, server: ScriptedServer, reply: Reply
):
    server.will_answer(reply)
    with pytest.raises(TryAgainLater):
        await forge.read_issue(ISSUE)
    assert len(server.asked) == 1


@pytest.mark.req("TW-04")
async def test_an_unavailable_server_that_says_when_is_believed(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(503, {"message": "Unavailable"}, {"Retry-After": "30"}))
    with pytest.raises(TryAgainLater) as later:
        await forge.read_issue(ISSUE)
    assert later.value.after == timedelta(seconds=30)


@pytest.mark.req("CD-08")
async def test_a_list_that_is_no_list_is_a_passing_fault(forge: GitHubForge, server: ScriptedServer):
    server.will_answer(Reply(200, {"message": "hm"}))
    with pytest.raises(TryAgainLater, match="unreadable"):
        await forge.read_comments(ISSUE)


@pytest.mark.req("TW-04")
async def test_a_refused_connection_names_the_address():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        async with aclosing(GitHubForge("github", url, SecretStr(TOKEN), None)) as forge:
            with pytest.raises(TryAgainLater, match=f"{url} cannot be reached .connection refused."):
                await forge.look(HOME, None)


@pytest.mark.req("TW-04")
async def test_a_server_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch, server: ScriptedServer):
    monkeypatch.setattr(client, "TIMEOUT_SECONDS", 1)
    gate = threading.Event()
    server.will_answer(Reply(200, issue(7), gate=gate))
    async with aclosing(GitHubForge("github", server.url, SecretStr(TOKEN), None)) as forge:
        with pytest.raises(TryAgainLater, match="did not answer within"):
            await forge.read_issue(ISSUE)
    gate.set()


@pytest.mark.req("OP-05")
async def test_an_error_never_shows_the_token(forge: GitHubForge, server: ScriptedServer):
    echo = Reply(422, {"message": f"token {TOKEN} is odd"})
    server.will_answer(echo, Reply(200, []), echo, Reply(200, []))
    with pytest.raises(WillNeverWork, match=r"token \*\*\* is odd"):
        await forge.post_comment(ISSUE, "hello", "k")
    wanted = NewChangeRequest(home=HOME, head="x", base="main", title="t", body="b")
    with pytest.raises(WillNeverWork, match=r"token \*\*\* is odd"):
        await forge.open_change_request(wanted)
    assert server.asked[0].headers["authorization"] == f"token {TOKEN}"


@pytest.mark.req("TW-04")
def test_a_forge_without_a_token_is_refused_at_once():
    with pytest.raises(WillNeverWork, match=r"set forges\[\]\.token"):
        GitHubForge("github", "https://api.github.com", SecretStr(""), None)


async def test_the_base_path_of_an_enterprise_server_is_kept(server: ScriptedServer):
    server.will_answer(Reply(200, issue(7)))
    async with aclosing(GitHubForge("ghe", f"{server.url}/api/v3", SecretStr(TOKEN), None)) as forge:
        await forge.read_issue(ISSUE)
    assert server.lines == ["GET /api/v3/repos/acme/shop/issues/7"]


@pytest.mark.req("CD-08")
async def test_a_malformed_comment_is_left_out_and_the_others_go_on(
    forge: GitHubForge, server: ScriptedServer, caplog: pytest.LogCaptureFixture
):
    secret = {**comment(2), "updated_at": "private words"}
    server.will_answer(Reply(200, [comment(1), secret, None, comment(3, author=None)]))
    comments = await forge.read_comments(ISSUE)
    assert [(read.id, read.author) for read in comments] == [("1", "ann"), ("3", "ghost")]
    assert "malformed CommentPayload with id 2: updated_at" in caplog.text
    assert "private words" not in caplog.text
