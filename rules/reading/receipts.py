"""What a file of a bundle's results is: a receipt, a status, a plan, a preflight, a diagnostic; of which arm; completed or not.

The arm is read from fields first (`arm: candidate`, `{"control": …, "candidate": …}`), then from the revision that the run spec gives an arm,
then from the file's name and folder. What none of them says stays unknown: no arm is guessed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rules.core.model import Missing, Snapshot, Tree
from rules.reading.documents import LINES_SUFFIXES, YAML_SUFFIXES, Node, Number, document, is_document, nodes, number, read_json, read_yaml, walk
from rules.reading.keys import family, words
from rules.reading.layout import Bundle
from rules.reading.references import ZH_REVISION_KEY

Arm = Literal["baseline", "candidate"]
Kind = Literal["receipt", "status", "plan", "preflight", "diagnostic", "manifest", "text"]
State = Literal["completed", "pending", "running", "interrupted", "unknown"]

NODES = 20_000
"""Places of one document that are looked at to tell its arm."""
ARM_DEPTH = 4
"""An object under an arm's name is looked into at this depth at most, so that nested ones are not walked again and again."""
LINES_BYTES = 4 * 1024 * 1024
_PLAIN_NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?\Z")
_RAW_SUFFIXES = (".csv", ".tsv", ".log", ".txt", ".out", *LINES_SUFFIXES)

_BASELINE = family(
    "baseline baselines control controls ctrl reference ref original stock vanilla unmodified unpatched 基线 基准 对照 参考 原始 原版 未修改"
)
_BASELINE_VALUES = _BASELINE | family("base default upstream before old off unoptimized unoptimised")
_CANDIDATE = family(
    "candidate candidates cand treatment treatments treated variant variants optimized optimised patched challenger contender "
    "screen screens screening sweep 候选 优化 处理 改进 优化后 试验"
)
_CANDIDATE_VALUES = _CANDIDATE | family("experiment experimental proposed tuned modified after new on opt fast")
_CHINESE = (("baseline", ("对照", "基线", "基准", "参考", "原始", "原版")), ("candidate", ("候选", "优化", "处理组", "实验组", "试验组", "改进")))
_ARM_KEYS = family("arm arms variant cohort treatment 组 组别 分组 臂 变体")
_WEAK_ARM_KEYS = family("label role group side run name case kind configuration id run_id 标签 角色 名称")
_NEUTRAL = family("warmup all both summary a b ab abba none unknown tbd na null n mixed pair paired comparison total")

_LABELS = family("label side group role 标签 角色")
_NO_ARM = family("run session day night repeat trial warmup cold hot retry attempt rerun smoke check")
_STATE_KEYS = family("state status execution phase progress lifecycle_state 状态 进度 执行")
_PENDING = re.compile(
    r"\b(?:queued?|pending|planned|not[ _-](?:yet[ _-])?(?:run|started|executed|measured|begun)|un(?:started|measured)|waiting|scheduled|reserved|"
    r"to[ _-]do|todo|draft|prospective|prepared|proposed|blocked)\b|排队|待运行|待执行|待测|计划中|未运行|未开始|未执行|尚未|等待",
    re.IGNORECASE,
)
_RUNNING = re.compile(r"\b(?:running|in[ _-]progress|ongoing|started|executing)\b|运行中|进行中|执行中", re.IGNORECASE)
_INTERRUPTED = re.compile(r"\b(?:interrupted|aborted|cancell?ed|killed|stopped)\b|中断|中止|取消", re.IGNORECASE)
_DONE = re.compile(
    r"\b(?:completed?|done|finished|ok|success(?:ful)?|succeeded|passed|pass|failed|fail|rejected|accepted|measured|executed|ran)\b|完成|成功|失败|通过",
    re.IGNORECASE,
)
_OUTCOME_KEYS = family("verdict outcome result results adjudication exit observed exact equal passed http 结论 结果 判定 通过")
_MEASURED = family(
    "s ms us ns sec secs second seconds minute minutes latency latencies throughput median mean avg average min max samples sample status exit score "
    "rate loss accuracy psnr ssim vmaf rps qps tps rtf speedup reduction gain elapsed observed measured time times value values bytes gib mib memory "
    "ratio cost count error errors p 耗时 延迟 吞吐 中位数 均值 平均 秒 毫秒 采样 样本"
)
_NO_OUTCOME = family("timeout duration limit budget interval port seed warmups repetitions threads size batch age 超时 时限")
_SETTINGS = family(
    "config configuration settings parameters params workload limits expected planned plan spec environment inputs 配置 参数 设置 计划"
)

