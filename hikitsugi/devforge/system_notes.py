"""What GitLab notes by itself on an issue or merge request when somebody changes it."""

from collections.abc import Iterator

from hikitsugi.devforge.drafts import as_ready, is_draft
from hikitsugi.devforge.records import Deed, Entry, Issue, Person


def system_notes(entry: Entry) -> Iterator[str]:
    """The sentences that an entry of the journal leaves behind."""
    if entry.deed is Deed.PUSHED and entry.after.pull:
        yield f"added 1 commit\n\n* {entry.after.pull.head_commit[:8]}"
    if entry.deed is not Deed.CHANGED or not entry.before:
        return
    before, after = entry.before, entry.after
    if before.title != after.title:
        yield _renamed(before, after)
    if before.body != after.body:
        yield "changed the description"
    if entry.labels_added or entry.labels_removed:
        yield _relabelled(entry)
    if entry.assigned or entry.unassigned:
        yield _reassigned(entry)
    if before.is_open is not after.is_open:
        yield _state(after)
    yield from _approvals(before, after)


def _renamed(before: Issue, after: Issue) -> str:
    is_same_text = as_ready(before.title) == as_ready(after.title)
    if after.pull and is_same_text and is_draft(before.title) is not is_draft(after.title):
        return f"marked this merge request as **{'draft' if after.pull.is_draft else 'ready'}**"
    return f"changed title from **{before.title}** to **{after.title}**"


def _relabelled(entry: Entry) -> str:
    parts = {"added": entry.labels_added, "removed": entry.labels_removed}
    told = [verb + "".join(f' ~"{name}"' for name in names) for verb, names in parts.items() if names]
    return f"{' and '.join(told)} label{'s' if sum(map(len, parts.values())) > 1 else ''}"


def _reassigned(entry: Entry) -> str:
    parts = {"assigned to": entry.assigned, "unassigned": entry.unassigned}
    return " and ".join(f"{verb} {_mentions(people)}" for verb, people in parts.items() if people)


def _mentions(people: tuple[Person, ...]) -> str:
    return " ".join(f"@{somebody.login}" for somebody in people)


def _state(after: Issue) -> str:
    if after.is_open:
        return "reopened"
    return "merged" if after.pull and after.pull.merge else "closed"


def _approvals(before: Issue, after: Issue) -> Iterator[str]:
    if before.pull and after.pull and before.pull.approved_by != after.pull.approved_by:
        more = len(after.pull.approved_by) > len(before.pull.approved_by)
        yield f"{'approved' if more else 'unapproved'} this merge request"
