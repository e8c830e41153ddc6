"""What operators read in the Temporal Web UI, in `status` and in `watch`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from hikitsugi.domain.commands import Word
from hikitsugi.domain.life import Order
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.policy import Language
from hikitsugi.messages.commands import spelled
from hikitsugi.messages.language import either
from hikitsugi.messages.phases import phase_name

_LONGEST_REASON = 200


def works(language: Language, turn: int) -> str:
    """The model is at work."""
    return either(language, ja=f"モデルの作業({turn} 回目)", en=f"the model's work (turn {turn})")


def awaits_reply(language: Language, until: datetime) -> str:
    """Somebody should answer."""
    at = f"{until:%Y-%m-%d %H:%M} UTC"
    return either(language, ja=f"コメントの返信({at} まで)", en=f"a reply on the issue, until {at}")


def plans(language: Language, phase: Phase) -> str:
    """A phase of planned work is under way."""
    name = phase_name(language, phase)
    return either(language, ja=f"モデルの作業({name})", en=f"the model's work ({name})")


def acts(language: Language, action: str) -> str:
    """An action of the plan is under way."""
    return either(language, ja=f"アクション {action}", en=f"action {action}")


def verifies(language: Language) -> str:
    """The checks run on the pushed commit."""
    return either(language, ja="プッシュしたコミットの検証", en="the checks of the pushed commit")


def awaits_approval(language: Language, until: datetime) -> str:
    """A plan was proposed."""
    at = f"{until:%Y-%m-%d %H:%M} UTC"
    return either(language, ja=f"計画の承認({at} まで)", en=f"the approval of the plan, until {at}")


def awaits_answer(language: Language, until: datetime) -> str:
    """Questions were asked."""
    at = f"{until:%Y-%m-%d %H:%M} UTC"
    return either(language, ja=f"質問への回答({at} まで)", en=f"an answer to the questions, until {at}")


def goes_on(language: Language) -> str:
    """Work that is not told step by step is under way."""
    return either(language, ja="作業の続き", en="the rest of the work")


def awaits_resume(language: Language, order: Order, mention: str | None = None) -> str:
    """Somebody paused it."""
    resume, who = spelled(Word.RESUME, mention), giver(language, order)
    why = " ".join(order.reason.split())[:_LONGEST_REASON]
    return either(
        language,
        ja=f"再開の指示(`{resume}` とコメント)。一時停止: {who}{f'({why})' if why else ''}",
        en=f"a resume (comment `{resume}`); paused by {who}{f': {why}' if why else ''}",
    )


def awaits_budget(language: Language, mention: str | None = None) -> str:
    """The budget does not cover the next model call, and a resume alone does not help."""
    more = spelled(Word.BUDGET, mention)
    return either(
        language,
        ja=f"予算の追加(`{more} 8` のようにコメント)。次のモデル呼び出しで上限を超えるおそれがあります",
        en=f"a larger budget (comment for example `{more} 8`); the next model call might exceed it",
    )


def then_pauses(language: Language, what: str) -> str:
    """A pause was asked for while a step is under way."""
    return either(language, ja=f"{what}。終わり次第、一時停止します", en=f"{what}; it pauses right after that")


def giver(language: Language, order: Order) -> str:
    """Who gave an order; what is no name is told in words."""
    names = {
        "dashboard": either(language, ja="ダッシュボード", en="the dashboard"),
        "label": either(language, ja="ラベルの変更", en="a change of labels"),
        "forge": either(language, ja="フォージでの変更", en="a change on the forge"),
    }
    return names.get(order.by, order.by)


Limiter = Literal["forge", "model"]


def awaits_limit(language: Language, whose: Limiter, until: datetime) -> str:
    """The forge or the model asked us to stay away for a while, or does not answer."""
    at = f"{until:%Y-%m-%d %H:%M:%S} UTC"
    names = {"forge": "フォージ", "model": "モデル"}
    return either(
        language,
        ja=f"{names[whose]}の利用制限または障害の解除({at} まで)",
        en=f"the {whose}, limited or away until {at}",
    )


def rests(language: Language, until: datetime, *, is_closed: bool = False, retry: str = "") -> str:
    """Between two sessions; after a failure there is a command to try again."""
    day = f"{until:%Y-%m-%d}"
    if is_closed:
        ja, en = f"再オープン(文脈は {day} まで保持)", f"being reopened; the context is kept until {day}"
    elif retry:
        ja, en = f"`{retry}` または新しいコメント({day} まで)", f"`{retry}` or a new comment, until {day}"
    else:
        ja, en = f"新しいコメント(文脈は {day} まで保持)", f"a new comment; the context is kept until {day}"
    return either(language, ja=ja, en=en)


def prepares(language: Language) -> str:
    """Between being called and the first model turn."""
    return either(language, ja="作業の準備", en="the preparation of the work")


def publishes(language: Language) -> str:
    """The result is on its way to the forge."""
    return either(language, ja="結果の公開", en="the publication of the result")


def details(
    language: Language,
    *,
    title: str,
    url: str,
    state: str,
    waiting_for: str,
    change_request: str | None,
    error: str | None,
    plan: str = "",
) -> str:
    """The living text in the workflow's page."""
    lines = [
        f"**[{title}]({url})**" if url else f"**{title}**",
        either(language, ja=f"- 状態: `{state}`", en=f"- state: `{state}`"),
        either(language, ja=f"- 待っているもの: {waiting_for}", en=f"- waits for: {waiting_for}"),
    ]
    if change_request:
        lines.append(either(language, ja=f"- 変更: {change_request}", en=f"- change: {change_request}"))
    if error:
        lines.append(either(language, ja=f"- エラー: {error}", en=f"- error: {error}"))
    return "\n".join([lines[0], "", *lines[1:], *(["", plan] if plan else [])])


def is_closed(language: Language) -> str:
    """Nothing is to be done on a closed issue."""
    return either(language, ja="Issue は閉じられています", en="the issue is closed")


def is_unassigned(language: Language) -> str:
    """The bot was taken off the issue."""
    return either(language, ja="担当から外されました", en="the bot was unassigned")


def no_plan(language: Language) -> str:
    """The `plan` query of an issue that is worked without a plan."""
    return either(language, ja="計画なしで作業しています。", en="This issue is worked without a plan.")


def watches(home: str) -> str:
    """A repository is being watched."""
    return f"Watches `{home}` / `{home}` を監視中"


def cannot_watch(home: str, reason: str) -> str:
    """A repository cannot be watched."""
    return f"Cannot watch `{home}` / `{home}` を監視できません: {reason}"


def tries_again() -> str:
    """The wait before the next attempt at watching."""
    return "tries again / 再試行"


def tidied(forgotten: int) -> str:
    """What housekeeping did."""
    return f"Forgot {forgotten} expired session(s) / 期限切れのセッションを {forgotten} 件削除しました"


def swept(host: str, count: int, told: Sequence[str]) -> str:
    """What housekeeping did on a host."""
    heading = f"Swept `{host}`: {count} / `{host}` の整理: {count} 件"
    return "\n".join([heading, "", *(f"- {line}" for line in told)]) if told else heading


def is_gone(host: str) -> str:
    """A host did not take up its sweeping."""
    return f"`{host}` does not answer and is not swept any more / `{host}` は応答がないため整理の対象から外しました"
