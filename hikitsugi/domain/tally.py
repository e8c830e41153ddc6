"""What was counted about comments."""

from hikitsugi.domain.value import Value


class Tally(Value):
    """How often was looked for comments, how many were found and given to the model, and what went wrong."""

    checks: int = 0
    found: int = 0
    added: int = 0
    errors: int = 0

    def since(self, earlier: "Tally") -> "Tally":
        """What came on top of an earlier count."""
        return Tally(
            checks=self.checks - earlier.checks,
            found=self.found - earlier.found,
            added=self.added - earlier.added,
            errors=self.errors - earlier.errors,
        )
