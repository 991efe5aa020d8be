"""JSON and YAML as they are committed: doubled keys, forbidden numbers, encodings, printed precision, depth, alias bombs, and the lines of every pointer."""

import json
import time
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.core.config import Config
from rules.reading.documents import (
    Document,
    Number,
    defect_line,
    document,
    is_document,
    locate,
    locate_all,
    nodes,
    number,
    parse_pointer,
    pointer,
    read_json,
    read_yaml,
    resolve,
    stable_pointer,
    state,
    walk,
)
from tests import worlds


def defects(doc: Document) -> list[tuple[str, int | None]]:
    return [(defect.kind, defect.line or defect_line(doc, defect)) for defect in doc.defects]


# ---------------------------------------------------------------- what is wrong with a document


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b'{"a": 1,\n "b": {"a": 1,\n  "a": 2}}', [("duplicate", 3)]),
        (b'[{"a": 1}, {"a": 1}]', []),
        (b'{"a": {"b": 1}, "b": {"b": 1}}', []),
        (b'{"a": 1, "\\u0061": 2}', [("duplicate", 1)]),
        (b'{"a": [1,\n NaN,\n -Infinity]}', [("constant", 2), ("constant", 3)]),
        (b'{"a": "NaN",\n "b": Infinity}', [("constant", 2)]),
    ],
)
def test_json_that_is_read_with_defects(data: bytes, wanted: list[tuple[str, int | None]]) -> None:
    doc = read_json(data)
    assert doc.readable and doc.value is not None and defects(doc) == wanted


@pytest.mark.parametrize(
    ("data", "kind", "message", "line"),
    [
        (b"", "syntax", "it is empty", 1),
        (b" \n ", "syntax", "it is empty", 2),
        (b'{"a": 1\n"b"}', "syntax", "expecting ',' delimiter", 2),
        (b'{"a": 1}\n{"b": 2}', "syntax", "extra data", 2),
        (b"// no\n{}", "syntax", "expecting value", 1),
        ('{"a": "é"}'.encode("latin-1"), "encoding", "it is not UTF-8 (byte 8 is 0xe9)", None),
        ("{}".encode("utf-16"), "encoding", "it is UTF-16, not UTF-8", None),
        ("{}".encode("utf-16-le"), "encoding", "it is UTF-16, not UTF-8", None),
        ('{"a": "语"}'.encode("utf-16-be"), "encoding", "it is UTF-16, not UTF-8", None),
        (b"[" * 10_000 + b"]" * 10_000, "depth", "its nesting is too deep to be read", None),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "depth", "its nesting is too deep to be read", None),
        (b"[" * 10_000, "depth", "its nesting is too deep to be read", None),
    ],
)
def test_json_that_cannot_be_read(data: bytes, kind: str, message: str, line: int | None) -> None:
    doc = read_json(data)
    (defect,) = doc.defects
    assert not doc.readable and doc.value is None and doc.nodes == () and (defect.kind, defect.line) == (kind, line)
    assert message in defect.message


BOMB = b"a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + b"".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n".encode() for n in range(1, 30))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (BOMB, "alias"),
        (b"a: &a [*a]", "alias"),
        (b"&a {b: *a}", "alias"),
        (b"a: [1,\n", "syntax"),
        (b"a:\n\t- b", "syntax"),
        (b'a: "\x01"', "syntax"),
        ("a: é".encode("latin-1"), "encoding"),
        ("a: 1".encode("utf-16"), "encoding"),
        (b"- " * 10_000 + b"x", "depth"),
        (b"\n".join(b" " * n + b"a:" for n in range(500)), "depth"),
        (b"? " * 300 + b"x", "depth"),
        (b"{a: " * 300 + b"1" + b"}" * 300, "depth"),
    ],
)
def test_yaml_that_cannot_be_read(data: bytes, kind: str) -> None:
    start = time.process_time()
    doc = read_yaml(data)
    assert not doc.readable and [defect.kind for defect in doc.defects] == [kind] and time.process_time() - start < 10


