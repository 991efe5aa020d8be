"""Words of a verdict: whether a flag, a status or a verdict says pass, fail, that it is open, or that it was waived."""

from __future__ import annotations

import re
from typing import Any, Literal

Said = Literal["pass", "fail", "open", "waived"]

_PASS = re.compile(
    r"(?:overall[ :-]{1,3})?(?:pass(?:ed|es)?|accept(?:ed|s)?|approved?|qualif(?:ied|ies)|success(?:ful(?:ly)?)?|met|ok|okay|satisfied|holds|promoted?|true|yes|green|go|验收通过|通过|合格|达标|接受|采纳|满足|是)(?![A-Za-z\u3400-\u9fff])",
    re.IGNORECASE,
)
_FAIL = re.compile(
    r"(?:overall[ :-]{1,3})?(?:fail(?:ed|s|ure|ing)?|reject(?:ed|s)?|not[ _-](?:pass(?:ed)?|accept(?:ed|able)|qualified|met|satisfied|ok)|disqualified|no[- ]go|unmet|violated|exceeded|refused|false|red|不通过|未通过|没通过|不合格|拒绝|失败|未达标|不达标|否决|驳回|否)(?![A-Za-z])",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"(?:inconclusive|undecided|undetermined|pending|unknown|not[ _-](?:yet[ _-])?(?:measured|evaluated|run|judged|tested|recorded|available|assessed|executed|checked|done|collected)|un(?:measured|tested|evaluated|judged)"
    r"|(?:on[ _-])?hold|held|skipped|missing|none|null|todo|tbd|deferred|blocked|n/a|na|-|\?|未定|未测(?:量|试)?|待定|待测|无结论|不确定|尚未.{0,6}|未评估|未判定|缺失|跳过|没有测量|无)(?![A-Za-z])",
    re.IGNORECASE,
)
_WAIVED = re.compile(r"(?:waived|not[ _-]applicable|exempt(?:ed)?|withdrawn|superseded|豁免|不适用|撤销)(?![A-Za-z])", re.IGNORECASE)
_UNSURE = re.compile(
    r"(?<![A-Za-z])(?:pending|unless|subject to|conditional(?:ly)?|provisional(?:ly)?|except|until|tentative|partial(?:ly)?)(?![A-Za-z])|待|有条件|暂|部分",
    re.IGNORECASE,
)


def said_of(value: Any) -> Said | None:
    """What a flag, status or verdict says; None for text that is no such word. Null and an empty text are open."""
    if value is None or value == "":
        return "open"
    if isinstance(value, bool):
        return "pass" if value else "fail"
    if not isinstance(value, str) or len(value) > 300:
        return None
    bare = value.strip().strip("*`_\"'“”")
    for said, pattern in (("waived", _WAIVED), ("open", _OPEN), ("fail", _FAIL)):
        if pattern.match(bare):
            return said  # type: ignore[return-value]
    if _PASS.match(bare):
        return "open" if _UNSURE.search(bare) else "pass"
    return None
