"""Copies of a checkout for commands that must leave no trace in it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

from hikitsugi.workspace.places import Place
from hikitsugi.workspace.processes import capture
from hikitsugi.workspace.refusal import Refused
from hikitsugi.workspace.tidying import remove

_PATIENCE = timedelta(minutes=5)
_MOST_SAID = 10_000


@asynccontextmanager
async def copied(place: Place) -> AsyncGenerator[Place]:
    """A checkout's tree as it is, elsewhere, and removed afterwards."""
    tree = place.tree.with_name(f"{place.tree.name}-look-{uuid4().hex[:8]}")
    command = ["cp", "--archive", "--reflink=auto", "--", str(place.tree), str(tree)]
    try:
        said = await capture(command, env={"PATH": "/usr/bin:/bin"}, within=_PATIENCE, most=_MOST_SAID)
        if said.code != 0:
            raise Refused(f"the checkout cannot be copied: {said.err.decode(errors='replace').strip()[-300:]}")
        yield replace(place, tree=tree)
    except TimeoutError:
        raise Refused("the checkout is too large to be copied for a command") from None
    finally:
        await asyncio.shield(asyncio.to_thread(remove, tree))
