"""No path, link or race leads a file tool out of the tree."""

import os
import shutil
import threading
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hikitsugi.workspace.paths import read, relative, replace
from hikitsugi.workspace.refusal import Refused

_STEPS = st.sampled_from(
    ["..", ".", "a", "b", "", "link", "up", "loop", "dangling", ".git", ".GIT", "file", "~", "-x", "é", "x" * 300]
)
_PATHS = st.lists(_STEPS, max_size=6).map("/".join) | st.text(max_size=20).filter(lambda text: "\0" not in text)
_HARD = settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "house" / "tree"
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "file").write_text("inside")
    (tmp_path / "house" / "secret").write_text("outside")
    (tmp_path / "house" / "beside").mkdir()
    for name, target in (("link", "../secret"), ("up", ".."), ("loop", "loop"), ("dangling", "../made")):
        (tree / name).symlink_to(target)
    (tree / "a" / "link").symlink_to(tmp_path / "house" / "secret")
    return tree


def _outside(tree: Path) -> dict[str, bytes]:
    around = [*tree.parent.iterdir(), *(tree.parent / "beside").iterdir()]
    return {str(path): path.read_bytes() for path in around if path.is_file()}


@_HARD
@given(_PATHS)
def test_reading_stays_inside(tree: Path, path: str):
    with suppress(Refused):
        assert read(tree, relative(path)) in {None, b"inside", b"written"}


@_HARD
@given(_PATHS)
def test_writing_stays_inside(tree: Path, path: str):
    before = _outside(tree)
    with suppress(Refused):
        replace(tree, relative(path), b"written", beside=tree.parent / "beside")
    assert _outside(tree) == before
    assert not (tree / ".git").exists()


@_HARD
@given(_PATHS)
def test_a_cleaned_path_is_its_own_clean_form(path: str):
    with suppress(Refused):
        clean = relative(path)
        assert relative(str(clean)) == clean
        assert not clean.is_absolute()
        assert not {"..", ".git"} & set(clean.parts)


def test_the_path_commands_see_is_understood():
    assert str(relative("/workspace/src/../a.py")) == "a.py"
    with pytest.raises(Refused, match="outside"):
        relative("/workspace/../etc/passwd")


@pytest.mark.parametrize(
    "spelling", [".git", ".GIT", ".git ", ".git.", ".g\u200cit", "GIT~1", "a/../.Git", ".git. . /x"]
)
def test_git_is_out_of_reach_in_any_spelling(spelling: str):
    with pytest.raises(Refused, match="out of reach"):
        relative(f"{spelling}/config")


def test_a_replaced_file_keeps_its_mode_and_is_never_half_written(tree: Path):
    (tree / "file").chmod(0o750)
    replace(tree, relative("file"), b"new", beside=tree.parent / "beside")
    assert (tree / "file").stat().st_mode & 0o777 == 0o750
    assert not list((tree.parent / "beside").iterdir())


def test_a_pipe_is_refused_without_waiting(tree: Path):
    os.mkfifo(tree / "pipe")
    with pytest.raises(Refused):
        read(tree, relative("pipe"))


@pytest.fixture
def swapping(tree: Path) -> Generator[Path]:
    """A folder that turns into a link out of the tree and back, all the time."""
    ending = threading.Event()

    def swap() -> None:
        while not ending.is_set():
            shutil.rmtree(tree / "a", ignore_errors=True)
            with suppress(OSError):
                (tree / "a").symlink_to("..")
            with suppress(OSError):
                (tree / "a").unlink()
            with suppress(OSError):
                (tree / "a").mkdir()

    thread = threading.Thread(target=swap)
    thread.start()
    yield tree
    ending.set()
    thread.join()


def test_a_racing_renamer_wins_nothing(swapping: Path):
    before = _outside(swapping)
    for _ in range(3000):
        with suppress(Refused, FileNotFoundError):
            assert read(swapping, relative("a/secret")) is None
        with suppress(Refused, FileNotFoundError):
            replace(swapping, relative("a/planted"), b"x", beside=swapping.parent / "beside")
    assert _outside(swapping) == before
