"""A forge with people on it, reached over HTTP by the adapter under test."""

import asyncio
import subprocess
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.server import serve
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.issue import GitRemote, IssueNews
from hikitsugi.domain.ports import Cursor
from hikitsugi.forges.github import GitHubForge

REPOSITORY = "acme/shop"
TOKENS = {"bot": "token-of-the-bot", "ann": "token-of-ann", "guest": "token-of-the-guest"}
ADAPTERS: dict[str, Callable[[str], GitHubForge]] = {
    "github": lambda url: GitHubForge("github", url, SecretStr(TOKENS["bot"]), None),
}


@dataclass
class World:
    """The adapter, and what people do beside it."""

    name: str
    forge: GitHubForge
    dev: DevForge
    url: str
    counted: int = 0

    @property
    def home(self) -> RepositoryAddress:
        return RepositoryAddress(forge=self.name, repository=REPOSITORY)

    def address(self, number: int) -> IssueAddress:
        return IssueAddress(forge=self.name, repository=REPOSITORY, number=number)

    def open_issue(self, *labels: str) -> IssueAddress:
        issue = self.dev.open_issue(REPOSITORY, "Sum is wrong", "It says 5.", "ann", labels)
        return self.address(issue.number)

    def say(self, issue: IssueAddress, body: str, author: str = "ann") -> str:
        return str(self.dev.comment(REPOSITORY, issue.number, author, body).id)

    def correct(self, comment_id: str, body: str) -> None:
        self.dev.repository(REPOSITORY).tracker.edit_comment(int(comment_id), body)

    def withdraw(self, comment_id: str) -> None:
        self.dev.repository(REPOSITORY).tracker.delete_comment(int(comment_id))

    def label(self, issue: IssueAddress, *labels: str) -> None:
        self.dev.repository(REPOSITORY).tracker.add_labels(issue.number, self.dev.person("ann"), labels)

    def labels(self, issue: IssueAddress) -> set[str]:
        return set(self.dev.issue(REPOSITORY, issue.number).labels)

    def calls(self) -> list[tuple[str, int]]:
        """Method and status of each call since the last time."""
        made = list(self.dev.requests)
        fresh, self.counted = made[self.counted :], len(made)
        return [(call.method, call.status) for call in fresh]

    async def started(self) -> Cursor:
        return (await self.forge.look(self.home, None)).cursor

    async def news(self, cursor: Cursor) -> tuple[IssueNews, ...]:
        return (await self.forge.look(self.home, cursor)).news

    async def push(self, remote: GitRemote, branch: str, folder: Path) -> None:
        """Put a branch with one more commit there, with nothing but what the remote tells."""
        secret = f"{remote.username}:{remote.token.get_secret_value()}@"
        await _git("clone", "--quiet", remote.url.replace("://", f"://{secret}"), str(folder))
        await _git("-C", str(folder), "checkout", "-q", "-b", branch, f"origin/{remote.default_branch}")
        identity = ("-c", "user.name=t", "-c", "user.email=t@localhost")
        await _git("-C", str(folder), *identity, "commit", "-q", "--allow-empty", "-m", "work")
        await _git("-C", str(folder), "push", "-q", "origin", branch)


async def _git(*arguments: str) -> None:
    await asyncio.to_thread(subprocess.run, ["git", *arguments], check=True, capture_output=True)


@asynccontextmanager
async def world(adapter: str, folder: Path) -> AsyncGenerator[World]:
    """One repository with a bot, a maintainer and a guest."""
    dev = DevForge(folder)
    for login, token in TOKENS.items():
        dev.add_person(login, token, "read" if login == "guest" else "write", is_bot=login == "bot")
    dev.add_repository(REPOSITORY, {"README.md": "# Shop\n"})
    async with serve(dev) as url, aclosing(ADAPTERS[adapter](url)) as forge:
        yield World(adapter, forge, dev, url)
