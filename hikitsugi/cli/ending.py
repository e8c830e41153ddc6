"""How a command ends: a clear sentence, the right status, and no crash on the way out."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from hikitsugi.app.settings_problems import SettingsError
from hikitsugi.domain.errors import HikitsugiError

DONE, FAILED, MISUSED = 0, 1, 2


def ended(run: Callable[[], object]) -> NoReturn:
    """Run a command to its end; the process leaves without the interpreter's teardown, in which the SDK can crash."""
    leave(_status_of(run))


def leave(status: int) -> NoReturn:
    """Flush what was said and end the process."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(status)


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
        return DONE
    return result if isinstance(result, int) else DONE
