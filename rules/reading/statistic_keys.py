"""What a key says: its words, its unit, the statistic it names, and what it counts, in English and Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from rules.reading.canonical_words import KEY_LIMIT, TOKEN, canonical, singular, words
from rules.reading.unit_keys import unit_of_key
from rules.reading.units import COUNTS, Unit
from rules.reading.units import unit as unit_named
from rules.reading.units import words as word_set

# Words of `words` that say a unit; what they convert to is `unit_of_key`'s to say.
_UNIT_WORDS = word_set(
    "ns us ms s minute hour percent byte kb mb gb tb kib mib gib tib fps qps rps tps iops kbps mbps gbps hz khz mhz ghz watt joule kj db tflop flop"
)
_LETTERS = word_set("s h w j b c kw")
_TIMES = word_set("s minute hour ms us ns day")


def unit_of(key: str) -> Unit | None:
    """The unit of measure that a key declares; what is merely counted (`tokens`, `runs`) is none."""
    found = unit_of_key(key)
    if found is None:
        last = words(key)[-1:]
        found = unit_named(last[0]) if last and last[0] in _UNIT_WORDS else None
    return None if found is None or found.family in COUNTS or found.family in ("ratio", "factor") or _per_thing(found) else found


def _per_thing(unit: Unit) -> bool:
    """`retries/sessions` is no unit but a mean; `tokens/time` and `bytes/time` are rates."""
    return "/" in unit.family and not unit.family.endswith("/time") and not unit.family.startswith(("time/", "energy/", "bytes/"))


# ---------------------------------------------------------------- statistics


@dataclass(frozen=True, slots=True)
class Statistic:
    """mean, median, min, max, best, worst, stdev, variance, percentile (with `p` in (0, 1)), sum, total, geomean, hmean, range, cv or other."""

    kind: str
    p: Fraction | None = None


_KINDS = frozenset(["mean", "median", "min", "max", "stdev", "variance", "sum", "total", "geomean", "hmean", "cv", "range", "best", "worst"])
_ALIASES = {"fastest": "min", "slowest": "max", "lowest": "min", "highest": "max", "smallest": "min", "largest": "max"}
# Estimates that the listed samples do not determine, or that we do not know the recipe of.
_OTHER = frozenset(
    [
        "winsorized",
        "weighted",
        "rolling",
        "moving",
        "ema",
        "ewma",
        "smoothed",
        "stderr",
        "sem",
        "ci",
        "mad",
        "iqr",
        "rms",
        "mode",
        "trim",
        "pooled",
        "adjusted",
        "normalized",
        "normalised",
        "corrected",
        "estimated",
        "bootstrap",
        "confidence",
        "truncated",
        "hodges",
        "interpolated",
        "harmonic",
    ]
)
_PERCENTILE = re.compile(r"(?:t?p|pct|perc|percentile|q)(\d{1,6})\Z")
_ORDINAL = re.compile(r"(\d{1,3})(?:th|st|nd|rd)\Z")

# Words that say "these are the observations", and nothing about of what.
SAMPLE_WORDS = word_set(
    "sample value timing observation measurement data raw run result list series all trial reading point repetition iteration record entry item "
    "array measured summary stat statistic aggregate aggregated aggregation metric each individual of the in report recorded by over and "
    "request query call op attempt round descriptive percentile detail figure number count unit n"
)
# Words for a time that add nothing when only one side has them.
WEAK_WORDS = word_set("latency time elapsed duration wall clock runtime walltime cost response roundtrip")
# Lists under these names are settings, names of places or outcomes, not observations.
SETTING_WORDS = word_set(
    "seed shape size batch dim rank id device thread port pid exit code status version step layer concurrency level length timestamp epoch order "
    "bin bucket edge threshold limit index offset position core gpu npu card node worker page schedule grid target gate date year day at start end "
    "ts config setting param parameter sweep axis x k label tick line http signal client user parallel knob sizes candidate variant choice"
)
INDEX_WORDS = word_set(
    "run trial iteration repetition sample request id index idx i n seq sequence rank seed attempt step epoch number no round query count 序号 编号"
)
# With a unit, these are what was timed (`drop_ns`, `trim_ms`); what was left out is called `dropped_ms`.
_ACTIONS = word_set("drop skip trim reject remove abort discard")
CUT_WORDS = word_set("warmup discard drop exclude skip ignore outlier fail invalid trim reject omit remove abort cooldown")
LIMIT_WORDS = word_set("limit threshold allowed allow target gate budget required require tolerance bound cap slo sla goal ceiling expected")


@dataclass(frozen=True, slots=True)
class Key:
    """A key as read.

    content  words that say of what (`ttft`), without unit, statistic, sample words and weak words
    weak     words such as latency or elapsed
    per      the noun after `per` where it is no unit of time (`mean_per_clip`)
    cut      it speaks of warm-ups or of what was left out
    """

    words: tuple[str, ...]
    statistics: tuple[Statistic, ...]
    unit: Unit | None
    content: frozenset[str]
    weak: frozenset[str]
    per: str | None
    cut: bool

    @property
    def statistic(self) -> Statistic | None:
        """The statistic, when the key names exactly one that we know."""
        return self.statistics[0] if len(self.statistics) == 1 and self.statistics[0].kind != "other" else None


@lru_cache(maxsize=65536)
def read_key(text: str) -> Key:
    """What `text` says as a key."""
    held = _joined(words(text))
    unit = unit_of(text)
    if unit is None and held[-1:] == ("min",) and any(_statistic(held, i)[0] for i in range(len(held) - 1)):
        unit = unit_named("minutes")  # `mean_bake_min`: a second statistic would say nothing
    minutes = unit is not None and unit.name == "min" and held[-1:] == ("min",)
    statistics: list[Statistic] = []
    per: str | None = None
    rest: list[str] = []
    i = 0
    while i < len(held):
        word = held[i]
        found, used = _statistic(held, i)
        if word == "per" and i + 1 < len(held):
            per, used = (per if held[i + 1] in _TIMES or held[i + 1] == "min" else held[i + 1]), 2
        elif found and not (minutes and i + 1 == len(held)):
            statistics.append(found)
        elif word not in _UNIT_WORDS and not (word in _LETTERS and i > 0 and unit is not None) and not (minutes and i + 1 == len(held)):
            rest.append(word)
        i += used
    cut = CUT_WORDS - _timed_actions(text) if unit is not None else CUT_WORDS
    content = frozenset(w for w in rest if w not in SAMPLE_WORDS and w not in WEAK_WORDS and w not in cut and not w.isdigit())
    return Key(held, tuple(statistics), unit, content, frozenset(w for w in rest if w in WEAK_WORDS), per, not cut.isdisjoint(rest))


def _timed_actions(text: str) -> frozenset[str]:
    """The actions that a key names by their plain form; `dropped` is none."""
    return frozenset(token.lower() for token in TOKEN.findall(text[:KEY_LIMIT])) & _ACTIONS


def _joined(held: tuple[str, ...]) -> tuple[str, ...]:
    """Pairs of words that are one: `warm up`, `standard deviation`, `geometric mean`."""
    text = f" {' '.join(held)} "
    for two, one in (
        (" warm up ", " warmup "),
        (" burn in ", " warmup "),
        (" ramp up ", " warmup "),
        (" standard deviation ", " stdev "),
        (" stdev deviation ", " stdev "),
        (" stdev dev ", " stdev "),
        (" stdev err ", " stderr "),
        (" stdev error ", " stderr "),
        (" standard error ", " stderr "),
        (" mean error ", " mean error "),
        (" geometric mean ", " geomean "),
        (" harmonic mean ", " hmean "),
        (" geo mean ", " geomean "),
        (" wall clock ", " wall "),
    ):
        text = text.replace(two, one)
    return tuple(text.split())


def _statistic(held: tuple[str, ...], i: int) -> tuple[Statistic | None, int]:
    """The statistic that begins at word `i`, and how many words it takes."""
    word = held[i]
    following = held[i + 1] if i + 1 < len(held) else ""
    if word in _KINDS or word in _ALIASES:
        return Statistic(_ALIASES.get(word, word)), 1
    if word in _OTHER:
        return Statistic("other"), 1
    match = _PERCENTILE.match(word)
    if match:
        return _percentile(match[1], following)
    match = _ORDINAL.match(word)
    if match and following == "percentile":
        return _percentile(match[1], "")[0], 2
    if word == "percentile" and re.fullmatch(r"\d{1,4}", following):
        return _percentile(following, held[i + 2] if i + 2 < len(held) else "")[0], 2
    if word in ("p", "q") and re.fullmatch(r"\d{2}", following):
        return _percentile(following, "")[0], 2
    return None, 1


def _percentile(digits: str, following: str) -> tuple[Statistic | None, int]:
    """`99` → 0.99, `999` → 0.999, `99` followed by `9` → 0.999."""
    if re.fullmatch(r"9{1,3}|5|0", following) and len(digits) == 2:
        return Statistic("percentile", Fraction(int(digits + following), 10 ** (2 + len(following)))), 2
    if not digits.strip("0") or digits == "100":
        return (Statistic("max"), 1) if digits == "100" else (Statistic("min"), 1)
    p = Fraction(int(digits), 100) if len(digits) <= 2 else Fraction(int(digits), 10 ** len(digits))
    return (Statistic("median"), 1) if p == Fraction(1, 2) else (Statistic("percentile", p), 1)


# ---------------------------------------------------------------- counts

_SAMPLE_NOUNS = {"sample", "observation", "measurement", "timing", "reading", "datapoint"}
_RUN_NOUNS = {"run", "repetition", "trial", "iteration", "attempt", "round", "replicate", "execution", "replica", "rerun"}
_UNIT_NOUNS = {"request", "query", "call", "op", "operation", "message", "prompt", "episode", "clip", "session", "image", "frame", "file", "rater"}
_PLACE_NOUNS = {
    "rank",
    "worker",
    "process",
    "node",
    "host",
    "shard",
    "replica_set",
    "pod",
    "container",
    "device",
    "gpu",
    "npu",
    "card",
    "arm",
    "seed",
    "receipt",
}
COUNTED = _SAMPLE_NOUNS | _RUN_NOUNS | _UNIT_NOUNS | _PLACE_NOUNS
FAMILY = {
    **dict.fromkeys(_SAMPLE_NOUNS, "sample"),
    **dict.fromkeys(_RUN_NOUNS, "run"),
    **dict.fromkeys(("rank", "process"), "rank"),
    **dict.fromkeys(("gpu", "npu", "card", "device"), "device"),
    **dict.fromkeys(("node", "host"), "node"),
    **dict.fromkeys(("query", "call", "op", "operation"), "request"),
}
_QUALIFIERS = word_set(
    "count n number total measured timed planned declared recorded listed collected benchmark bench actual configured configuration size of the "
    "requested scheduled intended target expected"
)


@dataclass(frozen=True, slots=True)
class Counts:
    """What a key counts: `noun` in the singular (`n` for a bare n or count), its family, and per what."""

    noun: str
    family: str
    per: str | None = None


@lru_cache(maxsize=65536)
def counts(key: str) -> Counts | None:
    """What a key with a whole number counts, or None. `run: 3` is an index, `runs: 3` a count."""
    read = read_key(key)
    if read.unit or read.cut or any(s.kind != "total" for s in read.statistics):
        return None
    said = [w for w in read.words if w not in ("per", read.per)]
    if said == ["world", "size"] or said == ["count", "process"]:
        return Counts("rank", "rank")
    nouns = [w for w in said if w not in _QUALIFIERS]
    if not nouns and said and said[0] in ("n", "count") and len(said) == 1:
        return Counts("n", "n", read.per)
    if len(nouns) != 1 or nouns[0] not in COUNTED:
        return None
    if not (_is_plural(key) or {"count", "n", "number"} & set(said) or key.lower().startswith("repeat")):
        return None
    return Counts(nouns[0], FAMILY.get(nouns[0], nouns[0]), read.per)


def _is_plural(key: str) -> bool:
    tokens = [t.lower() for t in TOKEN.findall(key[:KEY_LIMIT])]
    return any(t != singular(t) and canonical(t).split()[0] in COUNTED for t in tokens) or any(t in ("reps", "iters", "obs", "reqs") for t in tokens)
