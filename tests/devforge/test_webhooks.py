"""Webhooks as the real forges send them, received by a real server."""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any

import httpx2
import pytest
from github import UnknownObjectException

from hikitsugi.devforge import DevForge
from hikitsugi.devforge.records import Edit
from hikitsugi.devforge.refusals import Invalid
from tests.devforge.conftest import HOME, PROJECT, ClientFor, ProjectFor, Publish

SIGNING_TOKEN = "whsec_" + base64.b64encode(bytes(range(32))).decode()


@dataclass
class Receiver:
    """What came in, with the answer to give."""

    url: str
    status: int = 202
    came: Queue[tuple[dict[str, str], bytes]] = field(default_factory=Queue[tuple[dict[str, str], bytes]])

    def next(self) -> tuple[dict[str, str], dict[str, Any], bytes]:
        headers, raw = self.came.get(timeout=20)
        return headers, json.loads(raw), raw


@pytest.fixture
def receiver() -> Generator[Receiver]:
    class Sink(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            receiver.came.put(({key.lower(): value for key, value in self.headers.items()}, raw))
            self.send_response(receiver.status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Sink) as server:
        receiver = Receiver(f"http://127.0.0.1:{server.server_port}/hook")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield receiver
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("base_url")
def test_github_signs_what_it_tells(forge: DevForge, receiver: Receiver):
    forge.add_hook(HOME, receiver.url, secret="S", events=["issues", "issue_comment"])
    forge.open_issue(HOME, "Title", "", "hanako", ["task:misc"])
    forge.comment(HOME, 1, "taro", "やあ")
    came = [receiver.next() for _ in range(3)]
    for headers, body, raw in came:
        signed = hmac.new(b"S", raw, hashlib.sha256).hexdigest()
        assert headers["x-hub-signature-256"] == f"sha256={signed}"
        assert body["repository"]["full_name"] == HOME
        assert body["issue"]["number"] == 1
    told = [(headers["x-github-event"], body["action"]) for headers, body, _ in came]
    assert told == [("issues", "opened"), ("issues", "labeled"), ("issue_comment", "created")]
    assert came[-1][1]["comment"]["body"] == "やあ"


def test_a_pull_request_tells_its_life(forge: DevForge, receiver: Receiver, publish: Publish, client: ClientFor):
    forge.add_hook(HOME, receiver.url, events=["pull_request", "pull_request_review_comment", "pull_request_review"])
    publish("fix")
    repo = client("token-of-hanako").get_repo(HOME)
    pull = repo.create_pull(base="main", head="fix", title="Fix", body="", draft=True)
    publish("fix", "notes.md", "More\n")
    pull.mark_ready_for_review()
    pull.create_review(event="COMMENT", comments=[{"path": "notes.md", "line": 1, "body": "hm"}])
    repo.get_pull(pull.number).merge()

    told = [(headers["x-github-event"], body["action"]) for headers, body, _ in (receiver.next() for _ in range(6))]
    assert told == [
        ("pull_request", "opened"),
        ("pull_request", "synchronize"),
        ("pull_request", "ready_for_review"),
        ("pull_request_review", "submitted"),
        ("pull_request_review_comment", "created"),
        ("pull_request", "closed"),
    ]


def test_deliveries_are_recorded_and_sent_again_under_the_same_id(
    forge: DevForge, client: ClientFor, receiver: Receiver
):
    repo = client("token-of-hanako").get_repo(HOME)
    hook = repo.create_hook("web", {"url": receiver.url, "secret": "S"}, ["issues"])
    assert receiver.next()[0]["x-github-event"] == "ping"
    receiver.status = 500
    forge.open_issue(HOME, "Title", "", "hanako")
    first, _, sent = receiver.next()
    deliveries = forge.repository(HOME).hooks
    _until(lambda: len(deliveries.deliveries(hook.id)) == 2)
    (failed, _) = repo.get_hook_deliveries(hook.id)
    assert (failed.event, failed.action, failed.status_code, failed.redelivery) == ("issues", "opened", 500, False)

    receiver.status = 202
    path = f"/repos/{HOME}/hooks/{hook.id}/deliveries/{failed.id}/attempts"
    repo.requester.requestJsonAndCheck("POST", path)
    again, _, repeated = receiver.next()
    assert (again["x-github-delivery"], repeated) == (first["x-github-delivery"], sent)
    _until(lambda: len(deliveries.deliveries(hook.id)) == 3)
    assert repo.get_hook_deliveries(hook.id)[0].redelivery
    with pytest.raises(UnknownObjectException):
        list(client("token-of-bot").get_repo(HOME).get_hooks())


@pytest.mark.usefixtures("lab_url")
def test_gitlab_proves_itself_in_both_ways(lab: DevForge, receiver: Receiver):
    lab.add_hook(PROJECT, receiver.url, secret="clear", signing_token=SIGNING_TOKEN)
    lab.open_issue(PROJECT, "Title", "", "hanako", ["task:misc"])
    headers, body, raw = receiver.next()
    key = base64.b64decode(SIGNING_TOKEN.removeprefix("whsec_"))
    told = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + raw
    signed = base64.b64encode(hmac.new(key, told, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{signed}"
    assert headers["webhook-id"] == headers["idempotency-key"]
    assert headers["x-gitlab-token"] == "clear"
    assert (headers["x-gitlab-event"], body["object_attributes"]["action"]) == ("Issue Hook", "open")
    assert [label["title"] for label in body["labels"]] == ["task:misc"]


def test_gitlab_tells_one_event_for_one_change(lab: DevForge, receiver: Receiver, project_for: ProjectFor):
    project_for("token-of-hanako").hooks.create(
        {"url": receiver.url, "token": "T", "issues_events": True, "note_events": True, "push_events": False}
    )
    hanako = lab.person("hanako")
    lab.open_issue(PROJECT, "Title", "", "hanako")
    lab.comment(PROJECT, 1, "hanako", "said\n/close")
    lab.repository(PROJECT).tracker.edit(1, hanako, Edit(title="New", labels=("a", "b"), is_open=True))

    came = [receiver.next() for _ in range(4)]
    assert {headers["x-gitlab-token"] for headers, _, _ in came} == {"T"}
    assert [(headers["x-gitlab-event"], body["object_attributes"]["action"]) for headers, body, _ in came] == [
        ("Issue Hook", "open"),
        ("Note Hook", "create"),
        ("Issue Hook", "close"),
        ("Issue Hook", "reopen"),
    ]
    assert came[1][1]["object_attributes"]["note"] == "said"
    assert came[1][1]["issue"]["iid"] == 1
    assert came[3][1]["changes"]["title"] == {"previous": "Title", "current": "New"}


def test_nobody_waits_for_a_receiver_that_is_not_there(forge: DevForge, browser: httpx2.Client):
    hook = forge.add_hook(HOME, "http://127.0.0.1:9/")
    answer = browser.post(
        f"/repos/{HOME}/issues", headers={"authorization": "token token-of-bot"}, json={"title": "Title"}
    )
    assert answer.status_code == 201
    hooks = forge.repository(HOME).hooks
    _until(lambda: bool(hooks.deliveries(hook.id)))
    assert hooks.deliveries(hook.id)[0].outcome.status == 0


@pytest.mark.parametrize("url", ["http://example.com/", "https://127.0.0.1/", "file:///etc/passwd", "http://[", ""])
def test_hooks_never_leave_this_machine(forge: DevForge, url: str):
    with pytest.raises(Invalid, match="this machine"):
        forge.add_hook(HOME, url)


def _until(happened: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(1000):
        if happened():
            return
        waiting.wait(0.02)
    raise AssertionError("it never happened")
