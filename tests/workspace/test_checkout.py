"""Checkouts keep work, follow the branch and publish each change once."""

import asyncio
import os
import re
import shutil
from pathlib import Path

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import GitRemote
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.ownership import acts_for_others, sandbox_uid
from hikitsugi.workspace.places import Place
from tests.workspace.conftest import BRANCH, COMMIT, FILES
from tests.workspace.git_server import GitServer, git


def tip(server: GitServer, branch: str = BRANCH) -> str:
    return git("rev-parse", f"refs/heads/{branch}", cwd=server.folder / "owner/repo.git").strip()


def show(server: GitServer, path: str, branch: str = BRANCH) -> str:
    return git("show", f"{branch}:{path}", cwd=server.folder / "owner/repo.git")


def files(tree: Path) -> dict[str, str]:
    return {str(path.relative_to(tree)): path.read_text() for path in tree.rglob("*") if path.is_file()}


async def test_a_new_checkout_holds_the_default_branch_and_no_git_folder(place: Place):
    assert files(place.tree) == FILES


async def test_preparing_again_keeps_uncommitted_work(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote, server: GitServer
):
    (place.tree / "README.md").write_text("mine\n")
    server.commit("owner/repo", "main", {"README.md": "theirs\n"})
    await checkouts.prepare(issue, remote, BRANCH)
    assert (place.tree / "README.md").read_text() == "mine\n"


@pytest.mark.req("PL-07")
async def test_publishing_pushes_a_commit_and_counts_what_it_changes(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote, server: GitServer
):
    (place.tree / "src/greeting.py").write_text("def greet():\n    return 'hello'\n")
    (place.tree / "new.txt").write_text("one\ntwo\n")
    (place.tree / "scratch.tmp").write_text("ignored")
    published = await checkouts.publish(issue, remote, BRANCH, COMMIT)
    assert (published.files_changed, published.insertions, published.deletions) == (2, 3, 1)
    assert published.commit == tip(server)
    assert show(server, "new.txt") == "one\ntwo\n"
    assert "scratch.tmp" not in git("ls-tree", "-r", "--name-only", BRANCH, cwd=server.folder / "owner/repo.git")
    said = git("log", "-1", "--format=%an <%ae> %at %cn %ct%n%B", BRANCH, cwd=server.folder / "owner/repo.git")
    assert said.startswith(
        "Hikitsugi <hikitsugi@localhost> 1767323045 Hikitsugi 1767323045\nRepair the greeting\n\nFor #1"
    )


async def test_publishing_twice_pushes_once(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote, server: GitServer
):
    (place.tree / "new.txt").write_text("one\n")
    first = await checkouts.publish(issue, remote, BRANCH, COMMIT)
    assert await checkouts.publish(issue, remote, BRANCH, COMMIT) == first
    assert server.pushes == 1


async def test_the_same_change_gives_the_same_commit_on_any_host(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote, server: GitServer, root: Path
):
    (place.tree / "new.txt").write_text("one\n")
    first = await checkouts.publish(issue, remote, BRANCH, COMMIT)
    git("update-ref", "-d", f"refs/heads/{BRANCH}", cwd=server.folder / "owner/repo.git")
    other = Checkouts(root / "other")
    await other.prepare(issue, remote, BRANCH)
    (other.place(issue).tree / "new.txt").write_text("one\n")
    assert await other.publish(issue, remote, BRANCH, COMMIT) == first


@pytest.mark.usefixtures("place")
async def test_nothing_to_publish_makes_no_branch(
    checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, server: GitServer
):
    published = await checkouts.publish(issue, remote, BRANCH, COMMIT)
    assert published.is_empty
    assert published.commit == tip(server, "main")
    assert server.pushes == 0


@pytest.mark.req("PL-07")
async def test_a_second_session_on_another_host_goes_on_from_the_work_branch(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote, server: GitServer, root: Path
):
    (place.tree / "first.txt").write_text("1\n")
    first = await checkouts.publish(issue, remote, BRANCH, COMMIT)
    other = Checkouts(root / "other")
    await other.prepare(issue, remote, BRANCH)
    (other.place(issue).tree / "second.txt").write_text("2\n")
    published = await other.publish(issue, remote, BRANCH, COMMIT)
    assert published.files_changed == 2
    assert git("rev-parse", f"{BRANCH}^", cwd=server.folder / "owner/repo.git").strip() == first.commit


async def test_a_clean_checkout_moves_to_what_somebody_pushed(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote, server: GitServer
):
    (place.tree / "new.txt").write_text("one\n")
    await checkouts.publish(issue, remote, BRANCH, COMMIT)
    theirs = server.commit("owner/repo", BRANCH, {"new.txt": "two\n", "more.txt": "3\n"})
    await checkouts.prepare(issue, remote, BRANCH)
    assert (place.tree / "new.txt").read_text() == "two\n"
    assert (await checkouts.publish(issue, remote, BRANCH, COMMIT)).commit == theirs


