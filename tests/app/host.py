"""A process that runs the embedded servers of a data folder until it is told to end, as a worker does."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from hikitsugi.app.embedded_temporal import embedded_temporal
from hikitsugi.app.embedded_valkey import embedded_valkey
from hikitsugi.domain.errors import WillNeverWork


async def host(folder: Path) -> None:
    told_to_end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told_to_end.set)
    async with embedded_temporal(folder) as temporal, embedded_valkey(folder) as valkey:
        sys.stdout.write(f"{temporal.address} {valkey}\n")
        sys.stdout.flush()
        await told_to_end.wait()


def main() -> int:
    try:
        asyncio.run(host(Path(sys.argv[1])))
    except WillNeverWork as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # The SDK can crash while the interpreter is torn down.
    os._exit(status)
