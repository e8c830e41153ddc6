"""What the checks of a pushed commit showed: evidence found by code, not told by a model."""

from hikitsugi.domain.value import Value


class CheckRun(Value):
    """One check that ran on the commit: its exit code and the last lines it printed."""

    command: str
    exit_code: int
    tail: str = ""

    @property
    def passed(self) -> bool:
        """Whether it exited with 0."""
        return self.exit_code == 0


class Placeholder(Value):
    """A line of the change that only stands for work still to be done."""

    path: str
    line: int
    text: str


class Verified(Value):
    """What was found on one commit."""

    commit: str
    checks: tuple[CheckRun, ...] = ()
    placeholders: tuple[Placeholder, ...] = ()
    touches_instructions: tuple[str, ...] = ()
    """Changed files that steer machines: workflows of the forge, instructions for agents."""

    @property
    def passed(self) -> bool:
        """Whether there was a check at all, and every one exited with 0."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    @property
    def failing(self) -> tuple[CheckRun, ...]:
        """The checks that did not exit with 0."""
        return tuple(check for check in self.checks if not check.passed)
