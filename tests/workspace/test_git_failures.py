"""Whatever git complains about becomes one sentence, and no secret is in it or on the way."""

import os
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import GitRemote
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.ownership import acts_for_others
from tests.workspace.conftest import BRANCH, COMMIT, remote_of
from tests.workspace.git_server import TOKEN, GitServer


@pytest.mark.req("TW-04")
async def test_a_refused_token_will_never_work(checkouts: Checkouts, issue: IssueAddress, server: GitServer):
    with pytest.raises(WillNeverWork, match="token") as refused:
        await checkouts.prepare(issue, remote_of(server.url("owner/repo"), "wrong-secret-1234"), BRANCH)
    assert "wrong-secret-1234" not in str(refused.value)


@pytest.mark.req("TW-04")
async def test_an_unknown_repository_will_never_work(checkouts: Checkouts, issue: IssueAddress, server: GitServer):
    with pytest.raises(WillNeverWork, match="no repository at"):
        await checkouts.prepare(issue, remote_of(server.url("owner/nothing")), BRANCH)


async def test_a_repository_without_a_commit_is_explained(checkouts: Checkouts, issue: IssueAddress, remote: GitRemote):
    with pytest.raises(WillNeverWork, match="has no branch trunk"):
        await checkouts.prepare(issue, remote.model_copy(update={"default_branch": "trunk"}), BRANCH)


@pytest.mark.req("TW-04")
async def test_an_unreachable_server_is_tried_again(checkouts: Checkouts, issue: IssueAddress):
    with pytest.raises(TryAgainLater, match="ls-remote"):
        await checkouts.prepare(issue, remote_of("http://127.0.0.1:9/owner/repo.git"), BRANCH)


@pytest.mark.parametrize("status", [500, 502, 503, 429])
async def test_a_stumbling_server_is_tried_again(
    checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, server: GitServer, status: int
):
    server.answer_with = status
    with pytest.raises(TryAgainLater):
        await checkouts.prepare(issue, remote, BRANCH)
    server.answer_with = None
    await checkouts.prepare(issue, remote, BRANCH)


async def test_a_redirect_is_not_followed(
    checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, server: GitServer
):
    server.answer_with = 301
    with pytest.raises(WillNeverWork):
        await checkouts.prepare(issue, remote, BRANCH)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc",
        "/etc",
        "ext::sh -c true",
        "ssh://host/x",
        "git://host/x",
        "-u./payload",
        "--upload-pack=x",
        "https://user:pw@host/x",
        "https:///x",
    ],
)
async def test_only_web_addresses_without_credentials_are_cloned(checkouts: Checkouts, issue: IssueAddress, url: str):
    with pytest.raises(WillNeverWork):
        await checkouts.prepare(issue, remote_of(url), BRANCH)


@pytest.mark.req("OP-06")
async def test_the_token_is_in_no_argument_environment_or_file(
    checkouts: Checkouts,
    issue: IssueAddress,
    remote: GitRemote,
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    spy, seen = tmp_path / "bin" / "git", tmp_path / "seen"
    spy.parent.mkdir()
    spy.write_text(f'#!/bin/sh\nenv >>{seen}\nprintf "%s\\n" "$@" >>{seen}\nexec {shutil.which("git")} "$@"\n')
    spy.chmod(0o755)
    monkeypatch.setenv("PATH", f"{spy.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    await checkouts.prepare(issue, remote, BRANCH)
    (checkouts.place(issue).tree / "new.txt").write_text("one\n")
    await checkouts.publish(issue, remote, BRANCH, COMMIT)
    assert "push" in seen.read_text()
    assert TOKEN not in seen.read_text()
    assert not _files_with(root, TOKEN)


def _files_with(folder: Path, words: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and words.encode() in path.read_bytes()]


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


@pytest.fixture
def small_disk(root: Path) -> Generator[Path]:
    if not acts_for_others():
        pytest.skip("only root can mount a small disk")
    disk = root / "disk"
    disk.mkdir()
    _mount("-t", "tmpfs", "-o", "size=1m,mode=711", "tmpfs", str(disk))
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


async def test_a_full_disk_is_said_and_nothing_is_lost(
    issue: IssueAddress, remote: GitRemote, server: GitServer, small_disk: Path
):
    checkouts = Checkouts(small_disk)
    await checkouts.prepare(issue, remote, BRANCH)
    (checkouts.place(issue).tree / "work.txt").write_text("precious\n")
    server.commit("owner/repo", "main", {"large.txt": os.urandom(1_000_000).hex()})
    other = IssueAddress.parse("github:owner/repo/issues/2")
    with pytest.raises(TryAgainLater, match="disk is full at"):
        await checkouts.prepare(other, remote, "hikitsugi/issue-2")
    _mount("-o", "remount,size=20m", str(small_disk))
    await checkouts.prepare(other, remote, "hikitsugi/issue-2")
    assert (await checkouts.publish(issue, remote, BRANCH, COMMIT)).files_changed == 1
