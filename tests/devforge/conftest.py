"""A seeded forge of each kind on a free port, real clients for its people, and real git."""

import os
import subprocess
from collections.abc import Callable, Generator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from github import Auth, Github
from github.Repository import Repository
from gitlab import Gitlab
from gitlab.v4.objects import Project

from hikitsugi.devforge import DevForge, serve_in_thread

HOME = "example/calculator"
PROJECT = "example/tools/calculator"
BOT_TOKEN = "token-of-bot"
FILES = {
    "README.md": "# Calculator\n",
    "calculator.py": "def add(a, b):\n    return a - b\n",
    "docs/guide/start.md": "はじめに\n",
    "run.sh": "#!/bin/sh\nexec python calculator.py\n",
}
ClientFor = Callable[..., Github]
Git = Callable[..., str]


@pytest.fixture
def forge(tmp_path: Path) -> DevForge:
    forge = DevForge(tmp_path / "forge")
    forge.add_person("hanako", "token-of-hanako", "admin")
    forge.add_person("taro", "token-of-taro", "read")
    forge.add_person("hikitsugi", BOT_TOKEN, is_bot=True)
    forge.add_repository(HOME, FILES)
    return forge


@pytest.fixture
def base_url(forge: DevForge) -> Generator[str]:
    with serve_in_thread(forge) as address:
        yield address


@pytest.fixture
def client(base_url: str) -> Generator[ClientFor]:
    """A PyGithub client for a token, as the product makes it."""
    with ExitStack() as opened:

        def make(token: str = BOT_TOKEN, api: str = "", per_page: int = 100) -> Github:
            made = github_client(base_url + api, token, per_page)
            opened.callback(made.close)
            return made

        yield make


def github_client(api: str, token: str, per_page: int = 100) -> Github:
    return Github(
        auth=Auth.Token(token),
        base_url=api,
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
        lazy=True,
        per_page=per_page,
    )


@pytest.fixture
def repo(client: ClientFor) -> Repository:
    return client().get_repo(HOME)


@pytest.fixture
def browser(base_url: str) -> Generator[httpx2.Client]:
    with httpx2.Client(base_url=base_url, follow_redirects=True, trust_env=False) as opened:
        yield opened


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """The git command, asking this token's password of nobody but the environment."""

    def run(*arguments: str, cwd: Path | None = None, token: str = BOT_TOKEN, check: bool = True) -> str:
        helper = '!f() { echo username=x-access-token; echo "password=$TOKEN"; }; f'
        identity = ["-c", "user.name=Bot", "-c", "user.email=bot@localhost", "-c", "http.proxy="]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "TOKEN": token,
        }
        done = subprocess.run(
            ["git", "-c", f"credential.helper={helper}", *identity, *arguments],
            cwd=cwd or tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(done.stderr)
        return done.stdout if not done.returncode else f"refused: {done.stderr}"

    return run


@pytest.fixture
def checkout(base_url: str, git: Git, tmp_path: Path) -> Path:
    """A fresh clone of the repository."""
    git("clone", "--quiet", f"{base_url}/{HOME}.git", "checkout")
    return tmp_path / "checkout"


Publish = Callable[..., str]


@pytest.fixture
def publish(checkout: Path, git: Git) -> Publish:
    """Commit one file on a branch and push it; the commit."""
    return pusher(git, checkout)


def pusher(git: Git, checkout: Path) -> Publish:
    def push(branch: str, path: str = "calculator.py", text: str = "def add(a, b):\n    return a + b\n") -> str:
        git("checkout", "--quiet", "-B", branch, cwd=checkout)
        (checkout / path).write_text(text, encoding="utf-8")
        git("add", "--all", cwd=checkout)
        git("commit", "--quiet", "--message", f"Change {path}", cwd=checkout)
        git("push", "--quiet", "--force", "origin", branch, cwd=checkout)
        return git("rev-parse", "HEAD", cwd=checkout).strip()

    return push


class Clock:
    """A clock that goes as usual and can be put forward."""

    def __init__(self) -> None:
        self._ahead = timedelta(0)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def forward(self, by: timedelta) -> None:
        self._ahead += by


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lab(tmp_path: Path, clock: Clock) -> DevForge:
    """A forge that speaks GitLab."""
    forge = DevForge(tmp_path / "lab", "gitlab", now=clock)
    forge.add_person("hanako", "token-of-hanako", "admin")
    forge.add_person("taro", "token-of-taro", "read")
    forge.add_person("hikitsugi", BOT_TOKEN, is_bot=True)
    forge.add_repository(PROJECT, FILES)
    return forge


@pytest.fixture
def lab_url(lab: DevForge) -> Generator[str]:
    with serve_in_thread(lab) as address:
        yield address


ProjectFor = Callable[..., Project]


@pytest.fixture
def project_for(lab_url: str) -> Generator[ProjectFor]:
    """The project through a python-gitlab client of a person, as the product makes it."""
    with ExitStack() as opened:

        def make(token: str = BOT_TOKEN) -> Project:
            made = opened.enter_context(Gitlab(lab_url, private_token=token, timeout=20, user_agent="tests"))
            return made.projects.get(PROJECT, lazy=True)

        yield make


@pytest.fixture
def project(project_for: ProjectFor) -> Project:
    return project_for()


@pytest.fixture
def lab_browser(lab_url: str) -> Generator[httpx2.Client]:
    with httpx2.Client(base_url=lab_url, follow_redirects=True, trust_env=False) as opened:
        yield opened


@pytest.fixture
def publish_to_lab(lab_url: str, git: Git, tmp_path: Path) -> Publish:
    """Commit one file on a branch of the project and push it; the commit."""
    git("clone", "--quiet", f"{lab_url}/{PROJECT}.git", "lab-checkout")
    return pusher(git, tmp_path / "lab-checkout")
