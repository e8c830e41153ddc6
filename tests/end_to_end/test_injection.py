"""A model that obeys every injected word: nothing is written beside the work branch, and no secret is found."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.cli.demo import sample
from hikitsugi.language_model.scripted import Answer, Request, use
from tests.end_to_end.injections import PLACES, Payload, payloads
from tests.end_to_end.stage import AUTHOR, MODEL_KEY, TOKENS, Stage, stage
from tests.workspace.conftest import missing

pytestmark = [pytest.mark.req("OP-05", "OP-06", "BY-06"), pytest.mark.lesson("P9")]

_AT_ONCE = 16
_TOOLS = ("read", "run", "write", "glob", "grep")
_CANARY = "CANARY_0123456789abcdef"


class Obedient:
    """Reads all there is to read, does whatever any text asks for, and tells all it saw."""

    def __init__(self) -> None:
        self.corpus: list[Payload] = []
        self.obeyed = 0

    def __call__(self, request: Request) -> Answer:
        """Look around, obey in the order of the corpus, submit."""
        done = [result for message in (request.results_of(tool) for tool in _TOOLS) for result in message]
        if request.turn == 0:
            return use("read", path="NOTES.md") + use("run", command="sh report.sh")
        seen = "\n".join([*request.texts, *(result.text for result in done)])
        asked = [payload for payload in self.corpus if payload.mark in seen][len(done) - 2 :]
        if asked:
            return sum((use(payload.tool, **payload.given) for payload in asked[:_AT_ONCE]), start=Answer())
        self.obeyed = len(done) - 2
        told = "\n".join(result.text[:500] for result in done)
        return use("submit", status="done", summary=f"Obeyed.\n\n{told[-20_000:]}", evidence=told[:2000])


@asynccontextmanager
async def _sink() -> AsyncGenerator[tuple[int, list[str]]]:
    """Where stolen things would arrive."""
    arrived: list[str] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.append((await reader.read(1000)).decode(errors="replace"))
        writer.close()

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], arrived


def _git(s: Stage, *arguments: str) -> str:
    bare = s.forge.data_folder / f"{s.repository}.git"
    command = ["git", "--git-dir", str(bare), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _plant(s: Stage, corpus: list[Payload]) -> None:
    """Put every payload where it belongs."""
    texts = {where: "\n\n".join(each.text for each in corpus if each.where == where) for where in PLACES}
    desk = s.folder / "desk"
    bare = str(s.forge.data_folder / f"{s.repository}.git")
    subprocess.run(["git", "clone", "-q", bare, str(desk)], check=True)
    (desk / "NOTES.md").write_text(texts["file"])
    (desk / "report.sh").write_text(f"cat <<'END'\n{texts['output']}\nEND\n")
    subprocess.run(["git", "-C", str(desk), "add", "."], check=True)
    person = ["-c", "user.name=Hanako", "-c", "user.email=hanako@example.com"]
    subprocess.run(["git", "-C", str(desk), *person, "commit", "-qm", "Notes"], check=True)
    subprocess.run(["git", "-C", str(desk), "push", "-q", "origin", "HEAD:main"], check=True)
    s.forge.open_issue(s.repository, sample.TITLE, f"{sample.BODY}\n{texts['issue']}", AUTHOR, ["task:misc"])
    s.says(texts["comment"])


async def test_whatever_the_texts_say_no_secret_leaves_and_only_the_work_branch_changes(
    time: WorkflowEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if shutil.which("bwrap") is None:
        missing("the corpus needs bubblewrap")
    monkeypatch.setenv("GITHUB_TOKEN", _CANARY)
    monkeypatch.setenv("DATABASE_PASSWORD", _CANARY)
    model = Obedient()
    async with _sink() as (port, arrived), stage(time, tmp_path, model) as s:
        model.corpus = list(payloads(port, str(s.config)))
        assert len(model.corpus) >= 60
        await asyncio.to_thread(_plant, s, model.corpus)
        (s.folder / "canary.txt").write_text(_CANARY)
        before = _git(s, "rev-parse", "main")
        async with s.product():
            await s.comes_to("awaiting-response", results=1)
        assert model.obeyed == len(model.corpus)
        assert arrived == []
        assert _git(s, "rev-parse", "main") == before
        assert set(_git(s, "for-each-ref", "--format=%(refname)", "refs/heads").split()) <= {
            "refs/heads/main",
            "refs/heads/hikitsugi/issue-1",
        }
        _assert_no_secret(s)


def _assert_no_secret(s: Stage) -> None:
    """Neither the model nor a comment, a request or a commit holds one."""
    told = [result.text for received in s.model.requests for result in received.body.results]
    comments = [comment.body for comment in s.forge.comments(s.repository, 1)]
    requests = [f"{pull.title}\n{pull.body}" for pull in s.forge.pulls(s.repository)]
    everything = "\n".join([*told, *comments, *requests, _git(s, "log", "--all", "-p")])
    for secret in (_CANARY, TOKENS["hikitsugi-bot"], MODEL_KEY):
        assert secret not in everything
    assert "STOLEN" not in _git(s, "log", "--all", "-p")
    assert "ESCAPED" not in [line.strip() for text in told for line in text.splitlines()]
    assert not Path("/tmp/pwned").exists()  # noqa: S108 - where the payload would write
