"""Leaves of a text only what a person would see of it, before a model reads it."""

import re
import unicodedata

# Characters that show nothing: controls, soft hyphen, fillers, zero widths, directions, variation selectors, tags.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_OPENS, _CLOSES = "<!--", re.compile(r"--!?>|\Z")
# England, Scotland and Wales: the only flags that are written with tags.
_FLAG = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:{})\U000e007f".format(
        "|".join("".join(chr(0xE0000 + ord(letter)) for letter in name) for name in ("eng", "sct", "wls"))
    )
)
_IDEOGRAPH_STYLES = (range(0xFE00, 0xFE03), range(0xE0100, 0xE0120))
_NOT_JOINER, _JOINER, _TEXT_STYLE, _EMOJI_STYLE = "\u200c", "\u200d", "\ufe0e", "\ufe0f"
_KEYS, _SKIN = "0123456789#*", range(0x1F3FB, 0x1F400)
_JOINED_SCRIPTS = range(0x0600, 0x0E00)


def without_unseen(text: str) -> str:
    """The text without characters that show nothing; what shapes letters and emoji stays."""
    flags = {at for flag in _FLAG.finditer(text) for at in range(*flag.span())}
    return _UNSEEN.sub(lambda found: found[0] if _shapes(text, found.start(), flags) else "", text)


def only_visible(text: str) -> str:
    """The text as a forge shows it: without HTML comments and characters that show nothing."""
    shown = without_unseen(text)
    return _without_comments(shown) if _OPENS in shown else shown


def _without_comments(text: str) -> str:
    """The text without its comments, also those that come together when one between their parts is gone."""
    shown: list[str] = []
    at = 0
    while at < len(text):
        shown.append(text[at])
        at += 1
        if text[at - 1] == "-" and "".join(shown[-len(_OPENS) :]) == _OPENS:
            del shown[-len(_OPENS) :]
            closing = _CLOSES.search(text, at)
            at = closing.end() if closing else len(text)
    return "".join(shown)


def _shapes(text: str, at: int, flags: set[int]) -> bool:
    """Whether a character without a look of its own changes how its neighbours look."""
    character, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if character in (_TEXT_STYLE, _EMOJI_STYLE):
        return _is_pictorial(before) or (bool(before) and before in _KEYS)
    if character == _JOINER and _is_pictorial(after):
        styled = text[at - 2 : at - 1] if before == _EMOJI_STYLE else before
        return _is_pictorial(styled)
    if character in (_NOT_JOINER, _JOINER):
        return _is_joined(before) and _is_joined(after)
    if any(ord(character) in styles for styles in _IDEOGRAPH_STYLES):
        return _is_ideograph(before)
    return at in flags


def _is_pictorial(character: str) -> bool:
    if not character or character.isascii():
        return False
    return unicodedata.category(character) in {"So", "Sm"} or ord(character) in _SKIN or character in "‼⁉〰〽"


def _is_joined(character: str) -> bool:
    return bool(character) and ord(character) in _JOINED_SCRIPTS and unicodedata.category(character)[0] in "LM"


def _is_ideograph(character: str) -> bool:
    return bool(character) and unicodedata.name(character, "").startswith("CJK ")
