"""Runs the product: `python worker.py [--config FILE] [--only worker|watcher|broker]`."""

from hikitsugi.cli.ending import ended
from hikitsugi.cli.worker import app

if __name__ == "__main__":
    ended(app)
