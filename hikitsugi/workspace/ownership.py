"""Which user commands run as: our own, or, when we are root, an unprivileged one for each checkout."""

import functools
import hashlib
import os
from contextlib import suppress
from pathlib import Path

FIRST_UID, LAST_UID = 61184, 65519


@functools.cache
def acts_for_others() -> bool:
    """Whether we are a root who can give files to the users set aside for sandboxes."""
    return os.geteuid() == 0 and _is_mapped(FIRST_UID) and _is_mapped(LAST_UID)


def sandbox_uid(tree: Path) -> int:
    """The user (and group) whose files a checkout holds and as whom its commands run."""
    if not acts_for_others():
        return os.geteuid()
    with suppress(FileNotFoundError):
        # A tree that was moved or copied keeps its owner; nobody but us can give a tree away.
        if (owner := tree.lstat().st_uid) in range(FIRST_UID, LAST_UID + 1):
            return owner
    number = int.from_bytes(hashlib.sha256(os.fsencode(tree)).digest()[:8], "big")
    return FIRST_UID + number % (LAST_UID - FIRST_UID + 1)


def hand_over(folder: Path, uid: int) -> None:
    """Give a folder and all below it to a user; links are not followed."""
    if not acts_for_others():
        return
    for _, folders, files, descriptor in os.fwalk(folder):
        os.fchown(descriptor, uid, uid)
        for name in (*folders, *files):
            os.chown(name, uid, uid, dir_fd=descriptor, follow_symlinks=False)


def _is_mapped(uid: int) -> bool:
    ranges = (map(int, line.split()) for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines())
    return any(first <= uid < first + count for first, _, count in ranges)
