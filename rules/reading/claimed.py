"""Figures that a text claims as measured: in sentences and in table cells, apart from settings, targets, plans, quotations and other campaigns' figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from rules.core.model import Location
from rules.reading.clauses import Clause
from rules.reading.inline import CodeSpan
from rules.reading.markdown import Markdown, Row, Table
from rules.reading.qualifiers import BACK, STRONG, UNIVERSAL
from rules.reading.quantities import Quantity, is_measuring_context, quantities
from rules.reading.statements import Statement
from rules.reading.unit_keys import unit_of_key
from rules.reading.units import COUNTS
from rules.reading.words import AUTHOR_REPORTED, family, has_word

DIGITS = 4
_POOL, _LONG, _MOST = 60, 600, 500
"""Significant digits below which a figure is too common to be looked for."""

NO_RECEIPT = family(
    r"no (?:committed |public |retained )?(?:receipts?|raw records?|raw samples?|raw logs?)",
    r"(?:without|lacks?|lacking) (?:a |any )?(?:committed |public |retained )?(?:receipts?|raw records?)",
    r"(?:none|neither|nothing)(?: [\w']{1,20}){1,7} (?:has|have|had) (?:an? |any )?(?:committed |public |retained )?(?:receipts?|raw records?)",
    r"(?:do|does|did)(?: not|n't) (?:yet )?have (?:an? |any )?(?:committed |public |retained )?(?:receipts?|raw records?)",
    r"(?:author|unverified|uncommitted) commentary",
    r"(?:receipts?|raw records?) (?:is |are |was |were |has |have )?(?:\w+ )?(?:external|withheld|missing|absent|unavailable|outside|not (?:yet )?(?:been )?(?:committed|retained|public|available|in))",
    r"(?:external|withheld|uncommitted|missing|unpublished) (?:receipts?|raw records?|measurements?)",
    r"not (?:yet )?(?:been )?(?:committed|receipted)",
    zh=(
        "(?:没有|无|缺少|尚无|未附)(?:任何)?(?:已?提交的)?(?:回执|收据|凭据|原始记录)",
        "回执.{0,8}(?:未提交|缺失|不在|外部)",
        "未(?:经)?(?:核实|验证)的作者",
    ),
)
_VENDOR = family(
    r"vendor(?:'s|s)?|manufacturer(?:'s|s)?|data ?sheets?|spec(?:ification)? sheets?|advertised|rated|nominal(?:ly)?|brochure|product page|white ?paper",
    r"(?:theoretical|hardware|device|vendor|nominal|spec|datasheet) (?:\w+ )?(?:peak|maximum|bandwidth|limit|throughput|capacity|figure|value)",
    r"peak (?:hbm |memory |dram |pcie |theoretical |fp16 |bf16 )?(?:bandwidth|flops|compute|tflops) of (?:the|an?|one|each)",
    r"(?:specifications?|specs?) (?:says?|lists?|gives?|states?|of|for)|(?:by|per|according to) (?:the )?spec(?:ification)?s?",
    r"list price|link rate|line rate|clock rate",
    zh=("标称", "规格(?:书|值)?", "理论(?:峰值|带宽|算力|上限)", "厂商", "官方(?:数据|指标|标称|规格)", "额定"),
)
_UPSTREAM = family(
    r"upstream reports?|upstream_reported|upstream reported|reported upstream|(?:results|figures|numbers) (?:of|by|from) (?:the )?upstream",
    zh=("上游报告", "上游数据"),
)
_ELSEWHERE = family(
    r"upstream_reported|upstream reported|reported upstream",
    r"(?:the |their |its )?(?:paper|article|blog|publication|literature|leaderboard|preprint|arxiv)(?:'s)?",
    r"(?:published|upstream|third[- ]party|official|public) (?:\w+ )?(?:figures?|numbers?|results?|benchmarks?|baselines?|reports?|measurements?)",
    r"(?:other|another|separate|different|earlier|previous|prior|older|sibling|unrelated|sister|parent|eight-device|two-device) (?:\w+ )?(?:campaigns?|issues?|bundles?|stud(?:y|ies)|experiments?|projects?)",
    r"not (?:a |any )?(?:result|figure|measurement|number|evidence)s? (?:of|for|from) this (?:campaign|bundle|pull|issue)",
    r"for (?:orientation|context|reference|comparison) only",
    zh=("论文", "博客", "文献", "其他(?:活动|项目|战役|实验|议题)", "另一(?:个)?(?:活动|项目|战役|实验|议题)", "仅供参考", "官方公布"),
)
_GUESS = family(
    r"expected|projected|predicted|estimated?|extrapolat\w+|simulated|assum\w+|hypothetical(?:ly)?|would|could|for example|e\.g\.",
    zh=("预期", "预计", "估计", "估算", "推算", "假设", "例如", "拟"),
)
_TARGET = r"targets?|goals?|budgets?|slo|sla|thresholds?|limits?|gates?|caps?|ceiling|requirements?|required|acceptance|aims?|aiming"
_TARGET_BEFORE = re.compile(
    rf"(?:(?<![A-Za-z])(?:{_TARGET})(?![A-Za-z])|目标|预算|阈值|上限|下限|门限|要求)(?P<between>[^.;。；]{{0,50}})\Z", re.IGNORECASE
)
_TARGET_AFTER = re.compile(rf"[ \w]{{0,12}}?(?<![A-Za-z])(?:{_TARGET})(?![A-Za-z])|的?(?:目标|预算|阈值|上限|下限)", re.IGNORECASE)
_GOT = re.compile(
    r"\b(?:measured?|took|takes|reach\w*|achiev\w+|observ\w+|got|gave|ran|actual|came|against|versus|vs|but|missed|met|exceed\w*|with|and|now|while|by|pass(?:ed|es)?|failed|hit|beat|baseline|control|candidate)\b|[,，]|实测|测得|达到|耗时|为|而",
    re.IGNORECASE,
)
_SETUP = re.compile(
    r"(?:test |software |hardware |run |experiment(?:al)? )?(?:config\w*|set-?up|settings?|environments?|hyper-?parameters?|run ?specs?|initial run ?spec|parameters?|hardware|requirements?|prerequisites|targets?"
    r"|(?:software|hardware)(?: and (?:software|hardware|workload))?|workloads?|applicability|goals?|acceptance(?: plan| criteria)?|success criteria|gates?|plans?|budget|scope|references?|related work|changelog|glossary|limits?)(?: and \w+)?"
    r"|(?:环境|配置|参数|设置|目标|计划|验收标准?|范围|参考)",
    re.IGNORECASE,
)
_TARGET_COLUMN = re.compile(
    r"\b(?:target|goal|limit|threshold|budget|expected|required|requirement|paper|vendor|spec|nominal|published|reference value|allowed|sla|slo|gate|port|seed|version|lr|learning rate|config"
    r"|line|commit|sha|hash|id|date|time ?stamp)\b|目标|阈值|上限|下限|预期|论文|标称|版本",
    re.IGNORECASE,
)
_CAMPAIGN_NUMBER = re.compile(r"(?<![\w&/])(?:[\w.-]{1,60}/[\w.-]{1,60})?#(\d{1,7})\b")
_COUNTED = re.compile(
    r"(?<![A-Za-z])(?:measured|observed|recorded|counted|evict\w*|generat\w+|produced|emitted|processed|served|completed|handled|failed|dropped|retried|missed|allocated|launch\w*|executed|saw|seen|total(?:s|led)?)"
    r"(?![A-Za-z])|实测|观测|统计|生成|完成|处理|淘汰|失败|共",
    re.IGNORECASE,
)
_OVER = re.compile(r"(?<![A-Za-z])(?:over|across|with|for|of|using|at|from|on|per|in|to)\s\Z|在|用", re.IGNORECASE)
_PHYSICAL = frozenset(["time", "bytes", "energy", "power"])
_SETS = re.compile(
    r"(?<![A-Za-z])(?:time-?outs?|limit\w*|targets?|goals?|budgets?|thresholds?|deadline|intervals?|sleep|set to|quota|tolerance|capacity|rated|offered|allow\w*|requires?|required|windows?|context|config\w*|seeds?|rate)"
    r"(?![A-Za-z])|超时|上限|下限|目标|阈值|间隔|预算|配置|设为|窗口",
    re.IGNORECASE,
)
_FLAG = re.compile(r"(?:^|\s)--?[A-Za-z][\w-]{0,40}[ =]\Z")
_UP_TO = re.compile(r"(?:up to|as (?:much|high) as|peak(?:s|ed|ing)? at|最高|至多可?达|高达)\s*\Z", re.IGNORECASE)
_KINDS = (
    (
        "sum",
        re.compile(r"\b(?:sum|total(?:s|led|ling)?|combined|together|cumulative|overall|aggregate)\b|合计|总计|总共|累计|之和|总", re.IGNORECASE),
    ),
    ("stdev", re.compile(r"\b(?:std(?:ev)?|s\.?d\.?|standard deviation|deviation|sigma)\b|σ|标准差", re.IGNORECASE)),
    ("range", re.compile(r"\b(?:spread|range|max(?:imum)?[- ]min(?:imum)?)\b|极差", re.IGNORECASE)),
)
_PERCENTILE = re.compile(r"\bp(\d{1,2})\b|\b(\d{1,2})(?:st|nd|rd|th)[ -]percentile|(\d{1,2}) ?分位", re.IGNORECASE)
_DIFFERENCE = family(
    r"differen(?:ce|ces|t)|delta|saved?|saves|savings?|less|more|faster|slower|shorter|longer|lower|higher|gap|overhead|reduc\w+|decreas\w+|increas\w+|improv\w+|gain\w*|drop\w*|extra|cut",
    zh=("差", "节省", "减少", "缩短", "增加", "降低", "提升", "开销", "多出"),
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """One figure of a text.

    asserted   False where the text labels it, reports it or hedges it: it may be found, but nothing is missing
    sentence   the sentence or table row, the anchor of findings
    kinds      further statistics that the sentence speaks of
    others     the other quantities of the sentence, from which a change or share may be computed
    change     it may be a difference of two values
    """

    quantity: Quantity
    sentence: str
    location: Location
    asserted: bool
    kinds: frozenset[str] = frozenset()
    others: tuple[Quantity, ...] = ()
    change: bool = False

    @property
    def shown(self) -> str:
        """As printed: `168.956 s`."""
        unit = self.quantity.unit
        return f"{self.quantity.text} {unit.name}" if unit else self.quantity.text


@dataclass(frozen=True, slots=True)
class Own:
    """What belongs to the campaign: the numbers of its issue and pulls, and the ids of other campaigns' bundles."""

    numbers: frozenset[int] = frozenset()
    other_ids: frozenset[str] = frozenset()


