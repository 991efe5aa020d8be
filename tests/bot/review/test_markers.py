"""A marker tells only what the bot itself has posted."""

import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.review.ledger import Ledger, Override, Point, Standing, State, ledger_object, newest, overridden, read_ledger
from bot.review.markers import MARKER_LIMIT, Marker, mark_of, read, signed, without
from rules.core.model import Severity
from tests.bot.review.talks import KEY, TALK

POINT = Point("v1:" + "0" * 32, "fake-rule", "Ein Titel -- 标题 -->", "e/r.json:3", "e/r.json", pointer="/a", value="1", surfaces=("tree", "pull"))
STORY = Standing(3, State.WAIVED, Severity.HIGH, "author", (POINT,), ("ab",), override=Override("waived", "alice", "known --> noise", "2026-12-01"))
LEDGER = Ledger(TALK, 4, "a" * 40, (STORY,), True, "memory", 9)


def test_a_ledger_comes_back_as_it_was() -> None:
    marker = read(f"words\n\n{signed(Marker('review', TALK, LEDGER), KEY)}", KEY, TALK)
    assert marker is not None and marker.ledger == LEDGER
    assert read_ledger(ledger_object(LEDGER)) == LEDGER


def test_an_inline_marker_comes_back() -> None:
    text = signed(Marker("inline", TALK, number=3, fingerprint="v1:x", state="open"), KEY)
    assert read(text, KEY, TALK) == Marker("inline", TALK, number=3, fingerprint="v1:x", state="open")
    assert text.startswith("<!-- ") and "--" not in text[5:-4] and mark_of(f"x {text}") in text


@pytest.mark.parametrize("other", [(b"another key", TALK), (KEY, "7#321")])
def test_forged_or_copied_markers_do_not_count(other: tuple[bytes, str]) -> None:
    assert read(signed(Marker("review", TALK, LEDGER), KEY), *other) is None


def test_forged_markers_tampered_with_do_not_count() -> None:
    text = signed(Marker("inline", TALK, number=3), KEY)
    head, kind, packed, signature = text.removesuffix(" -->").rsplit(":", 3)
    for forged in (
        f"{head}:review:{packed}:{signature} -->",
        f"{head}:{kind}:{packed[:-4]}AAAA:{signature} -->",
        f"{head}:{kind}:{packed}:{'0' * 64} -->",
    ):
        assert read(forged, KEY, TALK) is None


@given(st.text(alphabet=string.printable + "<!-- assay:v1:review:", max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert read(text, KEY, TALK) is None


def test_a_genuine_marker_with_senseless_content_is_none() -> None:
    from bot.review import markers

    assert read(markers._text("review", TALK, {"ledger": {"standings": [{"state": "no such state"}]}}, KEY), KEY, TALK) is None
    assert read(markers._text("review", TALK, {"ledger": [1]}, KEY), KEY, TALK) is None


def test_a_long_ledger_is_shortened_and_gives_no_number_twice() -> None:
    many = [
        replace(STORY, number=n, points=tuple(replace(POINT, fingerprint=f"v1:{n * 100 + p:032x}", title="ü" * 90 + str(n * p)) for p in range(9)))
        for n in range(1, 400)
    ]
    text = signed(Marker("review", TALK, replace(LEDGER, standings=tuple(many), last=399)), KEY)
    marker = read(text, KEY, TALK)
    assert len(text) <= MARKER_LIMIT and marker and marker.ledger and marker.ledger.last == 399 and marker.ledger.standings


def test_what_github_does_to_a_body_is_no_difference() -> None:
    marker = signed(Marker("inline", TALK, number=3), KEY)
    assert without(f"a\r\nb\n\n{marker}") == without(f"a\nb\n\n{marker}\n") == "a\nb"


def test_the_newest_of_store_and_github() -> None:
    older = replace(LEDGER, serial=3)
    assert newest(older, LEDGER) is LEDGER and newest(LEDGER, older) is LEDGER and newest(None, older) is older and newest(None, None) is None
    waived = replace(LEDGER, draft=False)
    assert newest(waived, LEDGER) is waived


def test_a_command_changes_one_story() -> None:
    opened = overridden(LEDGER, 3, None)
    assert opened.standing(3) == replace(STORY, override=None, state=State.OPEN) and overridden(LEDGER, 8, None) == LEDGER
    ended = replace(LEDGER, standings=(replace(STORY, state=State.RESOLVED),))
    found = overridden(ended, 3, STORY.override).standing(3)
    assert found is not None and found.state is State.RESOLVED
