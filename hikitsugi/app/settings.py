"""The whole configuration: read once at the start, refused with a line per problem, handed on by constructor."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError

from hikitsugi.app.settings_forges import ForgeSettings
from hikitsugi.app.settings_problems import (
    Problem,
    SettingsError,
    problems_of,
    secrets_among,
    without_secrets,
)
from hikitsugi.app.settings_sections import (
    BrokerSettings,
    Budget,
    CommentDetection,
    CommentHandling,
    ContextInheritance,
    Labels,
    Llm,
    MemorySettings,
    Plain,
    Planning,
    Polling,
    RedisSettings,
    SandboxSettings,
    TelemetrySettings,
    TemporalSettings,
    WorkspaceSettings,
)
from hikitsugi.app.settings_sources import gather
from hikitsugi.app.settings_types import Folder, Section


class Settings(Section):
    """All that an operator can set, each key with its default."""

    language: Literal["ja", "en"] = "ja"
    forges: tuple[ForgeSettings, ...] = ()
    labels: Labels = Labels()
    polling: Polling = Polling()
    comment_handling: CommentHandling = CommentHandling()
    comment_detection: CommentDetection = CommentDetection()
    planning: Planning = Planning()
    plain: Plain = Plain()
    context_inheritance: ContextInheritance = ContextInheritance()
    llm: Llm = Llm()
    budget: Budget = Budget()
    workspace: WorkspaceSettings = WorkspaceSettings()
    sandbox: SandboxSettings = SandboxSettings()
    broker: BrokerSettings = BrokerSettings()
    temporal: TemporalSettings = TemporalSettings()
    redis: RedisSettings = RedisSettings()
    memory: MemorySettings = MemorySettings()
    data_folder: Folder = Path(".hikitsugi")
    telemetry: TelemetrySettings = TelemetrySettings()

    def secrets(self) -> frozenset[str]:
        """Every secret that was loaded, also the passwords inside addresses, to keep them out of what we write."""
        loaded = [secret.get_secret_value() for secret in _secrets_in(self.model_dump())]
        passwords = [urlsplit(secret).password for secret in loaded if "://" in secret]
        return frozenset(secret for secret in [*loaded, *passwords] if secret)


def load_settings(config: Path | None, environ: Mapping[str, str]) -> Settings:
    """The settings of a file and the environment, or a SettingsError that names every problem at once."""
    gathered = gather(config, environ, Settings)
    problems = [*gathered.problems, *_repeated_forge_names(gathered.keys)]
    try:
        settings = Settings.model_validate(gathered.keys)
    except ValidationError as error:
        problems += problems_of(error, Settings, gathered.origins)
    else:
        if not problems:
            return settings
    raise SettingsError(without_secrets(problems, secrets_among(gathered.keys, Settings, environ))) from None


def problems_for_running(settings: Settings, *, thinks: bool = True) -> list[str]:
    """What a process still lacks, although each value is allowed by itself; only one that thinks needs a model."""
    problems: list[Problem] = []
    if not settings.forges:
        problems.append(Problem("forges", None, "name a forge, or set GITHUB_TOKEN and GITHUB_REPOSITORY"))
    for index, forge in enumerate(settings.forges):
        if not forge.token and not forge.app:
            wanted = f"give a token for {forge.name}, or set {forge.kind.upper()}_TOKEN"
            problems.append(Problem(f"forges[{index}].token", None, wanted))
        if not forge.repositories:
            problems.append(Problem(f"forges[{index}].repositories", None, f"name a repository of {forge.name}"))
    if thinks and _needs_model(settings) and not settings.llm.api_key:
        problems.append(Problem("llm.api_key", None, "give the model's key, or set ANTHROPIC_API_KEY"))
    return [str(problem) for problem in problems]


def _needs_model(settings: Settings) -> bool:
    workers = [repository.worked_by for forge in settings.forges for repository in forge.repositories]
    return "agent" in workers


def _repeated_forge_names(keys: Mapping[str, Any]) -> list[Problem]:
    forges: Any = keys.get("forges")
    listed = cast("list[Any]", forges) if isinstance(forges, list) else []
    given = [cast("dict[str, Any]", forge) for forge in listed if isinstance(forge, dict)]
    names = Counter(str(forge.get("name") or forge.get("kind") or "github") for forge in given)
    return [
        Problem("forges", f'"{name}"', "must be the name of one forge only; give each its own name")
        for name, uses in names.items()
        if uses > 1
    ]


def _secrets_in(dumped: Any) -> list[SecretStr]:
    if isinstance(dumped, SecretStr):
        return [dumped]
    inner: list[Any] = []
    if isinstance(dumped, dict):
        inner = list(cast("dict[str, Any]", dumped).values())
    elif isinstance(dumped, list | tuple):
        inner = list(cast("list[Any]", dumped))
    return [secret for part in inner for secret in _secrets_in(part)]
