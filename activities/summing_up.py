"""A summary by the model: asked for once, paid once, and never a reason to fail."""

import asyncio
from datetime import timedelta

from temporalio import activity

from hikitsugi.domain.conversation import Opening, Reply
from hikitsugi.domain.errors import HikitsugiError
from hikitsugi.domain.ports import LanguageModel, Memory

PATIENCE = timedelta(seconds=90)
"""How long a summary is waited for; after that one goes on without it."""


async def summary_of(memory: Memory, model: LanguageModel, opening: Opening) -> Reply | None:
    """What the model makes of a record; None where it cannot be reached or refuses."""
    if known := await memory.find_reply(opening.id, len(opening.turns)):
        return known
    await memory.open_conversation(opening)
    try:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            fresh = await model.reply(await memory.read_conversation(opening.id))
    except (HikitsugiError, TimeoutError) as error:
        activity.logger.warning("the model gave no summary (%s): %s", opening.purpose, error)
        return None
    return await memory.append_reply(opening.id, len(opening.turns), fresh)
