"""Durable waiting, and when a run has grown too long for more of it."""

from collections.abc import Callable
from datetime import datetime, timedelta

from temporalio import workflow

from workflows import limits


async def happens_before(until: datetime, happens: Callable[[], bool], summary: str) -> bool:
    """Whether something happens before the time is up."""
    if happens():
        return True
    left = max(until - workflow.now(), timedelta())
    try:
        await workflow.wait_condition(happens, timeout=left, timeout_summary=summary)
    except TimeoutError:
        return False
    return True


def is_long() -> bool:
    """Whether waking this run would begin to take long."""
    run = workflow.info()
    is_long = run.get_current_history_length() > limits.RENEW_AFTER_EVENTS
    return is_long or run.get_current_history_size() > limits.RENEW_AFTER_BYTES
