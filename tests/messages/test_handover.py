"""What is written between two sessions."""

from datetime import UTC, datetime

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.handover import Attempts, Context
from hikitsugi.domain.policy import Language
from hikitsugi.domain.session import Ending, Handover
from hikitsugi.domain.tools import Submission, SubmissionStatus
from hikitsugi.messages.handover import Closing, Source, notice, summary_by_rule
from hikitsugi.messages.session_record import fitting

NOON = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
CONTEXT = Context(
    id="ab12cd34ef56",
    issue=IssueAddress(forge="github", repository="octo/repo", number=1),
    session=1,
    ending=Ending.COMPLETED,
    ended_at=NOON,
    summary="",
    attempts=Attempts(failed=1, failures=("run pytest: 1 failed",)),
    verifications=("tests pass",),
)


@pytest.mark.req("CI-07")
def test_the_notice_has_the_specified_form():
    left = Handover(id=CONTEXT.id, session=1, ending=Ending.COMPLETED, ended_at=NOON, summary="x")
    assert notice("ja", left) == (
        "📋 **過去のコンテキストを引き継ぎました**\n\n"
        "- 引き継ぎ元: #ab12cd34\n- 前回処理日時: 2026-03-01 12:30 UTC\n- 引き継ぎ内容: 最終要約\n\n"
        "過去の処理内容を考慮して、現在の要求に対応します。"
    )


@pytest.mark.req("CI-03")
@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_summary_by_rule_tells_purpose_result_change_failure_decision_verification_and_rest(language: Language):
    submission = Submission(status=SubmissionStatus.BLOCKED, summary="Half of it.", needs="a key for the API")
    closing = Closing(
        title="It fails",
        submissions=[submission],
        context=CONTEXT,
        decisions=[Source("Use\ntabs.", "https://forge.example/1#c2")],
        change_request="https://forge.example/pull/2",
        error=None,
    )
    summary = summary_by_rule(language, closing)
    parts = ["It fails", "Half of it.", "https://forge.example/pull/2", "run pytest: 1 failed"]
    for told in (*parts, "Use tabs. (https://forge.example/1#c2)", "tests pass", "a key for the API"):
        assert told in summary


def test_a_record_that_is_too_long_keeps_its_first_parts():
    assert fitting(["aaaa", "bbbb", "cccc"], 6, len) == "aaaa\n\nbb"
