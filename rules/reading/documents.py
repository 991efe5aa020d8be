"""JSON and YAML documents: values with their printed numbers, duplicate keys, and the lines of the places a finding names."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any

import yaml

from rules.core.model import Location, Missing, Snapshot, Tree
from rules.reading.lines import LOADER, constant_line, doubled_line, json_places, yaml_depth, yaml_places
from rules.reading.outline import Outline, outline
from rules.reading.values import (
    DOUBLE,
    DOUBLE_DIGITS,
    NUMBERS,
    Node,
    Number,
    Numbers,
    Path,
    is_numbers,
    number,
    parse_pointer,
    pointer,
    resolve,
    walk,
)

JSON_SUFFIXES = (".json", ".geojson", ".ipynb")
LINES_SUFFIXES = (".jsonl", ".ndjson")
YAML_SUFFIXES = (".yaml", ".yml")
# Read by their tools as JSON with comments and trailing commas (typescriptlang.org/tsconfig, code.visualstudio.com/docs/languages/json#_json-with-comments), or filled in by a template engine.
_WITH_COMMENTS = re.compile(
    r"(?:^|/)(?:[tj]sconfig[^/]*|\.eslintrc|\.babelrc|devcontainer|api-extractor|deno)\.json\Z|(?:^|/)\.vscode/[^/]+\.json\Z|/templates/[^\n]+\.ya?ml\Z"
)
LFS_HEADER = b"version https://git-lfs.github.com/spec/"
YAML_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Defect:
    """Why a document cannot be trusted as read. `kind`: encoding, syntax, duplicate, constant, depth, size, alias."""

    kind: str
    message: str
    line: int | None = None
    name: str = ""


@dataclass(frozen=True)
class Document:
    """One parsed document. `value` is None where `defects` holds one that prevents reading (`readable` is False)."""

    path: str
    value: Any
    text: str
    defects: tuple[Defect, ...] = ()
    readable: bool = True
    language: str = "json"

    @cached_property
    def outline(self) -> Outline:
        """The document's places by column."""
        return outline(self.value) if self.readable else Outline(())

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every place of the document, walked anew each time; `nodes(snapshot, path)` keeps them."""
        return tuple(walk(self.value)) if self.readable else ()


# ---------------------------------------------------------------- JSON


class _Pairs:
    """Collects duplicate keys and forbidden constants while the standard decoder runs."""

    def __init__(self) -> None:
        self.duplicates: list[str] = []
        self.constants: list[str] = []

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self.duplicates.append(key)
                seen.add(key)
        return made

    def constant(self, name: str) -> Number:
        self.constants.append(name)
        return number({"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}[name])


def decode(data: bytes) -> str:
    """UTF-8 text. Raises `UnicodeDecodeError`; a byte order mark is kept."""
    return data.decode("utf-8")


def read_json(data: bytes, path: str = "") -> Document:
    """The JSON document in `data`, with all its defects."""
    try:
        text = decode(data)
    except UnicodeDecodeError as error:
        return _unreadable(path, Defect("encoding", _encoding(data, error)), "")
    bom = text.startswith("\ufeff")
    found = _Pairs()
    numbers = Numbers().__getitem__
    decoder = json.JSONDecoder(object_pairs_hook=found.object, parse_float=numbers, parse_int=numbers, parse_constant=found.constant)
    try:
        value = decoder.decode(text[1:] if bom else text)
    except json.JSONDecodeError as error:
        if "\0" in text[:4]:
            return _unreadable(path, Defect("encoding", "it is UTF-16, not UTF-8"), "")
        message = "it is empty" if not text.strip() else f"{error.msg[:1].lower()}{error.msg[1:]}"
        return _unreadable(path, Defect("syntax", message, line=error.lineno), text)
    except RecursionError:
        return _unreadable(path, Defect("depth", "its nesting is too deep to be read"), text)
    defects = [Defect("duplicate", f"the key `{key[:80]}` stands twice in one object", name=key) for key in dict.fromkeys(found.duplicates)]
    defects += [Defect("constant", f"`{name}` is not a JSON number (RFC 8259, section 6)", name=name) for name in dict.fromkeys(found.constants)]
    return Document(path, value, text, tuple(defects))


def _encoding(data: bytes, error: UnicodeDecodeError) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:2]:
        return "it is UTF-16, not UTF-8"
    return f"it is not UTF-8 (byte {error.start + 1} is 0x{data[error.start]:02x})"


def _unreadable(path: str, defect: Defect, text: str, language: str = "json") -> Document:
    return Document(path, None, text, (defect,), readable=False, language=language)


# ---------------------------------------------------------------- YAML

_YAML_NUMBER = re.compile(r"[-+]?(?=\.?\d)[\d_]*+(?:\.\d*+)?(?:[eE][-+]?\d++)?\Z")
_YAML_NODES = 200_000


class _Refused(Exception):
    pass


def read_yaml(data: bytes, path: str = "") -> Document:
    """The YAML document in `data`, composed but never constructed: no tags, no types beyond JSON's; aliases are counted, not multiplied."""
    try:
        text = decode(data)
    except UnicodeDecodeError as error:
        return _unreadable(path, Defect("encoding", _encoding(data, error)), "", "yaml")
    if _may_be_deep(text) and yaml_depth(text, YAML_DEPTH) > YAML_DEPTH:
        return _unreadable(path, Defect("depth", "its nesting is too deep to be read"), text, "yaml")
    defects: list[Defect] = []
    budget = [_YAML_NODES]
    try:
        roots = list(yaml.compose_all(text, Loader=LOADER))
        values = [_plain(node, defects, budget, ()) for node in roots if node is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        return _unreadable(path, Defect("syntax", error.problem or "it is not YAML", line=mark.line + 1 if mark else None), text, "yaml")
    except (yaml.YAMLError, ValueError) as error:
        return _unreadable(path, Defect("syntax", str(error).splitlines()[0]), text, "yaml")
    except (_Refused, RecursionError) as error:
        return _unreadable(path, Defect("alias", str(error) or "its nesting is too deep to be read"), text, "yaml")
    value = values[0] if len(values) == 1 else (values or None)
    return Document(path, value, text, tuple(defects), language="yaml")


def _may_be_deep(text: str) -> bool:
    """False where flow brackets and indentation show at once that the nesting is within bounds; brackets in quotes count, so True says little."""
    flow = deepest = 0
    for match in re.finditer(r"[\[{\]}]", text):
        flow = flow + 1 if match[0] in "[{" else max(0, flow - 1)
        deepest = max(deepest, flow)
    lines = text.splitlines()
    dashes = max((line.count("- ") + line.count("? ") for line in lines), default=0)
    indents = {len(line) - len(line.lstrip()) for line in lines if line.strip()}
    return deepest + dashes + len(indents) > YAML_DEPTH


def _plain(node: yaml.Node, defects: list[Defect], budget: list[int], above: tuple[int, ...]) -> Any:
    budget[0] -= 1
    if budget[0] < 0 or id(node) in above or len(above) > YAML_DEPTH:
        raise _Refused("its aliases expand without end")
    if isinstance(node, yaml.ScalarNode):
        value = _scalar(node)
        if isinstance(value, Number) and not isfinite(value) and "." in node.value.lstrip("+-")[:1]:
            defects.append(Defect("constant", f"`{node.value}` is no finite number", line=node.start_mark.line + 1, name=node.value))
        return value
    above = (*above, id(node))
    if isinstance(node, yaml.SequenceNode):
        return [_plain(child, defects, budget, above) for child in node.value]
    made: dict[str, Any] = {}
    for key, child in node.value:
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
        if name in made and name != "<<":
            defects.append(Defect("duplicate", f"the key `{name}` stands twice in one mapping", line=key.start_mark.line + 1))
        made[name] = _plain(child, defects, budget, above)
    return made


def _scalar(node: yaml.ScalarNode) -> Any:
    text = node.value
    match node.tag:
        case "tag:yaml.org,2002:null":
            return None
        case "tag:yaml.org,2002:bool":
            return text.lower() in {"true", "yes", "on", "y"}
        case "tag:yaml.org,2002:int" | "tag:yaml.org,2002:float" if _YAML_NUMBER.match(text):
            return number(text.replace("_", "").lstrip("+"))
        case "tag:yaml.org,2002:float" if text.lower().lstrip("+-") in {".nan", ".inf"}:
            return number(text.lower().replace(".", ""))
        case _:
            return text


# ---------------------------------------------------------------- reading from a tree


def is_document(path: str) -> bool:
    """True for a path that is read as JSON or YAML. `._*` files are macOS's resource forks, not documents; nor are tools' settings with comments."""
    return path.endswith((*JSON_SUFFIXES, *YAML_SUFFIXES)) and not path.rpartition("/")[2].startswith("._") and not _WITH_COMMENTS.search(path)


def is_lfs_pointer(data: bytes) -> bool:
    """True for a Git LFS pointer (git-lfs/docs/spec.md): the real bytes are elsewhere."""
    return len(data) < 1024 and data.startswith(LFS_HEADER)


def document(snapshot: Snapshot, path: str, tree: Tree | None = None) -> Document | None:
    """The document at `path` (of `tree`, default head), kept by object id; None where it is absent, no plain file, too large, missing or an LFS pointer."""
    tree = tree or snapshot.head
    entry = tree.files.get(path)
    if entry is None or not entry.is_file or not is_document(path):
        return None
    limits = snapshot.config.limits
    is_yaml = path.endswith(YAML_SUFFIXES)
    if entry.size > (limits.yaml_bytes if is_yaml else limits.json_bytes):
        return None

    def make() -> Document | None:
        data = tree.read(path)
        if is_lfs_pointer(data):
            return None
        return read_yaml(data, path) if is_yaml else read_json(data, path)

    try:
        return snapshot.cache.fleeting("document:" + path, entry.oid, entry.size * DOCUMENT_WEIGHT, make)
    except Missing:
        return None


DOCUMENT_WEIGHT, NODES_WEIGHT = 5, 8
"""Bytes of memory per byte of a parsed document, and of its places (measured on records and arrays)."""


def nodes(snapshot: Snapshot, path: str, tree: Tree | None = None) -> tuple[Node, ...]:
    """Every place of the document at `path`; empty where it cannot be read. Kept while the bundle is at work."""
    doc = document(snapshot, path, tree)
    if doc is None or not doc.readable:
        return ()
    entry = (tree or snapshot.head).files[path]
    return snapshot.cache.fleeting("nodes:" + path, entry.oid, entry.size * NODES_WEIGHT, lambda: tuple(walk(doc.value)))


def places(snapshot: Snapshot, path: str, tree: Tree | None = None) -> Outline:
    """The places of the document at `path` by column; none where it cannot be read."""
    doc = document(snapshot, path, tree)
    return doc.outline if doc else Outline(())


@dataclass(frozen=True, slots=True)
class State:
    """Whether a document can be read, without the document: its defects with their lines, or that it is an LFS pointer."""

    readable: bool
    defects: tuple[Defect, ...] = ()
    lfs: bool = False


def state(snapshot: Snapshot, path: str, tree: Tree | None = None) -> State | None:
    """The state of the document at `path`, kept by object id; None where it is absent, no plain file, too large or missing."""
    entry = (tree or snapshot.head).files.get(path)
    if entry is None or not entry.is_file or entry.size < 0 or not is_document(path):
        return None
    limits = snapshot.config.limits
    if entry.size > (limits.yaml_bytes if path.endswith(YAML_SUFFIXES) else limits.json_bytes):
        return None
    return snapshot.cache.by_blob("state:" + path, entry.oid, 256, lambda: _state(document(snapshot, path, tree)))


def _state(doc: Document | None) -> State:
    if doc is None:
        return State(False, lfs=True)
    return State(doc.readable, tuple(replace(defect, line=defect.line or defect_line(doc, defect)) for defect in doc.defects))


# ---------------------------------------------------------------- where a pointer stands


def locate(document: Document, parts: tuple[str, ...]) -> tuple[int, int] | None:
    """First and last line (1-based) of the place at `parts`: of the key and its value. None where there is no such place."""
    return locate_all(document, (parts,)).get(parts)


def locate_all(document: Document, wanted: Collection[tuple[str, ...]]) -> dict[tuple[str, ...], tuple[int, int]]:
    """The lines of every place of `wanted` that is there, found together: a document is gone through once."""
    return yaml_places(document.text, wanted) if document.language == "yaml" else json_places(document.text, wanted)


def defect_line(document: Document, defect: Defect) -> int | None:
    """The line of a doubled key (its second occurrence) or of a forbidden constant."""
    if document.language != "json" or not document.readable:
        return None
    return constant_line(document.text, defect.name) if defect.kind == "constant" else doubled_line(document.text, defect.name)


def stable_pointer(value: Any, parts: tuple[str, ...]) -> str:
    """`parts` with every array index replaced by the element's `id`, `name` or `path`, where it has one."""
    named: list[str] = []
    for part in parts:
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
            name = next((value[k] for k in ("id", "name", "path") if isinstance(value.get(k), str)), None) if isinstance(value, dict) else None
            named.append(f"[{name}]" if name else part)
        elif isinstance(value, dict) and part in value:
            value = value[part]
            named.append(part)
        else:
            named.append(part)
            value = None
    return pointer(tuple(named))


def at(path: str, place: Path, role: Any = "claim") -> Location:
    """The location of a place in a document."""
    return Location(path, pointer=pointer(place), role=role)


__all__ = [
    "DOUBLE",
    "DOUBLE_DIGITS",
    "JSON_SUFFIXES",
    "LINES_SUFFIXES",
    "NUMBERS",
    "YAML_SUFFIXES",
    "Defect",
    "Document",
    "Node",
    "Number",
    "Outline",
    "Path",
    "State",
    "at",
    "decode",
    "defect_line",
    "document",
    "is_document",
    "is_lfs_pointer",
    "is_numbers",
    "locate",
    "nodes",
    "number",
    "parse_pointer",
    "places",
    "pointer",
    "read_json",
    "read_yaml",
    "resolve",
    "stable_pointer",
    "state",
    "walk",
]
