"""Finds out how a repository is usually checked, by its files and by what is installed."""

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, cast

from hikitsugi.workspace.paths import read
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.refusal import Refused
from hikitsugi.workspace.shell import Shell

_LOOKING = (
    "python -c 'import pytest' 2>/dev/null && echo pytest; command -v python >/dev/null && echo unittest; "
    "for program in npm make go cargo; do command -v $program >/dev/null && echo $program; done; true"
)
_TEST_FILES = ("test_*.py", "*_test.py", "tests.py")
_NO_TEST = "no test specified"
_MAKE_TEST = re.compile(rb"^test\s*:", re.MULTILINE)
_FOLDERS_LOOKED_INTO = 2000
_LOOK_SECONDS = 30


async def usual_checks(shell: Shell, place: Place) -> tuple[str, ...]:
    """The commands of the usual checks; none where nothing usual is there or installed."""
    installed = set((await shell.run(place, _LOOKING, "usual checks", _LOOK_SECONDS)).text.split())
    special = [command for program, command in _candidates(place) if program in installed]
    # A Python project's tests run once: by pytest where it is installed.
    if "python -m pytest -q" in special and _UNITTEST in special:
        special.remove(_UNITTEST)
    if special:
        return tuple(special)
    is_made = "make" in installed and _MAKE_TEST.search(_content(place, "Makefile"))
    return ("make test",) if is_made else ()


_UNITTEST = "python -m unittest"


def _candidates(place: Place) -> Iterator[tuple[str, str]]:
    tests = list(_python_tests(place))
    if tests or b"pytest" in _content(place, "pyproject.toml") or _content(place, "pytest.ini"):
        yield "pytest", "python -m pytest -q"
    if any(b"unittest" in _content(place, test) for test in tests[:10]):
        yield "unittest", _UNITTEST
    if _has_npm_test(_content(place, "package.json")):
        yield "npm", "npm test"
    if _content(place, "go.mod"):
        yield "go", "go test ./..."
    if _content(place, "Cargo.toml"):
        yield "cargo", "cargo test"


def _python_tests(place: Place) -> Iterator[str]:
    folders = [place.tree]
    for _ in range(_FOLDERS_LOOKED_INTO):
        if not folders:
            return
        folder = folders.pop()
        for entry in sorted(folder.iterdir()):
            if entry.is_symlink() or entry.name.startswith(".") or entry.name == "node_modules":
                continue
            if entry.is_dir():
                folders.append(entry)
            elif any(PurePosixPath(entry.name).match(pattern) for pattern in _TEST_FILES):
                yield str(entry.relative_to(place.tree))


def _has_npm_test(package: bytes) -> bool:
    try:
        scripts = cast("dict[str, Any]", json.loads(package or b"{}")).get("scripts", {})
        return bool(scripts.get("test")) and _NO_TEST not in scripts["test"]
    except (ValueError, AttributeError, TypeError):
        return False


def _content(place: Place, name: str) -> bytes:
    try:
        return read(place.tree, PurePosixPath(name)) or b""
    except Refused:
        return b""
