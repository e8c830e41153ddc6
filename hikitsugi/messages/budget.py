"""What people read about the money an issue may cost."""

from collections.abc import Mapping

from hikitsugi.domain.budget import Budget
from hikitsugi.domain.commands import Word
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.policy import Language
from hikitsugi.domain.status import Status
from hikitsugi.messages.commands import spelled
from hikitsugi.messages.language import either
from hikitsugi.messages.phases import phase_name

_PHASES = frozenset(Phase)


def reason(language: Language) -> str:
    """Why the work holds, in a few words."""
    return either(language, ja="予算の上限に達しました", en="the budget is used up")


def is_used_up(
    language: Language, now: Status, budget: Budget, spent_on: Mapping[str, float | None], mention: str | None = None
) -> str:
    """Asks for more, and says what was spent on what and what is left to do."""
    heading = either(language, ja="## 💰 予算の確認", en="## 💰 Budget")
    said = either(
        language,
        ja=f"次のモデル呼び出しで予算({_cap(language, budget)})を超えるおそれがあるため、作業を一時停止しました。"
        f"これまでに {_spent(language, now)}を使いました。",
        en=f"The work is paused: the next model call might exceed the budget of {_cap(language, budget)}. "
        f"{_spent(language, now)} were used so far.",
    )
    more, stop = spelled(Word.BUDGET, mention), spelled(Word.STOP, mention)
    ask = either(
        language,
        ja=f"続けるには `{more} 8` のように新しい上限(米ドル)をコメントしてください。"
        f"同じところから再開します。終了するには `{stop}` と書いてください。",
        en=f"To go on, comment a new limit in US dollars, for example `{more} 8`: the work continues at the same step. "
        f"`{stop}` ends it.",
    )
    return "\n\n".join(part for part in [heading, said, _uses(language, spent_on), _left(language, now), ask] if part)


def is_granted(language: Language, usd: float, now: Status) -> str:
    """A new budget holds."""
    return either(
        language,
        ja=f"この Issue の予算を ${usd:g} にしました(使用済み: {_spent(language, now)})。",
        en=f"The budget of this issue is now ${usd:g} ({_spent(language, now)} used so far).",
    )


def is_too_small(language: Language, usd: float, now: Status) -> str:
    """The new budget does not even cover the next call."""
    return either(
        language,
        ja=f"${usd:g} では足りません: すでに {_spent(language, now)}を使っています。もっと大きい金額を指定してください。",
        en=f"${usd:g} is not enough: {_spent(language, now)} were used already. Please name a larger amount.",
    )


def is_no_amount(language: Language, mention: str | None = None) -> str:
    """What was written after `/budget` is no amount of money."""
    more = spelled(Word.BUDGET, mention)
    return either(
        language,
        ja=f"`{more} 8` のように、米ドルの金額を一つ書いてください。",
        en=f"Please write one amount in US dollars, for example `{more} 8`.",
    )


def awaits(language: Language, mention: str | None = None) -> str:
    """The answer to a resume while the budget is used up."""
    more = spelled(Word.BUDGET, mention)
    return either(
        language,
        ja=f"予算の上限に達しているため再開できません。`{more} 8` のように新しい上限を指定してください。",
        en=f"The budget is used up, so the work cannot resume. Name a new limit, for example `{more} 8`.",
    )


def _spent(language: Language, now: Status) -> str:
    tokens, cost = now.input_tokens + now.output_tokens, _cost(language, now.cost_usd)
    return either(language, ja=f"{cost}、{tokens:,} トークン", en=f"{cost}, {tokens:,} tokens")


def _cost(language: Language, usd: float | None) -> str:
    return either(language, ja="費用不明", en="unknown cost") if usd is None else f"${usd:.4f}"


def _cap(language: Language, budget: Budget) -> str:
    usd = "" if budget.usd is None else f"${budget.usd:g}"
    tokens = (
        ""
        if budget.tokens is None
        else either(language, ja=f"{budget.tokens:,} トークン", en=f"{budget.tokens:,} tokens")
    )
    return either(language, ja="、", en=", ").join(part for part in (usd, tokens) if part)


def _uses(language: Language, spent_on: Mapping[str, float | None]) -> str:
    if not spent_on:
        return ""
    heading = either(language, ja="**内訳**:", en="**Spent on**:")
    return "\n".join(
        [heading, *(f"- {_use(language, phase)}: {_cost(language, usd)}" for phase, usd in spent_on.items())]
    )


def _use(language: Language, phase: str) -> str:
    """A phase as people call it; plain work has none."""
    return phase_name(language, Phase(phase)) if phase in _PHASES else either(language, ja="作業", en="Work")


def _left(language: Language, now: Status) -> str:
    left = [item for item in now.plan if item.status in {"todo", "doing"}]
    if not left:
        return ""
    heading = either(language, ja="**残りの作業**:", en="**Left to do**:")
    return "\n".join([heading, *(f"- **{item.id}**: {item.title}" for item in left)])
