"""The `glob` and `grep` tools: git lists and searches, so that ignored files stay out."""

import asyncio
import os
from datetime import timedelta
from pathlib import Path, PurePosixPath

from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.tools import ToolOutcome
from hikitsugi.workspace.git import Git
from hikitsugi.workspace.inputs import Glob, Grep
from hikitsugi.workspace.paths import LARGEST_FILE, relative
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.processes import Captured
from hikitsugi.workspace.refusal import Refused

_PATIENCE = timedelta(seconds=20)
_FILES, _MATCHES, _CHARACTERS, _LONGEST_LINE = 200, 100, 10_000, 500
_TOO_MANY_LARGE = 500
_MOST_READ = 1024 * 1024
_NO_MATCH = 1


async def glob(place: Place, request: Glob) -> ToolOutcome:
    """Paths that match, the shallow ones first."""
    found = await _listed(place, _spec(relative(request.path), request.pattern))
    paths = sorted(found, key=lambda path: (path.count("/"), path))
    if not paths:
        return ToolOutcome(text="No file matches.")
    rest = f"\n({len(paths) - _FILES} more; narrow the pattern)" if len(paths) > _FILES else ""
    return ToolOutcome(text="\n".join(paths[:_FILES]) + rest)


async def grep(place: Place, request: Grep) -> ToolOutcome:
    """Matching lines as `path:line:text`, or only the paths."""
    where = relative(request.path)
    scope = _spec(where, request.glob) if request.glob else f":(literal){where}"
    large = [path for path in await _listed(place, scope) if _size(place.tree / path) > LARGEST_FILE]
    if len(large) > _TOO_MANY_LARGE:
        raise Refused("there are too many large files below this path; narrow it")
    flags = ["--files-with-matches"] if request.mode == "files" else ["--line-number", f"--context={request.context}"]
    case = ["--ignore-case"] if request.ignore_case else []
    options = ["--untracked", "--no-color", "--no-textconv", "-I", "--full-name", "-P", *flags, *case]
    spared = [f":(exclude,literal){path}" for path in large]
    return _matches(await _search(place, [*options, "-e", request.pattern, "--", scope, *spared]))


async def _search(place: Place, arguments: list[str]) -> Captured:
    try:
        return await Git(place.git_dir, place.tree).try_run("grep", *arguments, within=_PATIENCE, most=_MOST_READ)
    except TryAgainLater:
        raise Refused("the search took too long; use a simpler pattern or a narrower path") from None


def _matches(found: Captured) -> ToolOutcome:
    if not found.is_cut and found.code > _NO_MATCH:
        complaint = found.err.decode(errors="replace").strip().removeprefix("fatal: ")
        raise Refused(f"the search failed: {complaint[:_LONGEST_LINE]}")
    lines = found.out.decode(errors="replace").replace("\0", "").splitlines()
    if not lines:
        return ToolOutcome(text="No match.")
    text = "\n".join(line[:_LONGEST_LINE] for line in lines[:_MATCHES])
    is_cut = found.is_cut or len(lines) > _MATCHES or len(text) > _CHARACTERS
    return ToolOutcome(text=text[:_CHARACTERS] + ("\n(there is more; narrow the search)" if is_cut else ""))


async def _listed(place: Place, scope: str) -> list[str]:
    listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", scope)
    found = await Git(place.git_dir, place.tree).try_run(*listing, within=_PATIENCE)
    if found.code != 0:
        raise Refused("the pattern cannot be used; write it like src/**/*.py")
    return await asyncio.to_thread(_present, place.tree, found.out)


def _present(tree: Path, listing: bytes) -> list[str]:
    paths = {entry.decode(errors="replace") for entry in listing.split(b"\0") if entry}
    return [path for path in paths if os.path.lexists(tree / path)]


def _spec(where: PurePosixPath, pattern: str) -> str:
    anywhere = pattern if "/" in pattern else f"**/{pattern}"
    return f":(glob){'' if where == PurePosixPath() else f'{_literally(where)}/'}{anywhere.lstrip('/')}"


def _literally(path: PurePosixPath) -> str:
    return "".join(f"\\{letter}" if letter in r"*?[]\\" else letter for letter in str(path))


def _size(path: Path) -> int:
    return path.lstat().st_size
