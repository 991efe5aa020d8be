"""Places of a bundle's records: which files hold outcomes, which keys hold targets or claims instead, and the unit that a place declares."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from rules.core.model import Tree
from rules.reading.documents import LINES_SUFFIXES, Path, is_document
from rules.reading.keys import family, words
from rules.reading.layout import Bundle
from rules.reading.unit_keys import unit_of_key
from rules.reading.units import COUNTS, Unit
from rules.reading.units import unit as unit_named

TABLE_SUFFIXES = (".csv", ".tsv")
LOG_SUFFIXES = (".log", ".txt", ".out", ".err", ".stdout", ".stderr")
_COMPRESSED = re.compile(r"\.(?:json|jsonl|ndjson|csv|tsv|log|txt|out|tar)\.(?:gz|xz|zst|bz2|7z)\Z|\.(?:tgz|zip)\Z", re.IGNORECASE)
_PLAN_NAMES = family(
    "plan planned prospective proposal proposed todo runspec spec protocol acceptance gate gates target targets goal goals criteria threshold thresholds config "
    "configuration settings budget 计划 方案 目标 验收 门禁 配置"
)
_NOT_PLAN_NAMES = family("result results summary measurement measurements measured report outcome outcomes receipt evaluation judged 结果 实测")
# A value under such a key was chosen or promised, not measured.
_TARGETS = family(
    "target targets goal goals limit limits threshold thresholds budget budgets expected required requirement requirements criterion criteria tolerance timeout "
    "timeouts deadline claim claims claimed quota allowed atleast atmost sla slo nominal rated spec peak_spec theoretical vendor datasheet 目标 阈值 上限 下限 门限 预期 预算 声称"
)
_CHINESE_TARGETS = ("目标", "阈值", "上限", "下限", "门限", "预期", "预算", "声称", "超时")
_OBSERVED = family("observed measured actual result value achieved 实测 观测 实际")
_MEASURED_IN_PLAN = family(
    "baseline baselines control measured observed reference prior previous earlier historical recorded 基线 基准 对照 实测 参考"
)
_OTHER_MEASURE = family(
    "throughput latency time elapsed duration rate memory rss power energy bandwidth utilization utilisation util accuracy loss score count tokens frames requests "
    "size bytes speedup ratio percent pct fps qps rps tps temperature 吞吐 延迟 时延 耗时 内存 显存 功耗 带宽 利用率 精度 得分"
)
_UNIT_KEYS = ("unit", "units", "time_unit", "timeUnit", "measure_unit", "uom", "单位")


def record_files(bundle: Bundle, tree: Tree) -> tuple[str, ...]:
    """The bundle's files at `tree` that are read as records: JSON, YAML, JSONL, CSV, TSV, logs; small ones first."""
    lead = bundle.path + "/"
    known = bundle.files if all(path in tree.files for path in bundle.files) else [path for path in tree.files if path.startswith(lead)]
    kept = [path for path in known if tree.files[path].is_file and is_record(path)]
    return tuple(sorted(kept, key=lambda path: (tree.files[path].size, path)))


def is_record(path: str) -> bool:
    """True for a name that is read as a record."""
    name = path.lower()
    return is_document(path) or (name.endswith((*LINES_SUFFIXES, *TABLE_SUFFIXES, *LOG_SUFFIXES)) and not name.rpartition("/")[2].startswith("._"))


def compressed_records(bundle: Bundle) -> tuple[str, ...]:
    """Committed records that are compressed and therefore not read."""
    return tuple(path for path in bundle.files if _COMPRESSED.search(path))


def is_plan(bundle: Bundle, path: str) -> bool:
    """True for a file that sets rather than measures: under the plan or the validator, or named so."""
    inside = bundle.relative(path)
    folder = inside.partition("/")[0]
    if folder in (bundle.root.plan, bundle.root.validator) or path in bundle.part("validator"):
        return True
    held = set(words(inside.rpartition("/")[2].rpartition(".")[0]))
    return bool(held & _PLAN_NAMES) and not held & _NOT_PLAN_NAMES


def is_measured_place(path: Path, plan: bool) -> bool:
    """False under keys of targets, limits, claims; in a plan only what a key calls a baseline or measured counts."""
    names = [part for part in path if isinstance(part, str)]
    said = [set(words(name)) for name in names]
    if plan and not any(held & _MEASURED_IN_PLAN for held in said):
        return False
    if not said:
        return True
    own = said[-1] & _OBSERVED and not said[-1] & _TARGETS
    return not any(_is_target(name, held) for name, held in zip(names[-1:] if own else names, said[-1:] if own else said, strict=True))


def _is_target(name: str, held: set[str]) -> bool:
    pairs = {("at", "least"), ("at", "most"), ("no", "more"), ("max", "allowed"), ("min", "required")}
    ordered = words(name)
    return bool(held & _TARGETS) or any(word in name for word in _CHINESE_TARGETS) or any(pair in pairs for pair in pairwise(ordered))


def declared_unit(root: Any, path: Path) -> tuple[Unit | None, bool]:
    """The unit that a place of a document declares: by its key, a `unit` beside it, or the keys around it; and whether it is to be relied on.

    A unit of an outer key is not relied on where the place's own key names another measure (`latency_ms: {"throughput": …}`).
    """
    found: Unit | None = None
    near = True
    for part in path:
        if isinstance(part, str):
            own = unit_of_part(root, part)
            counts = own is not None and own.family in COUNTS and found is not None  # `latency_ms: {"samples": […]}`
            near = (own is not None and not counts) or (near and not counts and not set(words(part)) & _OTHER_MEASURE)
            found = own if own and not counts else found
        root = root[part]
    return found, near


def unit_of_part(held: Any, key: str) -> Unit | None:
    """The unit that `key` of the object `held` declares, or a `unit` beside it; a measure beside it outranks a count in the key (`samples`)."""
    own = unit_of_key(key)
    if own is None or own.family in COUNTS:
        return _sibling(held, key) or own
    return own


def _sibling(held: dict[str, Any], key: str) -> Unit | None:
    for name in (f"{key}_unit", f"{key}Unit", f"{key}_units", f"{key}单位", *_UNIT_KEYS):
        said = held.get(name)
        if isinstance(said, dict):
            said = said.get(key)
        if isinstance(said, str):
            return unit_named(said)
    return None
