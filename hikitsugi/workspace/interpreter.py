"""The Python this product runs on, which commands may use as well."""

import sys
from pathlib import Path

PREFIX = Path(sys.base_prefix).resolve()
EXECUTABLE = PREFIX / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "PAGER": "cat",
    "CI": "1",
    "NO_COLOR": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
