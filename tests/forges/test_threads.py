"""Blocking clients beside the event loop."""

import asyncio
import threading
from contextlib import aclosing

import pytest

from hikitsugi.forges.github import GitHubForge
from hikitsugi.forges.threads import THREADS, ClientThreads
from tests.forges.payloads import HOME, ISSUE, issue
from tests.forges.scripted_server import Reply, ScriptedServer


class Client:
    """Remembers the threads it is used in."""

    def __init__(self) -> None:
        self.used_in: set[int] = set()
        self.is_closed = False

    def use(self, meeting: threading.Barrier) -> int:
        self.used_in.add(threading.get_ident())
        meeting.wait(30)
        return id(self)

    def close(self) -> None:
        self.is_closed = True


async def test_each_thread_has_a_client_of_its_own_which_is_closed_in_the_end():
    clients: list[Client] = []

    def connect() -> Client:
        clients.append(Client())
        return clients[-1]

    async with aclosing(ClientThreads("test", connect)) as threads:
        meeting = threading.Barrier(THREADS)
        for _ in range(3):
            used = await asyncio.gather(*(threads.run(lambda c: c.use(meeting), str(n % 2)) for n in range(THREADS)))
            assert len(set(used)) == THREADS
    assert len(clients) == THREADS
    assert all(len(client.used_in) == 1 and client.is_closed for client in clients)


@pytest.mark.lesson("P8")
async def test_the_event_loop_goes_on_while_the_forge_is_slow(forge: GitHubForge, server: ScriptedServer):
    gate = threading.Event()
    server.will_answer(Reply(200, {"clone_url": "http://x", "default_branch": "main"}, gate=gate))
    asking = asyncio.create_task(forge.git_remote(HOME))
    await asyncio.to_thread(server.is_asked.wait, 30)
    assert not asking.done()
    gate.set()
    await asking


async def test_a_busy_repository_does_not_keep_another_waiting(forge: GitHubForge, server: ScriptedServer):
    gate = threading.Event()
    server.will_answer(*[Reply(200, issue(7), gate=gate) for _ in range(THREADS // 2)], Reply(200, issue(7)))
    busy = [asyncio.create_task(forge.read_issue(ISSUE)) for _ in range(200)]
    async with asyncio.timeout(30):
        while len(server.asked) < THREADS // 2:  # noqa: ASYNC110 (the server tells nobody)
            await asyncio.sleep(0.01)
        await forge.read_issue(ISSUE.model_copy(update={"repository": "acme/quiet"}))
    assert not any(call.done() for call in busy)
    assert server.lines[THREADS // 2 :] == ["GET /repos/acme/quiet/issues/7"]
    server.will_answer(*[Reply(200, issue(7)) for _ in busy])
    gate.set()
    await asyncio.gather(*busy)
