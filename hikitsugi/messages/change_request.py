"""What people read in a pull or merge request and in its commits."""

from collections.abc import Sequence

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.plan import Action, Plan
from hikitsugi.domain.policy import Language
from hikitsugi.domain.tools import Submission
from hikitsugi.domain.verification import Verified
from hikitsugi.messages.language import either
from hikitsugi.messages.plans import checklist
from hikitsugi.messages.proof import claimed, proof

_LONGEST_TITLE = 230


def title(issue: IssueAddress, issue_title: str, *, is_unfinished: bool = False) -> str:
    """The request's title names the issue, and says what no draft can say for it."""
    return f"{'WIP: ' if is_unfinished else ''}{issue_title[:_LONGEST_TITLE]} (#{issue.number})"


def body(
    language: Language,
    issue: IssueAddress,
    submission: Submission | None,
    *,
    earlier: Sequence[str] = (),
    plan: Plan | None = None,
    verified: Verified | None = None,
    cost: str = "",
    notice: str = "",
) -> str:
    """What was done and why, by this pass and earlier ones, the plan, the evidence, the cost, and which issue it closes."""
    parts = [f"Closes #{issue.number}", notice]
    if done := [*earlier, *([submission.summary.strip()] if submission else [])]:
        parts += [either(language, ja="## 変更内容", en="## What was done"), *done]
    if plan and plan.actions:
        parts += [either(language, ja="## 計画", en="## Plan"), checklist(language, plan)]
    shown = [claimed(language, submission), proof(language, verified)]
    if any(shown):
        parts += [either(language, ja="## 検証", en="## Evidence"), *shown]
    return "\n\n".join(part for part in [*parts, cost] if part)


def cost(language: Language, calls: int, usd: float | None) -> str:
    """What the work on the issue cost so far."""
    told = either(language, ja="不明", en="unknown") if usd is None else f"${usd:.4f}"
    return either(language, ja=f"*モデル呼び出し {calls} 回、費用 {told}*", en=f"*{calls} model calls, cost {told}*")


def commit(issue: IssueAddress, issue_title: str, action: Action | None = None) -> str:
    """A commit's message; that of an action names it."""
    headline = f"{action.title} ({action.id})" if action else issue_title
    return f"{headline}\n\nRefs {issue.short.removeprefix(issue.repository)}"
