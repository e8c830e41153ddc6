"""A small forge for the demo and the tests: seed a `DevForge`, then `serve` it."""

from hikitsugi.devforge.faults import Failing, Fault
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.server import serve, serve_in_thread

__all__ = ["DevForge", "Failing", "Fault", "serve", "serve_in_thread"]
