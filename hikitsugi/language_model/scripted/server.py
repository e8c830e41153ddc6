"""The scripted model on a port of this machine."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn

from hikitsugi.language_model.scripted.app import application
from hikitsugi.language_model.scripted.model import ScriptedModel
from hikitsugi.serving import listening, serving


@asynccontextmanager
async def serve(model: ScriptedModel, port: int = 0) -> AsyncGenerator[str]:
    """Serve the model on loopback for as long as the block lasts; its base URL."""
    config = uvicorn.Config(
        application(model), log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1
    )
    with listening("127.0.0.1", port) as door:
        async with serving(config, door) as address:
            yield address
