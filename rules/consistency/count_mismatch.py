"""A declared number of samples, runs, repetitions or ranks is not the number that is listed

What it checks: a declared count against the array beside it, against the list or map with one entry per rank, worker or run, against the receipts
that the same text or object names by files; the plan's repetitions against all arrays of the results, where they all have the same other length.

Why: what is missing may be what was slow, or what failed.

Fix: list what is missing (commit a file), or declare why it is not there: failed, discarded, warm-up (edit text).

Example: `world_size: 8` beside seven entries of `ranks`; "5 repetitions, one receipt each (`results/run-*.json`)" with four such files.

Not flagged: differences that declared warm-ups, failures or discarded runs explain; several samples per run; numbers that count something else
(a sample rate, a batch size); a bare `n` without an array beside it.

Strength: blocking where both stand in JSON, else medium.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from rules.core.model import Bundle, Confirmed, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.canonical_words import words
from rules.reading.documents import Document, Path, resolve
from rules.reading.few import few
from rules.reading.left_out import is_out, left_out
from rules.reading.listings import Listing, explained, listings
from rules.reading.named_paths import files_of
from rules.reading.prefilter import mentions
from rules.reading.records import Records, is_records, named_file, place, records, source
from rules.reading.samples import Declared, Sampled, Series, literal, sampled
from rules.reading.stated_counts import Told, arrays_of_results, told_counts
from rules.reading.statistic_keys import Counts, counts
from rules.reading.units import words as word_set

_PLACES = frozenset(["rank", "worker", "device", "node", "shard", "pod", "container", "arm", "seed"])
_SETUP = word_set(
    "config workload setup parameter param protocol setting meta run load environment env topology cluster launch distributed parallel spec"
)
# Of these there may be many inside one sample, or one in many.
_INNER = frozenset(["iteration", "round", "attempt", "execution", "replica"])
_HINTS = (
    "sample",
    "run",
    "rep",
    "trial",
    "rank",
    "world_size",
    "worldSize",
    "worker",
    "count",
    "observ",
    "measurement",
    "iter",
    "num",
    '"n"',
    "次",
    "数",
    "nproc",
    "device",
    "node",
)


DECLARED, LISTED = 2000, 200
"""So many counts of one document, and lists around each, are compared."""


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    yield from few(_each(snapshot, bundle), "counts that differ")


def _each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    wrong: list[_Mismatch] = []
    for path in bundle.files:
        doc = source(snapshot, path)
        if doc is not None and not isinstance(doc, Records) and mentions(doc.text, *_HINTS):
            for one in _in_document(snapshot, bundle, doc, sampled(snapshot, path)):
                if isinstance(one, _Mismatch):
                    wrong.append(one)
                else:
                    yield one
    if not wrong:
        wrong += _plan_against_results(snapshot, bundle)
    told = [
        _told(bundle, one)
        for one in told_counts(snapshot, bundle)
        if not any(w.declared == one.declared and w.noun_family == one.family for w in wrong)
    ]
    for mismatch in wrong:
        yield mismatch.finding(bundle)
    yield from told


# ---------------------------------------------------------------- one document


class _Mismatch:
    """A declared count, what is listed, and where both stand."""

    def __init__(self, declared: int, said: Counts, actual: int, claim: Location, receipt: tuple[Location, ...], what: str) -> None:
        self.declared, self.said, self.actual, self.claim, self.receipt, self.what = declared, said, actual, claim, receipt, what

    @property
    def noun_family(self) -> str:
        return self.said.family

    def finding(self, bundle: Bundle) -> Finding:
        noun = "samples" if self.said.noun == "n" else f"{self.said.noun}s"
        where = f"{bundle.relative(self.claim.path)}#{self.claim.pointer}"
        return Finding(
            rule=RULE.id,
            severity=Severity.BLOCKING,
            title=f"{self.declared} {noun} are declared, {self.actual} are listed",
            problem=f"`{where}` declares {self.declared}; {self.what} {'has' if len(self.receipt) == 1 else 'have'} {self.actual}, and nothing beside it says why.",
            impact="What is missing may be what failed or was slow, and aggregates over the rest look better than the runs were."
            if self.actual < self.declared
            else "A reader cannot tell which of the listed entries the figures are over.",
            next="List what is missing (commit a file), or declare what was discarded, failed or warmed up, or correct the count (edit text).",
            locations=(self.claim, *self.receipt[:20]),
            evidence=(("declared", str(self.declared)), ("listed", str(self.actual))),
            roots=(f"record:{self.claim.path}#{self.claim.pointer}",),
        )


def _in_document(snapshot: Snapshot, bundle: Bundle, doc: Document, held: Sampled) -> Iterator[_Mismatch | Confirmed]:
    if not held.declared:
        return
    by_parent: dict[Path, list[Listing]] = defaultdict(list)
    for listing in listings(doc.outline):
        for base in _above(listing.path):
            by_parent[base].append(listing)
    for declared in held.declared[:DECLARED]:
        said = counts(str(declared.path[-1]))
        if said is None or said.per:
            continue
        found = (
            _by_name(doc, held, declared, said, by_parent)
            or _by_files(snapshot, bundle, doc, declared, said)
            or _by_samples(doc, held, declared, said)
        )
        if found is not None:
            yield found


def _by_name(doc: Document, held: Sampled, declared: Declared, said: Counts, by_parent: dict[Path, list[Listing]]) -> _Mismatch | Confirmed | None:
    """Against the lists and maps that name the same thing: in the same object, below it, or beside the object of settings that declares it."""
    if said.family in ("n", "sample"):
        return None
    for base in _bases(declared.path):
        same = [one for one in by_parent.get(base, ())[:LISTED] if _same_thing(doc, one, said) and one.path != declared.path]
        if same:
            return _compare_lists(doc, held, declared, said, same)
    return None


def _bases(path: Path) -> Iterator[Path]:
    """The object of a count, and the one around it where the first is one of settings."""
    base = path[:-1]
    yield base
    while base and isinstance(base[-1], str) and _SETUP & set(words(base[-1])):
        base = base[:-1]
        yield base


def _above(path: Path) -> Iterator[Path]:
    """The objects up to three levels around a list, not out of an element."""
    for up in range(1, 4):
        if up > len(path) or isinstance(path[-up], int):
            return
        yield path[:-up]


def _same_thing(doc: Document, listing: Listing, said: Counts) -> bool:
    """`world_size` counts workers too where the entries have ranks."""
    if listing.family == said.family:
        return True
    if said.family == "rank" and listing.family == "worker":
        entries = resolve(doc.value, listing.path)
        first = next(iter(entries.values() if isinstance(entries, dict) else entries), None)
        return isinstance(first, dict) and any("rank" in words(key) for key in first)
    return False


def _compare_lists(doc: Document, held: Sampled, declared: Declared, said: Counts, same: list[Listing]) -> _Mismatch | Confirmed | None:
    right = next((one for one in same if declared.value in one.counted), None)
    if right is not None:
        return Confirmed("figure", f"{declared.value} {said.noun}s listed", place(doc, declared.path), place(doc, right.path, "record"))
    others = [d.value for d in held.declared[:DECLARED] if d.path != declared.path and d.path[:-1] in (declared.path[:-1], declared.path[:-2])]
    for one in same:
        products = {one.length * n for n in others} | {n for n in others if n == one.length and said.family not in _PLACES}
        if declared.value in products or one.length in products or explained(doc, one.path).allows(declared.value, one.length):
            return None
        if said.family not in _PLACES and declared.value and one.length > declared.value and one.length % declared.value == 0 and said.noun in _INNER:
            return None
    if len({one.length for one in same}) > 1 and said.family in _PLACES:
        return None
    one = same[0]
    where = (place(doc, one.path, "record"),)
    return _Mismatch(declared.value, said, one.length, place(doc, declared.path), where, f"`{where[0].pointer}`{_missing(doc, one, declared.value)}")


def _missing(doc: Document, listing: Listing, declared: int) -> str:
    """Which rank is not listed, where the entries are numbered."""
    entries = resolve(doc.value, listing.path)
    ids: set[int] = set()
    for item in entries if isinstance(entries, list) else ():
        value = next((item[key] for key in item if {"rank", "worker", "id", "run"} & set(words(key))), None) if isinstance(item, dict) else item
        if isinstance(value, float):
            ids.add(int(value))
    absent = [n for start in (0, 1) if start in ids for n in range(start, start + declared) if n not in ids][:5]
    return f" (without {', '.join(map(str, absent))})" if absent and len(ids) == listing.length < declared else ""


def _by_files(snapshot: Snapshot, bundle: Bundle, doc: Document, declared: Declared, said: Counts) -> _Mismatch | Confirmed | None:
    """Against the receipts that the same object names: by a glob, or one by one."""
    if said.family not in ("run", "receipt", "file", "sample"):
        return None
    holder = resolve(doc.value, declared.path[:-1])
    for key, value in holder.items() if isinstance(holder, dict) and len(holder) <= 64 else ():
        if not {"receipt", "file", "path", "log", "output", "record", "result", "artifact", "raw"} & set(words(key)):
            continue
        rows = _rows(snapshot, bundle, doc, value) if said.family == "sample" else None
        if rows is not None:
            actual = rows
        elif isinstance(value, str) and "*" in value:
            actual = len(files_of(snapshot, bundle, doc.path, value))
        elif isinstance(value, list) and len(value) > 1 and all(isinstance(v, str) and ("/" in v or "." in v) for v in value):
            actual = len(value)
        else:
            continue
        claim, receipt = place(doc, declared.path), place(doc, (*declared.path[:-1], key), "record")
        if actual == declared.value:
            return Confirmed("figure", f"{actual} receipts", claim, receipt)
        if actual and not explained(doc, declared.path).allows(declared.value, actual):
            return _Mismatch(declared.value, said, actual, claim, (receipt,), f"`{receipt.pointer}`")
        return None
    return None


def _rows(snapshot: Snapshot, bundle: Bundle, doc: Document, value: object) -> int | None:
    """How many measurements the table or record stream holds that a string names."""
    file = named_file(snapshot, doc.path, value, (bundle.path,)) if isinstance(value, str) and is_records(value) else None
    held = records(snapshot, file) if file else None
    if held is None:
        return None
    counted = [row for row in held.value if isinstance(row, dict) and not is_out(row)]
    return sum(1 for row in counted if any(literal(cell) is not None for cell in row.values()))


def _by_samples(doc: Document, held: Sampled, declared: Declared, said: Counts) -> _Mismatch | Confirmed | None:
    """Against the sample arrays beside the count."""
    if said.family not in ("n", "sample", "run"):
        return None
    bases = [declared.path[:-1]] if said.family == "n" else list(_bases(declared.path))
    near = next((found for base in bases if (found := [s for s in held.near.get(base, ())[:LISTED] if not s.setting])), [])
    if said.family == "n":
        near = [s for s in near if s.path[:-1] == declared.path[:-1]]
    right = next((s for s in near if declared.value in (s.length, s.filled)), None)
    odd = [
        s for s in near if declared.value not in (s.length, s.filled) and (right is None or s.path[-1:] + s.within == right.path[-1:] + right.within)
    ]
    if right is not None and not odd:
        return Confirmed("figure", f"{declared.value} samples listed", place(doc, declared.path), place(doc, right.path, "record"))
    if len(odd) > 1 and declared.value in (sum(s.length for s in odd), sum(s.filled for s in odd)):
        return None
    if len({s.length for s in odd}) != 1 or any(_is_explained(doc, held, declared, said, s) for s in odd):
        return None
    where = tuple(dict.fromkeys(place(doc, s.path, "record") for s in odd))
    return _Mismatch(declared.value, said, odd[0].length, place(doc, declared.path), where, ", ".join(f"`{at.pointer}`" for at in where[:3]))


def _is_explained(doc: Document, held: Sampled, declared: Declared, said: Counts, series: Series) -> bool:
    """True where warm-ups, failures, several samples per run, or another declared count make up the length."""
    length, n = series.length, declared.value
    left = left_out(doc, series)
    if left.vague or any(length - len(mask) == n for mask in left.masks) or explained(doc, series.path).allows(n, length):
        return True
    others = [d.value for d in held.declared[:DECLARED] if d.path != declared.path and declared.path[: len(d.path) - 1] == d.path[:-1]]
    if any(length == n * other or n == length * other for other in others) or any(length == a * b for a, b in combinations(others, 2)):
        return True
    if said.family != "run":
        return False
    same_family = any(other == length for other in others)
    return same_family or n == 0 or (length > n and length % n == 0) or (said.noun in _INNER and length * 2 <= n)


# ---------------------------------------------------------------- the plan against the results


def _plan_against_results(snapshot: Snapshot, bundle: Bundle) -> Iterator[_Mismatch]:
    """The plan's repetitions against all arrays of the results, where these agree with each other and not with the plan."""
    planned = [
        (doc, one, said)
        for doc, one in _declared_in_plan(snapshot, bundle)
        if (said := counts(str(one.path[-1]))) and said.family in ("run", "sample") and not said.per
    ]
    values = {one.value for _, one, said in planned if said.noun not in _INNER}
    listed = arrays_of_results(snapshot, bundle)
    lengths = {series.length for _, series in listed}
    if len(values) != 1 or len(lengths) != 1 or len(planned) != 1:
        return
    doc, one, said = planned[0]
    length = lengths.pop()
    if one.value < 2 or length == one.value or max(length, one.value) % min(length, one.value) == 0:
        return
    if explained(doc, one.path).allows(one.value, length) or any(_accounted(snapshot, other, series, one.value) for other, series in listed):
        return
    where = tuple(place(other, series.path, "record") for other, series in listed)
    names = ", ".join(f"`{bundle.relative(at.path)}#{at.pointer}`" for at in where[:3])
    yield _Mismatch(
        one.value, said, length, place(doc, one.path), where, f"each of the arrays of the results ({names}{' and more' if len(where) > 3 else ''})"
    )


