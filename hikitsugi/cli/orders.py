"""What an operator tells the workflows to do."""

import asyncio
from datetime import timedelta

from pydantic import JsonValue
from temporalio.client import WorkflowFailureError

from hikitsugi.app.deliveries import start_issue
from hikitsugi.app.settings import Settings
from hikitsugi.app.watching import start_watching
from hikitsugi.cli.connection import connected, no_workflow, said_plainly
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.issue import OPERATOR

_PATIENCE = timedelta(seconds=15)


async def start(settings: Settings, issue: IssueAddress) -> None:
    """Call an issue up, whatever its labels say."""
    client = await connected(settings)
    with said_plainly(no_workflow(issue)):
        await start_issue(client, settings.temporal.task_queue, issue, "issue_changed", {"called_by": OPERATOR})


async def signal(settings: Settings, issue: IssueAddress, name: str, payload: JsonValue) -> None:
    """Send a signal to the workflow of an issue."""
    client = await connected(settings)
    with said_plainly(no_workflow(issue)):
        await client.get_workflow_handle(str(issue)).signal(name, payload)


async def watch_repository(settings: Settings, home: RepositoryAddress) -> None:
    """Have a repository watched."""
    client = await connected(settings)
    with said_plainly(f"{home} cannot be watched"):
        await start_watching(client, settings.temporal.task_queue, home)


async def unwatch_repository(settings: Settings, home: RepositoryAddress) -> bool:
    """End the watching of a repository; False when it has not ended yet, which needs a watcher that runs."""
    client = await connected(settings)
    workflow = client.get_workflow_handle(str(home))
    with said_plainly(f"Nobody watches {home}; watch it with: python starter.py watch-repository {home}"):
        await workflow.cancel()
        # Who watches it again at once must not find the watching that is about to end.
        try:
            async with asyncio.timeout(_PATIENCE.total_seconds()):
                await workflow.result()
        except WorkflowFailureError:
            return True
        except TimeoutError:
            return False
    return True
