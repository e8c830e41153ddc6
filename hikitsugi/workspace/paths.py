"""Files below a tree, reached step by step so that no link, no `..` and no race leads outside."""

import errno
import os
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from hikitsugi.domain.visible import only_visible
from hikitsugi.workspace.refusal import Refused

SEEN_AS = PurePosixPath("/workspace")
LARGEST_FILE = 1024 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def relative(path: str) -> PurePosixPath:
    """A path as the model wrote it, relative to the tree; outside of it and in `.git` there is nothing."""
    given = PurePosixPath(path)
    if given.is_absolute():
        if not given.is_relative_to(SEEN_AS):
            raise Refused(f"{path} is outside of the repository; give a path relative to its root")
        given = given.relative_to(SEEN_AS)
    steps: list[str] = []
    for step in given.parts:
        if step == ".." and not steps:
            raise Refused(f"{path} is outside of the repository")
        steps = steps[:-1] if step == ".." else [*steps, step]
    if any(_is_gits(step) for step in steps):
        raise Refused("git's own files are out of reach; commits are made for you")
    return PurePosixPath(*steps)


def _is_gits(step: str) -> bool:
    """Whether some file system takes a name for git's own folder."""
    return only_visible(step).lower().rstrip(". ") in {".git", "git~1"}


def read(tree: Path, path: PurePosixPath) -> bytes | None:
    """A file's content, or None where there is no file."""
    with _explained(path), suppress(FileNotFoundError), _folder(tree, path.parent) as folder:
        descriptor = os.open(path.name, _FILE, dir_fd=folder)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Refused(f"{path} is not a file")
            with open(descriptor, "rb", closefd=False) as file:
                content = file.read(LARGEST_FILE + 1)
        finally:
            os.close(descriptor)
        if len(content) > LARGEST_FILE:
            raise Refused(f"{path} is larger than {LARGEST_FILE >> 20} MB; look at parts of it with grep or run")
        return content
    return None


def replace(tree: Path, path: PurePosixPath, content: bytes, beside: Path) -> None:
    """Put a file in place in one step, with the mode of the one it replaces; it is first written `beside` the tree."""
    with _explained(path), _folder(tree, path.parent, make=True) as folder:
        owner = tree.stat()
        descriptor, name = tempfile.mkstemp(dir=beside, prefix="incoming-")
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
                file.write(content)
                os.fchmod(descriptor, _mode(folder, path.name))
                os.fchown(descriptor, owner.st_uid, owner.st_gid)
            os.rename(name, path.name, dst_dir_fd=folder)
        except BaseException:
            Path(name).unlink()
            raise


@contextmanager
def _folder(tree: Path, path: PurePosixPath, *, make: bool = False) -> Generator[int]:
    descriptor = os.open(tree, _FOLDER)
    try:
        owner = os.fstat(descriptor)
        for step in path.parts:
            if make:
                _make(descriptor, step, owner)
            descriptor, above = os.open(step, _FOLDER, dir_fd=descriptor), descriptor
            os.close(above)
        yield descriptor
    finally:
        os.close(descriptor)


def _make(folder: int, name: str, owner: os.stat_result) -> None:
    with suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=folder)
        os.chown(name, owner.st_uid, owner.st_gid, dir_fd=folder, follow_symlinks=False)


def _mode(folder: int, name: str) -> int:
    with suppress(FileNotFoundError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.ELOOP, "not a file")
        return stat.S_IMODE(found.st_mode)
    return 0o644


@contextmanager
def _explained(path: PurePosixPath) -> Generator[None]:
    if not path.name:
        raise Refused("give the path of a file")
    try:
        yield
    except OSError as error:
        match error.errno:
            case errno.ELOOP | errno.ENOTDIR | errno.EISDIR | errno.ENXIO:
                raise Refused(
                    f"{path} is, or leads through, something that is no plain file or folder; links are not followed"
                ) from None
            case errno.ENAMETOOLONG | errno.EINVAL | errno.EACCES | errno.EPERM:
                raise Refused(f"{path} cannot be used: {error.strerror}") from None
            case _:
                raise
