"""The rules as documentation, read from their source without running it: listing forty rules must not cost importing them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import rules

_DOC = re.compile(r'\A(?:#[^\n]*\n|\s)*(?P<literal>[rR]?(?P<quote>"""|\'\'\').*?(?P=quote))', re.DOTALL)
_RULE = re.compile(r"^RULE(?:: Rule)? = (Rule\(.*?^\)|Rule\([^\n]*\))", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Described:
    """What is known of a rule without running it."""

    id: str
    family: str
    severity: str
    preview: bool
    doc: str

    @property
    def summary(self) -> str:
        """The documentation's first paragraph, on one line."""
        return " ".join(self.doc.split("\n\n")[0].split())


def catalogue() -> tuple[Described, ...]:
    """Every rule, in order of id."""
    return tuple(sorted((*_own(), *_plugged()), key=lambda rule: rule.id))


def _own() -> Iterator[Described]:
    for file in sorted(Path(rules.__file__).parent.glob("*/*.py")):
        text = file.read_text("utf-8")
        call = _RULE.search(text)
        if call:
            yield _static(text, call[1]) or _imported(file)


def _static(text: str, call: str) -> Described | None:
    """The rule out of the text of its `RULE = Rule(…)`; None where that is not written plainly."""
    try:
        node = ast.parse(call, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(node, ast.Call):
        return None
    given = dict(zip(("id", "family", "severity"), node.args, strict=False)) | {word.arg: word.value for word in node.keywords if word.arg}
    id, family, severity, preview = (given.get(name) for name in ("id", "family", "severity", "preview"))
    if not (isinstance(id, ast.Constant) and isinstance(family, ast.Constant) and isinstance(severity, ast.Attribute)):
        return None
    doc = _DOC.match(text)
    shown = isinstance(preview, ast.Constant) and preview.value is True
    return Described(
        str(id.value), str(family.value), severity.attr.lower(), shown, inspect.cleandoc(ast.literal_eval(doc["literal"])) if doc else ""
    )


def _imported(file: Path) -> Described:
    from importlib import import_module

    module = import_module(f"rules.{file.parent.name}.{file.stem}")
    rule = module.RULE
    return Described(rule.id, rule.family, rule.severity.value, rule.preview, inspect.cleandoc(module.__doc__ or ""))


def _plugged() -> Iterator[Described]:
    from importlib.metadata import entry_points

    if entry_points(group="assay.rules"):
        from rules.engine.run import discover

        own = {rule.id for rule in _own()}
        yield from (Described(r.id, r.family, r.severity.value, r.preview, r.doc) for r in discover() if r.id not in own)
