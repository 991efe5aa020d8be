"""Nothing is sent to a line that the diff does not show."""

import pytest

from bot.review.positions import Spot, hunks, spot
from rules.core.model import Location
from tests.bot.review.talks import File, files

PATCH = "@@ -10,4 +10,5 @@ def f():\n a\n-b\n+B\n+C\n d\n e\n@@ -40,2 +41,2 @@\n x\n+y\n-z\n\\ No newline at end of file"


def at(line: int | None, end: int | None = None, path: str = "a.json", **parts: object) -> Location:
    return Location(path, line=line, end_line=end if end is not None else line, **parts)  # type: ignore[arg-type]


def placed(location: Location, patch: str | None = PATCH, status: str = "modified") -> Spot | None:
    return spot(location, files(File("a.json", status, patch)))


def test_the_lines_that_a_patch_shows() -> None:
    assert [list(found) for found in hunks(PATCH)] == [[], [10, 11, 12, 13, 14], [41, 42]]


@pytest.mark.parametrize(("line", "end", "wanted"), [(10, 10, (10, None)), (11, 13, (13, 11)), (14, 14, (14, None)), (42, 42, (42, None))])
def test_a_line_or_a_range_of_one_hunk(line: int, end: int, wanted: tuple[int, int | None]) -> None:
    assert placed(at(line, end)) == Spot("a.json", *wanted)


@pytest.mark.parametrize("line", [1, 9, 15, 40, 43, 5000])
def test_t04_a_line_outside_every_hunk_goes_to_the_file(line: int) -> None:
    assert placed(at(line)) == Spot("a.json")


def test_t05_a_range_of_one_line_is_a_line() -> None:
    found = placed(at(12, 12))
    assert found == Spot("a.json", 12) and found.start_line is None


def test_a_range_over_two_hunks_marks_its_first_line() -> None:
    assert placed(at(13, 41)) == Spot("a.json", 13)
    assert placed(at(9, 12)) == Spot("a.json")


def test_t07_a_binary_file_gets_a_file_comment() -> None:
    assert placed(at(3), patch=None) == Spot("a.json")


def test_t08_a_renamed_file_without_a_patch_gets_a_file_comment() -> None:
    assert placed(at(3), patch=None, status="renamed") == Spot("a.json")
    assert placed(at(12), status="renamed") == Spot("a.json", 12)


def test_t27_t42_a_patch_left_out_says_nothing_about_the_file() -> None:
    """A 370 KB JSON on one line has no patch: the file is there all the same."""
    assert placed(at(1), patch=None) == Spot("a.json")
    assert placed(at(1), patch="") == Spot("a.json")


def test_a_deleted_file_gets_a_file_comment() -> None:
    assert placed(at(1), patch="@@ -1,2 +0,0 @@\n-a\n-b", status="removed") == Spot("a.json")


@pytest.mark.parametrize("location", [at(3, path="b.json"), at(3, path="pull:body"), at(12, at="b" * 40), at(4, path="issue:comment:9")])
def test_what_is_not_in_the_diff_is_for_the_body(location: Location) -> None:
    assert placed(location) is None


def test_a_place_without_a_line() -> None:
    assert placed(at(None)) == Spot("a.json")


@pytest.mark.parametrize("patch", ["garbage", "@@ -1 +1 @@", "@@ -1,9999999999 +1,2 @@\n+a", "@@ -5,3 +5,9 @@\n+a", "\n\n\n"])
def test_a_strange_or_cut_patch_shows_only_what_it_shows(patch: str) -> None:
    found = placed(at(5), patch=patch)
    assert found in (Spot("a.json"), Spot("a.json", 5))
    assert placed(at(6), patch=patch) == Spot("a.json")
