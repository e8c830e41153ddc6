"""The rules of a plan: order, skipping, refusals, revisions and ticks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hikitsugi.domain.plan import ActionStatus, Plan, Sketch, TurnRef

SOURCE = TurnRef(conversation="c", sequence=1)
LATER = TurnRef(conversation="d", sequence=3)


def sketch(action: str, *after: str) -> Sketch:
    return Sketch.of(action, f"Do {action}", after)


def plan(*sketches: Sketch, done: str = "", failed: str = "") -> Plan:
    made = Plan()
    made.replace(sketches, SOURCE)
    for action in made.actions:
        if action.id in done:
            action.status = ActionStatus.DONE
        if action.id in failed:
            action.status = ActionStatus.FAILED
    return made


def carried_out(made: Plan) -> list[str]:
    """The order in which the actions run."""
    order: list[str] = []
    while action := made.next():
        action.status = ActionStatus.DONE
        order.append(action.id)
    return order


@pytest.mark.req("PL-02")
@pytest.mark.parametrize(
    ("sketches", "order"),
    [
        ([sketch("a"), sketch("b")], "ab"),
        ([sketch("b", "a"), sketch("a")], "ab"),
        ([sketch("c", "a", "b"), sketch("b", "a"), sketch("a")], "abc"),
        ([sketch("a"), sketch("c", "b"), sketch("b")], "abc"),
    ],
)
def test_actions_run_in_the_order_of_their_dependencies(sketches: list[Sketch], order: str):
    assert "".join(carried_out(plan(*sketches))) == order


@pytest.mark.req("PL-02")
@given(st.lists(st.sets(st.integers(0, 7), max_size=3), min_size=1, max_size=8))
def test_whatever_the_plan_it_is_refused_or_every_action_runs_after_what_it_needs(edges: list[set[int]]):
    sketches = [sketch(f"t{n}", *(f"t{other}" for other in sorted(needs))) for n, needs in enumerate(edges)]
    made = plan(*sketches)
    order = carried_out(made)
    if made.problem_with(sketches, most=50) is None:
        assert sorted(order) == sorted(each.id for each in sketches)
        for each in sketches:
            assert all(order.index(one) < order.index(each.id) for one in each.dependencies)
    else:
        assert len(order) < len(sketches)


@pytest.mark.req("PL-02")
def test_the_action_under_way_comes_first_after_an_interruption():
    made = plan(sketch("a"), sketch("b"))
    made.find("b").status = ActionStatus.DOING
    assert made.next() is made.find("b")


@pytest.mark.req("PL-02")
def test_whatever_hangs_on_a_failed_action_is_skipped_however_far():
    made = plan(sketch("a"), sketch("b", "a"), sketch("c", "b"), sketch("d"), failed="a")
    assert carried_out(made) == ["d"]
    assert [str(item.status) for item in made.items()] == ["failed", "skipped", "skipped", "done"]


@pytest.mark.req("PL-01")
@pytest.mark.parametrize(
    ("sketches", "problem"),
    [
        ([sketch("a", "b"), sketch("b", "a")], "in a circle"),
        ([sketch("a", "a")], "in a circle"),
        ([sketch("a", "z")], "a depends on z, which is not in the plan"),
        ([sketch("a"), sketch("a")], "used more than once"),
        ([sketch("x")], "the id x belongs to an action that stays"),
        ([sketch("a"), sketch("b"), sketch("c"), sketch("d")], "at most 3 are allowed"),
    ],
)
def test_a_plan_that_could_not_be_carried_out_is_refused_with_the_reason(sketches: list[Sketch], problem: str):
    assert problem in str(plan().problem_with(sketches, most=4, beside=["x"]))


def test_new_actions_may_depend_on_those_that_stay():
    assert plan().problem_with([sketch("b", "x")], most=4, beside=["x"]) is None


@pytest.mark.req("PL-03")
def test_a_revision_keeps_what_is_done_and_what_failed_and_drops_what_is_open():
    made = plan(sketch("a"), sketch("b"), sketch("c"), done="a", failed="b")
    made.revise([sketch("d", "a")], LATER)
    assert [(each.id, str(each.status)) for each in made.actions] == [("a", "done"), ("b", "failed"), ("d", "todo")]
    assert made.find("d").source == LATER


@pytest.mark.req("PL-03")
def test_a_failed_action_may_be_tried_again_under_its_id():
    made = plan(sketch("a"), failed="a")
    made.revise([sketch("a")], LATER)
    assert [(each.id, str(each.status)) for each in made.actions] == [("a", "todo")]


@pytest.mark.req("PL-05")
@pytest.mark.parametrize(("keep", "ids"), [(True, ["a", "z"]), (False, ["z"])])
def test_ticks_survive_a_partial_replan_and_no_other(ids: list[str], *, keep: bool):
    made = plan(sketch("a"), sketch("b"), done="a")
    made.replace([sketch("z")], LATER, keep_done=keep)
    assert [each.id for each in made.actions] == ids


@pytest.mark.req("PL-05")
def test_a_retry_gives_what_failed_or_was_skipped_another_chance():
    made = plan(sketch("a"), sketch("b", "a"), sketch("c"), done="c", failed="a")
    made.next()
    made.retry()
    assert [str(each.status) for each in made.actions] == ["todo", "todo", "done"]


def test_a_long_title_is_cut_to_one_line():
    assert len(Sketch.of("a", "word\n" * 100, ()).title) == 80
    assert "\n" not in Sketch.of("a", "two\nlines", ()).title
