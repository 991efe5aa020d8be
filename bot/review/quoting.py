"""Makes text harmless in GitHub's Markdown: it cannot ping, close, link, render or break out of its place."""

from __future__ import annotations

import re

# A zero-width space as an entity: GitHub looks for mentions and references in the rendered text, so that a backslash does not help.
BREAK = "&#8203;"
_MARKUP = re.compile(r"[\\`*_\[\]~|!$]")
_RULES = (
    (re.compile(r"#(?=\w)"), f"#{BREAK}"),
    (re.compile(r"@"), f"@{BREAK}"),
    (re.compile(r"\b(GH-)(?=\d)", re.IGNORECASE), rf"\1{BREAK}"),
    (re.compile(r"://"), f":{BREAK}//"),
    (re.compile(r"\b(www\.)(?=\w)", re.IGNORECASE), rf"\1{BREAK}"),
    (re.compile(r"\b((?:mailto|xmpp):)(?=\S)", re.IGNORECASE), rf"\1{BREAK}"),
    (re.compile(r"(:)(?=[a-z0-9_+-]{1,40}:)"), rf"\1{BREAK}"),
)


def plain(text: str) -> str:
    """`text` on one line, escaped so that it shows as it is."""
    line = " ".join(text.split())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _MARKUP.sub(lambda match: "\\" + match[0], line)
    for pattern, instead in _RULES:
        line = pattern.sub(instead, line)
    return re.sub(r"\A([-+=#]|\d{1,9}[.)])(?=\s|\Z)", lambda m: m[1][:-1] + "\\" + m[1][-1], line)


def code(text: str) -> str:
    """`text` as a code span, whatever backticks it holds (GFM, section 6.3)."""
    line = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}" if longest else f"{fence}{line}{fence}" if line else ""


def prose(text: str) -> str:
    """Text of a finding: what stands between backticks becomes code spans, all else is escaped."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        pieces[-2:] = [pieces[-2] + "`" + pieces[-1]]
    return "".join(_piece(piece, n) for n, piece in enumerate(pieces))


def _piece(piece: str, number: int) -> str:
    if number % 2:
        return code(piece) if piece.strip() else plain(f"`{piece}`")
    lead, tail = (" " if piece[:1].isspace() else ""), (" " if piece[-1:].isspace() and piece.strip() else "")
    return lead + plain(piece) + tail


def fenced(lines: list[str]) -> str:
    """Lines as a code block whose fence no line can close."""
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *lines, fence])
