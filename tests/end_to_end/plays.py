"""Scripts for planned work end to end: what the model replies in each form, and how it carries out each action."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from hikitsugi.cli.demo import planner, script
from hikitsugi.language_model.scripted import Answer, Request, say, use

Lines = Mapping[str, tuple[Any, ...]]
Deeds = Mapping[str, Callable[[Request], Answer]]


class Play:
    """Says its lines one by one, the last again and again; where it has none, it does what the demo does."""

    def __init__(self, lines: Lines | None = None, deeds: Deeds | None = None) -> None:
        self._lines = lines or {}
        self._deeds = deeds or {}
        self._said: Counter[str] = Counter()

    def __call__(self, request: Request) -> Answer:
        """The next turn."""
        if lines := self._lines.get(request.form):
            number, self._said[request.form] = self._said[request.form], self._said[request.form] + 1
            line = lines[min(number, len(lines) - 1)]
            return line if isinstance(line, Answer) else say(json.dumps(line))
        deed = self._deeds.get(planner.action_in(request) or "")
        return deed(request) if deed and not request.form else script.reply(request)


def submits(summary: str, status: str = "done", needs: str = "") -> Answer:
    """The end of an action."""
    return use("submit", status=status, summary=summary, evidence="", needs=needs)


def blocked(_: Request) -> Answer:
    """An action that cannot be done."""
    return submits("Could not do it.", "blocked", "another way")


def writes(path: str, content: str) -> Callable[[Request], Answer]:
    """An action that writes a file."""

    def deed(request: Request) -> Answer:
        done = [result.tool for result in request.results_since(request.texts[0])]
        if done[-1:] == ["write"]:
            return submits(f"Wrote {path}.")
        known = any(result.tool == "read" for result in request.results_since(request.texts[0]))
        return use("write", path=path, content=content) if known else use("read", path=path)

    return deed
