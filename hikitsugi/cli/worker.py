"""The command that runs the product."""

import asyncio
import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from hikitsugi.app.data_folder import DEMO_SIGN
from hikitsugi.app.run_file import RunFacts, read_run_file
from hikitsugi.app.running import Role, running, until_told_to_end
from hikitsugi.app.settings import Settings, load_settings, problems_for_running
from hikitsugi.app.settings_problems import SettingsError
from hikitsugi.app.telemetry import configure_logging
from hikitsugi.cli.ending import insist_on_ending
from hikitsugi.messages import worker_start

_TIME_TO_END = timedelta(seconds=30)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def worker(
    config: Annotated[
        Path | None, typer.Option(help="The configuration; hikitsugi.yaml in this folder if there.")
    ] = None,
    only: Annotated[list[Role] | None, typer.Option(help="Run only this role; may be given more than once.")] = None,
) -> None:
    """Run worker, watcher and broker until SIGTERM or Ctrl-C; with no addresses configured, with embedded servers."""
    settings = load_settings(config, os.environ)
    roles = set(only or Role)
    forget_demo(settings.data_folder)
    if problems := problems_for_running(settings, thinks=Role.WORKER in roles):
        raise SettingsError(problems)
    asyncio.run(run(settings, roles))


def forget_demo(data_folder: Path) -> None:
    """Remove what an ended demo left in a folder that real work now begins in."""
    if (data_folder / DEMO_SIGN).exists() and read_run_file(data_folder) is None:
        shutil.rmtree(data_folder)


async def run(settings: Settings, roles: set[Role], demo: dict[str, str] | None = None) -> None:
    """Run the roles until told to end."""
    comment_level = settings.comment_detection.log_level
    configure_logging(settings.telemetry.log_format, "info", settings.secrets(), comment_level)
    async with running(settings, roles, demo) as (facts, servers):
        _tell(settings, facts)
        try:
            await until_told_to_end(servers)
        finally:
            insist_on_ending(_TIME_TO_END, worker_start.does_not_end(settings.language, _TIME_TO_END.total_seconds()))


def _tell(settings: Settings, facts: RunFacts) -> None:
    for line in worker_start.runs(settings.language, facts.model_dump(exclude_none=True)):
        typer.echo(line)
