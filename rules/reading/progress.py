"""Where a text or a status document says that nothing was run yet, and of which arm, device count or part it says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rules.core.model import Missing, Snapshot
from rules.reading.documents import Node, Number, document, walk
from rules.reading.keys import family, words
from rules.reading.layout import Bundle
from rules.reading.receipts import Receipt, receipts
from rules.reading.statements import Statement

NUMBERS = {
    word: number
    for number, group in enumerate(
        [
            "zero",
            "one single 一 单",
            "two dual 二 两 双",
            "three 三",
            "four quad 四",
            "five 五",
            "six 六",
            "seven 七",
            "eight octo 八",
            "nine 九",
            "ten 十",
        ]
    )
    for word in group.split()
} | {"twelve": 12, "sixteen": 16, "thirty": 30, "thirtytwo": 32, "sixtyfour": 64, "十六": 16}
_DEVICE = (
    r"(?:logical |physical |local )?(?:devices?|cards?|gpus?|npus?|tpus?|chips?|boards?|ranks?|nodes?|hosts?|machines?|ways?|accelerators?|phones?)"
)
_DEVICES = re.compile(
    rf"(?<![A-Za-z0-9])(?P<n>\d{{1,4}}|{'|'.join(sorted((w for w in NUMBERS if w.isascii()), key=len, reverse=True))})[\s_-]{{0,2}}(?:x[\s_-]?)?(?:{_DEVICE.replace(' ', '[ _-]')})(?![A-Za-z])"
    rf"|(?P<zh>\d{{1,4}}|{'|'.join(w for w in NUMBERS if not w.isascii())})\s?(?:张|个|块|台)?(?:卡|设备|节点|机|芯片)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a denial is about. `arm` is baseline or candidate, `devices` a device count, `phrases` other words (letters and digits only)."""

    arm: str | None = None
    devices: int | None = None
    phrases: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Denial:
    """One clause that says nothing was run. `start` is its offset in the statement."""

    statement: Statement
    text: str
    scope: Scope


# ---------------------------------------------------------------- prose

