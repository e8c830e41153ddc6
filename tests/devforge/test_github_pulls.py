"""Pull requests through the real GitHub client, over branches pushed with real git."""

from pathlib import Path

import pytest
from github import GithubException, UnknownObjectException
from github.Repository import Repository

from hikitsugi.devforge import DevForge
from tests.devforge.conftest import HOME, ClientFor, Git, Publish

BRANCH = "hikitsugi/issue-1"


def test_a_pull_request_follows_its_branch(repo: Repository, publish: Publish):
    first = publish(BRANCH)
    pull = repo.create_pull(base="main", head=BRANCH, title="Fix", body="Closes #1")
    assert (pull.head.sha, pull.commits, pull.additions, pull.mergeable) == (first, 1, 1, True)

    second = publish(BRANCH, "notes.md", "More\n")
    assert repo.get_pull(pull.number).head.sha == second != first


@pytest.mark.req("PR-01")
def test_a_second_pull_request_for_the_same_branch_is_refused(repo: Repository, forge: DevForge, publish: Publish):
    publish(BRANCH)
    pull = repo.create_pull(base="main", head=BRANCH, title="Fix", body="")
    with pytest.raises(GithubException) as refused:
        repo.create_pull(base="main", head=f"example:{BRANCH}", title="Again", body="")

    assert refused.value.status == 422
    assert f"A pull request already exists for example:{BRANCH}." in str(refused.value)
    assert [one.number for one in repo.get_pulls(head=f"example:{BRANCH}")] == [pull.number]
    assert not list(repo.get_pulls(head="example:other"))
    assert len(forge.pulls(HOME)) == 1


def test_a_plan_without_drafts_refuses_them(repo: Repository, forge: DevForge, publish: Publish):
    publish(BRANCH)
    forge.repository(HOME).has_drafts = False
    with pytest.raises(GithubException) as refused:
        repo.create_pull(base="main", head=BRANCH, title="Fix", body="", draft=True)
    assert refused.value.status == 422
    assert "Draft pull requests are not supported in this repository." in str(refused.value)
    pull = repo.create_pull(base="main", head=BRANCH, title="Fix", body="")
    with pytest.raises(GithubException, match="not supported"):
        pull.convert_to_draft()


def test_branches_without_news_or_existence_are_refused(repo: Repository):
    for head, reason in (("absent", "head"), ("main", "No commits between main and main")):
        with pytest.raises(GithubException) as refused:
            repo.create_pull(base="main", head=head, title="Fix", body="")
        assert refused.value.status == 422
        assert reason in str(refused.value)


def test_a_pull_request_is_listed_among_the_issues(repo: Repository, forge: DevForge, publish: Publish):
    forge.open_issue(HOME, "Bug", "", "hanako")
    publish(BRANCH)
    pull = repo.create_pull(base="main", head=BRANCH, title="Fix", body="Closes #1")
    pull.create_issue_comment("Please look")

    listed = {issue.number: issue.pull_request is not None for issue in repo.get_issues()}
    assert listed == {1: False, pull.number: True}
    assert forge.comments(HOME, pull.number)[0].body == "Please look"
    assert forge.repository(HOME).pulls_naming(1) == forge.pulls(HOME)


def test_merging_closes_the_issue_it_promised_to_close(repo: Repository, forge: DevForge, publish: Publish):
    forge.open_issue(HOME, "Bug", "", "hanako")
    forge.open_issue(HOME, "Other bug", "", "hanako")
    head = publish(BRANCH)
    pull = repo.create_pull(base="main", head=BRANCH, title="Fix", body="Fixes #1, see #2")
    merged = pull.merge(sha=head)

    assert merged.merged
    assert repo.get_git_ref("heads/main").object.sha == merged.sha
    assert [forge.issue(HOME, number).is_open for number in (1, 2, pull.number)] == [False, True, False]
    with pytest.raises(GithubException):
        repo.get_pull(pull.number).merge()
    with pytest.raises(GithubException):
        repo.get_pull(pull.number).edit(state="open")


def test_a_moved_head_is_not_merged_and_a_closed_request_can_come_back(
    repo: Repository, forge: DevForge, publish: Publish
):
    base = repo.get_git_ref("heads/main").object.sha
    publish(BRANCH)
    pull = repo.create_pull(base="main", head=BRANCH, title="Fix", body="")
    with pytest.raises(GithubException) as moved:
        pull.merge(sha=base)
    assert moved.value.status == 409

    pull.edit(state="closed")
    assert not forge.issue(HOME, pull.number).is_open
    pull.edit(state="open", title="Fix again")
    assert repo.get_pull(pull.number).title == "Fix again"


def test_a_conflict_is_told_and_not_merged(repo: Repository, publish: Publish, checkout: Path, git: Git):
    for branch in ("one", "two"):
        git("checkout", "--quiet", "main", cwd=checkout)
        publish(branch, text=f"def add(a, b):\n    return {branch}\n")
    one, two = (repo.create_pull(base="main", head=head, title=head, body="") for head in ("one", "two"))
    one.merge()

    assert repo.get_pull(two.number).mergeable is False
    with pytest.raises(GithubException) as refused:
        two.merge()
    assert refused.value.status == 405


def test_an_issue_is_no_pull_request_and_readers_open_none(client: ClientFor, forge: DevForge, publish: Publish):
    forge.open_issue(HOME, "Bug", "", "hanako")
    publish(BRANCH)
    with pytest.raises(UnknownObjectException):
        client().get_repo(HOME).get_pull(1).title  # noqa: B018 - reading it is the call
    with pytest.raises(GithubException) as refused:
        client("token-of-taro").get_repo(HOME).create_pull(base="main", head=BRANCH, title="Mine", body="")
    assert refused.value.status == 403
