"""What the platform tells the model, in the forms the specification fixes."""

from datetime import UTC, datetime

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import ChangeRequest, Comment
from hikitsugi.domain.tools import Submission, SubmissionStatus
from hikitsugi.messages import change_request, prompts

ISSUE = IssueAddress(forge="github", repository="octo/repo", number=12)


def comment(author: str, body: str, at: datetime | None = None) -> Comment:
    return Comment(id="1", author=author, body=body, created_at=at)


@pytest.mark.req("CD-03")
def test_one_comment_is_told_with_its_author():
    told = prompts.new_comments([comment("alice", "Use tabs.\n\nAlways.")])
    assert told == "[New Comment from @alice]:\nUse tabs.\n\nAlways."


@pytest.mark.req("CD-03")
def test_several_comments_are_told_numbered_with_author_and_time():
    at = datetime(2026, 3, 2, 12, 30, tzinfo=UTC)
    told = prompts.new_comments([comment("alice", "Use tabs.", at), comment("maria", "No, spaces.")])
    assert told == (
        "[New Comments Detected]:\n"
        "\n"
        "Comment 1 from @alice (2026-03-02T12:30:00+00:00):\n"
        "Use tabs.\n"
        "\n"
        "Comment 2 from @maria (now):\n"
        "No, spaces."
    )


@pytest.mark.req("CD-03")
def test_an_edit_is_told_as_one():
    edited = comment("alice", "Use tabs.").model_copy(update={"edited": True})
    assert prompts.new_comments([edited]) == "[Edited Comment from @alice]:\nUse tabs."
    assert "Comment 2 from @alice (now, edited):\nUse tabs." in prompts.new_comments([comment("maria", "x"), edited])


@pytest.mark.req("CD-09")
@pytest.mark.parametrize("length", [16_000, 16_001, 65_000])
def test_a_comment_too_large_for_the_context_is_cut_in_the_middle(length: int):
    body = "a" + "x" * (length - 2) + "z"
    told = prompts.shortened(body)
    assert (told[0], told[-1]) == ("a", "z")
    assert (told == body) is (length == 16_000)
    assert len(told) < 16_100
    assert length == 16_000 or f"[… {length - 16_000} characters left out …]" in told


@pytest.mark.req("CI-04")
def test_an_earlier_record_is_introduced_in_the_fixed_form():
    assert prompts.earlier_record(str(ISSUE)) == "Issue github:octo/repo/issues/12: earlier record follows."


@pytest.mark.req("CH-07")
def test_an_issue_opens_with_its_title_and_body():
    assert prompts.opens(12, "It fails", "Please fix it.") == "Issue #12: It fails\n\nPlease fix it."


@pytest.mark.req("PL-07")
def test_a_change_request_names_its_issue_in_title_body_and_commit():
    submission = Submission(status=SubmissionStatus.DONE, summary="Fixed the parser.", evidence="12 passed")
    body = change_request.body("en", ISSUE, submission)
    assert change_request.title(ISSUE, "It fails") == "It fails (#12)"
    assert body == (
        "Closes #12\n\n## What was done\n\nFixed the parser.\n\n## Evidence\n\n**Seen by the agent**: 12 passed"
    )
    assert change_request.body("ja", ISSUE, None) == "Closes #12"
    assert change_request.commit(ISSUE, "It fails") == "It fails\n\nRefs #12"


def test_a_request_tells_what_all_passes_did():
    latest = Submission(status=SubmissionStatus.DONE, summary="Documented it.")
    told = change_request.body("en", ISSUE, latest, earlier=["Fixed it."])
    assert told.index("Fixed it.") < told.index("Documented it.")


@pytest.mark.parametrize(
    ("subject", "fork", "told"),
    [
        ("github:o/r/pull/12", False, ("Pull request #12: Fix\n\nIt fails.", "`fix` into `main`", "is pushed there")),
        ("gitlab:g/r/merge_requests/3", True, ("Merge request !3: Fix", "nothing can be pushed")),
    ],
)
def test_a_request_opens_with_its_branches_and_what_can_be_done_there(
    subject: str, told: tuple[str, ...], *, fork: bool
):
    request = ChangeRequest(number=1, url="", head="fix", base="main", is_open=True, is_from_fork=fork)
    opened = prompts.opens_request(IssueAddress.parse(subject), "Fix", "It fails.", request)
    assert all(words in opened for words in told)
