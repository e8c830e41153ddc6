"""What is written when one session takes over from another: the summary made by rule, and the notice."""

from collections.abc import Sequence
from dataclasses import dataclass

from hikitsugi.domain.handover import Context
from hikitsugi.domain.policy import Language
from hikitsugi.domain.session import Ending, Handover
from hikitsugi.domain.tools import Submission
from hikitsugi.messages.language import either

_SHORT_ID = 8
_LONGEST_DECISION = 200


class Source:
    """Something people decided, and where it is written."""

    def __init__(self, text: str, url: str | None) -> None:
        self.text = " ".join(text.split())[:_LONGEST_DECISION]
        self.url = url

    @property
    def line(self) -> str:
        """The decision with its link."""
        return f"{self.text} ({self.url})" if self.url else self.text


def notice(language: Language, left: Handover) -> str:
    """Tells on the issue that an earlier context was taken over, in the form the specification fixes."""
    at, short = f"{left.ended_at:%Y-%m-%d %H:%M} UTC", left.id[:_SHORT_ID] or str(left.session)
    return either(
        language,
        ja=f"📋 **過去のコンテキストを引き継ぎました**\n\n- 引き継ぎ元: #{short}\n- 前回処理日時: {at}\n- 引き継ぎ内容: 最終要約\n\n"
        "過去の処理内容を考慮して、現在の要求に対応します。",
        en=f"📋 **Took over the earlier context**\n\n- From: #{short}\n- Last worked on: {at}\n- What was taken over: the final summary\n\n"
        "The request will be answered with the earlier work in mind.",
    )


@dataclass(frozen=True)
class Closing:
    """What is known of a session that is over, still without its summary."""

    title: str
    context: Context
    submissions: Sequence[Submission]
    decisions: Sequence[Source]
    change_request: str | None
    error: str | None


def summary_by_rule(language: Language, closing: Closing) -> str:
    """A final summary made from the records alone, in the same parts as the model's."""
    context, submissions = closing.context, closing.submissions
    last = submissions[-1] if submissions else None
    nothing = either(language, ja="なし", en="none")
    parts = [
        (either(language, ja="目的", en="Purpose"), [closing.title]),
        (either(language, ja="結果", en="Result"), [submission.summary for submission in submissions] or [nothing]),
        (either(language, ja="変更", en="Change"), [closing.change_request or nothing]),
        (
            either(language, ja="問題と失敗した方法", en="Problems and failed approaches"),
            _problems(context, closing.error),
        ),
        (either(language, ja="決定事項", en="Decisions"), [source.line for source in closing.decisions]),
        (either(language, ja="検証", en="Verification"), list(context.verifications)),
        (either(language, ja="残作業", en="Remaining work"), _remaining(language, context.ending, last)),
    ]
    return "\n\n".join(f"**{name}**\n" + "\n".join(f"- {line}" for line in lines) for name, lines in parts if lines)


def _problems(context: Context, error: str | None) -> list[str]:
    return [*([error] if error else []), *context.attempts.failures]


def _remaining(language: Language, ending: Ending, last: Submission | None) -> list[str]:
    if last and last.needs:
        return [last.needs]
    if ending is Ending.COMPLETED and last:
        return []
    return [either(language, ja="依頼の作業は終わっていません。", en="The request is not finished.")]
