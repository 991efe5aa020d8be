"""A document does not hold what the repository's config asserts

What it checks: the config's `assertions`: each names documents (a glob), a place in them (a JSON pointer in which `*` stands for every element)
and how the value there must compare.

Why: a repository has checks of its own that no general rule can know: a schema version, the range of a setting, the words a verdict may be.

Fix: correct the value (edit text), or change the assertion in the config, which is a decision of those who keep it.

Example: `{files: "evidence/*/results/status*.json", pointer: /verdict, op: in, value: [PASS, FAIL, INCONCLUSIVE], message: The verdict is none of
the three words}` and a status that says `"verdict": "GREEN"`.

Not flagged: files that are no JSON or YAML documents; places that the pointer does not reach (not checked, unless the operator is `exists` or
`absent`). Assertions of a pull's own config are not used: only the base's.

Strength: as the assertion says, medium by default.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rules.core.config import ORDERS, Assertion, allowed, exact
from rules.core.model import Bundle, Facts, Finding, Item, Location, Rule, Severity, Snapshot, Unchecked
from rules.core.patterns import found
from rules.core.redact import excerpt
from rules.reading.documents import Number, Path, document, is_document, parse_pointer, pointer
from rules.reading.layout import bundle_at, in_scope, matches

PLACES = 20
SHOWN = 10
WIDTH = 80


@dataclass(frozen=True, slots=True)
class Reached:
    """The places that a pointer reaches, and those where it ends too early (the deepest place that is there)."""

    places: tuple[tuple[Path, Any], ...]
    short: tuple[Path, ...]


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    for path in bundle.files if snapshot.config.assertions else ():
        yield from _of_file(snapshot, path)


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for path in in_scope(snapshot) if snapshot.config.assertions else ():
        if bundle_at(snapshot, path) is None:
            yield from _of_file(snapshot, path)


def _of_file(snapshot: Snapshot, path: str) -> Iterator[Item]:
    for number, assertion in enumerate(snapshot.config.assertions):
        if matches(path, assertion.files) and is_document(path):
            yield from _of_assertion(snapshot, path, assertion, number)


def _of_assertion(snapshot: Snapshot, path: str, assertion: Assertion, number: int) -> Iterator[Item]:
    what = f"assertion {number + 1} ({excerpt(assertion.message, WIDTH)}) in {path}"
    doc = document(snapshot, path)
    if doc is None or not doc.readable:
        yield Unchecked(what, "the document cannot be read")
        return
    reached = reach(doc.value, parse_pointer(assertion.pointer))
    if assertion.op == "exists":
        yield from _finding(path, assertion, number, [(place, "absent") for place in reached.short or (() if reached.places else ((),))])
        return
    if reached.short and assertion.op != "absent":
        yield Unchecked(what, _unreached(assertion, reached))
    wrong = [(place, shown(value)) for place, value in reached.places if not holds(assertion, value)]
    yield from _finding(path, assertion, number, wrong)


def _unreached(assertion: Assertion, reached: Reached) -> str:
    if not reached.places:
        return f"nothing stands at {assertion.pointer or 'the top'}"
    return f"{len(reached.short)} of {len(reached.short) + len(reached.places)} elements have nothing at {assertion.pointer}"


# ---------------------------------------------------------------- reaching and comparing


def reach(value: Any, parts: tuple[str, ...]) -> Reached:
    """Every place that a pointer with `*` reaches in `value`, in order. An empty list under `*` is a place where it ends too early."""
    places: list[tuple[Path, Any]] = [((), value)]
    short: list[Path] = []
    for part in parts:
        deeper: list[tuple[Path, Any]] = []
        for place, held in places:
            inside = _inside(held, part)
            deeper += [((*place, key), child) for key, child in inside]
            short += [] if inside else [place]
        places = deeper
    return Reached(tuple(places), tuple(short))


def _inside(held: Any, part: str) -> list[tuple[str | int, Any]]:
    if part == "*":
        return list(held.items()) if isinstance(held, dict) else list(enumerate(held)) if isinstance(held, list) else []
    if isinstance(held, dict):
        return [(part, held[part])] if part in held else []
    if isinstance(held, list) and part.isdecimal() and part.isascii() and len(part) < 10 and int(part) < len(held):
        return [(int(part), held[int(part)])]
    return []


def holds(assertion: Assertion, value: Any) -> bool:
    """True where the document's `value` is what the assertion asks for. What cannot be compared does not hold: null is not below a limit."""
    op, wanted = assertion.op, assertion.value
    if op == "absent":
        return False
    if op in ("==", "!="):
        return same(value, wanted) is (op == "==")
    if op == "in":
        return any(same(value, one) for one in wanted)
    if op == "type":
        return bool(set(allowed(wanted)) & types(value))
    if op == "matches":
        text = value.text if isinstance(value, Number) else value
        return isinstance(text, str) and found(wanted, text)
    return op in ORDERS and _ordered(op, value, wanted)