def claimed(path: str, said: Sequence[Statement], document: Markdown | None, own: Own = Own()) -> Iterator[Claimed]:
    """The measured figures of one text, in order: of its sentences, then of its tables; at most 500."""
    return islice(_claimed(path, said, document, own), _MOST)


def _claimed(path: str, said: Sequence[Statement], document: Markdown | None, own: Own) -> Iterator[Claimed]:
    if any(_disclaims_all(one) for one in said):
        said = [replace(one, decided="quoted") for one in said]
    pools = _pools(said)
    for index, one in enumerate(said):
        if one.kind not in ("row", "heading", "code") and not _is_setup(one.section) and _DIGIT.search(one.text) and not _is_data(one.text):
            yield from _of_statement(said, index, own, pools)
    for table in document.tables if document else ():
        if not _is_setup(table.section):
            yield from _of_table(path, table, said, own)


def _disclaims_all(one: Statement) -> bool:
    """`None of the figures below has a committed receipt`, `Hardware results below are upstream reports`."""
    return UNIVERSAL.search(one.text) is not None and (has_word(one.text, NO_RECEIPT) or has_word(one.text, _UPSTREAM)) and not _figures(one.text)


def _is_setup(section: tuple[str, ...]) -> bool:
    return bool(section) and _SETUP.fullmatch(section[-1].strip(" :：*#0123456789.")) is not None


