"""Whether a comment closes the conversation: it must say nothing else."""

import re
import unicodedata
from collections.abc import Collection

from hikitsugi.domain import closing_english as english
from hikitsugi.domain import closing_japanese as japanese

_CODE = re.compile(r"```.*?```|~~~.*?~~~|`[^`]*`", re.DOTALL)
_CODE_SAYS_MORE = re.compile(
    r"[`~]{3}(?:suggestion|diff|patch)|error|fail|traceback|exception|warning|panic|エラー|失敗|例外|警告",
    re.IGNORECASE,
)
_NONE_FAILED = re.compile(
    r"\b0 (?:failed|failures?|errors?|warnings?)\b|\b(?:failed|failures?|errors?|warnings?)(?: count)?[:=] ?0\b"
    r"|\bno (?:errors|warnings|failures)\b",
    re.IGNORECASE,
)
_SIGNATURE = re.compile(
    r"\n-- ?\n[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2}\s*\Z"
    r"|(?<=\n)(?:(?:[Bb]est|[Kk]ind|[Ww]arm)(?: [Rr]egards| [Ww]ishes)?|[Rr]egards|[Cc]heers|[Ss]incerely),?[ \t]*\n"
    r"[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2}\s*\Z"
)
_NAME = re.compile(r"(?i:\b(hi|hello|hey|dear)) [A-Z][a-z]{2,11}(?=\s*[,.!\n])")
_LEFT_OUT = re.compile(r"~~.*?~~|^[ \t]*>[^\n]*$|@[A-Za-z0-9_-]+", re.DOTALL | re.MULTILINE)
_DISPLEASED = re.compile(
    r"([.。、・])\s?\1|[:;=]'?-?[(/\\|]|-_-|;_;|t_t|[（(][^()（）]{0,4}[;；][^()（）]{0,6}[)）]|汗|泣"
)
_PLEASED = re.compile(
    r"m\(_ *_\)m|[:;]-?[)dp](?![a-z])|[👍🙏🎉✅👏😊🙂😄😁😀😃😆🤗🥰😍💯🙌❤♥✨⭐🙇🚀👌🥳💪☺♪🍻🙆☀🌟🎊😎🤝👋💕]"
    r"|[😌🌸💐🏆🔥😂🍵☕🎈🎶💖💙💚😇🤩🫡🍺🌈]"
    r"|[\uFE0F\u200D♀♂\U0001F3FB-\U0001F3FF]"
    r"|:(?:\+1|thumbsup|pray|tada|heart|rocket|white_check_mark|clap|ok_hand|smiley?|bow|sparkles"
    r"|raised_hands|100|fire|muscle):"
    # A face: one of its features smiles, and no sign in it asks, denies or weeps.
    r"|[\\ヽ٩]?\((?=[^()]*(?:[\^∀▽≧⌒◡◠‿ᴗᵕ]|`・ω・ \u0301)|_ _\))"
    r"[\^∀▽≧≦⌒◡◠‿ᴗᵕωo_`'*・゚•◕✿♡๑ \u0301\u0304]{2,12}\)[/ゞ۶ノo]?"
)
_STOP = re.compile(r"[\n、。,.!・:;()\"“”「」『』—–]+|(?<!\w)-+(?!\w)")
_SPACE = re.compile(r"(?:[\s〜~^_*]|(?<![ァ-ヶ])ー)+")
_LONGEST = 300
_LONGEST_TEXT = 5000
"""With all that it quotes."""

_SPELLINGS = {
    "ありがとう": re.compile(r"ありがと(?:[ーぉ〜~]+う?|(?!う))|有り?難う|あざー?っ?す|あざます"),
    "了解": re.compile(r"りょうかい|リョウカイ|りょ(?=[!。~ー\s]|$)"),
    "直": re.compile(r"なお(?=りました|った|って)"),
    "承知": re.compile(r"しょうち(?=し|いた|です)"),
    "です": re.compile(r"デス|で[ーぇえ〜~]+す"),
    "thanks": re.compile(
        r"サンクス|サンキュー?|さんきゅー?|(?<![a-z0-9])(?:thx|thanx|thnx|tnx|thank u|thankyou)(?![a-z0-9])"
    ),
    "ok": re.compile(r"おっけー?|おーけー|オッケー?|オーケー|おk(?![a-z])|(?<![a-z])(?:ok){2,}(?![a-z])"),
}


def closes(text: str, keywords: Collection[str]) -> bool:
    """Yes only when, besides closing and courtesy words, nothing is left in the comment."""
    if len(text) > _LONGEST_TEXT:
        return False
    code = _NONE_FAILED.sub("", " ".join(_CODE.findall(text)))
    said = _plain(_without_names(_LEFT_OUT.sub(" ", _CODE.sub(" ", text))))
    if _CODE_SAYS_MORE.search(code) or _DISPLEASED.search(said):
        return False
    words = _words(said)
    keyword = "|".join(_word(_plain(each)) for each in sorted(keywords, key=len, reverse=True))
    if not keyword or len(words) > _LONGEST or not re.search(keyword, words):
        return False
    before, after = english.BEFORE_KEYWORD + japanese.BEFORE_KEYWORD, japanese.AFTER_KEYWORD + english.AFTER_KEYWORD
    closing = _edged(rf"{english.LOOKS} (?:{keyword}) now|{before}(?:{keyword}){after}")
    return not re.sub(rf"{_edged(english.ENGLISH)}|{japanese.JAPANESE}|{closing}", "", words).strip(" |")


def _without_names(said: str) -> str:
    """Whom it is written to and by whom says nothing."""
    return _NAME.sub(r"\1", _SIGNATURE.sub("", said))


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
