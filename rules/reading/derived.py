"""Figures that follow from others: a change, a share or a difference of two values of the same sentence, or of two recorded values of a bundle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rules.core.model import Snapshot, Tree
from rules.reading.changes import Span, difference, relative, shares
from rules.reading.documents import Number, document, is_document, is_numbers, nodes
from rules.reading.figures import bounds
from rules.reading.layout import Bundle
from rules.reading.listed import listed_values
from rules.reading.quantities import Quantity, scaled
from rules.reading.record_places import declared_unit, is_measured_place, is_plan, record_files
from rules.reading.units import COUNTS, comparable

MOST = 400
"""Recorded values above which some pair gives nearly any figure: nothing can be said then."""
DOCUMENT_BYTES = 256 * 1024
OPERANDS = 40
_SHARES = frozenset(["percent", "percentage-points", "factor", "ratio"])


def is_share(quantity: Quantity) -> bool:
    """True for a percentage, percentage points, a factor, a ratio or a bare value up to one: what mostly is computed from two values."""
    if quantity.unit is None:
        return abs(quantity.value) <= 1
    return quantity.unit.family in _SHARES


def follows_from(quantity: Quantity, others: Sequence[Quantity], change: bool) -> bool:
    """True when two of `others` give `quantity`, as a change, a share or (with `change`) a difference."""
    if not change and not is_share(quantity):
        return False
    points = quantity.unit is not None and quantity.unit.family == "percentage-points"
    held = [one for one in others if points or change or not _is_percent(one)][:OPERANDS]
    return any(_gives(quantity, a, b, change) for i, a in enumerate(held) for b in held[i + 1 :] if _alike(a, b))


def _is_percent(one: Quantity) -> bool:
    return one.unit is not None and one.unit.family in _SHARES


def _alike(a: Quantity, b: Quantity) -> bool:
    """Of one kind, or both counts: `1885/372216`, `11582 prefixes of 35840 events`."""
    return comparable(a.unit, b.unit) or all(one.unit is None or one.unit.family in COUNTS for one in (a, b))


def _gives(quantity: Quantity, a: Quantity, b: Quantity, change: bool) -> bool:
    low, high = bounds(quantity)
    asked, before, after = Span(low, high), Span(*scaled(a)), Span(*scaled(b))
    if is_share(quantity):
        percent = asked.scaled(_percent(quantity))
        computed = [span.size() for _, span in relative(before, after)] + list(shares(before, after))
        return any(percent.meets(span) for span in computed) or (comparable(a.unit, quantity.unit) and asked.meets(difference(before, after).size()))
    factor = quantity.unit.factor if quantity.unit else Fraction(1)
    return change and comparable(quantity.unit, a.unit) and asked.scaled(factor).meets(difference(before, after).size())


def _percent(quantity: Quantity) -> Fraction:
    """What turns the printed share into percent."""
    if quantity.unit is None or quantity.unit.family in ("factor", "ratio"):
        return Fraction(100)
    return quantity.unit.factor


# ---------------------------------------------------------------- of recorded values


def follows_from_records(snapshot: Snapshot, bundle: Bundle, quantity: Quantity, change: bool, tree: Tree | None = None) -> bool:
    """True when two recorded values of one unit give `quantity`, or when there are so many that it cannot be told."""
    tree = tree or snapshot.head
    families = snapshot.memo(("recorded", bundle.path, id(tree)), lambda: _families(snapshot, bundle, tree))
    if families is None:
        return True
    low, high = (float(bound) for bound in bounds(quantity))
    factor = float(quantity.unit.factor) if quantity.unit else 1.0
    if is_share(quantity):
        percent = float(_percent(quantity))
        return any(_in_ratios(values, low * percent, high * percent) for values in families.values())
    own = families.get(quantity.unit.family if quantity.unit and quantity.unit.family not in COUNTS else "")
    return change and own is not None and bool(_inside(np.abs(own[:, None] - own[None, :]), low * factor, high * factor))


def _in_ratios(values: NDArray[np.float64], low: float, high: float) -> bool:
    ratio = 100 * values[:, None] / values[None, :]
    return _inside(ratio, low, high) or _inside(np.abs(ratio - 100), low, high)


def _inside(values: NDArray[np.float64], low: float, high: float) -> bool:
    return bool(((values >= low) & (values <= high)).any())


def _families(snapshot: Snapshot, bundle: Bundle, tree: Tree) -> dict[str, NDArray[np.float64]] | None:
    """Family of unit → the recorded values in its base; None where there are more than `MOST`."""
    made: dict[str, set[float]] = {}
    for count, (family, value) in enumerate(_recorded(snapshot, bundle, tree)):
        if count > 50 * MOST:
            return None
        if value > 0:
            made.setdefault("" if family in COUNTS else family, set()).add(value)
    if any(len(values) > MOST for values in made.values()):
        return None
    return {family: np.array(sorted(values)) for family, values in made.items()}


def _recorded(snapshot: Snapshot, bundle: Bundle, tree: Tree) -> Iterator[tuple[str, float]]:
    for path in record_files(bundle, tree):
        if is_plan(bundle, path):
            continue
        for unit, value in listed_values(snapshot, path, tree).central():
            yield unit.family if unit else "", value * (float(unit.factor) if unit else 1.0)
        if is_document(path) and tree.files[path].size <= DOCUMENT_BYTES:
            yield from _numbers(snapshot, path, tree)


def _numbers(snapshot: Snapshot, path: str, tree: Tree) -> Iterator[tuple[str, float]]:
    doc = document(snapshot, path, tree)
    for node in nodes(snapshot, path, tree):
        held: Iterable[Number] = node.value if is_numbers(node.value) else [node.value] if isinstance(node.value, Number) else ()
        if held and is_measured_place(node.path, False):
            unit = declared_unit(doc.value if doc else None, node.path)[0]
            factor = float(unit.factor) if unit else 1.0
            yield from ((unit.family if unit else "", abs(float(item)) * factor) for item in held)
