"""Trees of large repositories laid out ahead of need, so that the next issue's checkout is there at once."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from hikitsugi.domain.address import RepositoryAddress
from hikitsugi.domain.errors import HikitsugiError
from hikitsugi.workspace.locks import locked, locked_now
from hikitsugi.workspace.ownership import hand_over, sandbox_uid
from hikitsugi.workspace.places import Layout, Place, folder_name
from hikitsugi.workspace.working_copy import WorkingCopy, unsettled_mark

_log = logging.getLogger(__name__)
_WORTH_IT = 64 * 1024
"""An index of this many bytes names several hundred files; smaller trees are laid out as soon as they are wanted."""


@dataclass(frozen=True)
class Wanted:
    """A repository's tree at a commit."""

    home: RepositoryAddress
    objects: Path
    commit: str


class Spares:
    """At most one spare for each repository; made only while they are kept."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._wanted: asyncio.Queue[Wanted] | None = None

    @asynccontextmanager
    async def kept(self) -> AsyncGenerator[None]:
        """Lay spares out in the background."""
        self._wanted = asyncio.Queue()
        work = asyncio.create_task(self._lay_out_all(self._wanted))
        try:
            yield
        finally:
            self._wanted = None
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work

    def want(self, wanted: Wanted, like: Place) -> None:
        """Have a spare made if the repository is as large as it looks at a place."""
        index = like.git_dir / "index"
        if self._wanted and index.exists() and index.stat().st_size >= _WORTH_IT:
            self._wanted.put_nowait(wanted)

    async def all_made(self) -> None:
        """Wait until every wanted spare is there."""
        if self._wanted:
            await self._wanted.join()

    def give(self, home: RepositoryAddress, place: Place) -> None:
        """Make the spare, if there is one, the checkout at a place where there is none."""
        spare = self._place(home)
        if not spare.git_dir.is_dir() or place.tree.exists() or place.git_dir.exists():
            return
        with locked_now(spare.lock) as is_held:
            if is_held and spare.tree.is_dir() and not unsettled_mark(spare).exists():
                unsettled_mark(spare).touch()
                spare.tree.rename(place.tree)
                spare.git_dir.rename(place.git_dir)
                unsettled_mark(place).unlink()

    async def _lay_out_all(self, queue: asyncio.Queue[Wanted]) -> None:
        while True:
            wanted = await queue.get()
            try:
                await self._lay_out(wanted)
            except (HikitsugiError, OSError) as error:
                _log.warning("no spare tree of %s: %s", wanted.home, error)
            finally:
                queue.task_done()

    async def _lay_out(self, wanted: Wanted) -> None:
        spare = self._place(wanted.home)
        async with locked(spare.lock) as held:
            if not spare.tree.is_dir():
                spare.tree.mkdir(mode=0o700)
                # The user of its commands, for whatever issue that will be.
                hand_over(spare.tree, sandbox_uid(Path(uuid4().hex)))
            copy = WorkingCopy(spare, wanted.objects, held)
            await copy.bring_to(wanted.commit)
            await copy.refresh_index()

    def _place(self, home: RepositoryAddress) -> Place:
        return self._layout.named(f"{folder_name(str(home))}-spare")
