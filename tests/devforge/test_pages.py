"""The pages as a browser without JavaScript gets them."""

import httpx2
import pytest

from hikitsugi.devforge import DevForge
from hikitsugi.devforge.pages.diff import changed_files
from hikitsugi.devforge.pages.markdown import render
from tests.devforge.conftest import HOME, Publish

ISSUE = f"/{HOME}/issues/1"


@pytest.fixture(autouse=True)
def issue(forge: DevForge, browser: httpx2.Client) -> None:
    browser.headers["accept"] = "text/html"
    forge.open_issue(HOME, "足し算が違う", "`add(1, 2)` が **-1** を返す", "hanako", ["task:misc", "processing"])


def test_an_issue_shows_its_text_labels_and_comments(browser: httpx2.Client, forge: DevForge):
    forge.comment(HOME, 1, "hikitsugi", "## 実行完了\n\n直しました。\n<!-- hikitsugi:done -->")
    page = browser.get(ISSUE).text
    for shown in ("足し算が違う", "<strong>-1</strong>", "processing", "<h2>実行完了</h2>", "直しました。"):
        assert shown in page
    assert "hikitsugi:done" not in page


def test_text_from_people_is_never_obeyed_as_html(browser: httpx2.Client, forge: DevForge):
    forge.comment(HOME, 1, "taro", "<script>alert(1)</script> [x](javascript:alert(1)) <!-- a --> <b onclick=x>")
    answer = browser.get(ISSUE)
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;" in answer.text
    assert 'href="javascript:' not in answer.text
    assert "script-src 'self'" in answer.headers["content-security-policy"]


def test_a_comment_is_written_as_the_chosen_person(browser: httpx2.Client, forge: DevForge):
    page = browser.post(f"{ISSUE}/comments", data={"person": "taro", "body": "一行目\r\n二行目"})
    (said,) = forge.comments(HOME, 1)
    assert (said.author.login, said.body) == ("taro", "一行目\n二行目")
    assert page.url.path == ISSUE
    assert '<option value="taro" selected>' in page.text


def test_an_issue_is_closed_with_a_word_and_reopened(browser: httpx2.Client, forge: DevForge):
    browser.post(f"{ISSUE}/state", data={"person": "hanako", "state": "closed", "body": "もう不要です"})
    assert not forge.issue(HOME, 1).is_open
    assert forge.comments(HOME, 1)[0].body == "もう不要です"
    browser.post(f"{ISSUE}/state", data={"person": "hanako", "state": "open"})
    assert forge.issue(HOME, 1).is_open


def test_labels_are_put_on_and_taken_off(browser: httpx2.Client, forge: DevForge):
    browser.post(f"{ISSUE}/labels", data={"person": "hanako", "label": "paused", "change": "add"})
    browser.post(f"{ISSUE}/labels", data={"person": "hanako", "label": "processing", "change": "remove"})
    assert forge.issue(HOME, 1).labels == ("task:misc", "paused")
    refused = browser.post(f"{ISSUE}/labels", data={"person": "taro", "label": "x", "change": "add"})
    assert (refused.status_code, "no write permission" in refused.text) == (403, True)


def test_a_new_issue_can_be_opened(browser: httpx2.Client, forge: DevForge):
    form = {"person": "hanako", "title": "掛け算", "body": "ほしい", "labels": "task:misc, P1"}
    assert browser.post(f"/{HOME}/issues", data=form).url.path == f"/{HOME}/issues/2"
    assert forge.issue(HOME, 2).labels == ("task:misc", "P1")
    assert "掛け算" in browser.get(f"/{HOME}/issues").text
    assert HOME in browser.get("/").text


def test_another_site_cannot_send_the_forms(browser: httpx2.Client, forge: DevForge):
    form = {"person": "hanako", "body": "/approve"}
    refused = browser.post(f"{ISSUE}/comments", data=form, headers={"origin": "https://evil.example"})
    assert refused.status_code == 403
    assert not forge.comments(HOME, 1)


def test_a_pull_request_shows_its_changes_and_is_merged(browser: httpx2.Client, forge: DevForge, publish: Publish):
    publish("fix")
    forge.repository(HOME).open_pull(forge.person("hikitsugi"), "直す", "Closes #1", "fix", "main")
    assert "#2 直す" in browser.get(ISSUE).text

    page = browser.get(f"/{HOME}/issues/2")
    assert page.url.path == f"/{HOME}/pull/2"
    assert "return a + b" in page.text
    assert "#1 足し算が違う" in page.text
    assert browser.get(f"/{HOME}/pull/2.diff").text.startswith("diff --git")

    merged = browser.post(f"/{HOME}/pull/2/merge", data={"person": "hanako"})
    assert "Merged" in merged.text
    assert "return a + b" in merged.text
    assert not forge.issue(HOME, 1).is_open


def test_the_living_part_can_be_asked_for_alone(browser: httpx2.Client, forge: DevForge):
    before = browser.get(f"{ISSUE}/fragment").text
    assert before == browser.get(f"{ISSUE}/fragment").text
    forge.comment(HOME, 1, "hikitsugi", "新しい返事")
    after = browser.get(f"{ISSUE}/fragment").text
    assert "新しい返事" in after
    assert "<textarea" not in after


def test_what_is_not_there_is_said_plainly(browser: httpx2.Client):
    for path in (f"/{HOME}/issues/99", "/example/none/issues", "/one/two/three/four/five"):
        answer = browser.get(path)
        assert (answer.status_code, "Not Found" in answer.text) == (404, True)


def test_folded_parts_are_folded_and_no_other_html_is_obeyed():
    told = render("<details>\n<summary>Earlier (2)</summary>\n\n## One\n\n<b>bold</b>\n\n</details>\n\nend")
    assert "<details><summary>Earlier (2)</summary>" in told
    assert "&lt;b&gt;" in told
    assert told.index("</details>") < told.index("end")
    assert "<details>" not in render("<details>\n<summary>never closed</summary>\n\ntext")


def test_boxes_are_drawn_and_markers_in_the_middle_are_hidden():
    html = render("- [ ] later\n- [x] done\n\n<!-- hidden\nlines -->\nshown")
    assert "☐ later" in html
    assert "☑ done" in html
    assert "hidden" not in html
    assert "shown" in html


def test_a_patch_is_cut_into_numbered_lines():
    patch = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@ def f\n kept\n---gone\n+++new\n"
    (file,) = changed_files(patch)
    assert [(line.kind, line.text, line.old, line.new) for line in file.lines[1:]] == [
        ("kept", "kept", 3, 3),
        ("removed", "--gone", 4, None),
        ("added", "++new", None, 4),
    ]
