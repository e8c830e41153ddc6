"""What a workflow keeps of a comment that waits for the model: where it is found, not what it says."""

from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.value import Value


class Waiting(Value):
    """Small, because thousands may wait: a watched comment is read from the forge, a typed one from the store."""

    id: str
    author: str = ""
    at: str = ""
    """When its text was last changed."""
    size: int = 0
    """How many characters it will take when it is told."""
    place: IssueAddress | None = None
    watched: bool = False
    edited: bool = False
    closing: bool = False
    """Whether it says nothing but that all is well."""
    steers: bool = False
    """Whether it is a command whose words are for the model."""
    passed_over: bool = False
    """Whether a session ended before it was told; it is told in the next one, but calls for none by itself."""

    @classmethod
    def of(cls, comment: Comment) -> "Waiting":
        """What is to be remembered of a comment."""
        return cls(
            id=comment.id,
            author=comment.author,
            at=comment.at,
            size=comment.size,
            place=comment.place,
            watched=comment.watched,
            edited=comment.edited,
        )

    @property
    def version(self) -> str:
        """Names the very text that was heard."""
        return f"{self.id}@{self.at}"

    @model_serializer(mode="wrap")
    def _without_defaults(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        return {key: value for key, value in written.items() if value}
