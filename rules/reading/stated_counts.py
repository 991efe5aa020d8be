"""Counts that a bundle's text tells of, against the files it names and the arrays of the results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.model import Bundle, Location, Snapshot
from rules.reading.documents import Document
from rules.reading.left_out import left_out
from rules.reading.manifests import looks_like_path
from rules.reading.named_paths import files_of
from rules.reading.records import Records, source
from rules.reading.samples import Series, sampled
from rules.reading.statements import Statement, statements
from rules.reading.tallies import Tally, tallies

_WARMUPS = re.compile(
    r"(?P<n>\d{1,4}|one|two|three|four|five|a|an)\s(?:[a-z]{2,12}\s)?warm-?\s?ups?|warm-?up(?: run| iteration| request)?s?\s?(?:\(|: |of )?(?P<m>\d{1,3})|预热\s?(?P<z>[一二两三四五\d])\s?次",
    re.IGNORECASE,
)
_WORDS = {"one": 1, "a": 1, "an": 1, "two": 2, "three": 3, "four": 4, "five": 5, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5}
_LEFT_OUT = re.compile(
    r"\b(?:discard|exclud|fail(?:ed|ure)?|abort|crash|lost|missing|did not (?:finish|complete)|incomplete|dropp|outlier|interrupt|not recorded|only \w+ (?:of|are)|remaining|not yet|so far)"
    r"|剔除|丢弃|失败|缺失|中断|未完成|尚未|仅有|只有|超时",
    re.IGNORECASE,
)
# A part of them is named, not all.
_PART_OF = re.compile(r"\b(?:of|among) (?:the|these|those|its|all) (?:\d{1,4}|[a-z]{3,8}) (?:receipt|run|file|sample)s?\b|其中", re.IGNORECASE)
_RANGE = re.compile(r"`([^`\n]{3,200})`\s{0,2}(?:to|through|until|–|—|-|…|\.\.\.?|至|到|~)\s{0,2}`([^`\n]{3,200})`")
_HOLDER = re.compile(r"<[a-z_]{1,12}>|\{[a-z_0-9.,]{1,12}\}|\[[a-z0-9-]{1,8}\]|(?<=[-_.])[NnkKiXx](?=\.[a-z]{2,5}\Z)|\?")


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence that tells of `declared` things where `actual` are found. `what` says where they were looked for."""

    declared: int
    noun: str
    family: str
    actual: int
    claim: Location
    receipts: tuple[Location, ...]
    what: str


def told_counts(snapshot: Snapshot, bundle: Bundle) -> Iterator[Told]:
    """Every count of receipts, runs or samples in the README and the plan that differs from what its own text names, each once."""
    seen: set[tuple[int, str]] = set()
    for path in bundle.files:
        if path.lower().endswith((".md", ".markdown")):
            made = statements(snapshot, path)
            if any(_LEFT_OUT.search(one.text) and _counts_runs(one) for one in made):
                continue
            warmups = {w for one in made for w in _warmups(one.text)} | {0}
            for one in made:
                found = _in_statement(snapshot, bundle, one, warmups)
                if found and (found.declared, found.family) not in seen and one.standing not in ("quoted", "withdrawn", "question"):
                    seen.add((found.declared, found.family))
                    yield found


def _counts_runs(one: Statement) -> bool:
    return (
        any(t.family in ("run", "sample", "receipt", "request") for t in tallies(one.text))
        or re.search(r"\b(?:run|sample|repetition|trial|receipt)s?\b|次|样本|回执", one.text) is not None
    )


def _in_statement(snapshot: Snapshot, bundle: Bundle, one: Statement, warmups: set[int]) -> Told | None:
    counted = [t for t in tallies(one.text) if t.family in ("run", "receipt", "sample", "file") and t.value >= 2]
    if not counted or len({t.value for t in counted}) > 1 or _PART_OF.search(one.text):
        return None
    tally = counted[0]
    named = [span.text.strip() for span in one.code_spans if looks_like_path(span.text)]
    if named:
        return _by_names(snapshot, bundle, one, tally, named, warmups)
    return _by_results(snapshot, bundle, one, tally, warmups) if tally.family == "run" else None


def _warmups(text: str) -> Iterator[int]:
    for match in _WARMUPS.finditer(text):
        word = (match["n"] or match["m"] or match["z"] or "").lower()
        if word:
            yield int(word) if word.isdigit() else _WORDS.get(word, 1)


# ---------------------------------------------------------------- against the files that the sentence names


