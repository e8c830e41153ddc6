"""Plays the demo: `make demo`, or `make demo ARGS=--once`."""

import signal

if __name__ == "__main__":
    # Ctrl-C while the parts are being loaded ends the process without a traceback; `ended` listens to it again.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import asyncio
import json
import secrets
import shutil
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.markup import escape

from hikitsugi.app.data_folder import DEMO_SIGN
from hikitsugi.app.run_file import RunFacts, read_run_file
from hikitsugi.cli.demo import sample, script
from hikitsugi.cli.demo.external_agent import AGENT, external_agent
from hikitsugi.cli.demo.story import Story
from hikitsugi.cli.demo.supervision import SupervisedWorker
from hikitsugi.cli.ending import ended
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.kinds import KindName
from hikitsugi.devforge.server import serve as serve_forge
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.policy import Language
from hikitsugi.language_model.scripted import ScriptedModel
from hikitsugi.language_model.scripted import serve as serve_model
from hikitsugi.messages import demo
from hikitsugi.workspace.confinement import Limits
from hikitsugi.workspace.places import default_root
from hikitsugi.workspace.sandbox import choose

USUAL_FOLDER = Path(".hikitsugi")
OTHER_FOLDER = Path(".hikitsugi-demo")
_TIME_TO_FINISH = 300.0
_LOOK_EVERY = 0.2

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
console = Console(highlight=False)


@app.command()
def main(
    *,
    once: Annotated[bool, typer.Option(help="End with 0 when the pull request is open.")] = False,
    forge: Annotated[KindName, typer.Option(help="Which kind of forge to play.")] = "github",
    broker: Annotated[bool, typer.Option(help="Let an external agent work through the broker.")] = False,
    language: Annotated[Language, typer.Option(help="The language people on the issue read.")] = "ja",
    data_folder: Annotated[Path | None, typer.Option(envvar="HIKITSUGI_DATA_FOLDER")] = None,
) -> None:
    """Play the whole job offline: an issue becomes a pull request."""
    asyncio.run(Demo(forge, language, _folder(language, data_folder), broker=broker).play(once=once))


