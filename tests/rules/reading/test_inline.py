"""The visible text of a paragraph."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.reading.inline import BREAK, visible


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("**All** workers _exited_ `0` and ~~were clean~~ done", "All workers exited 0 and  done"),
        ("see [the *record*](http://u_r_l/a_b 'title') now", "see the record now"),
        ("![badge](x.png) text", " text"),
        ("[ref], [a][ref], [Campaign] title, a[i]", "ref, a, [Campaign] title, a[i]"),
        ("results/*.json and 2 * 3 * 4 and snake_case_name", "results/*.json and 2 * 3 * 4 and snake_case_name"),
        ("<baseline-sha> and <ARTIFACT_ROOT>/x", "<baseline-sha> and <ARTIFACT_ROOT>/x"),
        ("<b>bold</b> &lt;x&gt; \\*not\\*", "bold <x> *not*"),
        ("10~20ms and 30~40ms, ~5 s", "10~20ms and 30~40ms, ~5 s"),
        ("<del>old</del> new", " new"),
        ("a <!-- hidden --> b", "a  b"),
        ("one  \ntwo\\\nthree<br>four", f"one{BREAK}\ntwo{BREAK}\nthree{BREAK}four"),
        ("***a** b* **c `*d*`**", "a b c *d*"),
        ("``a ` b`` and ` alone", "a ` b and ` alone"),
        ("https://github.com/a_b/c_d/commit/12.", "https://github.com/a_b/c_d/commit/12."),
    ],
)
def test_markup_is_removed(source: str, text: str) -> None:
    assert visible(source, 1, {"REF"}).text == text


def test_every_line_break_stays() -> None:
    source = "a [x\ny](http://z 'ti\ntle') <!-- c\n --> `q\nr` ~~s\nt~~ end `code`"
    found = visible(source, 10)
    assert found.text.count("\n") == source.count("\n")
    assert [(span.text, span.line) for span in found.code_spans] == [("q\nr", 13), ("code", 15)]
    assert [(link.target, link.line) for link in found.links] == [("http://z", 11)]


def test_code_spans_know_their_offset() -> None:
    found = visible("**x** `a.json` ~~`gone`~~ `b`")
    assert [found.text[span.start : span.start + len(span.text)] for span in found.code_spans] == ["a.json", "b"]


@given(st.text(alphabet="ab1 \n*_~`[]()!<>&;\\\"'-/:。，删", max_size=200))
def test_lines_stay_on_any_text(source: str) -> None:
    found = visible(source)
    assert found.text.count("\n") == source.count("\n")
    assert all(1 <= span.line <= source.count("\n") + 1 for span in found.code_spans)


@pytest.mark.parametrize(
    "unit",
    ["[", "![", "](", "*", "*a_ ", "**a ", "`", "<", "<a ", "<del>", "&", "~~a", "[a](", "<!-- ", "\\", " ", "[a][b]", '[a](b "', "https://", "a]("],
)
def test_is_linear(unit: str) -> None:
    source = unit * (200_000 // len(unit))
    start = time.process_time()
    visible(source)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(("opening", "closing"), [("[", "](x)"), ("![", "](x)"), ("<del>", "</del>"), ("*", "*"), ("[", "]")])
def test_nesting_is_linear(opening: str, closing: str) -> None:
    start = time.process_time()
    visible(opening * 20_000 + "x" + closing * 20_000)
    assert time.process_time() - start < 1
