"""Commands in a container of their own each: no network, no secrets, nothing writable but the checkout."""

import json
import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import cast
from uuid import uuid4

from hikitsugi.workspace import interpreter
from hikitsugi.workspace.confinement import Limits, Sandbox
from hikitsugi.workspace.ownership import sandbox_uid
from hikitsugi.workspace.places import Layout, Place
from hikitsugi.workspace.probing import complaint_about
from hikitsugi.workspace.processes import Captured, capture
from hikitsugi.workspace.running import Launch

DEFAULT_IMAGE = "python:3-slim"
_HOME, _LOGS, _TREE = "/home/agent", "/logs", "/workspace"
_TMP = "/tmp:rw,nosuid,nodev,exec,size=512m"  # noqa: S108 - the container's own
_ASKING = timedelta(seconds=20)
_MOST_SAID = 100_000
# What the client needs to find its engine; none of it reaches a container.
_OF_THE_CLIENT = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY")


class Docker(Sandbox):
    """Starts commands through `docker run`, as the unprivileged user who owns the checkout."""

    kind = "docker"

    def __init__(self, root: Path, limits: Limits, image: str = DEFAULT_IMAGE) -> None:
        self._layout = Layout(root)
        self._limits = limits
        self._image = image

    async def self_test(self) -> str | None:
        """Try the sandbox out; what is wrong with it, or None."""
        if os.geteuid() == 0 and sandbox_uid(self._layout.root) == 0:
            return "the worker is a root that cannot run containers as another user"
        if shutil.which("docker") is None:
            return "docker is not installed"
        if (await _said("docker", "version", "--format", "{{.Server.Version}}")).code != 0:
            return "no docker engine answers"
        found = await _said("docker", "image", "inspect", "--format", "{{json .Config.Env}}", self._image)
        if found.code != 0:
            return f"the image {self._image} is not there; fetch it with: docker pull {self._image}"
        own = {entry.partition("=")[0] for entry in cast("list[str] | None", json.loads(found.out)) or []}
        return await complaint_about(self, self._layout, self._limits, known={*own, "HOSTNAME"})

    def launch(self, place: Place, command: str) -> Launch:
        """A container that ends with its command, its time, or its removal."""
        name = f"hikitsugi-{uuid4().hex[:12]}"
        # Who kills the client does not kill the container, so its time is limited inside as well.
        inside = ("timeout", "--signal=KILL", str(self._limits.timeout_seconds), "sh", "-c", command)
        argv = ("docker", "run", "--name", name, *self._confining(), *self._files(place), self._image, *inside)
        env = {name: os.environ[name] for name in _OF_THE_CLIENT if name in os.environ}
        return Launch(argv, env, Path("/"), removal=("docker", "rm", "--force", name))

    def log_name(self, log: Path) -> str:
        """Logs of a checkout are bound read-only next to it."""
        return f"{_LOGS}/{log.name}"

    def _confining(self) -> tuple[str, ...]:
        memory = f"{self._limits.memory_mb}m"
        return (
            *("--rm", "--init", "--pull", "never", "--hostname", "sandbox"),
            *(() if self._limits.network else ("--network", "none")),
            *("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--ipc", "private"),
            *("--pids-limit", "512", "--memory", memory, "--memory-swap", memory),
            *("--ulimit", "core=0", "--ulimit", "nofile=4096", "--ulimit", "fsize=1073741824", "--ulimit", "cpu=900"),
        )

    def _files(self, place: Place) -> tuple[str, ...]:
        uid = sandbox_uid(place.tree)
        logs = ("--mount", f"type=bind,source={place.logs},target={_LOGS},readonly") if place.logs.is_dir() else ()
        variables = {**interpreter.ENVIRONMENT, "HOME": _HOME}
        return (
            *("--user", f"{uid}:{uid}"),
            *("--tmpfs", _TMP, "--tmpfs", f"{_HOME}:rw,nosuid,nodev,size=256m,mode=1777"),
            *logs,
            *("--mount", f"type=bind,source={place.tree},target={_TREE}", "--workdir", _TREE),
            *(word for key, value in variables.items() for word in ("--env", f"{key}={value}")),
        )


async def _said(*argv: str) -> Captured:
    env = {name: os.environ[name] for name in _OF_THE_CLIENT if name in os.environ}
    try:
        return await capture(argv, env=env, within=_ASKING, most=_MOST_SAID)
    except TimeoutError:
        return Captured(1, b"", b"it does not answer")
