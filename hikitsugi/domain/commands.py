"""Commands in comments: the first word of what an accepted person writes."""

import re
from difflib import get_close_matches
from enum import StrEnum

from hikitsugi.domain.value import Value


class Word(StrEnum):
    """What can be commanded; the same words in both languages."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    STATUS = "status"
    RETRY = "retry"
    APPROVE = "approve"
    REVISE = "revise"
    BUDGET = "budget"


class Command(Value):
    """A command and what was written after it; a word that we do not know is None."""

    word: Word | None
    text: str = ""


_SLASH = re.compile(r"\s*[/／]([a-z][a-z-]*)(?![\w/-]|\.\w)\.?[ \t]*(.*)", re.IGNORECASE | re.DOTALL)
_LIKENESS = 0.75
_APP = "[bot]"


def command_in(body: str, bot: str | None) -> Command | None:
    """The command a comment starts with, as `/pause` or `@bot pause`, also misspelt; a path or mere talk is none."""
    if match := _SLASH.match(body):
        word, text = _known(match[1]), match[2].strip()
        return Command(word=word, text=text) if word or not text or _is_misspelt(match[1]) else None
    # An app is called `name[bot]`, but people write `@name`.
    name = rf"{re.escape(bot.removesuffix(_APP))}(?:{re.escape(_APP)})?" if bot else ""
    if bot and (
        match := re.match(
            rf"\s*[@＠]{name}(?:[,:]?\s+|[、，：]\s*)/?(\w+)\b[ \t]*(.*)", body, re.IGNORECASE | re.DOTALL
        )
    ):
        word = _known(match[1])
        return Command(word=word, text=match[2].strip()) if word else None
    return None


def _known(word: str) -> Word | None:
    return Word(word.lower()) if word.lower() in set(Word) else None


def _is_misspelt(word: str) -> bool:
    """Whether a command was meant: `/buget 8`, but not `/login shows an error`."""
    return bool(get_close_matches(word.lower(), list(Word), n=1, cutoff=_LIKENESS))
