"""GitLab's quick actions: lines that are orders to the forge and never reach the comment."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from hikitsugi.devforge.drafts import as_draft, as_ready
from hikitsugi.devforge.records import Edit, Issue, Person
from hikitsugi.devforge.refusals import NotMergeable, Outdated
from hikitsugi.devforge.repository import Repository

_LINE = re.compile(r"^/(?P<name>[a-z_]+)(?:[ \t]+(?P<rest>.*?))?[ \t]*$", re.IGNORECASE)
_FENCE = re.compile(r"^(```|~~~)")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EVERYWHERE = _words(
    "assign unassign reassign close reopen label labels unlabel remove_label relabel title todo done subscribe"
    " unsubscribe milestone remove_milestone estimate remove_estimate spend spent remove_time_spent lock unlock"
    " copy_metadata react award cc"
)
_ISSUES_ONLY = _words(
    "due in remove_due_date confidential duplicate move clone promote create_merge_request relate link unlink blocks"
    " blocked_by weight clear_weight epic remove_epic iteration remove_iteration health_status clear_health_status"
    " severity zoom remove_zoom add_contacts remove_contacts add_email remove_email type promote_to timeline"
)
_MERGE_REQUESTS_ONLY = _words(
    "approve unapprove merge draft ready rebase request_review assign_reviewer reviewer unassign_reviewer"
    " remove_reviewer target_branch submit_review request_changes ship wip"
)


@dataclass(frozen=True)
class Order:
    """One quick action as it was written."""

    name: str
    rest: str


def separate(text: str, one: Issue) -> tuple[str, list[Order]]:
    """A comment without its quick actions, and these; lines within code are left alone."""
    known = _EVERYWHERE | (_MERGE_REQUESTS_ONLY if one.pull else _ISSUES_ONLY)
    kept: list[str] = []
    orders: list[Order] = []
    in_code = False
    for line in text.split("\n"):
        in_code ^= bool(_FENCE.match(line))
        found = None if in_code else _LINE.match(line)
        if found and found["name"].lower() in known:
            orders.append(Order(found["name"].lower(), (found["rest"] or "").strip()))
        else:
            kept.append(line)
    return ("\n".join(kept).strip() if orders else text), orders


FindPerson = Callable[[str], Person | None]


class QuickActions:
    """Carries out the orders of one person on one issue or merge request."""

    def __init__(self, home: Repository, one: Issue, by: Person, find: FindPerson) -> None:
        self._home = home
        self._one = one
        self._by = by
        self._find = find

    def carry_out(self, orders: list[Order]) -> list[str]:
        """What was done, in GitLab's words; orders beyond the permission or this forge do nothing."""
        return [told for order in orders if (told := self._obey(order))]

    def _obey(self, order: Order) -> str:
        is_state = order.name in {"close", "reopen"}
        if not self._by.may_write and not (is_state and self._one.author == self._by):
            return ""
        match order.name:
            case "close" | "reopen":
                told = self._set_state(is_open=order.name == "reopen")
            case "assign" | "reassign" | "unassign":
                told = self._reassign(order)
            case "title":
                told = self._change(Edit(title=order.rest), f'Changed the title to "{order.rest}".')
            case "draft" | "ready":
                told = self._set_draft(order.name)
            case "approve" | "unapprove":
                self._home.approve(self._one.number, self._by, approves=order.name == "approve")
                told = f"{order.name.capitalize()}d the current merge request."
            case "merge":
                told = self._merge()
            case _:
                told = self._relabel(order) if "label" in order.name else f"Applied /{order.name}."
        return told

    @property
    def _word(self) -> str:
        return "merge request" if self._one.pull else "issue"

    @property
    def _now(self) -> Issue:
        return self._home.tracker_of(self._one).issue(self._one.number)

    def _change(self, edit: Edit, told: str) -> str:
        edited = self._home.edit_pull if self._one.pull else self._home.tracker.edit
        edited(self._one.number, self._by, edit)
        return told

    def _set_state(self, *, is_open: bool) -> str:
        return self._change(Edit(is_open=is_open), f"{'Reopened' if is_open else 'Closed'} this {self._word}.")

    def _set_draft(self, name: str) -> str:
        title = as_draft(self._now.title) if name == "draft" else as_ready(self._now.title)
        return self._change(Edit(title=title), f"Marked this merge request as {name}.")

    def _relabel(self, order: Order) -> str:
        names = tuple(a or b for a, b in re.findall(r'~(?:"([^"]+)"|([^\s~]+))', order.rest)) or tuple(
            order.rest.split()
        )
        had = self._now.labels
        gone = {name.lower() for name in names}
        if order.name in {"unlabel", "remove_label"}:
            return self._change(Edit(labels=tuple(n for n in had if gone and n.lower() not in gone)), "Removed labels.")
        kept = () if order.name == "relabel" else had
        return self._change(Edit(labels=(*kept, *names)), f"Added {' '.join(names)} labels.")

    def _reassign(self, order: Order) -> str:
        names = [name.lstrip("@") for name in order.rest.split()]
        found = (self._by if name == "me" else self._find(name) for name in names)
        people = tuple(somebody for somebody in found if somebody)
        had = self._now.assignees
        if order.name == "unassign":
            left = tuple(somebody for somebody in had if names and somebody not in people)
            return self._change(Edit(assignees=left), "Removed assignees.")
        kept = () if order.name == "reassign" else had
        return self._change(Edit(assignees=(*kept, *people)), f"Assigned {' '.join(f'@{p.login}' for p in people)}.")

    def _merge(self) -> str:
        try:
            self._home.merge(self._one.number, self._by)
        except (NotMergeable, Outdated):
            return ""
        return "Merged this merge request."