_DIGIT = re.compile(r"[0-9]")
_JSON = re.compile(r'"\s?:\s?[\[{"0-9-]')


def _is_data(text: str) -> bool:
    """JSON or a listing that lies in the text without a fence."""
    return len(_JSON.findall(text[:2000])) >= 2


def _pools(said: Sequence[Statement]) -> dict[tuple[str, ...], list[Quantity]]:
    """The quantities of each section: what a share or a change in it may be computed from."""
    made: dict[tuple[str, ...], list[Quantity]] = {}
    for one in said:
        held = made.setdefault(one.section, [])
        if len(held) < _POOL and _DIGIT.search(one.text):
            held.extend(quantities(one.text))
    return made


def _figures(text: str) -> list[Quantity]:
    return [q for q in quantities(text) if q.digits >= DIGITS]


# ---------------------------------------------------------------- sentences


def _of_statement(said: Sequence[Statement], index: int, own: Own, pools: Mapping[tuple[str, ...], list[Quantity]]) -> Iterator[Claimed]:
    one = said[index]
    held = quantities(one.text)
    measured = [q for q in held if _may_be_claimed(one.text, q, one.code_spans) and _is_measured(one.text, q)]
    if not measured:
        return
    labelled, kinds, pool = _is_labelled_beside(said, index), _kinds(one.text[:_LONG]), pools.get(one.section, ())
    for quantity in measured:
        clause, part = _clause(one, quantity), _part(one.text, quantity)
        if clause is None or clause.standing not in ("asserted", "reported") or _belongs_elsewhere(part, own):
            continue
        label = labelled or has_word(part, STRONG) or has_word(part, NO_RECEIPT)
        asserted = clause.standing == "asserted" and one.standing != "reported" and not _is_hedged(clause) and not label
        others = (*(q for q in held[:_POOL] if q is not quantity), *(q for q in pool if q.text != quantity.text))
        yield Claimed(quantity, one.text, one.location(), asserted, kinds, others, has_word(part, _DIFFERENCE))


