"""A long conversation as the model that summarises it reads it, and its summary as the next one starts from it."""

import json
from collections.abc import Callable, Sequence

from hikitsugi.domain.conversation import Block, Turn

_LONGEST_TEXT = 6_000
_LONGEST_CALL = 800
_LONGEST_ANSWER = 1_500
_CUT = " […]"


def goes_on_from(summary: str) -> str:
    """The turn that stands for everything between the opening and now."""
    return (
        "[The conversation became too long. This is a record of your own work so far, made from it: go on from here, "
        f"and look at files again where you need their text.]\n\n{summary}"
    )


def at_most(text: str, tokens: int, measure: Callable[[str], int]) -> str:
    """The text, or as much of its beginning as may be told."""
    while (length := measure(text)) > tokens:
        text = text[: (len(text) - len(_CUT)) * tokens // length - len(_CUT)] + _CUT
    return text


def record(turns: Sequence[Turn], opening: int, limit: int, measure: Callable[[str], int]) -> str:
    """The request and the turn after it, which may be an earlier summary, then the latest turns as far as they fit."""
    parts = [_part(turn) for turn in turns]
    first, rest = parts[: opening + 1], parts[opening + 1 :]
    room, latest = limit - sum(map(measure, first)), list[str]()
    for part in reversed(rest):
        room -= measure(part)
        if room < 0:
            latest.append(f"[… {len(rest) - len(latest)} turns left out …]")
            break
        latest.append(part)
    return "\n\n".join([*first, *reversed(latest)])


def _part(turn: Turn) -> str:
    said = [text for block in turn.content if (text := _said(block))]
    return "\n".join([f"# {'Worker' if turn.role == 'assistant' else 'Given to the worker'}", *said])


def _said(block: Block) -> str:
    match block["type"]:
        case "text":
            return _cut(str(block["text"]), _LONGEST_TEXT)
        case "tool_use":
            return _cut(f"calls {block['name']}: {json.dumps(block['input'], ensure_ascii=False)}", _LONGEST_CALL)
        case "tool_result":
            came = "error" if block.get("is_error") else "answer"
            return f"{came}: {_cut(str(block.get('content', '')), _LONGEST_ANSWER)}"
        case _:
            return ""


def _cut(text: str, longest: int) -> str:
    """The beginning and the end of a text that is too long."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}{_CUT}{text[-half:]}"
