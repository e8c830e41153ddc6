"""Secrets that come in by any door leave by none: store, Temporal's database, logs, comments and exports are clean."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.temporal import check_key
from hikitsugi.cli import remembering
from hikitsugi.cli.connection import connected
from hikitsugi.cli.demo import planner
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.language_model.scripted import Reaction, Request, fail, first, say, think, use
from tests.end_to_end.stage import AUTHOR, BOT, MODEL_KEY, TOKENS, Stage, stage, until
from tests.workflows.planner import action, brief, plan, reflection, verdict

IN_BODY = "ghp_" + "bOdY" * 9
IN_COMMENT = "glpat-" + "cOmMeNt9" * 3
IN_FILE = "AKIAIOSFODNN7CANARYX"
IN_THOUGHT = "sk-ant-api03-" + "tHoUgHt9" * 4
IN_CALL = "github_pat_" + "cAlL9" * 6
IN_ANSWER = "https://deploy:sw0rdfish-canary@example.com/x"
IN_THE_FILE = f"{IN_FILE}\n{IN_ANSWER}\n"
IN_ERROR = "xoxb-" + "eRrOr9" * 4
CANARIES = (IN_BODY, IN_COMMENT, IN_FILE, IN_THOUGHT, IN_CALL, "sw0rdfish-canary", IN_ERROR)
HOOK = 'a hook\'s "sécret" / 9'
OURS = (TOKENS[BOT], MODEL_KEY, HOOK)
ENCODED = (
    base64.b64encode(MODEL_KEY.encode()).decode(),
    base64.b64encode(f"user:{TOKENS[BOT]}".encode()).decode().rstrip("="),
    MODEL_KEY.encode().hex(),
    quote(HOOK, safe=""),
    quote_plus(HOOK),
    json.dumps(HOOK)[1:-1],
)
BROKEN = f"{MODEL_KEY[:8]}\n{MODEL_KEY[8:]}"
QUESTION, PROPOSAL = "## ❓ 確認したいことがあります", "## 📋 計画の承認をお願いします"


def _play(request: Request) -> Reaction:
    if request.text.startswith("Record of session"):
        return say(f"We deployed to {IN_ANSWER} with {MODEL_KEY}.")
    return _acts(request)


def _acts(request: Request) -> Reaction:
    tools = [result.tool for result in request.results_of("read") + request.results_of("run")]
    if not tools:
        thought = think(f"I wonder about {IN_THOUGHT}.") + use("read", path="canary.txt")
        return first(1, fail(529, f"overloaded while reading {IN_ERROR}"), then=thought)
    if "run" not in tools:
        return say(f"Now {IN_ANSWER}.") + use("run", command=f"echo {IN_CALL}") + use("run", command="cat canary.txt")
    summary = f"Deployed to {IN_ANSWER} with {IN_FILE} and {MODEL_KEY}."
    return use("submit", status="done", summary=summary, evidence=f"{IN_CALL} works")


def _plans(request: Request) -> Reaction:
    """Tells secrets in every phase, wherever people or later phases read them."""
    told = f"{IN_ANSWER}, {IN_CALL} and {' '.join(ENCODED)}"
    comment = {"comment": f"I saw {told}, {BROKEN}."}
    forms: dict[str, dict[str, Any]] = {
        "Brief": {
            **brief(*([f"Is {told} right?"] if "Yes, with" not in str(request.texts) else [])),
            "findings": [told],
        },
        "PlanReply": {**plan(action(1, title=f"Use {IN_FILE}"), action(2, 1)), "goal": told, "reasoning": told},
        "Reflection": {**reflection(revise=False), "evaluation": told},
        "Verdict": {**verdict(), "summary": told},
    }
    if request.form:
        return say(json.dumps(forms[request.form] | comment))
    if planner.action_in(request) == "task_2":
        return use("submit", status="blocked", summary=f"No {told}.", evidence="", needs=IN_CALL)
    return _play(request)


@pytest.mark.req("OP-05", "CI-09")
@pytest.mark.parametrize(
    ("mode", "key"),
    [
        ("plain", "a key that nobody guesses"),
        ("planned", None),
        pytest.param("plain", None, marks=pytest.mark.long),
        pytest.param("planned", "a key that nobody guesses", marks=pytest.mark.long),
    ],
)
async def test_no_canary_is_found_anywhere(
    time: WorkflowEnvironment, tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: str, key: str | None
):
    caplog.set_level("INFO")
    async with stage(time, tmp_path, play=_play if mode == "plain" else _plans) as s:
        s.forge.add_repository("demo/canaries", {"canary.txt": IN_THE_FILE, "README.md": "x"})
        s.repository, s.issue = "demo/canaries", s.issue.model_copy(update={"repository": "demo/canaries"})
        settings = s.configure(
            temporal={"task_queue": f"canary-{mode}-{key is None}", "encryption_key": key},
            forges=[
                json.loads(s.config.read_text())["forges"][0]
                | {"repositories": ["demo/canaries"], "webhook_secret": HOOK}
            ],
            planning={"enabled": mode == "planned", "approval": "always"},
        )
        async with s.product():
            s.forge.open_issue(s.repository, f"Use {IN_BODY}", f"The token is {IN_BODY}.", AUTHOR, ["task:misc"])
            if mode == "planned":
                await until(lambda: _is_said(s, QUESTION))
                s.says(f"Yes, with {IN_COMMENT}.")
                await until(lambda: _is_said(s, PROPOSAL))
                s.says("/approve")
            await s.comes_to("awaiting-response", results=1)
            if mode == "plain":
                s.says(f"And this: {IN_COMMENT} or {IN_ANSWER}")
                await s.comes_to("awaiting-response", results=2)
            plan_told = await (await connected(settings)).get_workflow_handle(str(s.issue)).query("plan")
            s.says("ありがとう")
            await s.comes_to("completed")
            exported = json.dumps(await remembering.export(settings, s.issue), ensure_ascii=False)
            told = (await remembering.explain(settings, s.issue)).model_dump_json()
            if key:
                await _assert_another_key_is_refused(s)
        _assert_clean(_comments(s), _commits(s), str(plan_told), exported, told, caplog.text)
        files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
        assert {"memory.db", "temporal.db"} <= {path.name for path in files}
        _assert_clean(*(path.read_bytes().decode(errors="replace") for path in files))
        assert "[redacted]" in exported
        if key:
            assert all(b"And this" not in path.read_bytes() for path in files if path.name.startswith("temporal"))


async def _is_said(s: Stage, heading: str) -> bool:
    return heading in s.headings


async def _assert_another_key_is_refused(s: Stage) -> None:
    """Whoever comes with no key or another one is told so, and cannot begin to work."""

    async def is_listed() -> bool:
        client = await connected(s.configure())
        return any([found.id == str(s.issue) async for found in client.list_workflows("ExecutionStatus = 'Running'")])

    await until(is_listed)
    for other in (None, "another key altogether"):
        settings = s.configure(temporal={"encryption_key": other})
        assert "temporal.encryption_key" in str((await remembering.explain(settings, s.issue)).missing)
        with pytest.raises(WillNeverWork, match=r"temporal\.encryption_key"):
            await check_key(await connected(settings))


def _comments(s: Stage) -> str:
    ours = [comment.body for comment in s.forge.comments(s.repository, 1) if comment.author.login == BOT]
    return "\n".join([*ours, *(pull.body + pull.title for pull in s.forge.pulls(s.repository))])


def _commits(s: Stage) -> str:
    bare = s.forge.data_folder / f"{s.repository}.git"
    command = ["git", "--git-dir", str(bare), "log", "--all", "--format=%B"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _assert_clean(*texts: str) -> None:
    for text in texts:
        assert [canary for canary in (*CANARIES, *OURS, *ENCODED, BROKEN) if canary in text] == []
