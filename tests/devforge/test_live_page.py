"""The page in a real browser: news appear by themselves and a half-typed comment stays."""

import shutil
from collections.abc import Generator

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from hikitsugi.devforge import DevForge
from tests.devforge.conftest import HOME

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine")


@pytest.fixture
def page(base_url: str, forge: DevForge) -> Generator[Page]:
    forge.open_issue(HOME, "足し算が違う", "", "hanako", ["processing"])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(f"{base_url}/{HOME}/issues/1")
        yield page
        browser.close()


def test_news_appear_while_somebody_is_typing(page: Page, forge: DevForge):
    page.get_by_label("Comment").fill("まだ書いている")
    expect(page.get_by_role("button", name="Reopen")).to_be_hidden()
    forge.comment(HOME, 1, "hikitsugi", "新しい返事")

    expect(page.get_by_text("新しい返事")).to_be_visible(timeout=20_000)
    expect(page.get_by_label("Comment")).to_have_value("まだ書いている")

    page.get_by_role("button", name="Take processing off").click()
    expect(page.get_by_text("None").first).to_be_visible()
    expect(page.get_by_label("Comment")).to_have_value("まだ書いている")

    page.locator("select").select_option("taro")
    page.get_by_role("button", name="Comment").click()
    expect(page.get_by_label("Comment")).to_have_value("")
    said = forge.comments(HOME, 1)[-1]
    assert (said.author.login, said.body) == ("taro", "まだ書いている")


def test_who_is_chosen_beside_the_comment_acts_on_the_labels_too(page: Page):
    page.locator("select").select_option("taro")
    page.get_by_role("button", name="Take processing off").click()
    expect(page.get_by_text("taro has no write permission")).to_be_visible()
