"""Where the places of a JSON or YAML text stand: the lines of pointers, of doubled keys, of numbers that are none.

All pointers of a text are found in one pass. What no pointer leads into is skipped by the C decoder, so that a large document costs little.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import yaml

Parts = tuple[str, ...]
Lines = tuple[int, int]
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MOST_VALUES = 300_000
"""Values of a text that are looked through for a doubled key; beyond them its line is not given."""
DEEPEST = 1000
"""Blocks inside each other's last element that are followed; the readers refuse deeper ones."""
_BLANK = re.compile(r"[ \t\r\n]*+")
_TOKEN = re.compile(r'[ \t\r\n]*+(?:(?P<mark>[{}\[\]:,])|(?P<string>"(?:[^"\\]|\\.)*+")|(?P<other>[^\s{}\[\]:,"]++))')
_SKIP = json.JSONDecoder(strict=False, parse_float=str, parse_int=str, parse_constant=str).raw_decode


@dataclass
class _Wanted:
    """A tree of the pointers that are looked for; `parts` is set where one ends."""

    parts: Parts | None = None
    inside: dict[str, _Wanted] = field(default_factory=dict)


def _tree(wanted: Iterable[Parts]) -> _Wanted:
    top = _Wanted()
    for parts in wanted:
        node = top
        for part in parts:
            node = node.inside.setdefault(part, _Wanted())
        node.parts = parts
    return top


def line_of(text: str, position: int) -> int:
    """The line (1-based) of a position."""
    return text.count("\n", 0, position) + 1


# ---------------------------------------------------------------- JSON


def json_places(text: str, wanted: Collection[Parts]) -> dict[Parts, Lines]:
    """First and last line of every wanted place that is there: of the key and its value. Of a key that stands twice, the one that counts: the last."""
    made: dict[Parts, Lines] = {}
    start = _past_blanks(text, 1 if text.startswith("\ufeff") else 0)
    stack = [(_tree(wanted), start, start)]
    try:
        while stack:
            node, begin, position = stack.pop()
            if node.parts is not None:
                made[node.parts] = line_of(text, begin), line_of(text, _SKIP(text, position)[1] - 1)
            stack += [(node.inside[key], *at) for key, at in _inside(text, position, node.inside).items()]
    except (ValueError, IndexError, RecursionError):
        return made
    return made


def _past_blanks(text: str, position: int) -> int:
    return _BLANK.match(text, position).end()  # type: ignore[union-attr]  # it matches nothing at least


def _inside(text: str, position: int, keys: Collection[str]) -> dict[str, tuple[int, int]]:
    """(where the member starts, where its value starts) of each of `keys` in the object or list at `position`."""
    kind = text[position]
    if not keys or kind not in "{[":
        return {}
    found: dict[str, tuple[int, int]] = {}
    position, number = _past_blanks(text, position + 1), 0
    while text[position] not in "}]":
        begin, key = position, str(number)
        if kind == "{":
            key, position = _SKIP(text, position)
            position = _past_blanks(text, _past_blanks(text, position) + 1)
        if key in keys:
            found[key] = begin, position
        position = _past_blanks(text, _SKIP(text, position)[1])
        position, number = _past_blanks(text, position + 1) if text[position] == "," else position, number + 1
    return found


def constant_line(text: str, name: str) -> int | None:
    """The line of the first `NaN`, `Infinity` or `-Infinity`."""
    return next((line_of(text, match.start("other")) for match in _TOKEN.finditer(text) if match["other"] == name), None)


def doubled_line(text: str, name: str) -> int | None:
    """The line where the key `name` stands for the second time in one object; None beyond the limit."""
    seen: set[Parts] = set()
    for path, start in islice(_members(text), MOST_VALUES):
        if path and path[-1] == name:
            if path in seen:
                return line_of(text, start)
            seen.add(path)
    return None


def _members(text: str) -> Iterator[tuple[Parts, int]]:
    """(path, start) of every value of a well-formed JSON text, in the order in which they end; a member starts at its key."""
    path: list[str] = []
    starts: list[int] = []
    objects: list[bool] = []
    fresh = True
    position = 1 if text.startswith("\ufeff") else 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        token, begin = match[0].lstrip(), match.end() - len(match[0].lstrip())
        if token == ",":
            fresh = True
            if not objects[-1]:
                path[-1] = str(int(path[-1]) + 1)
        elif token in ("}", "]"):
            path.pop(), starts.pop(), objects.pop()
            yield tuple(path), starts[-1] if starts else 0
        elif fresh and objects and objects[-1] and match["string"]:
            path[-1], starts[-1], fresh = json.loads(token, strict=False), begin, False
        elif token != ":":
            if objects and not objects[-1]:
                starts[-1] = begin
            if token in ("{", "["):
                objects.append(token == "{")
                path.append("0")
                starts.append(-1)
                fresh = True
            else:
                yield tuple(path), starts[-1] if starts else begin


# ---------------------------------------------------------------- YAML


def yaml_places(text: str, wanted: Collection[Parts]) -> dict[Parts, Lines]:
    """The same for a YAML text; of several documents in one text, the list of them counts as the top."""
    try:
        roots = [root for root in yaml.compose_all(text, Loader=LOADER) if root is not None]
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    found = {parts: _place_in_yaml(text, roots, parts) for parts in wanted}
    return {parts: lines for parts, lines in found.items() if lines is not None}


def _place_in_yaml(text: str, roots: list[yaml.Node], parts: Parts) -> Lines | None:
    if not roots:
        return None
    node: Any = roots if len(roots) > 1 else roots[0]
    begin: Any = roots[0]
    for part in parts:
        step = _yaml_step(node, part)
        if step is None:
            return None
        begin, node = step
    first = line_of(text, begin.start_mark.index)
    return first, max(first, _last_line(text, node))


def _yaml_step(node: Any, part: str) -> tuple[Any, Any] | None:
    """(where the member `part` starts, its value); of a key that stands twice, the last."""
    if isinstance(node, yaml.MappingNode):
        pair = next(((key, value) for key, value in reversed(node.value) if isinstance(key, yaml.ScalarNode) and key.value == part), None)
        return pair
    items = node.value if isinstance(node, yaml.SequenceNode) else node if isinstance(node, list) else ()
    return (items[int(part)], items[int(part)]) if part.isdecimal() and int(part) < len(items) else None


def _last_line(text: str, node: Any) -> int:
    """A block ends with its last element: the composer's own mark lies where the next token starts, beyond blank lines and comments."""
    for _ in range(DEEPEST):
        if isinstance(node, list):
            node = node[-1]
        elif isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
        else:
            break
    return line_of(text, len(text[node.start_mark.index : node.end_mark.index].rstrip()) + node.start_mark.index)


def yaml_depth(text: str, most: int) -> int:
    """The nesting of a YAML text, counted no further than `most` + 1; 0 where it does not parse. Nothing is composed, so nothing recurses."""
    depth = deepest = 0
    try:
        for event in yaml.parse(text, Loader=LOADER):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                deepest = max(deepest, depth)
                if deepest > most:
                    break
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except (yaml.YAMLError, ValueError):
        return 0
    return deepest
