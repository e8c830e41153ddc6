"""The broker as specification 004 draws it: blocking calls in the handler, one JSON list in Redis, a sleeping loop."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import json
import time
from typing import Any, cast

from fastapi import FastAPI, Response
from pydantic import BaseModel
from redis import Redis

_SLEEP_SECONDS = 5.0
_BEFORE = ("search for the previous task",)
_AFTER = ("repository", "commit of the base", "new branch", "issue", "its labels")
"""What the specified steps ask the forge for through PyGithub, counted from its interface and not recorded."""


class Asked(BaseModel):
    """The request of the specification, with its timeout."""

    agent_id: str
    timeout_seconds: float = 120


def specified_broker(redis: Redis, forge_seconds: float) -> FastAPI:
    """The application; each call to the forge takes the given time."""
    app = FastAPI()

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Tell that the process is alive."""
        return {"status": "alive"}

    @app.post("/api/v1/request-task")
    async def request_task(asked: Asked) -> Any:
        """Search the previous task, then candidates until one can be locked."""
        time.sleep(len(_BEFORE) * forge_seconds)  # noqa: ASYNC251 - blocking is what is measured
        until = time.monotonic() + asked.timeout_seconds
        while time.monotonic() < until:
            number = _locked(redis, asked.agent_id)
            if number:
                time.sleep(len(_AFTER) * forge_seconds)  # noqa: ASYNC251 - as above
                return {"issue_id": number}
            time.sleep(_SLEEP_SECONDS)  # noqa: ASYNC251 - as specified
        return Response(status_code=204)

    return app


def _locked(redis: Redis, agent: str) -> int | None:
    issues: list[dict[str, Any]] = json.loads(cast("bytes", redis.get("open_issues")))
    for issue in sorted(issues, key=lambda each: each["number"]):
        if "成果物" in issue["body"] and redis.set(f"issue_lock_{issue['number']}", agent, nx=True):
            return int(issue["number"])
    return None