def test_yaml_with_defects_and_without() -> None:
    assert defects(read_yaml(b"a: 1\nb:\n  c: 1\n  c: 2\na: 3\n")) == [("duplicate", 4), ("duplicate", 5)]
    assert defects(read_yaml(b"a: 1\nb: [.nan,\n  -.inf]\n")) == [("constant", 2), ("constant", 3)]
    for harmless in ('a: "' + "[" * 500 + '"', "a: |\n" + "\n".join(" " * n + "x" for n in range(2, 300)), "- [0, 1)\n" * 3, "x: '- - - '\n" * 1):
        assert "depth" not in [kind for kind, _ in defects(read_yaml(harmless.encode()))], harmless[:20]


def test_yaml_is_composed_and_never_constructed() -> None:
    text = b"a: !!python/object/apply:os.system [x]\nb: !foo 1\nc: 2026-01-01\nd: yes\ne: ~\nf: &x {g: 1}\nh: *x\n"
    assert read_yaml(text).value == {"a": ["x"], "b": "1", "c": "2026-01-01", "d": True, "e": None, "f": {"g": 1}, "h": {"g": 1}}
    assert read_yaml(b"a: 1\n---\nb: 2").value == [{"a": 1}, {"b": 2}] and read_yaml(b"# nothing\n").value is None


def test_a_byte_order_mark_is_no_defect() -> None:
    for doc in (read_json(b'\xef\xbb\xbf{"a":\n 1}'), read_yaml(b"\xef\xbb\xbfa:\n  1")):
        assert doc.readable and doc.defects == () and doc.value == {"a": 1} and locate(doc, ("a",)) == (1, 2)


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("text", "exact", "precision"),
    [
        ("1.10", Fraction(11, 10), Fraction(1, 100)),
        ("15", Fraction(15), Fraction(1)),
        ("-0.0", Fraction(0), Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000), Fraction(1, 1000)),
        ("1.50E+2", Fraction(150), Fraction(1)),
        ("12345678901234567890123", Fraction(12345678901234567890123), Fraction(1)),
        ("0.100000000000001", Fraction(100000000000001, 10**15), Fraction(1, 10**15)),
    ],
)
def test_printed_precision_is_kept(text: str, exact: Fraction, precision: Fraction) -> None:
    for doc in (read_json(f'{{"a": {text}}}'.encode()), read_json(f'{{"a": [{text}]}}'.encode())):
        value = next(node.value for node in walk(doc.value) if isinstance(node.value, (Number, list)))
        value = value[0] if isinstance(value, list) else value
        assert (value.text, value.exact, value.precision) == (text, exact, precision)


def test_a_double_printed_with_all_its_digits_is_no_finer_than_a_double() -> None:
    value = read_json(b"0.1000000000000000000001").value
    assert value.exact == Fraction(1000000000000000000001, 10**22) and Fraction(1, 10**17) < value.precision < Fraction(1, 10**15)


def test_numbers_that_are_no_measurements_have_no_exact_value() -> None:
    for text in ("1e999999999", "1" * 5000, "NaN", "-Infinity", "1e-999"):
        value = read_json(f"[{text}]".encode()).value[0]
        assert value.exact is None and isinstance(value.precision, Fraction)


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][-+]?[0-9]{1,2})?", fullmatch=True))
def test_any_literal_is_kept(text: str) -> None:
    value = read_json(f" {text} ".encode()).value
    assert value.text == text and value.exact == Fraction(text) and number(text).text == text


def test_yaml_numbers() -> None:
    held = read_yaml(b"[1.10, 1_000, +5, .5, 5., 0x1F, '7', 1:30:00]").value
    assert [one.text if isinstance(one, Number) else one for one in held] == ["1.10", "1000", "5", ".5", "5.", "0x1F", "7", "1:30:00"]


# ---------------------------------------------------------------- pointers and lines

