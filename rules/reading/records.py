"""Tables and record streams as documents: CSV, TSV and JSONL, one object per row, with the line of each."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from rules.core.model import Location, Missing, Role, Snapshot, Tree
from rules.reading.documents import LINES_SUFFIXES, Document, Path, document, is_document, number, pointer
from rules.reading.markdown import Markdown
from rules.reading.statistic_keys import read_key

TABLE_SUFFIXES = (".csv", ".tsv")
TABLE_BYTES = 4 * 1024 * 1024
ROWS = 100_000
COLUMNS = 200
_LITERAL = r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?"
_NUMBER, _ALL_NUMBERS = re.compile(_LITERAL + r"\Z"), re.compile(rf"{_LITERAL}(?:\n{_LITERAL})*+")


@dataclass(frozen=True)
class Records(Document):
    """A list of rows. `lines[i]` is the 1-based line where row i begins; `key_lines` that of a key, in a table whose rows are the keys."""

    lines: tuple[int, ...] = ()
    key_lines: Mapping[str, int] = field(default_factory=dict)


def is_records(path: str) -> bool:
    return path.lower().endswith((*TABLE_SUFFIXES, *LINES_SUFFIXES)) and not path.rpartition("/")[2].startswith("._")


def source(snapshot: Snapshot, path: str, tree: Tree | None = None) -> Document | None:
    """The JSON, YAML, CSV, TSV or JSONL file at `path` as a document that can be read, or None."""
    found = document(snapshot, path, tree) if is_document(path) else records(snapshot, path, tree) if is_records(path) else None
    return found if found is not None and found.readable else None


def records(snapshot: Snapshot, path: str, tree: Tree | None = None) -> Records | None:
    """The rows of the CSV, TSV or JSONL file at `path`, kept by object id; None where it is absent, larger than 4 MiB or longer than 100,000 rows."""
    tree = tree or snapshot.head
    entry = tree.files.get(path)
    if entry is None or not entry.is_file or not 0 <= entry.size <= TABLE_BYTES:
        return None

    longest = snapshot.config.limits.log_line
    try:
        return snapshot.cache.fleeting("records:" + path, entry.oid, entry.size * 8, lambda: read_records(tree.read(path), path, longest))
    except Missing:
        return None


def read_records(data: bytes, path: str, longest: int = 65536) -> Records | None:
    """The rows of a CSV, TSV or JSONL file; None where it is longer than 100,000 rows. Lines of JSONL above `longest` characters are left out."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return read_lines(text, path, longest) if path.lower().endswith(LINES_SUFFIXES) else read_table(text, path)


def read_lines(text: str, path: str = "", longest: int = 65536) -> Records | None:
    """JSONL: one value per line; lines that are no JSON are left out."""
    decoder = json.JSONDecoder(parse_float=number, parse_int=number)
    held: list[Any] = []
    lines: list[int] = []
    for line, content in enumerate(text.split("\n"), 1):
        if len(held) > ROWS:
            return None
        if not content.strip() or len(content) > longest:
            continue
        try:
            held.append(decoder.decode(content))
            lines.append(line)
        except (json.JSONDecodeError, RecursionError):
            continue
    return Records(path, held, text, language="jsonl", lines=tuple(lines))


def read_table(text: str, path: str = "") -> Records | None:
    """CSV or TSV with a header. A row whose label is the name of a statistic (`mean,41.2`) becomes `{"mean": {column: value}}`."""
    head = text[: text.find("\n") + 1 or len(text)]
    delimiter = "\t" if head.count("\t") >= max(1, head.count(",")) else ";" if head.count(";") > head.count(",") else ","
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for row in reader:
            if row and not row[0].startswith("#") and any(map(str.strip, row)):
                rows.append(row)
                lines.append(reader.line_num)
                if len(rows) > ROWS + 1:
                    return None
    except csv.Error:
        return None
    return Records(path, _objects(rows), text, language="csv", lines=tuple(lines[1:]))


def _objects(rows: list[list[str]]) -> list[dict[str, Any]]:
    """The rows below the first as objects, their cells read column by column."""
    header = [cell.strip() for cell in rows[0][:COLUMNS]] if rows else []
    cells = [row[: len(header)] for row in rows[1:]]
    if {len(row) for row in cells} <= {len(header)}:
        made = [dict(zip(header, row, strict=True)) for row in zip(*map(_cells, zip(*cells, strict=True)), strict=True)]
    else:
        made = [dict(zip(header, _cells(row), strict=False)) for row in cells]
    for at, row in enumerate(rows[1:]):
        label = next((cell.strip() for cell in row if cell.strip()), "")
        if not label[0].isdigit() and len(label) < 24 and _is_statistic(label):
            made[at] = {label: {name: value for name, value in made[at].items() if value != label}}
    return made


@lru_cache(maxsize=4096)
def _is_statistic(label: str) -> bool:
    read = read_key(label)
    return read.statistic is not None and not read.content


def _cells(texts: Sequence[str]) -> list[Any]:
    """Numbers where cells are numbers, None where they are empty."""
    bare = [text.strip() for text in texts]
    if _ALL_NUMBERS.fullmatch("\n".join(bare)):
        return list(map(number, bare))
    return [number(text) if _NUMBER.match(text) else (text or None) for text in bare]


def of_tables(found: Markdown | None) -> Iterator[Records]:
    """The tables of a Markdown document: one object per row under the header, and one per column under the rows' first cells."""
    for table in found.tables if found else ():
        header = [cell.strip() for cell in table.header[:COLUMNS]]
        rows = [row for row in table.rows[:ROWS] if row.cells]
        by_row = [_labelled(header, row.cells) for row in rows]
        yield Records(found.path if found else "", by_row, "", language="table", lines=tuple(row.line for row in rows))
        lines = {row.cells[0].strip(): row.line for row in rows}
        by_column = [{row.cells[0].strip(): row.cells[i].strip() for row in rows if i < len(row.cells)} for i in range(1, len(header))]
        yield Records(found.path if found else "", by_column, "", language="table", lines=(table.line,) * len(by_column), key_lines=lines)


def _labelled(header: list[str], cells: Sequence[str]) -> dict[str, Any]:
    return {name: cell.strip() for name, cell in zip(header, cells, strict=False) if name}


def place(doc: Document, path: Path, role: Role = "claim") -> Location:
    """Where `path` stands in `doc`: a pointer in JSON and YAML, the row's line in a table or record stream."""
    if isinstance(doc, Records):
        row = path[0] if path and isinstance(path[0], int) else None
        line = doc.lines[row] if row is not None and row < len(doc.lines) else 1
        line = doc.key_lines.get(str(path[1]), line) if len(path) > 1 else line
        return Location(doc.path, line=line, role=role, text=pointer(path))
    return Location(doc.path, pointer=pointer(path), role=role)


def named_file(snapshot: Snapshot, holder: str, text: str, roots: tuple[str, ...]) -> str | None:
    """The file of head that a string in `holder` names: from the holder's folder, or from one of `roots`."""
    name = text.strip().removeprefix("./")
    if not name or len(name) > 300 or "\n" in name or "." not in name:
        return None
    for folder in (holder.rpartition("/")[0], *roots, ""):
        candidate = f"{folder}/{name}".lstrip("/")
        if candidate in snapshot.head.files:
            return candidate
    return None
