"""The config that `assay init` proposes, and the catalogue of rules."""

from pathlib import Path

from bot.catalogue import catalogue
from bot.detecting import bundle_globs
from bot.setting_up import detect, example
from rules.core.config import Config, read_config
from rules.engine.run import discover
from tests.bot.making import DictTree, assay, new


def test_the_example_is_the_default() -> None:
    assert read_config(example().encode()) == Config()


def test_every_commented_key_is_a_key_of_the_config() -> None:
    lines = example().splitlines()
    plain = [
        line.replace("# ", "", 1) if line.strip().startswith("#") and (":" in line or "- {" in line) and not line.rstrip().endswith(".") else line
        for line in lines
    ]
    read = read_config("\n".join(plain).encode())
    assert read.upstreams and read.rules and read.norms and read.assertions and read.decisions.requesters and read.roots[0].manifests


def test_detecting_a_layout() -> None:
    tree = DictTree(
        {
            "campaigns/a/results/x.json": "{}",
            "campaigns/b/plan/x.json": "{}",
            "other/c/results/x.json": "{}",
            "campaigns/registry.json": '[{"id": "a"}, {"id": "b"}]',
            "index.json": "{}",
        }
    )
    assert detect(tree) == ("campaigns/*", "campaigns/registry.json")
    assert read_config(example(tree).encode()).roots[0].bundles == "campaigns/*"
    assert detect(DictTree({"a.txt": "x"})) == ("evidence/*", None)


def test_init_writes_once(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    assert assay("init", made, "--write").returncode == 0
    assert read_config((made / ".github/assay.yml").read_bytes()) == Config()
    again = assay("init", made, "--write")
    assert again.returncode == 2 and "exists; it is left as it is" in again.stderr


def test_the_catalogue_says_what_the_rules_say() -> None:
    held = {(rule.id, rule.family, rule.severity.value, rule.preview, rule.doc) for rule in discover()}
    assert {(one.id, one.family, one.severity, one.preview, one.doc) for one in catalogue()} == held


def test_detecting_submitters_runs_and_code() -> None:
    submitted = {f"{division}/{who}/results/system/summary.json": "{}" for division in ("Closed", "Open") for who in ("one", "two", "three")}
    assert bundle_globs(submitted) == ("Closed/*", "Open/*")
    dated = {f"power-run-2031-01-0{day}/{kind}.log": "" for day in range(1, 7) for kind in ("a", "b")}
    assert bundle_globs(dated) == ("*",)
    one = {"example/inputs/run-20310102-1530/01/manifest.json": "{}", "example/inputs/run-20310102-1530/02/log.txt": "", "README.md": ""}
    assert bundle_globs(one) == ("example/inputs/*",)
    code = {f"app/packages/api/operations/{name}/plan/index.ts": "" for name in ("a", "b", "c")}
    assert bundle_globs(code) == ("evidence/*",)
