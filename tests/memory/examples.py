"""Small facts to put into a memory."""

from datetime import UTC, datetime
from decimal import Decimal

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Opening, Reply, Turn, Usage
from hikitsugi.domain.tools import Intent, ToolCall, ToolOutcome, ToolSpec

ISSUE = IssueAddress(forge="github", repository="owner/repo", number=12)
ANOTHER_ISSUE = IssueAddress(forge="github", repository="owner/other", number=12)
READ = ToolSpec(name="read", description="ファイルを読む", input_schema={"type": "object", "properties": {}})


def opening(conversation: str = "c1", *texts: str) -> Opening:
    """A conversation that starts with a turn for each text."""
    return Opening(
        id=conversation,
        issue=ISSUE,
        session=1,
        purpose="work",
        system="You repair programs. 引き継ぎ",
        tools=(READ,),
        turns=tuple(said(text) for text in texts or ("please",)),
        opened_at=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
    )


def said(text: str) -> Turn:
    """A turn of a person."""
    return Turn.of_text("user", text)


def replied(text: str, cost: str | None = "0.0123450") -> Reply:
    """A reply of the model."""
    return Reply(
        turn=Turn.of_text("assistant", text),
        stop_reason="end_turn",
        model="claude-opus-5-5",
        usage=Usage(input_tokens=1, cache_read_tokens=20, cache_write_tokens=300, output_tokens=4000),
        cost_usd=None if cost is None else Decimal(cost),
    )


def intent(call_id: str = "toolu_1", path: str = "a.py") -> Intent:
    """A change of a file."""
    call = ToolCall(id=call_id, name="edit", input={"path": path, "new": "日本"})
    return Intent(call=call, repeatable=False, path=path, before="b" * 64, after="a" * 64)


def outcome(path: str | None = "a.py", sha256: str | None = "a" * 64, text: str = "done") -> ToolOutcome:
    """What came of a tool call."""
    return ToolOutcome(text=text, path=path, sha256=sha256)
