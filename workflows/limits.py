"""Timeouts and retry policies by kind of call; no other file knows any."""

from datetime import timedelta
from typing import NamedTuple

from temporalio.common import RetryPolicy

from hikitsugi.messages.operators import Limiter

PATIENT = RetryPolicy(
    initial_interval=timedelta(seconds=1), backoff_coefficient=2.0, maximum_interval=timedelta(minutes=1)
)
"""Passing faults are outlived; what will never work is marked non-retryable where it is raised."""

THREE_TIMES = RetryPolicy(initial_interval=timedelta(seconds=1), backoff_coefficient=2.0, maximum_attempts=3)
"""For what is good to have and never a reason to fail."""

STEADY = RetryPolicy(initial_interval=timedelta(seconds=1), backoff_coefficient=1.0)
"""For a step that lives long: each death of its worker counts as an attempt, and none may make the next wait longer."""

RENEW_AFTER_EVENTS = 400
"""A run this long continues as new at the next checkpoint, so that waking it stays quick."""

RENEW_AFTER_BYTES = 4_000_000
"""So does one this large, long before Temporal's limit of 50 MB."""

INTAKE_PAUSE = timedelta(minutes=1)
"""How long comments and labels rest when the forge refuses to tell about them."""

BETWEEN_EDITS = timedelta(seconds=5)
"""How long the living comment is left as it is, whatever happens meanwhile."""

RECONCILE_AFTER = timedelta(minutes=1)
"""When a comment that was written again is looked after: what arrives late has arrived by then."""

SETTLED_WITHIN = timedelta(seconds=10)
"""How long reports and claims wait for the forge to show how the last lease ended."""

AWAY_PAUSE = timedelta(minutes=1)
"""How long who is away is left alone, and how much longer each time."""

LONGEST_AWAY = timedelta(minutes=30)
"""Until it is this long: each pause leaves its trace in the history."""

WATCH_PAUSE = timedelta(minutes=5)
"""How long a repository that cannot be watched rests before it is tried again."""


HOST_SILENT = timedelta(minutes=2)
"""When a host that does not take up its steps counts as gone, and another one goes on from the pushed branch."""


class Limits(NamedTuple):
    """How long one kind of call may take, and how soon the silence of a dead worker is noticed."""

    start_to_close: timedelta
    heartbeat: timedelta = timedelta(seconds=10)
    whose: Limiter = "forge"
    with_retries: timedelta | None = None
    """How long all attempts together may take; None means for as long as it takes."""
    retry: RetryPolicy = PATIENT


FORGE = Limits(timedelta(minutes=2))
STORE = Limits(timedelta(minutes=2))
EARLIER = Limits(timedelta(seconds=30), retry=THREE_TIMES)
SUMMARY = Limits(timedelta(minutes=5), whose="model")
MODEL = Limits(timedelta(minutes=30), whose="model")
TOOLS = Limits(timedelta(hours=1))
PROGRESS = Limits(timedelta(seconds=30), retry=THREE_TIMES)
GIT = Limits(timedelta(minutes=30))
ASSIGNMENT = Limits(timedelta(seconds=15), heartbeat=timedelta(seconds=4), with_retries=timedelta(seconds=20))
WATCH = Limits(timedelta(days=30), heartbeat=timedelta(seconds=4), retry=STEADY)
