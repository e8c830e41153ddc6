"""A deliberately high guess of how many tokens a text is, without any vocabulary."""

from math import ceil

_BYTES_PER_TOKEN = 3


def estimate(text: str) -> int:
    """Tokens in a text; bytes rather than characters, so that Japanese is not counted four to a token."""
    return ceil(len(text.encode()) / _BYTES_PER_TOKEN)
