"""One redactor for every exit: comments, failures and logs."""

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote

HIDDEN = "[redacted]"
_SHORTEST = 6
_TOKEN_FORMS = re.compile(
    r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|sk-(?:ant-)?[A-Za-z0-9_-]{16,}"
    r"|AKIA[0-9A-Z]{16}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)|(?i:(?<=authorization: )(?:bearer|basic|token) \S+)",
    re.DOTALL,
)


class Redactor:
    """Knows the loaded secrets in their usual encodings, and the usual forms of tokens."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets if len(secret) >= _SHORTEST for form in _encodings(secret)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        return _TOKEN_FORMS.sub(HIDDEN, self._known.sub(HIDDEN, text))


def _encodings(secret: str) -> set[str]:
    raw = secret.encode()
    encoded = {base64.b64encode(raw[shift:]).decode().rstrip("=")[:-1] for shift in range(3)}
    long_enough = {form for form in encoded if len(form) >= _SHORTEST + 2}
    return {secret, quote(secret, safe=""), json.dumps(secret)[1:-1], raw.hex(), *long_enough}
