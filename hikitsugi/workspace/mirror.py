"""One bare mirror for each repository, which all of its issues share."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import GitRemote
from hikitsugi.workspace.git import Git
from hikitsugi.workspace.locks import locked


@dataclass(frozen=True)
class Tips:
    """Where the remote's default branch and our work branch stand, all their objects at hand."""

    base: str
    work: str | None


class Mirror:
    """Objects of a repository as fetched so far; refs are kept under flat names so that no two can collide."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def objects(self) -> Path:
        """The object store others may borrow from; nothing in it is ever pruned."""
        return self._folder / "objects"

    async def refresh(self, remote: GitRemote, branch: str) -> Tips:
        """Ask the remote where it stands and fetch what is missing."""
        async with locked(self._folder.with_suffix(".lock")) as held:
            git = Git(self._folder, held=(held,))
            await _check_names(git, remote, branch)
            await self._make(git)
            standing = await _standing(git, remote, branch)
            await self._fetch(git, remote, standing)
            base = await git.ask("rev-parse", _kept(remote.default_branch))
            return Tips(base, await git.ask("rev-parse", _kept(branch)) if branch in standing else None)

    async def _make(self, git: Git) -> None:
        clear_leftovers(self._folder)
        await git.run("init", "--bare", "--quiet", "--template=", str(self._folder))

    async def _fetch(self, git: Git, remote: GitRemote, standing: dict[str, str]) -> None:
        # A ref moves only after all of its objects are there, so it is the proof that nothing is missing.
        known = {name: await git.find("rev-parse", "--verify", "--quiet", _kept(name)) for name in standing}
        missing = [name for name, tip in standing.items() if known[name] != tip]
        if missing:
            refs = [f"+{_ref(name)}:{_kept(name)}" for name in missing]
            flags = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
            await git.talk(remote, "fetch", *flags, "--", remote.url, *refs)


def clear_leftovers(git_dir: Path) -> None:
    """Remove what a killed git left behind; only for who holds the repository's lock."""
    for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*"):
        for leftover in git_dir.glob(pattern):
            leftover.unlink(missing_ok=True)


async def _check_names(git: Git, remote: GitRemote, branch: str) -> None:
    if branch == remote.default_branch:
        raise WillNeverWork(f"{branch} is the default branch; the agent never works on it")
    for name in (branch, remote.default_branch):
        if name.startswith("-") or await git.find("check-ref-format", _ref(name)) is None:
            raise WillNeverWork(f"{name!r} cannot be a branch's name")


async def _standing(git: Git, remote: GitRemote, branch: str) -> dict[str, str]:
    refs = [_ref(name) for name in (remote.default_branch, branch)]
    said = (await git.talk(remote, "ls-remote", "--", remote.url, *refs)).decode(errors="replace")
    tips = {ref: tip for tip, ref in (line.split("\t", 1) for line in said.splitlines())}
    if refs[0] not in tips:
        raise WillNeverWork(f"{remote.url} has no branch {remote.default_branch}; push a first commit to it")
    return {ref.removeprefix("refs/heads/"): tips[ref] for ref in refs if ref in tips}


def _ref(branch: str) -> str:
    """The remote's name of a branch; a ref of the forge's own, such as a request's head, is one already."""
    return branch if branch.startswith("refs/") else f"refs/heads/{branch}"


def _kept(branch: str) -> str:
    return f"refs/tips/{quote(branch, safe='')}"
