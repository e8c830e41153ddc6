"""A configuration is tried before it is used: every problem at once, then the credentials."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from hikitsugi.devforge import DevForge, serve_in_thread
from tests.cli.shell import WIDTH, Said, Shell

HOME = "example/calculator"
TOKEN = "token-of-the-bot"
KEY = "key-of-the-model"


@pytest.fixture
def forge_url(tmp_path: Path) -> Generator[str]:
    forge = DevForge(tmp_path / "forge")
    forge.add_person("hikitsugi", TOKEN, is_bot=True)
    forge.add_repository(HOME, {"README.md": "# Calculator\n"})
    with serve_in_thread(forge) as address:
        yield address


async def check(folder: Path, url: str, *, token: str = TOKEN, repository: str = HOME, **more: Any) -> Said:
    forges = [{"url": url, "token": token, "repositories": [repository]}]
    return await Shell(folder, language="en", forges=forges, **more).starter("check-config")


@pytest.mark.req("OP-04", "TW-06")
async def test_a_good_configuration_is_shown_without_its_secrets(tmp_path: Path, forge_url: str):
    redis = "redis://:the-password@127.0.0.1:6379/0"
    said = await check(tmp_path, forge_url, llm={"api_key": KEY}, redis={"url": redis})
    assert (said.status, said.err) == (0, "")
    assert "✓ github: signed in as hikitsugi" in said.out
    assert f"✓ github:{HOME}: can be read, default branch main" in said.out
    assert "The configuration is fine." in said.out
    assert forge_url in said.out
    assert not any(secret in said.out for secret in (TOKEN, KEY, "the-password"))
    assert said.widest <= WIDTH


@pytest.mark.req("OP-04")
async def test_every_problem_is_told_at_once(tmp_path: Path):
    said = await Shell(tmp_path, forges=[{"repositories": []}, {"kind": "gitlab"}]).starter("check-config")
    assert (said.status, said.out) == (2, "")
    keys = [line.partition(" ")[0] for line in said.err.splitlines()]
    assert keys == ["forges[0].token", "forges[0].repositories", "forges[1].token", "forges[1].repositories"]


@pytest.mark.req("OP-04")
async def test_a_missing_model_key_is_told(tmp_path: Path, forge_url: str):
    said = await check(tmp_path, forge_url)
    assert said.status == 2
    assert said.is_one_sentence
    assert "ANTHROPIC_API_KEY" in said.err


async def test_a_wrong_token_ends_with_1(tmp_path: Path, forge_url: str):
    said = await check(tmp_path, forge_url, token="a-wrong-token", llm={"api_key": KEY})
    assert said.status == 1
    assert said.err.count("\n") == 1
    assert "does not accept the token" in said.err
    assert "a-wrong-token" not in said.out + said.err


async def test_an_unknown_repository_ends_with_1(tmp_path: Path, forge_url: str):
    said = await check(tmp_path, forge_url, repository="example/nothing", llm={"api_key": KEY})
    assert said.status == 1
    assert said.err.count("\n") == 1
    assert "example/nothing" in said.err
    assert "✓ github: signed in as hikitsugi" in said.out


async def test_a_forge_that_cannot_be_reached_ends_with_1(tmp_path: Path):
    said = await check(tmp_path, "http://127.0.0.1:1", llm={"api_key": KEY})
    assert said.status == 1
    assert said.err.count("\n") == 1
    assert "http://127.0.0.1:1" in said.err
