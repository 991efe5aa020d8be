"""The one place that decides what private text looks like when it is shown."""

from __future__ import annotations

import re

# A user's folder: /home/<name>/, /Users/<name>/, C:\Users\<name>\ (also doubled backslashes, as JSON writes them, and %20 in file: URLs).
_HOME = re.compile(r"(?P<root>/home/|/Users/|[A-Za-z]:(?:\\{1,2}|/)Users(?:\\{1,2}|/))(?P<name>[^/\\\s\"'`<>|:*?,;)\]}]{1,64})")
# Names that belong to no person.
GENERIC_NAMES = frozenset(
    [
        "user",
        "users",
        "username",
        "your-user",
        "your_user",
        "you",
        "me",
        "name",
        "runner",
        "runneradmin",
        "ubuntu",
        "root",
        "admin",
        "administrator",
        "builder",
        "build",
        "ci",
        "jenkins",
        "github",
        "gitlab",
        "vscode",
        "codespace",
        "docker",
        "node",
        "app",
        "appuser",
        "worker",
        "agent",
        "test",
        "tester",
        "guest",
        "debian",
        "centos",
        "fedora",
        "ec2-user",
        "vagrant",
        "pi",
        "jovyan",
        "coder",
        "dev",
        "developer",
        "default",
        "public",
        "shared",
        "nobody",
        "service",
        "svc",
        "someone",
        "somebody",
        "example",
        "foo",
        "bar",
        "xxx",
        "login",
        "linuxbrew",
        "airflow",
        "postgres",
        "mysql",
        "redis",
        "hadoop",
        "spark",
        "gitpod",
        "azureuser",
        "opc",
        "oracle",
        "sandbox",
        "bench",
        "benchmark",
        "nonroot",
        "mlperf",
        "testuser",
    ]
)


def private_name(name: str) -> bool:
    """True when a folder under /home or /Users names a concrete person."""
    return bool(name) and not _is_generic(name.lower()) and not re.match(r"[$<{%*.\[~]|\.\.\.|…", name)


def _is_generic(name: str) -> bool:
    """A name of nobody, also with a number (`user2`), made of several (`ci-runner`), or as Windows shortens it (`RUNNER~1`)."""
    if name in GENERIC_NAMES:
        return True
    short = re.fullmatch(r"([a-z]{4,6})~\d{1,3}", name)
    if short:
        return any(known.startswith(short[1]) for known in GENERIC_NAMES)
    parts = [part.rstrip("0123456789") for part in re.split(r"[-_.]", name)]
    return all(part in GENERIC_NAMES for part in parts)


def private_homes(text: str) -> list[tuple[int, int, str, str]]:
    """Every private home folder in `text` as (start, end, root, name); the end lies after the name."""
    found = []
    for match in _HOME.finditer(text):
        before = text[max(0, match.start() - 1) : match.start()]
        if match["root"].startswith("/") and (before.isalnum() or before in {".", "-", "_", "~", "}", ">"}):
            continue
        if private_name(match["name"].rstrip(".")):
            found.append((match.start(), match.end(), match["root"], match["name"].rstrip(".")))
    return found


def redact(text: str) -> str:
    """`text` with every private name replaced by `<name>` and control characters made visible."""
    for start, end, root, _ in reversed(private_homes(text)):
        text = f"{text[:start]}{root}<name>{text[end:]}"
    return "".join(c if c in "\n\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def excerpt(text: str, limit: int = 160) -> str:
    """One line of `text`, redacted and cut to `limit` characters, as a finding shows it."""
    line = " ".join(redact(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
