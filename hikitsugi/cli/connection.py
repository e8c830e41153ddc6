"""The way from a command to the workflows, with every failure in plain words."""

from collections.abc import Generator
from contextlib import contextmanager

from temporalio.api.errordetails.v1 import NamespaceNotFoundFailure
from temporalio.client import Client, WorkflowQueryFailedError
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.service import RPCError, RPCStatusCode

from hikitsugi.app.run_file import read_run_file
from hikitsugi.app.settings import Settings
from hikitsugi.app.settings_forges import ForgeSettings
from hikitsugi.app.temporal import connect
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import HikitsugiError, TryAgainLater, WillNeverWork
from hikitsugi.domain.redaction import Redactor

_NO_WORKER = (RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.CANCELLED)
_NO_ENTRY = (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED)


async def connected(settings: Settings) -> Client:
    """A client of the configured server, or of the one that the running worker has."""
    # The SDK would log to standard output, which belongs to the command's own words.
    silent = Runtime(telemetry=TelemetryConfig(logging=None))
    return await connect(settings.temporal, _address(settings), silent, redact=Redactor(settings.secrets()))


def no_workflow(issue: IssueAddress) -> str:
    """What to say of an issue that nobody works on."""
    return f"There is no workflow for {issue}; start it with: python starter.py start {issue}"


@contextmanager
def said_plainly(missing: str) -> Generator[None]:
    """Turn Temporal's refusals into sentences; `missing` is the one for a workflow that is not there."""
    try:
        yield
    except RPCError as error:
        raise _plain(error, missing) from error
    except WorkflowQueryFailedError as error:
        raise WillNeverWork(f"The workflow cannot tell how it stands: {error}") from error


def _address(settings: Settings) -> str:
    facts = read_run_file(settings.data_folder)
    address = settings.temporal.address or (facts and facts.temporal)
    if not address:
        raise WillNeverWork(
            f"No worker runs on the data folder {settings.data_folder.absolute()}; "
            "start `python worker.py`, or set temporal.address."
        )
    return address


def _plain(error: RPCError, missing: str) -> HikitsugiError:
    if error.status is RPCStatusCode.NOT_FOUND:
        details = error.grpc_status.details
        if any(detail.Is(NamespaceNotFoundFailure.DESCRIPTOR) for detail in details):
            return WillNeverWork("Temporal does not know the namespace; check temporal.namespace.")
        return WillNeverWork(missing)
    if error.status in _NO_ENTRY:
        return WillNeverWork(f"Temporal does not let us in ({error.message}); check temporal.api_key.")
    if error.status in _NO_WORKER:
        return TryAgainLater(f"No worker answers ({error.message}); see whether `python worker.py` runs.")
    if error.status is RPCStatusCode.UNAVAILABLE:
        return TryAgainLater("Temporal does not answer; see whether `python worker.py` or the server runs.")
    return WillNeverWork(f"Temporal refuses this: {error.message}")


def known_forges(settings: Settings) -> tuple[ForgeSettings, ...]:
    """The configured forges; where there are none, that of a demo which runs on the data folder."""
    facts = None if settings.forges else read_run_file(settings.data_folder)
    if facts is None or facts.forge is None or facts.issue is None:
        return settings.forges
    kind = "gitlab" if facts.issue.startswith("gitlab:") else "github"
    return (ForgeSettings(name=kind, kind=kind, url=facts.forge),)
