"""Chooses where the agent's commands run: confined, refused, or, only when set by hand, unconfined."""

from pathlib import Path
from typing import Literal

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.workspace.bubblewrap import Bubblewrap
from hikitsugi.workspace.confinement import Limits, NoSandbox, Sandbox
from hikitsugi.workspace.docker import DEFAULT_IMAGE, Docker
from hikitsugi.workspace.unconfined import Unconfined

Kind = Literal["auto", "bubblewrap", "docker", "none"]


async def choose(kind: Kind, root: Path, limits: Limits, image: str = DEFAULT_IMAGE) -> Sandbox:
    """The sandbox the settings ask for, tried out; with `auto`, bubblewrap, else Docker, else none at all."""
    if kind == "none":
        return Unconfined(limits)
    complaints: list[str] = []
    for sandbox in (Bubblewrap(root, limits), Docker(root, limits, image)):
        if kind in {"auto", sandbox.kind}:
            complaint = await sandbox.self_test()
            if complaint is None:
                return sandbox
            complaints.append(f"{sandbox.kind}: {complaint}")
    if kind != "auto":
        raise WillNeverWork(f"the sandbox does not work here: {complaints[0]}; mend it or set sandbox.kind")
    return NoSandbox("; ".join(complaints))
