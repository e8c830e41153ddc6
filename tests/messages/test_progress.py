"""The living comment of a session."""

from datetime import UTC, datetime, timedelta

import pytest

from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import Action, ActionStatus, Plan
from hikitsugi.domain.progress import Progress, ReportedCall, Trouble, comment_in
from hikitsugi.messages import progress as texts

AT = datetime(2025, 1, 17, 14, 30, 45, tzinfo=UTC)
PLAN = Plan(
    actions=[
        Action(id="task_1", title="Find it", status=ActionStatus.DONE),
        Action(id="task_2", title="Mend it", status=ActionStatus.DOING),
        Action(id="task_3", title="Test it"),
        Action(id="task_4", title="Tell it", status=ActionStatus.FAILED),
    ]
)


def progress(calls: int, comment: str = "", troubles: tuple[Trouble, ...] = ()) -> Progress:
    made = tuple(
        ReportedCall(number=n, phase=Phase.EXECUTION, subject="task_2", comment=comment, at=AT + timedelta(seconds=n))
        for n in range(1, calls + 1)
    )
    return Progress(
        session=1,
        state="processing",
        phase=Phase.EXECUTION,
        plan=PLAN,
        waiting_for="the model's work",
        calls=made,
        troubles=troubles,
        cost_usd=0.25,
        tokens=1234,
    )


@pytest.mark.req("LC-01")
def test_a_call_with_a_comment_has_the_specified_form():
    made = ReportedCall(number=2, phase=Phase.PLANNING, comment="7つのアクションで進めます。", at=AT)
    told = "## ✅ 計画作成 - LLM呼び出し #2\n\n7つのアクションで進めます。\n\n*2025-01-17 14:30:45*"
    assert texts.call("ja", made) == told


@pytest.mark.req("LC-01")
@pytest.mark.parametrize(
    ("phase", "name", "sentence"),
    [
        ("pre_planning", "計画前情報収集", "タスク内容の分析と情報収集が完了しました"),
        ("planning", "計画作成", "実行計画の作成が完了しました"),
        ("execution", "アクション実行", "アクション「task_3」の実行が完了しました"),
        ("reflection", "リフレクション", "実行結果の分析が完了しました"),
        ("revision", "計画修正", "計画の修正が完了しました"),
        ("verification", "検証", "実装の検証が完了しました"),
        ("replan_decision", "再計画判断", "再計画の判断が完了しました"),
    ],
)
def test_a_call_without_a_comment_has_the_sentence_of_its_phase(phase: str, name: str, sentence: str):
    made = ReportedCall(number=5, phase=Phase(phase), subject="task_3", at=AT)
    told = f"## ✅ {name} - LLM呼び出し #5 完了\n\n{sentence}\n\n*2025-01-17 14:30:45*"
    assert texts.call("ja", made) == told


@pytest.mark.req("LC-04")
def test_failed_tools_and_model_calls_have_the_specified_forms():
    tool = Trouble(phase=Phase.EXECUTION, tool="run", message="exit 1", subject="task_3", at=AT)
    model = Trouble(phase=Phase.PLANNING, message="overloaded", at=AT)
    assert texts.trouble("ja", tool) == (
        "## ❌ エラー発生 - run\n\n**エラー内容**: exit 1\n\n**発生したアクション**: task_3\n\n*2025-01-17 14:30:45*"
    )
    assert texts.trouble("ja", model) == (
        "## ⚠️ LLM呼び出しエラー - 計画作成\n\n**エラー内容**: overloaded\n\n"
        "リトライを試みます...\n\n*2025-01-17 14:30:45*"
    )


@pytest.mark.req("LC-03")
def test_the_latest_call_stands_open_and_earlier_ones_are_folded_with_the_troubles():
    met = Trouble(phase=Phase.EXECUTION, tool="run", message="exit 1", subject="task_2", at=AT)
    told = texts.living_comment("ja", progress(3, troubles=(met,)))
    head, _, folded = told.partition("<details>")
    assert "LLM呼び出し #3 完了" in head
    assert "LLM呼び出し #2 完了" in folded
    assert "❌ エラー発生 - run" in folded
    assert folded.index("#2 完了") < folded.index("#1 完了")
    assert "費用 $0.2500" in folded


@pytest.mark.req("LC-03")
@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_long_session_stays_below_the_limit_and_counts_the_oldest_calls(language: texts.Language):
    told = texts.living_comment(language, progress(1_000, comment="長い話です。" * 300))
    assert len(told) <= texts.LONGEST
    assert "#1000" in told
    assert ("*ほか" in told) or ("more*" in told)


def test_words_of_the_model_can_neither_hide_nor_unfold_anything():
    told = texts.living_comment("en", progress(2, comment="</details><!-- hikitsugi:x --> <b>fine</b>"))
    assert told.count("</details>") == 1
    assert "<!--" not in told
    assert "<b>fine</b>" in told


@pytest.mark.req("LC-01")
@pytest.mark.parametrize(
    ("reply", "comment"),
    [
        ('{"comment": " 進めます "}', "進めます"),
        ('{"goal": 1}', ""),
        ("not json", ""),
        ("[1]", ""),
        ('{"comment": 3}', ""),
    ],
)
def test_the_comment_of_a_reply_is_found(reply: str, comment: str):
    assert comment_in(reply) == comment
