"""Texts on GitLab: a line can be an order, and a title says whether a merge request is a draft."""

import re

# As GitLab's own extractor has it: a word at the start of a line, alone or before a blank; paths are not meant.
_QUICK_ACTION = re.compile(r"^(?=/[a-z_]+(?:\s|$))", re.IGNORECASE | re.MULTILINE)
_DRAFT = re.compile(r"^\s*(?:draft:|\[draft\]|\(draft\)|wip:|\[wip\])\s*", re.IGNORECASE)


def inert(text: str) -> str:
    """The text with a backslash before what GitLab would carry out, in code too; Markdown does not show it."""
    return _QUICK_ACTION.sub(r"\\", text)


def as_draft(title: str) -> str:
    """The title of a draft."""
    return f"Draft: {as_ready(title)}"


def as_ready(title: str) -> str:
    """The title of a merge request that is ready."""
    bare = title
    while match := _DRAFT.match(bare):
        bare = bare[match.end() :]
    return bare
