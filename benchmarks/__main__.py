"""Runs the benchmarks: `make bench`, or `make bench ARGS=steps`; with `--long` in full."""

import asyncio
import sys

from benchmarks import broker, memory, polling, steps, tokens, workspaces
from hikitsugi.cli.ending import ended

ALL = {
    "broker": broker.measure,
    "memory": memory.measure,
    "polling": polling.measure,
    "steps": steps.measure,
    "tokens": tokens.measure,
    "workspaces": workspaces.measure,
}
IN_FULL = ALL | {"broker": broker.measure_long, "polling": polling.measure_long, "steps": steps.measure_long}


async def main(arguments: list[str]) -> None:
    """Run the named benchmarks, or all."""
    names = [argument for argument in arguments if argument != "--long"]
    chosen = IN_FULL if "--long" in arguments else ALL
    for name in names or chosen:
        print(f"\n== {name}")
        await chosen[name]()


if __name__ == "__main__":
    ended(lambda: asyncio.run(main(sys.argv[1:])))
