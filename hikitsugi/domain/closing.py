"""Whether a comment closes the conversation: it must say nothing else."""

import re
import unicodedata
from collections.abc import Collection

_CODE = re.compile(r"```.*?```|~~~.*?~~~|`[^`]*`", re.DOTALL)
_CODE_SAYS_MORE = re.compile(
    r"[`~]{3}(?:suggestion|diff|patch)|error|fail|traceback|exception|warning|panic|エラー|失敗|例外|警告",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(r"~~.*?~~|^[ \t]*>[^\n]*$|@[A-Za-z0-9_-]+", re.DOTALL | re.MULTILINE)
_DISPLEASED = re.compile(r"([.。、・])\s?\1|[:;=]'?-?[(/\\|]|-_-|;_;")
_PLEASED = re.compile(
    r"m\(_ *_\)m|[:;]-?[)dp](?![a-z])|[👍🙏🎉✅👏😊🙂😄😁😀😃😆🤗🥰😍💯🙌❤♥✨⭐🙇🚀👌🥳💪☺♪🍻🙆]"
    r"|[\uFE0F\u200D♀♂\U0001F3FB-\U0001F3FF]"
)
_STOP = re.compile(r"[\n、。,.!・:;()\"“”「」『』—–]+|(?<!\w)-+(?!\w)")
_SPACE = re.compile(r"(?:[\s〜~^_*]|(?<![ァ-ヶ])ー)+")
_LONGEST = 300
_SPELLINGS = {
    "ありがとう": re.compile(r"ありがと(?:[ーぉ〜~]+う?|(?!う))|有り?難う"),
    "了解": re.compile(r"りょうかい|リョウカイ"),
    "承知": re.compile(r"しょうち(?=し|いた|です)"),
    "thanks": re.compile(r"サンクス|(?<![a-z0-9])(?:thx|thanx|thnx|tnx)(?![a-z0-9])"),
    "ok": re.compile(r"おっけー?|おーけー|オッケー?|オーケー"),
}

_LOOK = (
    r"(?:(?:it|this|that|everything|all|the (?:fix|change|patch|result|pr|mr|code))(?: is| was|s| looks| seems)|looks)"
)
_VERY = r"(?:all |very |really |super |pretty )?"
_OBJECT = r"(?: (?:this|it|the|issue|pr|mr|pull request|now))*"
_ENGLISH = (
    r"thank(?:s| you)(?: (?:(?:so|very|ever so) much|a (?:lot|million|bunch|ton)|again|all|everyone|guys|folks|team"
    r"|sir|mate|man|bot|indeed|kindly|heaps))*"
    r"(?: for(?: (?:all|the|your|you|this|that|it|everything|and|on|with|here|quick|fast|prompt|great|good|nice|hard"
    r"|kind|fix|fixes|help|work|job|update|updates|change|changes|patch|pr|mr|explanation|response|reply|answer|support"
    r"|time|patience|efforts?|turnaround|fixing|updating|helping|handling|explaining|doing|looking into|taking care of"
    r"))+)?"
    rf"|(?:{_LOOK} )?{_VERY}(?:great|perfect|nice|awesome|excellent|fantastic|wonderful|cool|amazing|brilliant|superb"
    r"|lovely|good|helpful|exactly (?:what|as) i (?:wanted|needed|expected)|fixed|solved|resolved|merged)"
    r"(?: (?:work|job|one|stuff|fix|to me|for me|now|here|everyone|all|team))*"
    rf"|{_LOOK} {_VERY}(?:quick|fast|fine|correct|all|it)(?: (?:now|here|from me|to me))*"
    r"|(?:(?:it|this|that|everything|all|the (?:fix|change|patch)) )?(?:now )?(?:works|worked|runs)"
    r"(?: (?:now|well|great|fine|perfectly|nicely|as expected|as intended|like a charm|for me|here|again))*"
    r"|(?:it|this|that) (?:did it|did the trick|does the job|(?:fixe[sd]|solve[sd]) it|help(?:s|ed))(?: a lot)?"
    r"|(?:all )?(?:the )?tests (?:pass|passed|are green)(?: now)?|ci (?:is green|passes|passed)(?: now)?"
    rf"|(?:i am|im|we are|were) {_VERY}(?:happy|pleased|satisfied|good|set)"
    r"(?: (?:with (?:this|it|that|the result)|here|now))*"
    rf"|(?:i will|ill|will) (?:merge|close){_OBJECT}|(?:im )?(?:merg|clos)ing{_OBJECT}|(?:i )?(?:merg|clos)ed{_OBJECT}"
    r"|no (?:(?:more|further|other) )?(?:problems?|issues?|questions|comments|complaints|objections)"
    r"(?: (?:here|from me))?|nothing (?:else|more|further)(?: from me)?"
    r"|got it|understood|noted|makes sense|confirmed|verified|tested|lgtm|all set|working now|okay|thx|ty|many|cheers"
    r"|kudos|wow|yay|hooray|sweet|and|(?:best|kind) regards|have a (?:nice|great|good) (?:day|weekend|one)"
    r"|(?:very |really )?(?:much )?appreciated|(?:i |we )?(?:really )?appreciate (?:it|(?:the|your) (?:help|work))"
)
_KINDNESS = (
    r"(?:どうも|本当に|誠に|いつも|色々と?|いろいろと?|早速の?|さっそくの?|迅速な|早急な|素早い|早い|丁寧[なに]"
    r"|ご[一-龥]{2,4}|ご|お|対応|修正|確認|回答|返信|連絡|説明|提案|作業|追加|実装|調査|更新|共有|作成|協力|手伝い"
    r"|助言|報告|レビュー|直して|教えて|手伝って|いただき|頂き|して|くださり|下さり|くださって|くれて|まで|[をにのと])*+"
)
_AS_WISHED = r"(?:期待|想定|希望|予定|思った|思っていた)(?:通り|どおり|とおり)"
_JAPANESE = (
    rf"{_KINDNESS}(?:(?:(?<=ご対応)|(?<=いただき)|(?<=頂き)|(?<=さり)|(?<=下さり)|(?<=さって)|(?<=くれて))[ |]+)?"
    r"ありがとう(?:ございます|ございました|です)?"
    rf"|{_KINDNESS}感謝(?:です|します|いたします|申し上げます|しています)"
    r"|(?:とても|大変|たいへん|本当に|すごく)?助かり(?:ました|ます)|お(?:疲れ|つかれ)(?:様|さま)(?:でした|です)"
    r"|ご苦労様でした|お世話になりました|お手数を?おかけしました|どうも"
    r"|今後ともよろしくお願い(?:します|いたします|致します)"
    r"|(?:(?:こちら|手元|当方)でも?)?(?:(?:修正|動作|内容|結果|変更|挙動|差分|問題ないこと)[をもの]?)*確認"
    r"(?:しました|できました|いたしました|致しました|済みです|済み|が?取れました)"
    rf"|(?:無事に?|問題なく|完璧に|ちゃんと|正しく|正常に|うまく|きちんと|{_AS_WISHED}に?|すべて|全て|全部|テスト|手元で"
    r"|おかげさまで|おかげで|これで|ci|[がも])*(?:動(?:きました|いています|いてます)|動作し(?:ました|ています|てます)"
    r"|直(?:りました|っています|ってます)|通りました|いきました|できました|解決(?:しました|です)|パスしました"
    r"|成功しました|反映されました)"
    rf"|(?:これで|こちらで|この内容で|もう|とても|大変|本当に|すごく|特に|全く)*(?:{_AS_WISHED}|完璧|ばっちり|バッチリ"
    r"|最高|十分|問題な(?:し|い|さそう|かった)|問題(?:あり|ござい)ません|大丈夫|[良よ]さそう|良い感じ|いい感じ|良い|いい(?=ですね)"
    r"|素晴らしい|すばらしい|すごい|さすが|ナイス|満足|嬉しい|うれしい|早い|はやい|以上(?=です))(?:ですね|です|でした)?"
    r"|(?:わかり|分かり|理解し|納得し)ました|なるほど|(?:オーケー|オッケー)(?:です)?|(?<=[a-z] )です"
    r"|(?:本件は?|この件は?|これで)?(?:(?:マージ|クローズ)(?:しました|します|いたします|させていただきます)"
    r"|閉じ(?:ます|ました))"
)
_BEFORE_KEYWORD = (
    rf"(?:(?:{_LOOK}|all|well|nicely|already|we are|were|i am|im) )?"
    r"(?:(?:これ|こちら|以上|本件|この件|今回|作業|対応|修正|確認|動作|レビュー|すべて|全て|全部)+(?:は|も|にて|で)?)?"
)
_AFTER_KEYWORD = (
    r"(?:です|でした|しました|いたしました|致しました|とします|といたします|とさせていただきます|にします|ございます"
    r"|ございました|(?<=完了)でお願い(?:します|いたします|致します))?(?: (?:here|for me|from me|with me))?"
)


def closes(text: str, keywords: Collection[str]) -> bool:
    """Yes only when, besides closing and courtesy words, nothing is left in the comment."""
    said = _plain(_LEFT_OUT.sub(" ", _CODE.sub(" ", text)))
    if _CODE_SAYS_MORE.search(" ".join(_CODE.findall(text))) or _DISPLEASED.search(said):
        return False
    words = _words(said)
    keyword = "|".join(_word(_plain(each)) for each in sorted(keywords, key=len, reverse=True))
    if not keyword or len(words) > _LONGEST or not re.search(keyword, words):
        return False
    closing = _edged(rf"{_BEFORE_KEYWORD}(?:{keyword}){_AFTER_KEYWORD}")
    return not re.sub(rf"{_edged(_ENGLISH)}|{_JAPANESE}|{closing}", "", words).strip(" |")


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
