"""Trying a configuration before it is used."""

import asyncio
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
from hikitsugi.domain.errors import HikitsugiError, TryAgainLater, WillNeverWork
from hikitsugi.domain.ports import Forge
from hikitsugi.language_model.looking_up import Offer, look_up
from hikitsugi.messages import command_line as words
from hikitsugi.messages.command_line import Name


@dataclass(frozen=True)
class Trial:
    """One credential that was tried, and what came of it; nobody knows whether it works where it could not be tried."""

    subject: str
    told: str
    works: bool | None


async def check(settings: Settings, console: Console) -> None:
    """Show what was read and try the credentials; what is wrong is raised as one error."""
    if problems := problems_for_running(settings):
        raise SettingsError(problems)
    console.print(_settings_panel(settings))
    trials = await _trials(settings)
    console.print(Group(*map(_line, trials)))
    if failures := dict.fromkeys(trial.told for trial in trials if trial.works is False):
        raise WillNeverWork("\n".join(failures))
    console.print(Text(words.all_is_well(settings.language), style="green"))


async def _trials(settings: Settings) -> list[Trial]:
    of_forges, of_models = await asyncio.gather(_try_forges(settings), _try_models(settings))
    return [*of_forges, *of_models]


async def _try_forges(settings: Settings) -> list[Trial]:
    async with open_forges(_nameless(settings)) as forges:
        return [trial for forge in settings.forges for trial in await _try(settings, forge, forges[forge.name])]


def _nameless(settings: Settings) -> Settings:
    """The settings without our names, so that each forge is asked whose token we have."""
    detection = settings.comment_detection.model_copy(update={"bot_username": None})
    forges = tuple(forge.model_copy(update={"username": None}) for forge in settings.forges)
    return settings.model_copy(update={"comment_detection": detection, "forges": forges})


async def _try(settings: Settings, chosen: ForgeSettings, forge: Forge) -> list[Trial]:
    homes = [RepositoryAddress(forge=chosen.name, repository=known.name) for known in chosen.repositories]
    repositories = [await _try_repository(settings, home, forge) for home in homes]
    is_good = any(trial.works for trial in repositories)
    return [await _try_token(settings, chosen, forge, is_good=is_good), *repositories]


async def _try_token(settings: Settings, chosen: ForgeSettings, forge: Forge, *, is_good: bool) -> Trial:
    """Whose token it is; one that is good for a repository may keep that to itself where a name is configured."""
    language, configured = settings.language, settings.comment_detection.bot_username or chosen.username
    try:
        owner = await forge.whoami()
    except WillNeverWork as error:
        if not (configured and is_good):
            return Trial(chosen.name, str(error), works=False)
        return Trial(chosen.name, words.goes_by(language, configured), works=True)
    except HikitsugiError as error:
        return Trial(chosen.name, str(error), works=False)
    if configured and configured.casefold() != owner.casefold():
        return Trial(chosen.name, words.owned_by_another(language, chosen.name, owner, configured), works=None)
    return Trial(chosen.name, words.signed_in(language, owner), works=True)


async def _try_models(settings: Settings) -> list[Trial]:
    """Each model once; what keeps us from asking for one would only be told again for the other."""
    llm, trials = settings.llm, list[Trial]()
    if not llm.api_key:
        return trials
    keys = {llm.model: "llm.model"}
    keys.setdefault(llm.summary_model, "llm.summary_model")
    for model, key in keys.items():
        try:
            offer = await look_up(llm.base_url, llm.api_key, model)
        except TryAgainLater as error:
            return [*trials, Trial(model, str(error), works=None)]
        except WillNeverWork as error:
            return [*trials, Trial(model, str(error), works=False)]
        trials.append(_trial_of_model(settings, key, model, offer))
    return trials


async def _try_repository(settings: Settings, home: RepositoryAddress, forge: Forge) -> Trial:
    try:
        remote = await forge.git_remote(home)
    except HikitsugiError as error:
        return Trial(str(home), str(error), works=False)
    return Trial(str(home), words.readable(settings.language, remote.default_branch), works=True)


def _trial_of_model(settings: Settings, key: str, model: str, offer: Offer) -> Trial:
    match offer:
        case Offer.OFFERED:
            return Trial(model, words.offered(settings.language), works=True)
        case Offer.NOT_OFFERED:
            return Trial(model, words.not_offered(settings.language, key, model), works=False)
        case Offer.UNTOLD:
            return Trial(model, words.untold(settings.language), works=None)


def _line(trial: Trial) -> Text:
    marks = {True: Text("✓ ", style="green"), False: Text("✗ ", style="red"), None: Text("– ", style="dim")}
    return marks[trial.works] + Text(f"{trial.subject}: ", style="bold") + Text(clean(trial.told))


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
