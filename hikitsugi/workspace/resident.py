"""How much memory a process and all its descendants hold."""

import os
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_bytes(pid: int) -> int:
    """Resident memory of a process tree; processes that end meanwhile count nothing."""
    total, pids = 0, [pid]
    while pids:
        process = Path(f"/proc/{pids.pop()}")
        try:
            total += int((process / "statm").read_text(encoding="ascii").split()[1]) * _PAGE
            children = [task.read_text(encoding="ascii") for task in process.glob("task/*/children")]
        except (OSError, IndexError):
            continue
        pids.extend(int(child) for line in children for child in line.split())
    return total
