"""What the platform itself says to the model inside a conversation."""

from collections.abc import Sequence

from hikitsugi.domain.issue import Comment


def new_comments(comments: Sequence[Comment]) -> str:
    """News from the issue, in the form the specification fixes."""
    if len(comments) == 1:
        return f"[New Comment from @{comments[0].author}]:\n{comments[0].body}"
    blocks = [
        f"Comment {n} from @{comment.author} ({comment.created_at.isoformat() if comment.created_at else 'now'}):\n"
        f"{comment.body}"
        for n, comment in enumerate(comments, start=1)
    ]
    return "\n\n".join(["[New Comments Detected]:", *blocks])


def go_on() -> str:
    """Answers a turn that neither calls a tool nor submits."""
    return "You did not call a tool. Continue the work, or call `submit` to end it."


def opens(number: int, title: str, body: str) -> str:
    """The issue's own text as the first request."""
    return f"Issue #{number}: {title}\n\n{body}"


def please_continue() -> str:
    """The request of a session that nobody's comment opened."""
    return "The issue was called up again. Continue the work."


def earlier_record(address: str) -> str:
    """The fixed turn that must stand before an inherited summary."""
    return f"Issue {address}: earlier record follows."


def inherited(summary: str) -> str:
    """The earlier summary as an assistant turn."""
    return f"前回の処理要約: {summary}"