def _by_names(snapshot: Snapshot, bundle: Bundle, one: Statement, tally: Tally, named: list[str], warmups: set[int]) -> Told | None:
    wanted = _glob(one, named)
    if wanted is not None:
        files = files_of(snapshot, bundle, one.path, wanted)
        what = f"files that `{wanted}` names"
        return _differs(one, tally, len(files), tuple(Location(file, role="file") for file in files), what, warmups) if files else None
    if len(named) > 1:
        return _differs(one, tally, len(set(named)), (), "files named in the sentence", warmups) if _are_receipts(named) else None
    files = files_of(snapshot, bundle, one.path, named[0])
    if len(files) > 1 or (files and named[0].endswith("/")):
        return None
    return _by_arrays(snapshot, one, tally, files[0], warmups) if files else None


def _glob(one: Statement, named: list[str]) -> str | None:
    """A glob as written, a name with a placeholder (`run-<n>.json`), or a range (`run-1.json` to `run-5.json`)."""
    if len(named) == 1:
        if "*" in named[0]:
            return named[0]
        return _HOLDER.sub("*", named[0]) if _HOLDER.search(named[0]) else None
    if len(named) == 2 and (_RANGE.search(one.text) or _joined(one.text, named)):
        first, last = (re.sub(r"\d{1,6}(?=\D*\Z)", "*", name, count=1) for name in named)
        return first if first == last or last.rpartition("/")[2] == first.rpartition("/")[2] else None
    return None


def _joined(text: str, named: list[str]) -> bool:
    """Markup is stripped from a statement: `a` to `b` reads as a to b."""
    start = text.find(named[0])
    end = text.find(named[1], start + len(named[0])) if start >= 0 else -1
    between = text[start + len(named[0]) : end] if end > 0 else ""
    return bool(re.fullmatch(r"\s{0,2}(?:to|through|until|–|—|-|…|\.\.\.?|至|到|~)\s{0,2}", between))


def _are_receipts(named: list[str]) -> bool:
    """Files of one kind: the names differ in a number or a letter only."""
    return len({re.sub(r"\d{1,6}|(?:(?<=[-_])|\A)[a-z](?=\.)", "#", name.rpartition("/")[2]) for name in named}) == 1


def _by_arrays(snapshot: Snapshot, one: Statement, tally: Tally, file: str, warmups: set[int]) -> Told | None:
    """Against the arrays of the one document that the sentence names, where they have one length."""
    doc = source(snapshot, file)
    if doc is None or isinstance(doc, Records):
        return None
    series = [s for s in sampled(snapshot, file).series if not s.setting and s.unit is not None]
    lengths = {s.length for s in series}
    if len(lengths) != 1 or any(left_out(doc, s) for s in series) or lengths <= {d.value for d in sampled(snapshot, file).declared}:
        return None
    return _differs(one, tally, lengths.pop(), (Location(file, role="record"),), f"samples listed in `{file.rpartition('/')[2]}`", warmups)


# ---------------------------------------------------------------- against all arrays of the results


def _by_results(snapshot: Snapshot, bundle: Bundle, one: Statement, tally: Tally, warmups: set[int]) -> Told | None:
    """A sentence without a path speaks of the results where all their arrays have one length."""
    listed = arrays_of_results(snapshot, bundle)
    lengths = {s.length for _, s in listed}
    if len(lengths) != 1 or any(left_out(doc, s) for doc, s in listed):
        return None
    length = lengths.pop()
    own = {d.value for doc, _ in listed for d in sampled(snapshot, doc.path).declared}
    if tally.value in (length * len(listed), len(listed), len({doc.path for doc, _ in listed})) or length in own:
        return None
    where = tuple(Location(doc.path, role="record") for doc, _ in listed)
    return _differs(one, tally, length, tuple(dict.fromkeys(where)), "samples in each array of the results", warmups)


def arrays_of_results(snapshot: Snapshot, bundle: Bundle) -> tuple[tuple[Document, Series], ...]:
    """Every array of measurements (with a unit, or of trials) in the JSON and YAML documents of the results."""
    return snapshot.memo(("arrays of results", bundle.path), lambda: tuple(_arrays_of_results(snapshot, bundle)))


def _arrays_of_results(snapshot: Snapshot, bundle: Bundle) -> Iterator[tuple[Document, Series]]:
    for path in bundle.part("results"):
        doc = source(snapshot, path)
        if doc is not None and not isinstance(doc, Records):
            yield from ((doc, s) for s in sampled(snapshot, path).series if not s.setting and s.unit is not None)


def _differs(one: Statement, tally: Tally, actual: int, receipts: tuple[Location, ...], what: str, warmups: set[int]) -> Told | None:
    if actual in {tally.value + w for w in warmups} | {tally.value - w for w in warmups}:
        return None
    if tally.family in ("run", "sample") and "files" not in what and max(actual, tally.value) % max(1, min(actual, tally.value)) == 0:
        return None
    return Told(tally.value, tally.noun, tally.family, actual, one.location(), receipts, what)
