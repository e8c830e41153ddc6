"""The living comment of a session: phase, plan, model calls and troubles, cost, and what comes next."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from operator import itemgetter

from hikitsugi.domain.phases import Phase
from hikitsugi.domain.policy import Language
from hikitsugi.domain.progress import Progress, ReportedCall, Trouble
from hikitsugi.messages.language import either
from hikitsugi.messages.phases import phase_name
from hikitsugi.messages.plans import checklist

LONGEST = 60_000
_LONGEST_TEXT = 2_000
_FINISHED: dict[Phase, tuple[str, str]] = {
    Phase.PRE_PLANNING: (
        "タスク内容の分析と情報収集が完了しました",
        "The task was analysed and the information for it gathered.",
    ),
    Phase.PLANNING: ("実行計画の作成が完了しました", "The plan was made."),
    Phase.EXECUTION: ("アクション「{subject}」の実行が完了しました", "A step of action “{subject}” was carried out."),
    Phase.REFLECTION: ("実行結果の分析が完了しました", "The results were looked at."),
    Phase.REVISION: ("計画の修正が完了しました", "The plan was revised."),
    Phase.VERIFICATION: ("実装の検証が完了しました", "The work was verified."),
    Phase.REPLAN_DECISION: ("再計画の判断が完了しました", "It was decided whether to plan anew."),
}


def living_comment(language: Language, progress: Progress) -> str:
    """The whole comment, at most as long as a forge takes; the oldest calls are only counted when it is full."""
    plan = checklist(language, progress.plan) if progress.plan.actions else ""
    frame = [_head(language, progress), plan, _latest(language, progress.calls)]
    foot = _foot(language, progress)
    entries = _entries(language, progress)
    room = LONGEST - sum(len(part) for part in [*frame, foot]) - 500
    return "\n\n".join(part for part in [*frame, _folded(language, entries, room), foot] if part)


def call(language: Language, made: ReportedCall) -> str:
    """A finished model call, in the form the specification fixes."""
    done = "" if made.comment else either(language, ja=" 完了", en=" finished")
    title = either(language, ja=f"LLM呼び出し #{made.number}{done}", en=f"model call #{made.number}{done}")
    heading = f"## ✅ {phase_name(language, made.phase)} - {title}"
    return f"{heading}\n\n{_harmless(made.comment) or _finished(language, made)}\n\n{_stamp(made.at)}"


def trouble(language: Language, met: Trouble) -> str:
    """A failed tool or model call, in the forms the specification fixes."""
    if met.tool is None:
        name = phase_name(language, met.phase)
        heading = either(language, ja=f"## ⚠️ LLM呼び出しエラー - {name}", en=f"## ⚠️ Model call failed - {name}")
        more = either(language, ja="リトライを試みます...", en="It is tried again…") if met.is_retried else ""
    else:
        heading = either(language, ja=f"## ❌ エラー発生 - {met.tool}", en=f"## ❌ Error - {met.tool}")
        more = either(language, ja=f"**発生したアクション**: {met.subject}", en=f"**Action**: {met.subject}")
        more = more if met.subject else ""
    what = either(language, ja="**エラー内容**: ", en="**Error**: ") + _harmless(met.message)
    return "\n\n".join(part for part in [heading, what, more, _stamp(met.at)] if part)


def _head(language: Language, progress: Progress) -> str:
    title = either(
        language, ja=f"## 🛠️ 進捗(セッション {progress.session})", en=f"## 🛠️ Progress (session {progress.session})"
    )
    rows = [either(language, ja=f"**状態**: `{progress.state}`", en=f"**State**: `{progress.state}`")]
    if progress.phase:
        name = phase_name(language, progress.phase)
        rows.append(either(language, ja=f"**フェーズ**: {name}", en=f"**Phase**: {name}"))
    if progress.waiting_for:
        rows.append(either(language, ja=f"**次**: {progress.waiting_for}", en=f"**Next**: {progress.waiting_for}"))
    return f"{title}\n\n{' · '.join(rows)}"


def _foot(language: Language, progress: Progress) -> str:
    cost = either(language, ja="不明", en="unknown") if progress.cost_usd is None else f"${progress.cost_usd:.4f}"
    calls = len(progress.calls) or progress.llm_calls
    return either(
        language,
        ja=f"*モデル呼び出し {calls} 回、この Issue の合計 {progress.tokens:,} トークン、費用 {cost}*",
        en=f"*{calls} model calls; this issue so far: {progress.tokens:,} tokens, {cost}*",
    )


def _latest(language: Language, calls: Sequence[ReportedCall]) -> str:
    return call(language, calls[-1]) if calls else ""


def _entries(language: Language, progress: Progress) -> list[str]:
    """Earlier calls and all troubles, newest first."""
    told: list[tuple[datetime, str]] = [(made.at, call(language, made)) for made in progress.calls[:-1]]
    told += [(met.at, trouble(language, met)) for met in progress.troubles]
    return [text for _, text in sorted(told, key=itemgetter(0), reverse=True)]


def _folded(language: Language, entries: Sequence[str], room: int) -> str:
    if not entries:
        return ""
    shown = list(_as_many_as_fit(entries, room))
    title = either(language, ja=f"これまでの記録({len(entries)} 件)", en=f"Earlier ({len(entries)})")
    if left := len(entries) - len(shown):
        shown.append(either(language, ja=f"*ほか {left} 件*", en=f"*and {left} more*"))
    return "\n\n".join([f"<details>\n<summary>{title}</summary>", *shown, "</details>"])


def _as_many_as_fit(entries: Iterable[str], room: int) -> Iterable[str]:
    for entry in entries:
        room -= len(entry) + 2
        if room < 0:
            return
        yield entry


def _finished(language: Language, made: ReportedCall) -> str:
    ja, en = _FINISHED[made.phase]
    return either(language, ja=ja, en=en).format(subject=_inline(made.subject))


def _stamp(at: datetime) -> str:
    return f"*{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}*"


def _inline(text: str) -> str:
    return " ".join(_harmless(text).split())


def _harmless(text: str) -> str:
    """Text of the model or a tool, short, and unable to hide or unfold anything of ours."""
    cut = text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"
    return re.sub(r"<(?=!--|/?(?:details|summary)\b)", "&lt;", cut, flags=re.IGNORECASE).strip()
