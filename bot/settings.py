"""The service's settings: read once from the environment, checked before anything starts."""

from __future__ import annotations

import hashlib
import hmac
import re
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "ASSAY_"
WANTED = {
    "app_id": "a number, the App ID on the app's page on GitHub",
    "private_key": "the app's private key (PEM), or ASSAY_PRIVATE_KEY_FILE its path",
    "webhook_secret": "the secret that GitHub signs deliveries with (two, comma-separated, while it is being changed)",
    "github_api_url": "an http(s) address such as https://api.github.com, on Enterprise Server https://HOST/api/v3",
    "github_url": "an http(s) address such as https://github.com",
    "database_url": "sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME",
    "private_key_file": "a readable PEM file, instead of ASSAY_PRIVATE_KEY",
    "data_dir": "a folder for the mirrors and SQLite's database",
    "host": "an address to listen on",
    "port": "a port from 1 to 65535",
    "settle_seconds": "seconds from 0 to 3600",
    "mode": "comment or check",
    "log_level": "debug, info, warning or error",
}


class SettingsError(Exception):
    """A setting is missing or malformed; one sentence that names it. Never holds a secret."""


class Settings(BaseSettings):
    """What DESIGN.md promises to operators. Addresses have no slash at their end; `data_dir` is absolute."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore", env_ignore_empty=True, hide_input_in_errors=True)

    app_id: Annotated[int, Field(gt=0)]
    private_key: SecretStr
    webhook_secret: SecretStr
    private_key_file: Path | None = None
    github_api_url: str = "https://api.github.com"
    github_url: str = "https://github.com"
    database_url: SecretStr | None = None
    data_dir: Path = Path(".assay")
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65_535)] = 8080
    settle_seconds: Annotated[float, Field(ge=0, le=3_600, allow_inf_nan=False)] = 20.0
    mode: Literal["comment", "check"] = "comment"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @property
    def webhook_secrets(self) -> tuple[bytes, ...]:
        """Every secret that deliveries may be signed with, at least one."""
        return tuple(part.strip().encode() for part in self.webhook_secret.get_secret_value().split(",") if part.strip())

    @property
    def database(self) -> str:
        """The database's address; SQLite in the data folder where none is given."""
        return self.database_url.get_secret_value() if self.database_url else f"sqlite:///{self.data_dir / 'assay.sqlite'}"

    @property
    def marker_key(self) -> bytes:
        """What hidden markers are signed with. It comes from the app's private key, so that it outlives a lost database."""
        return hmac.new(self.private_key.get_secret_value().strip().encode(), b"assay markers v1", hashlib.sha256).digest()

    @model_validator(mode="before")
    @classmethod
    def _key_from_file(cls, given: Any) -> Any:
        file = given.get("private_key_file")
        if not file or given.get("private_key"):
            return given
        try:
            return {**given, "private_key": Path(file).read_text("ascii")}
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"ASSAY_PRIVATE_KEY_FILE: {file} cannot be read.") from error

    @field_validator("private_key")
    @classmethod
    def _usable_key(cls, given: SecretStr) -> SecretStr:
        """One line with `\\n` in it, as many secret stores keep it, is taken too."""
        text = given.get_secret_value().replace("\\n", "\n").strip() + "\n"
        key = serialization.load_pem_private_key(text.encode(), None)
        if not isinstance(key, RSAPrivateKey) or key.key_size < 2_048:
            raise ValueError("not an RSA key")
        return SecretStr(text)

    @field_validator("webhook_secret")
    @classmethod
    def _some_secret(cls, given: SecretStr) -> SecretStr:
        if not any(part.strip() for part in given.get_secret_value().split(",")):
            raise ValueError("empty")
        return given

    @field_validator("github_api_url", "github_url")
    @classmethod
    def _address(cls, given: str) -> str:
        parts = urlsplit(given)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment or re.search(r"\s", given):
            raise ValueError("no http(s) address")
        return given.rstrip("/")

    @field_validator("database_url")
    @classmethod
    def _database(cls, given: SecretStr | None) -> SecretStr | None:
        if given and not re.match(r"sqlite:///|postgresql(?:\+\w{1,20})?://", given.get_secret_value()):
            raise ValueError("neither SQLite nor PostgreSQL")
        return given

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, given: Path) -> Path:
        return given.expanduser().absolute()

    @field_validator("mode", "log_level", mode="before")
    @classmethod
    def _lower(cls, given: Any) -> Any:
        return given.strip().lower() if isinstance(given, str) else given


def read_settings() -> Settings:
    """The settings in the environment. Raises `SettingsError`."""
    try:
        return Settings()  # type: ignore[call-arg]
    except ValidationError as error:
        problems = dict.fromkeys(_sentence(str(one["loc"][0]) if one["loc"] else "", one["type"]) for one in error.errors(include_input=False))
        raise SettingsError("; ".join(problems) + ".") from None
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{PREFIX}PRIVATE_KEY is not usable: give {WANTED['private_key']}, without a passphrase.") from error


def _sentence(name: str, kind: str) -> str:
    wanted = WANTED.get(name, "another value")
    return f"{PREFIX}{name.upper()} is {'missing' if kind == 'missing' else 'not usable'}: give {wanted}"
