"""PyGithub without its sleeping, retrying and hidden requests."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import requests
from github import Auth, Consts, Github
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass

from hikitsugi.forges import client
from hikitsugi.forges.client import PAGE_SIZE, Dialect, Json, Parameters, Told
from hikitsugi.forges.credentials import Access
from hikitsugi.forges.github_errors import failure

GRAPHQL = "/graphql"


class _NotFollowedError(Exception):
    """An answer PyGithub would act on by itself."""

    def __init__(self, response: requests.Response) -> None:
        super().__init__(response.status_code)
        self.response = response


def _stop(response: requests.Response, **_: Any) -> None:
    # PyGithub asks again for ever on a 202, and follows a 301 without its query.
    if response.status_code in {HTTPStatus.ACCEPTED, HTTPStatus.MOVED_PERMANENTLY}:
        raise _NotFollowedError(response)


class CurrentToken(Auth.Auth):
    """The token of the moment, as PyGithub puts it into each request."""

    def __init__(self, access: Access) -> None:
        self._access = access

    @property
    def token_type(self) -> str:
        """How GitHub calls it."""
        return "token"

    @property
    def token(self) -> str:
        """The token itself."""
        return self._access.token().get_secret_value()


class GitHubConnection:
    """PyGithub's requester on a connection of our own; for one thread."""

    def __init__(self, url: str, auth: Auth.Auth) -> None:
        self._requester = Github(
            base_url=url,
            auth=auth,
            timeout=client.TIMEOUT_SECONDS,
            per_page=PAGE_SIZE,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
            api_version=Consts.API_VERSION_2022_11_28,
        ).requester
        address = urlsplit(url)
        kind = HTTPSRequestsConnectionClass if address.scheme == "https" else HTTPRequestsConnectionClass
        self._connection = kind(address.hostname or "", address.port, timeout=client.TIMEOUT_SECONDS)
        self._connection.session.hooks["response"].append(_stop)

    def request(
        self, verb: str, path: str, parameters: Parameters, headers: Mapping[str, str], body: Json | None
    ) -> Told:
        """Ask once; GraphQL lies beside the API of an Enterprise server, not below it."""
        target = self._requester.graphql_url if path == GRAPHQL else path
        heads = {"Accept": "application/vnd.github+json", **headers}
        try:
            return self._requester.requestJson(verb, target, dict(parameters), heads, body, cnx=self._connection)
        except _NotFollowedError as error:
            response = error.response
            return response.status_code, {k.lower(): v for k, v in response.headers.items()}, response.text

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()


DIALECT = Dialect(
    connect=lambda url, access: GitHubConnection(url, CurrentToken(access)),
    failure=failure,
    updates_with="PATCH",
    repository=re.compile(r"/repos/[^/]+/[^/]+"),
)
