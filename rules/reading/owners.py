"""Which series of a document a stated aggregate speaks of."""

from __future__ import annotations

from collections.abc import Iterator

from rules.reading.documents import Path
from rules.reading.samples import NEAR, Sampled, Series, Stated
from rules.reading.statistic_keys import read_key
from rules.reading.units import Unit, comparable

MANY = 400
"""Among so many arrays in one object, an aggregate is not looked up: it would cost the square of their number."""


def said(parts: tuple[str | int, ...]) -> tuple[frozenset[str], frozenset[str], bool]:
    """The content words, the weak words and whether something is cut, of the keys along a path."""
    keys = [read_key(part) for part in parts if isinstance(part, str)]
    content = frozenset(word for key in keys for word in key.content)
    return content, frozenset(word for key in keys for word in key.weak), any(key.cut for key in keys)


def owner(held: Sampled, stated: Stated) -> Series | None:
    """The one series that `stated` speaks of; None where there is none, or where several could be meant."""
    for base, near, blocked in _levels(held, stated.path):
        content, weak, cut = said(stated.path[len(base) :])
        if cut or len(near) > MANY:
            return None
        fitting = [s for s in near if _same_dimension(s.unit, stated.unit)]
        exact = [s for s in fitting if _says(s, base, content) and not _conflict(weak, said(_parts(s, base))[1])]
        exact = [s for s in exact if not s.setting or content]
        if len(exact) > 1:
            exact = [s for s in exact if said(_parts(s, base))[1] == weak]
        if exact:
            return exact[0] if len(exact) == 1 else None
        if not content and (near or blocked):
            alone = [s for s in fitting if not s.setting and (s.unit is not None or stated.unit is None)]
            return alone[0] if len(alone) == 1 and not blocked and not _conflict(weak, said(_parts(alone[0], base))[1]) else None
    return None


def in_file(held: Sampled, stated: Stated, inside: int) -> Series | None:
    """The one series of another file that `stated` speaks of; `inside` is the length of the path to the object that names the file."""
    content, weak, cut = said(stated.path[inside:])
    if len(held.series) > MANY:
        return None
    fitting = [s for s in held.series if not cut and not s.setting and _same_dimension(s.unit, stated.unit)]
    exact = [s for s in fitting if _says(s, (), content) and not _conflict(weak, said(_parts(s, ()))[1])]
    if not exact and not content:
        exact = [s for s in fitting if s.unit is not None or stated.unit is None]
    return exact[0] if len(exact) == 1 else None


def _levels(held: Sampled, path: Path) -> Iterator[tuple[Path, tuple[Series, ...], bool]]:
    """The places around `path`, nearest first, that do not leave a list's element."""
    for up in range(1, NEAR + 1):
        if up > len(path):
            return
        base = path[: len(path) - up]
        if isinstance(path[-up], int):
            if path[: len(path) - up + 1] in held.summaries:
                yield base, tuple(one for one in held.series if one.path == base), False
            return
        yield base, held.near.get(base, ()), base in held.blocked


def _parts(series: Series, base: Path) -> tuple[str | int, ...]:
    return (*series.path[len(base) :], *series.within)


def _says(series: Series, base: Path, content: frozenset[str]) -> bool:
    """True when a series is of what `content` says; the name of a list of objects (`seeds`, `tiles`) may be left out."""
    if said(_parts(series, base))[0] == content:
        return True
    return bool(series.within and content and len(series.path) > len(base)) and said((*series.path[len(base) : -1], *series.within))[0] == content


def _same_dimension(one: Unit | None, other: Unit | None) -> bool:
    return one is None or other is None or comparable(one, other)


def _conflict(one: frozenset[str], other: frozenset[str]) -> bool:
    """`elapsed` and `latency` are two things; a weak word on one side only is none."""
    return bool(one) and bool(other) and not one & other
