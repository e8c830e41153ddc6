"""Why the forge says no; each presentation turns these into its own status and words."""


class NotThere(Exception):
    """Nothing has that name or number."""


class NotAllowed(Exception):
    """The person lacks the permission."""


class NotMergeable(Exception):
    """The pull request is closed, a draft, or in conflict with its base."""


class Unsupported(Exception):
    """The repository's plan does not have that."""


class Outdated(Exception):
    """The caller's picture of the matter is no longer true."""


class Invalid(Exception):
    """A field's value is refused."""

    def __init__(self, resource: str, field: str, code: str, reason: str = "") -> None:
        super().__init__(reason or f"{resource} {field}: {code}")
        self.resource = resource
        self.field = field
        self.code = code
        self.reason = reason


class Duplicate(Invalid):
    """An open pull request stands for the same branches already."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__("PullRequest", "head", "custom", reason)
        self.number = number
