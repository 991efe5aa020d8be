"""Tables and record streams as documents: CSV, TSV and JSONL, one object per row, with the line of each."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rules.core.model import Location, Missing, Role, Snapshot, Tree
from rules.reading.documents import LINES_SUFFIXES, Document, Path, document, is_document, number, pointer
from rules.reading.markdown import Markdown
from rules.reading.statistic_keys import read_key

TABLE_SUFFIXES = (".csv", ".tsv")
TABLE_BYTES = 4 * 1024 * 1024
ROWS = 100_000
COLUMNS = 200
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?\Z")


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
    held: list[dict[str, Any]] = []
    lines: list[int] = []
    header: list[str] = []
    try:
        for row in reader:
            if not row or row[0].startswith("#") or not any(cell.strip() for cell in row):
                continue
            if not header:
                header = [cell.strip() for cell in row[:COLUMNS]]
                continue
            if len(held) >= ROWS:
                return None
            held.append(_row(header, row))
            lines.append(reader.line_num)
    except csv.Error:
        return None
    return Records(path, held, text, language="csv", lines=tuple(lines))


def _row(header: list[str], row: list[str]) -> dict[str, Any]:
    made = {name: _cell(cell.strip()) for name, cell in zip(header, row, strict=False)}
    label = next((cell.strip() for cell in row if cell.strip()), "")
    read = read_key(label)
    if len(label) < 24 and read.statistic and not read.content:
        return {label: {name: value for name, value in made.items() if value != label}}
    return made


def _cell(text: str) -> Any:
    return number(text) if _NUMBER.match(text) else (text or None)


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
