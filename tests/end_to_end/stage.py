"""A stage for the whole product: the development forge and the scripted model around it, everything over HTTP."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from temporalio.client import Client, WorkflowHandle
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Interceptor

from hikitsugi.app.running import Role, running
from hikitsugi.app.settings import Settings, load_settings
from hikitsugi.app.temporal import plugin
from hikitsugi.cli.demo import sample, script
from hikitsugi.devforge import DevForge
from hikitsugi.devforge import serve as serve_forge
from hikitsugi.devforge.kinds import KindName
from hikitsugi.devforge.records import Comment
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.status import Status
from hikitsugi.language_model.scripted import Script, ScriptedModel
from hikitsugi.language_model.scripted import serve as serve_model
from workflows.issue_workflow import IssueWorkflow

GENEROUS = 120.0
AUTHOR = sample.AUTHOR
BOT = sample.BOT
TOKENS = {AUTHOR: "token-of-hanako", "kenji": "token-of-kenji", BOT: "token-of-the-bot"}
MODEL_KEY = "key-of-the-model"


class Stage:
    """One repository with one issue, the product's settings, and ways to look at what came of it."""

    def __init__(self, folder: Path, forge: DevForge, model: ScriptedModel, repository: str, client: Client) -> None:
        self.folder = folder
        self.forge = forge
        self.model = model
        self.repository = repository
        self.client = client
        self.issue = IssueAddress(forge=forge.kind.name, repository=repository, number=1)
        self.config = folder / "hikitsugi.yaml"
        folder.mkdir(exist_ok=True)

    def configure(self, **keys: Any) -> Settings:
        """Write the configuration, with some keys changed, and read it as the product does."""
        given: dict[str, Any] = json.loads(self.config.read_text()) if self.config.exists() else {}
        self.config.write_text(json.dumps(given | keys))
        return load_settings(self.config, {})

    @asynccontextmanager
    async def product(self, *interceptors: Interceptor) -> AsyncGenerator[None]:
        """Run worker and watcher in this process."""
        async with running(self.configure(), {Role.WORKER, Role.WATCHER}, interceptors=interceptors):
            yield

    def opens_issue(self) -> None:
        """The author writes the sample's issue."""
        self.forge.open_issue(self.repository, sample.TITLE, sample.BODY, AUTHOR, ["task:misc"])

    def says(self, body: str, author: str = AUTHOR) -> Comment:
        """Somebody comments on the issue."""
        return self.forge.comment(self.repository, 1, author, body)

    @property
    def labels(self) -> set[str]:
        """The labels of the issue."""
        return set(self.forge.issue(self.repository, 1).labels)

    @property
    def headings(self) -> list[str]:
        """The first line of each comment of ours."""
        comments = self.forge.comments(self.repository, 1)
        return [comment.body.splitlines()[0] for comment in comments if comment.author.login == BOT]

    @property
    def workflow(self) -> WorkflowHandle[IssueWorkflow, None]:
        """The issue's workflow."""
        return self.client.get_workflow_handle_for(IssueWorkflow.run, str(self.issue))

    async def status(self) -> Status:
        """What the `status` query says."""
        return await self.workflow.query(IssueWorkflow.status)

    async def comes_to(self, *labels: str, results: int | None = None) -> None:
        """Wait until the issue carries labels, after some results."""

        async def there() -> bool:
            told = sum(heading == "## 実行完了" for heading in self.headings)
            return set(labels) <= self.labels and (results is None or told == results)

        await until(there)

    def checked_out(self) -> Path:
        """A fresh clone of the work branch, as somebody who reviews it would make."""
        clone = self.folder / f"clone-{uuid4().hex[:6]}"
        bare = self.forge.data_folder / f"{self.repository}.git"
        subprocess.run(["git", "clone", "-q", "-b", "hikitsugi/issue-1", str(bare), str(clone)], check=True)
        return clone

    def tree(self) -> str:
        """The hash of what the work branch holds."""
        bare = self.forge.data_folder / f"{self.repository}.git"
        command = ["git", "--git-dir", str(bare), "rev-parse", "hikitsugi/issue-1^{tree}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@asynccontextmanager
async def stage(
    time: WorkflowEnvironment,
    folder: Path,
    play: Script = script.reply,
    interval: float = 0.3,
    kind: KindName = "github",
    call_limit: int | None = None,
) -> AsyncGenerator[Stage]:
    """Forge and model are up, the issue's repository is there, and nothing of the product runs yet."""
    repository = f"demo/{uuid4().hex[:8]}"
    forge = DevForge(folder / "forge", kind, call_limit)
    for name, token in TOKENS.items():
        forge.add_person(name, token, "read" if name == AUTHOR else "write", is_bot=name == BOT)
    forge.add_repository(repository, sample.FILES)
    model = ScriptedModel(play, api_key=MODEL_KEY)
    address = time.client.service_client.config.target_host
    client = await Client.connect(address, plugins=[plugin()])
    async with serve_forge(forge) as forge_url, serve_model(model) as model_url:
        made = Stage(folder, forge, model, repository, client)
        made.configure(
            data_folder=str(folder / "data"),
            forges=[{"kind": kind, "url": forge_url, "token": TOKENS[BOT], "repositories": [repository]}],
            llm={"base_url": model_url, "api_key": MODEL_KEY},
            temporal={"address": address, "task_queue": f"stage-{uuid4().hex[:8]}"},
            workspace={"root": str(_workshop()), "check_command": script.TESTS},
            polling={"interval_seconds": interval},
            planning={"enabled": False},
            sandbox={"kind": "auto" if shutil.which("bwrap") else "none"},
            broker={"port": 0},
            telemetry={"metrics_port": 0},
            redis={"url": "redis://127.0.0.1:1/0"},
        )
        yield made


def _workshop() -> Path:
    """A folder that the sandbox's user can reach."""
    folder = Path("/var/tmp") / f"hikitsugi-tests-{uuid4().hex[:8]}"  # noqa: S108 - made anew, with a name of its own
    folder.mkdir(mode=0o711)
    return folder


async def until(condition: Callable[[], Awaitable[bool]], patience: float = GENEROUS) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(patience):
        while not await condition():  # noqa: ASYNC110 - another process has no event to give us
            await asyncio.sleep(0.05)
