"""A thin agent: asks the broker for a task, hands the prompt to a command line tool, and reports what came of it.

    python agent.py --broker http://localhost:8080 --id my-agent -- claude -p

The tool reads the prompt on its standard input and finds the task's facts in TASK_* variables. The token, if the
broker wants one, comes from BROKER_TOKEN. Only the standard library is needed.
"""

import argparse
import http.client
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import suppress
from typing import Any

Task = dict[str, Any]
LOST = 409
_SHOWN = (
    "issue_id",
    "issue_url",
    "title",
    "branch_name",
    "required_role",
    "task_type",
    "repository",
    "forge",
    "lease_id",
)
_LASTING = set(range(400, 500)) - {408, 429}
_RETRY_SECONDS = 2.0
_GRACE_SECONDS = 5.0


class Refused(Exception):
    """The broker will not have us, however often we ask."""


class Broker:
    """The broker's HTTP interface, as far as an agent needs it."""

    def __init__(self, address: str, agent: str, token: str | None) -> None:
        self._address = address.rstrip("/")
        self._agent = agent
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def next_task(self, role: str | None, seconds: float, types: list[str]) -> Task | None:
        """The next task, or None when there is none in time."""
        asked: dict[str, Any] = {"agent_id": self._agent, "timeout_seconds": seconds, "task_types": types}
        if role:
            asked["agent_role"] = role
        _, body = self._insist("/api/v1/request-task", asked, seconds + 30)
        return json.loads(body) if body else None

    def report(self, task: Task, what: str, note: str = "") -> bool:
        """Report on the task; False when the lease is lost."""
        status, _ = self._insist(_report(task, what), {"agent_id": self._agent, "note": note}, 60)
        return status != LOST

    def release(self, task: Task, note: str) -> None:
        """Give the task back if the broker answers now; otherwise its lease runs out."""
        with suppress(Refused, OSError, http.client.HTTPException):
            self._post(_report(task, "release"), {"agent_id": self._agent, "note": note}, 10)

    def _insist(self, path: str, body: dict[str, Any], seconds: float) -> tuple[int, bytes]:
        """Ask until the broker answers; one that is away comes back."""
        while True:
            wait = _RETRY_SECONDS
            try:
                return self._post(path, body, seconds)
            except urllib.error.HTTPError as error:
                told = error.headers.get("Retry-After") or ""
                wait = float(told) if told.isdecimal() else wait
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(wait)

    def _post(self, path: str, body: dict[str, Any], seconds: float) -> tuple[int, bytes]:
        """Ask once; what will be the same the next time is Refused."""
        request = urllib.request.Request(  # noqa: S310 - the operator names the address
            self._address + path, json.dumps(body).encode(), self._headers
        )
        try:
            with urllib.request.urlopen(request, timeout=seconds) as answer:  # noqa: S310 - as above
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                if error.code == LOST:
                    return LOST, b""
                if error.code not in _LASTING:
                    raise
                told = error.read().decode(errors="replace")
            raise Refused(f"the broker refuses: {error.code} {told}") from None


def _report(task: Task, what: str) -> str:
    return f"/api/v1/tasks/{task['lease_id']}/{what}"


def work(broker: Broker, task: Task, tool: list[str], every: float) -> None:
    """Run the tool on the prompt, with signs of life meanwhile, and report its end."""
    facts = {f"TASK_{name.upper()}": str(task[name]) for name in _SHOWN}
    try:
        process = _start(tool, task["prompt"], facts)
    except OSError as error:
        broker.report(task, "fail", f"{tool[0]} cannot be started: {error.strerror}")
        sys.exit(f"{tool[0]} cannot be started: {error.strerror}")
    try:
        is_ours = _run(broker, task, process, every)
    except KeyboardInterrupt:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        # First the tool, then the lease: it must not push while the next agent begins.
        _end(process)
        broker.release(task, "the agent was stopped")
        raise
    except BaseException:
        _end(process)
        raise
    if not is_ours:
        print(f"#{task['issue_id']} is not ours any more", flush=True)
    elif process.returncode == 0:
        broker.report(task, "complete")
    else:
        broker.report(task, "fail", f"{tool[0]} ended with {process.returncode}")


def _start(tool: list[str], prompt: str, facts: dict[str, str]) -> "subprocess.Popen[bytes]":
    """The tool in a session of its own, so that it can be ended with all that it starts."""
    # A file, because a pipe would keep us waiting for a tool that reads late.
    with tempfile.TemporaryFile() as given:
        given.write(prompt.encode())
        given.seek(0)
        return subprocess.Popen(tool, stdin=given, env={**os.environ, **facts}, start_new_session=True)  # noqa: S603 - the operator's tool


def _run(broker: Broker, task: Task, process: "subprocess.Popen[bytes]", every: float) -> bool:
    """Tell the broker that we are alive until the tool ends; False if the lease was lost before."""
    while True:
        try:
            process.wait(every)
        except subprocess.TimeoutExpired:
            if not broker.report(task, "heartbeat"):
                _end(process)
                return False
        else:
            return True


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the tool and whatever it started."""
    for number, seconds in ((signal.SIGTERM, _GRACE_SECONDS), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)


def main() -> None:
    """Work on task after task."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--broker", default=os.environ.get("BROKER_URL", "http://localhost:8080"))
    parser.add_argument("--id", default=os.environ.get("AGENT_ID", "example-agent"))
    parser.add_argument("--role", default=os.environ.get("AGENT_ROLE"))
    parser.add_argument("--types", default="development", help="development, review, or both with a comma")
    parser.add_argument("--wait", type=float, default=120, help="seconds one request waits for a task")
    parser.add_argument("--heartbeat", type=float, default=60, help="seconds between signs of life")
    parser.add_argument("--once", action="store_true", help="end after one task")
    parser.add_argument("tool", nargs="*", help="the command that reads the prompt; else AGENT_COMMAND")
    given = parser.parse_args()
    tool = given.tool or shlex.split(os.environ.get("AGENT_COMMAND", ""))
    if not tool:
        print("no tool is named that could work on a prompt; set AGENT_COMMAND", flush=True)
        return
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell lets what it starts in the background ignore the first
        signal.signal(number, signal.default_int_handler)
    broker = Broker(given.broker, given.id, os.environ.get("BROKER_TOKEN"))
    try:
        while not (_work_on_next(broker, tool, given) and given.once):
            pass
    except Refused as refusal:
        sys.exit(str(refusal))
    except KeyboardInterrupt:
        sys.exit(130)


def _work_on_next(broker: Broker, tool: list[str], given: argparse.Namespace) -> bool:
    """Whether there was a task."""
    task = broker.next_task(given.role, given.wait, given.types.split(","))
    if task:
        print(f"#{task['issue_id']} {task['title']} ({task['branch_name']})", flush=True)
        work(broker, task, tool, given.heartbeat)
    return task is not None


if __name__ == "__main__":
    main()
