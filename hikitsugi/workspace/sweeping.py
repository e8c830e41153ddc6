"""Removes what nobody used for long: checkouts, what was left of interrupted work, and mirrors nobody borrows from."""

import asyncio
import os
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from hikitsugi.domain.address import IssueAddress
from hikitsugi.workspace.git import Git
from hikitsugi.workspace.locks import locked_now
from hikitsugi.workspace.places import Layout, Place, folder_name
from hikitsugi.workspace.tidying import remove
from hikitsugi.workspace.working_copy import PUBLISHED


async def sweep(layout: Layout, now: datetime, keep: timedelta, under_way: Collection[IssueAddress]) -> list[str]:
    """Look at everything below the root; what was removed or had to be kept, as sentences."""
    before = (now - keep).timestamp()
    needed = {folder_name(str(issue)) for issue in under_way}
    names = [name for name in _names(layout) if name not in needed]
    said = [line for name in names if (line := await _swept(layout.named(name), before))]
    said += [
        line for mirror in _mirrors(layout) if (line := await asyncio.to_thread(_forgotten, layout, mirror, before))
    ]
    return said


def _names(layout: Layout) -> list[str]:
    """Whatever any of a place's folders is called."""
    place = layout.named("any")
    return sorted(
        {entry.name for folder in (place.tree, place.git_dir, place.logs) for entry in folder.parent.iterdir()}
    )


def _mirrors(layout: Layout) -> list[Path]:
    return sorted(layout.mirrors.glob("*.git"))


async def _swept(place: Place, before: float) -> str | None:
    if last_use(place) > before:
        return None
    with locked_now(place.lock) as is_held:
        if not is_held or last_use(place) > before:
            return None
        if await _has_unpublished_commits(place):
            return f"kept {place.tree.name}: it holds commits that could not be pushed"
        for folder in (place.tree, place.git_dir, place.logs):
            await asyncio.to_thread(remove, folder)
        place.lock.unlink(missing_ok=True)
        return f"removed the workspace {place.tree.name}"


def last_use(place: Place) -> float:
    """When a place was last worked in, as far as its folders tell."""
    times = (path.lstat().st_mtime for path in (place.lock, place.tree, place.git_dir) if os.path.lexists(path))
    return max(times, default=0.0)


async def _has_unpublished_commits(place: Place) -> bool:
    if not (place.git_dir / "HEAD").exists():
        return False
    git = Git(place.git_dir)
    tips = [await git.find("rev-parse", "--verify", "--quiet", ref) for ref in ("HEAD", PUBLISHED)]
    return None not in tips and tips[0] != tips[1]


def _forgotten(layout: Layout, mirror: Path, before: float) -> str | None:
    lock = mirror.with_suffix(".lock")
    if not _is_forgotten(layout, mirror, before):
        return None
    with locked_now(lock) as is_held:
        if not is_held or not _is_forgotten(layout, mirror, before):
            return None
        remove(mirror)
        lock.unlink(missing_ok=True)
        return f"removed the mirror {mirror.stem}"


def _is_forgotten(layout: Layout, mirror: Path, before: float) -> bool:
    is_old = max(_mtime(mirror), _mtime(mirror.with_suffix(".lock"))) <= before
    return is_old and mirror / "objects" not in set(_borrowed(layout))


def _borrowed(layout: Layout) -> Iterator[Path]:
    for file in layout.named("any").git_dir.parent.glob("*/objects/info/alternates"):
        yield from map(Path, file.read_text(encoding="utf-8").splitlines())


def _mtime(path: Path) -> float:
    return path.lstat().st_mtime if os.path.lexists(path) else 0.0
