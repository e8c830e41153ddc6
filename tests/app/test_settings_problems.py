"""A wrong configuration is refused with a line per problem and without a secret."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hikitsugi.app.settings import load_settings
from hikitsugi.app.settings_problems import SettingsError
from hikitsugi.domain.errors import WillNeverWork

CANARY = "canary-0123456789"


def refuse(folder: Path, text: str, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    file = folder / "settings.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as refusal:
        load_settings(file, environ or {})
    assert isinstance(refusal.value, WillNeverWork)
    assert str(refusal.value).splitlines() == list(refusal.value.problems)
    return refusal.value.problems


WRONG = [
    ("language: de", "language: \"de\" — must be 'ja' or 'en'"),
    ("polling: {interval_seconds: soon}", 'polling.interval_seconds: "soon" — must be a number'),
    ("polling: {interval_seconds: 0}", "polling.interval_seconds: 0 — must be greater than 0"),
    ("polling: {interval_seconds: .inf}", "polling.interval_seconds: Infinity — must be a finite number"),
    ("polling: {interval_seconds: yes}", "polling.interval_seconds: true — must be a number"),
    ("planning: {limits: {actions: 1.5}}", "planning.limits.actions: 1.5 — must be a whole number"),
    ("planning: {enabled: perhaps}", 'planning.enabled: "perhaps" — must be true or false'),
    ("planning: [1]", "planning: (a list) — must be a mapping"),
    ("labels: {paused: 5}", "labels.paused: 5 — must be a text; put it in quotes"),
    ("labels: {trigger: []}", "labels.trigger: (a list) — must not be empty"),
    ("labels: {paused: failed}", "labels: (a mapping) — must be a different label for each meaning"),
    ("llm: {base_url: localhost}", 'llm.base_url: "localhost" — must be an address like https://example.com'),
    ("broker: {port: 70000}", "broker.port: 70000 — must be less than or equal to 65535"),
    ("broker: {host: 0.0.0.0}", 'broker.host: "0.0.0.0" — must be 127.0.0.1, ::1 or localhost unless broker.tokens'),
    ("broker: {tokens: {A_b: {sha256: x}}}", "broker.tokens: "),
    ("temporal: {address: 'http://h:1'}", 'temporal.address: "http://h:1" — must be HOST:PORT'),
    ("sandbox: {kind: chroot}", "sandbox.kind: \"chroot\" — must be 'auto', 'bubblewrap', 'docker' or 'none'"),
    ("data_folder: ''", 'data_folder: "" — must be the path of a folder'),
    ("forges: 7", "forges: 7 — must be a list"),
    ("forges: [{name: 'a b'}]", 'forges[0].name: "a b" — must be made of letters, digits, - and _'),
    ("forges: [{repositories: [x]}]", 'forges[0].repositories[0].name: "x" — must be OWNER/REPOSITORY'),
    ("forges: [{repositories: [../..]}]", 'forges[0].repositories[0].name: "../.." — must be OWNER/REPOSITORY'),
    ("forges: [{repositories: [a/b/c]}]", "forges[0].repositories: (a list) — must be OWNER/REPOSITORY each"),
    ("forges: [{repositories: [a/b, A/B]}]", "forges[0].repositories: (a list) — must not name a repository twice"),
    ("forges: [{repositories: [{worked_by: agent}]}]", "forges[0].repositories[0].name — must be given"),
    ("forges: [{}, {}]", 'forges: "github" — must be the name of one forge only'),
    ("forges: [{worked_by: me}]", "forges[0].worked_by: \"me\" — must be 'agent' or 'broker'"),
    ("forges: [{url: 'https://u:p@h'}]", "— must be an address without user name or password"),
    ("memory: {url: 'mysql://h/d'}", "memory.url: [redacted] — must be postgresql://"),
    ("redis: {url: localhost}", "redis.url: [redacted] — must be redis://HOST:PORT/DB"),
    ("llm: {modle: x}", "llm.modle — there is no such key; did you mean model? allowed here: base_url, api_key"),
    ("1: x", "keys must be texts"),
]


@pytest.mark.req("OP-04")
@pytest.mark.parametrize(("text", "expected"), WRONG)
def test_a_wrong_value_is_named_with_its_key_and_what_is_allowed(tmp_path: Path, text: str, expected: str):
    assert expected in "\n".join(refuse(tmp_path, text))


@pytest.mark.req("OP-04")
def test_every_problem_is_reported_at_once(tmp_path: Path):
    text = """
