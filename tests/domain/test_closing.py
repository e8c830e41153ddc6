"""Which comments close a conversation: those that say nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS
from hikitsugi.domain.closing import closes

CLOSING = [
    "ありがとう",
    "ありがとうございます",
    "ありがとうございました!",
    "ありがとうございました🙏",
    "ありがとう〜♪",
    "どうもありがとう",
    "助かりました、ありがとうございます",
    "お疲れ様でした。ありがとうございました。",
    "確認しました。ありがとうございます。",
    "完了",
    "完了です。",
    "完了しました",
    "問題ありません。完了です。",
    "OKです！",
    "ＯＫです",
    "了解",
    "了解しました。",
    "承知いたしました",
    "了解です、ありがとうございました",
    "OK ありがとう",
    "Thanks、助かりました",
    "@hikitsugi-bot ありがとう",
    "OK",
    "ok",
    "ok, thanks",
    "thanks",
    "THANKS",
    "Thank you very much!",
    "Thanks a lot 🎉",
    "Thank you for the fix",
    "Perfect, thank you :)",
    "LGTM, thanks",
    "thanks, looks good to me",
    "Thanks, it works.",
    "All done, thanks!",
    "**Done**",
    "complete",
    "Thanks!\n\n```\n12 passed\n```",
]
INSIDE_OTHER_WORDS = ["token", "look", "broken", "The token is broken", "tokens", "incomplete", "completed", "ok.py"]
NEGATED = [
    "まだ完了していません",
    "完了していません",
    "完了しない",
    "完了はまだ",
    "未完了です",
    "OKではありません",
    "OKじゃない",
    "了解できません",
    "not done yet",
    "not ok",
    "It is not complete",
    "I am not done",
    "no thanks",
    "thanks for nothing",
]
ASKING = [
    "完了しましたか？",
    "完了ですか",
    "テストは完了?",
    "OKですか",
    "ok?",
    "Done?",
    "Is this ok",
    "done yet?",
    "OK⁉",
]
CONDITIONAL = [
    "完了したら教えてください",
    "完了後にREADMEも更新してください",
    "If the tests pass, it's done",
    "OK if CI is green",
    "thanks in advance",
]
ASKING_FOR_MORE = [
    "ありがとう。あと一点お願いします",
    "ありがとうございます。ただ、テストが落ちます。",
    "ありがとう、でもまだ動きません",
    "了解。では次に進めてください",
    "ありがとうございます。README も update お願いします",
    "thanks, but it still fails",
    "Thank you. One more thing: the README.",
    "Thanks, can you also add a test?",
    "ok\n- [ ] README",
    "Thanks! `make test` fails",
    "complete the README",
    'Please print "done" at the end',
    "OK\n```\nTraceback\n```\nis what I get",
]
NOT_SAID = ["", "  ", "👍", "LGTM", "> thanks", "> ありがとう", "> done\n\nNo, it fails.", "```\nok\n```", "`done`"]


@pytest.mark.req("CH-09")
@pytest.mark.parametrize("text", CLOSING)
def test_a_comment_of_closing_and_courteous_words_alone_closes(text: str):
    assert closes(text, COMPLETION_KEYWORDS)


@pytest.mark.req("CH-09")
@pytest.mark.lesson("P5")
@pytest.mark.parametrize(
    "text", [*INSIDE_OTHER_WORDS, *NEGATED, *ASKING, *CONDITIONAL, *ASKING_FOR_MORE, *NOT_SAID], ids=repr
)
def test_a_comment_that_says_anything_else_does_not_close(text: str):
    assert not closes(text, COMPLETION_KEYWORDS)


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


def test_the_configured_words_are_the_only_closing_ones():
    assert closes("Merci!", ["merci"])
    assert not closes("thanks", ["merci"])
    assert not closes("thanks", [])
