"""Chooses where the agent's commands run: confined, refused, or, only when set by hand, unconfined."""

from pathlib import Path
from typing import Literal

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.workspace.bubblewrap import Bubblewrap
from hikitsugi.workspace.confinement import Limits, NoSandbox, Sandbox
from hikitsugi.workspace.unconfined import Unconfined

Kind = Literal["auto", "bubblewrap", "docker", "none"]


async def choose(kind: Kind, root: Path, limits: Limits) -> Sandbox:
    """The sandbox the settings ask for, tried out; with `auto`, bubblewrap or none at all."""
    if kind == "none":
        return Unconfined(limits)
    if kind == "docker":
        raise WillNeverWork("sandbox.kind: docker is not available yet; set auto, bubblewrap or none")
    bubblewrap = Bubblewrap(root, limits)
    complaint = await bubblewrap.self_test()
    if complaint is None:
        return bubblewrap
    if kind == "bubblewrap":
        raise WillNeverWork(f"the bubblewrap sandbox does not work here: {complaint}; mend it or set sandbox.kind")
    return NoSandbox(complaint)
