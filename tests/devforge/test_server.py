"""Serving: in the running loop, on this machine alone, and ended cleanly."""

import asyncio

import httpx2
import pytest

from hikitsugi.devforge import DevForge, serve, serve_in_thread
from hikitsugi.domain.errors import WillNeverWork
from tests.devforge.conftest import FILES, HOME


async def test_a_forge_serves_in_the_running_loop_and_is_gone_after(forge: DevForge):
    async with serve(forge) as base_url, httpx2.AsyncClient(base_url=base_url, trust_env=False) as http:
        answers = await asyncio.gather(
            *(http.get("/user", headers={"authorization": "token token-of-bot"}) for _ in "ab")
        )
        assert {answer.json()["login"] for answer in answers} == {"hikitsugi"}
    async with httpx2.AsyncClient(trust_env=False) as http:
        with pytest.raises(httpx2.ConnectError):
            await http.get(base_url)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.1", "example.com", "localhost"])
async def test_any_host_but_loopback_is_refused(forge: DevForge, host: str):
    with pytest.raises(WillNeverWork, match="this machine alone"):
        async with serve(forge, host=host):
            pass


async def test_a_taken_port_is_named(forge: DevForge):
    async with serve(forge) as base_url:
        port = int(base_url.rpartition(":")[2])
        with pytest.raises(WillNeverWork, match=f"Port {port}"):
            async with serve(forge, port=port):
                pass


def test_a_failure_in_the_thread_reaches_its_starter(forge: DevForge, base_url: str):
    port = int(base_url.rpartition(":")[2])
    with pytest.raises(WillNeverWork, match=f"Port {port}"), serve_in_thread(forge, port):
        pass


@pytest.mark.parametrize("name", ["calculator", "../x/y", "repos/x", "a/b.git", "a/..", "a/b/c"])
def test_a_repository_needs_a_proper_name(forge: DevForge, name: str):
    with pytest.raises(WillNeverWork, match="OWNER/NAME"):
        forge.add_repository(name, FILES)


def test_a_used_data_folder_is_not_overwritten(forge: DevForge):
    with pytest.raises(WillNeverWork, match="exists already"):
        DevForge(forge.data_folder).add_repository(HOME, FILES)


def test_tokens_are_nobodys_twice_and_never_shown(forge: DevForge):
    with pytest.raises(WillNeverWork, match="nobody else"):
        forge.add_person("jiro", "token-of-taro")
    assert "token-of" not in repr(forge.people)
