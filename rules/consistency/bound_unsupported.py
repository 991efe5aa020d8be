"""A performance limit is claimed without the calculation that would show it

What it checks: sentences that call something impossible, a floor or a lower bound, about a performance limit, for what a bound needs in the same
section: the bytes moved (or operations done), the applicable bandwidth or peak, and the division.

Why: an unsupported "impossible" closes optimisation paths that may be open.

Fix: say that the target was not reached in this measured configuration; keep the bound only with bytes, bandwidth and calculation.

Example: "Each rank holds 32 GiB of weights, so the bandwidth floor makes 4.65 ms impossible": resident size is not bytes read.

Not flagged: "did not reach", "cannot verify", quotations, withdrawn claims, and a section that holds the whole calculation.

Strength: medium.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from rules.core.model import Bundle, Facts, Finding, Item, Rule, Severity, Snapshot
from rules.core.redact import excerpt
from rules.reading.conversation import bodies
from rules.reading.layout import bundle_at, documents_in_scope
from rules.reading.quantities import Quantity, quantities
from rules.reading.statements import Statement, mentions, statements, text_statements
from rules.reading.words import family, has_word

# Words that say "it cannot be better than this" by themselves.
_BOUND = family(
    r"(?:physically |theoretically |fundamentally |simply |provably )?(?:impossible|infeasible|unattainable|unachievable|unreachable)",
    r"(?:hard |absolute |theoretical |physical |hardware |silicon |bandwidth |memory |compute |latency |roofline |speed-of-light |throughput )*(?:floor|ceiling|lower bound|upper bound|hard limit|speed of light)",
    r"(?:theoretical|physical|absolute|hard|hardware|silicon) (?:minimum|maximum|limit|optimum)",
    r"(?:as fast as|no faster than) (?:\w+ ){0,4}(?:physics|hardware|possible)",
    r"(?:nothing|no (?:\w+ ){1,3})(?: ?)(?:below|under|faster than|lower than|better than|less than|above|beyond|over) .{1,24}? (?:is|are|was) (?:ever )?(?:possible|achievable|attainable|reachable|feasible)",
    r"physics (?:forbids|rules out|does not allow)|rules? out (?:any )?(?:further )?(?:gain|improvement|speed-?up)s?",
    zh=(
        "不可能",
        "无法(?:再)?(?:达到|低于|突破|超过|超越|逾越|压缩|缩短|提升|提高|降低|降到|减少|更快)",
        "下界",
        "下限",
        "上限",
        "天花板",
        "极限",
        "物理上限",
        "理论(?:最小|最大|极限|下限|上限)",
    ),
)
# "cannot" only says so together with a word for being faster, smaller or through.
_CANNOT = family(
    r"(?:can ?not|can't|could not|couldn't|can never|will never|never can|no \w+(?: \w+)? can|nothing can|there is no way to|(?:is|was) not possible to|(?:isn't|wasn't) possible to)",
    zh=("不能", "无法", "没法"),
)
_BETTER = family(
    r"(?:be |get |go |run |become )?(?:any )?(?:faster|lower|higher|quicker|shorter|better)",
    r"(?:go|get|fall|drop|dip|come|stay|be brought|be pushed|be reduced|reach) (?:\w+ ){0,3}(?:below|under|above|beyond|past|over|down to)",
    r"(?:exceed|beat|surpass|sustain|saturate|stream|improve|be improved|outperform|finish|complete|take less|be met|meet|reach|achieve|attain|deliver|serve|fit|be read|be moved|be transferred|be streamed)",
    zh=("更快", "更低", "更高", "低于", "超过", "达到", "突破", "再快", "再降", "再提升", "读完", "完成", "满足"),
)
# What the limit is of.
_PERFORMANCE = family(
    r"latenc(?:y|ies)|throughput|bandwidth|rtf|speed-?ups?|fps|frames?/s|tokens?/s|tok/s|qps|rps|iops|ops/s|budgets?|target|time|runtime|step|decode|prefill|per (?:frame|token|step|request|second)|rate|performance|roofline|flops|utili[sz]ation|(?:milli|micro|nano)?seconds?|faster|slower|gain",
    zh=("时延", "延迟", "吞吐", "带宽", "速度", "耗时", "性能", "加速", "帧率", "每秒", "每帧", "每步", "目标", "算力", "毫秒", "时间"),
)
_BARE = re.compile(r"floor|ceiling|limit|bound|optimum|minimum|maximum|speed of light|下界|下限|上限|天花板|极限", re.IGNORECASE)
_STRONG = re.compile(r"bandwidth|memory|compute|latency|roofline|throughput|speed|physical", re.IGNORECASE)
_LIMITED = family(
    r"latenc(?:y|ies)|throughput|bandwidth|rtf|fps|roofline|flops|tokens?/s|per (?:frame|token|step|request|second)|frame ?rate|decode|prefill|faster|slower|speed-?up",
    zh=("时延", "延迟", "吞吐", "带宽", "耗时", "帧率", "每秒", "每帧", "每步", "算力", "性能"),
)
_OTHER_MATTER = re.compile(
    r"v?\d{1,4}(?:\.\d{1,4}){1,3}\+? (?:floor|ceiling)|(?:floor|ceiling) (?:check|version)|\d{1,4}[- ](?:minute|hour|day|week|month)s? (?:floor|ceiling|limit)|back-?off|\bretr(?:y|ies|ying)\b|doubling"
    r"|effect[- ]size|\balpha\b|sample size|replicat(?:e|es|ions)\b|\bpower(?:ed)? (?:analysis|calculation|simulation)|p[- ]value|treatment|hypothes[ie]s"
    r"|(?:network|host|server|endpoint|remote|api|code|branch|state|status|path|line|commit|dns|registry|url|page|service|machine|`[\w.-]{1,40}`|\bok\b)(?: \w+){0,2} unreachable|unreachable (?:code|host|state|branch|server|commit|network|path)",
    re.IGNORECASE,
)
"""Floors of versions, ceilings of settings, statistics, and what cannot be reached over a network or by a program's flow."""
_COMPARES = re.compile(
    r"faster|slower|lower|higher|shorter|quicker|better|below|under|above|beyond|sub-|improv|exceed|reach|达|快|低|高|短|超", re.IGNORECASE
)
_OTHER_CANNOT = family(
    r"verif(?:y|ied)|confirm(?:ed)?|reproduc\w+|tell|say|said|know|known|judge[d]?|determine[d]?|fetch\w*|resol\w+|inspect\w*|be compared|compare|conclude[d]?|rule out|exclude[d]?|guarantee[d]?|claim(?:ed)?|attribute[d]?|separate[d]?|establish\w*|prove[dn]?|infer(?:red)?|open(?:ed)?|see|be used|distinguish\w*|explain(?:ed)?|audit(?:ed)?|check(?:ed)?",
    zh=("核实", "验证", "确认", "复现", "判断", "说明", "证明", "得出", "比较", "确定", "推断"),
)
_NO_CLAIM = family(
    r"(?:nothing|no claim|not|never) (?:\w+ ){0,4}impossible|no claim (?:\w+ ){0,4}possible|did not reach|was not reached|were not (?:met|reached)|not (?:a|the) (?:proof|lower bound|floor|limit|upper bound)|no (?:lower|upper) bound|whether",
    zh=("未达到", "没有达到", "不是下限", "并非下限", "不等于", "不代表"),
)
_SETTING = family(
    r"(?:rate|memory|power|time|token|context|batch|concurrency|queue|retry|size|request|connection|thread|cost) (?:limit|cap)|alert(?:ing)?|configured|config(?:uration)? (?:limit|value)|price|(?:version|runtime|python|node|engine|support|price|noise|coverage|quality|score) floor|node \d+|\beol\b|noise floor|floor plan|confidence|interval|percentile|95 ?%|statistic\w*|estimator|accuracy|bug|deadlock|race|overflow|crash",
    zh=("配置上限", "并发上限", "限流", "置信", "噪声底"),
)
_RESIDENT = family(
    r"resident|holds?|held|capacity|footprint|occup(?:y|ies)|stored|allocated|weights? (?:take|total|are|of)|model size|checkpoint size|parameters?",
    zh=("驻留", "占用", "常驻", "容量", "存放", "权重(?:共|为|大小)"),
)
_MOVED = family(
    r"moved|moves?|read|reads|written|writes|streamed|streams?|transfer(?:red|s)?|traffic|loads?|loaded|fetched|touched|accessed|copied|per (?:step|token|frame|request|iteration|op|call|pass|batch)",
    zh=("读取", "读", "写", "搬运", "传输", "流量", "访问", "访存", "加载"),
)
_WORK = ("bytes", "flop", "operations")
_DIVISION = re.compile(r"[/÷∕]|\bdivided by\b|\bover\b|除以|/|÷", re.IGNORECASE)
_RESULT = re.compile(r"=|≈|→|\b(?:gives?|equals?|yields?|is|are|takes?|makes?|about|at least|comes? to)\b|等于|约|得|至少|即|为", re.IGNORECASE)


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    for path in bundle.files:
        if path.lower().endswith((".md", ".markdown")):
            yield from _of_text(statements(snapshot, path))


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    """The conversation, and documents outside of bundles."""
    for path in documents_in_scope(snapshot):
        if bundle_at(snapshot, path) is None:
            yield from _of_text(statements(snapshot, path))
    for text in bodies(snapshot):
        yield from _of_text(text_statements(snapshot, text))


