"""A small forge for the demo and the tests: seed a `DevForge`, then `serve` it."""

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.server import serve, serve_in_thread

__all__ = ["DevForge", "serve", "serve_in_thread"]
