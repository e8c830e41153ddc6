"""Issues, comments and labels through the real GitHub client."""

from datetime import timedelta

import pytest
from github import BadCredentialsException, GithubException, UnknownObjectException
from github.Repository import Repository

from hikitsugi.devforge import DevForge
from tests.devforge.conftest import HOME, ClientFor


@pytest.mark.parametrize("api", ["", "/api/v3"])
def test_an_issue_is_opened_labelled_answered_and_closed(client: ClientFor, forge: DevForge, api: str):
    repo = client("token-of-hanako", api).get_repo(HOME)
    issue = repo.create_issue("足し算が違う", body="3 になるはず", labels=["task:misc"], assignees=["hikitsugi"])
    issue.add_to_labels("processing")
    issue.remove_from_labels("task:misc")
    issue.create_comment("こんにちは")
    issue.edit(state="closed")

    kept = forge.issue(HOME, issue.number)
    assert (kept.title, kept.labels, kept.is_open) == ("足し算が違う", ("processing",), False)
    assert [person.login for person in kept.assignees] == ["hikitsugi"]
    assert [comment.body for comment in forge.comments(HOME, issue.number)] == ["こんにちは"]


def test_a_list_of_several_pages_keeps_its_parameters(client: ClientFor, forge: DevForge):
    for number in range(5):
        forge.open_issue(HOME, f"Issue {number}", "", "hanako", ["task:misc"])
    forge.open_issue(HOME, "Without label", "", "hanako")

    listed = client(per_page=2).get_repo(HOME).get_issues(labels=["task:misc"], sort="updated", direction="asc")

    assert [issue.number for issue in listed] == [1, 2, 3, 4, 5]
    pages = [call for call in forge.requests if call.path.endswith("/issues")]
    assert len(pages) == 3
    assert pages[-1].path.startswith("/repositories/")
    assert "labels=task%3Amisc" in pages[-1].query


@pytest.mark.lesson("C5")
def test_more_than_a_hundred_comments_are_all_listed(repo: Repository, forge: DevForge):
    issue = forge.open_issue(HOME, "Long talk", "", "hanako")
    for number in range(250):
        forge.comment(HOME, issue.number, "taro", f"comment {number}")

    assert len(list(repo.get_issues_comments(sort="updated", direction="asc"))) == 250
    assert len(list(repo.get_issue(issue.number).get_comments())) == 250


def test_since_includes_its_own_second(repo: Repository, forge: DevForge):
    issue = forge.open_issue(HOME, "Title", "", "hanako")
    said = forge.comment(HOME, issue.number, "hanako", "Now")
    second = said.updated_at.replace(microsecond=0)

    assert [one.id for one in repo.get_issues_comments(sort="updated", direction="asc", since=second)] == [said.id]
    later = second + timedelta(seconds=1)
    assert not list(repo.get_issues_comments(sort="updated", direction="asc", since=later))
    assert [one.number for one in repo.get_issues(state="all", since=second)] == [issue.number]


def test_a_comment_counts_as_an_update_of_its_issue_and_an_edit_of_the_comment(repo: Repository, forge: DevForge):
    issue = forge.open_issue(HOME, "Title", "", "hanako")
    comment = repo.get_issue(issue.number).create_comment("first")
    assert forge.issue(HOME, issue.number).updated_at > issue.updated_at

    comment.edit("second")
    (kept,) = forge.comments(HOME, issue.number)
    assert kept.body == "second"
    assert kept.updated_at > kept.created_at

    comment.delete()
    with pytest.raises(UnknownObjectException):
        repo.get_issue(issue.number).get_comment(comment.id).edit("third")


def test_labels_that_are_there_already_change_nothing(repo: Repository, forge: DevForge):
    before = forge.open_issue(HOME, "Title", "", "hanako", ["Task:Misc"])
    issue = repo.get_issue(before.number)
    issue.add_to_labels("task:misc")

    assert forge.issue(HOME, before.number) == before
    assert [label.name for label in repo.get_labels()] == ["Task:Misc"]
    with pytest.raises(UnknownObjectException):
        issue.remove_from_labels("absent")


def test_a_reaction_is_given_once(repo: Repository, forge: DevForge):
    issue = forge.open_issue(HOME, "Title", "", "hanako")
    said = forge.comment(HOME, issue.number, "hanako", "Look")
    for _ in range(2):
        repo.get_issue(issue.number).get_comment(said.id).create_reaction("eyes")

    (kept,) = forge.comments(HOME, issue.number)
    assert [(one.author.login, one.content) for one in kept.reactions] == [("hikitsugi", "eyes")]


def test_permissions_are_told_and_kept(client: ClientFor, repo: Repository, forge: DevForge):
    issue = forge.open_issue(HOME, "Title", "", "hanako")
    assert repo.get_collaborator_permission("hanako") == "admin"
    assert repo.get_collaborator_permission("taro") == "read"
    with pytest.raises(UnknownObjectException):
        repo.get_collaborator_permission("nobody")

    reader = client("token-of-taro").get_repo(HOME).get_issue(issue.number)
    reader.create_comment("I only read")
    for forbidden in (lambda: reader.add_to_labels("paused"), lambda: reader.edit(state="closed")):
        with pytest.raises(GithubException) as refused:
            forbidden()
        assert refused.value.status == 403


def test_refusals_carry_githubs_words(client: ClientFor, repo: Repository, forge: DevForge):
    with pytest.raises(BadCredentialsException, match='"message": "Bad credentials"'):
        client("nobody's").get_user().login  # noqa: B018 - reading it is the call
    with pytest.raises(UnknownObjectException, match='"message": "Not Found"'):
        repo.get_issue(99).create_comment("Hello?")
    issue = forge.open_issue(HOME, "Title", "", "hanako")
    with pytest.raises(GithubException, match="body is too long") as long:
        repo.get_issue(issue.number).create_comment("あ" * 65_537)
    assert long.value.status == 422
