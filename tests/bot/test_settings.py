"""The service's settings: what operators are promised, and one sentence for what is wrong."""

from pathlib import Path

import pytest

from bot.settings import Settings, SettingsError, read_settings
from tests.twin.access import new_key

KEY = new_key()[0]
GOOD = {"ASSAY_APP_ID": "12", "ASSAY_PRIVATE_KEY": KEY, "ASSAY_WEBHOOK_SECRET": "s3cret"}


def read(monkeypatch: pytest.MonkeyPatch, **changes: str | None) -> Settings:
    for name, value in {**GOOD, **changes}.items():
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    return read_settings()


def sentence(monkeypatch: pytest.MonkeyPatch, **changes: str | None) -> str:
    with pytest.raises(SettingsError) as caught:
        read(monkeypatch, **changes)
    told = str(caught.value)
    assert "\n" not in told and told.endswith(".") and "s3cret" not in told and "PRIVATE KEY-----" not in told
    assert caught.value.__cause__ is None or "PRIVATE KEY-----" not in repr(caught.value.__cause__)
    return told


def test_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    found = read(monkeypatch)
    assert (found.app_id, found.webhook_secrets, found.host, found.port) == (12, (b"s3cret",), "127.0.0.1", 8080)
    assert (found.github_api_url, found.github_url) == ("https://api.github.com", "https://github.com")
    assert (found.settle_seconds, found.mode, found.log_level) == (20.0, "comment", "info")
    assert found.data_dir == tmp_path / ".assay" and found.database == f"sqlite:///{tmp_path}/.assay/assay.sqlite"
    assert found.private_key.get_secret_value() == KEY.strip() + "\n" and len(found.marker_key) == 32


def test_everything_set(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(
        monkeypatch,
        ASSAY_WEBHOOK_SECRET="new, old",
        ASSAY_GITHUB_API_URL="https://git.example/api/v3/",
        ASSAY_GITHUB_URL="https://git.example/",
        ASSAY_DATABASE_URL="postgresql://u:p@h/d",
        ASSAY_DATA_DIR="/srv/assay",
        ASSAY_PORT="80",
        ASSAY_SETTLE_SECONDS="0",
        ASSAY_MODE="CHECK",
        ASSAY_LOG_LEVEL="Debug",
    )
    assert found.webhook_secrets == (b"new", b"old") and found.github_api_url == "https://git.example/api/v3"
    assert (found.github_url, found.database, str(found.data_dir)) == ("https://git.example", "postgresql://u:p@h/d", "/srv/assay")
    assert (found.port, found.settle_seconds, found.mode, found.log_level) == (80, 0.0, "check", "debug")


def test_the_key_from_a_file_or_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text(KEY)
    from_file = read(monkeypatch, ASSAY_PRIVATE_KEY=None, ASSAY_PRIVATE_KEY_FILE=str(tmp_path / "key.pem"))
    in_one_line = read(monkeypatch, ASSAY_PRIVATE_KEY=KEY.replace("\n", "\\n"))
    assert from_file.private_key == in_one_line.private_key and from_file.marker_key == in_one_line.marker_key


@pytest.mark.parametrize("name", ["ASSAY_APP_ID", "ASSAY_PRIVATE_KEY", "ASSAY_WEBHOOK_SECRET"])
def test_t45_what_is_missing_or_empty_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert sentence(monkeypatch, **{name: None}).startswith(f"{name} is missing")
    assert sentence(monkeypatch, **{name: ""}).startswith(f"{name} is missing")
    assert sentence(monkeypatch, ASSAY_APP_ID=None, ASSAY_WEBHOOK_SECRET=None).count(" is missing") == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ASSAY_APP_ID", "twelve"),
        ("ASSAY_APP_ID", "-1"),
        ("ASSAY_PRIVATE_KEY", "nonsense"),
        ("ASSAY_PRIVATE_KEY", KEY[:200]),
        ("ASSAY_WEBHOOK_SECRET", " , "),
        ("ASSAY_GITHUB_API_URL", "api.github.com"),
        ("ASSAY_GITHUB_API_URL", "https://user:s3cret@host"),
        ("ASSAY_GITHUB_URL", "ftp://host"),
        ("ASSAY_DATABASE_URL", "mysql://u:s3cret@h/d"),
        ("ASSAY_PORT", "70000"),
        ("ASSAY_SETTLE_SECONDS", "nan"),
        ("ASSAY_SETTLE_SECONDS", "-1"),
        ("ASSAY_MODE", "loud"),
        ("ASSAY_LOG_LEVEL", "all"),
    ],
)
def test_what_is_malformed_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    assert sentence(monkeypatch, **{name: value}).startswith(f"{name} is not usable: give ")


def test_a_key_file_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "ASSAY_PRIVATE_KEY_FILE" in sentence(monkeypatch, ASSAY_PRIVATE_KEY=None, ASSAY_PRIVATE_KEY_FILE="/nowhere/key.pem")


def test_no_secret_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = repr(read(monkeypatch, ASSAY_DATABASE_URL="postgresql://u:hidden@h/d"))
    assert "s3cret" not in shown and "PRIVATE KEY" not in shown and "hidden" not in shown
