"""Durable waiting, and when a run has grown too long for more of it."""

from collections.abc import Callable
from datetime import datetime, timedelta

from temporalio import workflow

from workflows import limits

_A_BLINK = timedelta(milliseconds=1)


def time_left(until: datetime) -> timedelta:
    """How long to wait, at least for a blink: whether a timer is started must not depend on the clock.

    A worker that was starved may have been told another time than its replay is.
    """
    return max(until - workflow.now(), _A_BLINK)


async def happens_before(until: datetime, happens: Callable[[], bool], summary: str) -> bool:
    """Whether something happens before the time is up."""
    if happens():
        return True
    try:
        await workflow.wait_condition(happens, timeout=time_left(until), timeout_summary=summary)
    except TimeoutError:
        return False
    return True


def is_long() -> bool:
    """Whether waking this run would begin to take long."""
    run = workflow.info()
    is_long = run.get_current_history_length() > limits.RENEW_AFTER_EVENTS
    return is_long or run.get_current_history_size() > limits.RENEW_AFTER_BYTES