class Demo:
    """One performance, from an empty stage to the pull request."""

    def __init__(self, kind: KindName, language: Language, folder: Path, *, broker: bool = False) -> None:
        self.kind: KindName = kind
        self.language: Language = language
        self.folder = folder
        self.broker = broker
        self.issue = IssueAddress(forge=kind, repository=sample.REPOSITORY, number=sample.ISSUE_NUMBER)

    def say(self, line: str) -> None:
        """One line in the terminal."""
        console.print(f"  {escape(line)}", soft_wrap=True)

    async def play(self, *, once: bool) -> None:
        """Set the stage, tell the story, and stay unless it is played once."""
        console.print(f"[bold]{demo.welcome(self.language)}[/]", soft_wrap=True)
        tokens = {name: secrets.token_hex(16) for name in (*sample.PEOPLE, sample.BOT, "model")}
        forge = self._forge(tokens)
        model = ScriptedModel(script.reply, api_key=tokens["model"])
        async with AsyncExitStack() as stack:
            forge_url = await stack.enter_async_context(serve_forge(forge))
            model_url = await stack.enter_async_context(serve_model(model))
            config = await self._configure(forge_url, model_url, tokens)
            self.say(demo.starts(self.language))
            told = {"forge": forge_url, "llm": model_url, "issue": str(self.issue)}
            worker = SupervisedWorker(self.folder, config, told, self.language)
            stack.push_async_callback(worker.end)
            story = Story(forge, model, forge_url, self.language, ends_as="needs-review" if self.broker else None)
            facts = await worker.start()
            self._show_places(facts, story)
            if self.broker:
                self.say(demo.agent_asks(self.language, AGENT, facts.broker or ""))
                agent = external_agent(
                    facts.broker or "", forge_url, self.kind, tokens[sample.MAINTAINER], self.folder / "agent.log"
                )
                await stack.enter_async_context(agent)
            await self._until_told(worker, story, once=once)

    async def _until_told(self, worker: SupervisedWorker, story: Story, *, once: bool) -> None:
        beside = [
            asyncio.ensure_future(_interrupted()),
            asyncio.ensure_future(story.follow(self.say)),
            asyncio.ensure_future(worker.keep_alive(self.say)),
        ]
        try:
            if await _happens(self._told(story, worker), beside) and not once:
                console.print(f"[bold]{demo.your_turn(self.language)}[/]", soft_wrap=True)
                await _happens(asyncio.Event().wait(), beside)
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

    async def _told(self, story: Story, worker: SupervisedWorker) -> None:
        try:
            async with asyncio.timeout(_TIME_TO_FINISH):
                while not story.is_told:  # noqa: ASYNC110 - the forge has no event for it
                    await asyncio.sleep(_LOOK_EVERY)
        except TimeoutError:
            raise WillNeverWork(demo.took_too_long(self.language, str(worker.log))) from None
        finished = demo.finished_by_agent if self.broker else demo.finished
        console.print(f"[bold green]{finished(self.language)}[/]")

    def _forge(self, tokens: dict[str, str]) -> DevForge:
        forge = DevForge(self.folder / "forge", self.kind)
        for name, permission in sample.PEOPLE.items():
            forge.add_person(name, tokens[name], permission)
        forge.add_person(sample.BOT, tokens[sample.BOT], "write", is_bot=True)
        forge.add_repository(sample.REPOSITORY, sample.FILES)
        body = sample.BODY + sample.DELIVERABLES if self.broker else sample.BODY
        forge.open_issue(sample.REPOSITORY, sample.TITLE, body, sample.AUTHOR, ["task:misc"])
        return forge

    async def _configure(self, forge_url: str, model_url: str, tokens: dict[str, str]) -> Path:
        """Write the demo's configuration, as an operator would."""
        home = {"name": sample.REPOSITORY, "worked_by": "broker" if self.broker else "agent"}
        keys: dict[str, Any] = {
            "language": self.language,
            "data_folder": str(self.folder),
            "forges": [{"kind": self.kind, "url": forge_url, "token": tokens[sample.BOT], "repositories": [home]}],
            "llm": {"base_url": model_url, "api_key": tokens["model"]},
            "polling": {"interval_seconds": 2},
            "sandbox": {"kind": await self._sandbox()},
            "broker": {"port": 0},
            "telemetry": {"metrics_port": 0},
        }
        config = self.folder / "hikitsugi.yaml"
        config.touch(mode=0o600)
        config.write_text(json.dumps(keys, ensure_ascii=False, indent=2))
        return config

    async def _sandbox(self) -> Literal["auto", "none"]:
        """The best sandbox of this machine; the scripted model is harmless where there is none."""
        sandbox = await choose("auto", default_root(self.folder), Limits())
        if sandbox.kind == "refused":
            self.say(demo.no_sandbox(self.language, "bubblewrap"))
            return "none"
        self.say(demo.sandboxed(self.language, sandbox.kind))
        return "auto"

    def _show_places(self, facts: RunFacts, story: Story) -> None:
        known = facts.model_dump() | {"issue": story.issue_page}
        for key, name in demo.place_names(self.language).items():
            console.print(f"  [cyan]{name}[/]: [bold]{known[key]}[/]", soft_wrap=True)


def _folder(language: Language, wanted: Path | None) -> Path:
    """An empty folder for this performance; data of a real worker is never touched."""
    folder = wanted or USUAL_FOLDER
    if folder.exists() and any(folder.iterdir()) and not (folder / DEMO_SIGN).exists():
        if wanted:
            raise WillNeverWork(f"{folder} holds data that is not the demo's; choose another --data-folder")
        folder = OTHER_FOLDER
        console.print(demo.other_folder(language, str(folder)))
    if facts := read_run_file(folder):
        raise WillNeverWork(f"The demo already runs in {folder} (process {facts.pid}); end it first")
    if (folder / DEMO_SIGN).exists():
        shutil.rmtree(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / DEMO_SIGN).touch()
    return folder.absolute()


async def _happens(story: Coroutine[Any, Any, object], beside: Sequence["asyncio.Future[None]"]) -> bool:
    """Wait for the story; False when something beside it ends first, and what goes wrong there is raised."""
    main_thread = asyncio.ensure_future(story)
    done, _ = await asyncio.wait([main_thread, *beside], return_when=asyncio.FIRST_COMPLETED)
    if main_thread not in done:
        main_thread.cancel()
    for task in done:
        task.result()
    return main_thread in done


async def _interrupted() -> None:
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    await told.wait()


if __name__ == "__main__":
    ended(app)
