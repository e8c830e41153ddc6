"""Whether a comment closes the conversation: it must say nothing else."""

import re
import unicodedata
from collections.abc import Collection, Iterable

_CODE = re.compile(r"```.*?```|~~~.*?~~~|`[^`]*`", re.DOTALL)
_CODE_SAYS_MORE = re.compile(
    r"[`~]{3}(?:suggestion|diff|patch)|error|fail|traceback|exception|warning|panic|エラー|失敗|例外|警告",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(r"~~.*?~~|^[ \t]*>[^\n]*$|@[A-Za-z0-9_-]+", re.DOTALL | re.MULTILINE)
_TRAILS_OFF = re.compile(r"([.。、・])\s?\1|[:;=]'?-?[(/\\|]|-_-|;_;")
_PLEASED_FACE = re.compile(r"m\(_ *_\)m|[:;]-?[)dp](?![a-z])")
_PLEASED = "👍🙏🎉✅👏😊🙂😄😁😀😃😆🤗🥰😍💯🙌❤♥✨⭐🙇🚀👌🥳💪☺♪🍻🙆"
_BETWEEN = re.compile(
    rf"(?:(?<![ァ-ヶ])ー|[\s、。,.!〜~・:;^_()\"'’“”「」『』*{_PLEASED}\uFE0F\u200D\u2640\u2642\U0001F3FB-\U0001F3FF-])+"
)
_KINDNESS = (
    r"(?:どうも|本当に|誠に|いつも|色々と?|いろいろと?|早速の?|さっそくの?|迅速な|早急な|素早い|早い|丁寧[なに]|ご|お"
    r"|対応|修正|確認|回答|返信|連絡|説明|提案|作業|追加|実装|調査|更新|共有|作成|協力|手伝い|助言|レビュー"
    r"|直して|教えて|手伝って|いただき|頂き|して|くださり|下さり|くださって|くれて|まで|を|に|の|と)"
)
_FOR_WHAT = re.compile(
    rf"{_KINDNESS}+(?=ありがとう)|{_KINDNESS}*(?:ご対応|いただき|頂き|くださり|下さり|くださって|くれて) (?=ありがとう)"
    r"|(?:(?:修正|動作|内容|結果|変更)を?)+(?=確認(?:し|でき|いた|致|済))"
    r"|(?<=thank)(s| you)(?: so much| very much| a lot| again)? for(?: (?:all|the|your|this|that|it|everything|and|quick"
    r"|fast|prompt|great|good|nice|hard|kind|fix|fixes|help|work|job|update|updates|change|changes|patch|explanation"
    r"|response|reply|answer|support|time|efforts?|turnaround|fixing|updating|helping|handling|explaining|doing"
    r"|looking into|taking care of)(?![a-z0-9]))+"
)

_COURTESY = (
    "とても助かりました", "大変助かりました", "本当に助かりました", "助かりました", "助かります", "嬉しいです", "うれしいです",
    "お疲れ様でした", "お疲れさまでした", "おつかれさまでした", "お疲れ様です", "お疲れさまです", "ご苦労様でした",
    "お手数をおかけしました", "お世話になりました", "感謝します", "感謝いたします", "感謝です", "いつも", "どうも",
    "今後ともよろしくお願いします", "今後ともよろしくお願いいたします", "今後ともよろしくお願い致します",
    "問題ありません", "問題ありませんでした", "問題ないです", "問題なかったです", "問題なし", "問題なさそうです",
    "問題なく動きました", "問題なく動作しました", "動きました", "動作しました", "直りました", "解決しました",
    "期待通り", "期待どおり", "もう大丈夫です", "大丈夫です", "大丈夫でした", "ばっちりです", "バッチリです", "完璧ですね",
    "完璧です", "完璧", "良さそうです", "よさそうです", "いいですね", "良いですね", "いい感じです", "良い感じです",
    "素晴らしいですね", "素晴らしいです", "素晴らしい", "すばらしいです", "すごいですね", "すごいです", "すごい", "さすがです",
    "確認しました", "確認できました", "確認いたしました", "確認致しました", "確認済みです",
    "マージしました", "マージします", "クローズします", "クローズしました", "閉じます", "閉じました",
    "これにて", "これで", "以上で", "以上です", "としました", "とします", "にします", "とさせていただきます",
    "しました", "いたしました", "致しました", "です", "でした", "ございます", "ございました",
    "thanks a lot", "thanks a million", "thanks a bunch", "thanks a ton", "thanks so much", "thanks very much",
    "thanks again", "thank you again", "thank you so much", "thank you very much", "many thanks", "much appreciated",
    "really appreciated", "appreciated", "i appreciate it", "i really appreciate it", "appreciate it", "cheers",
    "thanks all", "thank you all", "everyone", "team", "folks", "have a nice day", "have a great day", "best regards",
    "great", "perfect", "nice", "very nice", "awesome", "excellent", "fantastic", "wonderful", "amazing", "brilliant",
    "superb", "cool", "lovely", "good", "very good", "very helpful", "super helpful", "well done", "nicely done",
    "good job", "great job", "nice job", "good work", "great work", "nice work", "awesome work", "awesome job", "excellent work", "amazing work", "great stuff", "good stuff",
    "looks good", "looks great", "looks perfect", "looks good to me", "looks", "lgtm", "works", "it works", "it works now",
    "works now", "works well", "works great", "works fine", "works perfectly", "works as expected", "works like a charm",
    "works for me", "everything works", "everything works now", "all works", "all good", "all good now", "all set",
    "all done", "all ok", "all complete", "done here", "fixed", "it is fixed", "that fixed it", "solved", "resolved",
    "confirmed", "verified", "tested", "merged", "merging", "i will merge it", "closing", "closing this",
    "closing this issue", "closing the issue", "got it", "understood", "noted", "makes sense", "no problem", "no problems",
    "no issues", "no further questions", "nothing else", "that is all", "that is it", "this is", "that is", "it is",
    "everything is", "we are", "i am", "and",
)  # fmt: skip
_SHORT_FORMS = {"that s": "that is", "it s": "it is", "we re": "we are", "i m": "i am", "i ll": "i will"}


def closes(text: str, keywords: Collection[str]) -> bool:
    """Yes only when, besides closing and courtesy words, nothing is left in the comment."""
    if _CODE_SAYS_MORE.search(" ".join(_CODE.findall(text))):
        return False
    said = _plain(_LEFT_OUT.sub(" ", _CODE.sub(" ", text)))
    if _TRAILS_OFF.search(said):
        return False
    rest = _words(said)
    closing = [_plain(word) for word in keywords]
    if not closing or not re.search(_any_of(closing), rest):
        return False
    return not re.sub(_any_of([*closing, *_COURTESY]), "", _FOR_WHAT.sub(r"\1", rest)).strip()


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _words(said: str) -> str:
    """The words with one space between them."""
    words = " ".join(_BETWEEN.sub(" ", _PLEASED_FACE.sub(" ", said)).split())
    return re.sub(rf"\b(?:{'|'.join(_SHORT_FORMS)})\b", lambda short: _SHORT_FORMS[short[0]], words)


def _any_of(words: Iterable[str]) -> str:
    """Any of the words, the longest first; Latin ones need an edge on both sides, Japanese is written without spaces."""
    longest_first = sorted(words, key=len, reverse=True)
    return "|".join(
        rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])" if word.isascii() else re.escape(word) for word in longest_first
    )
