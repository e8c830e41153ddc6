"""What operators read in the story of an issue."""

from hikitsugi.domain.policy import Language
from hikitsugi.messages.language import either


def session_began(language: Language, session: int) -> str:
    """A session began."""
    return either(language, ja=f"セッション {session} を開始", en=f"session {session} began")


def session_ended(language: Language, session: int, status: str) -> str:
    """A session ended, and how."""
    return either(language, ja=f"セッション {session} を終了: {status}", en=f"session {session} ended: {status}")


def replied(language: Language) -> str:
    """The model replied in a form, and added nothing for people."""
    return either(language, ja="回答", en="replied")


def verdict(language: Language, *, passed: bool) -> str:
    """What a verification came to."""
    if passed:
        return either(language, ja="合格", en="passed")
    return either(language, ja="不合格", en="not passed")


def worked(language: Language) -> str:
    """A tool did what it was asked for."""
    return either(language, ja="成功", en="done")


def cut_off(language: Language) -> str:
    """A tool run of which nobody knows the end."""
    return either(language, ja="中断", en="cut off")
