"""Issues and repositories as people write them on the command line."""

import re
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

from hikitsugi.app.settings_forges import ForgeSettings
from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress

Forges = Sequence[ForgeSettings]

_SHORT = re.compile(r"(?:([A-Za-z0-9_-]+):)?([^:#!\s]+)([#!])([1-9][0-9]*)")
_PAGE = re.compile(r"/(.+?)/(?:-/)?(issues|work_items|pull|merge_requests)/([1-9][0-9]*)(?:/.*)?")
_KINDS = {"#": Kind.ISSUE, "!": Kind.MERGE_REQUEST, "work_items": Kind.ISSUE} | {kind.value: kind for kind in Kind}
_PORTS = {"http": 80, "https": 443}
_FORMS = "write it as owner/repo#12, FORGE:owner/repo#12, the workflow's id or the issue's web address"


def issue_in(text: str, forges: Forges) -> IssueAddress:
    """The issue that is meant; anything else is a ValueError that says how to write one."""
    if text.startswith(("http://", "https://")):
        return _on_the_web(text, forges)
    if short := _SHORT.fullmatch(text):
        kind = _KINDS[short[3]]
        home = _home(short[1] or _default(forges, kind), short[2], forges)
        return _issue(home, kind, short[4], forges)
    try:
        return IssueAddress.parse(text)
    except ValueError:
        raise ValueError(f"{text!r} is not an issue; {_FORMS}") from None


def repository_in(text: str, forges: Forges) -> RepositoryAddress:
    """The repository that is meant; anything else is a ValueError that says how to write one."""
    name, colon, repository = text.rpartition(":")
    return _home(name if colon else _default(forges, Kind.ISSUE), repository, forges)


def _on_the_web(text: str, forges: Forges) -> IssueAddress:
    try:
        hosts = {forge.name: _page_of(forge, text) for forge in forges}
    except ValueError:
        raise ValueError(f"{text!r} is not a web address; {_FORMS}") from None
    pages = {name: page for name, page in hosts.items() if page is not None}
    if not pages:
        raise ValueError(f"{text!r} is on none of the configured forges; {_known(forges)}")
    found = {name: match for name, page in pages.items() if (match := _PAGE.fullmatch(page))}
    if not found:
        raise ValueError(f"{text!r} is not the address of an issue or request; {_FORMS}")
    name = next((name for name, match in found.items() if _configured(name, match[1], forges)), next(iter(found)))
    repository, kind, number = found[name].groups()
    return _issue(_home(name, repository, forges), _KINDS[kind], number, forges)


def _page_of(forge: ForgeSettings, text: str) -> str | None:
    """The path of a web address below the forge's own, or None if it is elsewhere."""
    wanted, own = urlsplit(text), urlsplit(forge.url)
    root = re.sub(r"/api/v[34]$", "", own.path)
    # A public GitHub, and one with data residency, has its API on a host of its own.
    host = re.sub(r"^api\.(?=github\.com$|[^.]+\.ghe\.com$)", "", own.hostname or "")
    same_place = re.sub(r"^www\.", "", wanted.hostname or "") == host and _port(wanted) == _port(own)
    return wanted.path.removeprefix(root).rstrip("/") if same_place and wanted.path.startswith(root) else None


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS[parts.scheme]


def _default(forges: Forges, kind: Kind) -> str:
    """The first forge; for a merge request, the first that has them."""
    fitting = [forge.name for forge in forges if kind is not Kind.MERGE_REQUEST or forge.kind == "gitlab"]
    if not fitting:
        wanted = "GitLab server, which merge requests (!) are on" if forges else "forge"
        raise ValueError(f"the configuration names no {wanted}; set forges, or write FORGE:owner/repo#12")
    return fitting[0]


def _home(name: str, repository: str, forges: Forges) -> RepositoryAddress:
    home = RepositoryAddress.parse(f"{name}:{repository}")
    if forges and name not in [forge.name for forge in forges]:
        raise ValueError(f"there is no forge {name!r}; {_known(forges)}")
    spelled = _configured(name, repository, forges)
    return RepositoryAddress(forge=name, repository=spelled) if spelled else home


def _configured(name: str, repository: str, forges: Forges) -> str | None:
    """The repository as the configuration spells it, which is how its workflows are called."""
    names = [known.name for forge in forges if forge.name == name for known in forge.repositories]
    return next((known for known in names if known.lower() == repository.lower()), None)


def _issue(home: RepositoryAddress, kind: Kind, number: str, forges: Forges) -> IssueAddress:
    on_github = any(forge.name == home.forge and forge.kind == "github" for forge in forges)
    if on_github and kind is Kind.MERGE_REQUEST:
        raise ValueError(f"{home.forge!r} has no merge requests; write {home}/pull/{number} for a pull request")
    return IssueAddress(forge=home.forge, repository=home.repository, kind=kind, number=int(number))


def _known(forges: Forges) -> str:
    return "configured: " + (", ".join(f"{forge.name} ({forge.url})" for forge in forges) or "none; set forges")
