"""What every API answer has in common: ETags, quota, stamps and errors."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from github import RateLimitExceededException

from hikitsugi.devforge import DevForge, serve_in_thread
from tests.devforge.conftest import HOME, github_client

ISSUES = f"/repos/{HOME}/issues"
AS_BOT = {"authorization": "Bearer token-of-bot"}


def test_an_unchanged_list_is_a_free_304_without_a_body(browser: httpx2.Client, forge: DevForge):
    forge.open_issue(HOME, "Title", "", "hanako")
    first = browser.get(ISSUES, headers=AS_BOT)
    again = browser.get(ISSUES, headers=AS_BOT | {"if-none-match": first.headers["etag"]})

    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["x-ratelimit-remaining"] == first.headers["x-ratelimit-remaining"]

    forge.comment(HOME, 1, "taro", "News")
    changed = browser.get(ISSUES, headers=AS_BOT | {"if-none-match": first.headers["etag"]})
    assert changed.status_code == 200
    assert changed.headers["x-ratelimit-used"] == "2"


def test_an_etag_belongs_to_one_person_and_one_address(browser: httpx2.Client):
    etags = {
        browser.get(f"{ISSUES}{query}", headers={"authorization": f"token {token}"}).headers["etag"]
        for token in ("token-of-bot", "token-of-taro")
        for query in ("", "?state=all")
    }
    assert len(etags) == 4


def test_stamps_are_whole_seconds_in_utc(browser: httpx2.Client, forge: DevForge):
    forge.open_issue(HOME, "Title", "", "hanako")
    (issue,) = browser.get(ISSUES, headers=AS_BOT).json()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", issue["updated_at"])
    assert "pull_request" not in issue


@pytest.mark.parametrize(
    ("path", "headers", "status", "message"),
    [
        ("/user", {}, 401, "Requires authentication"),
        ("/user", {"authorization": "Bearer wrong"}, 401, "Bad credentials"),
        ("/nothing/of/this/kind", AS_BOT, 404, "Not Found"),
        (f"/repos/{HOME}/hooks", AS_BOT, 404, "Not Found"),
        ("/repos/example", AS_BOT, 404, "Not Found"),
        (f"/repos/{HOME}/git/refs", AS_BOT, 404, "Not Found"),
        (f"{ISSUES}?since=yesterday", AS_BOT, 422, "Validation Failed"),
        ("/repositories/999/issues", AS_BOT, 404, "Not Found"),
    ],
)
def test_errors_have_githubs_form(
    browser: httpx2.Client, path: str, headers: dict[str, str], status: int, message: str
):
    answer = browser.get(path, headers=headers)
    assert (answer.status_code, answer.json()["message"]) == (status, message)


def test_a_body_that_is_no_json_is_said_so(browser: httpx2.Client):
    answer = browser.post(ISSUES, headers=AS_BOT | {"content-type": "application/json"}, content=b"{")
    assert (answer.status_code, answer.json()["message"]) == (400, "Problems parsing JSON")


def test_a_used_up_quota_is_refused_as_a_rate_limit(tmp_path: Path):
    forge = DevForge(tmp_path / "small", call_limit=1)
    forge.add_person("hanako", "token")
    with serve_in_thread(forge) as base_url, closing(github_client(base_url, "token")) as client:
        assert client.get_user().login == "hanako"
        with pytest.raises(RateLimitExceededException) as refused:
            client.get_user().login  # noqa: B018 - reading it is the call
        assert refused.value.headers
        assert refused.value.headers["x-ratelimit-remaining"] == "0"
        assert client.get_rate_limit().rate.remaining == 0


def test_many_comments_at_once_are_all_kept(browser: httpx2.Client, forge: DevForge):
    forge.open_issue(HOME, "Busy", "", "hanako")

    def say(number: int) -> int:
        return browser.post(f"{ISSUES}/1/comments", headers=AS_BOT, json={"body": f"{number}"}).json()["id"]

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(say, range(40)))

    assert len(set(ids)) == 40
    assert sorted(ids) == [comment.id for comment in forge.comments(HOME, 1)]
    assert sum(call.method == "POST" and call.status == 201 for call in forge.requests) == 40


def test_a_foreign_host_name_is_refused(browser: httpx2.Client):
    assert browser.get("/", headers={"host": "evil.example"}).status_code == 400
