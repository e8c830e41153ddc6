"""Checks run on exactly the pushed commit, where nobody has worked, and leave nothing behind."""

from pathlib import Path

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import GitRemote
from hikitsugi.domain.verification import CheckRun, Verified
from hikitsugi.workspace.bubblewrap import Bubblewrap
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.confinement import Limits, NoSandbox
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.running import Launch
from hikitsugi.workspace.shell import Shell
from hikitsugi.workspace.unconfined import Unconfined
from tests.workspace.conftest import BRANCH, COMMIT, remote_of
from tests.workspace.git_server import GitServer

pytestmark = [pytest.mark.req("BY-03"), pytest.mark.lesson("C19")]
UNITTEST = "import unittest\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(1, {})\n"


@pytest.fixture
def checkouts(root: Path) -> Checkouts:
    return Checkouts(root, Shell(Unconfined(Limits()), Limits(timeout_seconds=20)))


async def _pushed(checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, **files: str) -> str:
    await checkouts.prepare(issue, remote, BRANCH)
    for name, content in files.items():
        path = checkouts.place(issue).tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return (await checkouts.publish(issue, remote, BRANCH, COMMIT)).commit


def _nothing_is_left(root: Path) -> bool:
    return not [path for folder in ("work", "git", "logs") for path in (root / folder).glob("*-verify*")]


async def test_only_what_was_pushed_is_checked(
    checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, root: Path, place: Place
):
    commit = await _pushed(checkouts, issue, remote, **{"made.txt": "pushed\n"})
    (place.tree / "made.txt").write_text("not pushed\n")
    (place.tree / "other.txt").write_text("not pushed\n")
    found = await checkouts.verify(issue, remote, commit, ("cat made.txt", "ls other.txt", "touch made-by-check"))
    assert [(check.command, check.exit_code) for check in found.checks] == [
        ("cat made.txt", 0),
        ("ls other.txt", 2),
        ("touch made-by-check", 0),
    ]
    assert found.checks[0].tail == "pushed"
    assert "other.txt" in found.checks[1].tail
    assert (found.commit, found.passed) == (commit, False)
    assert _nothing_is_left(root)
    assert (place.tree / "made.txt").read_text() == "not pushed\n"


async def test_verifying_twice_finds_the_same_and_clears_what_a_kill_left(
    checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, root: Path
):
    commit = await _pushed(checkouts, issue, remote)
    for folder in ("work", "git"):
        left = root / folder / f"{checkouts.place(issue).tree.name}-verify"
        left.mkdir()
        (left / "left-behind").touch()
    first = await checkouts.verify(issue, remote, commit, ("! ls left-behind",))
    assert first.passed
    assert await checkouts.verify(issue, remote, commit, ("! ls left-behind",)) == first
    assert _nothing_is_left(root)


async def test_a_host_that_never_saw_the_commit_fetches_it(
    checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, root: Path
):
    commit = await _pushed(checkouts, issue, remote, **{"made.txt": "pushed\n"})
    other = Checkouts(root / "other", Shell(Unconfined(Limits()), Limits()))
    assert (await other.verify(issue, remote, commit, ("cat made.txt",))).passed


async def test_the_settings_say_how_to_set_up_and_check(root: Path, issue: IssueAddress, remote: GitRemote):
    shell = Shell(Unconfined(Limits()), Limits())
    set_up = Checkouts(root, shell, setup_command="echo >>set-up.tmp", check_command="test -f set-up.tmp")
    commit = await _pushed(set_up, issue, remote)
    assert (set_up.place(issue).tree / "set-up.tmp").read_text() == "\n", "set up once for each checkout"
    found = await set_up.verify(issue, remote, commit)
    assert [check.command for check in found.checks] == ["test -f set-up.tmp"]
    assert found.passed
    broken = Checkouts(root, shell, setup_command="echo no network; exit 3", check_command="true")
    found = await broken.verify(issue, remote, commit)
    assert found.checks == (CheckRun(command="echo no network; exit 3", exit_code=3, tail="no network"),)
    assert not found.passed


async def test_a_check_that_takes_too_long_has_not_passed(root: Path, issue: IssueAddress, remote: GitRemote):
    impatient = Checkouts(root, Shell(Unconfined(Limits()), Limits(timeout_seconds=1)), check_command="sleep 60")
    found = await impatient.verify(issue, remote, await _pushed(impatient, issue, remote))
    assert not found.passed
    assert "took longer than 1 seconds" in found.checks[0].tail


async def test_without_a_sandbox_nothing_counts_as_checked(root: Path, issue: IssueAddress, remote: GitRemote):
    refusing = Checkouts(root, Shell(NoSandbox("no bwrap"), Limits()))
    commit = await _pushed(refusing, issue, remote)
    assert (await refusing.verify(issue, remote, commit)).checks == ()
    refused = await refusing.verify(issue, remote, commit, ("true",))
    assert (refused.checks[0].exit_code, refused.passed) == (126, False)


def test_no_check_is_not_a_passed_check():
    assert not Verified(commit="c").passed
    assert Verified(commit="c", checks=(CheckRun(command="x", exit_code=0, tail=""),)).passed


@pytest.mark.req("OP-06")
async def test_checks_are_confined_and_find_the_usual_way(
    root: Path, issue: IssueAddress, remote: GitRemote, bubblewrap: Bubblewrap
):
    checkouts = Checkouts(root, Shell(bubblewrap, Limits()))
    commit = await _pushed(checkouts, issue, remote, **{"test_it.py": UNITTEST.format(2)})
    found = await checkouts.verify(issue, remote, commit)
    assert [check.command for check in found.checks] in (["python -m unittest"], ["python -m pytest -q"])
    assert "1 != 2" in found.checks[0].tail
    assert not found.passed
    commit = await _pushed(checkouts, issue, remote, **{"test_it.py": UNITTEST.format(1)})
    assert (await checkouts.verify(issue, remote, commit)).passed
    outside = await checkouts.verify(issue, remote, commit, (f"ls {root}", "touch /usr/x", "env | grep -i token"))
    assert all(check.exit_code for check in outside.checks)


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"package.json": '{"scripts": {"test": "node --test"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, None),
        ({"package.json": "[not json"}, None),
        ({"Makefile": "build:\n\ttrue\ntest: build\n\ttrue\n"}, "make test"),
        ({"Makefile": "build:\n\ttrue\n"}, None),
        ({"go.mod": "module x\n"}, "go test ./..."),
        ({"Cargo.toml": "[package]\n"}, "cargo test"),
        ({"README.md": "# Nothing\n"}, None),
    ],
)
async def test_the_usual_checks_are_told_by_files_and_programs(
    root: Path, issue: IssueAddress, server: GitServer, tmp_path: Path, files: dict[str, str], command: str | None
):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("npm", "make", "go", "cargo"):
        (programs / name).write_text("#!/bin/sh\necho ran $0 $*\n")
        (programs / name).chmod(0o755)
    sandbox = Unconfined(Limits())
    launch = sandbox.launch
    server.create("other/repo", files)
    remote = remote_of(server.url("other/repo"))

    def with_programs(place: Place, command: str) -> Launch:
        return launch(place, f"PATH={programs}:$PATH; {command}")

    sandbox.launch = with_programs
    checkouts = Checkouts(root, Shell(sandbox, Limits()))
    found = await checkouts.verify(issue, remote, await _pushed(checkouts, issue, remote))
    assert [check.command for check in found.checks] == ([command] if command else [])
    assert found.passed == bool(command)
