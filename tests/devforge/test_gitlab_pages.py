"""GitLab's addresses for people, and git at the same server."""

import httpx2
import pytest

from hikitsugi.devforge import DevForge
from hikitsugi.domain.errors import WillNeverWork
from tests.devforge.conftest import FILES, PROJECT, Git, Publish

ISSUE = f"/{PROJECT}/-/issues/1"
REQUEST = f"/{PROJECT}/-/merge_requests/1"


@pytest.fixture(autouse=True)
def issue(lab: DevForge, lab_browser: httpx2.Client) -> None:
    lab_browser.headers["accept"] = "text/html"
    lab.open_issue(PROJECT, "足し算が違う", "`add(1, 2)` が **-1** を返す", "hanako", ["task:misc"])


def test_an_issue_is_read_answered_and_labelled(lab_browser: httpx2.Client, lab: DevForge):
    assert "足し算が違う" in lab_browser.get(f"/{PROJECT}").text
    page = lab_browser.post(f"{ISSUE}/comments", data={"person": "hanako", "body": "やあ\r\n/label ~paused"})
    assert page.url.path == ISSUE
    assert [comment.body for comment in lab.comments(PROJECT, 1)] == ["やあ"]
    assert lab.issue(PROJECT, 1).labels == ("task:misc", "paused")
    assert "added ~&quot;paused&quot; label" in page.text
    assert "1 comment<" in page.text
    lab_browser.post(f"{ISSUE}/state", data={"person": "hanako", "state": "closed"})
    assert not lab.issue(PROJECT, 1).is_open


def test_a_merge_request_shows_its_changes_and_is_merged(
    lab_browser: httpx2.Client, lab: DevForge, publish_to_lab: Publish
):
    publish_to_lab("fix")
    lab.repository(PROJECT).open_pull(lab.person("hikitsugi"), "直す", "Closes #1", "fix", "main")
    assert "!1 直す" in lab_browser.get(ISSUE).text
    page = lab_browser.get(REQUEST)
    assert "return a + b" in page.text
    assert "#1 足し算が違う" in page.text
    assert lab_browser.get(f"{REQUEST}.diff").text.startswith("diff --git")
    assert f'href="{REQUEST}"' in lab_browser.get(f"/{PROJECT}/-/issues").text

    assert "Merged" in lab_browser.post(f"{REQUEST}/merge", data={"person": "hanako"}).text
    assert not lab.issue(PROJECT, 1).is_open
    assert lab_browser.get(f"{REQUEST}/fragment").status_code == 200


def test_what_is_not_there_is_said_plainly(lab_browser: httpx2.Client):
    for path in (f"/{PROJECT}/-/issues/9", f"/{PROJECT}/-/merge_requests/1", f"/{PROJECT}/-/pull/1", "/no/-/issues"):
        answer = lab_browser.get(path)
        assert (answer.status_code, "Not Found" in answer.text) == (404, True)


def test_projects_in_subgroups_are_cloned_with_a_token(lab_url: str, git: Git):
    git("clone", "--quiet", f"{lab_url}/{PROJECT}.git", "mine")
    assert "refused:" in git("clone", f"{lab_url}/{PROJECT}.git", "stolen", token="wrong", check=False)
    assert "not found" in git("clone", f"{lab_url}/example/tools.git", "x", check=False)


@pytest.mark.parametrize("name", ["calculator", "../x/y", "a/b.git", "a//b", "a/-/b", "api/v4"])
def test_a_project_needs_a_proper_name(lab: DevForge, name: str):
    with pytest.raises(WillNeverWork, match="GROUP/PROJECT"):
        lab.add_repository(name, FILES)


def test_a_comment_of_orders_alone_is_not_one(lab: DevForge):
    with pytest.raises(WillNeverWork, match="quick actions alone"):
        lab.comment(PROJECT, 1, "hanako", "/close")
    assert not lab.issue(PROJECT, 1).is_open