_NOUN = r"(?:results?|runs?|executions?|samples?|measurements?|receipts?|requests?|experiments?|trials?|search(?:es)?|screens?|screenings?|benchmarks?|timings?|observations?|evaluations?|candidates?|data(?: points?)?|repetitions?|sweeps?|arms?)"
_PLAIN = family(
    "new execution measured measurement measurements actual single benchmark run real recorded committed hardware experimental any device on npu gpu the a an of raw candidate candidates baseline control "
    "search screen timing performance e2e latency sample test published"
)
_OTHERWISE = family(
    "qualified qualifying paired accepted acceptable validated verified independent independently reproducible reproduced final passing positive favourable favorable speedup gain improvement faster "
    "lossless quality further additional more other extra second failed failing rejected invalid missing duplicate external public significant conclusive clean valid usable official promoted matched "
    "complete completed successful successfully satisfactory exact better such similar comparable steady tail aggregate excluded discarded hidden lost unexpected open"
)
_LINK = r"(?:\s+(?:yet|so far|to date|at all|currently|until now))?"
_DONE = r"(?:run|ran|recorded|measured|collected|executed|made|taken|committed|published|completed|performed|obtained|produced|gathered|begun|began|started|available|done|conducted|attempted|launched|tested|seen|reported)"
_TAIL = rf"\s*(?:\Z|[.,;:)/]|(?:yet|so far|to date|at all)\b|exists?\b|(?:has|have)(?: yet)?(?: been)?{_LINK} {_DONE}\b|(?:is|are|was|were)(?: yet)?{_LINK} {_DONE}\b|{_DONE}\b|or\b|and\b|nor\b|on\b|at\b|for\b|under\b|in\b|with\b)"
_NO = re.compile(
    rf"(?<![A-Za-z-])(?:no|zero|0|without any)\s+(?P<mod>(?:[\w.×+-]{{1,30}}\s+){{0,5}}?)(?P<noun>{_NOUN})(?![\w-])(?={_TAIL})", re.IGNORECASE
)
_SUBJECT = r"(?:(?:the|this|any|all|its|our)\s+)?(?P<subject>(?:[\w-]{1,20}\s+){0,3}(?:campaign|execution|search|searches|measurements?|measuring|benchmark(?:ing|s)?|runs?|experiments?|candidates?|sweeps?|screens?|screening|work|it|testing|evaluation|trials?))"
_NOT = re.compile(
    rf"(?<![A-Za-z-]){_SUBJECT}\s+(?:(?:(?:has|have|is|are|was|were|did|does|do)\s+)?(?:still\s+)?(?:not|n['’]t|yet to|never)(?:\s+yet)?(?:\s+been)?\s*(?:{_DONE}|start|begin|run)"
    rf"|(?:is|are|remains?|stays?|still)\s+(?:still\s+)?(?:queued|pending|waiting|scheduled|not started|unstarted|in the queue|awaiting))\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    rf"(?<![A-Za-z-])(?:(?:we|i|they)\s+(?:have|has|did)(?:\s+not|n['’]t)|(?:nobody|no one)\s+has)(?:\s+yet)?\s+(?:{_DONE}|start|begin|run|measure)(?=\s+(?:anything|any |a single|the (?:campaign|search|benchmark))|\W*\Z)"
    rf"|(?<![A-Za-z-])(?:nothing|none)(?:\s+of\s+[\w ]{{1,30}})?\s+(?:(?:has|have|was|were|is)\s+)?(?:yet\s+)?(?:been\s+)?{_DONE}\b|\A\W*(?:not (?:yet )?(?:started|run|executed|measured|begun)|queued|unstarted)\W*\Z",
    re.IGNORECASE,
)
_QUEUED = re.compile(
    r"(?:\A|[:：,]\s?)(?:execution (?:is )?|status (?:is )?|campaign (?:is )?|still )?(?:queued|in the queue|not (?:yet )?started|not yet run)\b(?=\W*\Z|[,;])",
    re.IGNORECASE,
)
_ZH = re.compile(
    r"(?:尚无|暂无|还没有|没有|并无|未有|(?<![有所])无)(?:任何|新的?|实际|可用)?(?P<mod>[^，。；,;]{0,8}?)(?:执行|测量|实测|运行|测试|评测|候选|搜索|基准)?(?:的)?(?:结果|样本|数据|运行|执行|测量|回执|收据|搜索|实验|记录)(?!.{0,6}(?:合格|通过|显著|优于|达标|更优))"
    r"|(?P<who>[^，。；,;]{0,12}?)(?:搜索|执行|运行|测量|实验|测试|评测|活动|基准)?(?:均|都|仍|还)?(?:尚未|还未|从未|未曾|未)(?:开始|启动|执行|运行|测量|开展|进行|跑)"
    r"|(?:仍在|正在|还在)?排队(?:中|等待)|等待(?:执行|运行|排期|资源|预约)|样本数?(?:为|是|[:：])\s?(?:0|零)(?!\d)"
)
_ZH_OTHERWISE = re.compile(r"优于|超过|快于|合格|有效|通过|达标|显著|成功|失败|更|改善|提升|加速|一致|相同|独立|完整|异常|错误|丢失")
_ARM_WORDS = (
    ("candidate", re.compile(r"\bcandidates?\b|\bsearch(?:es)?\b|\bscreen(?:s|ing)?\b|候选|搜索", re.IGNORECASE)),
    ("baseline", re.compile(r"\bbaselines?\b|\bcontrols?\b|基线|对照|基准", re.IGNORECASE)),
)
_ELSEWHEN = re.compile(
    r"\bat (?:that|the) time\b|\bbefore\b|\bbeforehand\b|\bwhen (?:this|the|it)\b|\bwas (?:written|frozen)\b|当时|之前|此前", re.IGNORECASE
)


def denials(statements: Iterable[Statement]) -> Iterator[Denial]:
    """Every clause that says, now and for itself, that nothing was run, measured or searched yet."""
    for statement in statements:
        for clause in statement.clauses:
            if clause.standing in ("asserted", "planned", "reported") and not _ELSEWHEN.search(clause.text):
                found = _denied(clause.text)
                if found is not None:
                    yield Denial(statement, clause.text, found)


def _denied(text: str) -> Scope | None:
    for match in _NO.finditer(text):
        modifiers = match["mod"].casefold().split()
        if not _blocked(modifiers):
            return _scope(" ".join([*modifiers, match["noun"]]) + text[match.end() :], modifiers)
    for pattern in (_NOT, _NOTHING, _QUEUED):
        found = pattern.search(text)
        if found:
            said = (found.groupdict().get("subject") or "").casefold().split()
            return None if _blocked(said) else _scope(found[0], said[:-1])
    found = _ZH.search(text)
    if found:
        return None if _ZH_OTHERWISE.search(found["mod"] or "") else _scope(found[0], [])
    return None


def _blocked(modifiers: list[str]) -> bool:
    """A modifier that denies a quality ("no qualified result") and not the run itself."""
    return any(part in _OTHERWISE for word in modifiers for part in re.split(r"[^\w]+", word))


def _scope(text: str, modifiers: list[str]) -> Scope:
    arm = next((name for name, pattern in _ARM_WORDS if pattern.search(text)), None)
    devices = devices_in(text)
    rest = _DEVICES.sub(" ", " ".join(modifiers))
    phrases = frozenset(phrase for word in rest.split() if word not in _PLAIN and word not in ("yet", "new") and (phrase := _alnum(word)))
    return Scope(arm, devices, phrases)


def devices_in(text: str) -> int | None:
    """The first device count that `text` names: `four-device`, `8 cards`, 四卡."""
    return next((count for count, _ in device_counts(text)), None)


def device_counts(text: str) -> tuple[tuple[int, int], ...]:
    """(count, offset) of every device count that `text` names."""
    said = [((match["n"] or match["zh"]).casefold(), match.start()) for match in _DEVICES.finditer(text)]
    counts = [(int(word) if word.isascii() and word.isdigit() else NUMBERS.get(word), start) for word, start in said]
    return tuple((count, start) for count, start in counts if count is not None)


def _alnum(text: str) -> str:
    return "".join(re.findall(r"[^\W_]+", text.casefold()))


# ---------------------------------------------------------------- structured fields

_STATE_WORDS = family(
    "execution state status phase stage progress run runs search measurement measurements measuring benchmark campaign screening 状态 执行 进度 阶段 搜索 运行 测量"
)
_WAITS = re.compile(
    r"(?:still )?(?:queued?|in queue|enqueued|not[ _-]?(?:yet[ _-])?(?:started|run|begun|executed|measured)|un(?:started|measured)|planned|scheduled|(?:none|nothing)(?: yet| so far| to date)|尚无|暂无|todo|to[ _-]do|waiting\b.{0,60}|awaiting\b.{0,60}|no runs?|idle|pre-?run|"
    r"排队中?|排队等待|未开始|尚未开始|未执行|尚未执行|未运行|待执行|待运行|计划中|等待.{0,20})",
    re.IGNORECASE,
)
_WAITS_IF_EXECUTION = re.compile(r"(?:pending|none|prepared|preflight(?:[ _-]only)?|ready|reserved|准备中|准备就绪|无)", re.IGNORECASE)
_EXECUTION = family("execution run runs search measurement measurements benchmark screening phase stage progress 执行 运行 搜索 测量 阶段 进度")
_COUNTED = family(
    "samples sample runs run results result measurements measurement receipts requests request executions repetitions trials observations experiments measured executed 样本 样本数 次数 结果 运行 运行数 测量"
)
_NOT_COUNTED = family(
    "failed failures failing failure rejected error errors forced dropped excluded discarded lost retry retries retried warmup warmups missing pending remaining qualified accepted passed passing paired valid "
    "invalid outstanding skipped exit signals interrupted planned required min minimum max limit per target expected outlier outliers aborted timeout timed 失败 拒绝 丢弃 预热 剩余 合格"
)
_PLAIN_KEYS = family(
    "n num number of count counts total completed finished recorded measured executed collected so far all the actual status state execution summary current campaign progress results result samples sample runs run "
    "measurements measurement receipts requests request executions repetitions trials observations experiments phase stage search screening benchmark has is are been started begun ran published committed 数 总数 "
    "样本 样本数 次数 结果 运行 状态 执行 进度 阶段 搜索 测量 已完成 candidate candidates baseline control controls arm arms overview details info entries items report data meta metadata "
    "counters stats statistics totals contract contracts"
)
_BEGUN = family("started executed begun ran measured launched 已开始 已执行")
_NAME_KEYS = ("name", "arm", "id", "candidate", "variant", "screen", "workload", "duration", "label", "device", "model", "case", "名称")
_CAMPAIGN_KEYS = ("campaign", "campaign_id", "campaignId", "campaign-id")


@dataclass(frozen=True, slots=True)
class Field:
    """A place of a status document that says nothing was run."""

    node: Node
    shown: str
    scope: Scope


def idle_fields(value: Any, bundle: str) -> Iterator[Field]:
    """The state, count and flag fields of a status document that say nothing was run; those of another campaign are left out."""
    for node in walk(value):
        shown = _idle(node)
        if shown is not None and not _of_other_campaign(value, node, bundle):
            yield Field(node, shown, _key_scope(value, node))


def _idle(node: Node) -> str | None:
    held = frozenset(words(node.key))
    if not node.path or isinstance(node.path[-1], int) or held & _NOT_COUNTED or not held:
        return None
    value = node.value
    if isinstance(value, str) and len(value) <= 80 and words(node.key)[-1] in _STATE_WORDS:
        text = value.strip(" .。")
        waits = _WAITS.fullmatch(text) or (held & _EXECUTION and _WAITS_IF_EXECUTION.fullmatch(text))
        return f"`{node.key}` is “{text}”" if waits else None
    if isinstance(value, Number) and not value and held & _COUNTED:
        return f"`{node.key}` is 0"
    if value == [] and held & _COUNTED and isinstance(value, list):
        return f"`{node.key}` is empty"
    return f"`{node.key}` is false" if value is False and words(node.key)[-1] in _BEGUN | _EXECUTION else None


def _of_other_campaign(value: Any, node: Node, bundle: str) -> bool:
    return any(
        isinstance(held.get(key), str) and held[key].strip().casefold() != bundle.casefold()
        for held in _above(value, node)[1:]
        for key in _CAMPAIGN_KEYS
    )


def _above(value: Any, node: Node) -> list[dict[str, Any]]:
    """The objects that hold `node`, outermost first."""
    held, made = value, []
    for part in node.path:
        if isinstance(held, dict):
            made.append(held)
        held = held[part]
    return made


def _key_scope(value: Any, node: Node) -> Scope:
    parts = [part for part in node.path if isinstance(part, str)]
    said = " ".join(" ".join(words(part)) for part in parts)
    nested = [str(held[key]) for held in _above(value, node)[1:] for key in _NAME_KEYS if isinstance(held.get(key), str)]
    counts = [
        held[key]
        for held in _above(value, node)[1:]
        for key in held
        if set(words(key)) & family("devices gpus npus cards") and isinstance(held[key], Number)
    ]
    arm = next((name for name, pattern in _ARM_WORDS if pattern.search(said)), None)
    devices = devices_in(said.replace("_", " ")) or (int(counts[-1]) if counts and counts[-1] < 1e6 else None)
    plain = [[word for word in _DEVICES.sub(" ", " ".join(words(part))).split() if word not in _PLAIN_KEYS] for part in parts]
    phrases = {_alnum("".join(rest)) for rest in plain} | {_alnum(name) for name in nested}
    return Scope(arm, devices, frozenset(phrase for phrase in phrases if phrase))


# ---------------------------------------------------------------- against receipts


def contradicting(snapshot: Snapshot, bundle: Bundle, scope: Scope) -> tuple[Receipt, ...]:
    """The completed receipts of the bundle that a denial of this scope denies."""
    return tuple(one for one in receipts(snapshot, bundle) if (one.completed or one.is_candidate_result) and _covers(snapshot, bundle, one, scope))


def _covers(snapshot: Snapshot, bundle: Bundle, receipt: Receipt, scope: Scope) -> bool:
    if scope.arm == "candidate" and "candidate" not in receipt.arms:
        return False
    if scope.arm == "baseline" and "baseline" not in receipt.arms:
        return False
    if (
        scope.devices is not None
        and (device_count(_value(snapshot, receipt.path)) or bundle_devices(snapshot, bundle) or scope.devices) != scope.devices
    ):
        return False
    return all(phrase in _searchable(snapshot, receipt.path) for phrase in scope.phrases)


def _value(snapshot: Snapshot, path: str) -> Any:
    found = document(snapshot, path)
    return found.value if found else None


def _searchable(snapshot: Snapshot, path: str) -> str:
    """Path and text of a receipt, letters and digits only."""

    def make() -> str:
        doc = document(snapshot, path)
        try:
            text = doc.text if doc else snapshot.head.read(path)[:65536].decode("utf-8", "replace")
        except Missing:
            text = ""
        return _alnum(path + " " + text[:262144])

    return snapshot.memo(("searchable", path), make)


def bundle_devices(snapshot: Snapshot, bundle: Bundle) -> int | None:
    """The device count that the plan's documents state."""
    docs = (document(snapshot, path) for path in bundle.part("plan"))
    return next((count for doc in docs if doc and (count := device_count(doc.value))), None)


_COUNT_KEYS = family("devices device gpus npus cards chips count num world size ranks tp 设备 卡数")
_DEVICE_WORDS = family("devices device gpus gpu npus npu cards chips accelerators 设备 卡数 卡")
_MACHINE_WORDS = family("nodes node hosts machines boards phones robots printers cameras 节点 节点数 机器 机器数")


def device_count(value: Any) -> int | None:
    """The device count a document states: `devices: 4`, `{"devices": {"count": 4}}`, `"4 x Ascend 910B1"`, `device_count`."""
    counted = _counted(value, _DEVICE_WORDS)
    return _counted(value, _MACHINE_WORDS) if counted is None else counted


def _counted(value: Any, things: frozenset[str]) -> int | None:
    plain = _COUNT_KEYS | things | family("gpu npu number n of logical")
    for node in walk(value):
        held = frozenset(words(node.key))
        above = frozenset(word for part in node.path for word in (words(part) if isinstance(part, str) else ()))
        if len(node.path) > 4 or not above & things:
            continue
        if isinstance(node.value, Number) and held and held <= plain and node.value.is_integer_literal:
            return int(node.value)
        match = re.match(r"\s*(\d{1,4})\s*(?:[x×*]|[a-z]|\Z)", node.value, re.IGNORECASE) if isinstance(node.value, str) else None
        if match:
            return int(match[1])
        if isinstance(node.value, str) and (said := devices_in(node.value)):
            return said
    return None
