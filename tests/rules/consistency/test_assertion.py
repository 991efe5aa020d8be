"""A repository's own assertions: pointers with a star, every operator, exact numbers, and what cannot be checked."""

from typing import Any

import pytest

from rules.consistency.assertion import RULE, reach
from rules.core.config import Assertion, Config, ConfigError, read_config
from rules.core.model import Facts, Finding, Unchecked
from rules.reading.documents import parse_pointer, read_json
from tests import worlds

FILE = "evidence/camp/results/a.json"


def _asserted(
    document: object, op: str, value: Any = None, pointer: str = "/a", path: str = FILE, files: str = "evidence/**", **more: Any
) -> list[Any]:
    config = Config(assertions=(Assertion(files=files, pointer=pointer, op=op, value=value, message="It is not so.", **more),))  # type: ignore[arg-type]
    return worlds.run(RULE, worlds.snapshot({path: document}, config=config))


@pytest.mark.parametrize(
    ("text", "op", "value"),
    [
        ("1.10", "==", 1.1),
        ("12345678901234567891", "!=", 12345678901234567890),
        ("0.1", "<=", 0.1),
        ("0.30000000000000000001", ">", "0.3"),
        ("1e-3", "<", 0.01),
        ("5", "in", [1, 5]),
        ("null", "in", [None]),
        ('{"x": [1, "y", true]}', "==", {"x": [1.0, "y", True]}),
        ('"v1.2"', "matches", r"^v\d+\.\d+$"),
        ("42", "matches", "^4"),
        ("5.0", "type", "integer"),
        ("5.5", "type", ["string", "number"]),
        ("null", "type", "null"),
        ("true", "!=", 1),
        ('"1"', "!=", 1),
        ("null", "exists", None),
    ],
)
def test_what_holds(text: str, op: str, value: Any) -> None:
    assert _asserted(f'{{"a": {text}}}', op, value) == []


@pytest.mark.parametrize(
    ("text", "op", "value", "seen"),
    [
        ("1.11", "==", 1.1, "1.11"),
        ("true", "==", 1, "true"),
        ('"1"', "==", 1, '"1"'),
        ('"1"', "<", 2, '"1"'),
        ("null", "<=", 3, "null"),
        ("NaN", "<", 3, "NaN"),
        ("[1, 2]", "==", [1], "a list of 2"),
        ('{"x": 1}', "type", "array", "an object of 1"),
        ("5.5", "type", "integer", "5.5"),
        ("true", "type", "number", "true"),
        ('"GREEN"', "in", ["PASS", "FAIL"], '"GREEN"'),
        ('"latest"', "matches", "^v", '"latest"'),
        ("null", "matches", "", "null"),
        ("0", "absent", None, "0"),
    ],
)
def test_what_does_not_hold(text: str, op: str, value: Any, seen: str) -> None:
    (found,) = _asserted(f'{{"a": {text}}}', op, value)
    assert isinstance(found, Finding) and ("/a", seen.replace("NaN", "nan")) in found.evidence
    assert found.title == "It is not so" and found.locations[0].pointer == "/a"


def test_a_star_stands_for_every_element_and_member() -> None:
    value = read_json(b'{"arms": [{"x": 1}, {"y": 2}, {"x": 3}], "map": {"p": {"x": 4}}, "none": []}').value
    assert [place for place, _ in reach(value, parse_pointer("/arms/*/x")).places] == [("arms", 0, "x"), ("arms", 2, "x")]
    assert reach(value, parse_pointer("/arms/*/x")).short == (("arms", 1),)
    assert [place for place, _ in reach(value, parse_pointer("/*/*/x")).places] == [("arms", 0, "x"), ("arms", 2, "x"), ("map", "p", "x")]
    assert reach(value, parse_pointer("/none/*")).short == (("none",),)


def test_one_finding_for_an_assertion_and_a_file_with_the_values_seen() -> None:
    (found,) = _asserted({"arms": [{"exit": 0}, {"exit": 1}, {"exit": -9}]}, "==", 0, "/arms/*/exit", severity="high")
    assert [at.pointer for at in found.locations] == ["/arms/1/exit", "/arms/2/exit"]
    assert found.severity == "high" and {value for _, value in found.evidence} >= {"1", "-9"}


def test_what_the_pointer_does_not_reach_is_not_checked() -> None:
    (nothing,) = _asserted({"b": 1}, "==", 1)
    assert isinstance(nothing, Unchecked) and nothing.why == "nothing stands at /a"
    (some,) = _asserted({"arms": [{"exit": 0}, {}]}, "==", 0, "/arms/*/exit")
    assert isinstance(some, Unchecked) and some.why == "1 of 2 elements have nothing at /arms/*/exit"


def test_exists_and_absent() -> None:
    (missing,) = _asserted({"arms": [{"seed": 1}, {}]}, "exists", pointer="/arms/*/seed")
    assert [at.pointer for at in missing.locations] == ["/arms/1"]
    assert isinstance(_asserted({"b": 1}, "exists")[0], Finding)
    assert _asserted({"b": 1}, "absent") == []


def test_only_documents_that_the_glob_matches_and_that_can_be_read() -> None:
    assert _asserted({"a": 2}, "==", 1, files="other/**") == []
    assert _asserted("a: 2", "==", 1, path="evidence/camp/run.log") == []
    (broken,) = _asserted("{", "==", 1)
    assert isinstance(broken, Unchecked) and broken.why == "the document cannot be read"
    (outside,) = _asserted("a: 2\n", "==", 1, path="docs/a.yml", files="docs/*.yml")
    assert isinstance(outside, Finding) and outside.locations[0].path == "docs/a.yml"


def test_with_a_base_only_what_the_pull_touches() -> None:
    config = Config(assertions=(Assertion(files="**", pointer="/a", op="==", value=1, message="No."),))
    held = worlds.snapshot({"x.json": {"a": 2}, "y.json": {"a": 2}}, base={"x.json": {"a": 2}, "y.json": {"a": 1}}, config=config)
    assert [one.locations[0].path for one in RULE.check(held, Facts()) if isinstance(one, Finding)] == ["y.json"]  # type: ignore[misc]


def test_private_names_and_long_values_are_not_repeated() -> None:
    (found,) = _asserted({"a": "/home/jane/" + "x" * 500}, "==", 1)
    assert "jane" not in str(found) and len(found.problem) < 400


@pytest.mark.parametrize(
    ("assertion", "said"),
    [
        ('pointer: /a, op: "<", value: many', "assertions.0: `<` needs a number for its value"),
        ('pointer: /a, op: matches, value: "("', "`matches` needs a regular expression (RE2) for its value"),
        ("pointer: /a, op: in, value: 3", "`in` needs a list for its value"),
        ("pointer: /a, op: type, value: float", "`type` needs one or a list of object, array, string"),
        ("pointer: a, op: exists", "assertions.0.pointer: string should match pattern"),
        ("pointer: /a, op: is, value: 1", "assertions.0.op: input should be 'exists', 'absent'"),
        ('pointer: /a, op: "==", value: 2026-01-01', "put dates and times in quotes"),
    ],
)
def test_an_assertion_that_cannot_be_used_is_one_sentence(assertion: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_config(f'assertions: [{{files: "**", {assertion}, message: m}}]'.encode())
    assert said in str(error.value) and "\n" not in str(error.value)
