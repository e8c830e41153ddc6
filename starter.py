"""Starts, signals and inspects workflows: `python starter.py --help`."""

from hikitsugi.cli.ending import ended
from hikitsugi.cli.starter import app

if __name__ == "__main__":
    ended(app)
