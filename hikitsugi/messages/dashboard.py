"""What operators read on the dashboard."""

from datetime import datetime
from typing import Literal

from hikitsugi.domain.policy import Language
from hikitsugi.messages.language import either

Order = Literal["pause", "resume", "stop"]

_FACTS = {
    "phase": "フェーズ",
    "session": "セッション",
    "llm_calls": "LLM 呼び出し",
    "input_tokens": "入力トークン",
    "cached_tokens": "うちキャッシュ",
    "output_tokens": "出力トークン",
    "cost_usd": "費用(USD)",
    "comments_processed": "処理済みコメント",
    "comments_pending": "未処理コメント",
    "last_comment_id": "最後のコメント",
    "first_processed_at": "開始",
    "last_processed_at": "最終処理",
    "change_request": "変更",
    "branch": "ブランチ",
    "inherited_from": "引き継ぎ元",
}


def all_issues(language: Language) -> str:
    """The list without a choice."""
    return either(language, ja="すべて", en="all")


def no_issue(language: Language) -> str:
    """The list is empty."""
    return either(language, ja="Issue はありません。", en="There is no issue.")


def since(language: Language, at: datetime) -> str:
    """When the issue's present run began."""
    return either(language, ja=f"{at:%Y-%m-%d %H:%M} UTC から", en=f"since {at:%Y-%m-%d %H:%M} UTC")


def waits_for(language: Language, what: str) -> str:
    """What comes next; commands in it stand without their Markdown."""
    plain = what.replace("`", "")
    return either(language, ja=f"待っているもの: {plain}", en=f"waits for {plain}")


def order(language: Language, name: Order) -> str:
    """The name on a button."""
    return either(language, ja={"pause": "一時停止", "resume": "再開", "stop": "停止"}[name], en=name.capitalize())


def plan(language: Language) -> str:
    """Stands above the plan."""
    return either(language, ja="計画", en="Plan")


def facts(language: Language) -> str:
    """Stands above the figures."""
    return either(language, ja="状況", en="Facts")


def fact(language: Language, name: str) -> str:
    """A field of the status document, as people call it."""
    return either(language, ja=_FACTS.get(name, f"その他({name})"), en=name.replace("_", " "))
