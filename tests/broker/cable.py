"""A cable to a server, which a test can cut and mend."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress


class Cable:
    """Passes on what it is given, as long as it is whole."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._server: asyncio.Server | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self.port = 0

    async def mend(self) -> None:
        """Listen, at the same port as before."""
        self._server = await asyncio.start_server(self._call, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Drop every call, and take none."""
        if self._server:
            self._server.close()
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def _call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        call = asyncio.current_task()
        assert call
        self._calls.add(call)
        try:
            there, back = await asyncio.open_connection(*self._target)
            with suppress(ConnectionError):
                await asyncio.gather(_pass_on(reader, back), _pass_on(there, writer))
        except asyncio.CancelledError:
            pass
        finally:
            self._calls.discard(call)


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65_536):
            target.write(data)
            await target.drain()
    finally:
        target.close()


@asynccontextmanager
async def cable(target: str) -> AsyncGenerator[Cable]:
    """A whole cable, until the block ends."""
    made = Cable(target)
    await made.mend()
    try:
        yield made
    finally:
        await made.cut()
