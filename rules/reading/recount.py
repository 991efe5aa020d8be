"""Stated aggregates held against the samples they speak of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

from rules.core.model import Location, Snapshot
from rules.reading.canonical_words import words
from rules.reading.documents import Document, Path, document, resolve
from rules.reading.estimates import Scaled, agrees, candidates, expected, reach, scaled, slack_of
from rules.reading.layout import Bundle
from rules.reading.left_out import Left, left_out, warmups_of
from rules.reading.owners import in_file, owner
from rules.reading.records import Records, named_file, place, source
from rules.reading.samples import Sampled, Series, Stated, sampled, texts
from rules.reading.statistic_keys import LIMIT_WORDS, Statistic

# Sums called a total may include what is not listed (warm-ups, overheads): they are confirmed where they agree, never judged.
ONLY_CONFIRMED = frozenset(["total"])
_GATE_WORDS = LIMIT_WORDS | {"observed", "passed", "pass", "op", "operator", "rule", "metric", "criterion"}
# Where only one of two keys declares a unit, the other may be in any of these.
_OTHER_UNITS = (*(Fraction(10) ** power for power in (3, -3, 6, -6, 9, -9, 2, -2)), Fraction(60), Fraction(1, 60))


@dataclass(frozen=True, slots=True)
class Comparison:
    """One stated aggregate against its samples. `expected` is the value under the most usual definition, as text."""

    agrees: bool
    kind: str
    label: str
    stated: str
    expected: str
    count: int
    unlisted: int
    claim: Location
    receipt: Location


def comparisons(snapshot: Snapshot, bundle: Bundle, path: str) -> tuple[Comparison, ...]:
    """Every aggregate of `path` that speaks of exactly one series, compared."""
    doc = source(snapshot, path)
    held = sampled(snapshot, path)
    if doc is None or not held.stated:
        return ()
    warmups = _bundle_warmups(snapshot, bundle)
    made = []
    read: dict[tuple[str, Series], _Listed | None] = {}
    flagged: dict[str, dict[Path, frozenset[int]]] = {}
    for stated in held.stated:
        series, listed = _owner(snapshot, bundle, doc, held, stated)
        if series is None or listed is None:
            continue
        if (listed.path, series) not in read:
            read[listed.path, series] = _listed(listed, series, warmups, flagged.setdefault(listed.path, {}))
        numbers = read[listed.path, series]
        if numbers and not _is_limit(doc, held, stated, numbers):
            made.append(_compare(doc, stated, numbers))
    return tuple(one for one in made if one)


@dataclass(frozen=True)
class _Listed:
    """One series as read: its numbers, None where an element holds none, and what is declared to be left out."""

    doc: Document
    series: Series
    printed: Sequence[str | None]
    numbers: Scaled
    left: Left
    warmups: frozenset[int]


def _listed(doc: Document, series: Series, warmups: frozenset[int], flagged: dict[Path, frozenset[int]]) -> _Listed | None:
    printed = texts(doc, series)
    numbers = scaled([text for text in printed if text is not None])
    if numbers is None or len(numbers.integers) < 2:
        return None
    return _Listed(doc, series, printed, numbers, left_out(doc, series, flagged), warmups)


def _owner(snapshot: Snapshot, bundle: Bundle, doc: Document, held: Sampled, stated: Stated) -> tuple[Series | None, Document | None]:
    """The series that `stated` speaks of and the document that lists it: this one, or the file that the same object names."""
    own = owner(held, stated)
    if own is not None or isinstance(doc, Records):
        return own, doc
    for up in range(1, 3):
        holder = resolve(doc.value, stated.path[:-up]) if up <= len(stated.path) else None
        for text in holder.values() if isinstance(holder, dict) and len(holder) <= 64 else ():
            file = named_file(snapshot, doc.path, text, (bundle.path,)) if isinstance(text, str) else None
            if file and file != doc.path:
                return in_file(sampled(snapshot, file), stated, len(stated.path) - up), source(snapshot, file)
    return None, None


def _bundle_warmups(snapshot: Snapshot, bundle: Bundle) -> frozenset[int]:
    """The numbers of warm-ups that the bundle's plan declares: the results may list them first."""

    def make() -> frozenset[int]:
        docs = (document(snapshot, path) for path in bundle.part("plan"))
        return frozenset(n for doc in docs if doc and doc.readable for n in warmups_of(doc))

    return snapshot.memo(("warmups", bundle.path), make)


