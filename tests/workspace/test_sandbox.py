"""Commands run confined; the escape suite finds no way out."""

import asyncio
import os
import shutil
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.tools import Intent, ToolCall, ToolOutcome
from hikitsugi.workspace.bubblewrap import Bubblewrap
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.confinement import Limits, Sandbox
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.running import Launch
from hikitsugi.workspace.sandbox import choose
from hikitsugi.workspace.tools import WorkspaceTools
from hikitsugi.workspace.unconfined import Unconfined
from tests.workspace.git_server import TOKEN

pytestmark = pytest.mark.req("OP-06")


class Shell:
    """The `run` tool in one checkout."""

    def __init__(self, tools: WorkspaceTools, issue: IssueAddress) -> None:
        self._tools, self._issue = tools, issue

    async def run(self, command: str, timeout_seconds: int = 60, call: str = "call") -> ToolOutcome:
        given = ToolCall(id=call, name="run", input={"command": command, "timeout_seconds": timeout_seconds})
        return await self._tools.carry_out(self._issue, Intent(call=given, repeatable=False))


@pytest.fixture
def shell(checkouts: Checkouts, bubblewrap: Bubblewrap, issue: IssueAddress, place: Place) -> Shell:
    assert place.tree.is_dir()
    return Shell(WorkspaceTools(checkouts, bubblewrap, Limits()), issue)


@pytest.fixture(params=["bubblewrap", "none"])
def any_shell(request: pytest.FixtureRequest, checkouts: Checkouts, issue: IssueAddress, place: Place) -> Shell:
    assert place.tree.is_dir()
    sandbox: Sandbox = Unconfined(Limits())
    if request.param == "bubblewrap":
        sandbox = request.getfixturevalue("bubblewrap")
    return Shell(WorkspaceTools(checkouts, sandbox, Limits(timeout_seconds=60)), issue)


async def test_a_command_works_in_the_checkout_with_the_interpreter(shell: Shell, place: Place):
    outcome = await shell.run("pwd && python -c 'import json, ssl; print(1 + 1)' && echo new >made.txt && id -un")
    assert outcome.text.startswith("Exit code 0 after ")
    assert outcome.text.splitlines()[1:] == ["/workspace", "2", "agent"]
    assert (place.tree / "made.txt").read_text() == "new\n"
    assert (place.tree / "made.txt").stat().st_uid == place.tree.stat().st_uid


async def test_files_from_the_checkout_and_from_tools_can_be_changed_by_commands(shell: Shell, place: Place):
    assert (await shell.run("echo more >>README.md && rm src/greeting.py")).text.startswith("Exit code 0")
    assert (place.tree / "README.md").read_text() == "# Sample\nmore\n"


async def test_exit_codes_and_both_streams_are_shown(any_shell: Shell):
    outcome = await any_shell.run("echo out; echo err >&2; exit 3")
    assert outcome.text.startswith("Exit code 3 after ")
    assert sorted(outcome.text.splitlines()[1:]) == ["err", "out"]
    assert not outcome.is_error


async def test_standard_input_is_empty_and_the_environment_is_ours(any_shell: Shell):
    outcome = await any_shell.run("cat; env | cut -d= -f1 | sort")
    allowed = {
        "CI",
        "HOME",
        "LANG",
        "NO_COLOR",
        "PAGER",
        "PATH",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
        "PYTHONDONTWRITEBYTECODE",
    }
    assert set(outcome.text.splitlines()[1:]) <= allowed


async def test_a_long_output_is_cut_in_the_middle_and_kept_in_a_log(any_shell: Shell, place: Place):
    outcome = await any_shell.run("seq 1 200000")
    assert len(outcome.text) < 20_500
    assert outcome.text.splitlines()[1:3] == ["1", "2"]
    assert outcome.text.endswith("199999\n200000\n")
    name = next(word for word in outcome.text.split() if word.endswith(".log"))
    again = await any_shell.run(f"sed -n 100000p {name}", call="again")
    assert again.text.splitlines()[1] == "100000"
    assert [path.name for path in place.logs.iterdir()] == [Path(name).name]


async def test_a_flood_of_output_is_bounded(any_shell: Shell, place: Place):
    outcome = await any_shell.run("head -c 50000000 /dev/zero | tr '\\0' x")
    assert len(outcome.text) < 20_500
    assert [path.stat().st_size for path in place.logs.iterdir()] == [10 * 1024 * 1024]


async def test_control_characters_do_not_reach_the_model(any_shell: Shell):
    outcome = await any_shell.run(r"printf 'a\000b\033[31mred\033[0m\r\nbad \377\n'")
    assert outcome.text.splitlines()[1:] == ["abred", "bad \ufffd"]


