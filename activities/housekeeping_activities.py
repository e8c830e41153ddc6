"""The steps of housekeeping: what has expired is forgotten, and what a host no longer needs is removed."""

from datetime import datetime, timedelta

from temporalio import activity

from hikitsugi.domain.ports import Household, Records, Workspaces
from hikitsugi.domain.value import Value

_MOST_TOLD = 100


class ForgetExpired(Value):
    """Forget what sessions left that ended longer ago than they are remembered."""

    now: datetime
    expiry: timedelta


class SweepWorkspaces(Value):
    """Remove what this host keeps of issues that were not worked on for so long."""

    now: datetime
    keep: timedelta


class Swept(Value):
    """What was done on a host, in sentences; of very many only the first."""

    count: int
    told: tuple[str, ...] = ()


class HousekeepingActivities:
    """The records, how long they are kept, and who still needs them."""

    def __init__(self, records: Records, household: Household) -> None:
        self._records = records
        self._household = household

    @activity.defn
    async def forget_expired(self, request: ForgetExpired) -> int:
        """How many sessions were forgotten."""
        under_way = await self._household.under_way()
        forgotten = await self._records.expire(request.now - request.expiry, under_way)
        activity.logger.info("forgot %d expired session(s)", forgotten)
        return forgotten


class SweepingActivities:
    """The workspaces of a host, and who still needs them."""

    def __init__(self, workspaces: Workspaces, household: Household) -> None:
        self._workspaces = workspaces
        self._household = household

    @activity.defn
    async def sweep_workspaces(self, request: SweepWorkspaces) -> Swept:
        """Remove stale workspaces and mirrors; those of issues under way stay, however long they rested."""
        under_way = await self._household.under_way()
        told = await self._workspaces.sweep(request.now, request.keep, under_way)
        for line in told:
            activity.logger.info("%s", line)
        return Swept(count=len(told), told=tuple(told[:_MOST_TOLD]))

    @activity.defn
    async def dismiss_host(self, host: str) -> None:
        """Keep house no longer for a host that is gone."""
        await self._household.dismiss(host)
        activity.logger.info("host %s is gone and is not swept any more", host)
