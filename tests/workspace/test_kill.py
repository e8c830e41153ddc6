"""Killed before or after any git command of preparing and publishing, the next try ends as if nothing happened."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import GitRemote
from hikitsugi.workspace.checkout import Checkouts
from tests.workspace.conftest import BRANCH, COMMIT
from tests.workspace.git_server import GitServer, git
from tests.workspace.test_checkout import files, show, tip

_SAMPLE = {3, 25}
_POINTS = [
    pytest.param(when, point, marks=[] if point in _SAMPLE else [pytest.mark.long])
    for when in ("before", "after")
    for point in range(1, 36)
]


def _deadly_git(bin_folder: Path, when: str, point: int) -> None:
    """A git that kills who called it at the given call."""
    bin_folder.mkdir()
    real, calls = shutil.which("git"), bin_folder / "calls"
    kill = f'[ "$(wc -c <{calls})" = {point} ] && kill -9 $PPID'
    body = f'{kill} && exit 1\nexec {real} "$@"' if when == "before" else f'{real} "$@"\ncode=$?\n{kill}\nexit $code'
    # Only git as we call it counts; git calls itself with its own names.
    script = f'#!/bin/sh\ncase "$1" in --git-dir=*) ;; *) exec {real} "$@";; esac\nprintf x >>{calls}\n{body}\n'
    (bin_folder / "git").write_text(script)
    (bin_folder / "git").chmod(0o755)


async def _run_until_killed(step: str, root: Path, url: str, bin_folder: Path, when: str, point: int) -> None:
    _deadly_git(bin_folder, when, point)
    env = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    victim = [sys.executable, "-m", "tests.workspace.kill_victim", step, str(root), url]
    process = await asyncio.create_subprocess_exec(*victim, env=env, cwd=Path(__file__).parents[2])
    await process.wait()


@pytest.mark.req("TW-04")
@pytest.mark.parametrize(("when", "point"), _POINTS)
async def test_preparing_is_made_good(
    when: str, point: int, root: Path, tmp_path: Path, remote: GitRemote, issue: IssueAddress, server: GitServer
):
    await _run_until_killed("prepare", root, remote.url, tmp_path / "bin", when, point)
    checkouts = Checkouts(root)
    await checkouts.prepare(issue, remote, BRANCH)
    tree = checkouts.place(issue).tree
    server.commit("owner/repo", BRANCH, {"src/greeting.py": "moved\n", "theirs.txt": "theirs\n"})
    await _run_until_killed("prepare", root, remote.url, tmp_path / "bin2", when, point)
    await checkouts.prepare(issue, remote, BRANCH)
    assert files(tree)["src/greeting.py"] == "moved\n"
    assert (await checkouts.publish(issue, remote, BRANCH, COMMIT)).commit == tip(server)
    assert server.pushes == 0


@pytest.mark.req("TW-04", "PL-07")
@pytest.mark.parametrize(("when", "point"), _POINTS)
async def test_publishing_is_made_good(
    when: str, point: int, root: Path, tmp_path: Path, remote: GitRemote, issue: IssueAddress, server: GitServer
):
    checkouts = Checkouts(root)
    await checkouts.prepare(issue, remote, BRANCH)
    (checkouts.place(issue).tree / "ours.txt").write_text("ours\n")
    server.commit("owner/repo", BRANCH, {"theirs.txt": "theirs\n"})
    await _run_until_killed("publish", root, remote.url, tmp_path / "bin", when, point)
    published = await checkouts.publish(issue, remote, BRANCH, COMMIT)
    assert server.pushes == 1
    assert published.commit == tip(server)
    assert (published.files_changed, published.insertions, published.deletions) == (2, 2, 0)
    assert (show(server, "ours.txt"), show(server, "theirs.txt")) == ("ours\n", "theirs\n")
    history = git("log", "--format=%s", f"main..{BRANCH}", cwd=server.folder / "owner/repo.git").splitlines()
    assert sorted(history) == ["By a person", "Repair the greeting", f"Take in what others pushed to {BRANCH}"]
