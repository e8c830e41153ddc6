"""Whether a process and all its descendants hold too much memory."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_PROPORTIONAL = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


def exceeds(pid: int, most: int) -> bool:
    """Whether a process tree holds more bytes than allowed; pages shared by several count once."""
    processes = list(_descent(pid))
    # The exact count is slow, so it is taken only where the quick one, which is never less, is too high.
    return sum(map(_resident, processes)) > most and sum(map(_proportional, processes)) > most


def _descent(pid: int) -> Iterator[Path]:
    pids = [pid]
    while pids:
        process = Path(f"/proc/{pids.pop()}")
        yield process
        children = " ".join(_said(task) for task in process.glob("task/*/children"))
        pids.extend(map(int, children.split()))


def _resident(process: Path) -> int:
    numbers = _said(process / "statm").split()
    return int(numbers[1]) * _PAGE if numbers else 0


def _proportional(process: Path) -> int:
    found = _PROPORTIONAL.search(_said(process / "smaps_rollup"))
    return int(found[1]) * 1024 if found else _resident(process)


def _said(file: Path) -> str:
    """What the kernel says, or nothing about a process that has ended."""
    try:
        return file.read_text(encoding="ascii")
    except OSError:
        return ""
