"""How issues look in a terminal."""

import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

from hikitsugi.cli.looking import ListedIssue, View
from hikitsugi.domain.address import IssueAddress, Kind
from hikitsugi.domain.policy import Language
from hikitsugi.domain.status import PlanItem, Status
from hikitsugi.messages import command_line as words
from hikitsugi.messages.command_line import Name

_COLOURS = {
    "processing": "cyan",
    "awaiting-response": "yellow",
    "completed": "green",
    "paused": "magenta",
    "stopped": "bright_black",
    "failed": "red",
    "available": "blue",
    "in-progress": "cyan",
    "needs-review": "yellow",
}
_TASK_MARKS = {"todo": "○", "doing": "◐", "done": "●", "failed": "✗", "skipped": "–"}

Row = tuple[Name, str | Text | None]


def clean(text: str) -> str:
    """The text without characters that steer a terminal; much of what we show was written by strangers."""
    return "".join(" " if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") else sign for sign in text)


def rows(language: Language, given: Iterable[Row]) -> Table:
    """Names on the left, what is to be told on the right; where there is nothing to tell, no row."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, told in given:
        if told:
            grid.add_row(words.name(language, name), Text(clean(told)) if isinstance(told, str) else told)
    return grid


def issue_panel(language: Language, view: View) -> Panel:
    """Everything about one issue."""
    status = view.status
    title = Text(IssueAddress.parse(status.issue).short, style=_linked("bold", view.url))
    if view.title:
        title.append(f"  {clean(view.title)}", style="default")
    return Panel(
        rows(language, [*_standing(view), *_record(language, status)]),
        title=title,
        title_align="left",
        subtitle=words.has_ended(language) if view.has_ended else None,
        subtitle_align="right",
        border_style=_colour(status.state),
        box=box.ROUNDED,
        padding=(0, 1),
    )


def issue_line(language: Language, view: View) -> str:
    """The same in one line, for logs."""
    status = view.status
    calls = f"{words.name(language, Name.MODEL_CALLS)} {_model_use(language, status)}"
    told = [status.state, status.waiting_for, calls, status.change_request, status.error]
    ended = words.has_ended(language) if view.has_ended else None
    return " | ".join(clean(part) for part in [*told, ended, view.trouble] if part)


def issue_table(language: Language, issues: list[ListedIssue]) -> RenderableType:
    """All issues, one below the other."""
    if not issues:
        return Text(words.nothing_listed(language))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, header_style="bold")
    table.add_column(words.name(language, Name.STATE), no_wrap=True)
    table.add_column(words.name(language, Name.ISSUE), overflow="fold")
    table.add_column(words.name(language, Name.TITLE), overflow="fold")
    table.add_column(words.name(language, Name.COST), justify="right", no_wrap=True)
    table.add_column(words.name(language, Name.RUNNING_SINCE), no_wrap=True)
    for issue in issues:
        table.add_row(
            _state(issue.state or "–"),
            Text(_written(issue.issue), style=_linked("default", issue.url)),
            Text(clean(issue.title)),
            "–" if issue.cost_usd is None else f"${issue.cost_usd:,.2f}",
            f"{issue.running_since.astimezone(UTC):%m-%d %H:%M}",
        )
    return Group(table, Text(words.listed(language, len(issues)), style="dim"))


def _standing(view: View) -> list[Row]:
    status = view.status
    return [
        (Name.STATE, _state(status.state)),
        (Name.PHASE, status.phase),
        (Name.WAITS_FOR, status.waiting_for),
        (Name.ERROR, _painted(status.error, "red")),
        (Name.TROUBLE, _painted(view.trouble, "red")),
        (Name.CHANGE, _painted(status.change_request, "cyan")),
        (Name.BRANCH, status.branch),
        (Name.PLAN, _plan(status.plan)),
    ]


def _record(language: Language, status: Status) -> list[Row]:
    comments = words.comment_count(language, status.comments_processed, status.comments_pending, status.last_comment_id)
    return [
        (Name.SESSION, str(status.session)),
        (Name.INHERITED, status.inherited_from),
        (Name.MODEL_CALLS, _model_use(language, status)),
        (Name.COMMENTS, comments),
        (Name.PROCESSED, _period(status.first_processed_at, status.last_processed_at)),
    ]


def _model_use(language: Language, status: Status) -> str:
    cost = words.unknown_cost(language) if status.cost_usd is None else f"${status.cost_usd:,.4f}"
    tokens = (status.input_tokens, status.cached_tokens, status.output_tokens)
    return words.model_use(language, status.llm_calls, tokens, cost)


def _period(first: datetime | None, last: datetime | None) -> str | None:
    if not first or not last:
        return None
    return f"{first.astimezone(UTC):%Y-%m-%d %H:%M:%S} → {last.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _plan(plan: tuple[PlanItem, ...]) -> Text:
    return Text("\n".join(f"{_TASK_MARKS.get(item.status, '·')} {clean(item.title)}" for item in plan))


def _written(workflow_id: str) -> str:
    """As short as the command line still understands it; an id that is no issue's as it is."""
    try:
        issue = IssueAddress.parse(workflow_id)
    except ValueError:
        return clean(workflow_id)
    return workflow_id if issue.kind is Kind.PULL_REQUEST else f"{issue.forge}:{issue.short}"


def _state(state: str) -> Text:
    return Text(f"● {state}", style=_colour(state))


def _colour(state: str) -> str:
    return _COLOURS.get(state, "default")


def _painted(told: str | None, colour: str) -> Text:
    return Text(clean(told or ""), style=colour)


def _linked(style: str, url: str) -> Style:
    return Style.parse(style) + Style(link=clean(url) or None)
