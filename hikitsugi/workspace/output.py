"""What a command prints: head and tail for the model, the whole in a log outside of the tree."""

import re
from contextlib import suppress
from pathlib import Path

_SHOWN, _LARGEST_LOG = 20_000, 10 * 1024 * 1024
_HALF = _SHOWN // 2
_KEPT = 4 * _HALF
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


class Output:
    """Takes output in as it comes, in bounded memory."""

    def __init__(self, log: Path) -> None:
        self._log = log.open("wb", buffering=0)
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0

    def take(self, chunk: bytes) -> None:
        """Keep a chunk as far as it must be kept."""
        with suppress(OSError):  # a full disk costs the log, not the command
            self._log.write(chunk[: max(0, _LARGEST_LOG - self._size)])
        self._size += len(chunk)
        room = _KEPT - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[max(room, 0) :]
        del self._tail[:-_KEPT]

    def close(self, log_name: str) -> str:
        """The text for the model; the log is kept only if something was left out."""
        self._log.close()
        if self._size <= len(self._head) + len(self._tail):
            text = _plain(self._head + self._tail)
            if len(text) <= _SHOWN:
                Path(self._log.name).unlink()
                return text
            head, tail = text[:_HALF], text[-_HALF:]
        else:
            head, tail = _plain(self._head)[:_HALF], _plain(self._tail)[-_HALF:]
        return f"{head}\n\n… {self._size} bytes in all; the middle is left out here and kept in {log_name} …\n\n{tail}"


def _plain(said: bytearray) -> str:
    text = said.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)
