"""A plan in outline: its actions, in which order they run, and what became of them."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel

from hikitsugi.domain.status import PlanItem
from hikitsugi.domain.value import Sparse, Value

_LONGEST_TITLE = 80
_MOST_PAST = 50
EarlierPlan = Literal["none", "continued", "learned_from"]
"""What a new plan makes of an earlier one."""


class TurnRef(Value):
    """A turn of a stored conversation."""

    conversation: str
    sequence: int


class ActionStatus(StrEnum):
    """What has become of an action."""

    TODO = "todo"
    DOING = "doing"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


_OPEN = frozenset({ActionStatus.TODO, ActionStatus.DOING})
_LOST = frozenset({ActionStatus.FAILED, ActionStatus.SKIPPED})


class Sketch(Value):
    """An action as a reply of the model proposes it, in a few words."""

    id: str
    title: str
    dependencies: tuple[str, ...] = ()

    @classmethod
    def of(cls, action: str, title: str, dependencies: Iterable[str]) -> "Sketch":
        """A sketch with a title that fits on a line."""
        one_line = " ".join(title.split())
        cut = one_line if len(one_line) <= _LONGEST_TITLE else f"{one_line[: _LONGEST_TITLE - 1]}…"
        return cls(id=action, title=cut, dependencies=tuple(dict.fromkeys(dependencies)))


class Action(Sparse):
    """One line of the plan; what it is about in full lies in the memory."""

    id: str
    title: str
    dependencies: tuple[str, ...] = ()
    status: ActionStatus = ActionStatus.TODO
    source: TurnRef | None = None
    """The reply that planned it."""
    result: TurnRef | None = None
    """The turn in which it was submitted, if it was."""
    is_further: bool = False
    """Whether verification asked for it."""

    @property
    def item(self) -> PlanItem:
        """The action as the status document shows it."""
        return PlanItem(id=self.id, title=self.title, status=self.status)


class Plan(Sparse, BaseModel):
    """Changes by its own methods only; small enough to travel with the session."""

    actions: list[Action] = []
    earlier: EarlierPlan = "none"
    past: list[PlanItem] = []
    """What became of actions that gave way to another plan."""

    def find(self, action: str) -> Action:
        """The action with an id."""
        return next(each for each in self.actions if each.id == action)

    @property
    def is_whole(self) -> bool:
        """Whether there are actions, and every one is done."""
        return bool(self.actions) and all(each.status is ActionStatus.DONE for each in self.actions)

    @property
    def done(self) -> int:
        """How many actions are done."""
        return sum(each.status is ActionStatus.DONE for each in self.actions)

    def outline(self) -> "Plan":
        """The plan in as few words as people need to follow it."""
        return Plan(
            actions=[
                Action(id=each.id, title=each.title, status=each.status, is_further=each.is_further)
                for each in self.actions
            ]
        )

    def items(self) -> tuple[PlanItem, ...]:
        """The plan as the status document shows it."""
        return tuple(each.item for each in self.actions)

    def next(self) -> Action | None:
        """The action under way, else the first whose dependencies are done; what can never run is skipped."""
        self._skip_the_lost()
        status = {each.id: each.status for each in self.actions}
        ready = (
            each
            for each in self.actions
            if each.status in _OPEN and all(status.get(one) is ActionStatus.DONE for one in each.dependencies)
        )
        return min(ready, key=lambda each: each.status is not ActionStatus.DOING, default=None)

    def _skip_the_lost(self) -> None:
        lost = {each.id for each in self.actions if each.status in _LOST}
        waiting = [each for each in self.actions if each.status in _OPEN and lost.intersection(each.dependencies)]
        for each in waiting:
            each.status = ActionStatus.SKIPPED
        if waiting:
            self._skip_the_lost()

    def problem_with(self, sketches: Sequence[Sketch], *, most: int, beside: Iterable[str] = ()) -> str | None:
        """Why these actions cannot be carried out beside the ones that stay, as a sentence for the model."""
        stays = frozenset(beside)
        return (
            _too_many(sketches, most - len(stays))
            or _repeated(sketches, stays)
            or _unknown(sketches, stays)
            or _in_a_circle(sketches)
        )

    @property
    def finished(self) -> tuple[str, ...]:
        """The ids of the actions that are done: they stay, whatever is planned anew."""
        return tuple(each.id for each in self.actions if each.status is ActionStatus.DONE)

    def take_over(self, done: Iterable[PlanItem]) -> None:
        """Begin with what an earlier session has done, ticked."""
        known = {each.id for each in self.actions}
        before = [Action(id=one.id, title=one.title, status=ActionStatus.DONE) for one in done if one.id not in known]
        self.actions = [*before, *self.actions]

    def replace(self, sketches: Iterable[Sketch], source: TurnRef, *, keep_done: bool = True) -> None:
        """Plan anew; actions that are done stay ticked if wanted, all others give way."""
        kept = [each for each in self.actions if keep_done and each.status is ActionStatus.DONE]
        gone = [each.item for each in self.actions if each not in kept and each.status is not ActionStatus.TODO]
        self.past = [*self.past, *gone][-_MOST_PAST:]
        self.actions = [*kept, *(_planned(each, source) for each in sketches)]

    def revise(self, sketches: Sequence[Sketch], source: TurnRef) -> None:
        """Plan the rest anew; what is done stays, and so does what failed unless it is tried again."""
        again = {each.id for each in sketches}
        kept = [
            each
            for each in self.actions
            if each.status is ActionStatus.DONE or (each.status is ActionStatus.FAILED and each.id not in again)
        ]
        self.actions = [*kept, *(_planned(each, source) for each in sketches)]

    def extend(self, sketches: Iterable[Sketch], source: TurnRef) -> None:
        """Add further work behind what is there."""
        self.actions = [*self.actions, *(_planned(each, source, is_further=True) for each in sketches)]

    def retry(self) -> None:
        """Give actions that failed or were skipped another chance."""
        for each in self.actions:
            if each.status in _LOST:
                each.status, each.result = ActionStatus.TODO, None


def _planned(sketch: Sketch, source: TurnRef, *, is_further: bool = False) -> Action:
    return Action(**sketch.model_dump(), source=source, is_further=is_further)


def _too_many(sketches: Sequence[Sketch], most: int) -> str | None:
    if len(sketches) <= most:
        return None
    return f"there are {len(sketches)} actions, and at most {max(most, 0)} are allowed; plan fewer and larger ones"


def _repeated(sketches: Sequence[Sketch], stays: frozenset[str]) -> str | None:
    ids = [each.id for each in sketches]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        return f"the id {twice[0]} is used more than once; give every action its own"
    taken = sorted(stays.intersection(ids))
    return f"the id {taken[0]} belongs to an action that stays as it is; use new ids" if taken else None


def _unknown(sketches: Sequence[Sketch], stays: frozenset[str]) -> str | None:
    known = stays.union(each.id for each in sketches)
    for each in sketches:
        for one in each.dependencies:
            if one not in known:
                return f"{each.id} depends on {one}, which is not in the plan"
    return None


def _in_a_circle(sketches: Sequence[Sketch]) -> str | None:
    left = {each.id: set(each.dependencies) for each in sketches}
    while free := [one for one, needs in left.items() if not needs & left.keys()]:
        for one in free:
            del left[one]
    if not left:
        return None
    return f"{', '.join(sorted(left))} depend on each other in a circle, so that none of them could ever begin"
