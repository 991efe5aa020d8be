"""Quoted text shows as it is and does nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.review.quoting import code, fenced, plain, prose

RENDER = MarkdownIt("commonmark", {"html": True}).enable(["strikethrough", "table"])
TEXTS = st.text(alphabet=st.one_of(st.sampled_from("`*_[]()<>!#@&\\~|:/.-+=1 \n\tab"), st.characters(exclude_categories=["Cs", "Cc"])), max_size=60)


def tokens(text: str) -> set[str]:
    return {child.type for token in RENDER.parse(text) for child in (token, *(token.children or []))}


def visible(text: str) -> str:
    inline = [
        child.content for token in RENDER.parse(text) for child in token.children or [] if child.type in ("text", "code_inline", "text_special")
    ]
    return "".join(inline).replace("\u200b", "")


@given(TEXTS)
def test_plain_text_shows_as_it_is(text: str) -> None:
    shown = f"x {plain(text)}"
    assert tokens(shown) <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}
    assert visible(shown) == f"x {' '.join(text.split())}".rstrip()


@given(TEXTS)
def test_prose_holds_text_and_code_only(text: str) -> None:
    assert tokens(f"x {prose(text)}") <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special", "code_inline"}


@given(TEXTS)
def test_code_is_one_span(text: str) -> None:
    shown = code(text)
    assert not text.split() or visible(f"x {shown}") == f"x {' '.join(text.split())}"


@given(st.lists(TEXTS.map(lambda text: " ".join(text.split())), max_size=5))
def test_no_line_closes_the_fence(lines: list[str]) -> None:
    assert [token.type for token in RENDER.parse(fenced(lines))] == ["fence"]


@pytest.mark.parametrize(
    "text", ["@alice", "fixes #12", "GH-3", "https://x.example", "www.x.example", "a@b.example", "o/r#3", ":tada:", "mailto:a@b.c"]
)
def test_nothing_github_would_act_on(text: str) -> None:
    rendered = RENDER.render(plain(text))
    assert not re.search(r"@\w|#\d|GH-\d|://|www\.\w|:tada:|mailto:\w", rendered.replace("&#8203;", "\u200b"))


@pytest.mark.parametrize("text", ["- x", "+ x", "# x", "1. x", "2) x", "= x", "-"])
def test_no_block_begins(text: str) -> None:
    assert tokens(plain(text)) <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}