def _compare(doc: Document, stated: Stated, listed: _Listed) -> Comparison | None:
    judged = _judge(stated, listed)
    if judged is None or (stated.statistic.kind in ONLY_CONFIRMED and not judged[0]):
        return None
    fits, value = judged
    count = len(listed.numbers.integers)
    return Comparison(
        fits,
        stated.statistic.kind if stated.statistic.kind != "total" else "sum",
        label(stated.statistic),
        stated.text,
        shown(value, stated),
        count,
        len(listed.printed) - count,
        place(doc, stated.path),
        place(listed.doc, listed.series.path, "record"),
    )


def label(statistic: Statistic) -> str:
    """`p95`, `p99.9`, or the statistic's own name."""
    if statistic.p is None:
        return statistic.kind
    percent = statistic.p * 100
    return f"p{int(percent)}" if percent.denominator == 1 else f"p{float(percent):g}"


def shown(value: Fraction, stated: Stated) -> str:
    """A computed value with one digit more than the stated one."""
    decimals = len(stated.text.partition(".")[2]) if "e" not in stated.text.lower() else 6
    text = f"{float(value):.{min(decimals + 2, 17)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# ---------------------------------------------------------------- judging


def _judge(stated: Stated, listed: _Listed) -> tuple[bool, Fraction] | None:
    """(whether it agrees, the usual value); None where it cannot be told."""
    factor = _factor(stated, listed.series)
    fits = _fitting(stated, listed, factor)
    usual: Fraction | None = None
    for numbers in chain((listed.numbers,), _variants(listed)):
        for value in _values(stated, listed.series, numbers):
            usual = value if usual is None else usual
            if fits(value):
                return True, value * factor
    if usual is None or _cannot_tell(stated, listed):
        return None
    return False, usual * factor


def _fitting(stated: Stated, listed: _Listed, factor: Fraction) -> Callable[[Fraction], bool]:
    """Whether a value of the samples can print as the stated one. Samples without decimals and unit are whole counts, not rounded measurements."""
    exact = listed.numbers.printed == 0 and listed.series.unit is None
    value, precision = stated.value, stated.precision
    slack = slack_of(stated.statistic, listed.numbers, exact) * factor
    near, rough, reach_of = float(value), float(factor), 2 * float(precision + slack) + 1e-6 * abs(float(value))

    def fits(candidate: Fraction) -> bool:
        """Exact, after a first look with floats."""
        return abs(float(candidate) * rough - near) <= reach_of and agrees(value, precision, candidate * factor, slack)

    return fits


def _values(stated: Stated, series: Series, numbers: Scaled) -> Iterator[Fraction]:
    """What the statistic can be. A mean of rates may be weighted by time: the harmonic and the geometric one are accepted too."""
    yield from candidates(stated.statistic, numbers)
    unit = series.unit or stated.unit
    if stated.statistic.kind == "mean" and unit is not None and unit.family.endswith("/time"):
        yield from candidates(Statistic("hmean"), numbers)
        yield from candidates(Statistic("geomean"), numbers)


def _factor(stated: Stated, series: Series) -> Fraction:
    """From the samples' unit to the stated one."""
    if stated.statistic.kind == "cv":
        return Fraction(100) if stated.unit is not None and stated.unit.family == "percent" else Fraction(1)
    if stated.unit is None or series.unit is None:
        return Fraction(1)
    factor = series.unit.factor / stated.unit.factor
    return factor**2 if stated.statistic.kind == "variance" else factor


