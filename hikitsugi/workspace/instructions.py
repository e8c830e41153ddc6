"""What a repository asks of agents, read from a commit and never from a working tree."""

from hikitsugi.domain.visible import only_visible
from hikitsugi.workspace.git import Git
from hikitsugi.workspace.steering_files import INSTRUCTIONS

_FILE_MODES = {"100644", "100755"}
_LONGEST_FILE, _LONGEST = 16_000, 32_000
_MOST_BYTES = 4 * _LONGEST_FILE


async def instructions_at(git: Git, commit: str) -> str:
    """The instruction files of a commit under their names; links, repetitions and what is too long are left out."""
    parts: list[str] = []
    known: set[str] = set()
    for name in INSTRUCTIONS:
        content = await _content(git, commit, name)
        if content and content not in known:
            known.add(content)
            parts.append(f"## {name}\n\n{content}")
    return _cut("\n\n".join(parts), _LONGEST)


async def _content(git: Git, commit: str, name: str) -> str:
    listed = (await git.ask("ls-tree", "--full-tree", commit, "--", name)).split()
    if not listed or listed[0] not in _FILE_MODES:
        return ""
    data = (await git.try_run("cat-file", "blob", listed[2], most=_MOST_BYTES)).out
    return _cut(only_visible(data.decode(errors="replace")).strip(), _LONGEST_FILE)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}\n(the rest is left out: too long)"
