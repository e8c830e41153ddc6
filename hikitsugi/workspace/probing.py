"""Tries a sandbox out before anybody's command runs in it."""

import asyncio
import json
import shlex
import shutil
import tempfile
from asyncio import StreamReader, StreamWriter
from collections.abc import Collection
from pathlib import Path
from typing import cast

from hikitsugi.workspace import interpreter
from hikitsugi.workspace.confinement import Limits, Sandbox
from hikitsugi.workspace.output import Output
from hikitsugi.workspace.ownership import hand_over, sandbox_uid
from hikitsugi.workspace.places import Layout, Place
from hikitsugi.workspace.running import Bounds, run

_SECONDS = 30
_KNOWN_NAMES = {*interpreter.ENVIRONMENT, "PATH", "HOME", "PWD", "OLDPWD", "SHLVL", "_"}
_PROBE = Path(__file__).with_name("probe.py").read_text(encoding="utf-8")


async def complaint_about(sandbox: Sandbox, layout: Layout, limits: Limits, known: Collection[str] = ()) -> str | None:
    """What a sandbox lets through that it must not, in words; None when it holds.

    `known` are names of environment variables that are the sandbox's own.
    """
    with tempfile.TemporaryDirectory(dir=layout.folder("work", 0o711), prefix="self-test-") as folder:
        tree = Path(folder)
        place = Place(tree, tree, tree / "logs", tree)
        (tree / "probe.py").write_text(_PROBE, encoding="utf-8")
        hand_over(tree, sandbox_uid(tree))
        async with await asyncio.start_server(_hang_up, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            said = await _said(
                sandbox, place, f"python /workspace/probe.py {port} {shlex.quote(str(tree.parent))}", limits
            )
        is_written = (tree / "written").exists()
    try:
        findings = cast("dict[str, object]", json.loads(said))
    except ValueError:
        return f"a command cannot be started in it: {said.strip()[-300:] or 'no word from it'}"
    return (
        _judged(findings, limits, _KNOWN_NAMES | set(known))
        if is_written
        else "what commands write in the checkout does not arrive there"
    )


def _judged(findings: dict[str, object], limits: Limits, known: set[str]) -> str | None:
    names = set(cast("list[str]", findings["environment"]))
    if strange := sorted(names - known):
        return f"the worker's environment is visible in it ({', '.join(strange)})"
    if findings["network"] and not limits.network:
        return "the host's network can be reached from it"
    if breaches := cast("list[str]", findings["breaches"]):
        return f"it lets commands {', '.join(breaches)}"
    return None


async def _said(sandbox: Sandbox, place: Place, command: str, limits: Limits) -> str:
    log = Path(tempfile.mkdtemp()) / "log"
    try:
        output = Output(log)
        await run(sandbox.launch(place, command), Bounds(_SECONDS, limits.memory_mb << 20), output)
        return output.close(str(log))
    finally:
        shutil.rmtree(log.parent)


async def _hang_up(_: StreamReader, writer: StreamWriter) -> None:
    writer.close()
    await writer.wait_closed()
