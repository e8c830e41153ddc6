"""Choosing a sentence by language."""

from hikitsugi.domain.policy import Language


def either(language: Language, *, ja: str, en: str) -> str:
    """The sentence in the wanted language; both must always be given."""
    return ja if language == "ja" else en
