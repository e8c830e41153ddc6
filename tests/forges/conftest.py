"""A scripted GitHub and the real adapter in front of it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import pytest
from pydantic import SecretStr

from hikitsugi.forges.github import GitHubForge
from tests.forges.scripted_server import ScriptedServer, scripted_server

TOKEN = "ghp_never_to_be_shown"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        yield running


@pytest.fixture
async def forge(server: ScriptedServer) -> AsyncIterator[GitHubForge]:
    async with aclosing(GitHubForge("github", server.url, SecretStr(TOKEN), "bot")) as opened:
        yield opened
