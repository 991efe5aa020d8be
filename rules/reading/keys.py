"""What a key says: its words, its unit, the statistic it names, and what it counts, in English and Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from rules.reading.unit_keys import unit_of_key
from rules.reading.units import COUNTS, Unit
from rules.reading.units import unit as unit_named
from rules.reading.units import words as word_set

KEY_LIMIT = 200
_TOKEN = re.compile(
    r"[µμ]s(?![a-z])|\d{1,3}(?:th|st|nd|rd)(?![a-z])|[A-Z]{1,40}(?=[A-Z][a-z])|[A-Z]?[a-z]{1,60}\d{0,20}|[A-Z]{1,60}\d{0,20}|\d{1,20}|[%σΣ]|[\u4e00-\u9fff]{1,60}"
)

# Chinese terms as the English words they stand for, longest first when cutting.
_CHINESE = {
    "几何平均": "geomean",
    "调和平均": "hmean",
    "平均值": "mean",
    "平均数": "mean",
    "均值": "mean",
    "平均": "mean",
    "中位数": "median",
    "中位值": "median",
    "中位": "median",
    "最大值": "max",
    "最大": "max",
    "最高": "max",
    "最小值": "min",
    "最小": "min",
    "最低": "min",
    "标准偏差": "stdev",
    "标准差": "stdev",
    "方差": "variance",
    "总和": "sum",
    "合计": "sum",
    "总计": "total",
    "百分位数": "percentile",
    "百分位": "percentile",
    "分位数": "percentile",
    "分位": "percentile",
    "样本数": "sample count",
    "样本量": "sample count",
    "样本": "sample",
    "采样": "sample",
    "观测": "observation",
    "测量": "measurement",
    "次数": "count",
    "数量": "count",
    "个数": "count",
    "轮数": "round count",
    "轮次": "round",
    "重复": "repetition",
    "运行": "run",
    "试验": "trial",
    "迭代": "iteration",
    "请求数": "request count",
    "请求": "request",
    "预热": "warmup",
    "热身": "warmup",
    "丢弃": "discard",
    "剔除": "discard",
    "舍弃": "discard",
    "排除": "exclude",
    "跳过": "skip",
    "忽略": "ignore",
    "失败": "fail",
    "离群": "outlier",
    "无效": "invalid",
    "延迟": "latency",
    "时延": "latency",
    "耗时": "elapsed",
    "用时": "elapsed",
    "时间": "time",
    "时长": "duration",
    "毫秒": "ms",
    "微秒": "us",
    "纳秒": "ns",
    "秒": "s",
    "分钟": "minute",
    "小时": "hour",
    "进程数": "process count",
    "进程": "process",
    "节点": "node",
    "错误": "error",
    "重试": "retry",
    "丢帧": "drop frame",
    "碰撞": "collision",
    "得分": "score",
    "评分者": "rater",
    "评分": "score",
    "评委": "rater",
    "结果": "result",
    "数据": "data",
    "列表": "list",
    "单位": "unit",
    "加速比": "speedup",
    "基线": "baseline",
    "对照": "control",
    "候选": "candidate",
    "优化前": "before",
    "优化后": "after",
    "首次": "first",
    "每": "per",
    "前": "first",
    "值": "value",
    "数": "count",
}
_CHINESE_TERM = re.compile("|".join(sorted(map(re.escape, _CHINESE), key=len, reverse=True)))

_SAME = {
    "average": "mean",
    "avg": "mean",
    "averaged": "mean",
    "med": "median",
    "minimum": "min",
    "maximum": "max",
    "std": "stdev",
    "stddev": "stdev",
    "sd": "stdev",
    "sigma": "stdev",
    "σ": "stdev",
    "stdv": "stdev",
    "pstdev": "stdev",
    "var": "variance",
    "gmean": "geomean",
    "num": "count",
    "number": "count",
    "cnt": "count",
    "nr": "count",
    "rep": "repetition",
    "repeat": "repetition",
    "repeated": "repetition",
    "iter": "iteration",
    "obs": "observation",
    "req": "request",
    "reqs": "request",
    "warmups": "warmup",
    "prewarm": "warmup",
    "burnin": "warmup",
    "rampup": "warmup",
    "discarded": "discard",
    "dropped": "drop",
    "excluded": "exclude",
    "excluding": "exclude",
    "excl": "exclude",
    "skipped": "skip",
    "ignored": "ignore",
    "failed": "fail",
    "failure": "fail",
    "errored": "fail",
    "aborted": "abort",
    "rejected": "reject",
    "removed": "remove",
    "omitted": "omit",
    "trimmed": "trim",
    "quantile": "percentile",
    "pctl": "percentile",
    "pctile": "percentile",
    "succeeded": "success",
    "successful": "success",
    "completed": "complete",
    "attempted": "attempt",
    "nranks": "rank count",
    "nproc": "process count",
    "nprocs": "process count",
    "nworkers": "worker count",
    "nruns": "run count",
    "nreps": "repetition count",
    "nsamples": "sample count",
    "nobs": "observation count",
    "ntrials": "trial count",
    "µs": "us",
    "μs": "us",
    "msec": "ms",
    "millisecond": "ms",
    "milli": "ms",
    "usec": "us",
    "microsecond": "us",
    "nsec": "ns",
    "nanosecond": "ns",
    "sec": "s",
    "second": "s",
    "mins": "minute",
    "hr": "hour",
    "hrs": "hour",
    "pct": "percent",
    "%": "percent",
    "perc": "percent",
}


def singular(word: str) -> str:
    """`latencies` → latency, `samples` → sample, `status` stays."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=65536)
def words(key: str) -> tuple[str, ...]:
    """The words of a key in lower case and singular: split on `_`, `-`, blanks and camelCase; Chinese terms become English ones."""
    made: list[str] = []
    for token in _TOKEN.findall(key[:KEY_LIMIT]):
        made += _chinese(token) if "\u4e00" <= token[0] <= "\u9fff" else _canonical(token.lower()).split()
    return tuple(made)


def _canonical(word: str) -> str:
    return _SAME.get(word) or _SAME.get(singular(word)) or singular(word)


def _chinese(run: str) -> list[str]:
    made: list[str] = []
    position = 0
    for match in _CHINESE_TERM.finditer(run):
        if match.start() > position:
            made.append(run[position : match.start()])
        made += _CHINESE[match[0]].split()
        position = match.end()
    return made + ([run[position:]] if position < len(run) else [])


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
    content = frozenset(w for w in rest if w not in SAMPLE_WORDS and w not in WEAK_WORDS and w not in CUT_WORDS and not w.isdigit())
    return Key(held, tuple(statistics), unit, content, frozenset(w for w in rest if w in WEAK_WORDS), per, not CUT_WORDS.isdisjoint(rest))


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
    tokens = [t.lower() for t in _TOKEN.findall(key[:KEY_LIMIT])]
    return any(t != singular(t) and _canonical(t).split()[0] in COUNTED for t in tokens) or any(t in ("reps", "iters", "obs", "reqs") for t in tokens)