KEYS = st.text(alphabet='ab/~ "\\é语\u2028', max_size=4)
SCALARS = st.none() | st.booleans() | st.integers(-99, 99) | st.text(alphabet='ab"\\\n,:{}[]é', max_size=5)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12)


def written(value: Any, blanks: list[str]) -> tuple[str, dict[tuple[str, ...], tuple[int, int]]]:
    """`value` as JSON with whitespace of `blanks` between its tokens, and the lines of every place."""
    lines: dict[tuple[str, ...], tuple[int, int]] = {}
    out: list[str] = []

    def put(token: str) -> int:
        out.append(blanks[len(out) % len(blanks)])
        before = sum(piece.count("\n") for piece in out) + 1
        out.append(token)
        return before

    def write(held: Any, place: tuple[str, ...], first: int | None) -> None:
        opened = "{" if isinstance(held, dict) else "[" if isinstance(held, list) else json.dumps(held)
        start = last = put(opened)
        for place_in, item in enumerate(held.items() if isinstance(held, dict) else held if isinstance(held, list) else ()):
            if place_in:
                put(",")
            if isinstance(held, dict):
                at = put(json.dumps(item[0]))
                put(":")
                write(item[1], (*place, item[0]), at)
            else:
                write(item, (*place, str(place_in)), None)
        if isinstance(held, (dict, list)):
            last = put("}" if isinstance(held, dict) else "]")
        lines[place] = (start if first is None else first), last

    write(value, (), None)
    return "".join(out), lines


@given(VALUES, st.lists(st.sampled_from(["", " ", "\n", "\n\n  ", "\t", "\r\n"]), min_size=1, max_size=7))
def test_every_json_pointer_leads_to_its_lines(value: Any, blanks: list[str]) -> None:
    text, lines = written(value, blanks)
    doc = read_json(text.encode())
    assert doc.readable and doc.value == value
    assert locate_all(doc, list(lines)) == lines
    assert all(locate(doc, place) == where for place, where in list(lines.items())[:5])
    for node in doc.nodes:
        assert parse_pointer(node.pointer) == tuple(map(str, node.path)) and resolve(doc.value, parse_pointer(node.pointer)) is node.value


def block(value: Any, indent: int, place: tuple[str, ...], out: list[str], lines: dict[tuple[str, ...], tuple[int, int]], first: int) -> None:
    """`value` in YAML's block style, one place a line; `first` is the line of its key or dash, which is out already."""
    if not isinstance(value, (dict, list)) or not value:
        out[-1] += " " + json.dumps(value)
        lines[place] = first, len(out)
        return
    for key, held in value.items() if isinstance(value, dict) else enumerate(value):
        out.append(" " * indent + (f"{json.dumps(key)}:" if isinstance(value, dict) else "-"))
        block(held, indent + 2, (*place, str(key)), out, lines, len(out))
    lines[place] = first, len(out)


_YAML_SCALARS = st.none() | st.booleans() | st.integers(-99, 99) | st.text(alphabet='ab",:{}[]é#', max_size=5)
_YAML_KEYS = st.text(alphabet="ab/~ é语", min_size=1, max_size=4)
_YAML_VALUES = st.recursive(_YAML_SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_YAML_KEYS, inner, max_size=4), max_leaves=12)


@given(st.dictionaries(_YAML_KEYS, _YAML_VALUES, min_size=1, max_size=4))
def test_every_yaml_pointer_leads_to_its_lines(value: dict[str, Any]) -> None:
    out: list[str] = ["# top"]
    lines: dict[tuple[str, ...], tuple[int, int]] = {}
    block(value, 0, (), out, lines, 1)
    doc = read_yaml(("\n".join(out) + "\n").encode())
    assert doc.readable and doc.value == value
    for place, (first, last) in lines.items():
        # An empty line of the list's own has its element start where the element is written.
        found = locate(doc, place)
        assert found is not None and found[1] == last and first <= found[0] <= first + 1, (place, found, (first, last))