_KIND_WORDS: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("manifest", family("integrity manifest manifests sha checksum checksums sums digests hashes 清单 校验和")),
    ("status", family("status 状态")),
    ("plan", family("plan planned prospective proposal proposed todo runspec 计划 方案 提案")),
    ("preflight", family("preflight smoke dryrun 预检 预飞")),
    ("diagnostic", family("diagnostic diagnostics trace traced traces profile profiled profiling debug 诊断 跟踪 剖析")),
)


@dataclass(frozen=True, slots=True)
class Names:
    """What a bundle calls its arms: names (lower case) and revisions of baseline and candidates, beside the usual words."""

    baseline: frozenset[str] = frozenset()
    candidate: frozenset[str] = frozenset()

    def arm(self, text: str) -> Arm | None:
        """The arm that a name or revision stands for; None where it stands for none, or for both."""
        key = text.strip().lower()
        for arm, known in (("candidate", self.candidate), ("baseline", self.baseline)):
            other = self.baseline if arm == "candidate" else self.candidate
            if key in known and key not in other:
                return arm  # type: ignore[return-value]
        return None


@dataclass(frozen=True, slots=True)
class Receipt:
    """One file of the results. `arms` holds the arms it has an outcome of; empty where nothing says which. `named` is the value of its arm field."""

    path: str
    kind: Kind
    arms: frozenset[Arm]
    state: State
    measured: bool
    named: tuple[str, ...] = ()

    @property
    def completed(self) -> bool:
        """True for an outcome: measured or judged, and neither waiting nor running."""
        return self.kind in ("receipt", "diagnostic") and self.state == "completed"

    @property
    def is_candidate_result(self) -> bool:
        """True for a completed outcome of a candidate: no plan, no status, no preflight, no diagnostic, no baseline."""
        return self.kind == "receipt" and self.state in ("completed", "interrupted") and "candidate" in self.arms


def receipts(snapshot: Snapshot, bundle: Bundle, tree: Tree | None = None) -> tuple[Receipt, ...]:
    """Every file of the bundle's results at `tree` (default head), as what it is, in order of path."""
    tree = tree or snapshot.head
    names = arm_names(snapshot, bundle)
    return snapshot.memo(("receipts", id(tree), bundle.path), lambda: tuple(_of_tree(snapshot, bundle, tree, names)))


def _of_tree(snapshot: Snapshot, bundle: Bundle, tree: Tree, names: Names) -> Iterator[Receipt]:
    for path in results_files(bundle, tree):
        value = _value(snapshot, path, tree)
        if value is not None:
            yield read_receipt(bundle.relative(path), path, value, names)


def results_files(bundle: Bundle, tree: Tree) -> Iterator[str]:
    """The plain files of `tree` under the bundle's results that may hold an outcome."""
    lead = f"{bundle.path}/{bundle.root.results}/"
    known = bundle.files if all(path in tree.files for path in bundle.files) else sorted(p for p in tree.files if p.startswith(lead))
    for path in known:
        if path.startswith(lead) and tree.files[path].is_file and may_hold_outcome(path):
            yield path


def may_hold_outcome(path: str) -> bool:
    """True for a name that is read as a receipt: JSON, YAML, JSONL, CSV, logs."""
    return is_document(path) or path.lower().endswith(_RAW_SUFFIXES)


def _value(snapshot: Snapshot, path: str, tree: Tree) -> Any:
    if is_document(path):
        found = document(snapshot, path, tree)
        return found.value if found and found.readable else None
    entry = tree.files[path]
    if not 0 <= entry.size <= LINES_BYTES:
        return None
    try:
        return snapshot.cache.by_blob("raw:" + path.rpartition(".")[2], entry.oid, entry.size * 4, lambda: read_value(path, tree.read(path)))
    except Missing:
        return None


