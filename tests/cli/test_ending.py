"""How a process ends that does not want to."""

import asyncio
import subprocess
import sys

import pytest

from tests.end_to_end.stage import GENEROUS

HANGS = """
import time
from datetime import timedelta
from hikitsugi.cli.ending import ended, insist_on_ending

insist_on_ending(timedelta(seconds=0.2), "It is ended by force.")
ended(lambda: time.sleep(600))
"""


@pytest.mark.lesson("B12")
async def test_a_process_that_hangs_at_its_end_is_ended_with_a_sentence():
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", HANGS, stderr=subprocess.PIPE)
    _, told = await asyncio.wait_for(process.communicate(), GENEROUS)
    assert (process.returncode, told) == (1, b"It is ended by force.\n")
