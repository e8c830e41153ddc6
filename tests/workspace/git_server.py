"""Real git repositories over plain HTTP with a token, for the tests."""

import base64
import os
import subprocess
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Self

TOKEN = "CANARY_TOKEN_0123456789abcdef"
_PERSON = {
    **{f"GIT_{role}_NAME": "Person" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "person@example.com" for role in ("AUTHOR", "COMMITTER")},
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(*arguments: str, cwd: Path) -> str:
    """Git as a person at a desk uses it."""
    env = {**os.environ, **_PERSON}
    return subprocess.run(["git", *arguments], cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout


class GitServer:
    """A folder of bare repositories behind `git http-backend`; counts pushes and can be told to misbehave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pushes = 0
        self.answer_with: int | None = None
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def url(self, repository: str) -> str:
        """Where a repository is cloned from."""
        return f"http://127.0.0.1:{self._http.server_port}/{repository}.git"

    def create(self, repository: str, files: Mapping[str, str]) -> Path:
        """A repository with one commit on `main`; its bare folder."""
        bare = self.folder / f"{repository}.git"
        bare.mkdir(parents=True)
        git("init", "--bare", "--initial-branch=main", "--quiet", cwd=bare)
        git("config", "http.receivepack", "true", cwd=bare)
        self.commit(repository, "main", files)
        return bare

    def commit(self, repository: str, branch: str, files: Mapping[str, str], base: str = "main") -> str:
        """Push a person's commit past the server; its hash."""
        desk = self.folder / f"desk-{len(list(self.folder.iterdir()))}"
        git("clone", "--quiet", str(self.folder / f"{repository}.git"), str(desk), cwd=self.folder)
        known = git("branch", "-r", cwd=desk).split()
        start = next((ref for ref in (f"origin/{branch}", f"origin/{base}") if ref in known), None)
        git("checkout", "--quiet", "-B", branch, *([start] if start else []), cwd=desk)
        for name, content in files.items():
            (desk / name).parent.mkdir(parents=True, exist_ok=True)
            (desk / name).write_text(content, encoding="utf-8", newline="")
        git("add", "--all", cwd=desk)
        git("commit", "--quiet", "--allow-empty", "-m", "By a person", cwd=desk)
        git("push", "--quiet", "origin", f"HEAD:refs/heads/{branch}", cwd=desk)
        return git("rev-parse", "HEAD", cwd=desk).strip()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.serve(self)

            def do_POST(self) -> None:
                server.serve(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
                """Be silent."""

        return Handler

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        """One request, through git's own CGI program."""
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        expected = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
        if self.answer_with or request.headers.get("Authorization") != f"Basic {expected}":
            request.send_response(self.answer_with or 401)
            request.send_header("WWW-Authenticate", 'Basic realm="git"')
            request.send_header("Location", self.url("elsewhere/repo"))
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        path, _, query = request.path.partition("?")
        self.pushes += path.endswith("/git-receive-pack")
        answer = subprocess.run(
            ["git", "http-backend"],
            input=body,
            env=self._cgi(request, path, query, len(body)),
            capture_output=True,
            check=False,
        ).stdout
        head, _, content = answer.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        request.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(content)

    def _cgi(self, request: BaseHTTPRequestHandler, path: str, query: str, length: int) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "REQUEST_METHOD": request.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(length),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "person",
        }
