"""Units of measure: what a unit is called, what it counts, how it converts, in prose (English, Chinese) and in the names of keys and columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit.

    name    canonical spelling: `ms`, `MB/s`, `tokens/s`
    family  what it measures: `time`, `bytes`, `percent`, `percentage-points`, `factor` (×), `ratio`, `number` (a bare k, M, 万), `frequency`,
            `power`, `energy`, `temperature`, … or what it counts (`tokens`, `frames`, `requests`, …); of a compound `bytes/time`, `time/tokens`.
            `*` counts what is not named (次); it goes with any other count.
    factor  exact, to the family's base: seconds, bytes, 1
    """

    name: str
    family: str
    factor: Fraction


def words(*lines: str) -> frozenset[str]:
    """The words of `lines`, parted by blanks."""
    return frozenset(word for line in lines for word in line.split())


ANY = "*"
_SI = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15}
_BITS = Fraction(1, 8)

# Family → alternative spellings of what is counted, singular and plural; English is matched in lower case.
_COUNTED = {
    "tokens": "token tokens tok toks tkn 词元 个token 个词元 个tokens",
    "frames": "frame frames 帧",
    "requests": "request requests req reqs query queries call calls 请求 个请求 次请求 条请求 次调用 次查询",
    "samples": "sample samples observation observations measurement measurements 样本 个样本 条样本 个采样",
    "runs": "run runs repetition repetitions repeat repeats rep reps trial trials replicate replicates 次运行 次测量 次试验 次重复 轮测试",
    "workers": "worker workers 个进程 个worker",
    "ranks": "rank ranks",
    "devices": "device devices gpu gpus npu npus card cards chip chips accelerator accelerators 卡 张卡 个设备 台设备",
    "steps": "step steps 步 个步骤",
    "iterations": "iteration iterations iter iters 次迭代 轮迭代",
    "images": "image images img imgs 张图 张图片 张图像",
    "streams": "stream streams 路 路流",
    "threads": "thread threads 线程 个线程",
    "processes": "process processes proc procs",
    "nodes": "node nodes 节点 个节点",
    "cores": "core cores 核",
    "users": "user users 用户 个用户",
    "clients": "client clients",
    "sessions": "session sessions",
    "rows": "row rows 行",
    "pages": "page pages",
    "records": "record records 条记录",
    "files": "file files 个文件",
    "bundles": "bundle bundles",
    "hashes": "hash hashes",
    "tests": "test tests 个测试",
    "operations": "operation operations op ops 次操作",
    "packets": "packet packets pkt pkts 个包",
    "cycles": "cycle cycles",
    "blocks": "block blocks",
    "layers": "layer layers 层",
    "batches": "batch batches 批",
    "items": "item items",
    "events": "event events",
    "errors": "error errors 个错误",
    "failures": "failure failures 次失败",
    "retries": "retry retries 次重试",
    "prompts": "prompt prompts",
    "sequences": "sequence sequences seq seqs",
    "clips": "clip clips",
    "episodes": "episode episodes",
    "epochs": "epoch epochs",
    "documents": "document documents doc docs",
    "transactions": "transaction transactions txn txns 事务 个事务",
    "messages": "message messages msg msgs 条消息",
    "inserts": "insert inserts insertion insertions",
    "jobs": "job jobs",
    "tasks": "task tasks 个任务",
    "evictions": "eviction evictions",
    "connections": "connection connections 个连接",
    "rounds": "round rounds 轮",
    "words": "word words",
    "characters": "character characters char chars 字符 个字符 字",
    "pixels": "pixel pixels px 像素",
    "warmups": "warmup warmups",
    "replicas": "replica replicas",
    "raters": "rater raters",
    ANY: "times 次 个 条",
}
COUNTS = frozenset(_COUNTED)