def read_value(path: str, data: bytes) -> Any:
    """What a file of the results holds: a document's value, a list for JSONL and CSV, text for a log; None where it cannot be read."""
    if is_document(path):
        found = read_yaml(data, path) if path.endswith(YAML_SUFFIXES) else read_json(data, path)
        return found.value
    text = data[:LINES_BYTES].decode("utf-8", "replace")
    if path.endswith(LINES_SUFFIXES):
        lines = [read_json(line.encode(), path) for line in text.split("\n")[:NODES] if line.strip()]
        return [line.value for line in lines if line.readable]
    if path.lower().endswith((".csv", ".tsv")):
        return _table(text, "\t" if path.lower().endswith(".tsv") else ",")
    return text


def _table(text: str, delimiter: str) -> list[dict[str, Any]]:
    """One object per row, numbers read as numbers."""
    try:
        rows = list(csv.reader(text.splitlines()[:NODES], delimiter=delimiter))
    except csv.Error:
        return []
    return [dict(zip(rows[0], map(_cell, row), strict=False)) for row in rows[1:]] if rows else []


def _cell(text: str) -> Any:
    return number(text.strip()) if _PLAIN_NUMBER.match(text.strip()) else text


# ---------------------------------------------------------------- one file


def read_receipt(relative: str, path: str, value: Any, names: Names = Names()) -> Receipt:
    """What a file is, from its path inside the bundle and its value as `read_value` gives it."""
    stem = relative.rpartition("/")[2].rpartition(".")[0] or relative
    if isinstance(value, str):
        return Receipt(path, _kind(stem, ()), _arms_of_path(relative, names), "completed" if value.strip() else "unknown", bool(value.strip()))
    held = tuple(_first(walk(value)))
    named, arms = _arms_of_fields(held, names)
    arms = arms or _arms_of_revisions(held, names) or _arms_of_path(relative, names)
    measured = any(is_measured(node) for node in held)
    state = _state(held, measured)
    kind = _kind(stem, held)
    if kind == "plan" and measured and state != "pending":
        kind = "receipt"  # the plan of a query is measured, the plan of a run is not
    elif kind == "receipt" and state == "pending" and not measured:
        kind = "plan"
    return Receipt(path, kind, arms, state, measured, named)


def _first(places: Iterable[Node]) -> Iterator[Node]:
    for count, node in enumerate(places):
        if count >= NODES:
            return
        yield node


def _kind(stem: str, nodes: Sequence[Node]) -> Kind:
    """By the file's name; then by what a field of the document's top calls it."""
    said = [stem] + [n.value for n in nodes if len(n.path) == 1 and n.path[0] in ("kind", "type", "record", "label") and isinstance(n.value, str)]
    for text in said:
        held = frozenset(words(text))
        found = next((kind for kind, known in _KIND_WORDS if known & held), None)
        if found:
            return found
    traced = any(n.value is True and {"traced", "diagnostic", "profiled"} & set(words(n.key)) and len(n.path) == 1 for n in nodes)
    return "diagnostic" if traced else "receipt"


def is_measured(node: Node) -> bool:
    """True for a number, or a list of numbers, under a key that names an outcome, outside settings."""
    if not isinstance(node.value, (Number, list)) or (isinstance(node.value, list) and not (node.value and isinstance(node.value[0], Number))):
        return False
    held = set(words(node.key))
    return (
        bool(held & _MEASURED)
        and not held & _NO_OUTCOME
        and not any(_SETTINGS & set(words(part)) for part in node.path[:-1] if isinstance(part, str))
    )


def _state(nodes: Sequence[Node], measured: bool) -> State:
    """What the document's own state fields say; else completed where it holds an outcome."""
    texts = [n.value for n in nodes if isinstance(n.value, str) and len(n.path) <= 2 and _STATE_KEYS & set(words(n.key)) and len(n.value) < 500]
    for pattern, state in ((_PENDING, "pending"), (_RUNNING, "running"), (_INTERRUPTED, "interrupted"), (_DONE, "completed")):
        if any(pattern.search(text) for text in texts):
            return "completed" if measured and state == "running" and _has_end(nodes) else state  # type: ignore[return-value]
    judged = any(_OUTCOME_KEYS & set(words(n.key)) and isinstance(n.value, (str, bool, Number)) and n.value != "" for n in nodes if n.path)
    return "completed" if measured or judged else "unknown"


def _has_end(nodes: Sequence[Node]) -> bool:
    return any({"finished", "ended", "completed"} & set(words(n.key)) and isinstance(n.value, str) for n in nodes)


