"""A large repository's next checkout is laid out ahead, and is as good as any other."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import GitRemote
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.ownership import FIRST_UID, acts_for_others, sandbox_uid
from tests.workspace.conftest import COMMIT, remote_of
from tests.workspace.git_server import GitServer, git

FILES = {f"src/{n % 20}/file{n}.py": f"value = {n}\n" for n in range(1000)}


@pytest.fixture
def remote(server: GitServer) -> GitRemote:
    server.create("large/repo", FILES)
    return remote_of(server.url("large/repo"))


def _issue(number: int) -> IssueAddress:
    return IssueAddress(forge="github", repository="large/repo", number=number)


def _branch(number: int) -> str:
    return f"hikitsugi/issue-{number}"


def _spare(root: Path) -> list[Path]:
    return list((root / "work").glob("*-spare"))


@pytest.mark.lesson("C22")
async def test_a_spare_becomes_the_next_checkout(
    checkouts: Checkouts, remote: GitRemote, server: GitServer, root: Path
):
    async with checkouts.keeping_spares() as spares:
        await checkouts.prepare(_issue(1), remote, _branch(1))
        await spares.all_made()
    [spare] = _spare(root)
    inode = spare.stat().st_ino
    await checkouts.prepare(_issue(2), remote, _branch(2))
    second = checkouts.place(_issue(2))
    assert (second.tree.stat().st_ino, _spare(root)) == (inode, [])
    if acts_for_others():
        assert sandbox_uid(second.tree) == second.tree.stat().st_uid >= FIRST_UID
    (second.tree / "src/0/file0.py").write_text("value = 'changed'\n")
    assert (await checkouts.publish(_issue(2), remote, _branch(2), COMMIT)).files_changed == 1
    assert git("show", f"{_branch(2)}:src/0/file0.py", cwd=server.folder / "large/repo.git") == "value = 'changed'\n"
    assert (checkouts.place(_issue(1)).tree / "src/0/file0.py").read_text() == "value = 0\n"


async def test_an_old_or_broken_spare_does_no_harm_and_is_swept(
    checkouts: Checkouts, remote: GitRemote, server: GitServer, root: Path
):
    async with checkouts.keeping_spares() as spares:
        await checkouts.prepare(_issue(1), remote, _branch(1))
        await spares.all_made()
        server.commit("large/repo", "main", {"src/0/file0.py": "value = 'moved'\n"})
        await checkouts.prepare(_issue(2), remote, _branch(2))
        assert (checkouts.place(_issue(2)).tree / "src/0/file0.py").read_text() == "value = 'moved'\n"
        await spares.all_made()
    [spare] = _spare(root)
    (spare / "src/0/file0.py").write_text("half written")
    (root / "git" / spare.name / "unsettled").touch()
    await checkouts.prepare(_issue(3), remote, _branch(3))
    assert (checkouts.place(_issue(3)).tree / "src/0/file0.py").read_text() == "value = 'moved'\n"
    await checkouts.sweep(datetime.now(UTC) + timedelta(days=2), timedelta(days=1))
    assert _spare(root) == []


async def test_a_small_repository_has_no_spare(
    checkouts: Checkouts, issue: IssueAddress, server: GitServer, root: Path
):
    async with checkouts.keeping_spares() as spares:
        await checkouts.prepare(issue, remote_of(server.url("owner/repo")), _branch(1))
        await spares.all_made()
    assert _spare(root) == []
