"""The phases of planned work as people call them."""

from hikitsugi.domain.phases import Phase
from hikitsugi.domain.policy import Language
from hikitsugi.messages.language import either

_NAMES: dict[str, tuple[str, str]] = {
    Phase.PRE_PLANNING: ("計画前情報収集", "Pre-planning"),
    Phase.PLANNING: ("計画作成", "Planning"),
    Phase.EXECUTION: ("アクション実行", "Execution"),
    Phase.REFLECTION: ("リフレクション", "Reflection"),
    Phase.REVISION: ("計画修正", "Revision"),
    Phase.VERIFICATION: ("検証", "Verification"),
    Phase.REPLAN_DECISION: ("再計画判断", "Replan decision"),
}


def phase_name(language: Language, phase: Phase) -> str:
    """A phase as people call it."""
    ja, en = _NAMES[phase]
    return either(language, ja=ja, en=en)
