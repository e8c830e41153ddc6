"""Where issues and pull requests stand in an address."""

from starlette.convertors import Convertor, register_url_convertor


class _Noteables(Convertor[str]):
    regex = "issues|merge_requests"

    def convert(self, value: str) -> str:
        """The word itself."""
        return value

    def to_string(self, value: str) -> str:
        """The word itself."""
        return value


class _Place(_Noteables):
    regex = "issues|pull|merge_requests"


ISSUES = "issues"
# In a route's path, `{place:noteables}` is a collection of GitLab's API and `{place:place}` one of any page.
register_url_convertor("noteables", _Noteables())
register_url_convertor("place", _Place())
