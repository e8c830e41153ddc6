"""Runs the example agent beside the demo, as anybody would run theirs."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import hikitsugi
from hikitsugi.app import die_with_parent
from hikitsugi.cli.demo import sample
from hikitsugi.devforge.kinds import KindName

AGENT = "example-agent"
_EXAMPLE = Path(hikitsugi.__file__).parent.parent / "examples" / "agent.py"
_KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL")


@asynccontextmanager
async def external_agent(
    broker: str, forge_url: str, kind: KindName, token: str, log: Path
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """The agent works until the block ends."""
    ours = [sys.executable, "-I", "-S", die_with_parent.__file__, str(os.getpid())]
    tool = [sys.executable, "-m", "hikitsugi.cli.demo.agent_tool"]
    asks = [sys.executable, str(_EXAMPLE), "--broker", broker, "--id", AGENT, "--once", "--heartbeat", "5", "--", *tool]
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *ours,
            *asks,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={name: os.environ[name] for name in _KEPT if name in os.environ} | _access(forge_url, kind, token),
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def _access(forge_url: str, kind: KindName, token: str) -> dict[str, str]:
    """What the tool needs to push and to open a request."""
    project = quote(sample.REPOSITORY, safe="")
    paths = {"github": f"repos/{sample.REPOSITORY}/pulls", "gitlab": f"api/v4/projects/{project}/merge_requests"}
    return {
        "DEMO_REMOTE": f"{forge_url}/{sample.REPOSITORY}.git",
        "DEMO_REQUESTS": f"{forge_url}/{paths[kind]}",
        "DEMO_TOKEN": token,
    }
