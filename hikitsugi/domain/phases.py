"""The phases of planned work, and what the model may use in each."""

from enum import StrEnum


class Phase(StrEnum):
    """Where planned work stands; each phase is a conversation of its own."""

    PRE_PLANNING = "pre_planning"
    PLANNING = "planning"
    EXECUTION = "execution"
    REFLECTION = "reflection"
    REVISION = "revision"
    VERIFICATION = "verification"
    REPLAN_DECISION = "replan_decision"


READ_ONLY = ("read", "glob", "grep", "recall")
_BESIDES: dict[Phase, tuple[str, ...]] = {
    Phase.EXECUTION: ("edit", "write", "run", "submit"),
    Phase.VERIFICATION: ("run",),
}


def tools_of(phase: Phase) -> tuple[str, ...]:
    """The names of the tools a phase may use."""
    return READ_ONLY + _BESIDES.get(phase, ())
