"""The hidden line each of our comments ends with, by which it is found again."""

from hikitsugi.domain.issue import MARKER_PREFIX


def marker(key: str) -> str:
    """The hidden line for a key."""
    return f"{MARKER_PREFIX}{key} -->"


def marked(body: str, key: str, limit: int) -> str:
    """The body with its marker as the last line, cut to what a forge takes."""
    end = f"\n\n{marker(key)}"
    return shortened(body, limit - len(end)) + end


def is_marked(body: str, key: str) -> bool:
    """Whether the last line is the marker of this key."""
    return body.rstrip().splitlines()[-1:] == [marker(key)]


def shortened(text: str, limit: int) -> str:
    """The text, or as much of it as fits with a note that tells how much is missing."""
    if len(text) <= limit:
        return text
    note = f"\n\n… (✂ {len(text):,} → {limit:,})"
    return text[: limit - len(note)] + note
