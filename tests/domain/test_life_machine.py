"""Whatever the order of events: no comment is lost or told twice, and the labels can always be put in order."""

from collections import Counter
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
from hikitsugi.domain.waiting import Waiting
from tests.domain.closing_examples import CLOSING
from tests.domain.open_examples import ASKING_FOR_MORE

SHORT = settings(max_examples=150, stateful_step_count=30)
FULL = settings(max_examples=5000, stateful_step_count=30)
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
STRANGER = "mallory"
MOST = 5
COMMAND = "/status"
texts = st.sampled_from(CLOSING) | st.sampled_from(ASKING_FOR_MORE) | st.just(COMMAND)


class Conversation(RuleBasedStateMachine):
    """People write, edit and delete; the watcher repeats itself; the workflow asks, tells and is carried on."""

    def __init__(self) -> None:
        super().__init__()
        self.life = Life()
        self.forge: dict[str, Comment] = {}
        self.written = 0
        self.delivered: list[Comment] = []
        self.asked: list[tuple[Comment, Waiting]] | None = None
        self.telling: tuple[Waiting, ...] = ()
        self.told: list[str] = []
        self.closing: list[str] = []
        self.obeyed: list[str] = []

    @precondition(lambda self: self.written < MOST)
    @rule(author=st.sampled_from(["alice", "maria", STRANGER]), body=texts, watched=st.booleans())
    def write(self, author: str, body: str, *, watched: bool) -> None:
        self.written += 1
        new = Comment(id=str(self.written), author=author, body=body, updated_at=BEGINNING, watched=watched)
        self._publish(new)

    @precondition(lambda self: self.forge)
    @rule(which=st.integers(0, MOST - 1), body=texts)
    def edit(self, which: int, body: str) -> None:
        old = list(self.forge.values())[which % len(self.forge)]
        later = (old.updated_at or BEGINNING) + timedelta(seconds=1)
        self._publish(old.model_copy(update={"body": body, "updated_at": later}))

    @precondition(lambda self: self.forge)
    @rule(which=st.integers(0, MOST - 1))
    def delete(self, which: int) -> None:
        del self.forge[list(self.forge)[which % len(self.forge)]]

    @precondition(lambda self: self.delivered)
    @rule(which=st.integers(0, 3 * MOST))
    def deliver_again(self, which: int) -> None:
        self.life.receive(self.delivered[which % len(self.delivered)])

    @precondition(lambda self: self.life.pending and self.asked is None)
    @rule()
    def ask_who_counts(self) -> None:
        asked = self.life.next_pending
        self.asked = [(comment, Waiting.of(comment)) for comment in asked if self._counts(comment)]
        self.strangers = [comment for comment in asked if not self._counts(comment)]

    def _counts(self, comment: Comment) -> bool:
        return comment.author != STRANGER and comment.version not in self.told

    @precondition(lambda self: self.asked is not None)
    @rule()
    def learn_who_counts(self) -> None:
        accepted, self.asked = self.asked or [], None
        waiting = [self._weighed(comment, waiting) for comment, waiting in accepted if comment.body != COMMAND]
        self.life.hear([*self.strangers, *(comment for comment, _ in accepted)], waiting)
        commands = [comment for comment, _ in accepted if comment.body == COMMAND]
        self.obeyed += [comment.id for comment in commands if self.life.is_new_command(comment.id)]

    def _weighed(self, comment: Comment, waiting: Waiting) -> Waiting:
        return waiting.model_copy(update={"closing": closes(comment.body, COMPLETION_KEYWORDS)})

    @precondition(lambda self: self.life.heard and not self.telling)
    @rule()
    def begin_to_tell(self) -> None:
        if self.life.only_closing_is_heard:
            self.closing += [waiting.version for waiting in self.life.heard.values()]
            self.life.heard = {}
        else:
            self.telling = self.life.next_heard
            newest = [self.forge[waiting.id] for waiting in self.telling if waiting.id in self.forge]
            self.being_told = [comment.version for comment in newest if comment.body != COMMAND]
            self.told += self.being_told

    @precondition(lambda self: self.telling)
    @rule()
    def have_told(self) -> None:
        told, self.telling = self.telling, ()
        self.life.forget_heard([*self.being_told, *(waiting.version for waiting in told)])

    @precondition(lambda self: not self.telling)
    @rule()
    def stop_or_fail(self) -> None:
        self.life.pass_over()
        assert not self.life.somebody_writes

    @precondition(lambda self: self.life.heard and not self.telling)
    @rule()
    def rest(self) -> None:
        before = dict(self.life.heard)
        self.life.forget_thanks()
        gone = [waiting for waiting in before.values() if waiting.id not in self.life.heard]
        assert all(waiting.closing for waiting in gone)
        self.closing += [waiting.version for waiting in gone]

    @precondition(lambda self: self.asked is None and not self.telling)
    @rule()
    def carry_on_in_a_fresh_run(self) -> None:
        self.life = Life.model_validate_json(self.life.model_dump_json())

    @invariant()
    def nothing_is_told_or_obeyed_twice(self) -> None:
        assert len(self.told) == len(set(self.told))
        assert len(self.obeyed) == len(set(self.obeyed))

    @invariant()
    def strangers_are_never_heard(self) -> None:
        theirs = {comment.version for comment in self.delivered if comment.author == STRANGER}
        heard = {waiting.version for waiting in self.life.heard.values()}
        assert not theirs & {*heard, *self.told, *self.closing}

    def teardown(self) -> None:
        """In the end, all that accepted people wrote was told in its newest text, obeyed, or was a closing word."""
        while self.life.pending or self.asked is not None or self.life.heard or self.telling:
            if self.telling:
                self.have_told()
            if self.asked is None and self.life.pending:
                self.ask_who_counts()
            if self.asked is not None:
                self.learn_who_counts()
            if self.life.heard:
                self.begin_to_tell()
        self.nothing_is_told_or_obeyed_twice()
        for comment in self.forge.values():
            if comment.author != STRANGER:
                dealt_with = self.obeyed if comment.body == COMMAND else [*self.told, *self.closing]
                assert (comment.id if comment.body == COMMAND else comment.version) in dealt_with

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
    assert _sequences(machine, SHORT) >= SHORT.max_examples


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.req("CH-06", "CH-12")
@pytest.mark.parametrize("machine", MACHINES)
def test_none_of_thousands_of_orders_of_events_breaks_the_rules(machine: type[RuleBasedStateMachine]):
    assert _sequences(machine, FULL) >= FULL.max_examples == 5000


def _sequences(machine: type[RuleBasedStateMachine], how: settings) -> int:
    """Live through sequences of events; how many there were."""
    lived: Counter[str] = Counter()

    class Counted(machine):
        def teardown(self) -> None:
            super().teardown()
            lived["sequences"] += 1

    run_state_machine_as_test(Counted, settings=how)
    return lived.total()
