"""One issue's checkout: a tree without `.git`, and its own index and HEAD in a folder out of the agent's reach."""

import asyncio
import shutil
from collections.abc import Mapping
from pathlib import Path

from hikitsugi.workspace.git import Git
from hikitsugi.workspace.mirror import clear_leftovers
from hikitsugi.workspace.ownership import hand_over, sandbox_uid
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.tidying import tidy

_CONFLICT = 1
PUBLISHED = "refs/hikitsugi/published"
_NOT_WORK = "__pycache__/\n*.pyc\n.pytest_cache/\n.mypy_cache/\n.ruff_cache/\n.venv/\nnode_modules/\n.DS_Store\n"


class WorkingCopy:
    """To be used by who holds the place's lock.

    While the mark `unsettled` exists, HEAD is right and the tree is not: it is laid out again before use.
    """

    def __init__(self, place: Place, objects: Path, held: int) -> None:
        self.place = place
        self.git = Git(place.git_dir, place.tree, held=(held,))
        self._held = held
        self._objects = objects
        self._unsettled = unsettled_mark(place)

    async def bring_to(self, target: str) -> None:
        """Stand at a commit, unless there is work that was not published yet."""
        if not self.place.git_dir.is_dir():
            await self._found(target)
        await self.settle()
        if await self.head() != target and await self._all_is_published(target):
            await self._move(target)

    async def settle(self) -> None:
        """Finish what a kill cut off, so that the tree holds HEAD and the work done since."""
        clear_leftovers(self.place.git_dir)
        if self._unsettled.exists() or not self.place.tree.is_dir():
            self._unsettled.touch()
            self.place.tree.mkdir(mode=0o700, exist_ok=True)
            is_new = not any(self.place.tree.iterdir())
            await asyncio.to_thread(tidy, self.place.tree)
            await self.git.run("reset", "--hard", "--quiet")
            if not is_new:
                await self.git.run("clean", "-ffdq")
            await self._hand_over()
            self._unsettled.unlink()

    async def refresh_index(self) -> None:
        """Note in the index what the files look like now, so that the next look at them is quick."""
        await self.git.try_run("update-index", "-q", "--refresh")

    async def head(self) -> str:
        """The commit the checkout stands at."""
        return await self.git.ask("rev-parse", "HEAD")

    async def commit(self, parent: str, message: str, identity: Mapping[str, str]) -> str:
        """Commit what is staged on top of a commit; without a change, that commit itself."""
        tree = await self.git.ask("write-tree")
        if tree == await self.git.ask("rev-parse", f"{parent}^{{tree}}"):
            return parent
        words = message.replace("\0", "").encode(errors="replace")
        made = await self.git.run("commit-tree", tree, "-p", parent, "-F", "-", stdin=words, env=identity)
        await self.git.run("update-ref", "HEAD", made.decode().strip())
        return made.decode().strip()

    async def merge(self, other: str, message: str, identity: Mapping[str, str]) -> bool:
        """Merge a commit into a checkout whose work is all committed; on a conflict nothing changes."""
        self._unsettled.touch()
        merged = await self.git.try_run("merge", "--quiet", "-m", message, other, env=identity)
        if merged.code == 0:
            await self._hand_over()
            self._unsettled.unlink()
            return True
        await self.settle()
        if merged.code != _CONFLICT:
            raise self.git.failure("merge", merged)
        return False

    async def remember_published(self, commit: str) -> None:
        """Note what the remote's work branch holds of ours."""
        await self.git.run("update-ref", PUBLISHED, commit)

    async def holds(self, commit: str, other: str) -> bool:
        """Whether a commit builds on another."""
        return await self.git.find("merge-base", "--is-ancestor", other, commit) is not None

    async def _all_is_published(self, target: str) -> bool:
        head = await self.head()
        if head != await self.git.ask("rev-parse", PUBLISHED) and not await self.holds(target, head):
            return False
        await asyncio.to_thread(tidy, self.place.tree)
        status = ("status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all")
        return not await self.git.run(*status)

    async def _found(self, target: str) -> None:
        new = self.place.git_dir.with_name(f"{self.place.git_dir.name}.new")
        shutil.rmtree(new, ignore_errors=True)
        git = Git(new, held=(self._held,))
        await git.run("init", "--bare", "--quiet", "--template=", "--initial-branch=work", str(new))
        (new / "objects" / "info" / "alternates").write_text(f"{self._objects}\n", encoding="utf-8")
        (new / "info").mkdir(exist_ok=True)
        (new / "info" / "exclude").write_text(_NOT_WORK, encoding="utf-8")
        await git.run("update-ref", "--stdin", stdin=f"update HEAD {target}\nupdate {PUBLISHED} {target}\n".encode())
        (new / self._unsettled.name).touch()
        new.rename(self.place.git_dir)

    async def _move(self, target: str) -> None:
        self._unsettled.touch()
        await self.git.run("update-ref", "HEAD", target)
        await self.remember_published(target)
        await self.settle()

    async def _hand_over(self) -> None:
        await asyncio.to_thread(hand_over, self.place.tree, sandbox_uid(self.place.tree))


def unsettled_mark(place: Place) -> Path:
    """The file whose existence says that the tree does not hold HEAD yet."""
    return place.git_dir / "unsettled"
