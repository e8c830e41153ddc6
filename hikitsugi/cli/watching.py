"""Following one issue live."""

import sys
from datetime import UTC, datetime

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from hikitsugi.app.settings import Settings
from hikitsugi.cli.connection import connected
from hikitsugi.cli.looking import follow
from hikitsugi.cli.screen import issue_line, issue_panel
from hikitsugi.domain.address import IssueAddress
from hikitsugi.messages import command_line as words


async def watch(settings: Settings, issue: IssueAddress, console: Console) -> None:
    """Show how an issue stands until its workflow ends."""
    if sys.stdout.isatty() and not console.is_dumb_terminal:
        await _watch_on_screen(settings, issue, console)
    else:
        await _watch_by_lines(settings, issue)


async def _watch_on_screen(settings: Settings, issue: IssueAddress, console: Console) -> None:
    views = follow(await connected(settings), issue)
    # Below the panel, where the ^C of the terminal does not break the last line.
    hint = Text(words.press_to_leave(settings.language), style="dim")
    with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
        async for view in views:
            live.update(Group(issue_panel(settings.language, view), hint), refresh=True)


async def _watch_by_lines(settings: Settings, issue: IssueAddress) -> None:
    last = ""
    async for view in follow(await connected(settings), issue):
        line = issue_line(settings.language, view)
        if line != last:
            sys.stdout.write(f"{datetime.now(UTC):%H:%M:%S} {line}\n")
            sys.stdout.flush()
        last = line