async def test_a_slow_command_is_ended_with_all_it_started(any_shell: Shell, place: Place):
    command = "(while true; do date +%s%N >beat; sleep 0.05; done) & sleep 300"
    outcome = await any_shell.run(command, timeout_seconds=1)
    assert outcome.is_error
    assert "took longer than 1 seconds" in outcome.text
    await _assert_still(place.tree / "beat")


async def test_cancelling_ends_the_command_at_once(any_shell: Shell, place: Place):
    command = "(while true; do date +%s%N >beat; sleep 0.05; done) & sleep 300"
    running = asyncio.create_task(any_shell.run(command))
    await _appears(place.tree / "beat")
    running.cancel()
    async with asyncio.timeout(10):
        with pytest.raises(asyncio.CancelledError):
            await running
    await _assert_still(place.tree / "beat")


async def test_a_background_process_does_not_outlive_its_command(any_shell: Shell, place: Place):
    outcome = await any_shell.run("(while true; do date +%s%N >beat; sleep 0.05; done) & sleep 0.2")
    assert outcome.text.startswith("Exit code 0")
    await _assert_still(place.tree / "beat")


async def test_a_command_that_takes_too_much_memory_is_ended(
    checkouts: Checkouts, issue: IssueAddress, bubblewrap: Bubblewrap, place: Place
):
    assert place.tree.is_dir()
    limited = Shell(WorkspaceTools(checkouts, bubblewrap, Limits(memory_mb=200)), issue)
    hog = "import time; hogs = [b'x' * 60_000_000]; time.sleep(60)"
    outcome = await limited.run(f'for i in 1 2 3 4 5 6; do python -c "{hog}" & done; wait')
    assert outcome.is_error
    assert "more than 200 MB of memory" in outcome.text


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


async def _appears(file: Path) -> None:
    while _content(file) is None:  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.01)


async def _assert_still(beat: Path) -> None:
    last = _content(beat)
    await asyncio.sleep(0.3)
    assert _content(beat) == last


@pytest.fixture
async def listener() -> AsyncGenerator[int]:
    """A service on the host that no command may reach."""

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"CONNECTED")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def test_no_network_reaches_out(shell: Shell, listener: int):
    for address in (f"127.0.0.1/{listener}", "169.254.169.254/80", "1.1.1.1/53"):
        assert "CONNECTED" not in (await shell.run(f"timeout 3 cat </dev/tcp/{address}")).text
    assert "Exit code 1" in (await shell.run("timeout 3 cat </dev/tcp/1.1.1.1/53")).text


async def test_the_network_is_kept_when_the_settings_say_so(
    root: Path, checkouts: Checkouts, issue: IssueAddress, bubblewrap: Bubblewrap, place: Place, listener: int
):
    assert bubblewrap.kind
    assert place.tree.is_dir()
    open_to_all = Limits(network=True)
    connected = Shell(WorkspaceTools(checkouts, await choose("auto", root, open_to_all), open_to_all), issue)
    assert "CONNECTED" in (await connected.run(f"timeout 3 cat </dev/tcp/127.0.0.1/{listener}")).text


async def test_abstract_sockets_of_the_host_are_out_of_reach(shell: Shell):
    with socket.socket(socket.AF_UNIX) as service:
        service.bind("\0hikitsugi-test")
        service.listen()
        probe = "import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + 'hikitsugi-test'); print('CONNECTED')"
        assert "CONNECTED" not in (await shell.run(f'python -c "{probe}"')).text


async def test_secrets_of_the_worker_are_nowhere(shell: Shell, monkeypatch: pytest.MonkeyPatch, root: Path):
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    (root / "secret").write_text(TOKEN)
    files = "grep -rhs CANARY / --exclude-dir={proc,usr,sys,lib}"
    outcome = await shell.run(
        f"(cat /proc/*/environ /proc/*/cmdline; {files}) 2>/dev/null | grep -ac TOKEN_012345678[9]"
    )
    assert outcome.text.splitlines()[1] == "0"


@pytest.mark.parametrize(
    "attempt",
    [
        "touch /usr/x",
        "touch /etc/x && touch /usr/bin/x",
        "unshare -U true",
        "unshare -r true",
        "mount -t tmpfs none /tmp",
        "umount /workspace",
        "test -w /proc/sys/kernel/core_pattern",
        "exec 3>/proc/sys/kernel/core_pattern",
        "exec 3>/proc/sysrq-trigger",
        "exec 3>/proc/sys/vm/drop_caches",
        "su -c true",
        "kill -0 -1 && kill -0 2000000",
        "chroot / true",
        "mknod /tmp/disk b 8 0",
        "dmesg",
        "python -c \"import fcntl; fcntl.ioctl(open('/dev/tty'), 0x5412, b'x')\"",
        "ls /root/.ssh /home/*/.ssh",
        "cat /etc/shadow",
    ],
)
async def test_an_escape_fails(shell: Shell, attempt: str):
    outcome = await shell.run(f"{attempt} && echo ESCAPED")
    assert "ESCAPED" not in outcome.text
    assert not outcome.text.startswith("Exit code 0")


