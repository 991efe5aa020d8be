"""Markdown as blocks and tables with their lines."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.core.config import Limits
from rules.reading.markdown import Markdown, read_markdown, spoken

DOCUMENT = """\
---
title: x
---
# Guide

First line
second line with `code`.

## Results

- one item
  over two lines
- [ ] to do
- [x] done

> quoted words
> go on

```json
{"a": 1}
```

| arm | time |
|-----|------|
| base | **12 s** |

<!-- hidden
text -->

<details><summary>More</summary>

inside

</details>

Setext
======
last
"""


def read(text: str) -> Markdown:
    found = read_markdown(text, "README.md")
    assert found is not None
    return found


def test_blocks_have_lines_sections_and_kinds() -> None:
    seen = [(b.kind, b.line, b.end_line, b.quoted, b.section[-1:]) for b in read(DOCUMENT).blocks]
    assert seen == [
        ("heading", 4, 4, False, ()),
        ("paragraph", 6, 7, False, ("Guide",)),
        ("heading", 9, 9, False, ("Guide",)),
        ("item", 11, 12, False, ("Results",)),
        ("item", 13, 13, False, ("Results",)),
        ("item", 14, 14, False, ("Results",)),
        ("quote", 16, 17, True, ("Results",)),
        ("code", 20, 21, True, ("Results",)),
        ("row", 23, 23, False, ("Results",)),
        ("row", 25, 25, False, ("Results",)),
        ("html", 27, 28, True, ("Results",)),
        ("html", 30, 30, False, ("Results",)),
        ("paragraph", 32, 32, False, ("Results",)),
        ("heading", 36, 36, False, ()),
        ("paragraph", 38, 38, False, ("Setext",)),
    ]


def test_boxes_code_spans_and_tables() -> None:
    found = read(DOCUMENT)
    assert [b.checked for b in found.blocks if b.kind == "item"] == [None, False, True]
    assert [(s.text, s.line) for b in found.blocks for s in b.code_spans] == [("code", 7)]
    assert found.tables[0].header == ("arm", "time")
    assert [(row.cells, row.line) for row in found.tables[0].rows] == [(("base", "12 s"), 25)]
    assert found.tables[0].line == 23


def test_spoken_blocks_are_the_authors_own() -> None:
    assert not any(b.kind in ("quote", "code") for b in spoken(read(DOCUMENT)))


def test_line_of_an_offset() -> None:
    block = read("a\nb **c**\nd").blocks[0]
    assert block.line_at(block.text.index("c")) == 2


def test_windows_line_ends_count_once() -> None:
    assert [b.line for b in read("a\r\n\r\nb\r\n").blocks] == [1, 3]


def test_above_the_limits_nothing_is_read() -> None:
    limits = Limits(markdown=10)  # type: ignore[call-arg]
    assert read_markdown("x" * 11, limits=limits) is None
    cells = Limits(table_cells=3)  # type: ignore[call-arg]
    assert read_markdown("|a|b|\n|-|-|\n|1|2|\n", limits=cells) is None


@pytest.mark.parametrize("unit", ["> ", "- ", "1. ", ">", "  "])
def test_deep_nesting_does_not_crash(unit: str) -> None:
    read_markdown(unit * 1000 + "x")
    read_markdown("\n".join(unit * n + "- x" for n in range(300)))


UNITS = [
    "[",
    "*",
    "`",
    "<",
    "> ",
    "> a\n",
    "- ",
    "- a\n",
    "a\n",
    "a|b\n-|-\n",
    "|",
    "**a ",
    "<!-- \n\n",
    "[a]: x\n",
    ">\n\n",
    "`a``b",
    "<div>\n",
    "a\n=\n",
    "***",
    "---\n",
]


@pytest.mark.parametrize("unit", UNITS)
def test_is_linear_or_refused(unit: str) -> None:
    start = time.process_time()
    read_markdown(unit * (200_000 // len(unit)))
    assert time.process_time() - start < 1.5


def test_lazy_lines_under_deep_quotes_are_bounded() -> None:
    start = time.process_time()
    read_markdown("> " * 90 + "\n" + "a\n" * 9_900)
    assert time.process_time() - start < 1.5


@given(st.text(alphabet="ab1 \n*_~`[]()!<>&#|-=:.\\\t", max_size=300))
def test_lines_lie_inside_the_source(text: str) -> None:
    found = read_markdown(text)
    lines = text.count("\n") + 1
    for block in found.blocks if found else ():
        assert 1 <= block.line <= block.end_line <= lines
