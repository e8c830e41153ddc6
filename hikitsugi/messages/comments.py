"""What people read in our comments on an issue."""

from datetime import timedelta

from hikitsugi.domain.commands import Word
from hikitsugi.domain.life import Life, Order
from hikitsugi.domain.policy import Language, Policy
from hikitsugi.domain.session import Closure, Ending, Session
from hikitsugi.domain.tally import Tally
from hikitsugi.domain.tools import Submission, SubmissionStatus
from hikitsugi.domain.workspace import Published
from hikitsugi.messages.commands import spelled
from hikitsugi.messages.language import either
from hikitsugi.messages.operators import giver
from hikitsugi.messages.phases import phase_name
from hikitsugi.messages.proof import claimed

DONE_HEADINGS = ("## 実行完了", "## Done")


def result(
    language: Language,
    submission: Submission | None,
    published: Published,
    change_request: str | None,
    warning: str,
    evidence: str = "",
    awaits: timedelta | None = None,
) -> str:
    """The result of one pass over the issue, and how long a reply to it is waited for, if it is."""
    heading = either(language, ja="## 実行完了", en="## Done")
    changed = _changed(language, published, change_request)
    parts = [heading, _told(language, submission), changed, evidence, warning]
    parts.append(_awaited(language, awaits) if awaits else "")
    return "\n\n".join(part for part in parts if part)


def _awaited(language: Language, awaits: timedelta) -> str:
    hours = _hours(awaits)
    return either(
        language,
        ja="続きがあればここにコメントしてください。これで終わりなら「ありがとう」とだけ書いてください。"
        f"{hours} 時間返信がなければ、完了とします。",
        en=f'Comment here to go on. If this is all, just write "thanks". Without a reply it is completed after {hours} h.',
    )


def _hours(time: timedelta) -> str:
    return f"{time / timedelta(hours=1):g}"


def _told(language: Language, submission: Submission | None) -> str:
    if submission is None:
        return either(
            language,
            ja="⚠️ 作業を最後まで終えられませんでした(反復の上限に達したか、モデルが結論を出しませんでした)。途中までの変更は保存してあります。",
            en="⚠️ The work did not reach its end: the limit of iterations was reached, or the model gave no conclusion. "
            "What was changed so far is kept.",
        )
    parts = [submission.summary.strip()]
    if submission.status is SubmissionStatus.BLOCKED:
        parts.insert(0, _unfinished(language))
    if submission.needs:
        parts.append(either(language, ja="**必要なこと**: ", en="**Needed**: ") + submission.needs)
    parts.append(claimed(language, submission))
    return "\n\n".join(part for part in parts if part)


def _unfinished(language: Language) -> str:
    return either(
        language,
        ja="⚠️ 作業は途中で止まっています。以下はエージェント自身の報告です。食い違うときは、その下の確認結果が正しいものです。",
        en="⚠️ The work is not finished. This is the agent's own report; where they differ, the checks below it are right.",
    )


def _changed(language: Language, published: Published, change_request: str | None) -> str:
    if published.withheld:
        return either(
            language,
            ja="フォークからのリクエストなので、ブランチには何もプッシュしていません。",
            en="Nothing was pushed: this request comes from a fork.",
        )
    if published.is_empty:
        return either(language, ja="ファイルの変更はありません。", en="No file was changed.")
    files = either(
        language,
        ja=f"{published.files_changed} ファイル",
        en="1 file" if published.files_changed == 1 else f"{published.files_changed} files",
    )
    numbers = f"{files}, +{published.insertions} −{published.deletions}, `{published.commit[:8]}`"
    return either(language, ja="**変更**: ", en="**Change**: ") + f"{change_request or ''} ({numbers})".strip()


def unconfined_warning(language: Language) -> str:
    """Shown on every result while commands run without a sandbox."""
    return either(
        language,
        ja="⚠️ サンドボックスなし(`sandbox.kind: none`)でコマンドを実行しました。",
        en="⚠️ Commands ran without a sandbox (`sandbox.kind: none`).",
    )


def completed(language: Language, summary: str, why: str = "", kept: str = "") -> str:
    """Closes the conversation, and says why."""
    heading = either(language, ja="## ✅ 完了", en="## ✅ Completed")
    more = either(
        language, ja="また必要になったら、ここにコメントしてください。", en="Comment here whenever you need more."
    )
    return "\n\n".join(part for part in [heading, why, summary, more + kept] if part)


def _kept(life: Life) -> str:
    """Until when another session takes over what this one leaves."""
    if not (life.policy.inherits and life.rests_until):
        return ""
    day = f"{life.rests_until:%Y-%m-%d}"
    return either(
        life.policy.language,
        ja=f"{day} までは、ここまでの内容を引き継ぎます。",
        en=f" Until {day} the next session takes over what was done here.",
    )


