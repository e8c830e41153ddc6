"""What we answer to commands."""

from hikitsugi.domain.commands import Word
from hikitsugi.domain.policy import Language
from hikitsugi.domain.status import Status
from hikitsugi.messages.language import either

_MEANINGS: dict[Word, tuple[str, str]] = {
    Word.PAUSE: ("次の手順の前で止まる", "hold before the next step"),
    Word.RESUME: ("止まったところから再開する", "go on where it was held"),
    Word.STOP: ("今すぐ終了し、途中までの変更を保存する", "end now and save what is there"),
    Word.STATUS: ("現在の状態を答える", "tell where things stand"),
    Word.RETRY: ("終了した作業をもう一度始める", "start again after it ended"),
    Word.APPROVE: ("計画を承認する", "approve the plan"),
    Word.REVISE: ("計画の変更を頼む(後に内容を書く)", "ask for another plan (write what after it)"),
    Word.BUDGET: ("予算を変える(米ドル)", "change the budget (US dollars)"),
}


def status(language: Language, now: Status) -> str:
    """The answer to `/status`."""
    cost = either(language, ja="不明", en="unknown") if now.cost_usd is None else f"${now.cost_usd:.4f}"
    rows = [
        (either(language, ja="状態", en="State"), f"`{now.state}`"),
        (either(language, ja="待っているもの", en="Waits for"), now.waiting_for or "-"),
        (either(language, ja="セッション", en="Session"), str(now.session)),
        (either(language, ja="モデル呼び出し", en="Model calls"), f"{now.llm_calls} ({cost})"),
        (
            either(language, ja="コメント", en="Comments"),
            either(
                language,
                ja=f"処理済み {now.comments_processed}、未処理 {now.comments_pending}",
                en=f"{now.comments_processed} processed, {now.comments_pending} pending",
            ),
        ),
    ]
    if now.change_request:
        rows.append((either(language, ja="変更", en="Change"), now.change_request))
    if now.error:
        rows.append((either(language, ja="エラー", en="Error"), now.error))
    heading = either(language, ja="## 現在の状態", en="## Status")
    return "\n".join([heading, "", *(f"- **{name}**: {told}" for name, told in rows)])


def spelled(word: Word, mention: str | None) -> str:
    """A command as people should write it: with a slash, or after our name where the forge keeps the slash to itself."""
    return f"@{mention} {word}" if mention else f"/{word}"


def rests_paused(language: Language, mention: str | None = None) -> str:
    """The answer to a pause between two sessions, when no progress tells of it."""
    resume = spelled(Word.RESUME, mention)
    return either(
        language,
        ja=f"一時停止しました。`{resume}` とコメントするまで、新しい作業を始めません。",
        en=f"Paused: no new work begins until somebody comments `{resume}`.",
    )


def is_paused(language: Language, mention: str | None = None) -> str:
    """The answer to a comment that would begin a session, were it not for a pause."""
    resume = spelled(Word.RESUME, mention)
    return either(
        language,
        ja=f"一時停止中のため、まだ作業を始めません。コメントは取っておき、`{resume}` とコメントされたら対応します。",
        en=f"This is paused, so no work begins yet. Your comment is kept, and answered once somebody comments `{resume}`.",
    )


def not_understood(language: Language, mention: str | None = None) -> str:
    """The answer to a command we do not know: those we do."""
    heading = either(language, ja="使えるコマンド:", en="Commands:")
    meanings = [
        f"- `{spelled(word, mention)}` {either(language, ja=ja, en=en)}" for word, (ja, en) in _MEANINGS.items()
    ]
    return "\n".join([heading, "", *meanings])


def not_now(language: Language, word: Word, mention: str | None = None) -> str:
    """The answer to a command that has no meaning at the moment."""
    asked, status = spelled(word, mention), spelled(Word.STATUS, mention)
    return either(
        language,
        ja=f"今は `{asked}` でできることがありません。`{status}` で現在の状態を確認できます。",
        en=f"There is nothing to `{asked}` right now. `{status}` tells where things stand.",
    )
