"""Where checkouts live on this host, and folder names that any address can safely become."""

import hashlib
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.workspace.ownership import acts_for_others
from hikitsugi.workspace.tidying import remove

SHARED_STATE = Path("/var/lib")
_WHOSE = "data-folder"
_PRIVATE, _PASSABLE, _OPEN = 0o700, 0o711, 0o755


@dataclass(frozen=True)
class Place:
    """The folders of one issue: the tree the agent works in, and what must stay out of its reach."""

    tree: Path
    git_dir: Path
    logs: Path
    lock: Path


class Layout:
    """The folders below one workspace root."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()

    def place(self, issue: IssueAddress, purpose: str = "") -> Place:
        """Where an issue's checkout is or will be; one for another purpose than working is elsewhere."""
        return self.named(folder_name(str(issue)) + purpose)

    def named(self, name: str) -> Place:
        """The folders that bear a name."""
        return Place(
            tree=self.folder("work", _PASSABLE) / name,
            git_dir=self.folder("git", _PRIVATE) / name,
            logs=self.folder("logs", _PASSABLE) / name,
            lock=self.folder("locks", _PRIVATE) / name,
        )

    def mirror(self, home: RepositoryAddress) -> Path:
        """Where a repository's bare mirror is or will be."""
        return self.mirrors / f"{folder_name(str(home))}.git"

    @property
    def mirrors(self) -> Path:
        """Where the mirrors are."""
        return self.folder("mirrors", _PRIVATE)

    @cached_property
    def stage(self) -> Path:
        """What every sandbox may see read-only."""
        return self.folder("stage", _OPEN)

    def folder(self, name: str, mode: int) -> Path:
        """A folder below the root with exactly this mode, made if it is missing."""
        if not self.root.is_dir():
            self.root.mkdir(parents=True, mode=_PASSABLE)
            self.root.chmod(_PASSABLE)
        folder = self.root / name
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            folder.chmod(mode)
        return folder


def folder_name(address: str) -> str:
    """A readable name for the eye and a hash for uniqueness."""
    readable = re.sub(r"[^A-Za-z0-9_]+", "-", address)[-60:].strip("-")
    return f"{readable}-{hashlib.sha256(address.encode()).hexdigest()[:12]}"


def default_root(data_folder: Path, shared: Path = SHARED_STATE) -> Path:
    """The data folder's own `workspaces`, or, where the sandbox's user cannot go there, a folder that all may pass."""
    data_folder = data_folder.resolve()
    if not acts_for_others() or is_open_to_others(_nearest_existing(data_folder)):
        return data_folder / "workspaces"
    root = shared / f"hikitsugi-{hashlib.sha256(os.fsencode(data_folder)).hexdigest()[:12]}"
    root.mkdir(mode=_PASSABLE, exist_ok=True)
    found = root.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        message = f"{root} should be a folder of ours for workspaces, but is not; remove it or set workspace.root"
        raise PermissionError(message)
    root.chmod(_PASSABLE)
    data_folder.mkdir(parents=True, exist_ok=True)
    (root / _WHOSE).write_text(str(data_folder), encoding="utf-8")
    _remove_orphans(shared)
    return root


def _remove_orphans(shared: Path) -> None:
    """Remove the roots of data folders that are gone: nobody will ever sweep them."""
    for whose in shared.glob(f"hikitsugi-*/{_WHOSE}"):
        # A process that starts at the same moment may remove it as well.
        with suppress(FileNotFoundError):
            if not Path(whose.read_text(encoding="utf-8")).exists() and whose.parent.lstat().st_uid == os.geteuid():
                remove(whose.parent)


def is_open_to_others(path: Path) -> bool:
    """Whether every folder down to this one can be passed by any user."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (path, *path.parents))


def _nearest_existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())
