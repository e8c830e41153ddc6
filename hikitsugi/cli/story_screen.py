"""How the story of an issue looks in a terminal."""

from collections.abc import Sequence
from datetime import UTC
from decimal import Decimal

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hikitsugi.cli.remembering import Explanation
from hikitsugi.cli.screen import clean
from hikitsugi.cli.timeline import Entry
from hikitsugi.domain.policy import Language
from hikitsugi.messages import command_line as words
from hikitsugi.messages.command_line import Name


def story(language: Language, told: Explanation) -> RenderableType:
    """Every entry in the order of time, then what it came to."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, header_style="bold")
    table.add_column(words.name(language, Name.WHEN), no_wrap=True)
    table.add_column(words.name(language, Name.WHO), overflow="fold", max_width=20)
    table.add_column(words.name(language, Name.WHAT), overflow="fold")
    table.add_column(words.name(language, Name.WHY), overflow="fold")
    table.add_column(words.name(language, Name.COST), justify="right", no_wrap=True)
    for entry in told.entries:
        cost = _cost(language, entry.cost_usd) if entry.is_paid else ""
        at = f"{entry.at.astimezone(UTC):%m-%d %H:%M:%S}"
        table.add_row(at, *(Text(clean(text)) for text in (entry.who, entry.what, entry.why)), cost)
    summed = words.explained(language, len(told.tasks), len(told.entries), _cost(language, _total(told.entries)))
    lines = [Text(summed, style="dim")]
    if told.missing:
        lines.append(Text(clean(words.without_temporal(language, told.missing)), style="yellow"))
    return Group(table, *lines)


def _total(entries: Sequence[Entry]) -> Decimal | None:
    """What all calls cost together; one unknown price makes it unknown."""
    costs = [entry.cost_usd for entry in entries if entry.is_paid]
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None


def _cost(language: Language, usd: Decimal | None) -> str:
    return words.unknown_cost(language) if usd is None else f"${usd:.4f}"
