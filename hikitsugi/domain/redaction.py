"""One redactor for every exit: comments, failures and logs."""

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote

HIDDEN = "[redacted]"
_SHORTEST = 6
_TOKEN_FORMS = re.compile(
    r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|gl(?:pat|rt|cbt|dt|ptt)-[A-Za-z0-9_-]{16,}|(?<![A-Za-z0-9])sk-(?:ant-)?[A-Za-z0-9_-]{16,}"
    r"|AKIA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}|xox[abpr]-[A-Za-z0-9-]{10,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)|(?i:(?<=authorization)[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token) [^\s\"']+)",
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
    """The secret as it is, and as it stands inside URLs, JSON, hexadecimal text and base64 at any offset."""
    raw = secret.encode()
    plain = {secret, quote(secret, safe=""), quote(secret), json.dumps(secret)[1:-1], raw.hex(), raw.hex().upper()}
    plain.add(json.dumps(secret, ensure_ascii=False)[1:-1])
    encoded = {form for shift in range(3) for form in _base64(raw[shift:])}
    return plain | {form for form in encoded if len(form) >= _SHORTEST + 2}


def _base64(raw: bytes) -> set[str]:
    """What stays the same of an encoding, whatever follows; the last character may not."""
    whole = raw[: len(raw) - len(raw) % 3]
    left = raw[len(whole) :]
    tail = base64.b64encode(left).decode().rstrip("=")[:-1] if left else ""
    form = base64.b64encode(whole).decode() + tail
    return {form, form.replace("+", "-").replace("/", "_")}
