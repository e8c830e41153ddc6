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
_READ = 65_536
"""The longest body on GitHub; on GitLab, the lines beyond are not looked at."""
# Nothing here gives back what it took: a text made for it could otherwise take minutes.
_LEAD = r"[ \t>*_#+-]*+(?:ブランチ名?+|branch(?:[ _-]name)?+)(?:[ \t]*+[(\uff08][^)\uff09\n]*+[)\uff09])?+[ \t*_]*+"
_NAMED = re.compile(
    rf"^{_LEAD}[:\uff1a][ \t*_]*+(?P<same>\S[^\n]*+)|^[ \t]{{0,3}}+#{{1,6}}+{_LEAD}\n++[ \t>*+-]*+(?P<below>\S[^\n]*+)",
    re.IGNORECASE | re.MULTILINE,
)


def branch_for(number: int, body: str, base: str) -> str:
    """The branch an issue's text names, if it is a harmless one; else the usual one."""
    whole_lines = body if len(body) <= _READ else body[:_READ].rpartition("\n")[0]
    match = _NAMED.search(whole_lines.replace("\r\n", "\n"))
    wanted = (match["same"] or match["below"]).strip("`'\"「」 \t") if match else ""
    return wanted if is_harmless(wanted, base) else f"feature/issue-{number}"


def is_harmless(name: str, base: str) -> bool:
    """Whether git takes the name as it is, and it is nobody's main line."""
    if len(name) > _LONGEST or not _NAME.fullmatch(name) or ".." in name:
        return False
    if any(part.endswith((".", ".lock")) for part in name.lower().split("/")):
        return False
    return name.casefold() != base.casefold() and not _PROTECTED.fullmatch(name)