# Spelling (case as written here) → canonical name, family, factor.
_PLAIN: tuple[tuple[str, str, str, Fraction], ...] = (
    ("s sec secs second seconds 秒 秒钟", "s", "time", Fraction(1)),
    ("ms msec msecs millisecond milliseconds 毫秒", "ms", "time", Fraction(1, 10**3)),
    ("us µs μs usec usecs microsecond microseconds 微秒", "µs", "time", Fraction(1, 10**6)),
    ("ns nsec nsecs nanosecond nanoseconds 纳秒", "ns", "time", Fraction(1, 10**9)),
    ("min mins minute minutes 分钟", "min", "time", Fraction(60)),
    ("h hr hrs hour hours 小时 个小时", "h", "time", Fraction(3600)),
    ("day days 天", "d", "time", Fraction(86400)),
    ("week weeks 周", "week", "time", Fraction(7 * 86400)),
    ("B byte bytes 字节 个字节", "B", "bytes", Fraction(1)),
    ("bits bit 比特", "bit", "bytes", _BITS),
    ("% percent percentage ％ pct", "%", "percent", Fraction(1)),
    ("‰", "‰", "percent", Fraction(1, 10)),
    ("pp 个百分点 百分点", "pp", "percentage-points", Fraction(1)),
    ("x X × fold 倍", "×", "factor", Fraction(1)),
    ("Hz hz hertz 赫兹 赫", "Hz", "frequency", Fraction(1)),
    ("kHz khz 千赫", "kHz", "frequency", Fraction(10**3)),
    ("MHz mhz 兆赫 兆赫兹", "MHz", "frequency", Fraction(10**6)),
    ("GHz ghz 吉赫 吉赫兹", "GHz", "frequency", Fraction(10**9)),
    ("W watt watts 瓦 瓦特", "W", "power", Fraction(1)),
    ("mW milliwatt milliwatts 毫瓦", "mW", "power", Fraction(1, 10**3)),
    ("kW kilowatt kilowatts 千瓦", "kW", "power", Fraction(10**3)),
    ("J joule joules 焦 焦耳", "J", "energy", Fraction(1)),
    ("mJ millijoule millijoules 毫焦", "mJ", "energy", Fraction(1, 10**3)),
    ("kJ KJ kilojoule kilojoules 千焦", "kJ", "energy", Fraction(10**3)),
    ("MJ", "MJ", "energy", Fraction(10**6)),
    ("Wh", "Wh", "energy", Fraction(3600)),
    ("kWh kwh 千瓦时 度电", "kWh", "energy", Fraction(3600 * 10**3)),
    ("°C ℃ celsius degC 摄氏度", "°C", "temperature", Fraction(1)),
    ("°F ℉", "°F", "temperature-fahrenheit", Fraction(1)),
    ("V volt volts 伏", "V", "voltage", Fraction(1)),
    ("mV", "mV", "voltage", Fraction(1, 10**3)),
    ("dB db decibel decibels 分贝", "dB", "decibel", Fraction(1)),
    ("rpm RPM", "rpm", "rotations/time", Fraction(1, 60)),
    ("fps FPS", "frames/s", "frames/time", Fraction(1)),
    ("rps RPS", "requests/s", "requests/time", Fraction(1)),
    ("qps QPS", "requests/s", "requests/time", Fraction(1)),
    ("krps kqps", "k requests/s", "requests/time", Fraction(10**3)),
    ("tps TPS", "/s", "*/time", Fraction(1)),
    ("FLOPs flops FLOP flop", "FLOP", "flop", Fraction(1)),
)


