"""What was shown about a pushed commit: the checks that ran on it, and what its change holds."""

from hikitsugi.domain.value import Value


class CheckRun(Value):
    """A command that ran on a commit, how it ended, and the last of what it said."""

    command: str
    exit_code: int
    tail: str


class Placeholder(Value):
    """An added line that promises work instead of doing it."""

    path: str
    line: int
    text: str


class Verified(Value):
    """The findings about one pushed commit."""

    commit: str
    checks: tuple[CheckRun, ...] = ()
    placeholders: tuple[Placeholder, ...] = ()
    touches_instructions: tuple[str, ...] = ()
    """Changed files that steer machines: workflows of the forge, instructions for agents."""

    @property
    def passed(self) -> bool:
        """Whether there was a check, and every one exited 0."""
        return bool(self.checks) and all(check.exit_code == 0 for check in self.checks)
