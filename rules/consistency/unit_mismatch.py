"""One value stands in two places at ×1000, ×60 or ×100 under names that say the same thing

What it checks: the numbers of a bundle's documents whose keys say the same thing and whose objects speak of the same run, workload or phase, after
the units that the keys declare are converted: do two of them differ by exactly a factor of units?

Why: seconds under a key that says milliseconds, or a share under one that says percent, is a figure wrong by two or three orders of magnitude that each
file alone does not show.

Fix: correct the value or the key's unit in the place that is wrong (edit text); the receipt shows which.

Example: `baseline15.json` holds `warmup_s: 2597.2`, the summary's `baseline15` holds `warmup_s: 2597200`.

Not flagged: units that are both declared and convert (41.235 s and 41235 ms); GiB against GB; other sizes, runs, phases or arms; numbers of fewer
than three digits.

Strength: medium.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

from rules.core.model import Bundle, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.canonical_words import words
from rules.reading.documents import Document, Node, Number, Path, nodes, walk
from rules.reading.few import few
from rules.reading.quantities import Quantity, of_value
from rules.reading.records import Records, place, source
from rules.reading.statistic_keys import SAMPLE_WORDS, WEAK_WORDS, counts, read_key
from rules.reading.units import words as word_set

FACTORS = (Fraction(1000), Fraction(60), Fraction(100))
DIGITS = 3
FIGURES, PAIRS = 20_000, 2000
"""So many numbers of a bundle, and pairs of one name, are compared."""
_GENERIC = SAMPLE_WORDS | word_set(
    "report copy for final overall table row column all total output main index info detail value latest current state verdict evidence of in from to with "
    "json entry group campaign bundle receipt measurement status record block"
)
# Fields that every object of a campaign may share: equal values link nothing.
_COMMON = word_set(
    "campaign verdict status unit provenance date host device model arm kind type format schema version note comment description author revision commit sha image "
    "hardware platform engine framework language source issue bundle owner level"
)
# Fields whose difference says nothing about the subject.
_LOOSE = word_set(
    "note comment description source file path of copy timestamp date at time sha hash digest url provenance author label_for reason title"
)
_TIME_LIKE = WEAK_WORDS | {"s", "ms", "us", "ns", "minute", "hour"}


@dataclass(frozen=True)
class Figure:
    """One number with what it is of: the value in its base unit as an interval, and the object it stands in."""

    doc: Document
    path: Path
    quantity: Quantity
    name: frozenset[str]
    holder: dict[str, Any]

    @property
    def factor(self) -> Fraction:
        return self.quantity.unit.factor if self.quantity.unit else Fraction(1)

    @property
    def base(self) -> Fraction:
        return self.quantity.value * self.factor


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    groups: dict[object, list[Figure]] = defaultdict(list)
    for figure in _figures(snapshot, bundle):
        groups[figure.name, figure.quantity.unit.family if figure.quantity.unit else None].append(figure)
    pairs: dict[tuple[object, object], list[tuple[Figure, Figure, Fraction]]] = defaultdict(list)
    for held in groups.values():
        for small, large, factor in islice(_scaled(held), PAIRS):
            if _same_subject(small, large):
                pairs[(small.doc.path, small.path[:-1]), (large.doc.path, large.path[:-1])].append((small, large, factor))
    yield from few((_finding(bundle, found) for found in pairs.values()), "pairs of values")


# ---------------------------------------------------------------- figures


def _figures(snapshot: Snapshot, bundle: Bundle) -> Iterator[Figure]:
    left = FIGURES
    for path in bundle.files:
        doc = source(snapshot, path)
        if doc is None:
            continue
        for figure in _in_document(doc, walk(doc.value) if isinstance(doc, Records) else nodes(snapshot, path)):
            left -= 1
            if left < 0:
                return
            yield figure


def _in_document(doc: Document, places: Iterable[Node]) -> Iterator[Figure]:
    for node in places:
        if not isinstance(node.parent, dict) or not isinstance(node.value, (Number, str)) or not isinstance(node.path[-1], str):
            continue
        if isinstance(node.value, str) and not (0 < len(node.value) <= 24 and any(c.isdigit() for c in node.value)):
            continue
        if len(node.parent) > 100 or counts(node.path[-1]):
            continue
        key = read_key(node.path[-1])
        quantity = of_value(node.value, key.unit)
        name = frozenset("time" if word in _TIME_LIKE else word for word in (*key.words, *_of_unit(key.unit)) if word not in _UNITS)
        if quantity is not None and quantity.digits >= DIGITS and quantity.value > 0 and name:
            yield Figure(doc, node.path, quantity, name, node.parent)


_UNITS = word_set("percent byte kb mb gb tb kib mib gib tib value")


def _of_unit(unit: Any) -> tuple[str, ...]:
    return ("time",) if unit is not None and unit.family == "time" else ()


def _scaled(held: list[Figure]) -> Iterator[tuple[Figure, Figure, Fraction]]:
    """Every pair at one of the factors, to the printed digits."""
    ordered = sorted(held, key=lambda figure: figure.base)
    bases = [float(figure.base) for figure in ordered]
    for small in ordered:
        for factor in FACTORS:
            wanted = float(small.base * factor)
            at = bisect_left(bases, wanted * 0.99)
            for large in ordered[at : at + 8]:
                if bases[at] > wanted * 1.01:
                    break
                if _fits(small, large, factor):
                    yield small, large, factor


def _fits(small: Figure, large: Figure, factor: Fraction) -> bool:
    """True when the factor is exact as printed: one value lies in what the other's digits allow, both with enough digits."""
    value = small.base * factor / large.factor
    low, high = small.quantity.low * small.factor * factor / large.factor, small.quantity.high * small.factor * factor / large.factor
    return large.quantity.low <= value <= large.quantity.high or (low <= large.quantity.value <= high and factor == 60)


