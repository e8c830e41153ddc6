"""python-gitlab without its sleeping, retrying and following of redirects."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import requests
from gitlab import Gitlab
from pydantic import SecretStr

from hikitsugi.forges import client
from hikitsugi.forges.client import Dialect, Json, Parameters, Told
from hikitsugi.forges.gitlab_errors import failure


class _RefusedError(Exception):
    """An answer whose headers python-gitlab would not hand on, or a redirect it would send the token after."""

    def __init__(self, response: requests.Response) -> None:
        super().__init__(response.status_code)
        self.response = response


def _stop(response: requests.Response, **_: Any) -> None:
    if response.status_code >= HTTPStatus.MULTIPLE_CHOICES:
        raise _RefusedError(response)


class GitLabConnection:
    """A python-gitlab client of our own; for one thread."""

    def __init__(self, url: str, token: SecretStr) -> None:
        secret = token.get_secret_value()
        is_job = is_job_token(token)
        self._gitlab = Gitlab(
            url,
            private_token=None if is_job else secret,
            job_token=secret if is_job else None,
            timeout=client.TIMEOUT_SECONDS,
            retry_transient_errors=False,
        )
        self._gitlab.session.hooks["response"].append(_stop)

    def request(
        self, verb: str, path: str, parameters: Parameters, headers: Mapping[str, str], body: Json | None
    ) -> Told:
        """Ask once."""
        try:
            response = self._gitlab.http_request(
                verb,
                path,
                query_data=dict(parameters),
                post_data=body,
                obey_rate_limit=False,
                extra_headers=dict(headers),
            )
        except _RefusedError as error:
            response = error.response
        # Without a charset in the answer, requests would guess one.
        text = response.content.decode(errors="replace")
        return response.status_code, {name.lower(): value for name, value in response.headers.items()}, text

    def close(self) -> None:
        """Give the connection back."""
        self._gitlab.session.close()


def is_job_token(token: SecretStr) -> bool:
    """Whether a token is that of a running CI job, which goes in a header of its own."""
    return token.get_secret_value().startswith("glcbt-")


DIALECT = Dialect(
    connect=lambda url, access: GitLabConnection(url, access.token()),
    failure=failure,
    updates_with="PUT",
    repository=re.compile(r"/projects/[^/]+"),
)
