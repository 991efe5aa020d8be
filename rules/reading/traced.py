"""Traced, profiled and diagnostic runs: what of a record or a sentence says that a run was one."""

from __future__ import annotations

import re

from rules.reading.documents import Node
from rules.reading.end_keys import held_words
from rules.reading.keys import family

_TRACED = family(
    "traced tracing trace profiled profiling profiler instrumented instrumentation diagnostic sanitized sanitizer debug nsys ncu msprof rocprof vtune valgrind 跟踪 追踪 剖析 诊断"
)
_TRACED_FLAGS = family("traced tracing trace profiled profiling profiler profile instrumented instrumentation diagnostic sanitizer sanitizers debug enabled enable with is on mode run build only nsys ncu msprof rocprof vtune valgrind perf torch npu collection attached active "
                       "跟踪 追踪 剖析 诊断")  # fmt: skip
_KIND_KEYS = family("mode kind type purpose run_kind class category label collection 类型 模式 用途")
DIAGNOSTIC_KEYS = family("diagnostic diagnostics trace traces profile profiles debug excluded auxiliary stage breakdown share shares 诊断 跟踪 剖析")
_IN_TEXT = re.compile(
    r"(?<![A-Za-z-])(?:traced|profiled|instrumented|diagnostic)\s(?:\w{2,14}\s){0,2}(?:runs?|candidates?|controls?|requests?|passes?|executions?|arms?|builds?|times?|timings?)(?![A-Za-z])"
    r"|(?<![A-Za-z])(?:under|with|while|in)\s(?:the\s|a\s)?(?:\w{2,14}\s)?(?:profiler|tracer|tracing|trace|profiling|instrumentation|nsys|perf record|sanitizers?)(?:\s(?:on|enabled|active|attached))?(?![A-Za-z])|(?:带|开启|打开|启用)(?:了)?(?:跟踪|追踪|剖析|profil\w{1,4}|trace)|跟踪运行|剖析运行|诊断运行"
    r"|(?<![A-Za-z-])(?:candidate|control|run|baseline)\s(?:was|were|is)\s(?:traced|profiled|instrumented)(?![A-Za-z])",
    re.IGNORECASE,
)
_NOT_IN_TEXT = re.compile(r"untraced|without (?:the |a )?(?:trac|profil)|not (?:traced|profiled)|未(?:开启|带)?(?:跟踪|剖析)", re.IGNORECASE)


def traced_by(value: object) -> str | None:
    """The field by which an object, or its settings, say that its run was traced, profiled or a diagnostic; None where they do not."""
    if not isinstance(value, dict):
        return None
    inner = [held for key, held in value.items() if isinstance(held, dict) and held_words(key) & _SETTINGS]
    return next((mark for each_one in (value, *inner) for key, held in each_one.items() if (mark := _mark(key, held))), None)


_SETTINGS = family("config settings parameters flags options environment env run 配置 设置")


def _mark(key: str, held: object) -> str | None:
    split = held_words(key)
    if (
        split & _TRACED
        and split <= _TRACED_FLAGS
        and (held is True or (isinstance(held, str) and held.strip().casefold() in ("true", "yes", "on", "enabled", "full")))
    ):
        return f"{key}: {'true' if held is True else held}"
    if split & _KIND_KEYS and isinstance(held, str) and len(held) <= 60:
        said = held_words(held)
        return f"{key}: {held}" if said & _TRACED and not said & {"no", "not", "non", "without", "untraced", "off"} else None
    return None


def is_kept_apart(top: object, node: Node) -> bool:
    """The field lies in an object that is kept apart as a diagnostic."""
    return any(held_words(part) & DIAGNOSTIC_KEYS for part in node.path if isinstance(part, str)) or (
        isinstance(top, dict) and traced_by(top) is not None and "arm" not in top
    )


def says_traced(text: str) -> bool:
    """A sentence speaks of a traced or profiled run, and of no untraced one."""
    return _IN_TEXT.search(text) is not None and _NOT_IN_TEXT.search(text) is None