async def test_a_clean_checkout_starts_anew_after_its_branch_was_merged_and_deleted(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote, server: GitServer
):
    (place.tree / "new.txt").write_text("one\n")
    await checkouts.publish(issue, remote, BRANCH, COMMIT)
    git("update-ref", "-d", f"refs/heads/{BRANCH}", cwd=server.folder / "owner/repo.git")
    server.commit("owner/repo", "main", {"new.txt": "squashed\n"})
    await checkouts.prepare(issue, remote, BRANCH)
    assert (place.tree / "new.txt").read_text() == "squashed\n"


async def test_work_is_merged_with_what_others_pushed_meanwhile(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote, server: GitServer
):
    (place.tree / "ours.txt").write_text("ours\n")
    server.commit("owner/repo", BRANCH, {"theirs.txt": "theirs\n"})
    published = await checkouts.publish(issue, remote, BRANCH, COMMIT)
    assert (show(server, "ours.txt"), show(server, "theirs.txt")) == ("ours\n", "theirs\n")
    assert published.files_changed == 2
    assert (place.tree / "theirs.txt").read_text() == "theirs\n"


async def test_a_conflict_with_what_others_pushed_is_said_and_loses_nothing(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote, server: GitServer
):
    (place.tree / "README.md").write_text("ours\n")
    theirs = server.commit("owner/repo", BRANCH, {"README.md": "theirs\n"})
    with pytest.raises(WillNeverWork, match="conflict"):
        await checkouts.publish(issue, remote, BRANCH, COMMIT)
    await checkouts.prepare(issue, remote, BRANCH)
    assert (place.tree / "README.md").read_text() == "ours\n"
    assert tip(server) == theirs


async def test_two_issues_share_one_mirror_at_the_same_time(
    checkouts: Checkouts, remote: GitRemote, server: GitServer, root: Path
):
    issues = [IssueAddress.parse(f"github:owner/repo/issues/{number}") for number in range(1, 6)]
    await asyncio.gather(*(checkouts.prepare(issue, remote, f"hikitsugi/issue-{issue.number}") for issue in issues))
    for issue in issues:
        (checkouts.place(issue).tree / "new.txt").write_text(f"{issue.number}\n")
    await asyncio.gather(
        *(checkouts.publish(issue, remote, f"hikitsugi/issue-{issue.number}", COMMIT) for issue in issues)
    )
    assert [show(server, "new.txt", f"hikitsugi/issue-{issue.number}") for issue in issues] == [
        f"{issue.number}\n" for issue in issues
    ]
    assert len([path for path in (root / "mirrors").iterdir() if path.suffix == ".git"]) == 1


async def test_a_lost_tree_is_laid_out_again(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote
):
    shutil.rmtree(place.tree)
    await checkouts.prepare(issue, remote, BRANCH)
    assert files(place.tree) == FILES


async def test_locks_that_a_killed_git_left_do_not_block(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote
):
    (place.git_dir / "index.lock").touch()
    (place.git_dir / "refs/heads/work.lock").touch()
    (place.tree / "new.txt").write_text("one\n")
    assert (await checkouts.publish(issue, remote, BRANCH, COMMIT)).files_changed == 1


async def test_the_tree_belongs_to_the_user_commands_run_as(place: Place):
    owners = {path.lstat().st_uid for path in (place.tree, *place.tree.rglob("*"))}
    assert owners == {sandbox_uid(place.tree)}
    assert (sandbox_uid(place.tree) != os.geteuid()) == acts_for_others()


@pytest.mark.parametrize("branch", ["main", "-u", "a..b", "@{", "a b", "", "x.lock", "refs/heads/../main"])
async def test_only_a_proper_work_branch_is_pushed_to(
    checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, server: GitServer, branch: str
):
    with pytest.raises(WillNeverWork, match="branch"):
        await checkouts.prepare(issue, remote, branch)
    assert server.pushes == 0


@pytest.mark.lesson("P9")
async def test_a_commit_message_is_never_run(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote, server: GitServer, tmp_path: Path
):
    message = f"$(touch {tmp_path}/ran) `touch {tmp_path}/ran`; touch {tmp_path}/ran\n-F /etc/passwd\0"
    (place.tree / "new.txt").write_text("one\n")
    await checkouts.publish(issue, remote, BRANCH, COMMIT.model_copy(update={"message": message}))
    said = git("log", "-1", "--format=%B", BRANCH, cwd=server.folder / "owner/repo.git")
    assert said.strip() == message.replace("\0", "").strip()
    assert not (tmp_path / "ran").exists()


async def test_without_a_checkout_the_sentence_says_so(checkouts: Checkouts, issue: IssueAddress, remote: GitRemote):
    with pytest.raises(WillNeverWork, match=re.escape(str(issue))):
        await checkouts.publish(issue, remote, BRANCH, COMMIT)


async def test_a_request_from_a_fork_is_checked_out_from_the_forges_own_ref(
    checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, server: GitServer
):
    server.commit("owner/repo", "theirs", {"copy.txt": "from a fork\n"})
    bare = server.folder / "owner/repo.git"
    git("update-ref", "refs/pull/3/head", "refs/heads/theirs", cwd=bare)
    git("update-ref", "-d", "refs/heads/theirs", cwd=bare)
    await checkouts.prepare(issue, remote, "refs/pull/3/head")
    assert (checkouts.place(issue).tree / "copy.txt").read_text() == "from a fork\n"
