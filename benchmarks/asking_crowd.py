"""Agents that ask a broker as fast as they are answered, in a process of their own beside the broker's."""

import asyncio
import json
import sys
import time
from itertools import count

import httpx2


async def ask(address: str, agents: int, issues: int, until: float) -> dict[str, list[float] | float]:
    """Ask with ever new names, while somebody asks for health; how long it all took."""
    took, health, names = list[float](), list[float](), count()
    limits = httpx2.Limits(max_connections=agents + 1, max_keepalive_connections=agents + 1)
    async with httpx2.AsyncClient(base_url=address, timeout=600, limits=limits) as http:
        await http.get("/healthz")
        began = time.perf_counter()

        async def agent() -> None:
            while (number := next(names)) < issues and time.perf_counter() - began < until:
                at = time.perf_counter()
                body = {"agent_id": f"agent-{number}", "timeout_seconds": 60}
                answer = await http.post("/api/v1/request-task", json=body)
                assert answer.status_code == 200, answer.text
                took.append(time.perf_counter() - at)

        async def nurse() -> None:
            while True:
                at = time.perf_counter()
                await http.get("/healthz")
                health.append(time.perf_counter() - at)
                await asyncio.sleep(0.02)

        beside = asyncio.create_task(nurse())
        await asyncio.gather(*(agent() for _ in range(agents)))
        seconds = time.perf_counter() - began
        beside.cancel()
        await asyncio.gather(beside, return_exceptions=True)
    return {"seconds": seconds, "took": took, "health": health}


if __name__ == "__main__":
    where, *numbers = sys.argv[1:]
    print(json.dumps(asyncio.run(ask(where, int(numbers[0]), int(numbers[1]), float(numbers[2])))))
