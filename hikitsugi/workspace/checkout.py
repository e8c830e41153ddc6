"""Checkouts on this host: prepared from a shared mirror, published as commits of the platform."""

import os
import re
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import Unprepared, WillNeverWork
from hikitsugi.domain.issue import GitRemote
from hikitsugi.domain.ports import Workspaces
from hikitsugi.domain.verification import Verified
from hikitsugi.domain.workspace import Commit, Published
from hikitsugi.workspace.confinement import Limits, NoSandbox
from hikitsugi.workspace.git import Git
from hikitsugi.workspace.git_failures import saying_full_disk
from hikitsugi.workspace.instructions import instructions_at
from hikitsugi.workspace.locks import locked
from hikitsugi.workspace.mirror import Mirror, Tips
from hikitsugi.workspace.places import Layout, Place
from hikitsugi.workspace.setting_up import set_up
from hikitsugi.workspace.shell import Shell
from hikitsugi.workspace.spares import Spares, Wanted
from hikitsugi.workspace.staging import stage
from hikitsugi.workspace.sweeping import sweep
from hikitsugi.workspace.verifying import Verification
from hikitsugi.workspace.working_copy import WorkingCopy, unsettled_mark


class Checkouts(Workspaces):
    """One checkout for each issue below a root folder; a step that was cut off is simply taken again."""

    def __init__(
        self,
        root: Path,
        shell: Shell | None = None,
        *,
        setup_command: str | None = None,
        check_command: str | None = None,
        author_name: str = "Hikitsugi",
        author_email: str = "hikitsugi@localhost",
    ) -> None:
        self._layout = Layout(root)
        self._shell = shell or Shell(NoSandbox("none was chosen"), Limits())
        self._setup = setup_command
        self._spares = Spares(self._layout)
        self._verification = Verification(self._shell, setup_command, check_command)
        self._name = author_name
        self._email = author_email

    async def prepare(self, issue: IssueAddress, remote: GitRemote, branch: str) -> None:
        """Make sure the issue's checkout exists on its work branch; uncommitted work in it is kept."""
        async with self._alone_with(issue) as copy:
            mirror = self._mirror(issue)
            tips = await mirror.refresh(remote, branch)
            self._spares.give(issue.home, copy.place)
            await copy.bring_to(tips.work or tips.base)
            self._spares.want(Wanted(issue.home, mirror.objects, tips.base), like=copy.place)
            if self._setup:
                await set_up(self._shell, copy.place, self._setup)

    async def verify(
        self, issue: IssueAddress, remote: GitRemote, commit: str, commands: tuple[str, ...] = ()
    ) -> Verified:
        """Run the checks on exactly a pushed commit, where nobody has worked, and look through its change."""
        with saying_full_disk(self._layout.root):
            mirror = self._mirror(issue)
            base = await mirror.base(remote)
            await mirror.hold(remote, commit)
            place = self._layout.place(issue, "-verify")
            return await self._verification.verify(Git(mirror.folder), base, commit, place, commands)

    async def instructions(self, issue: IssueAddress, remote: GitRemote) -> str:
        """What the repository's base branch asks of agents (`AGENTS.md` and the like)."""
        mirror = self._mirror(issue)
        return await instructions_at(Git(mirror.folder), await mirror.base(remote))

    async def publish(self, issue: IssueAddress, remote: GitRemote, branch: str, commit: Commit) -> Published:
        """Commit whatever changed, push the branch, and tell what it holds."""
        async with self._alone_with(issue) as copy:
            await self._settle(copy, issue)
            tips = await self._mirror(issue).refresh(remote, branch)
            head = await self._commit_all(copy, tips, branch, commit)
            published = await _described(copy.git, tips.base, head)
            if head != tips.work and not (tips.work is None and published.is_empty):
                await _push(copy.git, remote, branch, head, tips.work or "")
            await copy.remember_published(head)
            return published

    async def sweep(self, now: datetime, keep: timedelta, under_way: Collection[IssueAddress] = ()) -> list[str]:
        """Remove what was not used for so long by issues that are not under way; what was done, as sentences."""
        return await sweep(self._layout, now, keep, under_way)

    async def hindrances(self, issue: IssueAddress) -> list[str]:
        """What in the checkout could not be published, as sentences."""
        async with self._alone_with(issue) as copy:
            await self._settle(copy, issue)
            return await stage(copy.git, copy.place.tree)

    @asynccontextmanager
    async def keeping_spares(self) -> AsyncGenerator[Spares]:
        """Have trees of large repositories laid out ahead, in the background."""
        async with self._spares.kept():
            yield self._spares

    def place(self, issue: IssueAddress) -> Place:
        """Where a prepared checkout is."""
        place = self._layout.place(issue)
        if not place.tree.is_dir() or not place.git_dir.is_dir() or unsettled_mark(place).exists():
            raise _unprepared(issue)
        os.utime(place.lock)
        return place

    @asynccontextmanager
    async def _alone_with(self, issue: IssueAddress) -> AsyncGenerator[WorkingCopy]:
        with saying_full_disk(self._layout.root):
            place = self._layout.place(issue)
            async with locked(place.lock) as held:
                yield WorkingCopy(place, self._mirror(issue).objects, held)

    async def _settle(self, copy: WorkingCopy, issue: IssueAddress) -> None:
        if not copy.place.git_dir.is_dir():
            raise _unprepared(issue)
        await copy.settle()

    def _mirror(self, issue: IssueAddress) -> Mirror:
        return Mirror(self._layout.mirror(issue.home))

    async def _commit_all(self, copy: WorkingCopy, tips: Tips, branch: str, commit: Commit) -> str:
        if hindrances := await stage(copy.git, copy.place.tree):
            raise WillNeverWork(f"the work cannot be published: {'; '.join(hindrances)}")
        identity = self._identity(commit)
        head = await copy.commit(await copy.head(), commit.message, identity)
        if tips.work is None or await copy.holds(head, tips.work):
            return head
        await copy.bring_to(tips.work)
        merged = f"Take in what others pushed to {branch}"
        if not await copy.holds(await copy.head(), tips.work) and not await copy.merge(tips.work, merged, identity):
            raise WillNeverWork(
                f"others pushed to {branch} meanwhile and their changes conflict with ours; ours are kept on this host "
                f"as {head[:12]}: take back the push or merge by hand, then comment again"
            )
        return await copy.head()

    def _identity(self, commit: Commit) -> dict[str, str]:
        who = {"NAME": self._name, "EMAIL": self._email, "DATE": f"{int(commit.at.timestamp())} +0000"}
        return {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}


def _unprepared(issue: IssueAddress) -> Unprepared:
    return Unprepared(f"{issue} has no checkout on this host; it must be prepared first")


async def _push(git: Git, remote: GitRemote, branch: str, head: str, expected: str) -> None:
    ref = f"refs/heads/{branch}"
    lease = f"--force-with-lease={ref}:{expected}"
    await git.talk(remote, "push", "--quiet", "--no-verify", lease, "--", remote.url, f"{head}:{ref}")


async def _described(git: Git, base: str, head: str) -> Published:
    origin = await git.find("merge-base", base, head) or base
    summary = await git.ask("diff-tree", "-r", "--no-renames", "--shortstat", origin, head)
    count = {word: int(number) for number, word in re.findall(r"(\d+) (file|insertion|deletion)", summary)}
    return Published(
        commit=head,
        files_changed=count.get("file", 0),
        insertions=count.get("insertion", 0),
        deletions=count.get("deletion", 0),
    )
