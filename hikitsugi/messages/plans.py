"""What people read of a plan: its checklist, questions about it, and the wish to have it approved."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from hikitsugi.domain.phase_replies import PlanReply
from hikitsugi.domain.plan import Action, ActionStatus, Plan
from hikitsugi.domain.policy import Language
from hikitsugi.domain.verification import Verified
from hikitsugi.messages.language import either

_MOST_PLACES = 5
_MARKS = {ActionStatus.DOING: " 🔄", ActionStatus.FAILED: " ❌", ActionStatus.SKIPPED: " ⏭️"}


def checklist(language: Language, plan: Plan) -> str:
    """The plan, ticked off; further work that verification asked for stands apart."""
    original = [action for action in plan.actions if not action.is_further]
    further = [action for action in plan.actions if action.is_further]
    parts = [*_origin(language, plan), _lines(original)]
    if further:
        heading = either(language, ja="### 当初の計画", en="### Original Plan")
        done = all(action.status is ActionStatus.DONE for action in original)
        mark = either(language, ja="(完了)", en=" (Completed)") if done else ""
        parts = [f"{heading}{mark}", *parts, either(language, ja="### 追加作業", en="### Additional Work")]
        parts.append(_lines(further))
    total = len(plan.actions)
    return "\n\n".join([*parts, f"*Progress: {plan.done}/{total} ({100 * plan.done // max(total, 1)}%)*"])


def _origin(language: Language, plan: Plan) -> list[str]:
    """What the plan makes of an earlier one."""
    sentences = {
        "continued": either(language, ja="前回の計画の続きです。", en="This continues the earlier plan."),
        "learned_from": either(
            language,
            ja="前回の経験を踏まえた新しい計画です。",
            en="This is a new plan that learned from the earlier one.",
        ),
    }
    return [sentences[plan.earlier]] if plan.earlier in sentences else []


def _lines(actions: Sequence[Action]) -> str:
    return "\n".join(
        f"- [{'x' if action.status is ActionStatus.DONE else ' '}] **{action.id}**: {_safe(action.title)}"
        f"{_MARKS.get(action.status, '')}"
        for action in actions
    )


def _safe(title: str) -> str:
    """A title of the model's that can neither hide nor unfold anything of ours."""
    return title.replace("<", "&lt;")


def questions(language: Language, asked: Sequence[str], assumed: Sequence[str], wait: timedelta) -> str:
    """Questions to the people on the issue, and what holds if nobody answers."""
    minutes = max(1, round(wait.total_seconds() / 60))
    parts = [
        either(language, ja="## ❓ 確認したいことがあります", en="## ❓ Clarification Needed"),
        "\n".join(f"{n}. {question}" for n, question in enumerate(asked, start=1)),
        either(
            language,
            ja=f"この Issue にコメントで答えてください。{minutes} 分以内に返信がなければ、",
            en=f"Please answer by a comment on this issue. Without an answer within {minutes} minutes ",
        )
        + (
            either(language, ja="次の前提で進めます。", en="these assumptions hold:")
            if assumed
            else either(language, ja="今ある情報で進めます。", en="the work goes on with what is known.")
        ),
        "\n".join(f"- {each}" for each in assumed),
    ]
    return "\n\n".join(part for part in parts if part)


def shall_i_replan(language: Language, reasoning: str) -> str:
    """The question about a replan the model is not sure of."""
    return either(
        language,
        ja=f"計画を立て直したほうがよいかもしれません: {reasoning} 立て直してよければ、そうコメントしてください。",
        en=f"Planning anew may be better: {reasoning} If you agree, say so in a comment.",
    )


def proposal(
    language: Language, reply: PlanReply | None, plan: Plan, bot: str | None, expiry: timedelta | None = None
) -> str:
    """A plan that waits for approval: what is to be reached, how, why so, and how success is told."""
    approve, revise = _commands(bot)
    parts = [
        either(language, ja="## 📋 計画の承認をお願いします", en="## 📋 This plan waits for approval"),
        reply.goal if reply else "",
        checklist(language, plan),
        _criteria(language, reply.success_criteria if reply else ()),
        reply.reasoning if reply else "",
        either(
            language,
            ja=f"進めてよければ `{approve}`、変えたいことがあれば `{revise} 変えたい内容` とコメントしてください。",
            en=f"Comment `{approve}` to go on, or `{revise} WHAT TO CHANGE` for another plan.",
        )
        + (_unless_answered(language, expiry) if expiry else ""),
    ]
    return "\n\n".join(part for part in parts if part)


def _unless_answered(language: Language, expiry: timedelta) -> str:
    hours = f"{expiry / timedelta(hours=1):g}"
    return either(
        language,
        ja=f"{hours} 時間以内に返信がなければ、作業を終了します。",
        en=f" Without an answer within {hours} h the work ends.",
    )


def _criteria(language: Language, criteria: Sequence[str]) -> str:
    heading = either(language, ja="**完了の条件**", en="**Done when**")
    return "\n".join([heading, "", *(f"- {_safe(each)}" for each in criteria)]) if criteria else ""


def reminder(language: Language, expires_at: datetime, bot: str | None) -> str:
    """Reminds that a plan still waits."""
    approve, revise = _commands(bot)
    at = f"{expires_at:%Y-%m-%d %H:%M} UTC"
    return either(
        language,
        ja=f"## ⏰ 計画が承認を待っています\n\n`{approve}` または `{revise} 変えたい内容` とコメントしてください。{at} までに返信がなければ作業を終了します。",
        en=f"## ⏰ The plan still waits for approval\n\nComment `{approve}` or `{revise} WHAT TO CHANGE`. Without an answer by {at} the work ends.",
    )


def expired(language: Language) -> str:
    """Why work whose plan nobody approved was ended."""
    return either(language, ja="計画が期限までに承認されませんでした", en="the plan was not approved in time")


def _commands(bot: str | None) -> tuple[str, str]:
    return (f"@{bot} approve", f"@{bot} revise") if bot else ("/approve", "/revise")


def work_shown_missing(language: Language, verified: Verified, *, placeholders: bool) -> list[str]:
    """The titles of actions that the evidence calls for."""
    titles = [
        either(language, ja=f"失敗するチェックを直す: {check.command}", en=f"Mend the failing check: {check.command}")
        for check in verified.failing
    ]
    if placeholders and verified.placeholders:
        places = ", ".join(f"{one.path}:{one.line}" for one in verified.placeholders[:_MOST_PLACES])
        titles.append(either(language, ja=f"仮の実装を置き換える: {places}", en=f"Replace the placeholders: {places}"))
    return titles
