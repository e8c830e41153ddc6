"""Secrets leave by no exit, and everything else leaves as it was."""

import base64
import json
from typing import cast
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hikitsugi.domain.redaction import HIDDEN, WITHHELD, Redactor

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
secrets = st.text(LETTERS + "-_.~!#$%&'()*+,/:;<=>?@[]^`{|}\"\\ é日", min_size=9, max_size=40)
words = st.text(LETTERS + " 。、\n", max_size=20)
PIECE = 6
TOKENS = [
    "ghp_" + "aB3" * 12,
    "gho_" + "aB3" * 12,
    "ghs_" + "aB3" * 12,
    "github_pat_11ABCDEFG0_" + "aB3" * 12,
    "glpat-" + "aB3_-" * 4,
    "sk-ant-api03-" + "aB3_-" * 12,
    "sk-" + "aB3" * 12,
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKC\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk cut off",
]
ORDINARY = [
    "",
    "ラベルの付いた Issue が 1 件、プルリクエストになりました。",
    "Fixed `parse()` in src/app.py: 3 files, +12 −4, `1a2b3c4d`",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "https://github.com/octo/repo/pull/3",
    "http://127.0.0.1:8080/octo/repo@main",
    "git@github.com:octo/repo.git",
    "ssh://git@example.com:22/octo/repo",
    "alice@example.com and maria@example.com",
    "https://github.com/octo/task-runner-for-python/pull/3",
    "the branch disk-usage-of-the-workspace",
    "scikit-learn and sk-learn are the same",
    "Authorization is needed: bearer of news",
    "-----BEGIN PUBLIC KEY-----",
]


def forms(secret: str) -> set[str]:
    """The secret as it may stand in a text."""
    raw = secret.encode()
    escaped = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    return {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), raw.hex(), raw.hex().upper(), *escaped}


def pieces(form: str) -> set[str]:
    """Everything a reader could still put together."""
    return {form[start : start + PIECE] for start in range(len(form) - PIECE + 1)}


SHORT = "k3y-Zz9x"
AWKWARD = 'pä/s"s~~wo?~rd>>?1'


@pytest.mark.req("OP-05")
@given(secret=secrets, before=words, after=words)
def test_no_secret_survives_plain_quoted_escaped_or_in_hex(secret: str, before: str, after: str):
    redact = Redactor([secret])
    for form in forms(secret):
        told = redact(f"{before}|{form}|{after}")
        assert form not in told
        assert HIDDEN in told


@pytest.mark.req("OP-05")
@given(secret=secrets, shift=st.integers(0, 5), tail=st.integers(0, 5))
def test_no_piece_of_a_secret_survives_in_base64_wherever_it_begins(secret: str, shift: int, tail: int):
    raw = secret.encode()
    encoded = base64.b64encode(b"\0" * shift + raw + b"\0" * tail).decode()
    first, last = -(-8 * shift // 6), 8 * (shift + len(raw)) // 6
    told = Redactor([secret])(f"Basic {encoded}")
    assert HIDDEN in told
    assert not pieces(encoded[first:last]) & pieces(told.replace(HIDDEN, "|"))


@pytest.mark.req("OP-05")
@pytest.mark.parametrize("secret", [SHORT, AWKWARD])
def test_short_and_awkward_secrets_survive_in_no_form(secret: str):
    for form in (*forms(secret), *(f"{form}==" for form in _in_base64(secret))):
        assert form.rstrip("=") not in Redactor([secret])(form)


def _in_base64(secret: str) -> set[str]:
    """The secret in both alphabets, after none, one or two other bytes."""
    raws = [b"\0" * shift + secret.encode() for shift in range(3)]
    return {encode(raw).decode().rstrip("=") for raw in raws for encode in (base64.b64encode, base64.urlsafe_b64encode)}


@pytest.mark.req("OP-05")
@given(known=st.lists(secrets, min_size=2, max_size=4), between=words)
def test_of_several_secrets_none_survives_even_when_one_holds_another(known: list[str], between: str):
    known = [*known, known[0] + known[1]]
    told = Redactor(known)(between.join(known))
    assume(not any(secret in between or secret in HIDDEN for secret in known))
    assert not [secret for secret in known if secret in told]


@pytest.mark.req("OP-05")
@pytest.mark.parametrize("token", TOKENS, ids=lambda token: token[:12])
def test_the_usual_forms_of_tokens_are_hidden_though_nobody_named_them(token: str):
    told = Redactor()(f"It said: {token}")
    assert told == f"It said: {HIDDEN}"


@pytest.mark.req("OP-05")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("https://x-access-token:s3cret@github.com/o/r", f"https://{HIDDEN}@github.com/o/r"),
        ("postgresql://me:pass@db/x and more", f"postgresql://{HIDDEN}@db/x and more"),
        ("Authorization: Bearer abc.def", f"Authorization{HIDDEN}"),
        ("authorization: basic dXNlcjpwYXNz\nHost: x", f"authorization{HIDDEN}\nHost: x"),
        ('{"Authorization": "token abcdef"}', f'{{"Authorization{HIDDEN}"}}'),
    ],
)
def test_credentials_in_addresses_and_headers_are_hidden_and_their_surroundings_kept(text: str, told: str):
    assert Redactor()(text) == told


