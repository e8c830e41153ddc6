"""The command that starts, signals and inspects workflows."""

import asyncio
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NoReturn
from uuid import uuid4

import typer
from pydantic import JsonValue
from rich.console import Console

from hikitsugi.app.settings import Settings, load_settings
from hikitsugi.cli import orders, watching
from hikitsugi.cli.connection import connected, known_forges
from hikitsugi.cli.ending import MISUSED
from hikitsugi.cli.issues import issue_in, repository_in
from hikitsugi.cli.looking import ListedIssue, View, listed, look
from hikitsugi.cli.screen import issue_panel, issue_table
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.issue import OPERATOR
from hikitsugi.domain.states import State
from hikitsugi.messages import command_line as words

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True)
_TELL, _LOOK, _WATCH, _CHECK = "Tell an issue", "Look", "Watch repositories", "Configuration"
_REMEMBER = "Remember and forget"


def _wherever_given(ctx: typer.Context, config: Path | None) -> Path | None:
    """The option may stand before the command's name as well as after it."""
    ctx.obj = config or ctx.obj
    return ctx.obj


Config = Annotated[
    Path | None,
    typer.Option(
        help="The configuration; without it $HIKITSUGI_CONFIG, or hikitsugi.yaml in this folder.",
        metavar="FILE",
        callback=_wherever_given,
    ),
]
Issue = Annotated[
    str,
    typer.Argument(
        help="owner/repo#12, github:owner/repo#12, group/repo!3, a workflow id or the issue's web address.",
        metavar="ISSUE",
    ),
]
Repository = Annotated[str, typer.Argument(help="For example github:owner/repo.", metavar="FORGE:OWNER/REPO")]
Reason = Annotated[
    str,
    typer.Argument(
        help="Why; shown in status and Web UI, on the issue in its progress comment.",
        metavar="[REASON]",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


@app.callback()
def starter(config: Config = None) -> None:  # noqa: ARG001 - its callback has kept it
    """Start, signal and inspect the workflows of issues."""
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        # A terminal without Japanese shows question marks instead of a failure.
        reconfigure(errors="replace")


@app.command(rich_help_panel=_TELL, epilog="Example: python starter.py start octocat/hello-world#12")
def start(issue: Issue, config: Config = None) -> None:
    """Start the workflow of an issue by hand; one that rests begins a new session."""
    settings, address = _settings_and_issue(config, issue)
    asyncio.run(orders.start(settings, address))
    _say(words.started(settings.language, str(address)))


@app.command(rich_help_panel=_TELL, epilog='Example: python starter.py comment octocat/hello-world#12 "Use tabs."')
def comment(
    issue: Issue,
    text: Annotated[str, typer.Argument(help="What to say; after -- it may begin with a dash.", metavar="TEXT")],
    config: Config = None,
) -> None:
    """Comment as the operator, past the forge."""
    if not text.strip():
        _misused("The comment is empty; say something.")
    said: JsonValue = {"id": f"{OPERATOR}:{uuid4()}", "author": OPERATOR, "body": text}
    settings, address = _signal(config, issue, "comment", said)
    _say(words.comment_sent(settings.language, str(address)))


@app.command(rich_help_panel=_TELL, epilog='Example: python starter.py pause octocat/hello-world#12 "holidays"')
def pause(issue: Issue, reason: Reason = "", config: Config = None) -> None:
    """Hold the work before its next step."""
    settings, address = _signal(config, issue, "pause", {"by": OPERATOR, "reason": reason})
    _say(words.pause_sent(settings.language, str(address)))


@app.command(rich_help_panel=_TELL, epilog="Example: python starter.py resume octocat/hello-world#12")
def resume(issue: Issue, config: Config = None) -> None:
    """Go on at the very same step."""
    settings, address = _signal(config, issue, "resume", {"by": OPERATOR})
    _say(words.resume_sent(settings.language, str(address)))


@app.command(rich_help_panel=_TELL, epilog='Example: python starter.py stop octocat/hello-world#12 "not needed"')
def stop(issue: Issue, reason: Reason = "", config: Config = None) -> None:
    """End the session now; what was done so far is kept."""
    settings, address = _signal(config, issue, "stop", {"by": OPERATOR, "reason": reason})
    _say(words.stop_sent(settings.language, str(address)))


@app.command(rich_help_panel=_LOOK, epilog="Example: python starter.py status octocat/hello-world#12 --json")
def status(issue: Issue, as_json: AsJson = False, config: Config = None) -> None:  # noqa: FBT002 - a switch
    """Show where an issue stands."""
    settings, address = _settings_and_issue(config, issue)
    view = asyncio.run(_look(settings, address))
    if as_json:
        _say(json.dumps(view.status.model_dump(mode="json"), indent=2, ensure_ascii=False))
    else:
        Console(highlight=False).print(issue_panel(settings.language, view))


@app.command("list", rich_help_panel=_LOOK, epilog="Example: python starter.py list --state awaiting-response")
def list_issues(
    state: Annotated[State | None, typer.Option(help="Only issues in this state.")] = None,
    as_json: AsJson = False,  # noqa: FBT002 - a switch
    config: Config = None,
) -> None:
    """List the issues whose workflows run."""
    settings = load_settings(config, os.environ)
    issues = asyncio.run(_listed(settings, state))
    if as_json:
        _say(json.dumps([issue.model_dump(mode="json") for issue in issues], indent=2, ensure_ascii=False))
    else:
        Console(highlight=False).print(issue_table(settings.language, issues))


@app.command(rich_help_panel=_LOOK, epilog="Example: python starter.py watch https://github.com/o/r/issues/12")
def watch(issue: Issue, config: Config = None) -> None:
    """Follow an issue live until its workflow ends; Ctrl-C leaves."""
    settings, address = _settings_and_issue(config, issue)
    with suppress(KeyboardInterrupt):
        asyncio.run(watching.watch(settings, address, Console(highlight=False)))


@app.command(rich_help_panel=_REMEMBER, epilog="Example: python starter.py explain octocat/hello-world#12")
def explain(issue: Issue, as_json: AsJson = False, config: Config = None) -> None:  # noqa: FBT002 - a switch
    """Tell who did what on an issue, when, why and at what cost."""
    settings, address = _settings_and_issue(config, issue)
    from hikitsugi.cli import remembering, story_screen  # noqa: PLC0415 - brings in what other commands need not wait for

    told = asyncio.run(remembering.explain(settings, address))
    if as_json:
        _say(told.model_dump_json(indent=2))
    else:
        Console(highlight=False).print(story_screen.story(settings.language, told))
    _tell_what_is_missing(settings, told.left_out)


@app.command(rich_help_panel=_REMEMBER, epilog="Example: python starter.py export octocat/hello-world#12 --to 12.json")
def export(
    issue: Issue,
    to: Annotated[Path | None, typer.Option(help="Write to this file instead.", metavar="FILE")] = None,
    config: Config = None,
) -> None:
    """Print everything the store holds of an issue as JSON, without secrets."""
    settings, address = _settings_and_issue(config, issue)
    from hikitsugi.cli import remembering  # noqa: PLC0415 - brings in what other commands need not wait for

    held = asyncio.run(remembering.export(settings, address))
    text = json.dumps(held, indent=2, ensure_ascii=False)
    if to is None:
        _say(text)
    else:
        to.touch(mode=0o600)
        to.write_text(f"{text}\n", encoding="utf-8", errors="replace")
        _say(words.exported(settings.language, str(to)))
    _tell_what_is_missing(settings, held["left_out"])


@app.command(rich_help_panel=_REMEMBER, epilog="Example: python starter.py forget octocat/hello-world#12 --yes")
def forget(
    issue: Issue,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,  # noqa: FBT002 - a switch
    config: Config = None,
) -> None:
    """Remove everything the store holds of an issue; the forge and Temporal's histories keep theirs."""
    settings, address = _settings_and_issue(config, issue)
    from hikitsugi.cli import remembering  # noqa: PLC0415 - brings in what other commands need not wait for

    if not yes and not typer.confirm(words.really_forget(settings.language, str(address))):
        _say(words.not_forgotten(settings.language, str(address)))
        return
    sessions = asyncio.run(remembering.forget(settings, address))
    _say(words.forgotten(settings.language, str(address), sessions))


@app.command(rich_help_panel=_WATCH, epilog="Example: python starter.py watch-repository github:octocat/hello-world")
def watch_repository(repository: Repository, config: Config = None) -> None:
    """Have the issues and comments of a repository found and answered."""
    settings, home = _settings_and_repository(config, repository)
    asyncio.run(orders.watch_repository(settings, home))
    _say(words.is_watched(settings.language, str(home)))


@app.command(rich_help_panel=_WATCH, epilog="Example: python starter.py unwatch-repository github:octocat/hello-world")
def unwatch_repository(repository: Repository, config: Config = None) -> None:
    """End the watching; a repository of the configuration is watched again when the watcher starts again."""
    settings, home = _settings_and_repository(config, repository)
    by_now = asyncio.run(orders.unwatch_repository(settings, home))
    _say(words.is_unwatched(settings.language, str(home), by_now=by_now))


@app.command(rich_help_panel=_CHECK, epilog="Example: python starter.py check-config --config hikitsugi.yaml")
def check_config(config: Config = None) -> None:
    """Say what is wrong with the configuration, and try the credentials."""
    settings = load_settings(config, os.environ)
    # The other commands need not wait for the client libraries that this one brings in.
    from hikitsugi.cli.checking import check  # noqa: PLC0415

    asyncio.run(check(settings, Console(highlight=False)))


def _settings_and_issue(config: Path | None, text: str) -> tuple[Settings, IssueAddress]:
    settings = load_settings(config, os.environ)
    try:
        return settings, issue_in(text, known_forges(settings))
    except ValueError as error:
        _misused(str(error))


def _settings_and_repository(config: Path | None, text: str) -> tuple[Settings, RepositoryAddress]:
    settings = load_settings(config, os.environ)
    try:
        return settings, repository_in(text, known_forges(settings))
    except ValueError as error:
        _misused(str(error))


def _signal(config: Path | None, issue: str, name: str, payload: JsonValue) -> tuple[Settings, IssueAddress]:
    settings, address = _settings_and_issue(config, issue)
    asyncio.run(orders.signal(settings, address, name, payload))
    return settings, address


async def _look(settings: Settings, issue: IssueAddress) -> View:
    return await look(await connected(settings), issue)


async def _listed(settings: Settings, state: State | None) -> list[ListedIssue]:
    return await listed(await connected(settings), state)


def _tell_what_is_missing(settings: Settings, left_out: JsonValue) -> None:
    """Beside the document, not in it: standard output may be read by a program."""
    if isinstance(left_out, int) and left_out:
        sys.stderr.write(f"{words.left_out(settings.language, left_out)}\n")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _misused(why: str) -> NoReturn:
    sys.stderr.write(f"{why}\n")
    raise typer.Exit(MISUSED)
