"""A forge with people on it, reached over HTTP by the adapter under test."""

import asyncio
import subprocess
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import SecretStr

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.kinds import KindName
from hikitsugi.devforge.records import Edit
from hikitsugi.devforge.server import serve
from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress
from hikitsugi.domain.issue import ChangeRequest, GitRemote, IssueNews
from hikitsugi.domain.ports import Cursor
from hikitsugi.forges.github import GitHubForge
from hikitsugi.forges.gitlab import GitLabForge

TOKENS = {"bot": "token-of-the-bot", "ann": "token-of-ann", "guest": "token-of-the-guest"}
REPOSITORIES: dict[KindName, str] = {"github": "acme/shop", "gitlab": "acme/web/shop"}
ADAPTERS: dict[KindName, Callable[[str], GitHubForge | GitLabForge]] = {
    "github": lambda url: GitHubForge("github", url, SecretStr(TOKENS["bot"]), None),
    "gitlab": lambda url: GitLabForge("gitlab", url, SecretStr(TOKENS["bot"]), None),
}


@dataclass
class Clock:
    """The forge's clock; what is said while it is behind was said earlier."""

    behind: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) - self.behind


@dataclass
class World:
    """The adapter, and what people do beside it."""

    name: KindName
    forge: GitHubForge | GitLabForge
    dev: DevForge
    url: str
    clock: Clock
    counted: int = 0

    @property
    def repository(self) -> str:
        return REPOSITORIES[self.name]

    @property
    def home(self) -> RepositoryAddress:
        return RepositoryAddress(forge=self.name, repository=self.repository)

    def address(self, number: int) -> IssueAddress:
        return IssueAddress(forge=self.name, repository=self.repository, number=number)

    def request_address(self, request: ChangeRequest) -> IssueAddress:
        kind = Kind.MERGE_REQUEST if self.name == "gitlab" else Kind.PULL_REQUEST
        return self.address(request.number).model_copy(update={"kind": kind})

    def open_issue(self, *labels: str) -> IssueAddress:
        issue = self.dev.open_issue(self.repository, "Sum is wrong", "It says 5.", "ann", labels)
        return self.address(issue.number)

    def say(self, issue: IssueAddress, body: str, author: str = "ann") -> str:
        return str(self.dev.comment(self.repository, issue.number, author, body).id)

    def say_on_request(self, request: ChangeRequest, body: str, author: str = "ann") -> None:
        home = self.dev.repository(self.repository)
        self.dev.say(home, home.pull(request.number)[0], self.dev.person(author), body)

    def close_request(self, request: ChangeRequest) -> None:
        home = self.dev.repository(self.repository)
        home.edit_pull(request.number, self.dev.person("ann"), Edit(is_open=False))

    def branch(self, name: str) -> str | None:
        return self.dev.repository(self.repository).git.commit_of(name)

    def correct(self, comment_id: str, body: str) -> None:
        self.dev.repository(self.repository).tracker.edit_comment(int(comment_id), body)

    def withdraw(self, comment_id: str) -> None:
        self.dev.repository(self.repository).tracker.delete_comment(int(comment_id))

    def label(self, issue: IssueAddress, *labels: str) -> None:
        self.dev.repository(self.repository).tracker.add_labels(issue.number, self.dev.person("ann"), labels)

    @contextmanager
    def earlier(self) -> Generator[None]:
        """What happens meanwhile happened an hour ago."""
        self.clock.behind = timedelta(hours=1)
        try:
            yield
        finally:
            self.clock.behind = timedelta()

    def close(self, issue: IssueAddress) -> None:
        self.dev.repository(self.repository).tracker.edit(issue.number, self.dev.person("ann"), Edit(is_open=False))

    def labels(self, issue: IssueAddress) -> set[str]:
        return set(self.dev.issue(self.repository, issue.number).labels)

    def said(self, issue: IssueAddress) -> list[str]:
        return [comment.body for comment in self.dev.comments(self.repository, issue.number)]

    def calls(self) -> list[tuple[str, int]]:
        """Method and status of each call since the last time."""
        made = list(self.dev.requests)
        fresh, self.counted = made[self.counted :], len(made)
        return [(call.method, call.status) for call in fresh]

    async def started(self) -> Cursor:
        return (await self.forge.look(self.home, None)).cursor

    async def news(self, cursor: Cursor) -> tuple[IssueNews, ...]:
        return (await self.forge.look(self.home, cursor)).news

    async def until(self, happened: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not happened():  # noqa: ASYNC110 (the forge tells nobody)
                await asyncio.sleep(0.01)

    async def push(self, remote: GitRemote, branch: str, folder: Path) -> None:
        """Put a branch with one more commit there, with nothing but what the remote tells."""
        secret = f"{remote.username}:{remote.token.get_secret_value()}@"
        await _git("clone", "--quiet", remote.url.replace("://", f"://{secret}"), str(folder))
        await _git("-C", str(folder), "checkout", "-q", "-B", branch, f"origin/{remote.default_branch}")
        identity = ("-c", "user.name=t", "-c", "user.email=t@localhost")
        await _git("-C", str(folder), *identity, "commit", "-q", "--allow-empty", "-m", "work")
        await _git("-C", str(folder), "push", "-q", "origin", branch)


async def _git(*arguments: str) -> None:
    await asyncio.to_thread(subprocess.run, ["git", *arguments], check=True, capture_output=True)


@asynccontextmanager
async def world(adapter: KindName, folder: Path, call_limit: int | None = None) -> AsyncGenerator[World]:
    """One repository with a bot, a maintainer and a guest."""
    clock = Clock()
    dev = DevForge(folder, adapter, call_limit, now=clock)
    for login, token in TOKENS.items():
        dev.add_person(login, token, "read" if login == "guest" else "write", is_bot=login == "bot")
    dev.add_repository(REPOSITORIES[adapter], {"README.md": "# Shop\n"})
    async with serve(dev) as url, aclosing(ADAPTERS[adapter](url)) as forge:
        yield World(adapter, forge, dev, url, clock)
