"""What a worker says when it is up, and when it does not come to its end."""

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


def does_not_end(language: Language, seconds: float) -> str:
    """The last words of a worker that has to be ended by force."""
    return either(
        language,
        ja=f"ワーカーが {seconds:.0f} 秒以内に終わらないため、強制的に終了します。途中の処理は次の起動で続きから行います。",
        en=f"The worker did not end within {seconds:.0f} seconds and is ended by force; what was under way goes on at the next start.",
    )
