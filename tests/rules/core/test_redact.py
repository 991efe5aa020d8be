"""What private text looks like when it is shown, however a text writes the path."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.core.redact import excerpt, plain_root, private_homes, private_name, redact

SHOWN = {
    "/home/jane/models": "/home/<name>/models",
    "/Users/jane": "/Users/<name>",
    "C:\\Users\\jane\\x": "C:\\Users\\<name>\\x",
    "C:\\\\Users\\\\jane\\\\x": "C:\\\\Users\\\\<name>\\\\x",
    "D:/Users/jane/x": "D:/Users/<name>/x",
    "C:\\Users\\Jane Q. Doe\\x": "C:\\Users\\<name>\\x",
    "file:///home/jane/x": "file:///home/<name>/x",
    "file:%2F%2F%2Fhome%2Fjane%2Fx": "file:%2F%2F%2Fhome%2F<name>%2Fx",
    '"\\/home\\/jane\\/x"': '"\\/home\\/<name>\\/x"',
    "/artifacts/~1home~1jane~1models": "/artifacts/~1home~1<name>~1models",
    "/mnt/c/Users/jane/x": "/mnt/c/Users/<name>/x",
    "gcc -I/home/jane/include": "gcc -I/home/<name>/include",
    "日志在/home/jane/logs": "日志在/home/<name>/logs",
    "see /home/jane.": "see /home/<name>",
    "/home/jane and C:\\Users\\bob, then": "/home/<name> and C:\\Users\\<name>, then",
}
KEPT = [
    "evidence/home/jane/x",
    "https://example.org/home/jane",
    "../home/jane",
    "a-/home/jane",
    "/home/runner/work",
    "/home/$USER/x",
    "/home/<user>/x",
    "/home/{name}",
    "/home/...",
    "GET /users/jane",
    "C:\\Users\\Public\\x",
    "~1home~1ubuntu~1x",
]


@pytest.mark.parametrize("text", SHOWN, ids=SHOWN.keys())
def test_names_are_replaced(text: str) -> None:
    assert redact(text) == SHOWN[text] and redact(SHOWN[text]) == SHOWN[text]


@pytest.mark.parametrize("text", KEPT)
def test_what_names_nobody_is_left(text: str) -> None:
    assert redact(text) == text and private_homes(text) == []


def test_any_case_is_for_what_was_folded() -> None:
    assert redact("claim:logs at /users/jane/x", any_case=True) == "claim:logs at /users/<name>/x"


@pytest.mark.parametrize(
    ("written", "plain"), [("~1home~1", "/home/"), ("%2FUsers%2F", "/Users/"), ("C:\\\\Users\\\\", "C:\\Users\\"), ("\\/home\\/", "/home/")]
)
def test_roots_as_people_write_them(written: str, plain: str) -> None:
    assert plain_root(written) == plain


def test_control_characters_are_made_visible() -> None:
    assert redact("a\x1b[31mb\u202e\x00\tc\nd") == "a\ufffd[31mb\ufffd\ufffd\tc\nd"


def test_an_excerpt_is_one_line_redacted_before_it_is_cut() -> None:
    text = "x" * 30 + "\n /home/janeandsomebody/y"
    assert excerpt(text, 44) == "x" * 30 + " /home/<name>…" and len(excerpt("y" * 999)) == 160


@given(st.text(alphabet="/\\~1%2FhomeUsrsCc: .'jane-<>", max_size=200))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once and all(private_name(name) for *_, name in private_homes(text))


@pytest.mark.parametrize("piece", ["/home/", "C:\\Users\\", "~1", "/mnt/c", " /home/a", "a ", "%2F"])
def test_linear_time(piece: str) -> None:
    start = time.process_time()
    redact("C:\\Users\\" + piece * (1_000_000 // len(piece)))
    assert time.process_time() - start < 8
