"""Ports for servers that a test ends and starts again."""

import socket
from random import Random

from hikitsugi.app.embedded import HOST

_CHANCE = Random()  # noqa: S311 - any port will do
_NEVER_OUTGOING = range(20_000, 32_000)
"""Below the range from which the kernel gives ports to outgoing connections."""


def steady_port() -> int:
    """A free port that no outgoing connection takes while its server is down."""
    while True:
        port = _CHANCE.choice(_NEVER_OUTGOING)
        with socket.socket() as candidate:
            if candidate.connect_ex((HOST, port)):
                return port
