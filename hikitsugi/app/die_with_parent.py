"""Become another program that ends when its parent does: `python die_with_parent.py PARENT PROGRAM ARGUMENT…`.

It runs by itself, so that nothing has to happen between fork and exec in a process full of threads.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Tie this process to its parent, then run the command in its place."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == parent:
        os.execv(command[0], command)  # noqa: S606  the product's own servers, without a shell


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
