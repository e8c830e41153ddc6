"""The product with its protection taken out: it writes comments without looking whether they are there."""

from unittest.mock import patch

from hikitsugi.domain.issue import Comment
from hikitsugi.forges.comments import Comments


def forget_to_look() -> None:
    """Let this process post without looking, and never take a duplicate back."""

    async def nothing_there(*_: object) -> list[Comment]:
        return []

    patch.object(Comments, "_find_own", nothing_there).start()
