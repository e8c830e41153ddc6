"""One bare mirror for each repository, which all of its issues share."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import GitRemote
from hikitsugi.workspace.git import Git
from hikitsugi.workspace.locks import locked

_TIPS = "refs/tips/"
_FETCHING = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")


@dataclass(frozen=True)
class Tips:
    """Where the remote's default branch and our work branch stand, all their objects at hand."""

    base: str
    work: str | None


class Mirror:
    """Objects of a repository as fetched so far; refs are kept under flat names so that no two can collide."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def objects(self) -> Path:
        """The object store others may borrow from; nothing in it is ever pruned."""
        return self.folder / "objects"

    async def refresh(self, remote: GitRemote, branch: str) -> Tips:
        """Ask the remote where it stands and fetch what is missing."""
        if branch == remote.default_branch:
            raise WillNeverWork(f"{branch} is the default branch; the agent never works on it")
        tips = await self._brought_up_to_date(remote, (remote.default_branch, branch))
        return Tips(tips[remote.default_branch], tips.get(branch))

    async def base(self, remote: GitRemote) -> str:
        """Where the remote's default branch stands."""
        return (await self._brought_up_to_date(remote, (remote.default_branch,)))[remote.default_branch]

    async def hold(self, remote: GitRemote, commit: str) -> None:
        """Have a commit that was pushed at hand."""
        async with self._alone() as git:
            if await git.find("cat-file", "-e", f"{commit}^{{commit}}") is None:
                await git.talk(remote, "fetch", *_FETCHING, "--", remote.url, f"+{commit}:refs/commits/{commit}")

    @asynccontextmanager
    async def _alone(self) -> AsyncGenerator[Git]:
        async with locked(self.folder.with_suffix(".lock")) as held:
            yield Git(self.folder, held=(held,))

    async def _brought_up_to_date(self, remote: GitRemote, branches: tuple[str, ...]) -> dict[str, str]:
        async with self._alone() as git:
            await _check_names(git, branches)
            await self._make(git)
            standing = await _standing(git, remote, branches)
            known = await _known(git)
            missing = [name for name, tip in standing.items() if known.get(name) != tip]
            if not missing:
                return standing
            # A ref moves only after all of its objects are there, so it is the proof that nothing is missing.
            refs = [f"+{_ref(name)}:{_kept(name)}" for name in missing]
            await git.talk(remote, "fetch", *_FETCHING, "--", remote.url, *refs)
            known = await _known(git)
            return {name: known[name] for name in standing}

    async def _make(self, git: Git) -> None:
        clear_leftovers(self.folder)
        if not (self.folder / "HEAD").exists():
            await git.run("init", "--bare", "--quiet", "--template=", str(self.folder))


def clear_leftovers(git_dir: Path) -> None:
    """Remove what a killed git left behind; only for who holds the repository's lock."""
    for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*"):
        for leftover in git_dir.glob(pattern):
            leftover.unlink(missing_ok=True)


async def _check_names(git: Git, branches: tuple[str, ...]) -> None:
    for name in branches:
        if name.startswith("-") or await git.find("check-ref-format", _ref(name)) is None:
            raise WillNeverWork(f"{name!r} cannot be a branch's name")


async def _standing(git: Git, remote: GitRemote, branches: tuple[str, ...]) -> dict[str, str]:
    refs = [_ref(name) for name in branches]
    said = (await git.talk(remote, "ls-remote", "--", remote.url, *refs)).decode(errors="replace")
    tips = {ref: tip for tip, ref in (line.split("\t", 1) for line in said.splitlines())}
    if refs[0] not in tips:
        raise WillNeverWork(f"{remote.url} has no branch {remote.default_branch}; push a first commit to it")
    return {ref.removeprefix("refs/heads/"): tips[ref] for ref in refs if ref in tips}


async def _known(git: Git) -> dict[str, str]:
    listed = (await git.ask("for-each-ref", "--format=%(objectname) %(refname)", _TIPS)).splitlines()
    return {unquote(ref.removeprefix(_TIPS)): tip for tip, ref in (line.split(" ", 1) for line in listed)}


def _ref(branch: str) -> str:
    """The remote's name of a branch; a ref of the forge's own, such as a request's head, is one already."""
    return branch if branch.startswith("refs/") else f"refs/heads/{branch}"


def _kept(branch: str) -> str:
    return f"{_TIPS}{quote(branch, safe='')}"
