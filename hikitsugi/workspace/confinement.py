"""What a sandbox is to the `run` tool, and the one that refuses everything."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hikitsugi.workspace.places import Place
from hikitsugi.workspace.refusal import Refused
from hikitsugi.workspace.running import Launch


@dataclass(frozen=True)
class Limits:
    """What the settings allow a command."""

    network: bool = False
    memory_mb: int = 4096
    timeout_seconds: int = 600


class Sandbox(Protocol):
    """A way to start a command in a checkout."""

    kind: str
    """What the settings call it; `refused` where there is none."""

    def launch(self, place: Place, command: str) -> Launch:
        """How to start a shell command in a checkout."""
        ...

    def log_name(self, log: Path) -> str:
        """Where the command's own side finds a log."""
        ...


class NoSandbox(Sandbox):
    """Refuses every command and says what to do about it."""

    kind = "refused"

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def launch(self, place: Place, command: str) -> Launch:
        """Refuse."""
        raise Refused(f"no sandbox: install bubblewrap or set sandbox.kind: none by hand ({self.reason})")

    def log_name(self, log: Path) -> str:
        """There is no other side."""
        return str(log)
