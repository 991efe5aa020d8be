"""The words of keys that tell how something ended, and of the subjects that end: workers, servers, containers, jobs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from rules.reading.keys import family, words

Kind = Literal["exit", "signal", "forced", "remaining", "oom", "timeout", "crash"]

# ---------------------------------------------------------------- subjects

_FAMILIES: Mapping[str, frozenset[str]] = {
    "worker": family(
        "worker rank task device gpu npu tpu shard replica executor actor trainer child children subprocess peer slave step array agent follower "
        "工作进程 工作者 子进程 计算进程 卡 副本"
    ),
    "server": family("server service daemon frontend backend api endpoint engine broker gateway 服务 服务器 服务端 服务进程"),
    "container": family("container pod docker podman sandbox 容器"),
    "client": family("client loadgen requester driver 客户端 压测端"),
    "launcher": family("launcher parent main master orchestrator scheduler coordinator supervisor controller wrapper leader 主进程 启动器 调度器"),
    "job": family(
        "job run build command program script benchmark bench test workload session stage campaign experiment 作业 任务 运行 构建 测试 实验"
    ),
    "process": family("process proc pid 进程"),
}
_FAMILY_OF = {word: name for name, held in _FAMILIES.items() for word in held}
WHOLE = frozenset({"job", "process"})
"""Subjects that stand for the whole run: what ended badly inside it is theirs."""


def stem(word: str) -> str:
    """The singular of an English noun in lower case, as far as that is regular."""
    word = word.lower()
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def subject_family(word: str) -> str | None:
    """`worker` for workers, ranks, tasks, 工作进程; `server`, `container`, `client`, `launcher`, `job`, `process`; None for any other noun."""
    found = _FAMILY_OF.get(stem(word)) or _FAMILY_OF.get(word.lower())
    if found or word.isascii():
        return found
    return next((name for name, held in _FAMILIES.items() for known in held if not known.isascii() and len(known) > 1 and known in word), None)


# ---------------------------------------------------------------- what a key says

EXIT = family("exit exits exited exitcode exitcodes exitstatus exitvalue returncode returncodes retcode retcodes retval errorlevel wstatus rc rcs")
_NO_EXIT = family(
    "time times timestamp s ms us sec secs second seconds minutes at latency wait waited duration timeout grace policy on early layer layers point "
    "points threshold criterion criteria expected expect allowed allow max min limit message reason log logs path file handler hook trap order "
    "interval rate ratio fraction share page pages probability node rule condition strategy test tests gate gates strategy cost price angle ramp "
    "required require velocity temperature pressure poll survey interview after before delay"
)
_SIGNAL = family("signal signals sig termsig 信号")
_SIGNAL_BESIDE = family(
    "signal signals sig term termsig termination exit received killed kill by terminating terminated sent forced force number num no name names count final last process "
    "server container client 信号"
) | _FAMILIES["worker"] | _FAMILIES["process"] | _FAMILIES["launcher"]  # fmt: skip
_KILLS = family("kill kills killed sigkill sigkills sigkilled sigterm sigterms sigtermed terminated")
_FORCE = family("forced force forcibly forceful forcefully hard")
_FORCED_NOUNS = family(
    "signal signals kill kills killed termination terminations terminated teardown teardowns stop stops stopped exit exits shutdown shutdowns quit end ends process processes pid pids worker workers"
)
_NO_KILL = family(
    "grace timeout after wait time s ms max min policy on delay allowed allow expected expect limit switch enabled enable skill cmd command required require before"
)
LEFT = family(
    "remaining leftover leftovers left residual surviving survivors lingering stray orphan orphans orphaned zombie zombies dangling leaked unreaped alive lived"
)
_LEFT_ALONE = family("orphans zombies leftovers survivors")
PROCESSES = family("pid pids process processes proc procs worker workers children child rank ranks container containers subprocess subprocesses")
_OOM = family("oom oomkilled oomkill oomkills ooms")
_NO_OOM = family("score adj policy margin guard threshold limit retry headroom risk handler expected allowed safe test tests disable")
_TIMEOUT = family("timeout timeouts timedout hung hang")
_NO_TIMEOUT = family(
    "s ms us sec secs seconds minutes request requests http connection connect read write socket query lock policy limit max min value grace budget allowed expected poll"
)
_CRASH = family("crash crashes crashed segfault segfaults coredump panicked segv")
CLEAN = family("clean cleanly graceful gracefully orderly")
ENDS = family(
    "exit exits exited shutdown shutdowns teardown teardowns termination terminated lifecycle stop stopped end ended finish finished quit down cleanup"
)
REASONS = family("status state reason termination outcome cause result")
_CHINESE: tuple[tuple[str, Kind], ...] = (
    ("退出码", "exit"), ("退出状态", "exit"), ("返回码", "exit"), ("返回值", "exit"), ("退出值", "exit"), ("强制信号", "forced"), ("强制终止", "forced"), ("强杀", "forced"),
    ("被杀", "forced"), ("残留", "remaining"), ("遗留", "remaining"), ("僵尸", "remaining"), ("孤儿", "remaining"), ("超时", "timeout"), ("崩溃", "crash"), ("信号", "signal"),
)  # fmt: skip
ELSEWHERE = family(
    "expected expect expects expectation expectations allowed allow limit limits max maximum requirement requirements required require requires policy policies setting settings config "
    "configuration gate gates threshold thresholds plan planned target targets test tests negative selftest selftests unittest unittests assertion assertions example examples schema "
    "criteria criterion rule rules parameters params environment env spec forbid forbidden must tolerated 期望 预期 要求 限制 上限 配置 设置 门槛 门禁 测试 计划"
)


@lru_cache(maxsize=8192)
def held_words(key: str) -> frozenset[str]:
    """The words of a key."""
    return frozenset(words(key))


@lru_cache(maxsize=8192)
def kind_of_key(key: str) -> Kind | None:
    """What a key holds, by its words: `worker_exit_codes`, `OOMKilled`, `forced_signals`, `remaining_pids`, `timed_out`, `退出码`; None for anything else."""
    held = held_words(key)
    chinese = next((kind for word, kind in _CHINESE if word in key), None)
    if chinese and not re.search(r"秒|时长|上限|阈值|毫秒|限制|期望|预期", key):
        return chinese
    if held & _OOM or "outofmemory" in held or {"out", "of", "memory"} <= held:
        return None if held & _NO_OOM else "oom"
    if _says_forced(held):
        return "forced"
    if (held & LEFT and held & PROCESSES) or held & _LEFT_ALONE or {"left", "behind"} <= held or ("still" in held and held & {"running", "alive"}):
        return None if held & {"max", "expected", "allowed", "time", "limit"} else "remaining"
    if held & EXIT or ("return" in held and held & {"code", "codes", "status", "statuses"}):
        return None if held & _NO_EXIT or ("code" not in held and held & {"called", "reached"}) else "exit"
    if held & CLEAN and held & ENDS:
        return "exit"
    if held & _SIGNAL and held <= _SIGNAL_BESIDE | {w for w in held if w.isdigit()}:
        return "signal"
    if held & _TIMEOUT or {"timed", "out"} <= held or {"deadline", "exceeded"} <= held:
        return None if held & _NO_TIMEOUT else "timeout"
    if held & _CRASH or ({"core"} <= held and held & {"dump", "dumped", "dumps"}):
        return None if held & {"test", "tests", "expected", "handler", "report", "path"} else "crash"
    return None


def _says_forced(held: frozenset[str]) -> bool:
    if held & _NO_KILL:
        return False
    if held & _FORCE:
        return bool(held & _FORCED_NOUNS)
    if held & {"signals", "signal"}:
        return "sent" in held
    return bool(held & (_KILLS - {"terminated"})) and not held & {"by", "signal"}
