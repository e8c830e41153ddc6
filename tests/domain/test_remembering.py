"""What is worth remembering of the tools that were used."""

from datetime import UTC, datetime

import pytest

from hikitsugi.domain.records import RecordedRun
from hikitsugi.domain.remembering import attempts_in
from hikitsugi.domain.tools import Intent, ToolCall, ToolOutcome

AT = datetime(2026, 11, 16, tzinfo=UTC)
CUT_OFF = ToolOutcome(text="Interrupted", is_error=True, is_cut_off=True)


@pytest.mark.req("BY-08", "CI-03")
def test_a_command_that_our_own_crash_cut_off_is_no_failed_approach():
    passed, failed = ToolOutcome(text="Exit code 0 after 0.1 s."), ToolOutcome(text="Exit code 1 after 0.1 s.\nno")
    attempts = attempts_in([run(CUT_OFF), run(passed), run(failed)])
    assert (attempts.succeeded, attempts.failed) == (1, 1)
    assert attempts.failures == ("run make test: Exit code 1 after 0.1 s. no",)


def run(outcome: ToolOutcome) -> RecordedRun:
    call = ToolCall(id="call", name="run", input={"command": "make test"})
    return RecordedRun(session=1, intent=Intent(call=call, repeatable=False), outcome=outcome, begun_at=AT)
