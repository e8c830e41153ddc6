"""The system prompts, one Markdown file each."""

from functools import cache
from importlib.resources import files

from hikitsugi.domain.policy import Language

_LANGUAGES: dict[Language, str] = {"ja": "Japanese", "en": "English"}


def plain_work(language: Language, repository: str) -> str:
    """How to work on an issue in one loop of tool calls."""
    return _text("plain_work").format(language=_LANGUAGES[language], repository=repository)


def template(name: str) -> str:
    """A template as it stands in its file."""
    return _text(name)


@cache
def _text(name: str) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
