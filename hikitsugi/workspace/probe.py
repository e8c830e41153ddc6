"""Run as a program inside a sandbox: reports as JSON what it can reach; every attempt must fail."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def succeeds(attempt: Callable[[], object]) -> bool:
    """Whether an attempt went through."""
    try:
        attempt()
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def environment_names() -> list[str]:
    """The names of all environment variables of all processes in sight."""
    names: set[str] = set()
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            entries = file.read_bytes().split(b"\0")
        except OSError:
            continue
        names.update(entry.split(b"=")[0].decode(errors="replace") for entry in entries if entry)
    return sorted(names)


def main(port: int, others: Path) -> None:
    """Try, and report."""
    attempts: dict[str, Callable[[], object]] = {
        "write to /usr": lambda: os.open("/usr/hikitsugi-probe", os.O_WRONLY | os.O_CREAT),
        "open a kernel setting for writing": lambda: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY),
        "make a user namespace": lambda: subprocess.run(
            ["/usr/bin/unshare", "-U", "true"], check=True, capture_output=True
        ),
        "see other workspaces": lambda: list(others.iterdir()),
    }
    findings = {
        "environment": environment_names(),
        "network": succeeds(lambda: socket.create_connection(("127.0.0.1", port), timeout=3).close()),
        "breaches": [name for name, attempt in attempts.items() if succeeds(attempt)],
    }
    (Path.cwd() / "written").touch()
    sys.stdout.write(json.dumps(findings))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
