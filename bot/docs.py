"""The generated part of the documentation: `python -m bot.docs` writes it, `--check` names what is out of date.

What a rule, a setting or a field of the report means is written once, in the code; these pages are that, in Markdown.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rules.core.config import Config
from rules.core.model import Rule
from rules.engine.run import FAMILIES, NEEDS, own

ROOT = Path(__file__).resolve().parent.parent
MADE = "<!-- Made by `make docs`; do not edit. -->\n"
BEGIN, END = "<!-- settings: made by `make docs` -->\n", "<!-- /settings -->\n"
Json = Mapping[str, Any]


def main() -> int:
    """Write every generated page, or with `--check` name each that differs from what would be written and exit 1."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = list(_stale(pages()))
    for path, text in stale:
        print(f"{'stale' if check else 'removed' if text is None else 'wrote'}: {path}")
        if not check:
            _write(ROOT / path, text)
    if check and stale:
        print("run `make docs`", file=sys.stderr)
    return 1 if check and stale else 0


def pages() -> dict[str, str]:
    """Every generated file, by its path in the repository."""
    rules = sorted(own(), key=lambda rule: rule.id)
    return {
        **{f"docs/rules/{rule.id}.md": rule_page(rule) for rule in rules},
        "docs/rules/README.md": rules_index(rules),
        "docs/config.md": config_page(Config.model_json_schema()),
        "docs/config.schema.json": _schema_text(Config.model_json_schema()),
        "docs/report.md": report_page(json.loads((ROOT / "rules/schemas/report.schema.json").read_text("utf-8"))),
        "docs/review.svg": picture(),
        "README.md": with_settings((ROOT / "README.md").read_text("utf-8")),
    }


def _stale(made: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """Files that differ, and (with None) pages of rules that are no more."""
    for path, text in made.items():
        at = ROOT / path
        if not at.is_file() or at.read_bytes() != text.encode():
            yield path, text
    for at in sorted((ROOT / "docs/rules").glob("*.md")):
        if at.relative_to(ROOT).as_posix() not in made:
            yield at.relative_to(ROOT).as_posix(), None


def _write(at: Path, text: str | None) -> None:
    if text is None:
        at.unlink()
        return
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_bytes(text.encode())


# ---------------------------------------------------------------- rules


def rule_page(rule: Rule) -> str:
    """A rule's documentation: its module's docstring under what it is."""
    title, _, body = rule.doc.partition("\n\n")
    paragraphs = [_paragraph(text) for text in body.split("\n\n")]
    return f"""\
---
rule: {rule.id}
family: {rule.family}
severity: {rule.severity}
needs: {_needs(rule) or "nothing but the files"}
---
{MADE}
# {rule.id}

**{_escaped(" ".join(title.split()))}.**

{chr(10).join(f"{text}{chr(10)}" for text in paragraphs)}
Off, or at another severity: `rules: {{{rule.id}: "off"}}` in [`.github/assay.yml`](../config.md). All rules: [index](README.md).
"""


def _needs(rule: Rule) -> str:
    return ", ".join((*sorted(rule.needs), *(("the commit API",) if rule.asks else ())))


def _paragraph(text: str) -> str:
    """A paragraph of a docstring; the words before its first colon are its heading."""
    lead = re.match(r"([A-Z][\w ]{2,28}):(?=\s)", text)
    return f"**{lead[1]}:**{_escaped(text[lead.end() :])}" if lead else _escaped(text)


def _escaped(text: str) -> str:
    """Text whose `<` and `*` outside code are shown, not read as HTML and emphasis."""
    parts = text.split("`")
    return "`".join(part if n % 2 else part.replace("<", "&lt;").replace("*", r"\*") for n, part in enumerate(parts))


def rules_index(rules: list[Rule]) -> str:
    """All rules by family, with their first sentence."""
    parts = [f"{MADE}\n# The rules\n\n`assay rules` lists them, `assay rules ID` shows one.\n"]
    for family in FAMILIES:
        rows = [
            f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {_escaped(' '.join(rule.doc.partition(chr(10) * 2)[0].split()))} |"
            for rule in rules
            if rule.family == family
        ]
        parts.append("\n".join([f"## {family}\n", "| rule | severity | what it finds |", "|---|---|---|", *rows, ""]))
    needs = "\n".join(f"- `{need}`: skipped where {why}" for need, why in NEEDS.items())
    return "\n".join([*parts, f"## What rules need\n\n{needs}\n- the commit API: what it does not answer is *not checked*\n"])


# ---------------------------------------------------------------- config and report


def _schema_text(schema: Json) -> str:
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2, ensure_ascii=False) + "\n"


