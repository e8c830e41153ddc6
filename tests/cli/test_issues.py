"""Every way to write an issue means the right one, and anything else says how to write it."""

from typing import Any

import pytest

from hikitsugi.app.settings import Settings
from hikitsugi.app.settings_forges import ForgeSettings
from hikitsugi.cli.issues import issue_in, repository_in


def forges(*given: dict[str, Any]) -> tuple[ForgeSettings, ...]:
    return Settings.model_validate({"forges": list(given)}).forges


GITHUB = {"repositories": ["Owner/Repo"]}
GITLAB = {"kind": "gitlab"}
ENTERPRISE = {"name": "work", "url": "https://git.work.example:8443/api/v3"}
RESIDENT = {"name": "eu", "url": "https://api.octocorp.ghe.com"}
OWN_GITLAB = {"name": "lab", "kind": "gitlab", "url": "https://lab.example/code/api/v4"}
DEVELOPMENT = {"name": "dev", "url": "http://127.0.0.1:3456"}
ALL = forges(GITHUB, GITLAB, ENTERPRISE, RESIDENT, OWN_GITLAB, DEVELOPMENT)


@pytest.mark.req("TW-06")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("o/r#12", "github:o/r/issues/12"),
        ("group/repo!3", "gitlab:group/repo/merge_requests/3"),
        ("github:o/r#12", "github:o/r/issues/12"),
        ("gitlab:group/sub/repo#7", "gitlab:group/sub/repo/issues/7"),
        ("lab:group/repo!3", "lab:group/repo/merge_requests/3"),
        ("github:o/r/issues/12", "github:o/r/issues/12"),
        ("github:o/r/pull/12", "github:o/r/pull/12"),
        ("gitlab:a/b/c/merge_requests/3", "gitlab:a/b/c/merge_requests/3"),
        ("nowhere:o/r/issues/1", "nowhere:o/r/issues/1"),
        ("owner/repo#1", "github:Owner/Repo/issues/1"),
        ("https://github.com/owner/repo/issues/1", "github:Owner/Repo/issues/1"),
        ("https://github.com/o/r/issues/12", "github:o/r/issues/12"),
        ("https://www.github.com/o/r/issues/12/", "github:o/r/issues/12"),
        ("https://GitHub.com:443/o/r/issues/12?q=1#issuecomment-5", "github:o/r/issues/12"),
        ("https://github.com/o/r/pull/12/files", "github:o/r/pull/12"),
        ("https://git.work.example:8443/o/r/issues/2", "work:o/r/issues/2"),
        ("https://octocorp.ghe.com/o/r/issues/2", "eu:o/r/issues/2"),
        ("https://gitlab.com/group/sub/repo/-/issues/7", "gitlab:group/sub/repo/issues/7"),
        ("https://gitlab.com/group/repo/-/work_items/7", "gitlab:group/repo/issues/7"),
        ("https://gitlab.com/group/repo/-/merge_requests/3/diffs", "gitlab:group/repo/merge_requests/3"),
        ("https://lab.example/code/group/repo/-/issues/7", "lab:group/repo/issues/7"),
        ("http://127.0.0.1:3456/o/r/issues/1", "dev:o/r/issues/1"),
    ],
)
def test_an_issue_can_be_written_in_many_ways(written: str, meant: str):
    assert str(issue_in(written, ALL)) == meant


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("", "owner/repo#12"),
        ("12", "owner/repo#12"),
        ("repo#12", "OWNER/REPO"),
        ("o/r#0", "owner/repo#12"),
        ("o/r#12; rm", "owner/repo#12"),
        ("o/r#12\n", "owner/repo#12"),
        ("nowhere:o/r#1", "no forge 'nowhere'; configured: github (https://api.github.com)"),
        ("github:o/r!3", "github:o/r/pull/3"),
        ("https://example.com/o/r/issues/12", "none of the configured forges"),
        ("https://api.github.com/o/r/issues/12", "none of the configured forges"),
        ("http://127.0.0.1:9/o/r/issues/12", "none of the configured forges"),
        ("https://github.com/o/r", "not the address of an issue"),
        ("https://github.com/o/issues/12", "OWNER/REPO"),
        ("https://lab.example/group/repo/-/issues/7", "none of the configured forges"),
        ("https://github.com:port/o/r/issues/1", "not a web address"),
        ("https://[github.com/o/r/issues/1", "not a web address"),
    ],
)
def test_what_is_no_issue_says_how_to_write_one(written: str, told: str):
    with pytest.raises(ValueError, match=r".") as refusal:
        issue_in(written, ALL)
    assert told in str(refusal.value)


def test_the_first_forge_is_the_default():
    assert str(issue_in("o/r#1", forges(ENTERPRISE, GITHUB))) == "work:o/r/issues/1"
    assert str(issue_in("o/r#1", forges(GITLAB))) == "gitlab:o/r/issues/1"


def test_a_merge_request_wants_a_gitlab_server():
    with pytest.raises(ValueError, match="GitLab"):
        issue_in("o/r!1", forges(GITHUB))


def test_without_forges_the_forge_must_be_named():
    assert str(issue_in("github:o/r#1", ())) == "github:o/r/issues/1"
    for written in ("o/r#1", "https://github.com/o/r/issues/1"):
        with pytest.raises(ValueError, match="set forges"):
            issue_in(written, ())


def test_of_two_forges_on_one_host_the_one_with_the_repository_is_meant():
    two = forges({"name": "first", "repositories": ["o/a"]}, {"name": "second", "repositories": ["o/b"]})
    assert str(issue_in("https://github.com/o/b/issues/1", two)) == "second:o/b/issues/1"
    assert str(issue_in("https://github.com/o/c/issues/1", two)) == "first:o/c/issues/1"


def test_a_repository_is_written_with_or_without_its_forge():
    assert str(repository_in("work:o/r", ALL)) == "work:o/r"
    assert str(repository_in("owner/repo", ALL)) == "github:Owner/Repo"
    for wrong in ("o", "github:o", "nowhere:o/r", "github:o/r#1", ":o/r", ""):
        with pytest.raises(ValueError, match=r"FORGE:OWNER/REPO|no forge"):
            repository_in(wrong, ALL)
