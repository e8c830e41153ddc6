"""A thin agent: asks the broker for a task, hands the prompt to a command line tool, and reports what came of it.

    python agent.py --broker http://localhost:8080 --id my-agent -- claude -p

The tool reads the prompt on its standard input and finds the task's facts in TASK_* variables. The token, if the
broker wants one, comes from BROKER_TOKEN. Only the standard library is needed.
"""

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
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
_RETRY_SECONDS = 5.0


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
        _, body = self._post("/api/v1/request-task", asked, seconds + 30)
        return json.loads(body) if body else None

    def report(self, task: Task, what: str, note: str = "") -> bool:
        """Report on the task; False when the lease is lost."""
        path = f"/api/v1/tasks/{task['lease_id']}/{what}"
        status, _ = self._post(path, {"agent_id": self._agent, "note": note}, 60)
        return status != LOST

    def _post(self, path: str, body: dict[str, Any], seconds: float) -> tuple[int, bytes]:
        """Ask until the broker answers; one that is away comes back."""
        while True:
            request = urllib.request.Request(  # noqa: S310 - the operator names the address
                self._address + path, json.dumps(body).encode(), self._headers
            )
            try:
                with urllib.request.urlopen(request, timeout=seconds) as answer:  # noqa: S310 - as above
                    return answer.status, answer.read()
            except urllib.error.HTTPError as error:
                if error.code == LOST:
                    return LOST, b""
                if error.code not in (429, 502, 503, 504):
                    sys.exit(f"the broker refuses: {error.code} {error.read().decode(errors='replace')}")
                wait = float(error.headers.get("Retry-After") or _RETRY_SECONDS)
            except OSError:
                wait = _RETRY_SECONDS
            time.sleep(wait)


def work(broker: Broker, task: Task, tool: list[str], every: float) -> None:
    """Run the tool on the prompt, with signs of life beside it, and report its end."""
    facts = {f"TASK_{name.upper()}": str(task[name]) for name in _SHOWN}
    process = subprocess.Popen(tool, stdin=subprocess.PIPE, env={**os.environ, **facts})  # noqa: S603 - the operator's tool
    done = threading.Event()
    beating = threading.Thread(target=_beat, args=(broker, task, process, done, every), daemon=True)
    beating.start()
    try:
        process.communicate(task["prompt"].encode())
    except BaseException:
        process.terminate()
        broker.report(task, "release", "the agent was stopped")
        raise
    finally:
        done.set()
        beating.join()
    if process.returncode == 0:
        broker.report(task, "complete")
    else:
        broker.report(task, "fail", f"{tool[0]} ended with {process.returncode}")


def _beat(broker: Broker, task: Task, process: "subprocess.Popen[bytes]", done: threading.Event, every: float) -> None:
    """Tell the broker that we are alive; whoever lost the lease stops working."""
    while not done.wait(every):
        if not broker.report(task, "heartbeat"):
            process.terminate()
            return


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
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    broker = Broker(given.broker, given.id, os.environ.get("BROKER_TOKEN"))
    while True:
        task = broker.next_task(given.role, given.wait, given.types.split(","))
        if task:
            print(f"#{task['issue_id']} {task['title']} ({task['branch_name']})", flush=True)
            work(broker, task, tool, given.heartbeat)
            if given.once:
                return


if __name__ == "__main__":
    main()
