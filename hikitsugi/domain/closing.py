"""Whether a comment closes the conversation: it must say nothing else."""

import re
import unicodedata
from collections.abc import Collection

_LEFT_OUT = re.compile(r"```.*?```|~~~.*?~~~|`[^`]*`|^\s*>.*$", re.DOTALL | re.MULTILINE)
_BETWEEN = re.compile(r"[\s、。,.!！~〜ー…・:;^_()（）\"'「」*-]+|[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]+")
_MENTION = re.compile(r"@[A-Za-z0-9_-]+")

_COURTESY = (
    "大変助かりました", "とても助かりました", "助かりました", "助かります", "お疲れ様でした", "お疲れさまでした",
    "お疲れ様です", "お疲れさまです", "お手数をおかけしました", "どうも", "本当に", "誠に", "問題ありません",
    "問題ないです", "大丈夫です", "いいですね", "良いですね", "素晴らしいです", "素晴らしい", "完璧です", "完璧",
    "確認しました", "確認できました", "しました", "いたしました", "致しました", "です", "ございます", "ございました",
    "ご対応ありがとう", "対応ありがとう", "修正ありがとう", "ね", "よ",
    "thanks a lot", "thank you so much", "thank you very much", "many thanks", "thanks so much", "for the fix",
    "for your help", "for the help", "for the quick fix", "for your work", "great", "perfect", "nice", "awesome",
    "excellent", "good job", "good work", "great job", "great work", "looks good", "looks great", "looks good to me",
    "looks", "lgtm", "it works", "works well", "works great", "all good", "all", "very", "really", "well", "everyone",
    "cheers", "much appreciated", "appreciated", "this is", "that is", "it is", "we are", "i am", "and",
)  # fmt: skip


def closes(text: str, keywords: Collection[str]) -> bool:
    """Yes only when, besides closing and courtesy words, nothing is left in the comment."""
    rest = _words(text)
    closing = [_plain(word) for word in keywords]
    if not any(_stands_in(word, rest) for word in closing):
        return False
    for word in sorted({*closing, *_COURTESY}, key=len, reverse=True):
        rest = _without(word, rest)
    return not rest.strip()


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _words(text: str) -> str:
    return " ".join(_BETWEEN.sub(" ", _plain(_MENTION.sub(" ", _LEFT_OUT.sub(" ", text)))).split())


def _pattern(word: str) -> str:
    """ASCII words need an edge on both sides; Japanese is written without spaces."""
    escaped = re.escape(word)
    return rf"(?<![a-z0-9]){escaped}(?![a-z0-9])" if word.isascii() else escaped


def _stands_in(word: str, text: str) -> bool:
    return re.search(_pattern(word), text) is not None


def _without(word: str, text: str) -> str:
    return re.sub(_pattern(word), " ", text)
