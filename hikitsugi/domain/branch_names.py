"""Names of work branches; one that an issue's text asks for is taken only when it can do no harm."""

import re

_LONGEST = 100
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_NAME = re.compile(rf"{_PART}(?:/{_PART})*")
_PROTECTED = re.compile(
    r"(?:main|master|trunk|head|dev|devel|develop|development|staging|production|prod|stable|gh-pages|release|releases)"
    r"|(?:refs|remotes|origin|release|releases|heads|tags)/.*",
    re.IGNORECASE,
)
_LEAD = r"[ \t>*_#+-]*(?:ブランチ名?|branch(?:[ _-]name)?)(?:[ \t]*[((][^)\n)]*[))])?[ \t*_]*"
_NAMED = re.compile(
    rf"^{_LEAD}[::][ \t*_]*(?P<same>\S[^\n]*?)[ \t]*$"
    rf"|^[ \t]{{0,3}}#{{1,6}}{_LEAD}\n+[ \t>*+-]*(?P<below>\S[^\n]*?)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)


def branch_for(number: int, body: str, base: str) -> str:
    """The branch an issue's text names, if it is a harmless one; else the usual one."""
    match = _NAMED.search(body.replace("\r\n", "\n"))
    wanted = (match["same"] or match["below"]).strip("`'\"「」 ") if match else ""
    return wanted if is_harmless(wanted, base) else f"feature/issue-{number}"


def is_harmless(name: str, base: str) -> bool:
    """Whether git takes the name as it is, and it is nobody's main line."""
    if len(name) > _LONGEST or not _NAME.fullmatch(name) or ".." in name:
        return False
    if any(part.endswith((".", ".lock")) for part in name.lower().split("/")):
        return False
    return name.casefold() != base.casefold() and not _PROTECTED.fullmatch(name)