def _of_text(made: Iterable[Statement]) -> Iterator[Finding]:
    sections: dict[tuple[str, ...], list[Statement]] = {}
    for statement in made:
        sections.setdefault(statement.section, []).append(statement)
    for held in sections.values():
        claims = [statement for statement in held if _claims_bound(statement)]
        if claims:
            missing = _missing(held)
            if missing:
                yield _finding(claims, missing)


def _claims_bound(statement: Statement) -> bool:
    """True when the author asserts a performance limit in this sentence."""
    text = statement.text
    if (
        statement.kind == "heading"
        or has_word(text, _NO_CLAIM)
        or has_word(text, _SETTING)
        or _OTHER_MATTER.search(text)
        or not _is_about_performance(text)
    ):
        return False
    bound = any(mention.is_claimed and _is_tied(statement, mention.match[0]) for mention in mentions(statement, _BOUND))
    known = _is_timed(text) or has_word(text, _LIMITED)
    return bound or any(
        mention.standing == "asserted" and _cannot_be_better(mention.clause.text[mention.match.end() :], known)
        for mention in mentions(statement, _CANNOT)
    )


def _is_tied(statement: Statement, word: str) -> bool:
    """A bare "floor" or "limit" may be of a version, a price or a noise: it counts with a quantity of time or rate, or beside a word of performance.
    So does "impossible", which may also stand with a comparison ("a higher packet rate is impossible").
    """
    if _STRONG.search(word) or _is_timed(statement.text) or has_word(statement.text, _LIMITED):
        return True
    return not _BARE.search(word) and statement.kind != "row" and _COMPARES.search(statement.text) is not None


