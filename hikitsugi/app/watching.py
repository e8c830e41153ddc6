"""Which repositories are watched: those that the configuration names, and those an operator asked for."""

from collections.abc import Collection

from temporalio.client import Client
from temporalio.common import Priority, WorkflowIDConflictPolicy

from hikitsugi.app.deliveries import fairness_key
from hikitsugi.domain.address import RepositoryAddress
from workflows.repository_workflow import RepositoryWorkflow

_NAMED_IN = "named_in"
_CONFIGURATION = "configuration"


async def start_watching(client: Client, task_queue: str, home: RepositoryAddress, *, configured: bool = False) -> None:
    """Have a repository watched; one that is watched already is left as it is."""
    await client.start_workflow(
        RepositoryWorkflow.run,
        id=str(home),
        task_queue=task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        priority=Priority(fairness_key=fairness_key(home)),
        memo={_NAMED_IN: _CONFIGURATION} if configured else None,
    )


async def watch_exactly(client: Client, task_queue: str, homes: Collection[RepositoryAddress]) -> None:
    """Watch what the configuration names, and no longer what only an earlier one named."""
    named = {str(home) for home in homes}
    for home in homes:
        await start_watching(client, task_queue, home, configured=True)
    watched = f"WorkflowType = 'RepositoryWorkflow' AND ExecutionStatus = 'Running' AND TaskQueue = '{task_queue}'"
    async for running in client.list_workflows(watched):
        by_configuration = await running.memo_value(_NAMED_IN, None) == _CONFIGURATION
        if by_configuration and running.id not in named:
            await client.get_workflow_handle(running.id).cancel()
