"""A GitHub App instead of a token, and the name and the comments a forge is opened with."""

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from hikitsugi.app.settings import Settings, load_settings, problems_for_running
from hikitsugi.app.settings_problems import SettingsError
from hikitsugi.app.wiring import open_forges
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.server import serve
from tests.forges.app_key import private_key, public_key

APP = "{id: 12345, installation_id: 67890, private_key: '${KEY}'}"


def load(folder: Path, forge: str, key: str, more: str = "") -> Settings:
    file = folder / "settings.yaml"
    file.write_text(f"forges: [{forge}]\n{more}", encoding="utf-8")
    return load_settings(file, {"KEY": key, "ANTHROPIC_API_KEY": "model-key"})


def refused(folder: Path, forge: str, key: str) -> str:
    with pytest.raises(SettingsError) as refusal:
        load(folder, forge, key)
    return str(refusal.value)


@pytest.mark.req("OP-05")
def test_an_app_needs_no_token_and_its_key_is_never_shown(tmp_path: Path):
    settings = load(tmp_path, f"{{app: {APP}, repositories: [o/r]}}", private_key())
    assert problems_for_running(settings) == []
    assert private_key().strip() in {secret.strip() for secret in settings.secrets()}
    assert "PRIVATE" not in repr(settings) + json.dumps(settings.model_dump(mode="json"))


def test_the_key_may_be_a_file_or_a_single_line(tmp_path: Path):
    file = tmp_path / "app.pem"
    file.write_text(private_key())
    for given in (str(file), private_key().replace("\n", "\\n")):
        app = load(tmp_path, f"{{app: {APP}}}", given).forges[0].app
        assert app
        assert app.private_key.get_secret_value().strip() == private_key().strip()


@pytest.mark.req("OP-04", "OP-05")
@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("/nowhere/app.pem", "the path of a file that can be read"),
        ("\0", "the path of a file that can be read"),
        ("-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----", "must be the App's private key"),
    ],
)
def test_a_wrong_key_is_refused_at_start_and_not_repeated(tmp_path: Path, key: str, says: str):
    told = refused(tmp_path, f"{{app: {APP}}}", key)
    assert told.startswith("forges[0].app.private_key: [redacted] — must be")
    assert says in told
    assert "canary" not in told


def test_a_key_of_another_kind_is_refused(tmp_path: Path):
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    assert "(RSA in PEM form)" in refused(tmp_path, f"{{app: {APP}}}", other.decode())


@pytest.mark.req("OP-04")
def test_what_is_missing_or_does_not_fit_is_named(tmp_path: Path):
    assert "forges[0].app.private_key: [redacted] — must be given" in refused(tmp_path, f"{{app: {APP}}}", "")
    assert "forges[0].app.id — must be given" in refused(tmp_path, "{app: {}}", "")
    told = refused(tmp_path, f"{{kind: gitlab, app: {APP}}}", private_key())
    assert told == "forges[0].app: (a mapping) — is for GitHub alone; give a token"


@pytest.mark.req("CD-06")
@pytest.mark.parametrize(
    ("username", "bot_username", "name"),
    [("null", "null", "helper[bot]"), ("configured", "null", "configured"), ("configured", "chosen", "chosen")],
)
@pytest.mark.lesson("C4")
async def test_the_bots_name_is_chosen_else_configured_else_asked(
    tmp_path: Path, username: str, bot_username: str, name: str
):
    dev = DevForge(tmp_path / "forge", "github")
    app = dev.add_app("helper", public_key())
    async with serve(dev) as url:
        installed = f"{{id: {app.id}, installation_id: {app.installation_id}, private_key: '${{KEY}}'}}"
        forge = f"{{url: '{url}', token: useless, username: {username}, app: {installed}}}"
        detection = f"comment_detection: {{bot_username: {bot_username}, review_comments: true}}"
        async with open_forges(load(tmp_path, forge, private_key(), detection)) as forges:
            assert await forges["github"].whoami() == name
