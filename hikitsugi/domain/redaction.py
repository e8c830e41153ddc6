"""One redactor for every exit: comments, failures, logs, the store, Temporal and exports."""

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

HIDDEN = "[redacted]"
WITHHELD = "[withheld]"
_SHORTEST = 6
_LONG_LINE = 16
_BREAK = re.compile(r"\r?\n|\\r\\n|\\n")
# What examples and settings files write where a password goes; hiding it would only damage them.
_PLACEHOLDER = r"(?:[$<{%*][^\s/@]*|(?i:password|passwd|secret|postgres|root|guest|test|example|changeme)(?=@))"
_TOKEN_FORMS = re.compile(
    r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|gl(?:pat|rt|cbt|dt|ptt)-[A-Za-z0-9_-]{16,}|(?<![A-Za-z0-9])sk-(?:ant-)?[A-Za-z0-9_-]{16,}"
    r"|AKIA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}|xox[abpr]-[A-Za-z0-9-]{10,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?<=://)[^\s/:@]+:(?!" + _PLACEHOLDER + r")[^\s/@]+(?=@)"
    r"|(?i:(?<=authorization)[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token) [^\s\"']+)",
    re.DOTALL,
)
# A search at every "eyJ" would read a long run of letters again for each; this one reads it once, from its start.
_WEB_TOKEN = re.compile(r"(?<![\w-])((?:(?!eyJ)[\w-])*+)eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]++", re.ASCII)


class Redactor:
    """Knows the loaded secrets in their usual encodings, and the usual forms of tokens."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets if len(secret) >= _SHORTEST for form in _encodings(secret)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def __call__(self, text: str) -> str:
        """The text without secrets; what cannot be looked through is withheld whole."""
        try:
            told = self._without_broken(self._known.sub(HIDDEN, text))
            return _TOKEN_FORMS.sub(HIDDEN, _WEB_TOKEN.sub(rf"\1{HIDDEN}", told))
        except Exception:  # noqa: BLE001 - whatever goes wrong, an unread text must not go out
            return WITHHELD

    def _without_broken(self, text: str) -> str:
        """The text without secrets that something broke into lines."""
        unbroken = _BREAK.sub("", text)
        if unbroken == text or not self._known.search(unbroken):
            return text
        breaks = {place for found in _BREAK.finditer(text) for place in range(*found.span())}
        places = [place for place in range(len(text)) if place not in breaks]
        for found in reversed(list(self._known.finditer(unbroken))):
            text = text[: places[found.start()]] + HIDDEN + text[places[found.end() - 1] + 1 :]
        return text


def _encodings(secret: str) -> set[str]:
    """The secret as it is, and as it stands inside URLs, JSON, hexadecimal text and base64 at any offset."""
    raw = secret.encode()
    plain = {secret, quote(secret, safe=""), quote(secret), quote_plus(secret), raw.hex(), raw.hex().upper()}
    plain |= {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    plain |= {secret.replace("\n", other) for other in ("\r\n", "\\r\\n", " ") if "\n" in secret.strip()}
    plain.add(_BREAK.sub("", secret))
    plain |= {line for line in secret.splitlines() if len(line) >= _LONG_LINE} if "\n" in secret.strip() else set()
    encoded = {form for shift in range(3) for form in _base64(raw[shift:])}
    return plain | {form for form in encoded if len(form) >= _SHORTEST + 2}


def _base64(raw: bytes) -> set[str]:
    """What stays the same of an encoding, whatever follows; the last character may not."""
    whole = raw[: len(raw) - len(raw) % 3]
    left = raw[len(whole) :]
    tail = base64.b64encode(left).decode().rstrip("=")[:-1] if left else ""
    form = base64.b64encode(whole).decode() + tail
    return {form, form.replace("+", "-").replace("/", "_")}
