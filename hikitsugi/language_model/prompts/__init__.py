"""The system prompts, one Markdown file each."""

from functools import cache
from importlib.resources import files

from hikitsugi.domain.phases import Phase
from hikitsugi.domain.policy import Language

_LANGUAGES: dict[Language, str] = {"ja": "Japanese", "en": "English"}


def plain_work(language: Language, repository: str) -> str:
    """How to work on an issue in one loop of tool calls."""
    return _text("plain_work").format(language=_LANGUAGES[language], repository=repository)


def phase_prompt(phase: Phase, language: Language, repository: str) -> str:
    """How to work in one phase of planned work; the rules that all phases share come first."""
    texts = [_text("rules"), _text(phase), "" if phase is Phase.EXECUTION else _text("comment")]
    whole = "\n".join(text for text in texts if text)
    return whole.format(language=_LANGUAGES[language], repository=repository)


def compression(language: Language) -> str:
    """How to shorten a conversation that has become too long."""
    return _text("compression").format(language=_LANGUAGES[language])


def final_summary(language: Language) -> str:
    """How to close the record of a session."""
    return _text("final_summary").format(language=_LANGUAGES[language])


def template(name: str) -> str:
    """A template as it stands in its file."""
    return _text(name)


@cache
def _text(name: str) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
