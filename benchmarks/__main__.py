"""Runs the benchmarks: `make bench`, or `make bench ARGS=steps`."""

import asyncio
import sys

from benchmarks import steps, workspaces
from hikitsugi.cli.ending import ended

ALL = {"steps": steps.measure, "workspaces": workspaces.measure}


async def main(names: list[str]) -> None:
    """Run the named benchmarks, or all."""
    for name in names or ALL:
        print(f"\n== {name}")
        await ALL[name]()


if __name__ == "__main__":
    ended(lambda: asyncio.run(main(sys.argv[1:])))
