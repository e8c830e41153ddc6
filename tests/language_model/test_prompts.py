"""The prompts are there and complete."""

from hikitsugi.language_model.prompts import plain_work


def test_the_prompt_names_the_repository_the_language_and_every_tool():
    text = plain_work("ja", "octo/hello")
    assert "`octo/hello`" in text
    assert "in Japanese" in text
    assert all(f"`{tool}`" in text for tool in ("read", "edit", "write", "glob", "grep", "run", "submit"))
    assert "{" not in text


def test_the_language_changes_the_prompt():
    assert "in English" in plain_work("en", "octo/hello")