def closed_by(language: Language, closure: Closure, policy: Policy) -> str:
    """What ended the conversation."""
    hours, most = _hours(policy.reply_timeout), policy.max_comment_count
    match closure:
        case Closure.WORDS:
            ja, en = "終了を告げるコメントを受け取りました。", "A comment said that all is well."
        case Closure.SILENCE:
            ja, en = f"{hours} 時間、返信がありませんでした。", f"Nobody answered for {hours} h."
        case Closure.ENOUGH:
            ja = f"1 セッションで対応するコメントの上限({most} 件)に達しました。"
            en = f"The most comments that one session answers ({most}) were answered."
        case Closure.MODEL:
            ja = "直前のコメントで会話は終わったと、モデルが判断しました。"
            en = "The model understood the last comments as the end of the conversation."
        case Closure.SETTINGS:
            ja, en = "会話は設定で無効になっています。", "Conversation is switched off in the settings."
    return either(language, ja=ja, en=en)


def stopped(language: Language, *, at: str, order: Order, session: Session | None, summary: str, kept: str = "") -> str:
    """Tells that the work was stopped and how far it was, what is kept, and how to start again."""
    rows = [
        (either(language, ja="停止時刻", en="At"), at),
        (either(language, ja="停止者", en="By"), giver(language, order)),
        (either(language, ja="理由", en="Reason"), order.reason),
        *(_how_far(language, session) if session else ()),
    ]
    told = "\n".join(f"- **{name}**: {value}" for name, value in rows if value)
    heading = either(language, ja="## ⛔ タスク停止", en="## ⛔ Stopped")
    again = either(
        language,
        ja="再開するには、ここにコメントするか、トリガーのラベルを付け直してください。",
        en="To start again, comment here or put the trigger label on again.",
    )
    again = reopen(language) if order.closing else again
    return "\n\n".join(part for part in [heading, told, summary, again + kept] if part)


def is_closed(language: Language) -> str:
    """The answer to a comment on a closed issue."""
    told = either(
        language,
        ja="閉じられているため、作業は始めません。コメントは取っておき、再び開かれたときに対応します。",
        en="No work begins here while it is closed. Your comment is kept, and answered once it is reopened.",
    )
    return f"{told}\n\n{reopen(language)}"


def reopen(language: Language) -> str:
    """What helps on a closed issue."""
    return either(language, ja="再開するには、再び開いて(Reopen して)ください。", en="To start again, reopen it.")


def _how_far(language: Language, session: Session) -> list[tuple[str, str]]:
    """How much of its plan a session has done, and in which phase it was."""
    done, actions = session.plan.done, len(session.plan.actions)
    progress = either(language, ja=f"{done}/{actions} 完了", en=f"{done}/{actions} done") if actions else ""
    phase = phase_name(language, session.phase) if session.phase else ""
    return [
        (either(language, ja="進捗", en="Progress"), progress),
        (either(language, ja="フェーズ", en="Phase"), phase),
    ]


def failed(language: Language, reason: str, retry: str = "/retry") -> str:
    """Tells what went wrong and what a person can do."""
    return either(
        language,
        ja=f"## エラーが発生しました\n\n{reason}\n\n"
        f"原因を取り除いてから `{retry}` とコメントすると、作業をやり直します。",
        en=f"## An error occurred\n\n{reason}\n\nOnce the cause is removed, comment `{retry}` to try again.",
    )


def skipped(language: Language, reason: str) -> str:
    """Tells that one comment could not be worked on; the conversation goes on."""
    return either(
        language,
        ja=f"## エラーが発生しました\n\nこのコメントには対応できませんでした: {reason}\n\nほかのコメントには引き続き対応します。",
        en=f"## An error occurred\n\nThis comment could not be worked on: {reason}\n\nOther comments will be.",
    )


def counted(language: Language, tally: Tally) -> str:
    """What was counted about comments in a session."""
    return either(
        language,
        ja=f"コメント: 確認 {tally.checks} 回、検出 {tally.found} 件、追加 {tally.added} 件、エラー {tally.errors} 件",
        en=f"Comments: checks {tally.checks}, found {tally.found}, added {tally.added}, errors {tally.errors}",
    )


def farewell(life: Life, ending: Ending, order: Order | None, summary: str, at: str, *, kept: bool = False) -> str:
    """The last comment of a session: how it ended, where the work is kept, and what was counted."""
    language, tally = life.policy.language, life.tally.since(life.tally_before)
    branch = f"**{either(language, ja='保存先', en='Kept on')}**: `{life.branch}`" if kept else ""
    parts = [_ended(life, ending, order, summary, at), branch, f"*{counted(language, tally)}*"]
    return "\n\n".join(part for part in parts if part)


def _ended(life: Life, ending: Ending, order: Order | None, summary: str, at: str) -> str:
    language = life.policy.language
    if ending is Ending.COMPLETED:
        closure = life.session.closed_by if life.session else None
        return completed(language, summary, closed_by(language, closure, life.policy) if closure else "", _kept(life))
    if ending is Ending.FAILED:
        return failed(language, life.error or "", spelled(Word.RETRY, life.mention))
    return stopped(language, at=at, order=order or Order(), session=life.session, summary=summary, kept=_kept(life))