language: fr
forges: [{kind: svn}, {name: a}, {name: a}]
polling: {interval: 3}
broker: {host: 0.0.0.0, port: x}
llm: {max_tokens: 0}
"""
    environ = {"HIKITSUGI_LLM__MODLE": "x", "HIKITSUGI_FORGE": "[]", "REDIS_PORT": "many", "HIKITSUGI_LABELS": "{"}
    problems = refuse(tmp_path, text, environ)
    assert sorted(problem.split(" ")[0].rstrip(":") for problem in problems) == sorted(
        [
            "HIKITSUGI_FORGE",
            "HIKITSUGI_LABELS",
            "HIKITSUGI_LLM__MODLE",
            "REDIS_PORT",
            "broker.host",
            "broker.port",
            "forges",
            "forges[0].kind",
            "language",
            "llm.max_tokens",
            "polling.interval",
        ]
    )


def test_a_value_from_the_environment_is_reported_with_its_variable(tmp_path: Path):
    (problem,) = refuse(tmp_path, "", {"HIKITSUGI_LLM__MAX_TOKENS": "plenty"})
    assert problem == 'llm.max_tokens (from HIKITSUGI_LLM__MAX_TOKENS): "plenty" — must be a whole number'


def test_a_variable_below_a_list_says_to_set_the_whole_list(tmp_path: Path):
    (problem,) = refuse(tmp_path, "", {"HIKITSUGI_FORGES__0__TOKEN": CANARY})
    assert problem == "HIKITSUGI_FORGES__0__TOKEN — there is no such key; set HIKITSUGI_FORGES as a whole"


def test_a_host_for_others_with_tokens_is_fine(tmp_path: Path):
    file = tmp_path / "settings.yaml"
    file.write_text(f"broker: {{host: 0.0.0.0, tokens: {{agent-1: {{sha256: {'a' * 64}}}}}}}")
    assert load_settings(file, {}).broker.tokens["agent-1"].roles == ()


BROKEN = [
    ("llm:\n  model: [a, b\n", "line 3, column 1"),
    ("llm: {token: 'x\n", "line 2, column 1"),
    ("a: b: c\n", "line 1, column 5"),
    ("llm:\n\tmodel: x\n", "line 2, column 1"),
    (f"llm: {{api_key: *{CANARY}}}\n", "line 1, column 16"),
    (f"llm: {{api_key: !{CANARY} x}}\n", "line 1, column 16"),
]


@pytest.mark.req("OP-04", "OP-05")
@pytest.mark.parametrize(("text", "place"), BROKEN)
def test_broken_yaml_is_one_line_with_file_line_and_column(tmp_path: Path, text: str, place: str):
    (problem,) = refuse(tmp_path, text)
    assert problem.startswith(f"{tmp_path / 'settings.yaml'}, {place} — is not valid YAML")
    assert CANARY not in problem


def test_a_file_that_is_no_text_is_refused(tmp_path: Path):
    file = tmp_path / "settings.yaml"
    for content in (b"\xff\xfe\x00", b"a: \x01", b"- a\n- b\n", b"just words"):
        file.write_bytes(content)
        with pytest.raises(SettingsError, match=r"settings\.yaml"):
            load_settings(file, {})


def test_a_named_file_that_cannot_be_read_is_refused(tmp_path: Path):
    with pytest.raises(SettingsError, match=r"nowhere\.yaml — cannot be read: No such file"):
        load_settings(tmp_path / "nowhere.yaml", {})
    with pytest.raises(SettingsError, match="Is a directory"):
        load_settings(None, {"HIKITSUGI_CONFIG": str(tmp_path)})


SECRETS_IN_WRONG_PLACES: list[tuple[str, dict[str, str]]] = [
    (f"forges: [{{token: [{CANARY}]}}]", {}),
    (f"forges: [{{token: {{a: {CANARY}}}}}]", {}),
    (f"forges: {CANARY}", {"GITHUB_TOKEN": CANARY}),
    (f"forges: [{{token: {CANARY}, name: '{CANARY} {CANARY}'}}]", {}),
    (f"forges: [{{tokne: {CANARY}}}]", {}),
    (f"forges: [{{webhook_secret: 5, url: 'https://user:{CANARY}@host'}}]", {}),
    (f"llm: {{api_key: [{CANARY}]}}", {}),
    ("llm: '${ANTHROPIC_API_KEY}'", {"ANTHROPIC_API_KEY": CANARY}),
    ("language: '${ANTHROPIC_API_KEY}'", {"ANTHROPIC_API_KEY": CANARY}),
    (f"broker: {{tokens: {{agent: {CANARY}}}}}", {}),
    (f"broker: {{tokens: {{agent: {{sha256: {CANARY}}}}}}}", {}),
    (f"memory: {{url: 'mysql://user:{CANARY}@host/db'}}", {}),
    (f"redis: {{url: 'http://:{CANARY}@host/db'}}", {}),
    (f"temporal: {{encryption_key: [{CANARY}], api_key: {{x: {CANARY}}}}}", {}),
    ("", {"DATABASE_URL": f"mysql://user:{CANARY}@host/db"}),
    ("", {"HIKITSUGI_FORGES": f'[{{"token": "{CANARY}"'}),
    ("", {"HIKITSUGI_LLM__API_KYE": CANARY}),
]


@pytest.mark.req("OP-05")
@pytest.mark.parametrize(("text", "environ"), SECRETS_IN_WRONG_PLACES)
def test_no_secret_is_in_any_error_text(tmp_path: Path, text: str, environ: dict[str, str]):
    assert CANARY not in "\n".join(refuse(tmp_path, text, environ))


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
ANYTHING = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@given(section=st.sampled_from(["forges", "llm", "broker", "labels", "data_folder"]), value=ANYTHING)
def test_whatever_the_environment_says_ends_in_settings_or_a_settings_error(section: str, value: object):
    with suppress(SettingsError):
        load_settings(Path(os.devnull), {f"HIKITSUGI_{section.upper()}": json.dumps(value)})