@pytest.mark.req("OP-05")
@given(secret=secrets, before=words, after=words)
def test_redacting_twice_changes_nothing_more(secret: str, before: str, after: str):
    assume(secret not in HIDDEN)
    redact = Redactor([secret])
    once = redact(f"{before}{secret}{after} {TOKENS[0]} https://a:b@c/d")
    assert redact(once) == once


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_as_it_is(text: str):
    assert Redactor(["correct horse battery"])(text) == text


@given(words)
def test_words_without_a_secret_are_left_as_they_are(text: str):
    assert Redactor(["correct-horse-battery"])(text) == text


def test_a_value_too_short_to_be_a_secret_does_not_tear_holes_into_texts():
    assert Redactor(["", "a", "main"])("a main branch") == "a main branch"


@pytest.mark.req("OP-05")
@given(secret=secrets, at=st.integers(1, 8), wrap=st.sampled_from(["\n", "\r\n", "\\n"]))
def test_a_secret_broken_into_lines_is_still_found(secret: str, at: int, wrap: str):
    for form in (secret, base64.b64encode(secret.encode()).decode(), secret.encode().hex()):
        told = Redactor([secret])(f"|{form[:at]}{wrap}{form[at:]}|")
        assert HIDDEN in told


@pytest.mark.req("OP-05")
@pytest.mark.parametrize("wrap", ["\r\n", "\\n", " ", ""])
def test_a_key_of_several_lines_is_found_however_its_lines_are_joined(wrap: str):
    lines = ["MIIEowIBAAKCAQEA1", "c2VjcmV0LWtleS1saW5l", "QUJDREVGR0hJSktMTU4"]
    told = Redactor(["\n".join(lines)])(f"key: {wrap.join(lines)} end")
    assert not any(line in told for line in lines)


@pytest.mark.req("OP-05")
def test_what_cannot_be_looked_through_is_withheld():
    assert Redactor(["correct-horse"])(cast("str", b"correct-horse")) == WITHHELD


@pytest.mark.parametrize(
    "text",
    [
        "postgres://user:password@localhost/test",
        "postgresql://USER:PASSWORD@HOST/DATABASE",
        "https://${USER}:${TOKEN}@example.com/x.git",
        "redis://default:<password>@cache:6379",
    ],
)
def test_the_place_of_a_password_is_no_password(text: str):
    assert Redactor()(text) == text


@pytest.mark.req("OP-05")
@given(st.sampled_from(TOKENS), words)
def test_redacting_twice_is_redacting_once(token: str, around: str):
    redact = Redactor(["correct-horse"])
    once = redact(f"{around}{token} correct-horse{around}")
    assert redact(once) == once


def test_what_stands_right_before_a_web_token_is_kept():
    assert Redactor()(f'{{"text": "one\\n{TOKENS[8]}"}}') == f'{{"text": "one\\n{HIDDEN}"}}'


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "unit", ["eyJ", "eyJabcdefgh.", "://a:b", "-----BEGIN ", "-----END ", "authorization: ", "sk-"]
)
def test_a_hostile_text_takes_no_longer_than_its_length(unit: str):
    text = unit * (1_000_000 // len(unit))
    assert len(Redactor(["correct-horse"])(text)) <= len(text)