def _may_be_claimed(text: str, quantity: Quantity, spans: Iterable[CodeSpan] = ()) -> bool:
    """A figure of at least four digits that is no bound, no option's value, and with decimals where it has no unit."""
    if quantity.digits < DIGITS or (quantity.relation not in ("=", "~") and not _UP_TO.search(text, max(0, quantity.start - 24), quantity.start)):
        return False
    bare = quantity.unit is None or quantity.unit.family == "number"
    if bare and "." not in quantity.text:
        return False
    if quantity.unit and quantity.unit.family in COUNTS and not _is_counted(text, quantity):
        return False
    if _is_target(text, quantity) or _FLAG.search(text, max(0, quantity.start - 48), quantity.start):
        return False
    printed = text[quantity.start : quantity.end]
    if quantity.unit and quantity.unit.family in COUNTS and _COMPOUND.match(text, quantity.end) and not printed.endswith("s"):
        return False
    return not any(printed in span.text and len(span.text) > len(printed) + 12 for span in spans)


def _is_counted(text: str, quantity: Quantity) -> bool:
    """A count is a result where it was counted (`evicted 3,544 pages`), not where it says over how many (`over 12,345 requests`) or a key names the noun."""
    if text[quantity.end - 1 : quantity.end].isdigit():
        return False
    return _COUNTED.search(text, max(0, quantity.start - 60), quantity.end + 40) is not None and not _OVER.search(
        text, max(0, quantity.start - 12), quantity.start
    )


_COMPOUND = re.compile(
    r" (?:analys[ie]s|reports?|review|log|summary|case|rate|mode|study|diagnosis|budget|window|limit|attribution)\b", re.IGNORECASE
)
"""`858019 failure analysis` is the analysis of job 858019, not a number of failures."""


def _is_target(text: str, quantity: Quantity) -> bool:
    """`a target median latency of 382.95 ms`, `the 382.95 ms budget`; not `missed the target: measured 412.8 ms`."""
    before = _TARGET_BEFORE.search(text, max(0, quantity.start - 70), quantity.start)
    return (before is not None and not _GOT.search(before["between"])) or _TARGET_AFTER.match(text, quantity.end) is not None


def _is_measured(text: str, quantity: Quantity) -> bool:
    """A word of results is nearer than one of settings; or it is a physical value so fine that nobody sets it, without a word right before that does."""
    if is_measuring_context(text, quantity):
        return True
    family = quantity.unit.family if quantity.unit else ""
    fine = "." in quantity.text and quantity.digits > DIGITS and (family in _PHYSICAL or family.endswith("/time"))
    return fine and _SETS.search(text, max(0, quantity.start - 40), quantity.start) is None


def _clause(one: Statement, quantity: Quantity) -> Clause | None:
    return next((clause for clause in one.clauses if clause.start <= quantity.start < clause.start + len(clause.text) + 1), None)


