"""Whose comment it is, by what it carries."""

from datetime import UTC, datetime

import pytest

from hikitsugi.domain.issue import MARKER_PREFIX, Comment

MARKER = f"{MARKER_PREFIX}ab12:result-0 -->"


def comment(body: str) -> Comment:
    return Comment(id="7", author="alice", body=body)


@pytest.mark.req("CH-05")
@pytest.mark.parametrize(
    "body", [MARKER, f"## Done\n\n{MARKER}", f"## 実行完了\r\n\r\n{MARKER}\r\n", f"text\n{MARKER}  \n\n"]
)
def test_a_comment_that_ends_with_the_marker_is_ours(body: str):
    assert comment(body).is_ours


@pytest.mark.req("CH-05")
@pytest.mark.parametrize(
    "body",
    [
        "",
        " \n ",
        "## 実行完了",
        f"{MARKER}\n\nI quote your comment: it is wrong.",
        f"> {MARKER}",
        f"what does {MARKER} mean?",
        f"```\n{MARKER}\n```",
    ],
)
def test_a_comment_that_only_mentions_the_marker_or_a_heading_is_a_persons(body: str):
    assert not comment(body).is_ours


@pytest.mark.req("TW-02", "CH-04")
@pytest.mark.parametrize(
    ("id_", "author", "is_operators"),
    [
        ("operator:5f", "operator", True),
        ("operator:5f", "mallory", False),
        ("operator", "operator", False),
        ("17", "operator", False),
    ],
)
def test_an_operators_comment_is_known_by_id_and_author(id_: str, author: str, *, is_operators: bool):
    assert Comment(id=id_, author=author, body="Go on.").is_operators is is_operators


@pytest.mark.req("CD-07")
def test_a_comments_number_becomes_a_string():
    assert Comment.model_validate({"id": 12345, "author": "alice", "body": "x"}).id == "12345"


@pytest.mark.req("CH-12")
def test_every_text_of_a_comment_has_a_name_of_its_own():
    first = Comment(id="7", author="alice", body="x", updated_at=datetime(2026, 3, 2, 12, tzinfo=UTC))
    edited = first.model_copy(update={"updated_at": datetime(2026, 3, 2, 12, 1, tzinfo=UTC)})
    assert first.version == "7@2026-03-02T12:00:00+00:00"
    assert first.version != edited.version
    assert comment("x").version == "7@"
