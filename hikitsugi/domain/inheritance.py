"""What a session tells the next one on the same issue, within a number of tokens."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from hikitsugi.domain.handover import Context, PlanRecord
from hikitsugi.domain.policy import InheritanceTerms

Measure = Callable[[str], int]
PREFIX = "前回の処理要約: "
SOMEBODY = "[user]"
_CUT = " […]"
# Not \w: Japanese stands right beside a name, without a space.
_MENTION = re.compile(r"(?<![A-Za-z0-9_.`@/])@[A-Za-z0-9][A-Za-z0-9_-]*(?![A-Za-z0-9_(@/]|\.\w)")


@dataclass(frozen=True)
class _Telling:
    """How much of a context is told."""

    older: int
    in_detail: bool = True
    tools: bool = True
    history: bool = True


def inherited_text(context: Context, terms: InheritanceTerms, measure: Measure, names: Collection[str] = ()) -> str:
    """The inherited turn, no longer than allowed: older summaries go first, then plan detail, then tool history.

    What is still too long is cut at the end; where not even a beginning fits, nothing is told.
    """
    text = ""
    for telling in _tellings(context):
        text = without_names(PREFIX + _told(context, terms, telling), names)
        if measure(text) <= terms.max_tokens:
            return text
    return _cut(text, terms.max_tokens, measure)


def without_names(text: str, names: Collection[str]) -> str:
    """The text with the people in it made anonymous: whoever is mentioned, and the given names as whole words."""
    known = sorted((name for name in names if name), key=len, reverse=True)
    if known:
        alternatives = "|".join(map(re.escape, known))
        text = re.sub(
            rf"(?<![A-Za-z0-9_/.-])@?(?:{alternatives})(?![A-Za-z0-9_/-])", SOMEBODY, text, flags=re.IGNORECASE
        )
    return _MENTION.sub(SOMEBODY, text)


def _tellings(context: Context) -> Iterator[_Telling]:
    """From everything to the least, in the order in which things are left out."""
    for older in range(len(context.older_summaries), -1, -1):
        yield _Telling(older)
    outline = _Telling(older=0, in_detail=False)
    yield outline
    yield replace(outline, tools=False)
    yield replace(outline, tools=False, history=False)


def _told(context: Context, terms: InheritanceTerms, telling: _Telling) -> str:
    older = context.older_summaries[len(context.older_summaries) - telling.older :]
    parts = [context.summary.strip(), *(f"## Earlier Summary\n{summary.strip()}" for summary in older)]
    if terms.planning and telling.history:
        parts += _planning_history(context, terms, telling)
    return "\n\n".join(part for part in parts if part)


def _planning_history(context: Context, terms: InheritanceTerms, telling: _Telling) -> list[str]:
    """The sections that planned work adds."""
    has_plans = terms.inherit_plans and terms.max_previous_plans > 0
    plans = context.plans[-terms.max_previous_plans :] if has_plans else ()
    lessons = list(context.recommendations) if terms.inherit_plans else []
    lessons += context.reflections if terms.inherit_reflections else ()
    if terms.reuse_successful_patterns and telling.tools:
        lessons += [f"This worked: {pattern}" for pattern in context.attempts.succeeded_with]
    sections: dict[str, Sequence[str] | None] = {
        "Previous Plan Summary": [_plan(plan, in_detail=telling.in_detail) for plan in plans] if has_plans else None,
        "Execution History": _attempts(context) if telling.tools else None,
        "Verification History": context.verifications if terms.inherit_verifications else None,
        "Recommendations for Current Processing": lessons,
    }
    return [_section(heading, lines) for heading, lines in sections.items() if lines is not None]


def _attempts(context: Context) -> list[str]:
    tried = context.attempts
    if not tried.succeeded and not tried.failed:
        return []
    counted = f"Successful actions: {tried.succeeded}, failed actions: {tried.failed}"
    return [counted, *(f"Key failure: {failure}" for failure in tried.failures)]


def _plan(plan: PlanRecord, *, in_detail: bool) -> str:
    lines = plan.details if in_detail and plan.details else plan.outline
    goal = f"Goal: {plan.goal} (session {plan.session})" if plan.session else f"Goal: {plan.goal}"
    return "\n".join([goal, *(f"  - {line}" for line in lines)])


def _section(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {heading}", *(f"- {line}" for line in lines or ("No record.",))])


def _cut(text: str, limit: int, measure: Measure) -> str:
    """The longest beginning that fits together with the mark of what is missing."""
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if measure(text[:middle] + _CUT) <= limit:
            fits = middle
        else:
            too_long = middle
    return text[:fits] + _CUT if fits > len(PREFIX) else ""
