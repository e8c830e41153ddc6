"""How the addresses in an answer begin, which depends on how the client asked."""

from dataclasses import dataclass

from fastapi import Request

from hikitsugi.devforge.repository import Repository

ENTERPRISE_PREFIX = "/api/v3"


@dataclass(frozen=True)
class Links:
    """The API's and the pages' own addresses, as seen by the client."""

    api: str
    site: str

    @classmethod
    def of(cls, request: Request) -> "Links":
        """The addresses for the client that sent this request."""
        site = str(request.base_url).rstrip("/")
        prefix = ENTERPRISE_PREFIX if request.url.path.startswith(f"{ENTERPRISE_PREFIX}/") else ""
        return cls(api=site + prefix, site=site)

    def repository(self, home: Repository) -> str:
        """A repository in the API."""
        return f"{self.api}/repos/{home.full_name}"

    def page(self, home: Repository) -> str:
        """A repository in the browser."""
        return f"{self.site}/{home.full_name}"
