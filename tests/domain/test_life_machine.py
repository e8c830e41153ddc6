"""Whatever the order of events: no comment is lost or told twice, and the labels can always be put in order."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS
from hikitsugi.domain.closing import closes
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.labels import Wish, wish_in
from hikitsugi.domain.life import Life
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.states import OF_OUR_WORK, State
from tests.domain.closing_examples import CLOSING
from tests.domain.open_examples import ASKING_FOR_MORE

SHORT = settings(max_examples=150, stateful_step_count=30, deadline=None)
FULL = settings(max_examples=5000, stateful_step_count=30, deadline=None)
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
STRANGER = "mallory"
MOST = 5
texts = st.sampled_from(CLOSING) | st.sampled_from(ASKING_FOR_MORE)


class Conversation(RuleBasedStateMachine):
    """People write and edit, the watcher delivers and repeats itself, the workflow hears, tells and is carried on."""

    def __init__(self) -> None:
        super().__init__()
        self.life = Life()
        self.forge: dict[str, Comment] = {}
        self.delivered: list[Comment] = []
        self.asked: tuple[Comment, ...] = ()
        self.told: list[Comment] = []
        self.closing: list[Comment] = []

    @precondition(lambda self: len(self.forge) < MOST)
    @rule(author=st.sampled_from(["alice", "maria", STRANGER]), body=texts)
    def write(self, author: str, body: str) -> None:
        self._publish(Comment(id=str(len(self.forge) + 1), author=author, body=body, updated_at=BEGINNING))

    @precondition(lambda self: self.forge)
    @rule(which=st.integers(0, MOST - 1), body=texts)
    def edit(self, which: int, body: str) -> None:
        old = list(self.forge.values())[which % len(self.forge)]
        later = (old.updated_at or BEGINNING) + timedelta(seconds=1)
        self._publish(old.model_copy(update={"body": body, "updated_at": later}))

    @precondition(lambda self: self.delivered)
    @rule(which=st.integers(0, 3 * MOST))
    def deliver_again(self, which: int) -> None:
        self.life.receive(self.delivered[which % len(self.delivered)])

    @precondition(lambda self: self.life.pending and not self.asked)
    @rule()
    def ask_who_counts(self) -> None:
        self.asked = tuple(self.life.pending)

    @precondition(lambda self: self.asked)
    @rule()
    def learn_who_counts(self) -> None:
        known = {comment.version for comment in self.told}
        accepted = [c for c in self.asked if c.author != STRANGER and c.version not in known]
        self.life.hear(self.asked, accepted)
        self.asked = ()

    @precondition(lambda self: self.life.heard)
    @rule()
    def tell(self) -> None:
        taken = self.life.take_heard()
        is_over = all(closes(comment.body, COMPLETION_KEYWORDS) for comment in taken)
        (self.closing if is_over else self.told).extend(taken)

    @precondition(lambda self: not self.asked)
    @rule()
    def carry_on_in_a_fresh_run(self) -> None:
        self.life = Life.model_validate_json(self.life.model_dump_json())

    @invariant()
    def nothing_is_told_twice(self) -> None:
        versions = [comment.version for comment in (*self.told, *self.closing)]
        assert len(versions) == len(set(versions))

    @invariant()
    def every_comment_waits_in_one_place_at_most(self) -> None:
        for waiting in (self.life.pending, self.life.heard):
            assert len({comment.id for comment in waiting}) == len(waiting)

    @invariant()
    def strangers_are_never_heard(self) -> None:
        assert STRANGER not in {comment.author for comment in (*self.life.heard, *self.told, *self.closing)}

    def teardown(self) -> None:
        """In the end, all that accepted people wrote was told in its newest text."""
        while self.life.pending or self.asked or self.life.heard:
            self.asked = self.asked or tuple(self.life.pending)
            self.learn_who_counts()
            if self.life.heard:
                self.tell()
        self.nothing_is_told_twice()
        newest = {comment.version for comment in self.forge.values() if comment.author != STRANGER}
        assert newest <= {comment.version for comment in (*self.told, *self.closing)}
        assert all(closes(comment.body, COMPLETION_KEYWORDS) for comment in self.closing)

    def _publish(self, comment: Comment) -> None:
        self.forge[comment.id] = comment
        self.delivered.append(comment)
        self.life.receive(comment)


class Labels(RuleBasedStateMachine):
    """People move state labels, the story moves on, and the labels are looked after."""

    def __init__(self) -> None:
        super().__init__()
        self.names = LabelNames(paused="一時停止")
        self.state = State.PROCESSING
        self.shown = {"task:misc", self.names.of(self.state)}

    @rule(state=st.sampled_from(OF_OUR_WORK))
    def put_on(self, state: State) -> None:
        self.shown.add(self.names.of(state))

    @rule(state=st.sampled_from(OF_OUR_WORK))
    def take_off(self, state: State) -> None:
        self.shown.discard(self.names.of(state))

    @rule(state=st.sampled_from(OF_OUR_WORK))
    def move_on(self, state: State) -> None:
        self.state = state
        self._show()

    @rule()
    def look_after_the_labels(self) -> None:
        wish, before = wish_in(self.shown, self.state, self.names), self.state
        if wish is Wish.NOTHING:
            return
        granted = {Wish.PAUSE: State.PAUSED, Wish.STOP: State.STOPPED, Wish.RESUME: State.PROCESSING}
        self.state = granted.get(wish, self.state)
        assert wish is Wish.PUT_RIGHT or self.state is not before
        self._show()
        assert wish_in(self.shown, self.state, self.names) is Wish.NOTHING

    @invariant()
    def peoples_labels_stay(self) -> None:
        assert "task:misc" in self.shown

    def teardown(self) -> None:
        """One look is enough for exactly one state to be shown."""
        self.look_after_the_labels()
        assert self.shown & set(self.names.states) == {self.names.of(self.state)}

    def _show(self) -> None:
        self.shown = (self.shown - set(self.names.states)) | {self.names.of(self.state)}


MACHINES = [Conversation, Labels]


@pytest.mark.req("CH-06", "CH-12")
@pytest.mark.parametrize("machine", MACHINES)
def test_no_order_of_events_breaks_the_rules(machine: type[RuleBasedStateMachine]):
    run_state_machine_as_test(machine, settings=SHORT)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.req("CH-06", "CH-12")
@pytest.mark.parametrize("machine", MACHINES)
def test_none_of_thousands_of_orders_of_events_breaks_the_rules(machine: type[RuleBasedStateMachine]):
    run_state_machine_as_test(machine, settings=FULL)