def _sized() -> dict[str, Unit]:
    """Bytes, bits and what else takes the decimal (or binary) prefixes."""
    made: dict[str, Unit] = {}
    for prefix, power in _SI.items():
        if not prefix:
            continue
        step = Fraction(10) ** power
        made[f"{prefix}B"] = Unit(f"{prefix}B", "bytes", step)
        made[f"{prefix}Bps"] = Unit(f"{prefix}B/s", "bytes/time", step)
        binary = Fraction(1024) ** (power // 3)
        made |= {f"{prefix}i{end}": Unit(f"{prefix}iB", "bytes", binary) for end in ("", "B")}
        made[f"{prefix}iBps"] = Unit(f"{prefix}iB/s", "bytes/time", binary)
        made |= {f"{prefix}{end}": Unit(f"{prefix}bit", "bytes", step * _BITS) for end in ("b", "bit", "bits")}
        made |= {f"{prefix}{end}": Unit(f"{prefix}bit/s", "bytes/time", step * _BITS) for end in ("bps",)}
        made |= {f"{prefix}{end}": Unit(f"{prefix}FLOPS", "flop/time", step) for end in ("FLOPS", "FLOPs", "flops")}
        made |= {f"{prefix}{end}": Unit(f"{prefix}FLOP", "flop", step) for end in ("FLOP", "flop")}
        for short, family in (
            ("tok", "tokens"),
            ("tokens", "tokens"),
            ("req", "requests"),
            ("ops", "operations"),
            ("rows", "rows"),
            ("pkts", "packets"),
        ):
            made[f"{prefix}{short}"] = Unit(f"{prefix} {family}", family, step)
    for prefix, power in _SI.items():
        step = Fraction(10) ** power
        made |= {f"{prefix}{end}": Unit(f"{prefix}{end}", "operations/time", step) for end in ("IOPS", "OPS", "iops")}
        made[f"{prefix}pps"] = Unit(f"{prefix} packets/s", "packets/time", step)
    for name, factor in {
        "kilo": 10**3,
        "mega": 10**6,
        "giga": 10**9,
        "tera": 10**12,
        "kibi": 2**10,
        "mebi": 2**20,
        "gibi": 2**30,
        "tebi": 2**40,
    }.items():
        short = (name[0].upper() if name != "kilo" else "k") + ("iB" if name.endswith("bi") else "B")
        made |= {f"{name}{end}": Unit(short, "bytes", Fraction(factor)) for end in ("byte", "bytes")}
    return made


def _spellings() -> dict[str, Unit]:
    made = _sized()
    for spellings, name, family, factor in _PLAIN:
        made |= {spelling: Unit(name, family, factor) for spelling in spellings.split()}
    for family, names in _COUNTED.items():
        made |= {spelling: Unit(family, family, Fraction(1)) for spelling in names.split()}
    return made


SPELLINGS = _spellings()
# In other capitals only what stays unambiguous: mb is MB (Mb is megabits), but `w`, `j`, `v` are no units.
FOLDED = {name.lower(): unit for name, unit in reversed(SPELLINGS.items()) if len(name) > 2 or unit.family == "time"} | {
    f"{p.lower()}b": SPELLINGS[f"{p}B"] for p in "KMGTP"
}
FOLDED |= {f"{p.lower()}ib": SPELLINGS[f"{p}iB"] for p in "KMGTP"} | {f"{p.lower()}bps": SPELLINGS[f"{p}bps"] for p in "KMGTP"}
SECOND = SPELLINGS["s"]
_NOT_IN_PROSE = frozenset(["pct", "bit", "hash", "char"])
_CJK = re.compile("|".join(sorted((re.escape(n) for n in SPELLINGS if not n.isascii() and n[0] not in "°µμ%"), key=len, reverse=True)))
_WORD = re.compile(r"(?:[A-Za-zµμ]|°[CF](?![A-Za-z]))[A-Za-zµμ]{0,23}+(?![A-Za-z0-9_])")
_POINTS = re.compile(r"(?:percentage|percent|%)[ -]points?(?![A-Za-z])|per cent(?![A-Za-z])", re.IGNORECASE)
_GAP = re.compile(r"[ \t\n\u00a0\u2009\u202f]{0,2}+")
_PER = re.compile(r"[ \u00a0]?/[ \u00a0]?(?=[A-Za-zµμ\u4e00-\u9fff])|[ \n-]per[ \n-]|[ ]an?[ ](?=(?:second|minute|hour)\b)|每", re.IGNORECASE)
_DENOMINATOR = re.compile(r"[A-Za-zµμ]{1,16}+(?![A-Za-z0-9_])|[\u4e00-\u9fff]")
DENOMINATORS = {"it": Unit("iterations", "iterations", Fraction(1)), "elem": Unit("elements", "elements", Fraction(1))}
_MAGNITUDE = re.compile(
    r"(?P<glued>[kKM](?![A-Za-z0-9_])|万亿|百万|千万|[千万亿])|[ \u00a0](?P<spaced>[kKM])(?=[ \u00a0][A-Za-z])"
    r"|[ \u00a0-]?(?P<word>thousand|million|billion)(?![A-Za-z])",
    re.IGNORECASE,
)
_MAGNITUDES = {"k": 10**3, "m": 10**6, "千": 10**3, "万": 10**4, "百万": 10**6, "千万": 10**7, "亿": 10**8, "万亿": 10**12}
_MAGNITUDES |= {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_DESCRIBED = re.compile(
    r"(?:(?:measured|timed|warm|cold|warm-?up|independent|repeated|total|concurrent|parallel|successful|failed|completed|diagnostic|output|input"
    r"|generated|prompt|discarded|recorded|valid|separate|distinct|consecutive|identical|full|raw|video|audio|decode|prefill|new|paired|worker|server"
    r"|client|benchmark|test|client-side)[ \n]){1,2}+(?=[A-Za-z])",
    re.IGNORECASE,
)
_BEFORE_DIGIT = re.compile(r"[ \u00a0]?[0-9]")
_COMPARED = re.compile(
    r"[ \n](?:as|the|faster|slower|higher|lower|more|less|larger|smaller|better|longer|shorter|greater|fewer|speed)", re.IGNORECASE
)


@lru_cache(maxsize=1024)
def per(unit: Unit, other: Unit) -> Unit:
    """The compound `unit/other`."""
    return Unit(f"{unit.name}/{other.name}", f"{unit.family}/{other.family}", unit.factor / other.factor)


@lru_cache(maxsize=256)
def _times(unit: Unit, factor: int, name: str) -> Unit:
    return Unit(f"{name} {unit.name}", unit.family, unit.factor * factor)


def comparable(a: Unit | None, b: Unit | None) -> bool:
    """True when the two measure the same thing, so that values convert. No unit goes with a bare multiplier (k, 万) and with no unit only."""
    left, right = (a.family if a else "number"), (b.family if b else "number")
    return left == right or _any_count(left, right) or _any_count(right, left)


def _any_count(wild: str, other: str) -> bool:
    if wild == ANY:
        return other in COUNTS
    return wild == "*/time" and other.endswith("/time") and other.removesuffix("/time") in COUNTS


# ---------------------------------------------------------------- in prose


def unit_at(text: str, at: int) -> tuple[Unit, int] | None:
    """The unit that follows a number which ends at `at`, and where the unit ends. None where there is none, or what follows makes it a name."""
    magnitude = _MAGNITUDE.match(text, at) if text[at : at + 1] in _MAGNITUDE_STARTS else None
    if magnitude is None:
        return _unit_at(text, at)
    word = magnitude[0].strip(" \u00a0-").lower()
    found = _unit_at(text, magnitude.end()) or _compound(text, magnitude.end(), None)
    if found is None and magnitude["spaced"]:
        return _unit_at(text, at)
    if found is None:
        return Unit(magnitude[0].strip(" \u00a0-"), "number", Fraction(_MAGNITUDES[word])), magnitude.end()
    return _times(found[0], _MAGNITUDES[word], magnitude[0].strip(" \u00a0-")), found[1]


_MAGNITUDE_STARTS = frozenset("kKM千百万亿 \u00a0-")


def _unit_at(text: str, at: int) -> tuple[Unit, int] | None:
    first = text[at : at + 1]
    if first == "/":
        return _compound(text, at, None)
    if first == "-":
        return _hyphenated(text, at)
    gap = _GAP.match(text, at)
    start = gap.end() if gap else at
    found = _atom(text, start, glued=start == at)
    if found is None and start > at:
        described = _DESCRIBED.match(text, start)
        found = _atom(text, described.end(), glued=False) if described else None
        found = found if found and found[0].family in COUNTS else None
    return _compound(text, found[1], found[0]) if found else None


def _hyphenated(text: str, at: int) -> tuple[Unit, int] | None:
    """`15-second`, `50-step`, `5-ms`; not `8-bit`, not `15-s-baseline`."""
    found = _atom(text, at + 1, glued=False)
    if found is None or text[found[1] : found[1] + 1] in {"-", "/", "."} or text[at + 1 : at + 2].isupper():
        return None
    return found if found[0].family != "factor" or text.startswith("fold", at + 1) else None


def _atom(text: str, at: int, glued: bool) -> tuple[Unit, int] | None:
    """One unit without denominator at exactly `at`."""
    first = text[at : at + 1]
    if not first or first in _NEVER:
        return None
    if first in "pP%":
        points = _POINTS.match(text, at)
        if points:
            return SPELLINGS["%" if points[0][-4:].lower() == "cent" else "pp"], points.end()
    if first in _SYMBOLS:
        if first == "×" and (_BEFORE_DIGIT.match(text, at + 1) or text[at + 1 : at + 2].isalpha()):
            return None
        return SPELLINGS[first], at + 1
    if not first.isascii() and first not in "°µμ":
        return _chinese(text, at)
    match = _WORD.match(text, at)
    return _word(text, match, glued) if match else None


_SYMBOLS = frozenset("%％‰×℃℉")
_NEVER = frozenset(".,;:!?()[]{}<>|\"'`*=+~≈→。，；：、（）")


def _chinese(text: str, at: int) -> tuple[Unit, int] | None:
    """`个` and `条` alone count what is not named; nouns of one sign that begin other words (行为, 字节, 核心) count only at a word's end."""
    match = _CJK.match(text, at)
    if not match or (match[0] in _BEGINS_WORDS and "\u4e00" <= text[match.end() : match.end() + 1] <= "\u9fff"):
        return None
    return SPELLINGS[match[0]], match.end()


_BEGINS_WORDS = frozenset("行字卡路核层批周伏焦瓦赫")


def _word(text: str, match: re.Match[str], glued: bool) -> tuple[Unit, int] | None:
    name, end = match[0], match.end()
    unit = SPELLINGS.get(name) or (FOLDED.get(name.lower()) if len(name) > 1 else None)
    if unit is None or name in _NOT_IN_PROSE:
        return None
    if unit.family == "factor" and (_BEFORE_DIGIT.match(text, end) or (text[end : end + 1] == " " and text[end + 1 : end + 2].isupper())):
        return None  # `3 x 5`, `4x A100`, `2 x Ascend`
    if glued and name == "B" and text[end : end + 1] != "/":
        return None  # 7B is the size of a model
    if name == "times" and _COMPARED.match(text, end):
        return SPELLINGS["×"], end
    return unit, end


def _compound(text: str, at: int, unit: Unit | None) -> tuple[Unit, int] | None:
    """`unit` with the denominators that follow at `at` (at most two): `/s`, ` per second`, `每秒`. Without `unit`, a count of what is not named."""
    for _ in range(2):
        sign = _PER.match(text, at)
        name = _DENOMINATOR.match(text, sign.end()) if sign else None
        below = _denominator(text, name) if name else None
        if below is None:
            break
        unit, at = per(unit or Unit("", ANY, Fraction(1)), below[0]), below[1]
    return (unit, at) if unit else None


def _denominator(text: str, name: re.Match[str]) -> tuple[Unit, int] | None:
    if not name[0].isascii() and name[0] not in "µs μs":
        return _chinese(text, name.start())
    unit = SPELLINGS.get(name[0]) or FOLDED.get(name[0].lower()) or DENOMINATORS.get(name[0].lower())
    if unit is None or unit.family in {"factor", "percent", "percentage-points", "decibel"}:
        return None
    return unit, name.end()


@lru_cache(maxsize=4096)
def unit(text: str) -> Unit | None:
    """The unit that `text` as a whole spells (`ms`, `MB/s`, `tokens per second`, `帧/秒`), as in a `"unit"` field; None where it is none."""
    text = text.strip().strip("()[]（）")
    if not text or len(text) > 40:
        return None
    if text.lower() in {"pct", "percent", "percentage"}:
        return SPELLINGS["%"]
    found = unit_at(text, 0)
    if found is None and text == "B":
        return SPELLINGS["B"]
    return found[0] if found and found[1] == len(text) and found[0].family != "number" else None
