"""Runs the product: `python worker.py [--config FILE] [--only worker|watcher|broker]`."""

import signal

if __name__ == "__main__":
    # Ctrl-C while the parts are being loaded ends the process without a traceback; `ended` listens to it again.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from hikitsugi.cli.ending import ended
from hikitsugi.cli.worker import app

if __name__ == "__main__":
    ended(app)
