"""What the documents say is there: links, targets, commands, settings keys, containers."""

import re
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

import pytest
import typer
import yaml
from pydantic import BaseModel, TypeAdapter

from hikitsugi.app.settings import Settings, load_settings, problems_for_running
from hikitsugi.app.settings_forges import ForgeSettings
from hikitsugi.cli.starter import app
from hikitsugi.domain.commands import Word
from hikitsugi.domain.states import State
from tools.requirements_page import PAGE, page

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
READMES = [ROOT / "README.md", ROOT / "README.ja.md"]
ROLES = ("worker", "watcher", "broker")
SECRETS = {
    "POSTGRES_PASSWORD": "secret",
    "GITHUB_TOKEN": "t",
    "GITHUB_REPOSITORY": "o/r",
    "ANTHROPIC_API_KEY": "k",
    "EXAMPLE_AGENT_SHA256": "0" * 64,
}

_FENCED = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_KEY_ROW = re.compile(r"^\| `([a-z_.\[\]]+)` \| `(.+?)` \|", re.MULTILINE)


def code_in(document: Path) -> str:
    """Everything in a document that is set as code."""
    text = document.read_text()
    return "\n".join([*_FENCED.findall(text), *re.findall(r"`([^`\n]+)`", _FENCED.sub("", text))])


def anchors_in(document: Path) -> set[str]:
    """The names that a forge gives to a document's headings."""
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", document.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_link_and_image_leads_somewhere(document: Path):
    for link in _LINK.findall(_FENCED.sub("", document.read_text())):
        if "://" in link:
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        assert not anchor or anchor in anchors_in(target), link


