"""What we answer to commands, in both languages."""

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.budget import Budget, Spending
from hikitsugi.domain.commands import Word
from hikitsugi.domain.conversation import Usage
from hikitsugi.domain.life import Life
from hikitsugi.domain.policy import Language
from hikitsugi.messages import budget, commands

ISSUE = IssueAddress(forge="github", repository="octo/repo", number=1)
REQUEST = "https://forge.example/octo/repo/pull/2"
LANGUAGES: list[Language] = ["ja", "en"]


@pytest.mark.req("OP-03")
def test_a_status_in_japanese_tells_every_fact_it_has():
    life = Life(sessions=2, comments_processed=3, change_request=REQUEST, error="The key is refused.")
    life.spending = Spending(llm_calls=7, cost_usd=0.5)
    assert commands.status("ja", life.status(ISSUE, "コメントの返信")).splitlines() == [
        "## 現在の状態",
        "",
        "- **状態**: `processing`",
        "- **待っているもの**: コメントの返信",
        "- **セッション**: 2",
        "- **モデル呼び出し**: 7 ($0.5000)",
        "- **コメント**: 処理済み 3、未処理 0",
        f"- **変更**: {REQUEST}",
        "- **エラー**: The key is refused.",
    ]


@pytest.mark.req("OP-03")
def test_a_status_in_english_leaves_out_what_there_is_not():
    life = Life(spending=Spending(llm_calls=1, cost_usd=None))
    assert commands.status("en", life.status(ISSUE, "")).splitlines() == [
        "## Status",
        "",
        "- **State**: `processing`",
        "- **Waits for**: -",
        "- **Session**: 0",
        "- **Model calls**: 1 (unknown)",
        "- **Comments**: 0 processed, 0 pending",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_unknown_command_is_answered_with_every_word_we_know(language: Language):
    told = commands.not_understood(language)
    assert [line.split("`")[1] for line in told.splitlines() if line.startswith("- ")] == [f"/{word}" for word in Word]
    assert all(line.split("`")[2].strip() for line in told.splitlines() if line.startswith("- "))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("word", Word)
def test_a_command_without_a_meaning_now_is_named_in_the_answer(language: Language, word: Word):
    told = commands.not_now(language, word)
    assert f"`/{word}`" in told
    assert "`/status`" in told


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_answer_looks_like_a_result(language: Language):
    told = [commands.not_understood(language), commands.status(language, Life().status(ISSUE, ""))]
    assert not any(each.startswith(("## 実行完了", "## Done")) for each in told)


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_the_forge_keeps_the_slash_to_itself_commands_are_shown_after_our_name(language: Language):
    now = Life().status(ISSUE, "")
    told = [commands.not_understood(language, "our-bot"), commands.not_now(language, Word.APPROVE, "our-bot")]
    asked = [budget.awaits(language, "our-bot"), budget.is_no_amount(language, "our-bot")]
    asked.append(budget.is_used_up(language, now, Budget(usd=1), {}, "our-bot"))
    assert all(f"`@our-bot {word}`" in told[0] for word in Word)
    assert all("`@our-bot budget 8`" in text for text in asked)
    assert not any("`/" in text for text in told + asked)


@pytest.mark.req("OP-03")
@pytest.mark.parametrize(
    ("language", "told"),
    [("ja", "- 作業: 費用不明\n- 計画作成: $0.1250"), ("en", "- Work: unknown cost\n- Planning: $0.1250")],
)
def test_what_was_spent_on_a_phase_is_unknown_as_soon_as_one_of_its_prices_is(language: Language, told: str):
    life = Life()
    for cost in (0.5, None, 0.25):
        life.spend(Usage(), cost)
    asked = budget.is_used_up(language, life.status(ISSUE, ""), Budget(tokens=40), {**life.spent_on, "planning": 0.125})
    assert told in asked
    assert "$0.0000" not in asked