def _is_timed(text: str) -> bool:
    return any(q.unit is not None and (q.unit.family == "time" or q.unit.family.endswith("/time")) for q in quantities(text))


def _is_about_performance(text: str) -> bool:
    return has_word(text, _PERFORMANCE) or _is_timed(text)


def _cannot_be_better(rest: str, known: bool) -> bool:
    """ "cannot finish in less than 40 s", not "cannot verify"; a target or budget that cannot be met only where performance is spoken of (`known`)."""
    near = rest[:120]
    better, other = _BETTER.search(near), _OTHER_CANNOT.search(near)
    if better is None or (other is not None and other.start() < better.start()):
        return False
    if known and re.search(r"budget|target|目标", near):
        return True
    return any(q.unit is not None for q in quantities(near)) or bool(
        re.search(r"(?<!rather )(?<!other )\bthan\b|faster|lower|stream|sustain|saturat|低于|更快|超过|in that time|in time|带宽", near)
    )


def _missing(held: list[Statement]) -> str | None:
    """What the section lacks of a bound's calculation; None when it is all there."""
    found = [(statement, q) for statement in held if statement.standing in ("asserted", "reported") for q in quantities(statement.text) if q.unit]
    work = [(s, q) for s, q in found if q.unit and q.unit.family.startswith(_WORK) and not q.unit.family.endswith("/time")]
    peaks = [q for _, q in found if _is_peak(q)]
    resident = [(s, q) for s, q in work if has_word(s.text, _RESIDENT) and not has_word(s.text, _MOVED)]
    lacking = []
    if not work or len(resident) == len(work):
        lacking.append("the bytes moved" + (" (a resident size is not the bytes read)" if resident else ""))
    if not peaks:
        lacking.append("the applicable bandwidth or peak")
    if not any(_calculates(statement) for statement in held):
        lacking.append("the calculation")
    return ", ".join(lacking) or None


def _is_peak(quantity: Quantity) -> bool:
    return quantity.unit is not None and quantity.unit.family.startswith(_WORK) and quantity.unit.family.endswith("/time")


def _calculates(statement: Statement) -> bool:
    """A division with its result: `7.0 GB / 1.4 TB/s = 5.0 ms`."""
    found = [q for q in quantities(statement.text) if q.unit]
    for left, right in pairwise(found):
        between = statement.text[left.end : right.start]
        if _DIVISION.search(between) and len(between) <= 40 and _RESULT.search(statement.text[right.end : right.end + 40]):
            return True
    return False


def _finding(claims: list[Statement], missing: str) -> Finding:
    first = claims[0]
    section = first.section[-1] if first.section else ""
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title="A performance limit is claimed without the calculation that would show it",
        problem=f"“{excerpt(claims[-1].text)}” claims a limit; {'the section “' + excerpt(section, 60) + '”' if section else 'the text around it'} lacks {missing}.",
        impact="Readers may give up optimisation paths that are still open.",
        next="Say that the target was not reached in this measured configuration (edit text); keep the bound only with the bytes moved, the applicable "
        "bandwidth or peak, and the calculation. No new run is needed to remove the conclusion.",
        locations=tuple(claim.location() for claim in claims[:10]),
        evidence=tuple(("claim", excerpt(claim.text)) for claim in claims[:3]),
        roots=(f"bound:{first.path}#{'/'.join(first.section)}",),
        searched=f"the section's sentences for {missing}",
    )


RULE = Rule("bound-unsupported", "consistency", Severity.MEDIUM, check, each=each, norms=(("lower bound", "calculation"), ("bandwidth", "bytes")))