def test_places_that_are_not_there() -> None:
    for doc in (read_json(b'{"a": [1, 2], "b": null}'), read_yaml(b"a: [1, 2]\nb: null\n")):
        for parts in (("c",), ("a", "2"), ("a", "-1"), ("a", "x"), ("b", "c"), ("a", "0", "0"), ("a", "²")):
            assert locate(doc, parts) is None, parts
    assert locate(read_json(b"{"), ("a",)) is None and locate(read_yaml(b"a: ["), ("a",)) is None


def test_of_a_doubled_key_the_value_that_counts_is_shown() -> None:
    assert locate(read_json(b'{"a": 1,\n"a": 2}'), ("a",)) == (2, 2) and locate(read_yaml(b"a: 1\na: 2\n"), ("a",)) == (2, 2)


def test_documents_in_one_yaml_text_are_a_list() -> None:
    doc = read_yaml(b"a: 1\n---\nb:\n  c: 2\n")
    assert locate(doc, ("1", "b", "c")) == (4, 4) and locate(doc, ("2",)) is None


def test_many_pointers_of_a_large_document_are_found_in_one_pass() -> None:
    doc = read_json(json.dumps([{"x": [1.5] * 20, "y": {"z": n}} for n in range(20_000)], indent=1).encode())
    start = time.process_time()
    found = locate_all(doc, [(str(n), "y", "z") for n in range(0, 20_000, 10)])
    assert len(found) == 2_000 and time.process_time() - start < 10


def test_indices_give_way_to_names() -> None:
    value = {"runs": [{"id": "a"}, {"name": "b", "x": [{"path": "p/q"}, 3]}, {"id": 5}]}
    wanted = {
        "/runs/0": "/runs/[a]",
        "/runs/1/x/0/path": "/runs/[b]/x/[p~1q]/path",
        "/runs/1/x/1": "/runs/[b]/x/1",
        "/runs/2": "/runs/2",
        "/gone/1": "/gone/1",
    }
    assert {text: stable_pointer(value, parse_pointer(text)) for text in wanted} == wanted


@given(st.lists(st.text(alphabet="a/~1 0é", max_size=4), max_size=4))
def test_pointers_are_read_as_they_are_written(parts: list[str]) -> None:
    assert parse_pointer(pointer(tuple(parts))) == tuple(parts)


# ---------------------------------------------------------------- from a tree


def test_what_counts_as_a_document() -> None:
    assert [is_document(path) for path in ("a.json", "b/c.yml", "d.yaml", "e.ipynb", "._a.json", "b/._c.yml", "a.jsonl", "a.json.gz", "json")] == [
        True
    ] * 4 + [False] * 5


def test_limits_links_pointers_and_missing_objects() -> None:
    lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 5\n"
    held = worlds.snapshot(
        {"a.json": "[1]", "big.json": "[" + "1," * 99 + "1]", "l.json": lfs, "b.json": "{"}, config=Config.model_validate({"limits": {"json": 150}})
    )
    assert document(held, "a.json") is document(held, "a.json") is not None
    assert document(held, "gone.json") is document(held, "big.json") is document(held, "l.json") is state(held, "big.json") is None
    assert nodes(held, "b.json") == nodes(held, "gone.json") == () and len(nodes(held, "a.json")) == 1
    found = {path: state(held, path) for path in ("a.json", "b.json", "l.json")}
    assert {path: (one.readable, one.lfs) for path, one in found.items() if one} == {
        "a.json": (True, False),
        "b.json": (False, False),
        "l.json": (False, True),
    }


@settings(max_examples=200)
@given(st.binary(max_size=60) | st.text(alphabet='{}[]:,"-.&*!|>?%#~ \n\tab01', max_size=60).map(str.encode))
def test_no_bytes_crash_a_reader(data: bytes) -> None:
    for doc in (read_json(data), read_yaml(data)):
        assert doc.readable or doc.defects
        assert all(locate(doc, parse_pointer(node.pointer)) for node in doc.nodes[:20] if doc.language == "json")
        assert all(one.line is None or one.line >= 1 for one in doc.defects)