# ---------------------------------------------------------------- arms


def arm_of_text(text: str, names: Names, *, value: bool = True) -> frozenset[Arm]:
    """The arms that a name speaks of. `value`: the text is the value of an arm's field, where also weaker words (`new`, `default`) tell."""
    exact = names.arm(text)
    if exact:
        return frozenset({exact})
    held = set(words(text))
    found: set[Arm] = set()
    if held & (_BASELINE_VALUES if value else _BASELINE):
        found.add("baseline")
    if held & (_CANDIDATE_VALUES if value else _CANDIDATE):
        found.add("candidate")
    for arm, known in _CHINESE:
        if any(word in text for word in known):
            found.add(arm)  # type: ignore[arg-type]
    return frozenset(found)


def _arms_of_fields(nodes: Sequence[Node], names: Names) -> tuple[tuple[str, ...], frozenset[Arm]]:
    named, strong, weak = [], set[Arm](), set[Arm]()
    for node in nodes:
        key = node.path[-1] if node.path else None
        if not isinstance(key, str):
            continue
        held = words(key)
        if isinstance(node.value, str) and held and _is_arm_key(held):
            named.append(node.value)
            strong |= arm_of_text(node.value, names)
        elif isinstance(node.value, str) and set(held) & _WEAK_ARM_KEYS and _stands_for_a_run(node):
            weak |= arm_of_text(node.value, names, value=False)
        else:
            strong |= _arm_as_key(node, held, key)
    return tuple(named), frozenset(strong or weak)


def _is_arm_key(held: tuple[str, ...]) -> bool:
    return held[-1] in _ARM_KEYS or (held[0] in _ARM_KEYS and held[-1] in {"name", "id", "label"})


def _stands_for_a_run(node: Node) -> bool:
    """At the document's top, or in an element of a list: there a label names the run itself."""
    return len(node.path) == 1 or (len(node.path) >= 2 and isinstance(node.path[-2], int))


def _arm_as_key(node: Node, held: tuple[str, ...], key: str) -> frozenset[Arm]:
    """`{"candidate": {… measured …}}`, `candidate_s: 365.884`, `candidate: two-level`."""
    found = arm_of_text(key, Names(), value=False)
    if len(found) != 1 or set(held) & (_SETTINGS | _SOURCE_WORDS):
        return frozenset()
    if isinstance(node.value, str):
        return found if len(held) == 1 and found == {"candidate"} and _is_choice(node.value) else frozenset()
    if isinstance(node.value, dict):
        return found if len(node.path) <= ARM_DEPTH and any(is_measured(inner) for inner in _first(walk(node.value, node.path))) else frozenset()
    return found if is_measured(node) or (len(held) == 1 and isinstance(node.value, (Number, list)) and bool(node.value)) else frozenset()


def _is_choice(text: str) -> bool:
    return not re.search(r"\b(?:un(?:selected|decided|known)|none|tbd|n/?a|pending|not)\b|待定|未选|无", text, re.IGNORECASE) and 0 < len(text) < 200


def _arms_of_revisions(nodes: Sequence[Node], names: Names) -> frozenset[Arm]:
    found = {names.arm(sha) for _, sha in source_revisions(nodes)}
    return frozenset(arm for arm in found if arm) if None not in found else frozenset()


def _arms_of_path(relative: str, names: Names) -> frozenset[Arm]:
    """By the file's name; where that says nothing by its folders, the nearest first."""
    for part in reversed(relative.split("/")[1:]):
        stem = part.rpartition(".")[0] or part
        found = arm_of_text(stem, names, value=False)
        if found:
            return found
    return frozenset()


def arm_names(snapshot: Snapshot, bundle: Bundle) -> Names:
    """What the plan's documents and the receipts' own arm fields at head call the arms."""
    return snapshot.memo(("arm names", bundle.path), lambda: _arm_names(snapshot, bundle))


def _arm_names(snapshot: Snapshot, bundle: Bundle) -> Names:
    baseline, candidate = set[str](), set[str]()
    for path in bundle.part("plan"):
        for node in _first(nodes(snapshot, path)) if is_document(path) else ():
            target = _named_by_plan(node)
            if target:
                (baseline if target[0] == "baseline" else candidate).update(target[1])
    known = Names(frozenset(baseline), frozenset(candidate))
    return Names(known.baseline, known.candidate | _other_arms(snapshot, bundle, known))


