"""Git's own clone and push over HTTP, carried by `git http-backend`."""

import asyncio
import base64
import binascii
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse, StreamingResponse
from starlette.background import BackgroundTask

from hikitsugi.devforge.bare_git import git_command, git_environment
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.records import Permission, Person
from hikitsugi.devforge.refusals import NotThere
from hikitsugi.devforge.repository import Repository

routes = APIRouter()
CHUNK = 65_536
PUSH = "git-receive-pack"


@routes.get("/{full_name:path}.git/info/refs")
async def advertise(full_name: str, request: Request, service: str = "") -> Response:
    """The first question of every clone and push: which refs there are."""
    if service not in {"git-upload-pack", PUSH}:
        return PlainTextResponse("Please upgrade your git client.\n", status_code=403)
    return await _serve(request, full_name, "info/refs", service)


@routes.post("/{full_name:path}.git/{service}")
async def exchange(full_name: str, service: str, request: Request) -> Response:
    """The objects themselves, to or from the client."""
    if service not in {"git-upload-pack", PUSH}:
        return PlainTextResponse("Not Found\n", status_code=404)
    return await _serve(request, full_name, service, service)


async def _serve(request: Request, full_name: str, below: str, service: str) -> Response:
    forge: DevForge = request.app.state.forge
    caller = _caller(forge, request.headers.get("authorization", ""))
    if not caller:
        challenge = {"www-authenticate": 'Basic realm="Development forge"'}
        return PlainTextResponse("A person's token is needed as password.\n", status_code=401, headers=challenge)
    home = _visible(forge, full_name, caller)
    if not home:
        return PlainTextResponse("Repository not found.\n", status_code=404)
    if service == PUSH and not home.member(caller).may_write:
        return PlainTextResponse("This person may not push.\n", status_code=403)
    response = await _run_backend(request, _cgi(request, forge, home, caller, below))
    if below == PUSH:
        response.background = BackgroundTask(home.notice_push, caller)
    return response


def _visible(forge: DevForge, full_name: str, caller: Person) -> Repository | None:
    try:
        home = forge.repository(full_name)
    except NotThere:
        return None
    return None if home.member(caller).permission is Permission.NONE else home


def _caller(forge: DevForge, authorization: str) -> Person | None:
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        _, _, token = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return forge.person_with(token)


def _cgi(request: Request, forge: DevForge, home: Repository, caller: Person, below: str) -> dict[str, str]:
    headers = request.headers
    asked = {
        "CONTENT_TYPE": headers.get("content-type"),
        "CONTENT_LENGTH": headers.get("content-length"),
        "HTTP_CONTENT_ENCODING": headers.get("content-encoding"),
        "GIT_PROTOCOL": headers.get("git-protocol"),
    }
    return git_environment() | {
        "GIT_PROJECT_ROOT": str(forge.data_folder.resolve()),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{home.full_name}.git/{below}",
        "QUERY_STRING": request.url.query,
        "REQUEST_METHOD": request.method,
        "REMOTE_USER": caller.login,
        "REMOTE_ADDR": "127.0.0.1",
        **{key: value for key, value in asked.items() if value},
    }


async def _run_backend(request: Request, environment: Mapping[str, str]) -> Response:
    process = await asyncio.create_subprocess_exec(
        git_command(), "http-backend", stdin=PIPE, stdout=PIPE, stderr=asyncio.subprocess.DEVNULL, env=environment
    )
    try:
        await _feed(request, process)
        status, headers = await _read_headers(process)
    except BaseException:
        await _end(process)
        raise
    return StreamingResponse(_body(process), status_code=status, headers=headers)


async def _feed(request: Request, process: Process) -> None:
    if process.stdin is None:
        return
    async for chunk in request.stream():
        # A backend that has refused stops reading, but the client still has to be heard out.
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(chunk)
            await process.stdin.drain()
    process.stdin.close()


async def _read_headers(process: Process) -> tuple[int, dict[str, str]]:
    headers: dict[str, str] = {}
    if process.stdout is None:
        return 500, headers
    while line := (await process.stdout.readline()).decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    status = headers.pop("status", "200 OK" if headers else "500")
    return int(status.split()[0]), headers


async def _body(process: Process) -> AsyncIterator[bytes]:
    try:
        while process.stdout and (chunk := await process.stdout.read(CHUNK)):
            yield chunk
        await process.wait()
    finally:
        await _end(process)


async def _end(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
