"""Docker as a sandbox: its command line, and its refusal where it cannot hold."""

import asyncio
from pathlib import Path

import pytest

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.workspace.confinement import Limits
from hikitsugi.workspace.docker import Docker
from hikitsugi.workspace.output import Output
from hikitsugi.workspace.ownership import sandbox_uid
from hikitsugi.workspace.places import Layout, Place
from hikitsugi.workspace.running import Bounds, run
from hikitsugi.workspace.sandbox import choose

pytestmark = pytest.mark.req("OP-06")


@pytest.fixture
def place(root: Path) -> Place:
    place = Layout(root).named("issue")
    place.tree.mkdir()
    return place


def test_a_container_holds_nothing_but_the_checkout(root: Path, place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GITHUB_TOKEN", "CANARY")
    launch = Docker(root, Limits(memory_mb=300, timeout_seconds=60), "image").launch(place, "make test")
    line = " ".join(launch.argv)
    for words in (
        *("--rm", "--network none", "--read-only", "--cap-drop ALL", "--security-opt no-new-privileges"),
        *("--pids-limit 512", "--memory 300m --memory-swap 300m", "--pull never", "--init", "--ulimit core=0"),
        *(f"--user {sandbox_uid(place.tree)}:", f"source={place.tree},target=/workspace", "--workdir /workspace"),
    ):
        assert words in line
    assert launch.argv[-7:] == ("image", "timeout", "--signal=KILL", "60", "sh", "-c", "make test")
    assert line.count("source=") == 1
    assert "docker.sock" not in line
    assert "--privileged" not in line
    assert "CANARY" not in line + str(launch.env)
    name = launch.argv[launch.argv.index("--name") + 1]
    assert launch.removal == ("docker", "rm", "--force", name)


def test_logs_are_read_only_and_the_network_is_a_setting(root: Path, place: Place):
    place.logs.mkdir()
    line = " ".join(Docker(root, Limits(network=True), "image").launch(place, "true").argv)
    assert f"source={place.logs},target=/logs,readonly" in line
    assert "--network" not in line


def _engine(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "docker").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("exit 1", "no docker engine answers"),
        ("[ $1 = version ]", "the image python:3-slim is not there"),
        ("[ $1 = image ] && echo null; [ $1 != run ]", "a command cannot be started in it"),
        (
            "[ $1 = image ] && echo '[\"LANG=C\"]'; [ $1 = run ] && touch $TREE/written; exit 0",
            "a command cannot be started in it",
        ),
    ],
)
async def test_an_engine_that_does_not_hold_is_refused(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, complaint: str
):
    _engine(tmp_path, script, monkeypatch)
    with pytest.raises(WillNeverWork, match=complaint):
        await choose("docker", root, Limits())


async def test_without_docker_it_is_refused(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WillNeverWork, match="docker is not installed"):
        await choose("docker", root, Limits())


async def test_a_container_is_removed_when_its_time_is_up(
    root: Path, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    _engine(tmp_path, f"echo $1 >>{tmp_path}/asked; [ $1 = rm ] || exec sleep 60", monkeypatch)
    output = Output(tmp_path / "log")
    ended = await run(Docker(root, Limits(), "image").launch(place, "true"), Bounds(0.5, 1 << 30), output)
    output.close("log")
    assert ended.cut
    assert (await asyncio.to_thread((tmp_path / "asked").read_text)).split() == ["run", "rm"]
