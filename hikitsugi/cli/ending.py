"""How a command ends: a clear sentence, the right status, and no crash on the way out."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import NoReturn

from hikitsugi.app.settings_problems import SettingsError
from hikitsugi.domain.errors import HikitsugiError

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


def ended(run: Callable[[], object]) -> NoReturn:
    """Run a command to its end; the process leaves without the interpreter's teardown, in which the SDK can crash."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    leave(_status_of(run))


def leave(status: int) -> NoReturn:
    """Flush what was said and end the process."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(status)


def insist_on_ending(within: timedelta, last_words: str) -> None:
    """End the process with a sentence if it has not ended by then, whatever it hangs on."""

    def give_up() -> None:
        sys.stderr.write(f"{last_words}\n")
        leave(FAILED)

    timer = threading.Timer(within.total_seconds(), give_up)
    timer.daemon = True
    timer.start()


def _status_of(run: Callable[[], object]) -> int:
    try:
        result = run()
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else DONE if exit_.code is None else FAILED
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return MISUSED
    except HikitsugiError as error:
        sys.stderr.write(f"{error}\n")
        return FAILED
    except OSError as error:
        sys.stderr.write(f"{error.filename or 'output'}: {error.strerror}\n")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return result if isinstance(result, int) else DONE
