"""Workspaces live where the sandbox's user can go, under names no address can misuse."""

import os
import shutil
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hikitsugi.workspace.ownership import FIRST_UID, LAST_UID, acts_for_others, sandbox_uid
from hikitsugi.workspace.places import default_root, folder_name

_ADDRESSES = st.text(max_size=300) | st.sampled_from(["a:b/../../c", "a:B/c", "a:b/C", "a:b-c", "a:b/c"])


@given(_ADDRESSES, _ADDRESSES)
def test_every_address_has_a_plain_name_of_its_own(one: str, other: str):
    name = folder_name(one)
    assert name.isascii()
    assert "/" not in name
    assert not name.startswith((".", "-")) or len(name) == 13
    assert len(name) < 80
    assert (name.lower() == folder_name(other).lower()) == (one == other)


@given(st.text(alphabet="abc/", min_size=1))
def test_commands_never_run_as_root_unless_nobody_else_is_there(name: str):
    uid = sandbox_uid(Path("/work") / name)
    assert FIRST_UID <= uid <= LAST_UID if acts_for_others() else uid == os.geteuid()


def test_the_data_folder_is_used_where_others_can_pass(root: Path):
    assert default_root(root / "data") == root / "data" / "workspaces"


def test_a_private_data_folder_is_avoided_by_root_alone(root: Path, tmp_path: Path):
    data = root / "private" / "data"
    data.mkdir(parents=True)
    data.parent.chmod(0o700)
    chosen = default_root(data, shared=tmp_path)
    if acts_for_others():
        assert chosen.parent == tmp_path
        assert stat.S_IMODE(chosen.stat().st_mode) == 0o711
        assert default_root(data, shared=tmp_path) == chosen
    else:
        assert chosen == data / "workspaces"


def test_a_planted_link_is_not_taken_for_our_folder(root: Path, tmp_path: Path):
    if not acts_for_others():
        pytest.skip("only root uses the shared folder")
    data = root / "private"
    data.mkdir(mode=0o700)
    chosen = default_root(data, shared=tmp_path)
    shutil.rmtree(chosen)
    chosen.symlink_to("/etc")
    with pytest.raises(PermissionError, match=r"workspace\.root"):
        default_root(data, shared=tmp_path)
