"""The one place that decides what private text looks like when it is shown."""

from __future__ import annotations

import re

# A separator as texts write it: plain, escaped in JSON (`\/`), in a JSON pointer (`~1`), in an address (`%2F`).
_SEP = r"(?:\\?/|~1|%2[Ff])"
_BACK = r"(?:\\{1,2}|/|%5[Cc])"
_CHAR = r"(?:(?!~1|%2[Ff]|%5[Cc])[^/\\\s\"'`<>|:*?,;)\]}])"
# A user's folder: /home/<name>/, /Users/<name>/ (also below WSL's /mnt/c), C:\Users\<name>\, where a name may hold blanks.
_HOME = re.compile(
    rf"(?P<root>(?:{_SEP}mnt{_SEP}[A-Za-z])?{_SEP}(?:home|Users){_SEP})(?P<name>{_CHAR}{{1,64}})"
    rf"|(?P<drive>[A-Za-z](?::|%3[Aa]){_BACK}Users{_BACK})(?P<person>{_CHAR}{{1,64}}(?:(?: {_CHAR}{{1,64}}){{1,3}}(?={_BACK}))?)"
)
_LOWER = re.compile(_HOME.pattern, re.IGNORECASE)
# What stands right before a relative folder or inside a web address; a Chinese word or a compiler's flag (`-I/home/…`) does not make a path relative.
_RELATIVE = re.compile(r"(?<![\s\"'=,(]-)(?<!\A-)[A-Za-z0-9_.~}>À-ɏ-]\Z")
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
    return all(part in GENERIC_NAMES or _is_two_generic(part) for part in parts)


def _is_two_generic(name: str) -> bool:
    """`mlperftest`, `testuser`: two such names written together."""
    return any(name[:cut] in GENERIC_NAMES and name[cut:] in GENERIC_NAMES for cut in range(3, len(name) - 2))


def private_homes(text: str, any_case: bool = False) -> list[tuple[int, int, str, str]]:
    """Every private home folder in `text` as (start, end, root as written, name); the end lies after the name. `any_case` also takes `/users/` and `/HOME/`."""
    found = []
    for match in (_LOWER if any_case else _HOME).finditer(text):
        root, name = match["root"] or match["drive"], match["name"] or match["person"]
        before = re.sub(r"(?:~1|%2[Ff])\Z", "/", text[max(0, match.start() - 4) : match.start()])
        if not match["drive"] and _RELATIVE.search(before):
            continue
        if private_name(name.rstrip(".")):
            found.append((match.start(), match.end(), root, name.rstrip(".")))
    return found


def plain_root(root: str) -> str:
    """A root as people write it: `/home/` for `~1home~1` and `%2Fhome%2F`, `C:\\Users\\` for its escaped forms."""
    return re.sub(r"%5[Cc]|\\\\", r"\\", re.sub(r"\\?/|~1|%2[Ff]", "/", root.replace("%3A", ":").replace("%3a", ":")))


def redact(text: str, any_case: bool = False) -> str:
    """`text` with every private name replaced by `<name>` and control characters made visible."""
    pieces, last = [], 0
    for start, end, root, _ in private_homes(text, any_case):
        pieces += [text[last:start], root, "<name>"]
        last = end
    shown = "".join((*pieces, text[last:]))
    return shown if shown.isprintable() else "".join(c if c in "\n\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in shown)


def excerpt(text: str, limit: int = 160) -> str:
    """One line of `text`, redacted and cut to `limit` characters, as a finding shows it."""
    line = " ".join(redact(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
