"""The prompts that external agents get with their tasks, made from a template and the facts."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from string import Template

from hikitsugi.domain.issue import Comment
from hikitsugi.domain.lease import Lease
from hikitsugi.domain.policy import Language
from hikitsugi.domain.selection import Card, deliverables_in
from hikitsugi.domain.value import Value
from hikitsugi.language_model.prompts import template
from hikitsugi.messages.prompts import shortened


class Told(Value):
    """Everything a prompt is made from."""

    card: Card
    lease: Lease
    base: str
    conversation: tuple[Comment, ...] | None
    handover: str | None = None
    instructions: str = ""


def task_prompt(language: Language, told: Told, own: Path | None = None) -> str:
    """The prompt in the operator's own words, where a repository has its own template, or in ours."""
    name = f"task_{told.card.task_type}"
    file = own / f"{told.card.task_type}.md" if own else None
    text = file.read_text(encoding="utf-8") if file and file.is_file() else template(f"{name}.{language}")
    return Template(text).safe_substitute(_facts(told))


def _facts(told: Told) -> dict[str, str]:
    card, mark = told.card, _mark(told.lease)
    return {
        "repository": card.address.repository,
        "number": str(card.address.number),
        "url": card.url,
        "role": card.role,
        "branch": told.lease.branch,
        "base": told.base,
        "lease_id": told.lease.id,
        "agent_id": told.lease.agent,
        "lease_expires_at": told.lease.expires_at.isoformat(),
        "issue": as_data("issue", f"{card.title}\n\n{card.body}", mark),
        "deliverables": as_data("deliverables", deliverables_in(card.body) or "-", mark),
        "conversation": as_data("conversation", _conversation(told.conversation), mark),
        "handover": as_data("handover", told.handover or "-", mark),
        "instructions": told.instructions.strip() or "-",
        "mark": mark,
    }


def as_data(name: str, text: str, mark: str) -> str:
    """Text of strangers between lines that they cannot know, so that nothing in it can end it."""
    return f"<data-{mark} name={name}>\n{text.strip()}\n</data-{mark}>"


def _conversation(comments: Sequence[Comment] | None) -> str:
    if comments is None:
        return "(could not be read; look at the page)"
    said = [f"@{comment.author} ({comment.created_at or ''}):\n{shortened(comment.body)}" for comment in comments]
    return "\n\n".join(said) or "-"


def _mark(lease: Lease) -> str:
    return hashlib.sha256(lease.id.encode()).hexdigest()[:12]
