"""The connection to Temporal, the same for worker, command line, broker, tests and replayer."""

from collections.abc import Sequence
from datetime import timedelta
from importlib.metadata import version

from pydantic import SecretStr
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.errordetails.v1 import NamespaceNotFoundFailure
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.plugin import SimplePlugin
from temporalio.runtime import Runtime
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Interceptor, UnsandboxedWorkflowRunner

from hikitsugi.app.payloads import data_converter
from hikitsugi.app.settings_sections import TemporalSettings
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.redaction import Redactor
from workflows import display
from workflows.housekeeping_workflow import HousekeepingWorkflow
from workflows.issue_workflow import IssueWorkflow
from workflows.repository_workflow import RepositoryWorkflow

BUILD = version("hikitsugi")
"""Which version took a step; every event of a history names it, and the SDK's own choice would be six times as long."""

WORKFLOWS = (IssueWorkflow, RepositoryWorkflow, HousekeepingWorkflow)
_CHECKED = 5
_CONNECT_TIMEOUT = timedelta(seconds=10)
_ATTRIBUTES = (display.STATE, display.REPOSITORY, display.PHASE, display.AGENT, display.COST_USD)


def plugin(
    interceptors: Sequence[Interceptor] = (), redact: Redactor | None = None, key: SecretStr | None = None
) -> SimplePlugin:
    """How stories are written down and told, in one piece; which workflows run where is each worker's own."""
    return SimplePlugin(
        "hikitsugi",
        data_converter=data_converter(redact or Redactor(), key),
        workflow_runner=UnsandboxedWorkflowRunner(),
        interceptors=list(interceptors),
    )


async def connect(
    settings: TemporalSettings,
    address: str,
    runtime: Runtime | None = None,
    interceptors: Sequence[Interceptor] = (),
    redact: Redactor | None = None,
) -> Client:
    """A client of the server at the address; TryAgainLater when nobody answers there."""
    try:
        return await Client.connect(
            address,
            namespace=settings.namespace,
            api_key=settings.api_key.get_secret_value() if settings.api_key else None,
            tls=settings.tls or None,
            plugins=[plugin(interceptors, redact, settings.encryption_key)],
            runtime=runtime,
            connect_timeout=_CONNECT_TIMEOUT,
        )
    except (RPCError, RuntimeError) as error:
        raise TryAgainLater(
            f"Temporal does not answer at {address}; start the worker, or check temporal.address"
        ) from error


def is_missing(error: RPCError) -> bool:
    """Whether a workflow is not there; a server that has just been started may not know its namespaces yet."""
    if error.status is not RPCStatusCode.NOT_FOUND:
        return False
    return not any(detail.Is(NamespaceNotFoundFailure.DESCRIPTOR) for detail in error.grpc_status.details)


async def register_search_attributes(client: Client) -> None:
    """Make our search attributes known where they are missing."""
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    missing = {
        key.name: IndexedValueType.ValueType(key.indexed_value_type)
        for key in _ATTRIBUTES
        if key.name not in listed.custom_attributes
    }
    if missing:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=missing)
        )


async def check_key(client: Client) -> None:
    """Refuse to begin with another encryption key than the running workflows were written with."""
    running = "WorkflowType = 'IssueWorkflow' AND ExecutionStatus = 'Running'"
    async for found in client.list_workflows(running, limit=_CHECKED):
        workflow = client.get_workflow_handle(found.id, run_id=found.run_id)
        await (await workflow.describe()).memo()
        async for event in workflow.fetch_history_events(page_size=1):
            carried = event.workflow_execution_started_event_attributes.input.payloads
            if carried:
                await client.data_converter.decode(carried)
            break
