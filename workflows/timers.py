"""Durable waiting."""

from collections.abc import Callable
from datetime import datetime, timedelta

from temporalio import workflow


async def happens_before(until: datetime, happens: Callable[[], bool], summary: str) -> bool:
    """Whether something happens before the time is up."""
    left = max(until - workflow.now(), timedelta())
    try:
        await workflow.wait_condition(happens, timeout=left, timeout_summary=summary)
    except TimeoutError:
        return False
    return True
