"""Timeouts and retry policies by kind of call; no other file knows any."""

from datetime import timedelta
from typing import NamedTuple

from temporalio.common import RetryPolicy

from hikitsugi.messages.operators import Limiter

PATIENT = RetryPolicy(
    initial_interval=timedelta(seconds=1), backoff_coefficient=2.0, maximum_interval=timedelta(minutes=1)
)
"""Passing faults are outlived; what will never work is marked non-retryable where it is raised."""

RENEW_AFTER_EVENTS = 400
"""A run this long continues as new at the next checkpoint, so that waking it stays quick."""

INTAKE_PAUSE = timedelta(minutes=1)
"""How long comments and labels rest when the forge refuses to tell about them."""

RECONCILE_AFTER = timedelta(minutes=1)
"""When a comment that was written again is looked after: what arrives late has arrived by then."""

SETTLED_WITHIN = timedelta(seconds=10)
"""How long an agent's report waits for the forge to show what it says."""

WATCH_PAUSE = timedelta(minutes=5)
"""How long a repository that cannot be watched rests before it is tried again."""


class Limits(NamedTuple):
    """How long one kind of call may take, and how soon the silence of a dead worker is noticed."""

    start_to_close: timedelta
    heartbeat: timedelta = timedelta(seconds=10)
    whose: Limiter = "forge"
    with_retries: timedelta | None = None
    """How long all attempts together may take; None means for as long as it takes."""


FORGE = Limits(timedelta(minutes=2))
STORE = Limits(timedelta(minutes=2))
MODEL = Limits(timedelta(minutes=30), whose="model")
TOOLS = Limits(timedelta(hours=1))
GIT = Limits(timedelta(minutes=30))
ASSIGNMENT = Limits(timedelta(seconds=15), heartbeat=timedelta(seconds=4), with_retries=timedelta(seconds=20))
WATCH = Limits(timedelta(days=30), heartbeat=timedelta(seconds=4))
