"""Makes a tree that commands ran in safe for the host's git to look at."""

import os
import shutil
import stat
from pathlib import Path

_USABLE_FOLDER, _USABLE_FILE = stat.S_IRWXU, stat.S_IRUSR | stat.S_IWUSR


def tidy(tree: Path) -> None:
    """Remove every `.git` and everything that is no file, folder or link; make the rest usable for us."""
    doomed: list[Path] = []
    folders = [tree]
    while folders:
        folder = folders.pop()
        _allow(folder, _USABLE_FOLDER)
        for entry in _entries(folder):
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif entry.is_file(follow_symlinks=False):
                _allow(path, _USABLE_FILE)
            if entry.name.lower() == ".git" or _is_special(entry):
                doomed.append(path)
    for path in doomed:
        _remove(path)


def remove(folder: Path) -> None:
    """Remove a folder with everything below, however its folders were closed."""
    if os.path.lexists(folder):
        tidy(folder)
        shutil.rmtree(folder)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)


def _is_special(entry: os.DirEntry[str]) -> bool:
    return not (entry.is_symlink() or entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _allow(path: Path, bits: int) -> None:
    mode = stat.S_IMODE(path.lstat().st_mode)
    if mode & bits != bits:
        path.chmod(mode | bits)