# ---------------------------------------------------------------- the same subject


def _same_subject(one: Figure, other: Figure) -> bool:
    if one.doc.path == other.doc.path and one.path[:-1] == other.path[:-1]:
        return one.path[-1] != other.path[-1] and one.quantity.unit is not None and other.quantity.unit is not None
    if _contradict(one, other):
        return False
    if _names(one, other) or _names(other, one):
        return True
    left, right = _about(one, other), _about(other, one)
    if left and right and left != right:
        return False
    return bool(left and left == right) or _share_identity(one.holder, other.holder) or _share_figure(one, other)


def _contradict(one: Figure, other: Figure) -> bool:
    """True when a field that both objects have says that they are two things."""
    for key, value in one.holder.items():
        if key not in other.holder or key == one.path[-1] or set(words(key)) & _LOOSE:
            continue
        theirs = other.holder[key]
        if isinstance(value, Number) and isinstance(theirs, Number):
            if not _same_number(value, theirs):
                return True
        elif isinstance(value, (str, bool)) and isinstance(theirs, (str, bool)) and value != theirs:
            return True
    return False


def _same_number(one: Number, other: Number) -> bool:
    """Equal to the printed digits, or off by the same kind of factor."""
    a, b = of_value(one), of_value(other)
    if a is None or b is None:
        return one == other
    if a.low <= b.value <= a.high or b.low <= a.value <= b.high:
        return True
    if min(a.digits, b.digits) < DIGITS or not a.value or not b.value:
        return False
    ratio = max(a.value, b.value) / min(a.value, b.value)
    return any(abs(ratio / factor - 1) < Fraction(1, 10**4) for factor in FACTORS)


def _about(figure: Figure, other: Figure) -> frozenset[str]:
    """The words that say of what the object is: of the keys around it, else of its file's name."""
    keys = [part for part in figure.path[:-1] if isinstance(part, str)]
    said = frozenset(word for part in keys for word in words(part) if word not in _GENERIC)
    if said or figure.doc.path == other.doc.path:
        return said
    return frozenset(word for word in words(_stem(figure.doc.path)) if word not in _GENERIC and len(word) > 1)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _names(one: Figure, other: Figure) -> bool:
    """True when a string in the one object names the other's key or file."""
    keys = [part for part in other.path[:-1] if isinstance(part, str)][-1:]
    known = {key.lower() for key in keys if set(words(key)) - _GENERIC}
    stem = _stem(other.doc.path).lower() if one.doc.path != other.doc.path else ""
    for value in one.holder.values():
        if isinstance(value, str) and len(value) < 300:
            low = value.strip().lower()
            if low in known or (stem and len(stem) > 2 and _stem(low) == stem and re.search(r"\.\w{2,5}\Z", low)):
                return True
    return False


def _share_identity(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return any(
        isinstance(value, str) and value == other.get(key) and len(value) < 200 and not set(words(key)) & (_COMMON | _LOOSE)
        for key, value in one.items()
    )


def _share_figure(one: Figure, other: Figure) -> bool:
    """True when another measured number of at least four digits stands in both objects."""
    for key, value in one.holder.items():
        theirs = other.holder.get(key)
        if key != one.path[-1] and isinstance(value, Number) and isinstance(theirs, Number) and value == theirs and not value.is_integer_literal:
            quantity = of_value(value)
            if quantity is not None and quantity.digits >= 4:
                return True
    return False


# ---------------------------------------------------------------- findings


def _finding(bundle: Bundle, found: list[tuple[Figure, Figure, Fraction]]) -> Finding:
    small, large, factor = found[0]
    said = "; ".join(f"{_at(bundle, a)} = {_shown(a)} and {_at(bundle, b)} = {_shown(b)} (×{int(f)})" for a, b, f in found[:5])
    where: list[Location] = [place(figure.doc, figure.path, "operand") for pair in found[:20] for figure in pair[:2]]
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title=f"`{small.path[-1]}` stands at ×{int(factor)} in a second place",
        problem=f"{said}. The names say the same thing of the same subject, and the units that they declare do not account for the factor.",
        impact=f"Whoever reads only one of the places is wrong by a factor of {int(factor)}.",
        next="See in the receipt which of the two is right, and correct the other's value or its key's unit (edit text).",
        locations=tuple(dict.fromkeys(where)),
        evidence=((_at(bundle, small), _shown(small)), (_at(bundle, large), _shown(large))),
        roots=tuple(f"record:{figure.doc.path}#{place(figure.doc, figure.path).pointer}" for figure in (small, large)),
    )


def _shown(figure: Figure) -> str:
    unit = figure.quantity.unit
    return f"{figure.quantity.text} {unit.name}" if unit is not None else figure.quantity.text


def _at(bundle: Bundle, figure: Figure) -> str:
    at = place(figure.doc, figure.path)
    return f"`{bundle.relative(at.path)}{'#' + at.pointer if at.pointer is not None else f':{at.line}'}`"


RULE = Rule("unit-mismatch", "consistency", Severity.MEDIUM, each=each, norms=(("states", "unit"), ("unit", "each number")))
