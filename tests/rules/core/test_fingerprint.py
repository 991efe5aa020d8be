"""A finding keeps its name while lines move, indices shift, files are renamed and our wording changes."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from rules.core.fingerprint import fingerprints
from rules.core.model import Finding, Location, Severity
from rules.engine.places import Places
from rules.reading.documents import pointer
from tests import worlds


def at(location: Location, rule: str = "r", **more: str) -> Finding:
    words = {"title": "t", "problem": "p", "impact": "i", "next": "n", **more}
    return Finding(rule=rule, severity=Severity.HIGH, locations=(location,), **words)


def names(files: Mapping[str, object], *found: Finding, renames: Mapping[str, str] | None = None) -> list[str]:
    return fingerprints(found, Places(worlds.snapshot(files)).stable, renames)


def test_the_form() -> None:
    (name,) = names({}, at(Location("a.md", line=1, text="Some claim.")))
    assert name.startswith("v1:") and len(name) == 35 and set(name[3:]) <= set("0123456789abcdef")


def test_lines_wording_severity_and_spacing_do_not_matter() -> None:
    one = at(Location("a.md", line=3, text="All workers  exited\nzero."))
    other = at(Location("a.md", line=90, end_line=92, text="all workers exited zero."), title="other", problem="words")
    assert names({}, one) == names({}, other)


def test_another_rule_path_or_sentence_is_another_name() -> None:
    place = Location("a.md", line=3, text="x")
    found = [at(place), at(place, rule="s"), at(Location("b.md", line=3, text="x")), at(Location("a.md", line=3, text="y"))]
    assert len(set(names({}, *found))) == 4


def test_an_index_shifts_and_the_element_is_known_by_its_name() -> None:
    for key in ("id", "name", "path"):
        before = {"runs": [{key: "a", "x": 1}, {key: "b", "x": 2}]}
        after = {"runs": [{key: "new", "x": 0}, {key: "a", "x": 1}, {key: "b", "x": 2}]}
        assert names({"r.json": before}, at(Location("r.json", pointer="/runs/1/x"))) == names(
            {"r.json": after}, at(Location("r.json", pointer="/runs/2/x"))
        )
        assert names({"r.json": before}, at(Location("r.json", pointer="/runs/0/x"))) != names(
            {"r.json": after}, at(Location("r.json", pointer="/runs/2/x"))
        )


def test_yaml_elements_are_known_by_their_names_too() -> None:
    before, after = "runs:\n- id: a\n- id: b\n", "runs:\n- id: c\n- id: a\n- id: b\n"
    assert names({"r.yml": before}, at(Location("r.yml", pointer="/runs/1"))) == names({"r.yml": after}, at(Location("r.yml", pointer="/runs/2")))


def test_a_renamed_file_keeps_its_stories() -> None:
    old, new = Location("old.md", line=3, text="x"), Location("new.md", line=9, text="x")
    assert names({}, at(old)) == names({}, at(new), renames={"new.md": "old.md"}) != names({}, at(new))


def test_equals_are_told_apart_by_their_order() -> None:
    place = Location("a.md", line=3, text="x")
    found = names({}, at(place), at(place), at(place))
    assert len(set(found)) == 3 and found[:2] == names({}, at(place), at(place))


def test_a_pointer_into_what_cannot_be_read_is_taken_as_it_stands() -> None:
    place = Location("r.json", pointer="/a/0")
    assert names({"r.json": "{"}, at(place)) == names({}, at(place)) == names({"r.json": {"a": []}}, at(place))


_KEYS = st.text(alphabet="ab/~1 é", min_size=1, max_size=4)


@given(st.lists(_KEYS, min_size=2, max_size=5, unique=True), st.integers(0, 4))
def test_any_place_keeps_its_name_when_elements_come_before_it(ids: list[str], more: int) -> None:
    elements: list[object] = [{"id": id, "v": {id: 1}} for id in ids]
    strangers: list[object] = [{"id": f"new{n}", "v": {}} for n in range(more)]
    last = len(ids) - 1
    before = names({"r.json": elements}, at(Location("r.json", pointer=pointer((last, "v", ids[-1])))))
    after = names({"r.json": strangers + elements}, at(Location("r.json", pointer=pointer((last + more, "v", ids[-1])))))
    assert before == after
