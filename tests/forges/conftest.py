"""Scripted forges with the real adapters in front of them, and a development forge of each kind."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from pydantic import SecretStr

from hikitsugi.forges.github import GitHubForge
from hikitsugi.forges.gitlab import GitLabForge
from tests.forges.scripted_server import Reply, ScriptedServer, scripted_server
from tests.forges.world import ADAPTERS, World, world

TOKEN = "ghp_never_to_be_shown"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        yield running


@pytest.fixture
async def forge(server: ScriptedServer) -> AsyncIterator[GitHubForge]:
    async with aclosing(GitHubForge("github", server.url, SecretStr(TOKEN), None)) as opened:
        await introduced(opened, server)
        yield opened


@pytest.fixture
async def gitlab(server: ScriptedServer) -> AsyncIterator[GitLabForge]:
    async with aclosing(GitLabForge("gitlab", server.url, SecretStr(TOKEN), None)) as opened:
        await introduced(opened, server)
        yield opened


async def introduced(forge: GitHubForge | GitLabForge, server: ScriptedServer) -> None:
    """Let it ask whose token it has, once and before anything is counted."""
    server.will_answer(Reply(200, {"id": 1, "login": "bot", "username": "bot"}))
    await forge.our_names()
    server.forget()


@pytest.fixture(params=ADAPTERS)
async def here(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    async with world(request.param, tmp_path / "forge") as opened:
        yield opened
