"""The words of a key: `p99LatencyMs`, `warm_up_runs` and 重复次数 as canonical English words in the singular."""

from __future__ import annotations

import re
from functools import lru_cache

KEY_LIMIT = 200
TOKEN = re.compile(
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
    for token in TOKEN.findall(key[:KEY_LIMIT]):
        made += _chinese(token) if "\u4e00" <= token[0] <= "\u9fff" else canonical(token.lower()).split()
    return tuple(made)


def canonical(word: str) -> str:
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
