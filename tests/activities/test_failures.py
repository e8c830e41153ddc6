"""How an activity fails: in the form its retry policy understands, and without secrets."""

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory, CancelledError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from activities.failures import AWAY, LIMITED, LONG_WAIT, UNEXPECTED_ATTEMPTS, FailureTranslation
from hikitsugi.domain.errors import Away, TryAgainLater, WillNeverWork
from hikitsugi.domain.redaction import Redactor
from tests.activities.examples import SECRET


class Failing(ActivityInboundInterceptor):
    """An activity that raises."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        raise self._error


async def failure(error: BaseException, attempt: int = 1) -> ApplicationError:
    with pytest.raises(ApplicationError) as raised:
        await run(error, attempt)
    assert raised.value.__cause__ is None or raised.value is error
    return raised.value


async def run(error: BaseException, attempt: int = 1) -> None:
    async def activity() -> None:
        around = FailureTranslation(Redactor([SECRET])).intercept_activity(Failing(error))
        await around.execute_activity(ExecuteActivityInput(fn=activity, args=(), executor=None, headers={}))

    environment = ActivityEnvironment()
    environment.info = replace(environment.info, attempt=attempt)
    await environment.run(activity)


@pytest.mark.req("TW-04", "BY-05")
@pytest.mark.parametrize("after", [None, timedelta(0), timedelta(milliseconds=1), LONG_WAIT / 2])
async def test_a_passing_fault_is_retried_when_the_other_side_asked_for_it(after: timedelta | None):
    told = await failure(TryAgainLater("rate limit", after), attempt=100)
    assert (told.type, told.message, told.next_retry_delay) == ("TryAgainLater", "rate limit", after)
    assert told.category is ApplicationErrorCategory.BENIGN
    assert not told.non_retryable


@pytest.mark.req("TW-04", "BY-05")
@pytest.mark.parametrize("after", [LONG_WAIT, timedelta(hours=1)])
async def test_a_long_wait_is_left_to_the_story_with_its_length(after: timedelta):
    told = await failure(TryAgainLater("rate limit", after))
    assert (told.type, told.message, told.details) == (LIMITED, "rate limit", (after.total_seconds(),))
    assert told.category is ApplicationErrorCategory.BENIGN
    assert told.non_retryable


@pytest.mark.req("TW-04", "BY-05")
async def test_a_fault_that_lasts_is_left_to_the_story():
    told = await failure(Away("overloaded"))
    assert (told.type, told.message, told.non_retryable) == (AWAY, "overloaded", True)


@pytest.mark.req("TW-04")
async def test_what_will_never_work_is_not_retried():
    told = await failure(WillNeverWork("the token is refused"))
    assert (told.type, told.message, told.non_retryable) == ("WillNeverWork", "the token is refused", True)


@pytest.mark.req("TW-04")
@pytest.mark.parametrize(
    ("attempt", "final"), [(1, False), (UNEXPECTED_ATTEMPTS - 1, False), (UNEXPECTED_ATTEMPTS, True), (99, True)]
)
async def test_the_unexpected_is_retried_a_few_times_and_logged(
    attempt: int, caplog: pytest.LogCaptureFixture, *, final: bool
):
    told = await failure(KeyError("x"), attempt)
    assert (told.type, told.message, told.non_retryable) == ("Unexpected", "KeyError: 'x'", final)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


@pytest.mark.req("OP-05")
@pytest.mark.parametrize(
    "error",
    [
        TryAgainLater(f"{SECRET} is overloaded"),
        WillNeverWork(f"{SECRET} is refused"),
        ValueError(f"{SECRET} is wrong"),
        ValueError("bad key ghp_" + "a1B2" * 9),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_no_secret_leaves_with_a_failure(error: Exception):
    told = await failure(error)
    assert "[redacted]" in told.message
    assert SECRET not in repr(told)
    assert "ghp_" not in repr(told)
    assert told.__suppress_context__


async def test_a_failure_without_words_is_told_by_its_name():
    assert (await failure(WillNeverWork())).message == "WillNeverWork"
    assert (await failure(TimeoutError())).message == "TimeoutError: TimeoutError"


async def test_what_is_already_a_failure_passes_unchanged():
    handed_over = ApplicationError("the worker shuts down", type="HandedOver")
    assert await failure(handed_over) is handed_over


@pytest.mark.req("PR-02")
@pytest.mark.parametrize("error", [CancelledError("stopped"), asyncio.CancelledError()], ids=["temporal", "asyncio"])
async def test_a_cancellation_stays_a_cancellation(error: BaseException):
    with pytest.raises(type(error)):
        await run(error)
