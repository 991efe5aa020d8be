"""The units that the names of JSON keys and of columns declare: `elapsed_s`, `p99LatencyMs`, `mb_per_s`, `time (ms)`, `延迟_ms`."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from rules.reading.units import ANY, COUNTS, DENOMINATORS, FOLDED, SECOND, SPELLINGS, Unit, per, unit, words

_KEY_LIMIT = 120
_BRACKETED = re.compile(r"[(\[（【]([^()\[\]（）【】]{1,24})[)\]）】]\s*\Z")
_PARTS = re.compile(
    r"[KMGTP]i?[Bb](?:ps)?(?![a-z])|[kMG]Hz(?![a-z])|[GTP]FLOPS|µs|μs|%"
    r"|[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*|[0-9]+|[\u4e00-\u9fff]+"
)
_FLAGS = frozenset(["is", "has", "use", "uses", "enable", "enabled", "allow", "with", "no", "skip"])
# Words behind the unit that say which value it is: `latency_ms_p99`, `rss_mb_peak`.
_WHICH = words(
    "mean median avg average min max minimum maximum total sum std stdev stddev sd var p50 p75 p90 p95 p99 p999 before after baseline control"
    " candidate reference in out read written sent received peak low high lower upper first last all overall warm cold observed measured actual"
    " expected target limit below above least most count samples list values n"
)
_NOT_SECONDS = words(
    "loss param item is has arg class model name id key value type flag file path error status address acces token config setting label metric k v"
)
_TIMED_TOKEN = words("first next last inter per each time latency mean median avg output decode")  # `first_token_s`, but `access_token_s`
_LETTERS = {
    "h": ("h", words("elapsed duration wall time runtime device gpu npu node machine cpu train training total")),
    "w": ("W", words("power draw tdp package board gpu idle socket")),
    "j": ("J", words("energy consumed consumption")),
    "b": ("B", words("size memory rss transfer payload")),
    "c": ("°C", words("temp temperature hotspot junction")),
    "v": ("V", words("voltage vdd vcore")),
    "x": ("×", words("speedup speed up factor gain improvement ratio")),
}
_MINUTES = words("elapsed duration runtime walltime wall uptime timeout total wait run build time")
# `tokens_s` is a rate, but `samples_s` is a list of seconds, and `requests_s` may be either.
_RATES_OVER_S = words("bytes flop tokens frames operations images rows packets iterations items records messages transactions pixels")
_EITHER_OVER_S = frozenset(["requests"])
_KEY_NAMES = {
    "rtf": Unit("ratio", "ratio", Fraction(1)),
    "ratio": Unit("ratio", "ratio", Fraction(1)),
    "fraction": Unit("ratio", "ratio", Fraction(1)),
    "speedup": SPELLINGS["×"],
    "pct": SPELLINGS["%"],
    "percent": SPELLINGS["%"],
    "percentage": SPELLINGS["%"],
    "%": SPELLINGS["%"],
    "it": DENOMINATORS["it"],
}
# Units in prose that are other things as the last word of a key.
_NOT_IN_KEYS = words("min mins bit bits db fold x percentage flops flop pp day week run sample record test call process hash char item job task") | {
    "model"
}


@lru_cache(maxsize=4096)
def unit_of_key(key: str) -> Unit | None:
    """The unit that a JSON key or a column's head declares (`elapsed_s`, `p99LatencyMs`, `mb_per_s`, `time (ms)`, `延迟_ms`), or None."""
    if len(key) > _KEY_LIMIT:
        return None
    bracketed = _BRACKETED.search(key)
    if bracketed:
        return unit(bracketed[1])
    if "/" in key:
        found = unit(re.split(r"[\s_]", key.strip())[-1]) or unit(key)
        if found:
            return found
    parts = _PARTS.findall(key)
    return _of_parts(parts) if parts and parts[0].lower() not in _FLAGS else None


def _of_parts(parts: list[str]) -> Unit | None:
    lower = [part.lower() for part in parts]
    if "points" in lower and {"percentage", "percent", "pct"} & set(lower):
        return SPELLINGS["pp"]
    if {"pct", "percent", "percentage"} & set(lower):
        return SPELLINGS["%"]
    while parts:
        found = _per_key(parts) if "per" in lower[: len(parts)] else _last(parts)
        if found or lower[len(parts) - 1] not in _WHICH:
            return found
        parts = parts[:-1]
    return None


def _per_key(parts: list[str]) -> Unit | None:
    """`mb_per_s`, `tokens_per_second`, `ms_per_output_token`, `tokens_per_s_per_user`; None where either side is no unit (`pushes_per_batch`)."""
    at = max(index for index, part in enumerate(parts) if part.lower() == "per")
    if not 0 < at < len(parts) - 1:
        return None
    left, last = parts[:at], parts[-1].lower()
    above = _per_key(left) if "per" in [part.lower() for part in left] else SECOND if left[-1].lower() == "s" else _key_word(left[-1])
    below = SECOND if last == "s" else _key_word(parts[-1]) or SPELLINGS.get(last)
    return per(above, below) if above and below else None


def _last(parts: list[str]) -> Unit | None:
    last, before = parts[-1], [part.lower() for part in parts[:-1]]
    previous = before[-1] if before else ""
    if last.lower() in {"s", "sec"} and before:
        rate = _key_word(parts[-2])
        if rate and rate.family in _RATES_OVER_S and (previous.endswith(("s", "b")) or previous in {"tok", "it", "iter"}):
            return per(rate, SECOND)
        if rate and rate.family in _EITHER_OVER_S and previous.endswith("s"):
            return None
    if len(last) == 1 and last.isascii():
        return _letter(last.lower(), before)
    if last.lower() in {"min", "mins"}:
        return SPELLINGS["min"] if _MINUTES & set(before) else None
    if last.lower() == "us" and (not before or previous in {"contact", "about", "region", "locale", "zone"}):
        return None
    if last.lower() == "up" and previous == "speed":
        return SPELLINGS["×"]
    if last.lower() in {"count", "num"} and previous:
        return _counted(previous)
    found = _key_word(last)
    numbered = found is not None and found.family in COUNTS and last.isascii() and not last.lower().endswith("s")
    return None if numbered else found  # `"rank": 3`, `"batch": 8` number or size one thing; `"ranks": 4` counts


def _letter(letter: str, before: list[str]) -> Unit | None:
    """A single letter is a unit only behind a separator and a word that can be measured in it."""
    if letter == "s":
        timed = before[-1:] == ["token"] and not _TIMED_TOKEN.isdisjoint(before)
        return SECOND if before and (before[-1] not in _NOT_SECONDS or timed) else None
    if letter in _LETTERS and _LETTERS[letter][1] & set(before):
        return SPELLINGS[_LETTERS[letter][0]]
    return SPELLINGS["%"] if letter == "%" else SPELLINGS.get(letter) if letter == "秒" else None


def _key_word(part: str) -> Unit | None:
    low = part.lower()
    if low in _KEY_NAMES:
        return _KEY_NAMES[low]
    if (len(part) < 2 and part.isascii()) or low in _NOT_IN_KEYS:
        return None
    exact = SPELLINGS.get(part) if not part.islower() or low in SPELLINGS else None
    found = exact or FOLDED.get(low)
    return found if found is None or found.family != ANY else None


def _counted(noun: str) -> Unit | None:
    found = SPELLINGS.get(noun)
    return found if found and found.family in COUNTS and found.family != ANY else None
