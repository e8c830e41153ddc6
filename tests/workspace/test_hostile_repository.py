"""A repository, or a command in its checkout, that wants the host's git to run something: nothing runs."""

import os
from pathlib import Path

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import GitRemote
from hikitsugi.domain.tools import Intent, ToolCall
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.tools import WorkspaceTools
from tests.workspace.conftest import BRANCH, COMMIT, remote_of
from tests.workspace.git_server import GitServer, git

_ATTRIBUTES = "* filter=evil diff=evil merge=evil\n"


def _plant(folder: Path, sentinel: Path) -> None:
    """Make a folder a repository in which everything that git would run is set, and see that it does run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "file.txt").write_text("text\n")
    repository = folder / ".git"
    git("init", "--quiet", cwd=folder)
    for key in ("filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "diff.evil.textconv"):
        git("config", "--file", str(repository / "config"), key, f"touch {sentinel}; cat", cwd=folder)
    (repository / "hooks").mkdir(exist_ok=True)
    for name in ("pre-commit", "post-checkout", "post-index-change", "reference-transaction", "pre-push", "post-merge"):
        (repository / "hooks" / name).write_text(f"#!/bin/sh\ntouch {sentinel}\n")
        (repository / "hooks" / name).chmod(0o755)
    git(f"--git-dir={repository}", f"--work-tree={folder}", "add", "file.txt", cwd=folder)
    sentinel.unlink()


def _ran(sentinel: Path) -> bool:
    return sentinel.exists()


@pytest.fixture
def sentinel(root: Path) -> Path:
    return root / "ran"


async def test_git_folders_planted_by_commands_run_nothing_and_are_removed(
    checkouts: Checkouts,
    place: Place,
    tools: WorkspaceTools,
    issue: IssueAddress,
    remote: GitRemote,
    server: GitServer,
    sentinel: Path,
):
    (place.tree / ".gitattributes").write_text(_ATTRIBUTES)
    for folder in (place.tree, place.tree / "src", place.tree / "deep" / "nested"):
        _plant(folder, sentinel)
    (place.tree / "linked").mkdir()
    (place.tree / "linked" / ".git").write_text(f"gitdir: {place.tree}/deep/nested/.git\n")
    for name, given in (("glob", {"pattern": "**/*.txt"}), ("grep", {"pattern": "text"})):
        await tools.carry_out(issue, Intent(call=ToolCall(id=name, name=name, input={**given})))
    await checkouts.prepare(issue, remote, BRANCH)
    published = await checkouts.publish(issue, remote, BRANCH, COMMIT)
    assert published.files_changed == 4
    assert not _ran(sentinel)
    assert not list(place.tree.rglob(".git"))
    assert "160000" not in git("ls-tree", "-r", BRANCH, cwd=server.folder / "owner/repo.git")


async def test_attributes_hooks_and_lfs_of_a_cloned_repository_are_inert(
    checkouts: Checkouts, issue: IssueAddress, server: GitServer, sentinel: Path
):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    files = {
        ".gitattributes": f"{_ATTRIBUTES}*.bin filter=lfs diff=lfs merge=lfs -text\n",
        "large.bin": pointer,
        "hooks/post-checkout": f"#!/bin/sh\ntouch {sentinel}\n",
        ".gitconfig": f"[core]\n\tfsmonitor = touch {sentinel}\n",
        ".lfsconfig": "[lfs]\n\turl = http://127.0.0.1:9/\n",
        ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = http://127.0.0.1:9/x\n',
    }
    server.create("evil/repo", files)
    remote = remote_of(server.url("evil/repo"))
    await checkouts.prepare(issue, remote, BRANCH)
    tree = checkouts.place(issue).tree
    assert (tree / "large.bin").read_text() == pointer
    (tree / "large.bin").write_text("changed\n")
    assert (await checkouts.publish(issue, remote, BRANCH, COMMIT)).files_changed == 1
    assert not _ran(sentinel)


async def test_a_repository_planted_where_the_remote_has_a_submodule_runs_nothing(
    checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, server: GitServer, sentinel: Path
):
    desk = server.folder / "desk"
    git("clone", "--quiet", str(server.folder / "owner/repo.git"), str(desk), cwd=server.folder)
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module", cwd=desk)
    git("commit", "--quiet", "-m", "A submodule", cwd=desk)
    git("push", "--quiet", cwd=desk)
    await checkouts.prepare(issue, remote, BRANCH)
    tree = checkouts.place(issue).tree
    (tree / ".gitattributes").write_text(_ATTRIBUTES)
    _plant(tree / "module", sentinel)
    await checkouts.prepare(issue, remote, BRANCH)
    published = await checkouts.publish(issue, remote, BRANCH, COMMIT)
    await checkouts.verify(issue, remote, published.commit)
    assert not _ran(sentinel)
    assert not list(tree.rglob(".git"))


async def test_a_submodule_address_that_is_an_option_refuses_the_clone(
    checkouts: Checkouts, issue: IssueAddress, server: GitServer
):
    files = {".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n', "payload": "#!/bin/sh\n"}
    server.create("evil/repo", files)
    with pytest.raises(WillNeverWork, match="git refuses the repository"):
        await checkouts.prepare(issue, remote_of(server.url("evil/repo")), BRANCH)


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("out", "/etc/passwd"),
        ("out", ".."),
        ("src/out", "../../x"),
        ("src/out", "down/../../.."),
        ("out", "src/.git/config"),
    ],
)
async def test_a_new_link_out_of_the_tree_is_refused_before_and_at_publishing(
    checkouts: Checkouts,
    place: Place,
    tools: WorkspaceTools,
    issue: IssueAddress,
    remote: GitRemote,
    server: GitServer,
    link: str,
    target: str,
):
    (place.tree / link).symlink_to(target)
    call = ToolCall(id="1", name="submit", input={"status": "done", "summary": "Done."})
    outcome = await tools.carry_out(issue, Intent(call=call))
    assert outcome.is_error
    assert link in outcome.text
    with pytest.raises(WillNeverWork, match="leads out of the repository"):
        await checkouts.publish(issue, remote, BRANCH, COMMIT)
    assert server.pushes == 0


async def test_links_inside_the_tree_and_ignored_links_are_fine(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote
):
    (place.tree / "src" / "readme").symlink_to("../README.md")
    (place.tree / "python.tmp").symlink_to("/usr/bin/python3")
    assert (await checkouts.publish(issue, remote, BRANCH, COMMIT)).files_changed == 1


async def test_pipes_sockets_and_closed_folders_do_not_hinder_publishing(
    checkouts: Checkouts, place: Place, issue: IssueAddress, remote: GitRemote
):
    (place.tree / "README.md").unlink()
    os.mkfifo(place.tree / "README.md")
    (place.tree / "closed").mkdir()
    (place.tree / "closed" / "file.txt").write_text("text\n")
    (place.tree / "closed" / "file.txt").chmod(0)
    (place.tree / "closed").chmod(0)
    published = await checkouts.publish(issue, remote, BRANCH, COMMIT)
    assert (published.files_changed, published.insertions, published.deletions) == (2, 1, 1)


async def test_a_huge_file_is_refused_without_being_read(
    checkouts: Checkouts, place: Place, tools: WorkspaceTools, issue: IssueAddress, remote: GitRemote
):
    with (place.tree / "huge").open("wb") as file:
        file.truncate(10 * 1024**3)
    for name, given in (("grep", {"pattern": "x"}), ("read", {"path": "huge"})):
        await tools.carry_out(issue, Intent(call=ToolCall(id=name, name=name, input={**given})))
    with pytest.raises(WillNeverWork, match="huge is larger than 50 MB"):
        await checkouts.publish(issue, remote, BRANCH, COMMIT)
