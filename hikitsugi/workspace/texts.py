"""A file's text as the model sees it, and its way back into the bytes it came from."""

import hashlib
from dataclasses import dataclass, replace

from hikitsugi.workspace.refusal import Refused

_ENCODINGS = ("utf-8", "euc_jp", "cp932", "latin-1")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Text:
    """Text with plain line ends; the file's own line ends and encoding come back when it is written."""

    content: str
    encoding: str = "utf-8"
    newline: str = "\n"

    def encoded(self) -> bytes:
        """The bytes for the file."""
        try:
            return self.content.replace("\n", self.newline).encode(self.encoding)
        except UnicodeEncodeError as error:
            character = self.content.replace("\n", self.newline)[error.start]
            raise Refused(f"the file is kept in {self.encoding}, which has no {character!r}") from None

    def with_content(self, content: str) -> "Text":
        """Other text in the same style."""
        return replace(self, content=self.plain(content))

    def plain(self, words: str) -> str:
        """Words from the model with the line ends that this text shows."""
        return words.replace("\r\n", "\n") if self.newline == "\r\n" else words


def decoded(data: bytes) -> Text:
    """Read bytes in the first encoding that gives them back unchanged."""
    if b"\0" in data:
        raise Refused("this is a binary file; look at it with run")
    encodings = ("utf-8-sig", *_ENCODINGS) if data.startswith(_BYTE_ORDER_MARK) else _ENCODINGS
    content, encoding = next(found for found in (_try(data, encoding) for encoding in encodings) if found)
    has_dos_ends = "\r\n" in content and content.count("\r\n") == content.count("\n")
    if has_dos_ends:
        return Text(content.replace("\r\n", "\n"), encoding, "\r\n")
    return Text(content, encoding)


def fingerprint(data: bytes) -> str:
    """What `seen` and intents know a content by."""
    return hashlib.sha256(data).hexdigest()


def _try(data: bytes, encoding: str) -> tuple[str, str] | None:
    try:
        content = data.decode(encoding)
        return (content, encoding) if content.encode(encoding) == data else None
    except UnicodeError:
        return None