def config_page(schema: Json) -> str:
    """The config's keys, one table for each of its parts."""
    parts = [
        f"{MADE}\n# `.github/assay.yml`\n",
        "Read from the base branch, never from the pull under review. Everything is optional: a repository without this file gets the defaults below.",
        "`assay init` prints a commented file, `assay init --detect` one that fits the folders of a repository. Editors can check the file against",
        "[`config.schema.json`](config.schema.json). A mistake is one sentence with the key, and exit status 2.\n",
        _table(schema, schema, "## Top level"),
    ]
    parts += [_table(part, schema, f"## {name}") for name, part in schema["$defs"].items()]
    return "\n".join(parts)


def report_page(schema: Json) -> str:
    """The JSON report's fields, one table for each of its parts."""
    objects = {name: part for name, part in schema["$defs"].items() if part.get("type") == "object"}
    parts = [
        f"{MADE}\n# The JSON report\n",
        "What `assay check --format json` prints, version 1. The schema is [`report.schema.json`](../rules/schemas/report.schema.json).",
        "Findings of one story share their `id`. Every text is redacted: no private name stands in any field.\n",
        _table(schema, schema, "## Top level"),
    ]
    parts += [_table(part, schema, f"## {name}") for name, part in objects.items()]
    return "\n".join(parts)


def _table(part: Json, schema: Json, heading: str) -> str:
    described = part.get("description", "") if part is not schema else ""
    keys = part.get("properties", {})
    defaults = any("default" in held for held in keys.values())
    rows = []
    for key, held in keys.items():
        needed = "required" if key in part.get("required", ()) else _default(held, schema)
        rows.append(f"| `{key}` | {_kind(held, schema)} |{f' {needed} |' if defaults else ''} {_cell(_described(held, schema))} |")
    head = ["| key | type | default | meaning |", "|---|---|---|---|"] if defaults else ["| key | type | meaning |", "|---|---|---|"]
    return "\n".join([f"{heading}\n", *([f"{_escaped(described)}\n"] if described else []), *head, *rows, ""])


def _described(held: Json, schema: Json) -> str:
    return str(held.get("description") or _resolved(held, schema).get("description", ""))


def _resolved(held: Json, schema: Json) -> Json:
    return schema["$defs"][held["$ref"].rpartition("/")[2]] if "$ref" in held else held


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split())).replace("|", r"\|")


def _kind(held: Json, schema: Json) -> str:
    """A schema's type in words; parts with keys of their own are links to their table."""
    if "$ref" in held:
        name = held["$ref"].rpartition("/")[2]
        found = schema["$defs"][name]
        return f"[{name}](#{name.lower()})" if "properties" in found else _kind(found, schema)
    if "const" in held or "enum" in held:
        words = [f"`{one}`" for one in held.get("enum", [held.get("const")])]
        return words[0] if len(words) == 1 else f"one of {', '.join(words)}"
    if "anyOf" in held:
        return " or ".join(dict.fromkeys(_kind(one, schema) for one in held["anyOf"]))
    types = held.get("type", "anything")
    if types == "array":
        return f"list of {_kind(held.get('items', {}), schema)}"
    if types == "object" and isinstance(held.get("additionalProperties"), Mapping):
        return f"map to {_kind(held['additionalProperties'], schema)}"
    if types == "object" and "properties" in held:
        return "object of " + ", ".join(f"`{key}`" for key in held["properties"])
    return " or ".join(types) if isinstance(types, list) else types


