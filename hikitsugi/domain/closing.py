"""Whether a comment closes the conversation: it must say nothing else."""

import re
import unicodedata
from collections.abc import Collection

from hikitsugi.domain.closing_words import AFTER_KEYWORD, BEFORE_KEYWORD, ENGLISH, JAPANESE

_CODE = re.compile(r"```.*?```|~~~.*?~~~|`[^`]*`", re.DOTALL)
_CODE_SAYS_MORE = re.compile(
    r"[`~]{3}(?:suggestion|diff|patch)|error|fail|traceback|exception|warning|panic|エラー|失敗|例外|警告",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(r"~~.*?~~|^[ \t]*>[^\n]*$|@[A-Za-z0-9_-]+", re.DOTALL | re.MULTILINE)
_DISPLEASED = re.compile(r"([.。、・])\s?\1|[:;=]'?-?[(/\\|]|-_-|;_;")
_PLEASED = re.compile(
    r"m\(_ *_\)m|[:;]-?[)dp](?![a-z])|[👍🙏🎉✅👏😊🙂😄😁😀😃😆🤗🥰😍💯🙌❤♥✨⭐🙇🚀👌🥳💪☺♪🍻🙆☀🌟🎊😎🤝👋💕😌🌸💐🏆🔥]"
    r"|[\uFE0F\u200D♀♂\U0001F3FB-\U0001F3FF]"
)
_STOP = re.compile(r"[\n、。,.!・:;()\"“”「」『』—–]+|(?<!\w)-+(?!\w)")
_SPACE = re.compile(r"(?:[\s〜~^_*]|(?<![ァ-ヶ])ー)+")
_LONGEST = 300
_SPELLINGS = {
    "ありがとう": re.compile(r"ありがと(?:[ーぉ〜~]+う?|(?!う))|有り?難う|あざー?っ?す"),
    "了解": re.compile(r"りょうかい|リョウカイ"),
    "承知": re.compile(r"しょうち(?=し|いた|です)"),
    "thanks": re.compile(r"サンクス|サンキュー?|さんきゅー?|(?<![a-z0-9])(?:thx|thanx|thnx|tnx)(?![a-z0-9])"),
    "ok": re.compile(r"おっけー?|おーけー|オッケー?|オーケー|おk(?![a-z])|(?<![a-z])(?:ok){2,}(?![a-z])"),
}


def closes(text: str, keywords: Collection[str]) -> bool:
    """Yes only when, besides closing and courtesy words, nothing is left in the comment."""
    said = _plain(_LEFT_OUT.sub(" ", _CODE.sub(" ", text)))
    if _CODE_SAYS_MORE.search(" ".join(_CODE.findall(text))) or _DISPLEASED.search(said):
        return False
    words = _words(said)
    keyword = "|".join(_word(_plain(each)) for each in sorted(keywords, key=len, reverse=True))
    if not keyword or len(words) > _LONGEST or not re.search(keyword, words):
        return False
    closing = _edged(rf"{BEFORE_KEYWORD}(?:{keyword}){AFTER_KEYWORD}")
    return not re.sub(rf"{_edged(ENGLISH)}|{JAPANESE}|{closing}", "", words).strip(" |")


def _plain(text: str) -> str:
    """The text with one spelling for each word that people spell in several ways."""
    plain = unicodedata.normalize("NFKC", text).casefold().strip()
    for word, spellings in _SPELLINGS.items():
        plain = spellings.sub(word, plain)
    return plain


def _words(said: str) -> str:
    """The words with one space between them, and a bar where a clause ends."""
    clauses = _STOP.sub(" | ", re.sub(r"['’]", "", _PLEASED.sub(" ", said)))
    return " ".join(_SPACE.sub(" ", clauses).split())


def _word(keyword: str) -> str:
    return _edged(re.escape(keyword)) if keyword.isascii() else re.escape(keyword)


def _edged(pattern: str) -> str:
    """Latin words need an edge on both sides; Japanese is written without spaces."""
    return rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])"
