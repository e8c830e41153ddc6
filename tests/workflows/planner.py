"""A model that works by plan: what it says in each phase, changed where a test wants it otherwise."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS
from hikitsugi.domain.conversation import Transcript
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.policy import PlanningPolicy, Policy

Calls = Sequence[tuple[str, Mapping[str, Any]]]


def action(number: int, *after: int, title: str = "") -> dict[str, Any]:
    """One action of a plan."""
    return {
        "id": f"task_{number}",
        "title": title or f"Step {number}",
        "purpose": "to mend it",
        "expected_outcome": "it works",
        "fallback": "",
        "complexity": "low",
        "depends_on": [f"task_{other}" for other in after],
    }


def plan(*actions: dict[str, Any]) -> dict[str, Any]:
    """A plan."""
    return {
        "goal": "It works.",
        "success_criteria": ["make test exits with 0"],
        "earlier_plan": "none",
        "reasoning": "",
        "actions": list(actions),
    }


def brief(*questions: str) -> dict[str, Any]:
    """What was found before planning."""
    assumed = [{"about": question, "assumed": "the usual", "confidence": 0.7} for question in questions]
    return {
        "goal": "It works.",
        "deliverables": [],
        "constraints": [],
        "findings": ["a.py holds it"],
        "assumptions": assumed,
        "gaps": [],
        "questions": list(questions),
        "confidence": 0.9,
    }


def verdict(*actions: dict[str, Any], passed: bool = True) -> dict[str, Any]:
    """A verification."""
    return {
        "passed": passed,
        "criteria": [],
        "issues": [] if passed else ["Something is missing."],
        "actions": list(actions),
        "confidence": 0.9,
        "summary": "All is mended." if passed else "It is half mended.",
    }


def reflection(*, revise: bool) -> dict[str, Any]:
    """A reflection."""
    return {"status": "partial", "evaluation": "Well.", "issues": [], "root_cause": "", "revise": revise}


def decision(kind: str, confidence: float = 0.9, *questions: str) -> dict[str, Any]:
    """A replan decision."""
    return {"kind": kind, "confidence": confidence, "reasoning": "Because.", "questions": list(questions)}


def submits(status: str = "done", needs: str = "") -> Calls:
    """The end of an action."""
    return [("submit", {"status": status, "summary": "Did it.", "evidence": "ran it", "needs": needs})]


USUAL: dict[Phase, Any] = {
    Phase.PRE_PLANNING: brief(),
    Phase.PLANNING: plan(action(1), action(2, 1)),
    Phase.EXECUTION: submits(),
    Phase.REFLECTION: reflection(revise=False),
    Phase.REVISION: {"reason": "Learned.", "actions": []},
    Phase.VERIFICATION: verdict(),
    Phase.REPLAN_DECISION: decision("none"),
}


class Planner:
    """Says its lines phase by phase; a tuple of lines is said one by one, and its last again and again."""

    def __init__(self, lines: Mapping[Phase, Any] | None = None) -> None:
        self._lines: dict[Phase, Any] = {**USUAL, **(lines or {})}
        self.said: Counter[Phase] = Counter()

    def __call__(self, transcript: Transcript) -> Calls | str:
        """The next turn."""
        phase = Phase(transcript.purpose)
        if phase is Phase.EXECUTION and not _ran(transcript):
            return [("run", {"command": _action_in(transcript)})]
        line = self._line(phase)
        return json.dumps(line) if isinstance(line, dict) else line

    def _line(self, phase: Phase) -> Any:
        lines, number = self._lines[phase], self.said[phase]
        self.said[phase] += 1
        if not isinstance(lines, tuple):
            return lines
        said = cast("tuple[Any, ...]", lines)
        return said[min(number, len(said) - 1)]


def _ran(transcript: Transcript) -> bool:
    return any(call.name == "run" for turn in transcript.turns for call in turn.tool_calls)


def _action_in(transcript: Transcript) -> str:
    text = "\n".join(turn.text for turn in transcript.turns)
    return text.rpartition("# Your action: ")[2].partition("\n")[0]


def planned(**keys: Any) -> Policy:
    """A policy with planning switched on."""
    return Policy(completion_keywords=COMPLETION_KEYWORDS, planning=PlanningPolicy(enabled=True, **keys))
