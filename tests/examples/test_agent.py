"""The example agent, run as anybody would run it, against a broker of a few lines."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

AGENT = Path(__file__).parent.parent.parent / "examples" / "agent.py"
GENEROUS = 60.0
TASK = {
    "prompt": "Do it. " * 20_000,
    "lease_id": "the-lease",
    "issue_id": 7,
    "issue_url": "http://forge.example/7",
    "title": "Do it",
    "branch_name": "feature/issue-7",
    "required_role": "CODER",
    "task_type": "development",
    "repository": "octo/repo",
    "forge": "github",
}
# Holds the lock as long as it lives, and tells that it has it.
WORKS = """
import fcntl, pathlib, signal, sys, time
{first}
sys.stdin.read()
held = open(sys.argv[1], "w")
fcntl.flock(held, fcntl.LOCK_EX)
pathlib.Path(sys.argv[1] + ".held").touch()
{then}
time.sleep(600)
"""
STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
LEAVES_A_CHILD = "import os; child = os.fork(); signal.pause() if child == 0 else None"


class Broker(ThreadingHTTPServer):
    """Gives one task, answers reports as it is told to, and remembers them."""

    daemon_threads = True

    def __init__(self, lock: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.lock = lock
        self.answers: dict[str, list[int]] = {}
        self.heard: list[tuple[str, str]] = []
        self.was_free: dict[str, bool] = {}
        self.asked = 0

    @property
    def reports(self) -> list[str]:
        return [what for what, _ in self.heard if what != "heartbeat"]

    def answer_to(self, what: str) -> int:
        left = self.answers.get(what, [])
        return left.pop(0) if len(left) > 1 else next(iter(left), 204)


class _Answers(BaseHTTPRequestHandler):
    server: Broker  # pyright: ignore[reportIncompatibleVariableOverride] - no other server runs it

    def do_POST(self) -> None:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        what = self.path.rsplit("/", 1)[-1]
        if what == "request-task":
            self.server.asked += 1
            task = json.dumps(TASK).encode() if self.server.asked == 1 else b""
            self._answer(200 if task else 204, task)
            return
        self.server.was_free[what] = is_free(self.server.lock)
        self.server.heard.append((what, body["note"]))
        self._answer(self.server.answer_to(what))

    def _answer(self, status: int, body: bytes = b"") -> None:
        if not status:
            return  # Hangs up without a word.
        self.send_response(status)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the server's
        pass


def is_free(lock: Path) -> bool:
    """Whether nothing of the tool lives any more."""
    with lock.open("a") as mine:
        try:
            fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def until(condition: Callable[[], bool]) -> None:
    given_up = time.monotonic() + GENEROUS
    while not condition():
        assert time.monotonic() < given_up
        time.sleep(0.02)


@pytest.fixture
def broker(tmp_path: Path) -> Generator[Broker]:
    with Broker(tmp_path / "lock") as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        serving.start()
        yield server
        server.shutdown()
        serving.join()


@contextmanager
def agent(broker: Broker, *tool: str) -> Generator["subprocess.Popen[str]"]:
    address = f"http://127.0.0.1:{broker.server_port}"
    asks = [sys.executable, str(AGENT), "--broker", address, "--heartbeat", "0.1", "--once", "--", *tool]
    with subprocess.Popen(asks, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    told, _ = process.communicate(timeout=GENEROUS)
    return process.returncode, told


def working(broker: Broker, first: str = "", then: str = "") -> list[str]:
    return [sys.executable, "-c", WORKS.format(first=first, then=then), str(broker.lock)]


def holds(broker: Broker) -> bool:
    return Path(f"{broker.lock}.held").exists()


@pytest.mark.parametrize(("tool", "report"), [("true", "complete"), ("false", "fail")])
def test_the_end_of_the_tool_is_reported(broker: Broker, tool: str, report: str):
    with agent(broker, tool) as process:
        assert ended(process)[0] == 0
    assert broker.reports == [report]


def test_the_tool_gets_the_prompt_and_the_facts(broker: Broker, tmp_path: Path):
    with agent(broker, "sh", "-c", f'cat > {tmp_path}/prompt; test "$TASK_BRANCH_NAME" = feature/issue-7') as process:
        ended(process)
    assert (tmp_path / "prompt").read_text() == TASK["prompt"]
    assert broker.reports == ["complete"]


def test_a_tool_that_is_not_there_is_reported_and_the_lease_not_kept(broker: Broker):
    with agent(broker, "no-such-tool") as process:
        status, told = ended(process)
    assert (status, broker.heard) == (1, [("fail", "no-such-tool cannot be started: No such file or directory")])
    assert "Traceback" not in told


def test_a_lost_lease_ends_the_tool_and_nothing_is_reported(broker: Broker):
    with agent(broker, *working(broker)) as process:
        until(lambda: holds(broker))
        broker.answers["heartbeat"] = [409]
        status, told = ended(process)
    assert (status, broker.reports) == (0, [])
    assert "#7 is not ours any more" in told
    assert is_free(broker.lock)


@pytest.mark.parametrize("refusal", [401, 403])
def test_a_broker_that_refuses_ends_the_tool_and_then_the_agent(broker: Broker, refusal: int):
    with agent(broker, *working(broker)) as process:
        until(lambda: holds(broker))
        broker.answers["heartbeat"] = [refusal]
        status, told = ended(process)
    assert (status, broker.reports) == (1, [])
    assert f"the broker refuses: {refusal}" in told
    assert "Traceback" not in told
    assert is_free(broker.lock)


def test_a_broker_that_is_away_for_a_while_is_asked_again(broker: Broker):
    broker.answers = {"heartbeat": [503, 500, 0, 204], "complete": [502, 204]}
    tool = f"until [ -e {broker.lock}.done ]; do sleep 0.05; done"
    with agent(broker, "sh", "-c", tool) as process:
        until(lambda: Counter(what for what, _ in broker.heard)["heartbeat"] > 4)
        Path(f"{broker.lock}.done").touch()
        assert ended(process)[0] == 0
    assert broker.reports == ["complete", "complete"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("first", ["", STUBBORN], ids=["polite", "stubborn"])
def test_a_stopped_agent_ends_its_tool_before_it_gives_the_task_back(broker: Broker, number: int, first: str):
    with agent(broker, *working(broker, first)) as process:
        until(lambda: holds(broker))
        process.send_signal(number)
        status, told = ended(process)
    assert (status, broker.heard[-1]) == (130, ("release", "the agent was stopped"))
    assert broker.was_free["release"]
    assert "Traceback" not in told


def test_what_the_tool_started_ends_with_it(broker: Broker):
    with agent(broker, *working(broker, then=LEAVES_A_CHILD)) as process:
        until(lambda: holds(broker))
        os.kill(process.pid, signal.SIGTERM)
        ended(process)
    until(lambda: is_free(broker.lock))


def test_an_agent_that_is_stopped_while_the_broker_is_away_ends_all_the_same(broker: Broker):
    broker.answers = {"heartbeat": [503], "release": [503]}
    with agent(broker, *working(broker)) as process:
        until(lambda: holds(broker))
        process.terminate()
        assert ended(process)[0] == 130
    assert broker.reports == ["release"]
