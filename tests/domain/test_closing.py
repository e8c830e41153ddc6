"""Which comments close a conversation: those that say nothing else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS
from hikitsugi.domain.closing import closes
from tests.domain.closing_examples import CLOSING, CLOSING_BUT_LEFT_TO_THE_MODEL
from tests.domain.open_examples import ASKING_FOR_MORE, NEGATED, OPEN

_EXAMPLES = Path(__file__).parent / "examples"


@pytest.mark.req("CH-09")
@pytest.mark.parametrize("text", CLOSING)
def test_a_comment_of_closing_and_courteous_words_alone_closes(text: str):
    assert closes(text, COMPLETION_KEYWORDS)


@pytest.mark.req("CH-09")
@pytest.mark.lesson("P5")
@pytest.mark.parametrize("text", OPEN, ids=repr)
def test_a_comment_that_says_anything_else_does_not_close(text: str):
    assert not closes(text, COMPLETION_KEYWORDS)


@pytest.mark.req("CH-09")
def test_nearly_every_closing_comment_of_a_large_table_is_recognised():
    meant = [*CLOSING, *CLOSING_BUT_LEFT_TO_THE_MODEL]
    recognised = [text for text in meant if closes(text, COMPLETION_KEYWORDS)]
    assert len({*meant, *OPEN}) == len(meant) + len(OPEN) >= 250
    assert len(recognised) >= 0.95 * len(meant)


@pytest.mark.req("CH-09")
def test_hundreds_of_further_comments_are_judged_without_one_wrong_closing():
    closing, still_open = (_EXAMPLES / "closing.txt").read_text(), (_EXAMPLES / "open.txt").read_text()
    assert [text for text in still_open.splitlines() if closes(text, COMPLETION_KEYWORDS)] == []
    recognised = [closes(text, COMPLETION_KEYWORDS) for text in closing.splitlines()]
    assert sum(recognised) >= 0.95 * len(recognised)


@pytest.mark.req("CH-09")
@given(word=st.sampled_from(COMPLETION_KEYWORDS), letter=st.sampled_from("abcxyz019"), in_front=st.booleans())
def test_no_keyword_counts_inside_a_longer_latin_word(word: str, letter: str, *, in_front: bool):
    longer = f"{letter}{word}" if in_front else f"{word}{letter}"
    assert not closes(longer, COMPLETION_KEYWORDS)


@pytest.mark.req("CH-09")
@given(word=st.sampled_from(COMPLETION_KEYWORDS), more=st.sampled_from([*NEGATED, *ASKING_FOR_MORE]))
def test_a_closing_word_never_outweighs_what_else_is_said(word: str, more: str):
    assert not closes(f"{word}\n\n{more}", COMPLETION_KEYWORDS)
    assert not closes(f"{more}\n\n{word}", COMPLETION_KEYWORDS)


@pytest.mark.req("CH-09")
@given(
    st.sampled_from(CLOSING),
    st.sampled_from(["しかし", "ただ", "まだ", "but", "not", "if", "please", "?", "か", "ない", "なら", "よね"]),
)
def test_one_doubtful_word_after_a_closing_comment_keeps_the_conversation_open(text: str, doubt: str):
    assert not closes(f"{text} {doubt}", COMPLETION_KEYWORDS)


@given(st.text(max_size=300))
def test_any_text_is_judged(text: str):
    assert closes(text, COMPLETION_KEYWORDS) in {True, False}


def test_the_configured_words_are_the_only_closing_ones():
    assert closes("Merci!", ["merci"])
    assert not closes("thanks", ["merci"])
    assert not closes("thanks", [])
    assert not closes("thx", ["merci"])
    assert closes("りょうかいです", ["了解"])


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "phrase",
    [
        "本番でも",
        "手元の環境でも",
        "問題なく",
        "ご対応",
        "内容",
        "動作確認",
        "こちらで",
        "now ",
        "this is all ",
        "thanks for all ",
    ],
)
def test_a_phrase_said_over_and_over_is_judged_at_once(phrase: str):
    assert not closes("完了 " + phrase * (280 // len(phrase)) + "x", COMPLETION_KEYWORDS)
