"""GitHub issue forms on the base, and which of them an issue is of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rules.core.model import Snapshot
from rules.reading.documents import Document, Path, document, locate
from rules.reading.fields import Field, normal, parts

FOLDER = re.compile(r"\.github/issue_template/[^/]{1,200}\.ya?ml\Z", re.IGNORECASE)
CHOOSER = re.compile(r"/config\.ya?ml\Z", re.IGNORECASE)
KINDS = ("input", "textarea", "dropdown", "checkboxes")
_GENERIC_LABEL = re.compile(r"(?:needs|status|state|triage|priority|prio|help|good|new)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Form:
    """One issue form (docs.github.com: syntax for issue forms). `problem` says why it cannot be used, if so."""

    path: str
    title: str = ""
    labels: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    problem: str | None = None


def forms(snapshot: Snapshot) -> tuple[Form, ...]:
    """Every issue form of the base, in order of path; the template chooser's config is none."""
    return snapshot.memo("forms", lambda: _forms(snapshot))


def _forms(snapshot: Snapshot) -> tuple[Form, ...]:
    paths = [path for path in sorted(snapshot.law.files) if FOLDER.match(path) and not CHOOSER.search(path)]
    return tuple(_read(path, document(snapshot, path, snapshot.law)) for path in paths)


def _read(path: str, doc: Document | None) -> Form:
    if doc is None:
        return Form(path, problem="it is too large, missing, or no plain file")
    if not doc.readable or not isinstance(doc.value, Mapping):
        return Form(path, problem=doc.defects[0].message if doc.defects else "it is no mapping")
    elements = doc.value.get("body")
    if not isinstance(elements, list):
        return Form(path, _text(doc.value.get("title")), _labels(doc.value.get("labels")), problem="it has no `body`")
    fields = tuple(made for i, raw in enumerate(elements) if (made := _field(doc, raw, i)) is not None)
    return Form(path, _text(doc.value.get("title")), _labels(doc.value.get("labels")), fields)


def _field(doc: Document, raw: Any, index: int) -> Field | None:
    if not isinstance(raw, Mapping) or raw.get("type") not in KINDS:
        return None
    attributes: Mapping[str, Any] = held if isinstance(held := raw.get("attributes"), Mapping) else {}
    label = _text(attributes.get("label")) or _text(raw.get("id"))
    if not label:
        return None
    options, place = _required_options(attributes.get("options"), index)
    validations = raw.get("validations")
    if isinstance(validations, Mapping) and validations.get("required") is True:
        place = ("body", index, "validations", "required")
    found = locate(doc, tuple(str(part) for part in place)) if place else None
    return Field(
        id=_text(raw.get("id")),
        label=label,
        kind=raw["type"],
        required=place is not None,
        line=found[0] if found else None,
        placeholder=_text(attributes.get("placeholder")),
        value=_text(attributes.get("value")),
        options=options,
    )


def _required_options(options: Any, index: int) -> tuple[tuple[str, ...], Path | None]:
    """The check boxes that must be ticked, and where the first of them says so."""
    held = options if isinstance(options, list) else []
    wanted = [(i, _text(o.get("label"))) for i, o in enumerate(held) if isinstance(o, Mapping) and o.get("required") is True]
    place: Path | None = ("body", index, "attributes", "options", wanted[0][0], "required") if wanted else None
    return tuple(label for _, label in wanted), place


def _labels(value: Any) -> tuple[str, ...]:
    """`labels` is a list, or one string with commas."""
    held = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(label.strip() for label in held if isinstance(label, str) and label.strip())


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def form_of(held: tuple[Form, ...], title: str, labels: tuple[str, ...], body: str) -> Form | None:
    """The form that applies to an issue: by its headings, its title's prefix, or a label that no other form sets. None where none does."""
    scored = [(_score(form, held, title, labels, body), form) for form in held if form.fields or form.problem]
    best = max((score for score, _ in scored), default=(0, 0, 0))
    if not any(best):
        return None
    return next(form for score, form in scored if score == best)


def _score(form: Form, held: tuple[Form, ...], title: str, labels: tuple[str, ...], body: str) -> tuple[int, int, int]:
    headings = {normal(part.label) for part in parts(body) if part.level}
    own = {normal(field.label) for field in form.fields}
    shared = len(headings & own)
    prefix = form.title.strip().casefold()
    theirs = {label.casefold() for other in held if other is not form for label in other.labels}
    mine = {label.casefold() for label in form.labels if not _GENERIC_LABEL.match(label)} - theirs
    return (
        shared if shared >= 2 and 2 * shared >= len(own) else 0,
        int(bool(prefix) and title.strip().casefold().startswith(prefix)),
        int(bool(mine & {label.casefold() for label in labels})),
    )
