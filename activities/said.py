"""What was said about an issue, wherever it was said."""

from collections.abc import Collection

from temporalio import activity

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.commands import Word, command_in
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.ports import Forge, Memory

_LAST = float("inf")


async def everything_said(
    forge: Forge, memory: Memory, issue: IssueAddress, branch: str | None, told: Collection[str]
) -> list[Comment]:
    """The comments on the issue and on the request from its branch, and the told ones that no forge has, in order."""
    there = {comment.id: comment for comment in await forge.read_comments(issue)}
    there |= {comment.id: comment for comment in await _on_request(forge, issue, branch)}
    there |= await memory.kept_comments(issue, [id_ for id_ in told if id_ not in there])
    return sorted(there.values(), key=_when)


async def _on_request(forge: Forge, issue: IssueAddress, branch: str | None) -> list[Comment]:
    """What was said on the request; one that cannot be read any more leaves what the issue says."""
    try:
        request = await forge.find_change_request(issue.home, branch) if branch else None
        if request is None:
            return []
        return await forge.read_comments(issue.model_copy(update={"kind": request.kind, "number": request.number}))
    except WillNeverWork as error:
        activity.logger.warning("the request from %s cannot be read: %s", branch, error)
        return []


def is_talk(comment: Comment, bot: str | None, told: Collection[str]) -> bool:
    """Whether a comment belongs to the conversation: it is no command, or one whose words the model was given."""
    command = command_in(comment.body, bot)
    return command is None or (command.word is Word.REVISE and comment.id in told)


def people_in(comments: Collection[Comment]) -> set[str]:
    """The user names behind comments; who sends them past the forge has none."""
    return {comment.author for comment in comments if not comment.is_operators}


def _when(comment: Comment) -> float:
    at = comment.created_at or comment.updated_at
    return at.timestamp() if at else _LAST
