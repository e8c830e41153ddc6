"""Signals as people type them: lenient in form, never a reason to get stuck."""

from typing import Any, cast

from pydantic import ValidationError
from temporalio import workflow

from hikitsugi.domain.issue import OPERATOR, Comment, wording_of
from hikitsugi.domain.life import IssueFacts, Order
from hikitsugi.messages.prompts import shortened


def comments_in(said: Any) -> list[Comment]:
    """The comments of a signal; a malformed one is left out with a warning."""
    several = cast("list[Any]", said) if isinstance(said, list) else [said]
    found = [_comment_in(each) for each in several]
    return [comment for comment in found if comment is not None]


def order_in(why: Any) -> Order:
    """Who gave a pause, resume or stop, and why."""
    if isinstance(why, str):
        return Order(reason=why)
    try:
        return Order.model_validate(why or {})
    except ValidationError:
        return Order(reason=str(why))


def facts_in(seen: Any) -> IssueFacts:
    """What is said about the issue itself."""
    try:
        return IssueFacts.model_validate(seen or {})
    except ValidationError:
        workflow.logger.warning("left out a malformed issue_changed signal")
        return IssueFacts()


def _comment_in(said: Any) -> Comment | None:
    typed = {"body": said} if isinstance(said, str) else said
    try:
        comment = Comment.model_validate(typed if _is_signed(typed) else _signed(typed))
    except (ValidationError, AttributeError, TypeError):
        workflow.logger.warning("left out a malformed comment")
        return None
    # What is typed may be seen on the forge later; what the watcher sends has its wording, or is from an earlier run.
    wording = comment.wording if comment.watched else wording_of(comment.body)
    return comment.model_copy(update={"body": shortened(comment.body), "wording": wording})


def _is_signed(typed: Any) -> bool:
    return "id" in typed and "author" in typed


def _signed(typed: Any) -> dict[str, Any]:
    """What a person may leave out; whoever names nobody is the operator."""
    author = typed.get("author", OPERATOR)
    sender = OPERATOR if author == OPERATOR else "typed"
    id_ = str(typed.get("id") or workflow.uuid4()).removeprefix(f"{sender}:")
    return {**typed, "id": f"{sender}:{id_}", "author": author}
