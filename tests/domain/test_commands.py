"""Which comments are commands: those whose first word is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hikitsugi.domain.commands import Command, Word, command_in

BOT = "hikitsugi-bot"


@pytest.mark.req("PR-03")
@pytest.mark.parametrize("word", Word)
@pytest.mark.parametrize("form", ["/{}", "  /{}\n", "@hikitsugi-bot {}", "@hikitsugi-bot: {}", "@hikitsugi-bot, /{}"])
def test_every_word_is_a_command_with_a_slash_and_to_the_bot(word: Word, form: str):
    for written in (word, word.upper(), word.capitalize()):
        assert command_in(form.format(written), BOT) == Command(word=word)


@pytest.mark.req("PR-03")
@pytest.mark.parametrize(
    ("body", "word", "text"),
    [
        ("/pause until the release", Word.PAUSE, "until the release"),
        ("/pause\nuntil the release\n", Word.PAUSE, "until the release"),
        ("/revise README も直してください", Word.REVISE, "README も直してください"),
        ("/revise\n\n1. tests\n2. docs", Word.REVISE, "1. tests\n2. docs"),
        ("/budget 2.50", Word.BUDGET, "2.50"),
        ("/stop, please", Word.STOP, ", please"),
        ("/stop!", Word.STOP, "!"),
        ("@Hikitsugi-Bot Stop wrong issue", Word.STOP, "wrong issue"),
        ("@hikitsugi-bot\nstatus", Word.STATUS, ""),
        ("@hikitsugi-bot、pause", Word.PAUSE, ""),
        ("@hikitsugi-bot：stop 別の方法で", Word.STOP, "別の方法で"),
        ("／stop 別の方法で", Word.STOP, "別の方法で"),
        ("/停止", None, None),
        ("/stop /pause", Word.STOP, "/pause"),
    ],
)
def test_what_follows_the_word_is_its_text(body: str, word: Word | None, text: str | None):
    expected = None if text is None else Command(word=word, text=text)
    assert command_in(body, BOT) == expected


@pytest.mark.parametrize("body", ["/help", "/PAUSED", "/close", "/merge-request", "/lgtm", "/stop-it", "/pauses"])
def test_an_unknown_word_after_a_slash_is_a_command_we_do_not_know(body: str):
    found = command_in(body, BOT)
    assert found is not None
    assert found.word is None


@pytest.mark.req("PR-03")
@pytest.mark.parametrize(
    "body",
    [
        "/buget 8",
        "/revsie use tabs",
        "/aprove looks good",
        "/stpo wrong issue",
        "/puase until Monday",
        "/resme\nplease",
        "/staus?",
        "/retyr now",
        "/stopp 別の方法で",
    ],
)
def test_a_misspelt_word_is_a_command_we_do_not_know_whatever_follows(body: str):
    found = command_in(body, BOT)
    assert found is not None
    assert found.word is None


@pytest.mark.parametrize(
    "body",
    [
        "",
        "/",
        "//",
        "// stop",
        "/ stop",
        "/etc/hosts is wrong",
        "/usr/bin",
        "/stop/",
        "/status.txt is empty",
        "/stop_words",
        "/pause2",
        "pause",
        "stop",
        "Please /stop",
        "> /stop",
        "`/stop`",
        "I typed /pause\n/stop",
        "and\n/stop",
        "https://forge.example/stop",
        "@hikitsugi-bot",
        "@hikitsugi-bot please stop",
        "@hikitsugi-bot ありがとう",
        "@hikitsugi-bot stopping is fine",
        "@hikitsugi-bots stop",
        "@hikitsugi-botstop",
        "@other-bot stop",
        "hikitsugi-bot stop",
        "Hello @hikitsugi-bot stop",
        "/login shows an error",
        "/page is empty",
        "/state is wrong",
        "/store returns 500",
        "/users and /orders are slow",
        "/revert the last commit",
        "@hikitsugi-bot step 2 fails",
    ],
)
def test_paths_talk_and_words_further_on_are_no_commands(body: str):
    assert command_in(body, BOT) is None


def test_without_a_name_only_a_slash_commands():
    assert command_in("@hikitsugi-bot stop", None) is None
    assert command_in("/stop", None) == Command(word=Word.STOP)


def test_a_bots_name_is_taken_literally():
    assert command_in("@hikitsugi[bot] stop", "hikitsugi[bot]") == Command(word=Word.STOP)
    assert command_in("@hikitsugib stop", "hikitsugi[bot]") is None


@pytest.mark.req("PR-03")
def test_an_app_is_commanded_by_the_name_that_people_write():
    assert command_in("@hikitsugi stop", "hikitsugi[bot]") == Command(word=Word.STOP)
    assert command_in("@hikitsugi-two stop", "hikitsugi[bot]") is None


@given(word=st.sampled_from(Word), text=st.text("ab ぁ/.\n", max_size=20))
def test_a_known_word_keeps_its_text_whatever_it_is(word: Word, text: str):
    assert command_in(f"/{word} {text}", BOT) == Command(word=word, text=text.strip())


@given(st.text(max_size=100))
def test_any_text_is_judged(body: str):
    found = command_in(body, BOT)
    assert found is None or body.lstrip().startswith(("/", "@"))
