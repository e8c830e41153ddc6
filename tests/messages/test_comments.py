"""Our comments on an issue: their headings are a contract, their words are true."""

from datetime import UTC, datetime, timedelta

import pytest

from hikitsugi.domain.life import Life, Order
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import Action, ActionStatus, Plan
from hikitsugi.domain.policy import Language, Policy
from hikitsugi.domain.session import Called, Ending, Session, Talk
from hikitsugi.domain.tally import Tally
from hikitsugi.domain.tools import Submission, SubmissionStatus
from hikitsugi.domain.workspace import Published
from hikitsugi.messages import comments

DONE = Submission(status=SubmissionStatus.DONE, summary="Fixed the parser.", evidence="12 passed")
BLOCKED = Submission(status=SubmissionStatus.BLOCKED, summary="No access.", needs="a key for the registry")
PUBLISHED = Published(commit="1a2b3c4d5e6f", files_changed=3, insertions=12, deletions=4)
REQUEST = "https://forge.example/octo/repo/pull/2"


def life(language: Language, error: str | None = None) -> Life:
    called = Called(policy=Policy(language=language), title="It fails", author="alice", url="u", is_open=True)
    return Life(called=called, error=error)


@pytest.mark.req("CH-02", "OP-02")
@pytest.mark.parametrize(("language", "heading"), [("ja", "## 実行完了"), ("en", "## Done")])
@pytest.mark.parametrize("submission", [DONE, BLOCKED, None])
def test_a_result_stands_under_its_heading(language: Language, heading: str, submission: Submission | None):
    body = comments.result(language, submission, PUBLISHED, REQUEST, "")
    assert body.splitlines()[:2] == [heading, ""]
    assert body.startswith(comments.DONE_HEADINGS)


@pytest.mark.req("CH-11", "PR-02", "OP-02")
@pytest.mark.parametrize(
    ("language", "ending", "heading"),
    [
        ("ja", Ending.FAILED, "## エラーが発生しました"),
        ("en", Ending.FAILED, "## An error occurred"),
        ("ja", Ending.STOPPED, "## ⛔ タスク停止"),
        ("en", Ending.STOPPED, "## ⛔ Stopped"),
        ("ja", Ending.COMPLETED, "## ✅ 完了"),
        ("en", Ending.COMPLETED, "## ✅ Completed"),
    ],
)
def test_a_farewell_stands_under_the_heading_of_its_ending(language: Language, ending: Ending, heading: str):
    body = comments.farewell(life(language), ending, None, "the summary", "2026-03-02 12:00:00 UTC")
    assert body.splitlines()[:2] == [heading, ""]
    assert not body.startswith(comments.DONE_HEADINGS)


@pytest.mark.parametrize(("language", "files"), [("ja", "3 ファイル"), ("en", "3 files")])
def test_a_result_tells_what_was_done_how_it_was_checked_and_where_it_is(language: Language, files: str):
    body = comments.result(language, DONE, PUBLISHED, REQUEST, "a warning")
    for told in ("Fixed the parser.", "12 passed", REQUEST, f"{files}, +12 −4, `1a2b3c4d`", "a warning"):
        assert told in body


@pytest.mark.parametrize(("language", "words"), [("ja", "ファイルの変更はありません"), ("en", "No file was changed")])
def test_a_result_without_a_change_says_so(language: Language, words: str):
    body = comments.result(language, DONE, Published(commit="1a2b3c4d"), None, "")
    assert words in body
    assert "1a2b3c4d" not in body


@pytest.mark.parametrize(("language", "words"), [("ja", "途中で止まっています"), ("en", "is not finished")])
def test_blocked_work_is_told_with_what_it_needs(language: Language, words: str):
    body = comments.result(language, BLOCKED, PUBLISHED, None, "")
    assert words in body
    assert "a key for the registry" in body


@pytest.mark.lesson("C19")
@pytest.mark.parametrize(
    ("language", "words"), [("ja", "最後まで終えられませんでした"), ("en", "did not reach its end")]
)
def test_work_without_a_conclusion_is_not_told_as_a_success(language: Language, words: str):
    assert words in comments.result(language, None, PUBLISHED, REQUEST, "")


@pytest.mark.req("PR-02")
@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_stop_tells_when_by_whom_and_why(language: Language):
    order = Order(by="maria", reason="wrong issue")
    body = comments.farewell(life(language), Ending.STOPPED, order, "half done", "2026-03-02 12:00:00 UTC")
    for told in ("2026-03-02 12:00:00 UTC", "maria", "wrong issue", "half done"):
        assert told in body