def _declared_in_plan(snapshot: Snapshot, bundle: Bundle) -> Iterator[tuple[Document, Declared]]:
    for path in bundle.part("plan"):
        doc = source(snapshot, path)
        if doc is not None and not isinstance(doc, Records):
            yield from ((doc, one) for one in sampled(snapshot, path).declared)


def _accounted(snapshot: Snapshot, doc: Document, series: Series, declared: int) -> bool:
    """True where the results themselves say how many there are, or why."""
    own = {one.value for one in sampled(snapshot, doc.path).declared}
    return series.length in own or bool(left_out(doc, series)) or explained(doc, series.path).allows(declared, series.length)


# ---------------------------------------------------------------- text


def _told(bundle: Bundle, one: Told) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title=f"The text tells of {one.declared} {one.noun}s, {one.actual} are there",
        problem=f"`{bundle.relative(one.claim.path)}:{one.claim.line}` says {one.declared} {one.noun}s; {one.what}: {one.actual}.",
        impact="A reader cannot see what became of the rest."
        if one.actual < one.declared
        else "A reader cannot tell which of them the figures are over.",
        next="Commit what is missing (commit a file), or say in the text how many there are and what became of the others (edit text).",
        locations=(one.claim, *one.receipts[:20]),
        evidence=(("declared", str(one.declared)), ("found", str(one.actual))),
        roots=(f"claim:{one.claim.path}#{one.claim.text}",),
    )


RULE = Rule(
    "count-mismatch",
    "consistency",
    Severity.BLOCKING,
    each=each,
    norms=(("every", "repetition"), ("each", "repetition", "receipt"), ("number of", "samples")),
)
