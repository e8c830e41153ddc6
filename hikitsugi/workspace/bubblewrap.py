"""Commands in namespaces of their own: no network, no secrets, nothing writable but the checkout."""

import shutil
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from hikitsugi.workspace import interpreter
from hikitsugi.workspace.confinement import Limits, Sandbox
from hikitsugi.workspace.ownership import acts_for_others, sandbox_uid
from hikitsugi.workspace.places import Layout, Place, is_open_to_others
from hikitsugi.workspace.probing import complaint_about
from hikitsugi.workspace.running import Launch

_HOME, _LOGS, _TREE = "/home/agent", "/logs", "/workspace"
_INSIDE_ID = "1000"
_TMP_BYTES, _HOME_BYTES = "536870912", "268435456"
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_OF_ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types")
_OF_ETC_FOR_NETWORK = ("resolv.conf", "hosts", "nsswitch.conf", "ssl", "ca-certificates", "pki")
# The prefix may lie where only root can go: root binds it, unseen by others, to where the sandbox's user can.
_BIND_AND_GO_ON = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'


class Bubblewrap(Sandbox):
    """Starts commands through `bwrap`, as an unprivileged user of their own when we are root."""

    kind = "bubblewrap"

    def __init__(self, root: Path, limits: Limits) -> None:
        self._layout = Layout(root)
        self._limits = limits

    async def self_test(self) -> str | None:
        """Try the sandbox out; what is wrong with it, or None."""
        needed = ("bwrap", "prlimit", *(("setpriv", "unshare", "mount") if acts_for_others() else ()))
        if missing := [program for program in needed if shutil.which(program) is None]:
            return f"{', '.join(missing)} is not installed"
        return await complaint_about(self, self._layout, self._limits)

    def launch(self, place: Place, command: str) -> Launch:
        """The whole line, started from an empty environment."""
        shell = "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"
        argv = [
            *self._reaching_the_interpreter(),
            *self._limiting(),
            *_becoming(sandbox_uid(place.tree)),
            *("bwrap", *self._namespaces(), *self._files(place), *self._environment(), "--"),
            *("prlimit", "--nproc=512", "--"),
            *(shell, "-c", command),
        ]
        return Launch(argv, {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, Path("/"))

    def log_name(self, log: Path) -> str:
        """Logs of a checkout are bound read-only next to it."""
        return f"{_LOGS}/{log.name}"

    @cached_property
    def _is_prefix_staged(self) -> bool:
        return acts_for_others() and not is_open_to_others(interpreter.PREFIX)

    @cached_property
    def _prefix(self) -> Path:
        if not self._is_prefix_staged:
            return interpreter.PREFIX
        stage = self._layout.stage / "python"
        stage.mkdir(exist_ok=True)
        return stage

    def _reaching_the_interpreter(self) -> tuple[str, ...]:
        if not self._is_prefix_staged:
            return ()
        prefix = (str(interpreter.PREFIX), str(self._prefix))
        return ("unshare", "--mount", "--", "/bin/sh", "-c", _BIND_AND_GO_ON, "sh", *prefix)

    def _limiting(self) -> tuple[str, ...]:
        memory = self._limits.memory_mb * 1024 * 1024
        return ("prlimit", "--core=0", "--nofile=4096", "--fsize=1073741824", "--cpu=900", f"--data={memory}", "--")

    def _namespaces(self) -> tuple[str, ...]:
        network = ("--share-net",) if self._limits.network else ()
        apart = (
            "--unshare-user",
            "--unshare-all",
            *network,
            "--disable-userns",
            "--uid",
            _INSIDE_ID,
            "--gid",
            _INSIDE_ID,
        )
        return (*apart, "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox")

    def _files(self, place: Place) -> Iterator[str]:
        yield from ("--ro-bind", "/usr", "/usr")
        yield from _system_folders()
        for name in (*_OF_ETC, *(_OF_ETC_FOR_NETWORK if self._limits.network else ())):
            yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
        for name, line in (
            ("passwd", f"agent:x:{_INSIDE_ID}:{_INSIDE_ID}::{_HOME}:/bin/sh"),
            ("group", f"agent:x:{_INSIDE_ID}:"),
        ):
            yield from ("--ro-bind", str(self._staged(name, line)), f"/etc/{name}")
        yield from ("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev")
        yield from ("--size", _HOME_BYTES, "--tmpfs", "/dev/shm")  # noqa: S108 - the sandbox's own
        yield from ("--size", _TMP_BYTES, "--tmpfs", "/tmp", "--size", _HOME_BYTES, "--tmpfs", _HOME)  # noqa: S108
        if not interpreter.PREFIX.is_relative_to("/usr"):
            yield from ("--ro-bind", str(self._prefix), str(interpreter.PREFIX))
        yield from ("--symlink", str(interpreter.EXECUTABLE), f"{_HOME}/bin/python")
        if place.logs.is_dir():
            yield from ("--ro-bind", str(place.logs), _LOGS)
        yield from ("--bind", str(place.tree), _TREE, "--chdir", _TREE)

    def _environment(self) -> Iterator[str]:
        path = f"{_HOME}/bin:{interpreter.PREFIX}/bin:{interpreter.SYSTEM_PATH}"
        yield "--clearenv"
        for name, value in {**interpreter.ENVIRONMENT, "PATH": path, "HOME": _HOME}.items():
            yield from ("--setenv", name, value)

    def _staged(self, name: str, line: str) -> Path:
        file = self._layout.stage / name
        if not file.exists():
            file.write_text(f"{line}\n", encoding="ascii")
            file.chmod(0o644)
        return file


def _becoming(uid: int) -> tuple[str, ...]:
    if not acts_for_others():
        return ()
    powerless = ("--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all")
    return ("setpriv", f"--reuid={uid}", f"--regid={uid}", *powerless, "--")


def _system_folders() -> Iterator[str]:
    for folder in (Path("/", name) for name in _SYSTEM):
        if folder.is_symlink():
            yield from ("--symlink", str(folder.readlink()), str(folder))
        elif folder.is_dir():
            yield from ("--ro-bind", str(folder), str(folder))