@pytest.mark.req("PR-02")
@pytest.mark.parametrize(
    ("language", "progress", "phase"),
    [("ja", "- **進捗**: 1/2 完了", "- **フェーズ**: "), ("en", "- **Progress**: 1/2 done", "- **Phase**: ")],
)
def test_a_stop_tells_how_far_the_plan_was(language: Language, progress: str, phase: str):
    actions = [Action(id="a", title="One", status=ActionStatus.DONE), Action(id="b", title="Two")]
    working = life(language)
    working.session = Session(
        number=1, key="k", branch="b", talk=Talk(id="t"), phase=Phase.EXECUTION, plan=Plan(actions=actions)
    )
    body = comments.farewell(working, Ending.STOPPED, Order(), "half done", "now")
    assert progress in body
    assert phase in body


@pytest.mark.parametrize(("language", "word"), [("ja", "理由"), ("en", "Reason")])
def test_a_stop_without_a_reason_does_not_speak_of_one(language: Language, word: str):
    assert word not in comments.farewell(life(language), Ending.STOPPED, Order(), "half done", "now")


@pytest.mark.parametrize("language", ["ja", "en"])
def test_an_error_tells_its_reason(language: Language):
    failed = life(language, error="The key is refused; check llm.api_key.")
    assert "check llm.api_key" in comments.farewell(failed, Ending.FAILED, None, "", "now")


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize(("mentions", "shown"), [(False, "`/retry`"), (True, "`@our-bot retry`")])
def test_an_error_tells_how_to_try_again_as_the_forge_takes_it(language: Language, shown: str, *, mentions: bool):
    failed = life(language, error="Refused.")
    called = Called(
        policy=failed.policy.model_copy(update={"shows_mentions": mentions}),
        title="It fails",
        author="alice",
        url="",
        is_open=True,
        bot="our-bot",
    )
    told = comments.farewell(failed.model_copy(update={"called": called}), Ending.FAILED, None, "", "now")
    assert shown in told


@pytest.mark.req("CD-11")
@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("ja", "コメント: 確認 5 回、検出 3 件、追加 2 件、エラー 1 件"),
        ("en", "Comments: checks 5, found 3, added 2, errors 1"),
    ],
)
@pytest.mark.parametrize("ending", Ending)
def test_the_last_comment_of_a_session_counts_what_happened_in_it(language: Language, line: str, ending: Ending):
    ended = life(language)
    ended.checks, ended.found, ended.comments_processed, ended.errors = 15, 13, 12, 11
    ended.tally_before = Tally(checks=10, found=10, added=10, errors=10)
    assert line in comments.farewell(ended, ending, None, "", "now")


@pytest.mark.parametrize(("language", "words"), [("ja", "フォークからのリクエスト"), ("en", "comes from a fork")])
def test_a_result_on_a_request_from_a_fork_says_that_nothing_was_pushed(language: Language, words: str):
    assert words in comments.result(language, None, Published(commit="", withheld=True), None, "")


@pytest.mark.req("CH-08", "OP-02")
@pytest.mark.parametrize(
    ("language", "words"), [("ja", "1.5 時間返信がなければ、完了とします。"), ("en", "completed after 1.5 h")]
)
def test_a_result_says_how_long_a_reply_is_waited_for_if_it_is(language: Language, words: str):
    assert words in comments.result(language, DONE, PUBLISHED, REQUEST, "", awaits=timedelta(hours=1.5))
    assert words not in comments.result(language, DONE, PUBLISHED, REQUEST, "")


@pytest.mark.req("CI-01", "OP-02")
@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("ja", "2026-05-31 までは、ここまでの内容を引き継ぎます。"),
        ("en", "Until 2026-05-31 the next session takes over"),
    ],
)
@pytest.mark.parametrize("ending", Ending)
def test_a_farewell_tells_until_when_the_next_session_takes_over(language: Language, words: str, ending: Ending):
    ended = life(language)
    ended.rests_until = datetime(2026, 5, 31, tzinfo=UTC)
    assert (words in comments.farewell(ended, ending, None, "", "now")) == (ending is not Ending.FAILED)
    ended.called = ended.called and ended.called.model_copy(
        update={"policy": Policy(language=language, inherits=False)}
    )
    assert "2026-05-31" not in comments.farewell(ended, ending, None, "", "now")


@pytest.mark.req("CH-08")
@pytest.mark.parametrize(("language", "thanks"), [("ja", "「ありがとう」"), ("en", '"thanks"')])
def test_a_result_asks_for_a_reply_only_where_one_is_waited_for(language: Language, thanks: str):
    asks = comments.result(language, DONE, PUBLISHED, REQUEST, "", awaits=timedelta(hours=24))
    assert thanks in asks
    assert thanks not in comments.result(language, DONE, PUBLISHED, REQUEST, "")


@pytest.mark.req("PR-03", "OP-02")
@pytest.mark.parametrize(
    ("language", "who"), [("ja", "- **停止者**: ラベルの変更"), ("en", "- **By**: a change of labels")]
)
def test_a_stop_by_nobody_with_a_name_is_told_in_words(language: Language, who: str):
    assert who in comments.farewell(life(language), Ending.STOPPED, Order(by="label"), "", "now")