def _part(text: str, quantity: Quantity) -> str:
    """What lies between semicolons around a quantity (not too far), and what follows and refers back to it."""
    begin, end = max(0, quantity.start - _LONG), min(len(text), quantity.end + _LONG)
    first = max(begin, *(text.rfind(sign, begin, max(begin, quantity.start)) + 1 for sign in ";；"))
    last = min([at for sign in ";；" if (at := text.find(sign, quantity.end, end)) >= 0], default=end)
    rest = text[last : last + 300]
    return text[first:last] + (rest if BACK.match(rest.lstrip(";； ")) and not _figures(rest) else "")


def _belongs_elsewhere(part: str, own: Own) -> bool:
    """A vendor's figure, a target, or another campaign's."""
    if has_word(part, _VENDOR) or has_word(part, _ELSEWHERE) or has_word(part, _GUESS):
        return True
    return any(int(number) not in own.numbers for number in _CAMPAIGN_NUMBER.findall(part)) or any(id in part for id in own.other_ids)


def _is_hedged(clause: Clause) -> bool:
    return clause.hedge is not None and not has_word(clause.hedge, AUTHOR_REPORTED)


def _is_labelled_beside(said: Sequence[Statement], index: int) -> bool:
    """The next sentence ("It has no committed receipt"), or one before that announces it, says that nobody can check the figure."""
    after, before = _near(said, index, 1), _near(said, index, -1)
    if after and (has_word(after.text, STRONG) or has_word(after.text, NO_RECEIPT)) and BACK.search(after.text) and not _figures(after.text):
        return True
    announces = before is not None and re.search(r"[:：]\s*\Z|\b(?:following|below|next)\b|以下|如下", before.text) is not None
    return before is not None and announces and has_word(before.text, NO_RECEIPT)


def _near(said: Sequence[Statement], index: int, step: int) -> Statement | None:
    near = said[index + step] if 0 <= index + step < len(said) else None
    return near if near and abs(near.line - said[index].line) <= 2 and near.section == said[index].section else None


def _kinds(text: str) -> frozenset[str]:
    found = {kind for kind, pattern in _KINDS if pattern.search(text)}
    return frozenset(found | {f"p{int(a or b or c)}" for a, b, c in _PERCENTILE.findall(text)})


# ---------------------------------------------------------------- tables


def _of_table(path: str, table: Table, said: Sequence[Statement], own: Own) -> Iterator[Claimed]:
    if any(has_word(one.text, NO_RECEIPT) and one.section == table.section and abs(one.line - table.line) <= 4 for one in said if one.kind != "row"):
        return
    columns = [_TARGET_COLUMN.search(name) is None and not has_word(name, _VENDOR) and not has_word(name, _ELSEWHERE) for name in table.header]
    for row in table.rows:
        sentence = " ".join(" | ".join(row.cells).split())
        label = row.cells[0] if row.cells else ""
        if _belongs_elsewhere(sentence, own) or _TARGET_COLUMN.search(label) or not any(columns):
            continue
        asserted = not has_word(sentence, STRONG) and not has_word(sentence, NO_RECEIPT)
        cells = [_cell(table, row, column) for column in range(len(row.cells))]
        for column, held in enumerate(cells):
            if column == 0 or (column < len(columns) and not columns[column]):
                continue
            others = tuple(q for i, other in enumerate(cells) if i != column for q in other)
            context = f"{label} {table.header[column] if column < len(table.header) else ''}"
            for quantity in held:
                if _is_measured_cell(context, row.cells[column], quantity):
                    place = Location(path, line=row.line, end_line=row.line, text=sentence)
                    yield Claimed(
                        quantity, sentence, place, asserted, _kinds(f"{context} {sentence}"), others, has_word(context, _DIFFERENCE) or "Δ" in context
                    )


def _cell(table: Table, row: Row, column: int) -> tuple[Quantity, ...]:
    """The quantities of a cell, in the unit that it, its column's head or its row's label declares."""
    header = table.header[column] if column < len(table.header) else ""
    unit = unit_of_key(header) or (unit_of_key(row.cells[0]) if column else None)
    unit = None if unit and unit.family in COUNTS else unit
    return tuple(replace(q, unit=q.unit or unit) for q in quantities(row.cells[column]))


def _is_measured_cell(context: str, cell: str, quantity: Quantity) -> bool:
    if not _may_be_claimed(cell, quantity):
        return False
    lead = f"{context}: "
    return _is_measured(lead + cell, replace(quantity, start=quantity.start + len(lead), end=quantity.end + len(lead)))
