"""What a worker says when it is up."""

from collections.abc import Mapping

from hikitsugi.domain.policy import Language
from hikitsugi.messages.language import either


def runs(language: Language, facts: Mapping[str, object]) -> list[str]:
    """Where everything is, a line each."""
    names = {
        "ui": either(language, ja="Temporal Web UI", en="Temporal Web UI"),
        "temporal": "Temporal",
        "redis": "Redis",
        "broker": either(language, ja="ブローカー", en="Broker"),
        "metrics": either(language, ja="メトリクス", en="Metrics"),
    }
    told = [f"  {name}: {facts[key]}" for key, name in names.items() if key in facts]
    title = either(language, ja="Hikitsugi が動いています(終了は Ctrl-C)", en="Hikitsugi is running (Ctrl-C ends it)")
    return [title, *told]
