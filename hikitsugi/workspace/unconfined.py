"""Commands straight on the host, for who sets that by hand: an empty environment and limits, no confinement."""

import shutil
import sys
import tempfile
from pathlib import Path

from hikitsugi.workspace import interpreter
from hikitsugi.workspace.confinement import Limits, Sandbox
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.running import Launch


class Unconfined(Sandbox):
    """Keeps secrets out of the environment and ends commands with the worker; keeps nothing else out."""

    kind = "none"

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def launch(self, place: Place, command: str) -> Launch:
        """A plain shell in the checkout."""
        own = Path(sys.executable).parent
        path = f"{interpreter.PREFIX}/bin:{interpreter.SYSTEM_PATH}:{own}"
        env = {**interpreter.ENVIRONMENT, "PATH": path, "HOME": tempfile.gettempdir()}
        shell = shutil.which("bash") or "/bin/sh"
        return Launch([*self._limiting(), shell, "-c", command], env, place.tree)

    def log_name(self, log: Path) -> str:
        """Its own path."""
        return str(log)

    def _limiting(self) -> list[str]:
        memory = self._limits.memory_mb * 1024 * 1024
        dying = ["setpriv", "--pdeathsig", "KILL", "--"]
        limits = ["prlimit", "--core=0", "--nofile=4096", "--fsize=1073741824", f"--data={memory}", "--"]
        return [word for words in (dying, limits) if shutil.which(words[0]) for word in words]