def _ordered(op: str, value: Any, wanted: Any) -> bool:
    mine, yours = value.exact if isinstance(value, Number) else None, exact(wanted)
    if mine is None or yours is None:
        return False
    return {"<": mine < yours, "<=": mine <= yours, ">": mine > yours, ">=": mine >= yours}[op]


def same(value: Any, wanted: Any) -> bool:
    """Equal in JSON's sense, numbers by their exact value: 1.10 is 1.1, true is not 1. No deeper than `wanted`, which the config bounds."""
    if isinstance(value, Number):
        return not isinstance(wanted, str) and value.exact is not None and value.exact == exact(wanted)
    if isinstance(value, dict):
        return isinstance(wanted, dict) and value.keys() == wanted.keys() and all(same(value[key], wanted[key]) for key in value)
    if isinstance(value, list):
        return isinstance(wanted, list) and len(value) == len(wanted) and all(same(*pair) for pair in zip(value, wanted, strict=True))
    return type(value) is type(wanted) and bool(value == wanted)


def types(value: Any) -> set[str]:
    """The JSON types of `value`; a number without a fraction, such as 5 or 5.0, is an integer too (json-schema.org, 6.1.1)."""
    if isinstance(value, Number):
        whole = value.exact is not None and value.exact.denominator == 1
        return {"number", "integer"} if whole else {"number"}
    names = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    return {names[type(value)]}


def shown(value: Any) -> str:
    """A value as a finding shows it: numbers as printed, long ones cut, objects and lists by their size."""
    if isinstance(value, Number):
        return excerpt(value.text, WIDTH)
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f'"{excerpt(value, WIDTH)}"' if isinstance(value, str) else {True: "true", False: "false", None: "null"}[value]


# ---------------------------------------------------------------- findings


def _finding(path: str, assertion: Assertion, number: int, wrong: list[tuple[Path, str]]) -> Iterator[Finding]:
    if not wrong:
        return
    seen = [f"`{pointer(place) or 'the document'}` is {value}" for place, value in wrong[:3]]
    if assertion.op == "exists":
        seen = [f"`{pointer(place) or 'the document'}` has nothing there" for place, _ in wrong[:3]]
    more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    yield Finding(
        rule=RULE.id,
        severity=Severity(assertion.severity),
        title=assertion.message.rstrip(". \n"),
        problem=f"`{path}` must hold `{_asserted(assertion)}`; {', '.join(seen)}{more}.",
        impact="The repository's own config demands it, and what reads the document relies on it.",
        next="Correct the value (edit text), or change the assertion in the config on the base branch (a decision of those who keep it).",
        locations=tuple(Location(path, pointer=pointer(place), role="claim") for place, _ in wrong[:PLACES]),
        evidence=(
            ("asserted", f"assertion {number + 1}: {_asserted(assertion)}"),
            *((pointer(place) or "/", value) for place, value in wrong[:SHOWN]),
        ),
        roots=(f"assertion:{path}#{assertion.pointer}",),
    )


def _asserted(assertion: Assertion) -> str:
    value = "" if assertion.op in ("exists", "absent") else f" {excerpt(_written(assertion.value), WIDTH)}"
    return f"{assertion.pointer or 'the document'} {assertion.op}{value}"


def _written(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, default=str)


RULE = Rule("assertion", "consistency", Severity.MEDIUM, check, each=each)
