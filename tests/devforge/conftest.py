"""A seeded forge on a free port, real GitHub clients for its people, and real git."""

import os
import subprocess
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from github import Auth, Github
from github.Repository import Repository

from hikitsugi.devforge import DevForge, serve_in_thread

HOME = "example/calculator"
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

    def push(branch: str, path: str = "calculator.py", text: str = "def add(a, b):\n    return a + b\n") -> str:
        git("checkout", "--quiet", "-B", branch, cwd=checkout)
        (checkout / path).write_text(text, encoding="utf-8")
        git("add", "--all", cwd=checkout)
        git("commit", "--quiet", "--message", f"Change {path}", cwd=checkout)
        git("push", "--quiet", "--force", "origin", branch, cwd=checkout)
        return git("rev-parse", "HEAD", cwd=checkout).strip()

    return push
