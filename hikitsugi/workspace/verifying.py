"""Shows what a pushed commit is worth: its checks run on exactly that commit, in a tree made for it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from hikitsugi.domain.verification import CheckRun, Verified
from hikitsugi.workspace.change import changed_paths
from hikitsugi.workspace.git import Git
from hikitsugi.workspace.locks import locked
from hikitsugi.workspace.placeholders import placeholders_in
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.refusal import Refused
from hikitsugi.workspace.shell import Said, Shell
from hikitsugi.workspace.steering_files import steers_machines
from hikitsugi.workspace.tidying import remove
from hikitsugi.workspace.usual_checks import usual_checks
from hikitsugi.workspace.working_copy import WorkingCopy

_TAIL = 4000
_CUT, _REFUSED = 124, 126


class Verification:
    """Runs the checks of the settings, or the usual ones, where nobody has worked before."""

    def __init__(self, shell: Shell, setup_command: str | None, check_command: str | None) -> None:
        self._shell = shell
        self._setup = setup_command
        self._check = check_command

    async def verify(self, mirror: Git, base: str, commit: str, place: Place, commands: tuple[str, ...]) -> Verified:
        """Run the checks at a place of their own and look through the change."""
        async with _laid_out(place, mirror.git_dir / "objects", commit):
            checks = await self._checked(place, commands)
        origin = await mirror.find("merge-base", base, commit) or base
        return Verified(
            commit=commit,
            checks=checks,
            placeholders=await placeholders_in(mirror, origin, commit),
            touches_instructions=tuple(filter(steers_machines, await changed_paths(mirror, origin, commit))),
        )

    async def _checked(self, place: Place, commands: tuple[str, ...]) -> tuple[CheckRun, ...]:
        if self._setup:
            setup = await self._run(place, self._setup)
            if setup.exit_code != 0:
                return (setup,)
        chosen = commands or ((self._check,) if self._check else await self._usual(place))
        return tuple([await self._run(place, command) for command in chosen])

    async def _usual(self, place: Place) -> tuple[str, ...]:
        try:
            return await usual_checks(self._shell, place)
        except Refused:
            return ()

    async def _run(self, place: Place, command: str) -> CheckRun:
        try:
            said = await self._shell.run(place, command, command)
        except Refused as refusal:
            return CheckRun(command=command, exit_code=_REFUSED, tail=str(refusal))
        return CheckRun(command=command, exit_code=_code(said), tail=_tail(said))


@asynccontextmanager
async def _laid_out(place: Place, objects: Path, commit: str) -> AsyncGenerator[None]:
    """A commit's tree, removed afterwards with everything around it; so is what an earlier attempt left."""
    async with locked(place.lock) as held:
        try:
            _remove(place)
            await WorkingCopy(place, objects, held).bring_to(commit)
            yield
        finally:
            _remove(place)


def _remove(place: Place) -> None:
    for folder in (place.tree, place.git_dir, place.logs):
        remove(folder)


def _code(said: Said) -> int:
    return said.ended.code or (_CUT if said.ended.cut else 0)


def _tail(said: Said) -> str:
    cut = f"\nEnded because {said.ended.cut}." if said.ended.cut else ""
    return said.text[-_TAIL:].strip() + cut
