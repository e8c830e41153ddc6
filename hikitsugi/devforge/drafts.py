"""GitLab's drafts: a merge request is one as long as its title says so."""

import re

PREFIX = "Draft: "
_DRAFT = re.compile(r"^\s*(\[draft\]|\(draft\)|draft:)\s*", re.IGNORECASE)


def is_draft(title: str) -> bool:
    """Whether a title calls its merge request a draft."""
    return bool(_DRAFT.match(title))


def as_draft(title: str) -> str:
    """The title that makes it a draft."""
    return title if is_draft(title) else PREFIX + title


def as_ready(title: str) -> str:
    """The title without the word."""
    return _DRAFT.sub("", title)
