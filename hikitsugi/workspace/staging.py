"""Puts an issue's changes into the index, and finds what of them may not leave the house."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from hikitsugi.workspace.git import Git
from hikitsugi.workspace.tidying import tidy

_MOST_LISTED = 8 * 1024 * 1024
_LARGEST_FILE, _LARGEST_CHANGE = 50 * 1024 * 1024, 500 * 1024 * 1024
_LINK, _REPOSITORY = "120000", "160000"


async def stage(git: Git, tree: Path) -> list[str]:
    """Stage all that changed, ignored files left out; what hinders publishing it, as sentences."""
    await asyncio.to_thread(tidy, tree)
    listing = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
    status = await git.try_run(*listing, most=_MOST_LISTED)
    if status.is_cut:
        return [
            "there are too many new files: remove them, or let .gitignore name what does not belong in the repository"
        ]
    if status.code != 0:
        raise git.failure("status", status)
    if hindrances := list(_too_large(tree, [entry[3:] for entry in status.out.split(b"\0") if entry])):
        return hindrances
    await git.run("add", "--all")
    changes = await git.run("diff-index", "--cached", "--raw", "-z", "--no-renames", "--abbrev=40", "HEAD")
    return list(_forbidden(tree, changes))


def _too_large(tree: Path, paths: list[bytes]) -> Iterator[str]:
    total = 0
    for path in paths:
        size = _size(tree / os.fsdecode(path))
        total += size
        if size > _LARGEST_FILE:
            yield f"{_shown(path)} is larger than {_LARGEST_FILE >> 20} MB: remove it or let .gitignore name it"
    if total > _LARGEST_CHANGE:
        yield f"the changed files are together larger than {_LARGEST_CHANGE >> 20} MB: remove what does not belong"


def _size(path: Path) -> int:
    return path.lstat().st_size if os.path.lexists(path) else 0


def _forbidden(tree: Path, changes: bytes) -> Iterator[str]:
    fields = changes.split(b"\0")
    for meta, path in zip(fields[::2], fields[1::2], strict=False):
        old, new = meta.decode().lstrip(":").split(" ")[:2]
        if new == _REPOSITORY != old:
            yield f"{_shown(path)} is a repository inside the repository: remove it"
        if new == _LINK and _leaves(PurePosixPath(os.fsdecode(path)), (tree / os.fsdecode(path)).readlink()):
            yield f"{_shown(path)} is a symbolic link that leads out of the repository: remove it"


def _leaves(link: PurePosixPath, target: Path) -> bool:
    """Whether a link is anything but some steps up inside the tree followed by a way down.

    A step up after a way down is refused as well: behind another link it could lead anywhere.
    """
    steps = target.parts
    up = next((at for at, step in enumerate(steps) if step != ".."), len(steps))
    return target.is_absolute() or up >= len(link.parts) or bool({"..", ".git"} & set(steps[up:]))


def _shown(path: bytes) -> str:
    return path.decode(errors="replace")
