"""What nobody used for long goes; what is in use, or holds unpublished commits, stays."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import GitRemote
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.locks import locked
from hikitsugi.workspace.places import Place, default_root
from tests.workspace.conftest import BRANCH, COMMIT
from tests.workspace.git_server import GitServer
from tests.workspace.test_checkout import show

DAY = timedelta(days=1)


def _later() -> datetime:
    return datetime.now(UTC) + 2 * DAY


def _left(root: Path) -> set[str]:
    return {folder.name for folder in root.iterdir() if list(folder.iterdir())}


async def test_a_stale_workspace_goes_with_its_mirror_and_comes_back_from_the_branch(
    checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, root: Path, place: Place, server: GitServer
):
    (place.tree / "ours.txt").write_text("ours\n")
    await checkouts.publish(issue, remote, BRANCH, COMMIT)
    (place.tree / "closed").mkdir(mode=0)
    assert await checkouts.sweep(datetime.now(UTC), DAY) == []
    said = await checkouts.sweep(_later(), DAY)
    assert [line.rpartition(" ")[0] for line in said] == ["removed the workspace", "removed the mirror"]
    assert _left(root) == set()
    assert await checkouts.sweep(_later(), DAY) == []
    await checkouts.prepare(issue, remote, BRANCH)
    assert (place.tree / "ours.txt").read_text() == show(server, "ours.txt")


async def test_whoever_uses_a_workspace_keeps_it(checkouts: Checkouts, issue: IssueAddress, root: Path, place: Place):
    long_ago = datetime.now(UTC).timestamp() - 3 * DAY.total_seconds()
    for path in (place.tree, place.git_dir, place.lock):
        os.utime(path, (long_ago, long_ago))
    async with locked(place.lock):
        assert await checkouts.sweep(_later(), DAY) == []
    for path in (place.tree, place.git_dir, place.lock):
        os.utime(path, (long_ago, long_ago))
    checkouts.place(issue)
    assert await checkouts.sweep(datetime.now(UTC), DAY) == []
    assert place.tree.is_dir()
    assert (root / "mirrors").is_dir()


async def test_an_issue_under_way_keeps_its_workspace_and_its_mirror_however_long_it_rests(
    checkouts: Checkouts, issue: IssueAddress, place: Place
):
    (place.tree / "half-done.txt").write_text("not committed yet\n")
    assert await checkouts.sweep(_later(), DAY, [issue]) == []
    assert (place.tree / "half-done.txt").exists()
    assert len(await checkouts.sweep(_later(), DAY, [issue.model_copy(update={"number": 99})])) == 2


async def test_commits_that_could_not_be_pushed_are_kept(
    checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, place: Place, server: GitServer
):
    (place.tree / "README.md").write_text("ours\n")
    server.commit("owner/repo", BRANCH, {"README.md": "theirs\n"})
    with pytest.raises(WillNeverWork, match="conflict"):
        await checkouts.publish(issue, remote, BRANCH, COMMIT)
    assert "could not be pushed" in (await checkouts.sweep(_later(), DAY))[0]
    assert place.tree.is_dir()


async def test_what_interrupted_work_left_goes_too(checkouts: Checkouts, root: Path, place: Place):
    for folder in ("work/self-test-x", "git/a.new", "logs/gone", "work/x-verify"):
        (root / folder).mkdir(parents=True)
    await checkouts.sweep(_later(), DAY)
    assert _left(root) == set()
    assert not place.tree.exists()


def test_a_shared_root_whose_data_folder_is_gone_is_removed(tmp_path: Path):
    shared, data = tmp_path / "shared", tmp_path / "closed" / "data"
    shared.mkdir()
    data.mkdir(parents=True)
    (tmp_path / "closed").chmod(0o700)
    first = default_root(data, shared)
    if first == data / "workspaces":
        return
    (first / "work").mkdir()
    data.rmdir()
    other = tmp_path / "closed" / "other"
    other.mkdir()
    assert default_root(other, shared) != first
    assert not first.exists()