async def test_other_workspaces_and_git_metadata_are_out_of_sight(shell: Shell, place: Place, root: Path):
    for folder in (place.git_dir, root, place.tree.parent, root / "mirrors"):
        assert (await shell.run(f"ls {folder}")).text.startswith("Exit code 2")
    await shell.run(f"ln -s {place.git_dir}/config stolen; cat stolen; echo x >stolen")
    assert "x" not in (place.git_dir / "config").read_text().splitlines()


async def test_logs_cannot_be_changed_by_commands(shell: Shell):
    await shell.run("seq 1 20000")
    assert "Read-only" in (await shell.run("rm -rf /logs/* ; touch /logs/x", call="again")).text


_BOMB = """
import os, time
forks = 0
try:
    while forks < 2000:
        forks += 1
        os.fork() or (time.sleep(30), os._exit(0))
except OSError:
    print("stopped", forks < 600)
"""


async def test_a_fork_bomb_stops_at_its_limit(shell: Shell, place: Place):
    (place.tree / "bomb.py").write_text(_BOMB)
    assert "stopped True" in (await shell.run("python bomb.py")).text


async def test_private_folders_are_limited_in_size(shell: Shell):
    outcome = await shell.run("head -c 700000000 /dev/zero >/tmp/x; stat -c %s /tmp/x; ls /home/agent")
    assert "No space left" in outcome.text
    assert "536870912" in outcome.text


_WORKER = """
import asyncio, sys
from pathlib import Path
from hikitsugi.domain.address import IssueAddress
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.confinement import Limits
from hikitsugi.workspace.sandbox import choose
from hikitsugi.workspace.tools import WorkspaceTools
from tests.workspace.test_sandbox import Shell

async def main(kind, root, issue, command):
    sandbox = await choose(kind, Path(root), Limits())
    await Shell(WorkspaceTools(Checkouts(Path(root)), sandbox, Limits()), IssueAddress.parse(issue)).run(command)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("kind", ["auto", "none"])
async def test_a_command_does_not_survive_the_workers_death(
    kind: str, root: Path, issue: IssueAddress, place: Place, bubblewrap: Bubblewrap
):
    assert bubblewrap.kind
    if kind == "none" and shutil.which("setpriv") is None:
        pytest.skip("without setpriv nobody tells the command")
    command = "exec python3 -c \"import time\nwhile True: open('beat', 'w').write(str(time.time())); time.sleep(0.05)\""
    arguments = (sys.executable, "-c", _WORKER, kind, str(root), str(issue), command)
    worker = await asyncio.create_subprocess_exec(*arguments, cwd=Path(__file__).parents[2])
    await _appears(place.tree / "beat")
    os.kill(worker.pid, signal.SIGKILL)
    await worker.wait()
    await asyncio.sleep(0.2)
    await _assert_still(place.tree / "beat")


async def test_without_a_working_sandbox_commands_are_refused(
    root: Path, checkouts: Checkouts, issue: IssueAddress, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox = await choose("auto", root, Limits())
    outcome = await Shell(WorkspaceTools(checkouts, sandbox, Limits()), issue).run("touch ran")
    assert outcome.is_error
    assert outcome.text.startswith("no sandbox: install bubblewrap or set sandbox.kind: none by hand")
    assert "ran" not in {path.name for path in place.tree.iterdir()}
    with pytest.raises(WillNeverWork, match="bwrap"):
        await choose("bubblewrap", root, Limits())


@pytest.mark.parametrize(
    ("word", "instead", "complaint"),
    [
        ("--clearenv", ("--setenv", "GITHUB_TOKEN", "x"), "GITHUB_TOKEN"),
        ("--disable-userns", ("--share-net",), "network"),
        ("--disable-userns", (), "user namespace"),
        ("--bind", ("--ro-bind",), "cannot be started"),
    ],
)
async def test_a_sandbox_that_leaks_does_not_pass_its_self_test(
    word: str, instead: tuple[str, ...], complaint: str, root: Path, bubblewrap: Bubblewrap
):
    class Leaky(Bubblewrap):
        def launch(self, place: Place, command: str) -> Launch:
            sound = super().launch(place, command)
            argv = [part for given in sound.argv for part in (instead if given == word else (given,))]
            return Launch(argv, sound.env, sound.cwd)

    assert bubblewrap.kind
    assert complaint in (await Leaky(root, Limits()).self_test() or "")