def _named_by_plan(node: Node) -> tuple[Arm, set[str]] | None:
    """A name or a revision that the plan gives to an arm: under `baseline`/`candidates`, or beside a name or role that says which."""
    if not isinstance(node.value, str) or not node.path or not 0 < len(node.value.strip()) <= 80:
        return None
    held = set(words(node.key))
    is_name = bool(held & family("name id label arm variant revision commit sha rev 名称")) or isinstance(node.path[-1], int)
    above = " ".join(part for part in node.path if isinstance(part, str))
    said = arm_of_text(above, Names(), value=False)
    if not said and isinstance(node.parent, dict):
        roles = [v for k, v in node.parent.items() if isinstance(v, str) and set(words(k)) & family("name role arm kind label variant 角色 名称")]
        said = frozenset(arm for role in roles for arm in arm_of_text(role, Names()))
    if len(said) != 1 or not (is_name or arm_of_text(str(node.path[-1]), Names(), value=False)):
        return None
    return next(iter(said)), {node.value.strip().lower()}


def _other_arms(snapshot: Snapshot, bundle: Bundle, known: Names) -> frozenset[str]:
    """Arms that the receipts name and that are not the baseline, where one of the receipts is the baseline's."""
    named = [n for path in results_files(bundle, snapshot.head) if is_document(path) for n in _named(snapshot, path)]
    told = [(text, arm_of_text(text, known)) for text in dict.fromkeys(named) if not set(words(text)) & _NO_ARM]
    if not any(arms == {"baseline"} for _, arms in told):
        return frozenset()
    return frozenset(t.strip().lower() for t, arms in told if not arms and not set(words(t)) <= _NEUTRAL and _is_choice(t))


def _named(snapshot: Snapshot, path: str) -> list[str]:
    """The values of a document's arm fields; where it has none, its top's label."""
    held = tuple(_first(nodes(snapshot, path)))
    labels = [n.value for n in held if len(n.path) == 1 and n.key.lower() in _LABELS and isinstance(n.value, str) and _is_name(n.value)]
    return list(_arms_of_fields(held, Names())[0]) or labels


def _is_name(text: str) -> bool:
    """Three words at most, without a number: `tiered`, `two-level table`, not `session 2`."""
    return 0 < len(words(text)) <= 3 and not any(word.isdigit() for word in words(text))


# ---------------------------------------------------------------- source revisions

_SOURCE_WORDS = family("revision revisions commit commits sha rev head 版本 提交 修订")
_FOREIGN = family(
    "dataset datasets data corpus suite harness bench benchmark model weights checkpoint tokenizer image docker container driver firmware toolkit "
    "evidence record manifest schema validator judge scorer tool tools parent prompt prompts fixture fixtures reviewed report cann cuda sdk "
    "compiler toolchain site docs tree blob 数据 数据集 模型 权重 镜像 工具"
)
_FOREIGN_ZH = re.compile(r"数据|模型|权重|镜像|工具|脚本|测试框架|校验|清单|文档")
_REVISION = re.compile(r"[0-9a-fA-F]{7,40}\Z")


def source_revisions(nodes: Iterable[Node]) -> Iterator[tuple[Node, str]]:
    """(place, lower-case hex) of every revision a document says its outcome was made with; those of data sets, models, harnesses… are left out."""
    for node in nodes:
        if not isinstance(node.value, str) or not _REVISION.match(node.value.strip()) or not node.path:
            continue
        said = {word for part in node.path for word in (words(part) if isinstance(part, str) else ())}
        if (
            (set(words(node.key)) & _SOURCE_WORDS or ZH_REVISION_KEY.search(node.key))
            and not _FOREIGN_ZH.search(node.pointer)
            and not said & (_FOREIGN | {"256"})
            and not _is_other_object(node)
        ):
            yield node, node.value.strip().lower()


def _is_other_object(node: Node) -> bool:
    """The object beside it says that it is a data set, a harness, …: `{"kind": "dataset", "revision": …}`."""
    if not isinstance(node.parent, dict) or len(node.path) < 2:
        return False
    beside = (v for k, v in node.parent.items() if k in ("name", "kind", "type", "role", "what") and isinstance(v, str))
    return any(set(words(text)) & _FOREIGN for text in beside)
