"""A configuration is tried before it is used: every problem at once, then the credentials."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from hikitsugi.devforge import DevForge, serve_in_thread
from hikitsugi.language_model.scripted import ScriptedModel, say, serve
from tests.cli.shell import WIDTH, Said, Shell
from tests.forges.scripted_server import Reply, scripted_server

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


@pytest_asyncio.fixture
async def llm() -> AsyncGenerator[dict[str, str]]:
    async with serve(ScriptedModel(lambda _: say("hi"), KEY, unknown=["claude-nothing"])) as base_url:
        yield {"api_key": KEY, "base_url": base_url}


async def check(
    folder: Path, url: str, *, token: str = TOKEN, repository: str = HOME, username: str | None = None, **more: Any
) -> Said:
    forges = [{"url": url, "token": token, "username": username, "repositories": [repository]}]
    return await Shell(folder, language="en", forges=forges, **more).starter("check-config")


@pytest.mark.req("OP-04", "TW-06")
async def test_a_good_configuration_is_shown_without_its_secrets(tmp_path: Path, forge_url: str, llm: dict[str, str]):
    redis = "redis://:the-password@127.0.0.1:6379/0"
    said = await check(tmp_path, forge_url, llm=llm, redis={"url": redis})
    assert (said.status, said.err) == (0, "")
    assert "✓ claude-opus-5-5: can be used" in said.out
    assert "✓ claude-haiku-5-5: can be used" in said.out
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


@pytest.mark.parametrize("username", [None, "hikitsugi"])
async def test_a_wrong_token_ends_with_1(tmp_path: Path, forge_url: str, llm: dict[str, str], username: str | None):
    said = await check(tmp_path, forge_url, token="a-wrong-token", username=username, llm=llm)
    assert said.status == 1
    assert said.err.count("\n") == 1
    assert "does not accept the token" in said.err
    assert "a-wrong-token" not in said.out + said.err


async def test_an_unknown_repository_ends_with_1(tmp_path: Path, forge_url: str, llm: dict[str, str]):
    said = await check(tmp_path, forge_url, repository="example/nothing", llm=llm)
    assert said.status == 1
    assert said.err.count("\n") == 1
    assert "example/nothing" in said.err
    assert "✓ github: signed in as hikitsugi" in said.out


async def test_a_forge_that_cannot_be_reached_ends_with_1(tmp_path: Path, llm: dict[str, str]):
    said = await check(tmp_path, "http://127.0.0.1:1", llm=llm)
    assert said.status == 1
    assert said.err.count("\n") == 1
    assert "http://127.0.0.1:1" in said.err


@pytest.mark.req("OP-04", "CD-06")
@pytest.mark.parametrize("bot_username", [None, "robot"])
async def test_a_name_that_is_not_the_token_owners_is_told(
    tmp_path: Path, forge_url: str, llm: dict[str, str], bot_username: str | None
):
    detection = {"bot_username": bot_username}
    said = await check(tmp_path, forge_url, username="Hikitsugi", llm=llm, comment_detection=detection)
    assert (said.status, said.err) == (0, "")
    assert ("belongs to hikitsugi, not to robot" in said.out) is (bot_username is not None)


@pytest.mark.req("CD-06")
@pytest.mark.parametrize(("username", "status"), [("robot", 0), (None, 1)])
async def test_a_token_that_may_not_tell_its_owner_goes_by_the_configured_name(
    tmp_path: Path, llm: dict[str, str], username: str | None, status: int
):
    with scripted_server() as server:
        server.will_answer(Reply(200, {"clone_url": f"{server.url}/{HOME}.git", "default_branch": "main"}))
        server.will_answer(Reply(403, {"message": "Resource not accessible by integration"}))
        said = await check(tmp_path, server.url, username=username, llm=llm)
        assert server.lines == [f"GET /repos/{HOME}", "GET /user"]
    assert said.status == status
    assert ("can be used as robot" in said.out) is (status == 0)


@pytest.mark.req("OP-04")
async def test_a_wrong_model_key_is_told_once_and_not_repeated(tmp_path: Path, forge_url: str, llm: dict[str, str]):
    said = await check(tmp_path, forge_url, llm={**llm, "api_key": "a-wrong-key"})
    assert (said.status, said.err.count("\n")) == (1, 1)
    assert "refused the key; check llm.api_key" in said.err
    assert "a-wrong-key" not in said.out + said.err


@pytest.mark.req("OP-04")
@pytest.mark.parametrize("key", ["model", "summary_model"])
async def test_an_unknown_model_is_told_with_its_key(tmp_path: Path, forge_url: str, llm: dict[str, str], key: str):
    said = await check(tmp_path, forge_url, llm={**llm, key: "claude-nothing"})
    assert said.status == 1
    assert said.err == f"The model's provider does not offer claude-nothing; check llm.{key}.\n"


async def test_a_provider_that_does_not_answer_is_told_and_is_no_fault_of_the_configuration(
    tmp_path: Path, forge_url: str
):
    said = await check(tmp_path, forge_url, llm={"api_key": KEY, "base_url": "http://127.0.0.1:1"})
    assert (said.status, said.err) == (0, "")
    assert "– claude-opus-5-5: " in said.out


async def test_a_server_that_cannot_be_asked_for_its_models_is_no_problem(tmp_path: Path, forge_url: str):
    said = await check(tmp_path, forge_url, llm={"api_key": KEY, "base_url": forge_url})
    assert (said.status, said.err) == (0, "")
    assert "– claude-opus-5-5: not tried" in said.out