def _default(held: Json, schema: Json) -> str:
    """The default in JSON; a part with keys of its own has the defaults of its table."""
    if "default" not in held:
        return "`{}`" if held.get("type") == "object" else ""
    value = held["default"]
    inner = json.dumps(_resolved(held, schema).get("properties") or held.get("items", {}))
    return "see there" if isinstance(value, (dict, list)) and value and ("$ref" in held or "$ref" in inner) else f"`{json.dumps(value)}`"


# ---------------------------------------------------------------- settings of the service


def with_settings(readme: str) -> str:
    """The README with the service's settings between their marks: from `bot.settings`, where this version has a service."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"README.md lacks the marks {BEGIN.strip()} and {END.strip()}")
    return f"{before}{begin}{_settings()}{end}{after}"


def _settings() -> str:
    if find_spec("bot.settings") is None:
        return "This version holds the command line only; the service has no settings yet.\n"
    from importlib import import_module

    module = import_module("bot.settings")
    words: Mapping[str, str] = module.WANTED
    rows = []
    for name, field in module.Settings.model_fields.items():
        default = "required" if field.is_required() else "" if field.default is None else f"`{field.default}`"
        rows.append(f"| `{module.PREFIX}{name.upper()}` | {default} | {_cell(field.description or words.get(name, ''))} |")
    return "\n".join(["| setting | default | meaning |", "|---|---|---|", *rows, ""])


# ---------------------------------------------------------------- the picture


def picture() -> str:
    """A review as a terminal shows it: the first stories and the verdict of the example pull, from the program's own output."""
    import io

    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=WIDTH + 2, file=io.StringIO(), force_terminal=True, color_system="truecolor", legacy_windows=False)
    console.print(Text.from_ansi(_shortened(_review())))
    return _without_fonts(console.export_svg(title=COMMAND, unique_id="review")) + "\n"


WIDTH = 100
STORIES = ("F1 ", "F3 ")
"""The picture shows the output from the first of these to before the second, and the verdict."""
COMMAND = "assay check . --base main --pull pull.json"


def _review() -> str:
    """The coloured text of the review of the example pull as it was opened."""
    import tempfile

    from bot.gather import Wanted, gather, review
    from bot.review.as_text import as_text
    from fixtures.build import build, load
    from rules.reading.conversation import read_pull

    with tempfile.TemporaryDirectory(prefix="assay-docs-") as folder:
        world = load(ROOT / "fixtures/drama3/world.yml")
        repository = Path(folder) / "repository"
        heads = build(world, repository)
        base = {"sha": heads["eight"], "repo": {"full_name": world["repository"]}}
        pull = read_pull({**world["pull"], "head": {"sha": heads["first"]}, "base": base})
        wanted = Wanted(folder=str(repository), head=heads["first"], base=heads["eight"], pull=pull)
        with gather(wanted) as gathered:
            report = review(gathered, tuple(sorted(own(), key=lambda rule: rule.id)), None, wanted)
            return as_text(report, gathered.snapshot, colour=True, width=WIDTH)


def _shortened(text: str) -> str:
    """The first stories, a mark for what is left out, and the verdict."""
    lines = text.splitlines()
    cut = next((n for n, line in enumerate(lines) if line.startswith("\x1b") and f"m{STORIES[1]}" in line), len(lines))
    end = next(n for n, line in enumerate(lines) if line.startswith("Campaign status"))
    return "\n".join([*lines[:cut], "  ⋮", "", *lines[end:]])


def _without_fonts(svg: str) -> str:
    """rich's picture without its fonts from elsewhere: a page that shows it must not have to fetch anything."""
    plain = re.sub(r"@font-face \{[^}]*\}\s*", "", svg)
    return plain.replace("Fira Code, monospace", "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace")


if __name__ == "__main__":
    sys.exit(main())
