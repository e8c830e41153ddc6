"""What people read in our comments on an issue."""

from hikitsugi.domain.commands import Word
from hikitsugi.domain.life import Life, Order
from hikitsugi.domain.policy import Language
from hikitsugi.domain.session import Ending
from hikitsugi.domain.tally import Tally
from hikitsugi.domain.tools import Submission, SubmissionStatus
from hikitsugi.domain.workspace import Published
from hikitsugi.messages.commands import spelled
from hikitsugi.messages.language import either

DONE_HEADINGS = ("## 実行完了", "## Done")


def result(
    language: Language,
    submission: Submission | None,
    published: Published,
    change_request: str | None,
    warning: str,
    evidence: str = "",
) -> str:
    """The result of one pass over the issue."""
    heading = either(language, ja="## 実行完了", en="## Done")
    changed = _changed(language, published, change_request)
    parts = [heading, _told(language, submission), changed, evidence, warning]
    parts.append(
        either(
            language,
            ja="続きがあればここにコメントしてください。これで終わりなら「ありがとう」とだけ書いてください。",
            en='Comment here to go on. If this is all, just write "thanks".',
        )
    )
    return "\n\n".join(part for part in parts if part)


def _told(language: Language, submission: Submission | None) -> str:
    if submission is None:
        return either(
            language,
            ja="⚠️ 作業を最後まで終えられませんでした(反復の上限に達したか、モデルが結論を出しませんでした)。途中までの変更は保存してあります。",
            en="⚠️ The work did not reach its end: the limit of iterations was reached, or the model gave no conclusion. "
            "What was changed so far is kept.",
        )
    parts = [submission.summary]
    if submission.status is SubmissionStatus.BLOCKED:
        parts.insert(0, either(language, ja="⚠️ 作業は途中で止まっています。", en="⚠️ The work is blocked."))
    if submission.needs:
        parts.append(either(language, ja="**必要なこと**: ", en="**Needed**: ") + submission.needs)
    if submission.evidence:
        parts.append(either(language, ja="**確認したこと**: ", en="**Evidence**: ") + submission.evidence)
    return "\n\n".join(parts)


def _changed(language: Language, published: Published, change_request: str | None) -> str:
    if published.withheld:
        return either(
            language,
            ja="フォークからのリクエストなので、ブランチには何もプッシュしていません。",
            en="Nothing was pushed: this request comes from a fork.",
        )
    if published.is_empty:
        return either(language, ja="ファイルの変更はありません。", en="No file was changed.")
    numbers = (
        f"{published.files_changed} files, +{published.insertions} −{published.deletions}, `{published.commit[:8]}`"
    )
    return either(language, ja="**変更**: ", en="**Change**: ") + f"{change_request or ''} ({numbers})".strip()


def unconfined_warning(language: Language) -> str:
    """Shown on every result while commands run without a sandbox."""
    return either(
        language,
        ja="⚠️ サンドボックスなし(`sandbox.kind: none`)でコマンドを実行しました。",
        en="⚠️ Commands ran without a sandbox (`sandbox.kind: none`).",
    )


def completed(language: Language, summary: str) -> str:
    """Closes the conversation."""
    return either(
        language,
        ja=f"## ✅ 完了\n\n{summary}\n\nまた必要になったら、ここにコメントしてください。ここまでの内容を引き継いで再開します。",
        en=f"## ✅ Completed\n\n{summary}\n\nComment here whenever you need more: the work goes on from here.",
    )


def stopped(language: Language, *, at: str, by: str, reason: str, summary: str) -> str:
    """Tells that the work was stopped, what is kept, and how to start again."""
    why_ja, why_en = (f"- **理由**: {reason}\n", f"- **Reason**: {reason}\n") if reason else ("", "")
    return either(
        language,
        ja=f"## ⛔ タスク停止\n\n- **停止時刻**: {at}\n- **停止者**: {by}\n{why_ja}\n{summary}\n\n"
        "再開するには、ここにコメントするか、トリガーのラベルを付け直してください。",
        en=f"## ⛔ Stopped\n\n- **At**: {at}\n- **By**: {by}\n{why_en}\n{summary}\n\n"
        "To start again, comment here or put the trigger label on again.",
    )


def failed(language: Language, reason: str, retry: str = "/retry") -> str:
    """Tells what went wrong and what a person can do."""
    return either(
        language,
        ja=f"## エラーが発生しました\n\n{reason}\n\nここまでの作業は保存してあります。"
        f"原因を取り除いてから `{retry}` とコメントすると、作業をやり直します。",
        en=f"## An error occurred\n\n{reason}\n\nThe work so far is kept. "
        f"Once the cause is removed, comment `{retry}` to try again.",
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
        en=f"Comments: {tally.checks} checks, {tally.found} found, {tally.added} added, {tally.errors} errors",
    )


def farewell(life: Life, ending: Ending, order: Order | None, summary: str, at: str) -> str:
    """The last comment of a session: how it ended, and what was counted."""
    tally = life.tally.since(life.tally_before)
    return f"{_ended(life, ending, order, summary, at)}\n\n<sub>{counted(life.policy.language, tally)}</sub>"


def _ended(life: Life, ending: Ending, order: Order | None, summary: str, at: str) -> str:
    language = life.policy.language
    if ending is Ending.COMPLETED:
        return completed(language, summary)
    if ending is Ending.FAILED:
        return failed(language, life.error or "", spelled(Word.RETRY, life.mention))
    given = order or Order()
    return stopped(language, at=at, by=given.by, reason=given.reason, summary=summary)
