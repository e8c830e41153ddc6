"""Reviews, drafts, Apps and permissions through the real GitHub client."""

from datetime import timedelta

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from github import Auth, GithubException, GithubIntegration, UnknownObjectException
from github.Commit import Commit
from github.PullRequest import PullRequest
from github.Repository import Repository

from hikitsugi.devforge import DevForge
from tests.devforge.conftest import HOME, ClientFor, Git, Publish


@pytest.fixture
def pull(client: ClientFor, publish: Publish) -> PullRequest:
    publish("fix")
    return client().get_repo(HOME).create_pull(base="main", head="fix", title="Fix", body="", draft=True)


def test_a_draft_becomes_ready_and_a_draft_again(pull: PullRequest, repo: Repository):
    assert repo.get_pull(pull.number).draft
    with pytest.raises(GithubException) as refused:
        pull.merge()
    assert refused.value.status == 405
    pull.mark_ready_for_review()
    assert not repo.get_pull(pull.number).draft
    pull.convert_to_draft()
    assert repo.get_pull(pull.number).draft


def test_readers_cannot_change_drafts(pull: PullRequest, client: ClientFor, forge: DevForge):
    reader = client("token-of-taro").get_repo(HOME).get_pull(pull.number)
    with pytest.raises(GithubException, match="permission"):
        reader.mark_ready_for_review()
    made = forge.pulls(HOME)[0].pull
    assert made
    assert made.is_draft


def test_reviews_and_their_remarks_are_listed(pull: PullRequest, repo: Repository, client: ClientFor):
    theirs = client("token-of-hanako").get_repo(HOME).get_pull(pull.number)
    commit = Commit(repo.requester, {}, {"sha": pull.head.sha}, completed=True)
    said = theirs.create_comment("Look", commit, "calculator.py", 2)
    theirs.create_review_comment_reply(said.id, "I do")
    theirs.create_review(body="Good", event="APPROVE")
    theirs.create_review(event="COMMENT", comments=[{"path": "calculator.py", "line": 1, "body": "Hm"}])

    assert [one.state for one in pull.get_reviews()] == ["COMMENTED", "COMMENTED", "APPROVED", "COMMENTED"]
    listed = list(repo.get_pulls_review_comments(sort="updated", direction="asc"))
    assert [(one.body, one.path, one.in_reply_to_id) for one in listed] == [
        ("Look", "calculator.py", None),
        ("I do", "calculator.py", said.id),
        ("Hm", "calculator.py", None),
    ]
    later = listed[-1].updated_at + timedelta(seconds=1)
    assert not list(repo.get_pulls_review_comments(since=later))
    theirs.get_review_comment(said.id).delete()
    assert repo.get_pull(pull.number).review_comments == 2


def test_an_app_acts_by_its_installation(forge: DevForge, base_url: str, client: ClientFor):
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    app = forge.add_app("helper", public.decode())
    forge.open_issue(HOME, "Title", "", "hanako")

    def integration(app_id: int) -> GithubIntegration:
        return GithubIntegration(auth=Auth.AppAuth(app_id, private.decode()), base_url=base_url, retry=None)

    with integration(app.id) as asking:
        assert asking.get_app().slug == "helper"
        installation = asking.get_repo_installation(*HOME.split("/"))
        with asking.get_github_for_installation(installation.id) as acting:
            acting.get_repo(HOME).get_issue(1).create_comment("Hello")
            with pytest.raises(GithubException, match="Resource not accessible by integration"):
                acting.get_user().login  # noqa: B018 - reading it is the call
    assert [comment.author.login for comment in forge.comments(HOME, 1)] == ["helper[bot]"]
    with integration(app.id + 1) as stranger, pytest.raises(GithubException) as refused:
        stranger.get_app()
    assert refused.value.status == 401
    with pytest.raises(GithubException) as refused:
        client("ghs_guessed").get_repo(HOME).get_issue(1).create_comment("Hello")
    assert refused.value.status == 401


def test_a_permission_may_differ_in_one_repository(forge: DevForge, client: ClientFor, base_url: str, git: Git):
    forge.add_repository("example/other", {"a": "b"})
    forge.open_issue("example/other", "Title", "", "hanako")
    forge.grant("example/other", "taro", "write")
    forge.grant("example/other", "hikitsugi", "none")

    client("token-of-taro").get_repo("example/other").get_issue(1).add_to_labels("x")
    assert client("token-of-taro").get_repo(HOME).get_collaborator_permission("taro") == "read"
    with pytest.raises(UnknownObjectException):
        client().get_repo("example/other").get_issue(1).create_comment("Hello?")
    assert "not found" in git("clone", f"{base_url}/example/other.git", "x", check=False)
