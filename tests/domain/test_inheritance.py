"""What is inherited fits, is told in the specified order of reduction, and names nobody."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.handover import Attempts, Context, PlanRecord
from hikitsugi.domain.inheritance import PREFIX, inherited_text, without_names
from hikitsugi.domain.policy import InheritanceTerms
from hikitsugi.domain.session import Ending
from hikitsugi.language_model.tokens import estimate

WORDS = "消費税の端数処理をレシート単位に直した。 The parser failed on 3 files; テスト成功 @hanako 🎉 \n- #`|"
prose = st.text(WORDS, max_size=300)
several = st.lists(prose, max_size=4).map(tuple)
plans = st.lists(st.builds(PlanRecord, goal=prose, outline=several, details=several), max_size=4).map(tuple)
attempts = st.builds(
    Attempts, succeeded=st.integers(0, 99), failed=st.integers(0, 99), failures=several, succeeded_with=several
)
contexts = st.builds(
    Context,
    id=st.just("ab12cd34ef56"),
    issue=st.just(IssueAddress(forge="github", repository="octo/repo", number=1)),
    session=st.just(1),
    ending=st.just(Ending.COMPLETED),
    ended_at=st.just(datetime(2026, 1, 1, tzinfo=UTC)),
    summary=prose.filter(str.strip),
    older_summaries=several,
    plans=plans,
    attempts=attempts,
    verifications=several,
    reflections=several,
    recommendations=several,
)
terms = st.builds(
    InheritanceTerms,
    max_tokens=st.integers(1, 2000),
    planning=st.booleans(),
    inherit_plans=st.booleans(),
    inherit_verifications=st.booleans(),
    inherit_reflections=st.booleans(),
    max_previous_plans=st.integers(0, 3),
    reuse_successful_patterns=st.booleans(),
)

FULL = Context(
    id="k",
    issue=IssueAddress(forge="github", repository="octo/repo", number=1),
    session=3,
    ending=Ending.STOPPED,
    ended_at=datetime(2026, 1, 1, tzinfo=UTC),
    summary="要約" * 20,
    older_summaries=("oldest summary " * 5, "older summary " * 5),
    plans=(PlanRecord(goal="Fix it", outline=("a read (done)",), details=("a read (done) | purpose: " + "x" * 60,)),),
    attempts=Attempts(succeeded=2, failed=1, failures=("run pytest: 1 failed",), succeeded_with=("run make",)),
    verifications=("Round 1 failed: the tax is wrong",),
    reflections=("partial: the rounding was misread",),
    recommendations=("Still to be done: b mend it",),
)
HEADINGS = ("Previous Plan Summary", "Execution History", "Verification History", "Recommendations")
SIGNS = {
    "oldest": "oldest summary",
    "older": "older summary",
    "detail": "purpose:",
    "outline": "a read (done)",
    "tools": "Execution History",
    "verification": "Round 1 failed",
    "summary": "要約",
}


@pytest.mark.req("CI-06", "CI-10", "CI-12")
@pytest.mark.lesson("C21")
@given(context=contexts, given_terms=terms)
@example(context=FULL, given_terms=InheritanceTerms(max_tokens=10, planning=True))
def test_what_is_inherited_never_exceeds_the_limit_in_any_language(context: Context, given_terms: InheritanceTerms):
    text = inherited_text(context, given_terms, estimate)
    assert estimate(text) <= given_terms.max_tokens
    assert text == "" or text.startswith(PREFIX)
    assert "@hanako" not in text


@pytest.mark.req("CI-06")
@given(context=contexts, given_terms=terms)
def test_more_room_never_tells_less(context: Context, given_terms: InheritanceTerms):
    wider = given_terms.model_copy(update={"max_tokens": given_terms.max_tokens + 200})
    assert len(inherited_text(context, given_terms, estimate)) <= len(inherited_text(context, wider, estimate)) + len(
        " […]"
    )


@pytest.mark.req("CI-06")
@pytest.mark.lesson("C23")
def test_older_summaries_go_first_then_plan_detail_then_tool_history():
    told: list[frozenset[str]] = []
    for limit in range(2000, 0, -1):
        text = inherited_text(FULL, InheritanceTerms(max_tokens=limit, planning=True), estimate)
        signs = frozenset(name for name, sign in SIGNS.items() if sign in text)
        if not told or told[-1] != signs:
            told.append(signs)
    everything = frozenset(SIGNS)
    assert told[:5] == [
        everything,
        everything - {"oldest"},
        everything - {"oldest", "older"},
        everything - {"oldest", "older", "detail"},
        everything - {"oldest", "older", "detail", "tools"},
    ]
    assert told[5:] == [frozenset({"summary"}), frozenset()]


sizes = st.integers(0, 300)


@pytest.mark.req("CI-06")
@pytest.mark.lesson("C21")
@given(older=st.lists(sizes, max_size=4), detail=sizes, tools=sizes, limit=st.integers(60, 1500))
def test_nothing_is_left_out_before_what_has_to_go_first(older: list[int], detail: int, tools: int, limit: int):
    context = FULL.model_copy(
        update={
            "older_summaries": tuple(f"OLD{n}. {'古' * size}" for n, size in enumerate(older)),
            "plans": (PlanRecord(goal="直す", outline=("OUTLINE",), details=(f"DETAIL {'詳' * detail}",)),),
            "attempts": Attempts(failed=1, failures=(f"TOOLS {'敗' * tools}",)),
        }
    )
    told = inherited_text(context, InheritanceTerms(max_tokens=limit, planning=True), estimate)
    kept = [n for n in range(len(older)) if f"OLD{n}." in told]
    assert kept == list(range(len(older) - len(kept), len(older)))
    if "DETAIL" not in told:
        assert kept == []
    if "TOOLS" not in told:
        assert "DETAIL" not in told


@pytest.mark.req("CI-10", "CI-11")
@pytest.mark.lesson("C23")
def test_planned_work_hears_of_plan_execution_verification_and_recommendations():
    text = inherited_text(FULL, InheritanceTerms(planning=True), estimate)
    for heading in HEADINGS:
        assert f"## {heading}" in text
    assert "Goal: Fix it" in text
    assert "Successful actions: 2, failed actions: 1" in text
    assert "This worked: run make" in text


@pytest.mark.req("CI-10")
@pytest.mark.parametrize(
    ("switched_off", "gone"),
    [
        ({"inherit_plans": False}, "Goal: Fix it"),
        ({"inherit_plans": False}, "Previous Plan Summary"),
        ({"inherit_plans": False}, "b mend it"),
        ({"max_previous_plans": 0}, "Goal: Fix it"),
        ({"inherit_verifications": False}, "Round 1 failed"),
        ({"inherit_verifications": False}, "Verification History"),
        ({"inherit_reflections": False}, "misread"),
        ({"reuse_successful_patterns": False}, "This worked"),
        ({"planning": False}, "Execution History"),
    ],
)
def test_each_option_leaves_out_what_it_names(switched_off: dict[str, object], gone: str):
    everything = InheritanceTerms(planning=True)
    assert gone in inherited_text(FULL, everything, estimate)
    assert gone not in inherited_text(FULL, everything.model_copy(update=switched_off), estimate)


@pytest.mark.req("CI-10")
def test_what_was_never_recorded_is_said_to_be_missing():
    text = inherited_text(
        Context.of(FULL.issue, FULL.carried), InheritanceTerms(planning=True, reuse_successful_patterns=True), estimate
    )
    assert text.count("\n- No record.") == len(HEADINGS)


@pytest.mark.req("CI-10")
@pytest.mark.lesson("C23")
def test_the_number_of_earlier_plans_counts_plans_and_the_newest_stay():
    several = FULL.model_copy(update={"plans": tuple(PlanRecord(goal=f"goal {n}") for n in range(5))})
    text = inherited_text(several, InheritanceTerms(planning=True, max_previous_plans=2), estimate)
    assert [n for n in range(5) if f"goal {n}" in text] == [3, 4]


@pytest.mark.req("CI-09")
@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("@kenji asked, hanako agreed.", "[user] asked, [user] agreed."),
        ("Hanakoさんの依頼", "[user]さんの依頼"),
        ("担当hanakoと@tanakaさん、最後に@suzuki。", "担当[user]と[user]さん、最後に[user]。"),
        ("Ask @kenji. Then @maria-2, please.", "Ask [user]. Then [user], please."),
        ("see https://forge.example/hanako/repo and src/hanako.py", None),
        ("uses `@property` and @pytest.mark.req and @cache(1)", None),
        ("npm install @types/node", None),
        ("mail to a@example.com", None),
    ],
)
def test_people_are_left_out_and_everything_else_stays(text: str, clean: str | None):
    assert without_names(text, ["hanako"]) == (text if clean is None else clean)
