"""What the configuration may say, where it comes from, and which source wins."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from hikitsugi.app.settings import Settings, load_settings, problems_for_running
from hikitsugi.app.settings_forges import ForgeSettings, Repository
from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS

EXAMPLE = Path(__file__).parents[2] / "hikitsugi.example.yaml"


def load(folder: Path, text: str = "", environ: Mapping[str, str] | None = None) -> Settings:
    file = folder / "settings.yaml"
    file.write_text(text, encoding="utf-8")
    return load_settings(file, environ or {})


def value_at(settings: Settings, path: str) -> object:
    value: Any = settings
    for part in path.split("."):
        value = value[int(part)] if part.isdecimal() else getattr(value, part)
    return value.get_secret_value() if hasattr(value, "get_secret_value") else value


def test_an_empty_file_means_every_default(tmp_path: Path):
    assert load(tmp_path) == Settings()
    assert load(tmp_path, "polling:\nforges:\n") == Settings()


def test_no_file_at_all_means_every_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert load_settings(None, {}) == Settings()


def test_the_example_file_is_the_defaults_with_one_forge():
    settings = load_settings(EXAMPLE, {})
    assert settings.forges == (ForgeSettings(repositories=(Repository(name="owner/repo"),)),)
    assert settings.model_copy(update={"forges": ()}) == Settings()


def test_the_example_file_shows_every_key():
    shown = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    assert keys_of(Settings) - {"forges"} <= keys_in(shown)
    assert set(shown["forges"][0]) == set(ForgeSettings.model_fields)


def keys_of(section: type[BaseModel], path: str = "") -> set[str]:
    keys: set[str] = set()
    for name, field in section.model_fields.items():
        keys.add(path + name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            keys |= keys_of(field.annotation, f"{path}{name}.")
    return keys


def keys_in(given: object, path: str = "") -> set[str]:
    if not isinstance(given, dict):
        return set()
    keys: set[str] = set()
    for name, value in given.items():  # pyright: ignore[reportUnknownVariableType]  whatever the file holds
        keys |= {f"{path}{name}"} | keys_in(value, f"{path}{name}.")  # pyright: ignore[reportUnknownArgumentType]
    return keys


def test_the_closing_words_are_those_of_the_specification():
    assert Settings().comment_handling.completion_keywords == COMPLETION_KEYWORDS
    assert {"ありがとうございました", "承知", "OK", "ok", "thank you", "complete"} < set(COMPLETION_KEYWORDS)


def test_settings_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        Settings().llm.model = "another"


PRECEDENCE: list[tuple[str, dict[str, str], str, object]] = [
    ("", {}, "llm.model", "claude-opus-5-5"),
    ("llm: {model: file}", {}, "llm.model", "file"),
    ("llm: {model: file}", {"HIKITSUGI_LLM__MODEL": "variable"}, "llm.model", "variable"),
    ("llm: {model: file, max_tokens: 5}", {"HIKITSUGI_LLM": '{"model": "json"}'}, "llm.max_tokens", 5),
    ("", {"HIKITSUGI_LLM": '{"model": "json"}', "HIKITSUGI_LLM__MODEL": "single"}, "llm.model", "single"),
    ("llm: {model: file}", {"HIKITSUGI_LLM__MODEL": ""}, "llm.model", "file"),
    ("", {"HIKITSUGI_BUDGET__USD_PER_ISSUE": "null"}, "budget.usd_per_issue", None),
    ("", {"HIKITSUGI_PLANNING__LIMITS__ACTIONS": "7"}, "planning.limits.actions", 7),
    ("", {"HIKITSUGI_PLANNING__ENABLED": "false"}, "planning.enabled", False),
    ("", {"HIKITSUGI_LABELS__TRIGGER": '["a", "b"]'}, "labels.trigger", ("a", "b")),
    ("", {"ANTHROPIC_API_KEY": "known"}, "llm.api_key", "known"),
    ("llm: {api_key: file}", {"ANTHROPIC_API_KEY": "known"}, "llm.api_key", "file"),
    ("llm: {api_key: null}", {"ANTHROPIC_API_KEY": "known"}, "llm.api_key", "known"),
    ("", {"HIKITSUGI_LLM__API_KEY": "ours", "ANTHROPIC_API_KEY": "known"}, "llm.api_key", "ours"),
    ("", {"TEMPORAL_ADDRESS": "there:7233"}, "temporal.address", "there:7233"),
    ("temporal: {address: 'here:1'}", {"TEMPORAL_ADDRESS": "there:7233"}, "temporal.address", "here:1"),
    ("", {"BROKER_PORT": "9000"}, "broker.port", 9000),
    ("broker: {port: 1}", {"BROKER_PORT": "9000"}, "broker.port", 1),
    ("", {"HIKITSUGI_BROKER__PORT": "2", "BROKER_PORT": "9000"}, "broker.port", 2),
    ("", {}, "redis.url", None),
    ("", {"REDIS_HOST": "r"}, "redis.url", "redis://r:6379/0"),
    ("", {"REDIS_PORT": "1"}, "redis.url", "redis://localhost:1/0"),
    ("", {"REDIS_DB": "3"}, "redis.url", "redis://localhost:6379/3"),
    ("", {"REDIS_HOST": "::1", "REDIS_PORT": "2", "REDIS_DB": "4"}, "redis.url", "redis://[::1]:2/4"),
    ("redis: {url: 'redis://file/0'}", {"REDIS_HOST": "r"}, "redis.url", "redis://file/0"),
    ("", {"DATABASE_URL": "postgres://u:p@h/d"}, "memory.url", "postgresql+asyncpg://u:p@h/d"),
    ("", {"DATABASE_URL": "postgresql://h/d?sslmode=require"}, "memory.url", "postgresql+asyncpg://h/d?ssl=require"),
    ("", {"DATABASE_URL": "postgres://me@/d?host=/run/pg"}, "memory.url", "postgresql+asyncpg://me@/d?host=/run/pg"),
    ("memory: {url: 'sqlite:///m.db'}", {"DATABASE_URL": "postgres://h/d"}, "memory.url", "sqlite+aiosqlite:///m.db"),
    ("llm: {model: '${NAME}'}", {"NAME": "filled"}, "llm.model", "filled"),
    ("llm: {model: 'a-${NAME}-b'}", {"NAME": "filled"}, "llm.model", "a-filled-b"),
    ("llm: {model: '${NAME}'}", {}, "llm.model", "claude-opus-5-5"),
    ("labels: {trigger: ['${A}', '${B}']}", {"A": "one"}, "labels.trigger", ("one",)),
    ("broker: {port: '${P}'}", {"P": "81"}, "broker.port", 81),
    ("comment_handling: {timeout_hours: 0.001}", {}, "comment_handling.timeout_hours", 0.001),
    ("forges: [{}]", {"GITHUB_TOKEN": "g"}, "forges.0.token", "g"),
    ("forges: [{token: file}]", {"GITHUB_TOKEN": "g"}, "forges.0.token", "file"),
    ("forges: [{kind: gitlab}]", {"GITHUB_TOKEN": "g", "GITLAB_TOKEN": "l"}, "forges.0.token", "l"),
    ("forges: [{kind: gitlab}]", {}, "forges.0.url", "https://gitlab.com"),
    ("forges: [{kind: gitlab}]", {}, "forges.0.name", "gitlab"),
    ("forges: [{kind: gitlab, url: 'https://g.example/api/v4'}]", {}, "forges.0.url", "https://g.example"),
    ("forges: [{kind: gitlab, url: 'https://g.example/'}]", {}, "forges.0.url", "https://g.example"),
    ("forges: [{url: 'https://g.example/api/v3/'}]", {}, "forges.0.url", "https://g.example/api/v3"),
    ("forges: [{}]", {"GITHUB_REPOSITORY": "o/r"}, "forges.0.repositories.0.name", "o/r"),
    ("forges: [{repositories: [a/b]}]", {"GITHUB_REPOSITORY": "o/r"}, "forges.0.repositories.0.name", "a/b"),
    ("forges: [{accept_comments_from: anyone}]", {}, "forges.0.accept_comments_from", ("anyone",)),
    ("forges: [{name: x}]", {"HIKITSUGI_FORGES": '[{"name": "y"}]'}, "forges.0.name", "y"),
    ("forges: [{worked_by: broker, repositories: [a/b]}]", {}, "forges.0.repositories.0.worked_by", "broker"),
]


@pytest.mark.req("BR-11", "OP-04")
@pytest.mark.parametrize(("text", "environ", "path", "expected"), PRECEDENCE)
def test_each_source_has_its_place(tmp_path: Path, text: str, environ: dict[str, str], path: str, expected: object):
    assert value_at(load(tmp_path, text, environ), path) == expected


def test_the_environment_alone_makes_a_github_forge(tmp_path: Path):
    settings = load(
        tmp_path, "", {"GITHUB_TOKEN": "secret-token", "GITHUB_REPOSITORY": "o/r", "ANTHROPIC_API_KEY": "k"}
    )
    (forge,) = settings.forges
    assert (forge.name, forge.kind, forge.url) == ("github", "github", "https://api.github.com")
    assert forge.repositories == (Repository(name="o/r"),)
    assert problems_for_running(settings) == []


def test_repositories_are_written_in_two_ways(tmp_path: Path):
    settings = load(tmp_path, "forges: [{repositories: [a/b, {name: c/d, worked_by: broker}]}]")
    assert settings.forges[0].repositories == (
        Repository(name="a/b", worked_by="agent"),
        Repository(name="c/d", worked_by="broker"),
    )


def test_the_file_is_named_by_option_then_variable_then_found_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("option", "variable", "hikitsugi"):
        (tmp_path / f"{name}.yaml").write_text(f"llm: {{model: {name}}}")
    named = {"HIKITSUGI_CONFIG": "variable.yaml"}
    assert load_settings(Path("option.yaml"), named).llm.model == "option"
    assert load_settings(None, named).llm.model == "variable"
    assert load_settings(None, {}).llm.model == "hikitsugi"


def test_what_is_valid_but_not_enough_for_a_worker_is_told_apart(tmp_path: Path):
    assert [line.split(" ")[0] for line in problems_for_running(Settings())] == ["forges"]
    lines = problems_for_running(load(tmp_path, "forges: [{}, {kind: gitlab, repositories: [g/r]}]"))
    assert [line.split(" ")[0] for line in lines] == [
        "forges[0].token",
        "forges[0].repositories",
        "forges[1].token",
        "llm.api_key",
    ]


def test_repositories_worked_by_the_broker_alone_need_no_model(tmp_path: Path):
    text = "forges: [{token: abc, worked_by: broker, repositories: [o/r]}]"
    assert problems_for_running(load(tmp_path, text)) == []


@pytest.mark.req("OP-05")
def test_loaded_secrets_can_be_listed_and_are_not_shown(tmp_path: Path):
    environ = {"GITHUB_TOKEN": "github-canary", "GITHUB_REPOSITORY": "o/r", "ANTHROPIC_API_KEY": "model-canary"}
    text = "redis: {url: 'redis://:redis-canary@h/0'}\ntemporal: {encryption_key: key-canary}"
    settings = load(tmp_path, text, environ)
    assert {"github-canary", "model-canary", "redis-canary", "key-canary"} < settings.secrets()
    assert "canary" not in repr(settings)
    assert "canary" not in json.dumps(settings.model_dump(mode="json"))
