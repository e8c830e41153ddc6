"""What a worker publishes about itself is there while it runs and gone afterwards."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hikitsugi.app.run_file import RunFacts, read_run_file, remove_run_file, write_run_file
from hikitsugi.domain.errors import WillNeverWork

FACTS = RunFacts(pid=os.getpid(), temporal="127.0.0.1:7233", ui="http://127.0.0.1:8233", broker="http://127.0.0.1:8080")


def number_of_a_dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_file_holds_the_agreed_keys_for_its_owner_alone(tmp_path: Path):
    write_run_file(tmp_path / "data", FACTS)
    file = tmp_path / "data" / "run.json"
    assert set(json.loads(file.read_text())) == {"pid", "temporal", "ui", "redis", "broker", "metrics"}
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_what_was_written_is_read_back(tmp_path: Path):
    demo = FACTS.model_copy(update={"forge": "http://127.0.0.1:1", "llm": "http://127.0.0.1:2", "issue": "o/r#1"})
    for facts in (FACTS, demo):
        write_run_file(tmp_path, facts)
        assert read_run_file(tmp_path) == facts


def test_without_a_running_worker_there_are_no_facts(tmp_path: Path):
    assert read_run_file(tmp_path) is None
    write_run_file(tmp_path, FACTS.model_copy(update={"pid": number_of_a_dead_process()}))
    assert read_run_file(tmp_path) is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x"}', '{"pid": 0}', '{"pid": -1}', '{"pid": 1e30}'])
def test_a_damaged_file_counts_as_none(tmp_path: Path, content: str):
    (tmp_path / "run.json").write_text(content)
    assert read_run_file(tmp_path) is None


def test_a_worker_takes_away_its_own_file_and_a_dead_ones_only(tmp_path: Path):
    write_run_file(tmp_path, FACTS.model_copy(update={"pid": os.getppid()}))
    remove_run_file(tmp_path)
    assert read_run_file(tmp_path)
    for pid in (os.getpid(), number_of_a_dead_process()):
        write_run_file(tmp_path, FACTS.model_copy(update={"pid": pid}))
        remove_run_file(tmp_path)
        assert not (tmp_path / "run.json").exists()
    remove_run_file(tmp_path)


def test_a_folder_that_cannot_be_written_is_a_clear_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WillNeverWork, match=r"The data folder .* cannot be used"):
        write_run_file(tmp_path / "file", FACTS)