@pytest.mark.parametrize("readme", READMES, ids=named)
def test_both_readmes_name_the_two_commands_and_each_other(readme: Path):
    assert {"make demo", "make test"} <= set(re.findall(r"make [a-z-]+", code_in(readme)))
    [other] = [other.name for other in READMES if other != readme]
    assert f"]({other})" in readme.read_text()[:200]


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_command_named_in_a_document_exists(document: Path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    runs = re.findall(r"(?<![\w-])make ((?:[a-z][a-z-]*(?: |$))+)", code_in(document), re.MULTILINE)
    assert {target for run in runs for target in run.split()} <= targets
    commands: dict[str, Any] = cast("Any", typer.main.get_command(app)).commands
    assert set(re.findall(r"starter\.py ([a-z][a-z-]+)", code_in(document))) <= set(commands)


@pytest.mark.parametrize("readme", READMES, ids=named)
def test_both_readmes_tell_every_command_and_state_people_can_meet(readme: Path):
    told = set(re.findall(r"`([^`\n]+)`", _FENCED.sub("", readme.read_text())))
    assert {f"/{word}" for word in Word} <= told
    assert set(State) <= told


@pytest.mark.parametrize("readme", READMES, ids=named)
def test_the_configuration_in_both_readmes_is_a_whole_one(readme: Path, tmp_path: Path):
    [shown] = re.findall(r"```yaml\n(.*?)```", readme.read_text(), re.DOTALL)
    config = tmp_path / "hikitsugi.yaml"
    config.write_text(textwrap.dedent(shown))
    settings = load_settings(config, {**SECRETS, "GITLAB_TOKEN": "t"})
    assert [forge.kind for forge in settings.forges] == ["github", "gitlab"]
    assert problems_for_running(settings) == []


def test_every_decision_is_listed_in_order_under_its_title():
    decisions = sorted((ROOT / "docs" / "adr").glob("0*.md"))
    listed = re.findall(r"^(\d+)\. \[(.+)\]\((.+)\)$", (ROOT / "docs" / "adr" / "README.md").read_text(), re.MULTILINE)
    titles = [page.read_text().splitlines()[0].removeprefix("# ") for page in decisions]
    assert [(f"{number}. {title}", file) for number, title, file in listed] == [
        (title.replace("`", ""), page.name) for title, page in zip(titles, decisions, strict=True)
    ]


def settings_keys(section: type[BaseModel], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every key of a section with its default, down to what is no section itself."""
    for name, field in section.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield from settings_keys(type(default), f"{above}{name}.")
        elif name == "forges":
            yield from settings_keys(ForgeSettings, "forges[].")
        else:
            yield above + name, default


def test_the_page_on_configuration_has_every_key_with_its_default():
    rows = _KEY_ROW.findall((ROOT / "docs" / "configuration.md").read_text())
    described = {key: yaml.safe_load(default) for key, default in rows}
    assert len(rows) == len(described)
    assert described == {
        key: TypeAdapter(Any).dump_python(value, mode="json") for key, value in settings_keys(Settings)
    }


def test_the_page_on_requirements_is_the_one_the_tests_make():
    assert PAGE.read_text() == page(), "run make docs"


def compose(name: str = "docker-compose.yml") -> dict[str, Any]:
    return cast("dict[str, Any]", yaml.safe_load((ROOT / name).read_text()))


def test_compose_starts_every_role_with_all_it_needs():
    services = compose()["services"]
    for role in ROLES:
        service = services[role]
        assert service["command"] == ["python", "worker.py", "--only", role]
        assert service["env_file"] == ".env"
        assert set(service["depends_on"]) == {"postgres", "temporal-namespace", "valkey"}
    assert services["worker"]["hostname"]
    assert "readyz" in str(services["broker"]["healthcheck"])


@pytest.mark.parametrize("role", ROLES)
def test_the_environment_of_a_container_is_a_whole_configuration(
    role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    given = compose()["services"][role]["environment"]
    filled = {name: re.sub(r"\$\{(\w+).*?\}", lambda found: SECRETS[found[1]], value) for name, value in given.items()}
    settings = load_settings(None, {**SECRETS, **filled})
    assert problems_for_running(settings) == []
    assert settings.temporal.address == "temporal:7233"
    assert settings.redis.url
    assert settings.redis.url.get_secret_value() == "redis://valkey:6379/0"
    assert settings.memory.url
    assert settings.memory.url.get_secret_value().endswith("://hikitsugi:secret@postgres:5432/hikitsugi")


@pytest.mark.req("BR-13")
def test_compose_starts_a_broker_that_the_example_agent_can_reach_with_its_token():
    services = compose()["services"]
    assert services["broker"]["environment"]["HIKITSUGI_BROKER__HOST"] == "0.0.0.0"
    assert "example-agent" in services["broker"]["environment"]["HIKITSUGI_BROKER__TOKENS"]
    assert services["agent"]["environment"]["AGENT_ID"] == "example-agent"
    assert services["agent"]["depends_on"] == {"broker": {"condition": "service_healthy"}}
    assert (ROOT / "examples" / "Dockerfile").is_file()


@pytest.mark.req("BR-13")
@pytest.mark.parametrize("file", ["docker-compose.yml", "docs/operation.md", "docs/deployment.md"])
def test_the_line_that_gives_the_repository_to_the_example_agent_does_so(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    line = re.findall(r"HIKITSUGI_FORGES='(.+?)'", (ROOT / file).read_text())[0]
    settings = load_settings(None, {**SECRETS, "ANTHROPIC_API_KEY": "", "HIKITSUGI_FORGES": line})
    assert [(home.name, home.worked_by) for home in settings.forges[0].repositories] == [("o/r", "broker")]
    assert problems_for_running(settings) == []


@pytest.mark.parametrize("name", [*ROLES, "agent"])
def test_compose_asks_each_of_our_containers_whether_it_is_well(name: str):
    command, python, option, probe = compose()["services"][name]["healthcheck"]["test"]
    assert (command, python, option) == ("CMD", "python", "-c")
    compile(probe, name, "exec")


def test_compose_waits_for_what_exists_and_is_healthy():
    services = compose()["services"]
    for name, service in services.items():
        assert "build" in service or re.fullmatch(r"[a-z]+(/[a-z-]+)?:[\w.]+", service["image"]), name
        for needed, state in service.get("depends_on", {}).items():
            is_watched = "healthcheck" in services[needed]
            assert is_watched == (state["condition"] == "service_healthy"), (name, needed)


def test_compose_holds_no_secret_and_opens_ports_to_this_machine_alone():
    services = compose()["services"]
    for name, service in services.items():
        for variable, value in service.get("environment", {}).items():
            if re.search("PASSWORD|PWD|TOKEN|KEY|URL", variable):
                assert re.search(r"\$\{[A-Z0-9_]+:\?", value) or value == "http://broker:8080", (name, variable)
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name


def test_compose_mounts_and_the_dockerfile_copies_what_is_there():
    for service in compose()["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in compose()["volumes"] or (ROOT / source).is_file(), volume
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = [
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    ]
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    for name in copied:
        assert (ROOT / name).exists(), name
        assert f"!{name}" in allowed, name


def test_the_image_runs_unprivileged_with_sandbox_git_and_health_check():
    text = (ROOT / "Dockerfile").read_text()
    assert text.startswith("FROM python:3.11-slim")
    assert {"bubblewrap", "git"} <= set(text.split())
    assert "uv sync --locked" in text
    assert text.index("USER hikitsugi") < text.index("HEALTHCHECK") < text.index('CMD ["python", "worker.py"]')


def test_the_sandbox_file_changes_a_service_that_exists_and_the_scripts_can_be_read():
    assert set(compose("docs/docker/sandbox.yml")["services"]) <= set(compose()["services"])
    for script in (ROOT / "docs" / "docker").glob("*.sh"):
        subprocess.run(["/bin/sh", "-n", script], check=True)
