"""What every GitLab answer has in common: pages, stamps, limits, tokens and errors."""

import re
from pathlib import Path

import httpx2
import pytest
from gitlab import Gitlab, GitlabAuthenticationError, GitlabCreateError

from hikitsugi.devforge import DevForge, serve_in_thread
from tests.devforge.conftest import BOT_TOKEN, FILES, PROJECT, ProjectFor

ENCODED = PROJECT.replace("/", "%2F")
ISSUES = f"/api/v4/projects/{ENCODED}/issues"
AS_BOT = {"private-token": BOT_TOKEN}


def test_pages_are_named_in_headers_and_links(lab_browser: httpx2.Client, lab: DevForge):
    for number in range(5):
        lab.open_issue(PROJECT, f"Issue {number}", "", "hanako", ["a b"])
    answer = lab_browser.get(f"{ISSUES}?per_page=2&page=2&labels=a%20b", headers=AS_BOT)
    told = {key: answer.headers[f"x-{key}"] for key in ("page", "per-page", "next-page", "prev-page", "total")}
    assert told == {"page": "2", "per-page": "2", "next-page": "3", "prev-page": "1", "total": "5"}
    assert answer.headers["x-total-pages"] == "3"

    following = re.search(r'<([^>]+)>; rel="next"', answer.headers["link"])
    assert following
    last = lab_browser.get(following[1], headers=AS_BOT)
    assert [one["iid"] for one in last.json()] == [1]
    assert last.headers["x-next-page"] == ""


def test_stamps_have_milliseconds(lab_browser: httpx2.Client, lab: DevForge):
    lab.open_issue(PROJECT, "Title", "", "hanako")
    (issue,) = lab_browser.get(ISSUES, headers=AS_BOT).json()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", issue["updated_at"])


def test_an_unchanged_list_is_a_304(lab_browser: httpx2.Client, lab: DevForge):
    first = lab_browser.get(ISSUES, headers=AS_BOT)
    known = AS_BOT | {"if-none-match": first.headers["etag"]}
    assert lab_browser.get(ISSUES, headers=known).status_code == 304
    lab.open_issue(PROJECT, "Title", "", "hanako")
    assert lab_browser.get(ISSUES, headers=known).status_code == 200


def client_with(how: str, url: str, token: str) -> Gitlab:
    match how:
        case "private":
            return Gitlab(url, timeout=20, private_token=token)
        case "oauth":
            return Gitlab(url, timeout=20, oauth_token=token)
        case _:
            return Gitlab(url, timeout=20, job_token=token)


@pytest.mark.parametrize("how", ["private", "oauth", "job"])
def test_a_token_is_taken_in_each_form(lab_url: str, how: str):
    with client_with(how, lab_url, BOT_TOKEN) as client:
        assert client.projects.get(PROJECT).name == "calculator"
    with (
        client_with(how, lab_url, "nobody's") as stranger,
        pytest.raises(GitlabAuthenticationError, match="401"),
    ):
        stranger.projects.get(PROJECT)


def test_refusals_carry_gitlabs_words(lab_browser: httpx2.Client, project_for: ProjectFor, lab: DevForge):
    lab.open_issue(PROJECT, "Title", "", "hanako")
    base = f"/api/v4/projects/{ENCODED}"
    expected = {
        "/api/v4/projects/no%2Fwhere": "404 Project Not Found",
        f"{ISSUES}/99": "404 Not found",
        f"{ISSUES}/1/notes/99": "404 Note Not Found",
        f"{base}/repository/branches/none": "404 Branch Not Found",
        f"{base}/repository/files/none?ref=main": "404 File Not Found",
    }
    for path, words in expected.items():
        answer = lab_browser.get(path, headers=AS_BOT)
        assert (answer.status_code, answer.json()) == (404, {"message": words})
    assert lab_browser.get(ISSUES).json() == {"message": "401 Unauthorized"}
    missing = lab_browser.post(ISSUES, headers=AS_BOT, json={})
    assert (missing.status_code, missing.json()) == (400, {"error": "title is missing"})
    with pytest.raises(GitlabCreateError, match="can't be blank"):
        project_for().issues.create({"title": " "})
    assert lab_browser.get("/api/v4/nonsense", headers=AS_BOT).status_code == 404


def test_parameters_may_stand_in_the_address(lab_browser: httpx2.Client, lab: DevForge):
    answer = lab_browser.post(f"{ISSUES}?title=Spoken&labels=a,b", headers=AS_BOT)
    assert answer.status_code == 201
    assert lab.issue(PROJECT, 1).labels == ("a", "b")


def test_too_many_calls_are_told_to_wait(tmp_path: Path):
    forge = DevForge(tmp_path / "small", "gitlab", call_limit=1)
    forge.add_person("hikitsugi", BOT_TOKEN)
    forge.add_repository(PROJECT, FILES)
    with serve_in_thread(forge) as url, httpx2.Client(base_url=url, headers=AS_BOT, trust_env=False) as browser:
        assert browser.get("/api/v4/user").headers["ratelimit-remaining"] == "0"
        refused = browser.get("/api/v4/user")
    assert (refused.status_code, refused.text) == (429, "Retry later\n")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert refused.headers["ratelimit-limit"] == "1"
