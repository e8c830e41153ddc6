"""A worker process that is soon taken for gone once it is silent: `lone_host.py CONFIG`."""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from hikitsugi.app.running import Role, running, until_told_to_end
from hikitsugi.app.settings import load_settings
from hikitsugi.cli.ending import ended
from workflows import limits


async def main(config: str) -> None:
    limits.HOST_SILENT = timedelta(seconds=3)
    async with running(load_settings(Path(config), {}), {Role.WORKER, Role.WATCHER}) as (_, servers):
        await until_told_to_end(servers)


if __name__ == "__main__":
    ended(lambda: asyncio.run(main(*sys.argv[1:])))
