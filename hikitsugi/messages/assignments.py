"""What people and agents read about leases."""

from datetime import datetime

from hikitsugi.domain.assignment import Assignment, Outcome, Settlement
from hikitsugi.domain.life import Order
from hikitsugi.domain.policy import Language
from hikitsugi.messages.language import either
from hikitsugi.messages.operators import giver


def lease_ended(language: Language, settlement: Settlement) -> str:
    """Tells people on the issue why an agent no longer works on it."""
    agent = f"`{settlement.agent}`"
    told = {
        Outcome.EXPIRED: either(
            language,
            ja=f"エージェント {agent} から連絡がなくなったため、この Issue は再び割り当て可能になりました。",
            en=f"Agent {agent} fell silent, so this issue is available again.",
        ),
        Outcome.FAILED: either(
            language,
            ja=f"エージェント {agent} は作業を終えられませんでした。しばらくしてから再び割り当て可能になります。",
            en=f"Agent {agent} could not finish. The issue becomes available again after a while.",
        ),
        Outcome.RELEASED: either(
            language,
            ja=f"エージェント {agent} がこの Issue を手放しました。再び割り当て可能です。",
            en=f"Agent {agent} gave this issue back. It is available again.",
        ),
        Outcome.COMPLETED: either(
            language,
            ja=f"エージェント {agent} が作業を終えました。レビューをお願いします。",
            en=f"Agent {agent} has finished. Please review.",
        ),
    }[settlement.outcome]
    return "\n\n".join([told, quoted(settlement.note)]) if settlement.note else told


def quoted(note: str) -> str:
    """An agent's own words, as a quotation."""
    return "\n".join(f"> {line}" for line in note.splitlines())


def waiting_for(language: Language, assignment: Assignment, error: str) -> str:
    """What has to happen next."""
    if assignment.lease:
        return awaits_report(language, assignment.lease.agent, assignment.lease.expires_at)
    if assignment.rests_until:
        return rests(language, assignment.rests_until, error)
    if assignment.author:
        return awaits_review(language, assignment.author)
    return awaits_agent(language)


def awaits_resume(language: Language, order: Order) -> str:
    """Somebody holds it back; comments on it are not ours to hear."""
    who, why = giver(language, order), order.reason
    return either(
        language,
        ja=f"再開の指示(starter.py resume またはダッシュボード)。保留: {who}{f'({why})' if why else ''}",
        en=f"a resume (starter.py resume or the dashboard); held by {who}{f': {why}' if why else ''}",
    )


def awaits_agent(language: Language) -> str:
    """Nobody has the issue."""
    return either(language, ja="エージェントからの要求", en="an agent that asks for it")


def awaits_report(language: Language, agent: str, until: datetime) -> str:
    """An agent has it."""
    at = f"{until:%Y-%m-%d %H:%M} UTC"
    return either(language, ja=f"{agent} の報告({at} まで)", en=f"a report of {agent}, until {at}")


def awaits_review(language: Language, agent: str) -> str:
    """An agent has finished."""
    return either(language, ja=f"{agent} の作業のレビュー", en=f"a review of {agent}'s work")


def rests(language: Language, until: datetime, reason: str) -> str:
    """It came back unfinished."""
    at = f"{until:%Y-%m-%d %H:%M} UTC"
    return either(language, ja=f"{at} まで休止({reason})", en=f"the end of a rest, {at} ({reason})")
