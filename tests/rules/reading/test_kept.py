"""What was found in a file is asked for once; what could not be read is asked for again."""

from rules.reading.kept import kept
from tests import worlds


def test_the_file_is_read_once_for_what_is_found_in_it() -> None:
    held, read = worlds.snapshot({"a.txt": "x"}), []

    def source() -> str:
        read.append("a.txt")
        return "abc"

    assert [kept(held, "letters", "a.txt", None, 1, source, tuple) for _ in range(2)] == [("a", "b", "c")] * 2
    assert read == ["a.txt"]


def test_what_cannot_be_read_is_not_kept() -> None:
    held = worlds.snapshot({"a.txt": "x"})
    assert kept(held, "letters", "a.txt", None, 1, lambda: None, tuple) == ()
    assert kept(held, "letters", "a.txt", None, 1, lambda: "abc", tuple) == ("a", "b", "c")


def test_an_absent_file_holds_nothing() -> None:
    assert kept(worlds.snapshot({}), "letters", "a.txt", None, 1, lambda: "abc", tuple) == ()
