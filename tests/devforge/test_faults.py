"""Faults to order, as the real clients meet them."""

import re
import time
from collections.abc import Callable

import httpx2
import pytest
import requests
from github import GithubException, RateLimitExceededException
from github.Repository import Repository
from gitlab import GitlabHttpError
from gitlab.v4.objects import Project

from hikitsugi.devforge import DevForge
from hikitsugi.devforge.faults import Failing, Fault, When
from hikitsugi.domain.errors import WillNeverWork
from tests.devforge.conftest import HOME, PROJECT, Git

COMMENTS = r"/issues/\d+/comments$"
SOON = 20.0


def said(forge: DevForge) -> list[str]:
    return [comment.body for comment in forge.comments(HOME, 1)]


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def issue(forge: DevForge) -> None:
    forge.open_issue(HOME, "Title", "", "hanako")


@pytest.mark.parametrize(("when", "kept"), [("before", []), ("after", ["x", "x"])])
@pytest.mark.parametrize("how", [Failing.SERVER_ERROR, Failing.BAD_GATEWAY, Failing.TOO_MANY])
def test_the_next_calls_fail_before_or_after_their_effect(
    forge: DevForge, repo: Repository, how: Failing, when: When, kept: list[str]
):
    forge.faults.add(Fault(how, "POST", COMMENTS, times=2, when=when, retry_after=7))
    for _ in range(2):
        with pytest.raises(GithubException) as failed:
            repo.get_issue(1).create_comment("x")
        assert failed.value.status == int(how.value)
        assert (how is Failing.TOO_MANY) == ((failed.value.headers or {}).get("retry-after") == "7")
    assert said(forge) == kept
    repo.get_issue(1).create_comment("well")
    assert said(forge)[-1] == "well"
    assert not forge.faults.waiting


@pytest.mark.parametrize("how", [Failing.PRIMARY_LIMIT, Failing.SECONDARY_LIMIT])
def test_limits_are_told_in_githubs_words(forge: DevForge, repo: Repository, how: Failing):
    forge.faults.add(Fault(how, retry_after=9))
    with pytest.raises(RateLimitExceededException) as limited:
        repo.get_labels()[0]
    headers = limited.value.headers or {}
    told = {"x-ratelimit-remaining": "0"} if how is Failing.PRIMARY_LIMIT else {"retry-after": "9"}
    assert headers.items() >= told.items()


@pytest.mark.parametrize(("when", "kept"), [("before", []), ("after", ["x"])])
def test_a_connection_is_dropped_without_a_word(forge: DevForge, repo: Repository, when: When, kept: list[str]):
    forge.faults.add(Fault(Failing.DROP, "POST", when=when))
    with pytest.raises(requests.ConnectionError):
        repo.get_issue(1).create_comment("x")
    assert said(forge) == kept
    assert forge.requests[-1].status == 0


@pytest.mark.parametrize(("how", "error"), [(Failing.HALF, httpx2.RemoteProtocolError), (Failing.CUT, ValueError)])
def test_half_an_answer(forge: DevForge, browser: httpx2.Client, how: Failing, error: type[Exception]):
    forge.faults.add(Fault(how, "GET"))
    with pytest.raises(error):
        browser.get(f"/repos/{HOME}/issues", headers={"authorization": "token token-of-bot"}).json()


def test_an_effect_may_come_after_its_error(forge: DevForge, repo: Repository):
    forge.faults.add(Fault(Failing.BAD_GATEWAY, "POST", when="late", seconds=0.3))
    with pytest.raises(GithubException):
        repo.get_issue(1).create_comment("x")
    assert said(forge) == []
    until(lambda: said(forge) == ["x"])


def test_a_slow_answer_is_a_good_one(forge: DevForge, browser: httpx2.Client):
    forge.faults.add(Fault(Failing.SLOW, "POST", when="after", seconds=30))
    with pytest.raises(httpx2.ReadTimeout):
        browser.post(
            f"/repos/{HOME}/issues/1/comments",
            headers={"authorization": "token token-of-bot"},
            json={"body": "x"},
            timeout=0.5,
        )
    assert said(forge) == ["x"]


def test_git_can_fail_too(forge: DevForge, base_url: str, git: Git):
    forge.faults.add(Fault(Failing.UNAVAILABLE, path=r"\.git/"))
    assert "503" in git("clone", f"{base_url}/{HOME}.git", "x", check=False)
    git("clone", "--quiet", f"{base_url}/{HOME}.git", "x")


def test_gitlab_says_retry_later(lab: DevForge, project: Project):
    lab.faults.add(Fault(Failing.TOO_MANY, path=f"/projects/{PROJECT}/issues$", retry_after=5))
    issues = f"/projects/{PROJECT.replace('/', '%2F')}/issues"
    with pytest.raises(GitlabHttpError, match="Retry later") as limited:
        project.manager.gitlab.http_list(issues, get_all=True, obey_rate_limit=False)
    assert limited.value.response_code == 429


def test_the_pages_are_spared_and_have_the_switch(forge: DevForge, browser: httpx2.Client):
    browser.headers["accept"] = "text/html"
    form = {"how": "502", "when": "after", "times": "3", "path": "comments"}
    assert "3 × 502 after on comments" in browser.post("/-/faults", data=form).text
    forge.faults.add(Fault(Failing.SERVER_ERROR))
    assert browser.get(f"/{HOME}/issues/1").status_code == 200
    assert len(forge.faults.waiting) == 2

    assert browser.post("/-/faults", data=form | {"path": "("}).status_code == 422
    refused = browser.post("/-/faults", data=form, headers={"origin": "https://evil.example"})
    assert refused.status_code == 403
    browser.post("/-/faults/clear")
    assert not forge.faults.waiting


def test_a_fault_that_makes_no_sense_is_refused():
    with pytest.raises(WillNeverWork, match=re.escape("late effect")):
        Fault(Failing.SLOW, when="late")
    with pytest.raises(WillNeverWork, match="regular expression"):
        Fault(path="(")
