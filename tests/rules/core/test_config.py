"""The config: what may be written, and every mistake as one sentence with its key or line."""

import pytest

from rules.core.config import CONFIG_LIMIT, Config, ConfigError, exact, read_config

WRONG = {
    b"rootz: []": "rootz: there is no such key.",
    b"roots: 3": "roots: it should be a list.",
    b"roots: [{bundles: 3}]": "roots.0.bundles: input should be a valid string.",
    b"rules: {hash-mismatch: loud}": "rules.hash-mismatch: input should be 'off', 'blocking', 'high', 'medium' or 'low'.",
    b"labels: [{when: {}}]": "labels.0.add: it is required.",
    b"limits: {json: -1}": "limits.json: input should be greater than or equal to 0.",
    b"upstreams: ['https://github.com/a/b']": "upstreams.0: string should match pattern",
    b"[1, 2]": "the document: it should be a mapping.",
    b"hello": "the document: it should be a mapping.",
    b"mode: check\nmode: comment": "line 2: the key mode stands twice.",
    b"roots:\n\t- a": "line 2: found character that cannot start any token.",
    b"a: 1\n---\nb: 2": "line 2: but found another document.",
    b"a: !!python/object:os.system x": "line 1: could not determine a constructor",
    b"device: " + b"[" * 50_000: "line 1: exceeded maximum nesting depth.",
    b"device: &a {b: *a}": "its aliases expand without end",
    b"a: \x00": "it is not YAML in UTF-8.",
    b"\xff\xfe\xff": "it is not YAML in UTF-8.",
    b"x" * (CONFIG_LIMIT + 1): "shorten it.",
}


@pytest.mark.parametrize("data", WRONG, ids=lambda data: data[:24].decode("latin-1"))
def test_every_mistake_is_one_sentence(data: bytes) -> None:
    with pytest.raises(ConfigError) as error:
        read_config(data)
    said = str(error.value)
    assert said.startswith(".github/assay.yml ") and WRONG[data] in said and "\n" not in said and len(said) < 400


def test_aliases_that_multiply_are_refused() -> None:
    lines = [b"device:", b"  a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]".encode() for n in range(1, 12)]
    with pytest.raises(ConfigError, match="aliases expand without end"):
        read_config(b"\n".join(lines))


def test_an_empty_file_is_the_default() -> None:
    assert read_config(b"") == read_config(b"# nothing\n") == read_config(b"{}") == Config()


def test_a_bare_off_is_the_word_though_yaml_reads_it_as_false() -> None:
    held = read_config(b"rules: {bound-unsupported: off, private-path: low}\nstatus: off")
    assert held.rules == {"bound-unsupported": "off", "private-path": "low"} and held.status == "off"


def test_aliases_within_reason_are_fine() -> None:
    held = read_config(b'roots:\n  - &one {bundles: "a/*", inventory: null}\n  - {<<: *one, bundles: "b/*"}\n')
    assert [root.bundles for root in held.roots] == ["a/*", "b/*"] and held.roots[1].inventory is None


def test_exact_numbers() -> None:
    assert exact(0.1) == exact("0.10") and exact(1e-3) == exact("1e-3") and exact(10**30) == exact("1" + "0" * 30)
    assert all(exact(value) is None for value in (True, None, float("nan"), float("inf"), "1e9999", "one", "1" * 200))
