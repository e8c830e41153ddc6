"""The steps of housekeeping: what has expired is forgotten."""

from datetime import datetime, timedelta

from temporalio import activity

from hikitsugi.domain.ports import Records
from hikitsugi.domain.value import Value


class ForgetExpired(Value):
    """Forget what sessions left that ended longer ago than they are remembered."""

    now: datetime
    expiry: timedelta


class HousekeepingActivities:
    """The records, and how long they are kept."""

    def __init__(self, records: Records) -> None:
        self._records = records

    @activity.defn
    async def forget_expired(self, request: ForgetExpired) -> int:
        """How many sessions were forgotten."""
        forgotten = await self._records.expire(request.now - request.expiry)
        activity.logger.info("forgot %d expired session(s)", forgotten)
        return forgotten
