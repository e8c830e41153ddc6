"""A server that answers each request with the next answer of a script, however wrong that answer is."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

NOON = "Mon, 02 Mar 2026 12:00:00 GMT"


@dataclass
class Reply:
    """What to answer with; `half` breaks off in the middle, `gate` waits before answering."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    half: bool = False
    gate: threading.Event | None = None

    @property
    def content(self) -> bytes:
        if self.body is None:
            return b""
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    verb: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any

    @property
    def line(self) -> str:
        return f"{self.verb} {self.path}"


class ScriptedServer:
    """The script, and what was asked so far."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[Asked] = []
        self.is_asked = threading.Event()
        self._replies: list[Reply] = []

    @property
    def lines(self) -> list[str]:
        return [asked.line for asked in self.asked]

    def will_answer(self, *replies: Reply) -> None:
        self._replies += replies

    def forget(self) -> None:
        """Count from here."""
        self.asked.clear()
        self.is_asked.clear()

    def answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        self.is_asked.set()
        return self._replies.pop(0) if self._replies else Reply(500, {"message": "the script is over"})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: ScriptedServer

    def _answer(self) -> None:
        target = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(
            self.command, target.path, dict(parse_qsl(target.query)), headers, json.loads(content) if content else None
        )
        reply = self.script.answer(asked)
        if reply.gate:
            reply.gate.wait(30)
        with suppress(ConnectionError):  # whoever asked has given up
            self._send(reply)

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _send(self, reply: Reply) -> None:
        self.send_response_only(reply.status)
        for name, value in {"Date": NOON, **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(reply.content)))
        self.end_headers()
        self.wfile.write(reply.content[: len(reply.content) // 2] if reply.half else reply.content)
        self.close_connection = reply.half

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def scripted_server() -> Generator[ScriptedServer]:
    """A running server on a free port."""
    handler = type("Handler", (_Handler,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        script = ScriptedServer(f"http://127.0.0.1:{server.server_port}")
        handler.script = script
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()
