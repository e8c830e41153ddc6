"""A git server, a workspace root that the sandbox's user can reach, and a prepared checkout."""

import os
import shutil
import tempfile
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import GitRemote
from hikitsugi.domain.workspace import Commit
from hikitsugi.workspace.bubblewrap import Bubblewrap
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.confinement import Limits
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.tools import WorkspaceTools
from hikitsugi.workspace.unconfined import Unconfined
from tests.workspace.git_server import TOKEN, GitServer

BRANCH = "hikitsugi/issue-1"
COMMIT = Commit(message="Repair the greeting\n\nFor #1", at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
FILES = {"README.md": "# Sample\n", "src/greeting.py": "def greet():\n    return 'helo'\n", ".gitignore": "*.tmp\n"}


def missing(reason: str) -> None:
    """Skip a test that this machine cannot run, or fail it where everything must run."""
    if os.environ.get("HIKITSUGI_TEST_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def root() -> Generator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hikitsugi-test-", dir="/var/tmp"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def server(tmp_path: Path) -> Generator[GitServer]:
    folder = tmp_path / "server"
    folder.mkdir()
    with GitServer(folder) as running:
        running.create("owner/repo", FILES)
        yield running


@pytest.fixture
def remote(server: GitServer) -> GitRemote:
    return remote_of(server.url("owner/repo"))


def remote_of(url: str, token: str = TOKEN) -> GitRemote:
    """The remote at an address."""
    return GitRemote(url=url, username="x-access-token", token=SecretStr(token), default_branch="main")


@pytest.fixture
def issue() -> IssueAddress:
    return IssueAddress.parse("github:owner/repo/issues/1")


@pytest.fixture
def checkouts(root: Path) -> Checkouts:
    return Checkouts(root)


@pytest.fixture
async def place(checkouts: Checkouts, issue: IssueAddress, remote: GitRemote) -> Place:
    await checkouts.prepare(issue, remote, BRANCH)
    return checkouts.place(issue)


@pytest.fixture
def tools(checkouts: Checkouts) -> WorkspaceTools:
    """Tools without confinement, for what has nothing to do with the sandbox."""
    return WorkspaceTools(checkouts, Unconfined(Limits()), Limits())


@pytest.fixture
async def bubblewrap(root: Path) -> Bubblewrap:
    sandbox = Bubblewrap(root, Limits())
    if complaint := await sandbox.self_test():
        missing(f"bubblewrap does not work here: {complaint}")
    return sandbox
