"""Clone and push with the real git command."""

import os
from pathlib import Path

import httpx2
import pytest
from github.Repository import Repository

from hikitsugi.devforge import DevForge
from tests.devforge.conftest import HOME, Git, Publish


def test_a_clone_holds_the_first_commit(checkout: Path):
    assert (checkout / "docs/guide/start.md").read_text(encoding="utf-8") == "はじめに\n"
    assert os.access(checkout / "run.sh", os.X_OK)


def test_a_large_push_arrives_whole(checkout: Path, git: Git, repo: Repository):
    (checkout / "noise.bin").write_bytes(os.urandom(4_000_000))
    git("add", "--all", cwd=checkout)
    git("commit", "--quiet", "--message", "Noise", cwd=checkout)
    git("push", "--quiet", "origin", "HEAD:refs/heads/large", cwd=checkout)

    assert repo.get_git_ref("heads/large").object.sha == git("rev-parse", "HEAD", cwd=checkout).strip()
    git("fetch", "--quiet", "origin", "large", cwd=checkout)
    assert git("rev-parse", "FETCH_HEAD", cwd=checkout) == git("rev-parse", "HEAD", cwd=checkout)


@pytest.mark.parametrize("token", ["wrong", ""])
def test_strangers_cannot_clone(base_url: str, git: Git, token: str):
    assert "refused:" in git("clone", f"{base_url}/{HOME}.git", "stolen", token=token, check=False)


def test_the_first_answer_asks_for_a_password(browser: httpx2.Client):
    answer = browser.get(f"/{HOME}.git/info/refs?service=git-upload-pack")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Basic")


def test_readers_can_clone_but_not_push(base_url: str, git: Git, tmp_path: Path):
    git("clone", "--quiet", f"{base_url}/{HOME}.git", "reading", token="token-of-taro")
    pushed = git("push", "origin", "HEAD:refs/heads/mine", cwd=tmp_path / "reading", token="token-of-taro", check=False)
    assert "403" in pushed


def test_only_repositories_of_the_forge_can_be_cloned(base_url: str, git: Git):
    assert "not found" in git("clone", f"{base_url}/example/other.git", "x", check=False)
    assert "not found" in git("clone", f"{base_url}/example/..%2fcalculator.git", "x", check=False)


def test_hooks_in_the_repository_never_run(forge: DevForge, publish: Publish, tmp_path: Path):
    sentinel = tmp_path / "ran"
    hooks = forge.repository(HOME).git.folder / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-receive", "update", "post-receive", "post-update"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {sentinel}\n", encoding="utf-8")
        (hooks / name).chmod(0o755)

    publish("hooked")
    assert not sentinel.exists()


def test_a_forced_push_with_a_lease_replaces_the_branch(checkout: Path, publish: Publish, git: Git, repo: Repository):
    publish("work")
    git("commit", "--quiet", "--amend", "--message", "Better words", cwd=checkout)
    git("push", "--quiet", "--force-with-lease", "origin", "work", cwd=checkout)
    assert repo.get_branch("work").commit.commit.message == "Better words"


def test_refs_and_contents_are_what_git_holds(repo: Repository, publish: Publish):
    head = repo.get_git_ref("heads/main").object.sha
    repo.create_git_ref("refs/heads/hikitsugi/issue-1", head)
    assert {branch.name for branch in repo.get_branches()} == {"main", "hikitsugi/issue-1"}

    listed = repo.get_contents("")
    assert isinstance(listed, list)
    assert {entry.path for entry in listed} == {"README.md", "calculator.py", "docs", "run.sh"}
    publish("hikitsugi/issue-1")
    changed = repo.get_contents("calculator.py", ref="hikitsugi/issue-1")
    assert not isinstance(changed, list)
    assert b"a + b" in changed.decoded_content
