"""Trying a configuration before it is used."""

from dataclasses import dataclass

from rich import box
from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from hikitsugi.app.settings import Settings, problems_for_running
from hikitsugi.app.settings_forges import ForgeSettings
from hikitsugi.app.settings_problems import SettingsError
from hikitsugi.app.wiring import open_forges
from hikitsugi.cli.screen import Row, clean, rows
from hikitsugi.domain.address import RepositoryAddress
from hikitsugi.domain.errors import HikitsugiError, WillNeverWork
from hikitsugi.domain.ports import Forge
from hikitsugi.messages import command_line as words
from hikitsugi.messages.command_line import Name


@dataclass(frozen=True)
class Trial:
    """One credential that was tried, and what came of it."""

    subject: str
    told: str
    works: bool


async def check(settings: Settings, console: Console) -> None:
    """Show what was read and try the credentials; what is wrong is raised as one error."""
    if problems := problems_for_running(settings):
        raise SettingsError(problems)
    console.print(_settings_panel(settings))
    trials = await _trials(settings)
    console.print(Group(*map(_line, trials)))
    if failures := dict.fromkeys(trial.told for trial in trials if not trial.works):
        raise WillNeverWork("\n".join(failures))
    console.print(Text(words.all_is_well(settings.language), style="green"))


async def _trials(settings: Settings) -> list[Trial]:
    async with open_forges(settings) as forges:
        return [trial for forge in settings.forges for trial in await _try(settings, forge, forges[forge.name])]


async def _try(settings: Settings, chosen: ForgeSettings, forge: Forge) -> list[Trial]:
    trials = [await _try_token(settings, chosen.name, forge)]
    for repository in chosen.repositories:
        home = RepositoryAddress(forge=chosen.name, repository=repository.name)
        trials.append(await _try_repository(settings, home, forge))
    return trials


async def _try_token(settings: Settings, name: str, forge: Forge) -> Trial:
    try:
        return Trial(name, words.signed_in(settings.language, await forge.whoami()), works=True)
    except HikitsugiError as error:
        return Trial(name, str(error), works=False)


async def _try_repository(settings: Settings, home: RepositoryAddress, forge: Forge) -> Trial:
    try:
        remote = await forge.git_remote(home)
    except HikitsugiError as error:
        return Trial(str(home), str(error), works=False)
    return Trial(str(home), words.readable(settings.language, remote.default_branch), works=True)


def _line(trial: Trial) -> Text:
    mark = Text("✓ ", style="green") if trial.works else Text("✗ ", style="red")
    return mark + Text(f"{trial.subject}: ", style="bold") + Text(clean(trial.told))


def _settings_panel(settings: Settings) -> Panel:
    return Panel(
        rows(settings.language, [*_forge_rows(settings), *_model_rows(settings), *_server_rows(settings)]),
        title="Hikitsugi",
        title_align="left",
        box=box.ROUNDED,
        padding=(0, 1),
    )


def _forge_rows(settings: Settings) -> list[Row]:
    repositories = [f"{forge.name}:{known.name}" for forge in settings.forges for known in forge.repositories]
    return [
        (Name.LANGUAGE, settings.language),
        *((Name.FORGE, f"{forge.name} ({forge.kind}) {forge.url}") for forge in settings.forges),
        (Name.REPOSITORIES, Text("\n".join(repositories))),
        (Name.LABELS, ", ".join(settings.labels.trigger)),
        (Name.POLLING, words.every_seconds(settings.language, settings.polling.interval_seconds)),
    ]


def _model_rows(settings: Settings) -> list[Row]:
    language, limit = settings.language, settings.budget.usd_per_issue
    key = words.is_set(language) if settings.llm.api_key else words.is_unset(language)
    return [
        (Name.MODEL, f"{settings.llm.model} {settings.llm.base_url or ''}"),
        (Name.MODEL_KEY, key),
        (Name.BUDGET, words.unlimited(language) if limit is None else f"${limit:,.2f}"),
        (Name.SANDBOX, settings.sandbox.kind),
    ]


def _server_rows(settings: Settings) -> list[Row]:
    embedded, is_set = words.embedded(settings.language), words.is_set(settings.language)
    return [
        (Name.TEMPORAL, settings.temporal.address or embedded),
        (Name.REDIS, is_set if settings.redis.url else embedded),
        (Name.MEMORY, is_set if settings.memory.url else f"{embedded} (SQLite)"),
        (Name.BROKER, f"{settings.broker.host}:{settings.broker.port}"),
        (Name.DATA_FOLDER, str(settings.data_folder.absolute())),
    ]
