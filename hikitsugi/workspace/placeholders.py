"""Finds placeholders in what a commit adds."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from hikitsugi.domain.verification import Placeholder
from hikitsugi.workspace.change import additions
from hikitsugi.workspace.git import Git
from hikitsugi.workspace.processes import capture

_FINDER = Path(__file__).with_name("placeholder_finder.py")
_SECONDS = timedelta(seconds=30)
_LARGEST_FILE, _MOST_FOUND, _LONGEST_LINE = 1024 * 1024, 50, 200


async def placeholders_in(git: Git, origin: str, commit: str) -> tuple[Placeholder, ...]:
    """Placeholders among the added lines; lines that were only moved do not count."""
    change = await additions(git, origin, commit)
    files = [
        {"path": path, "content": await _content(git, commit, path), "added": lines}
        for path, lines in change.added.items()
        if lines
    ]
    found: list[Placeholder] = []
    for path, numbers in await _found(files):
        lines = change.added[path]
        found += [
            Placeholder(path=path, line=number, text=lines[number].strip()[:_LONGEST_LINE])
            for number in numbers
            if lines[number].strip() not in change.removed
        ]
    return tuple(found[:_MOST_FOUND])


async def _content(git: Git, commit: str, path: str) -> str:
    # Only Python is parsed whole; elsewhere the added lines are enough.
    if not path.endswith((".py", ".pyi")):
        return ""
    said = await git.try_run("cat-file", "blob", f"{commit}:{path}", most=_LARGEST_FILE)
    return "" if said.is_cut else said.out.decode(errors="replace")


async def _found(files: Sequence[Mapping[str, object]]) -> list[tuple[str, list[int]]]:
    """Parsed in a process of its own, which may break on what it is given."""
    if not files:
        return []
    finder = [sys.executable, "-I", "-W", "ignore", str(_FINDER)]
    try:
        said = await capture(finder, env={}, stdin=json.dumps(files).encode(), within=_SECONDS, most=_LARGEST_FILE)
    except TimeoutError:
        return []
    return json.loads(said.out) if said.code == 0 else []