def _variants(listed: _Listed) -> Iterator[Scaled]:
    """The series without what is declared to be left out."""
    numbers, left = listed.numbers, listed.left
    n = len(numbers.integers)
    leading = left.leading | listed.warmups | (frozenset(range(1, min(n // 2, 20) + 1)) if left.vague else frozenset())
    for count in sorted(leading):
        if count < n:
            yield numbers.take(numbers.integers[count:])
    index_of = [i for i, text in enumerate(listed.printed) if text is not None]
    for mask in left.masks:
        kept = [value for i, value in zip(index_of, numbers.integers, strict=True) if i not in mask]
        if kept:
            yield numbers.take(kept)
            for count in sorted(left.leading):
                if count < len(kept):
                    yield numbers.take(kept[count:])


def _cannot_tell(stated: Stated, listed: _Listed) -> bool:
    """True where what is left out, or the unit, is open enough for the stated value to be right."""
    series, numbers, left = listed.series, listed.numbers, listed.left
    if left.vague:
        return True
    factor = _factor(stated, series)
    for dropped in left.some:
        ends = reach(stated.statistic, numbers, dropped)
        if ends is None or ends[0] * factor - stated.precision <= stated.value <= ends[1] * factor + stated.precision:
            return True
    if (stated.unit is None) == (series.unit is None) and stated.statistic.kind != "cv":
        return False
    others = _OTHER_UNITS if stated.statistic.kind != "variance" else tuple(f**2 for f in _OTHER_UNITS)
    return any(agrees(stated.value, stated.precision, v * f) for v in expected(stated.statistic, numbers)[:8] for f in others)


# ---------------------------------------------------------------- limits are no aggregates


def _is_limit(doc: Document, held: Sampled, stated: Stated, listed: _Listed) -> bool:
    """True for a gate's number, and for a lone `max_…` or `…_min` that may be a limit or minutes."""
    holder = resolve(doc.value, stated.path[:-1])
    said = {word for part in stated.path if isinstance(part, str) for word in words(part)}
    siblings = {word for key in holder for word in words(key)} if isinstance(holder, dict) and len(holder) <= 64 else set()
    if said & LIMIT_WORDS:
        return True
    if stated.statistic.kind in ("min", "max") and (listed.series.setting or _is_round_bound(stated, listed)):
        return True
    lone = stated.statistic.kind in ("min", "max") and not _described(held, stated)
    if siblings & _GATE_WORDS and stated.statistic.kind in ("min", "max", "median", "mean", "percentile"):
        return lone or _has_limit(holder)
    return lone and not _reads_as_sample(stated, listed)


def _has_limit(holder: Any) -> bool:
    return isinstance(holder, dict) and any(set(words(key)) & {"limit", "threshold", "observed", "target"} for key in holder)


def _described(held: Sampled, stated: Stated) -> bool:
    """True when another statistic of the same object shows that it is a summary."""
    return len(held.kinds[stated.path[:-1]]) > 1


def _is_round_bound(stated: Stated, listed: _Listed) -> bool:
    """A whole number beyond all samples, where the samples have decimals: what they may be, not what they were."""
    if not stated.text.isdigit() or listed.numbers.printed == 0:
        return False
    factor = _factor(stated, listed.series)
    ends = (listed.numbers.value(min(listed.numbers.integers)) * factor, listed.numbers.value(max(listed.numbers.integers)) * factor)
    return stated.value < ends[0] if stated.statistic.kind == "min" else stated.value > ends[1]


def _reads_as_sample(stated: Stated, listed: _Listed) -> bool:
    """True for a figure with the decimals of the samples, or one that is listed among them: a limit is a round number."""
    decimals = len(stated.text.partition(".")[2])
    return (decimals > 0 and decimals == listed.numbers.printed) or stated.text in listed.printed
