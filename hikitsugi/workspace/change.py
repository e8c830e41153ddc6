"""What a commit changes against the branch it came from: paths and added lines."""

import re
from dataclasses import dataclass, field

from hikitsugi.workspace.git import Git

_MOST = 16 * 1024 * 1024
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)")
_PLAIN = ("--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")


@dataclass
class Additions:
    """The lines a change adds, by file and number, and all the lines it takes away."""

    added: dict[str, dict[int, str]] = field(default_factory=dict[str, dict[int, str]])
    removed: set[str] = field(default_factory=set[str])


async def changed_paths(git: Git, origin: str, commit: str) -> list[str]:
    """Every path that was added, changed or deleted."""
    listed = await git.run("diff-tree", "-r", "-z", "--name-only", *_PLAIN, origin, commit)
    return [path.decode(errors="replace") for path in listed.split(b"\0") if path]


async def additions(git: Git, origin: str, commit: str) -> Additions:
    """The added and removed lines of all text files."""
    asked = ("diff-tree", "-r", "-p", "-U0", "--src-prefix=a/", "--dst-prefix=b/", *_PLAIN)
    said = (await git.try_run("-c", "core.quotePath=false", *asked, origin, commit, most=_MOST)).out
    return _parsed(said.decode(errors="replace"))


def _parsed(diff: str) -> Additions:
    found = Additions()
    lines: dict[int, str] = {}
    number, in_hunk = 0, False
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            in_hunk = False
        elif not in_hunk and line.startswith("+++ b/"):
            lines = found.added.setdefault(line.removeprefix("+++ b/").rstrip("\t"), {})
        elif hunk := _HUNK.match(line):
            number, in_hunk = int(hunk[1]), True
        elif in_hunk and line.startswith("+"):
            lines[number] = line[1:]
            number += 1
        elif in_hunk and line.startswith("-"):
            found.removed.add(line[1:].strip())
    return found
