"""Measured or set: whether a quantity of a sentence is a result (took, latency, 耗时) or a setting (learning rate, target, 种子)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.reading.quantities import Quantity

_BEFORE, _AFTER = 90, 60
_REACH = 40  # a word of settings speaks for what is close to it only
_BORDER = 25  # a comma or full stop between word and number counts like so many characters
# Words of results, and words of what is chosen before a run. The longer of two that begin alike stands first; the nearest one wins.
_MEASURED = (
    r"took|tak(?:es|ing)|measur\w*|latenc\w*|through-?put|bandwidth|mean|median|averag\w*|avg|p[59][0-9]{1,2}|percentiles?|elapsed|durations?"
    r"|wall(?:[- ]?(?:clock|time))?|run-?times?|timings?|tt[a-z]{2}|tpot|itl|rtf|fps|qps|iops|speed\w*|fast\w*|slow\w*|lower\w*|higher"
    r"|reach\w*|reduc\w*|improv\w*|gain\w*|drop(?:s|ped)|fell|fall(?:s|en)?|rose|rises?|grew|increas\w*|decreas\w*|shr[aiu]nk|cut"
    r"|sav(?:es?|ed|ings?)|baseline|control|candidate|complet\w*|finish\w*|observ\w*|record(?:s|ed)?|report\w*|result\w*|achiev\w*|peak\w*"
    r"|memory|footprint|usage|used|utili[sz]ation|consum\w*|energy|power|scor(?:es?|ed)|accuracy|cost|spent|need(?:s|ed)|last(?:s|ed)|ran"
    r"|runs? at|total(?:s|led)?|sustain\w*|deliver\w*|hit(?:s| rate)?|overhead|std(?:ev)?|variance|deviation|minimum|maximum|yield\w*|gave"
    r"|gives|showed|shows|came|went|samples?|receipt\w*|timed|benchmark\w*|delta|regress\w*|ratio|jitter|stall\w*"
)
_SETTINGS = (
    r"learning[- ]rate|lr|(?:weight[- ])?decay|seed(?:s|ed)?|batch(?:es)?(?:[- ]size)?|context|version|port|steps?|epochs?"
    r"|ranks?|threads?|time-?outs?|limit(?:s|ed)?|budget\w*|target\w*|threshold\w*|deadline|caps?|config\w*|setting\w*|set to|parameters?"
    r"|hyper\w*|temperature|top[-_ ]?[pk]|max[-_]\w+|dropout|momentum|beta|epsilon|eps|layers?|heads?|hidden|dim(?:ension)?s?|resolution"
    r"|window|length|chunk\w*|(?:block|page|tile|cache|buffer|vocab)[- ]size|tiles?|concurrency"
    r"|(?:request|arrival|sampling|sample|offered)[- ]rate|offered|requir\w*|must|should|allow\w*|goal|plan(?:s|ned)?|nominal|interval|sleep"
    r"|workers?|streams?|clients?|devices?|driver|tolerance|retries|quota|schedul\w*|expected|gates?|qualif\w*|rated|datasheet|specification"
    r"|capacity|guidance"
)
_CHINESE_MEASURED = (
    r"耗时|用时|实测|测得|测量|测试结果|平均|均值|中位|吞吐|延迟|时延|带宽|达到|达|降低|降至|下降|减少|缩短|提升|提高|增加|加速|峰值|基线"
    r"|对照|候选|完成|占用|功耗|能耗|内存|显存|结果|得分|精度|最大值|最小值|标准差|总计|花费"
)
_CHINESE_SETTINGS = (
    r"学习率|种子|批大小|批量|批次|上下文|版本|端口|步数|步长|轮数|超时|上限|下限|预算|目标|阈值|配置|参数|设置|设为|温度|层数|维度|分辨率"
    r"|窗口|长度|并发|线程|间隔|要求|计划|标称|额定|权重衰减|预热步"
)
_TOKEN = re.compile(
    rf"(?P<word>[A-Za-z][A-Za-z0-9_]*+(?:[- ](?:rate|size|decay|to|clock|up)\b)?)|(?P<set>{_CHINESE_SETTINGS})|(?P<got>{_CHINESE_MEASURED})"
)
_SET = re.compile(_SETTINGS, re.IGNORECASE)
_GOT = re.compile(_MEASURED, re.IGNORECASE)
_BORDERS = re.compile(r"[,;](?=\s)|[，；。、|]|\.\s|\bbut\b|\bwhile\b")


def is_measuring_context(text: str, quantity: Quantity) -> bool:
    """True when the word nearest to `quantity` is one of results (took, latency, 耗时) and not one of settings (learning rate, target, 种子).

    Without any such word, what nobody would set is a result: a change, a signed percentage, a rate per time, a physical value with decimals and
    at least four digits. `text` is what `quantity` was read from.
    """
    start, end = max(0, quantity.start), max(0, quantity.end)
    nearest: tuple[int, bool] | None = None
    for match in _TOKEN.finditer(text, max(0, start - _BEFORE), end + _AFTER):
        got = _is_result(match["word"]) if match["word"] else match["got"] is not None
        if got is not None:
            away = (_distance(text, match.start(), match.end(), start, end), got)
            if got or away[0] <= _REACH:
                nearest = min(nearest, away) if nearest else away
    return nearest[1] if nearest else _looks_measured(quantity)


def _looks_measured(quantity: Quantity) -> bool:
    family = quantity.unit.family if quantity.unit else ""
    if quantity.form == "change" or family.endswith("/time"):
        return True
    if family == "percent":
        return quantity.text[0] in "+-−"
    return family in _PHYSICAL and quantity.digits > 3 and "." in quantity.text


_PHYSICAL = frozenset(["time", "bytes", "energy", "power"])


@lru_cache(maxsize=4096)
def _is_result(word: str) -> bool | None:
    """True for a word of results, False for one of settings; a compound (`batch size`, `wall clock`) goes by its whole, else by its first word."""
    for part in (word, re.split(r"[- ]", word)[0]):
        if _SET.fullmatch(part):
            return False
        if _GOT.fullmatch(part):
            return True
    return None


def _distance(text: str, begin: int, finish: int, start: int, end: int) -> int:
    """Characters between a word and a quantity. A word behind it counts double: what is measured mostly stands before."""
    if finish <= start:
        return start - finish + _BORDER * len(_BORDERS.findall(text, finish, start))
    if begin >= end:
        return 2 * (begin - end) + 4 + _BORDER * len(_BORDERS.findall(text, end, begin))
    return 0
