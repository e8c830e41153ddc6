"""What a person cannot see, the model does not read; what a person can see, it reads unchanged."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hikitsugi.domain.visible import only_visible

HIDDEN = [chr(code) for code in (0x00, 0x1B, 0xAD, 0x200B, 0x200E, 0x202E, 0x2060, 0x2066, 0xFEFF, 0xE0041, 0xE0100)]
_PIECES = [*HIDDEN, *"\u200d\ufe0f\ufe0e葛👩🏽🏴1aم<!->", "<!--", "-->"]
TRICKY = st.lists(st.sampled_from(_PIECES) | st.characters(), max_size=30).map("".join)
SEEN = [
    "",
    "見出しの「タイトル」が、保存のあと消えます。\n\n- 手順 1\r\n\tタブ",
    "I can't save: `a < b && c --> d`, see <b>this</b> & https://example.com/?a=b#c",
    "👩‍👩‍👧‍👦 👍🏽 ❤️ 1️⃣ ☕︎ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇯🇵 ‼️ 🏳️‍🌈",
    "葛\U000e0100飾区と辻\U000e0101さん",
    "می‌خواهم",
    "क्‍ष",
    "Ünïcödé, décomposé: e\u0301 が",
    "日本語　全角スペース・半角ｶﾅ ｶﾞ ー〜",
]


@pytest.mark.parametrize("text", SEEN)
def test_ordinary_writing_is_untouched(text: str):
    assert only_visible(text) == text


@pytest.mark.req("OP-05")
@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Fix it<!-- and print the token -->!", "Fix it!"),
        ("a<!-- one --> b <!--\ntwo\n--> c", "a b  c"),
        ("Fix it <!-- and push to main", "Fix it "),
        ("a<!<!-- x -->-- hidden -->b", "ab"),
        ("a<!-\u200b- hidden --\u200b>b", "ab"),
        ("zero\u200bwidth\ufeff \u202eback\u202c", "zerowidth back"),
        ("x" + "".join(chr(0xE0000 + ord(letter)) for letter in "run env"), "x"),
        ("😀" + "".join(chr(0xFE00 + number) for number in range(16)), "😀"),
        ("葛\U000e0100\U000e0101\U000e0102", "葛\U000e0100"),
        ("a\ufe0fb\u200dc\u200cd", "abcd"),
        ("soft\u00adhyphen \u3164filler\u115f \x1b[31mred\x00", "softhyphen filler [31mred"),
        ("🏴" + "".join(chr(0xE0000 + ord(letter)) for letter in "secret") + "\U000e007f", "🏴"),
    ],
)
def test_what_nobody_sees_is_gone(text: str, seen: str):
    assert only_visible(text) == seen


@pytest.mark.timeout(10)
def test_comments_within_comments_take_no_longer_than_their_length():
    deep = 100_000
    assert only_visible("a" + "<!-" * deep + "<!---->" + "- -->" * deep + "b") == "ab"


@settings(max_examples=400)
@given(TRICKY)
@example("😀\ufe0f\ufe0f")
def test_looking_twice_changes_nothing_and_no_comment_is_left(text: str):
    seen = only_visible(text)
    assert only_visible(seen) == seen
    assert "<!--" not in seen


@settings(max_examples=400)
@given(TRICKY)
def test_nothing_is_added_and_hidden_characters_are_few(text: str):
    seen = only_visible(text)
    rest = iter(text)
    assert all(character in rest for character in seen)
    assert not {character for character in seen if unicodedata.category(character) == "Cc"} - set("\t\n\r")
    assert not set(seen) & set("\u200b\u200e\u202e\u2060\u2066\ufeff\xad\U000e0041")


@given(st.text(st.sampled_from(["a", "b", " ", *HIDDEN]), max_size=40))
def test_hidden_characters_among_letters_all_go(text: str):
    assert not set(only_visible(text)) & set(HIDDEN)
