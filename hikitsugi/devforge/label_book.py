"""The labels of one repository; capital letters make no difference."""

import re
from collections.abc import Callable, Iterable
from threading import Lock

from hikitsugi.devforge.records import Label
from hikitsugi.devforge.refusals import Invalid, NotThere

PLAIN_COLOR = "ededed"
KNOWN_COLORS = {
    "processing": "1d76db",
    "awaiting-response": "fbca04",
    "completed": "2da44e",
    "paused": "8b949e",
    "stopped": "57606a",
    "failed": "d1242f",
    "in-progress": "0e8a9e",
    "needs-review": "bf8700",
    "task:misc": "8250df",
    "task:dogfooding": "bf3989",
}


class LabelBook:
    """The labels that issues and pull requests may carry."""

    def __init__(self, next_id: Callable[[], int]) -> None:
        self._next_id = next_id
        self._lock = Lock()
        self._labels: dict[str, Label] = {}

    @property
    def all(self) -> list[Label]:
        """All labels, by name."""
        return sorted(self._labels.values(), key=lambda label: label.name.lower())

    def named(self, name: str) -> Label:
        """One label."""
        try:
            return self._labels[name.lower()]
        except KeyError:
            raise NotThere(f"label {name}") from None

    def define(self, name: str, color: str | None = None, description: str = "") -> Label:
        """Make a label that does not exist yet."""
        if not name.strip():
            raise Invalid("Label", "name", "missing_field")
        if color is not None and not re.fullmatch("[0-9a-fA-F]{6}", color):
            raise Invalid("Label", "color", "invalid")
        with self._lock:
            if name.lower() in self._labels:
                raise Invalid("Label", "name", "already_exists")
            label = Label(self._next_id(), name, color or KNOWN_COLORS.get(name, PLAIN_COLOR), description)
            self._labels[name.lower()] = label
            return label

    def spelled(self, names: Iterable[str]) -> tuple[str, ...]:
        """Names as the labels spell them; unknown labels come into being."""
        known = (self._labels.get(name.lower()) or self.define(name) for name in names)
        return tuple(dict.fromkeys(label.name for label in known))
