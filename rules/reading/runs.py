"""The runs of a bundle's results, and which of them a sentence speaks of: by the names, arms, numbers and figures that it shares with their records."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from rules.core.model import Bundle, Location, Missing, Snapshot, Tree
from rules.reading.documents import LINES_SUFFIXES, Node, Number, Path, document, is_document, pointer
from rules.reading.end_keys import subject_family
from rules.reading.keys import family, words
from rules.reading.lifecycle import MENTIONS, Observation, lifecycle_of, observations
from rules.reading.prefilter import mentions
from rules.reading.receipts import LINES_BYTES, Names, arm_of_text
from rules.reading.records import source

TABLES = (".csv", ".tsv", *LINES_SUFFIXES)
_LISTS = family(
    "jobs runs results arms screens cases trials experiments phases repetitions attempts records entries variants configurations benchmarks measurements samples 运行 作业"
)
_LABELS = family(
    "id name label arm variant run screen case job title role side phase stage duration campaign workload scenario profile attempt kind 名称 组 臂 场景"
)
_PLAIN = family(
    "the a an and or of in on at to for with from by its it this that these was were is are had has have been be all both each every as no not without result results record records json yaml "
    "run runs report summary receipt receipts raw data log file worker workers server servers container rank ranks exit exits exited zero clean cleanly lifecycle shutdown teardown forced "
    "signal signals process processes end ended status code codes state campaign bundle evidence measured request requests http finished completed then after before but still other final "
    "four two three one eight six five s ms steps test job jobs task tasks full normal normally graceful gracefully author reported verdict"
)
_GENERAL = re.compile(
    r"(?<![A-Za-z])(?:(?:every|each|all|any|both) (?:[A-Za-z]{2,12} ){0,2}?(?:runs?|jobs?|arms?|campaigns?|repetitions?|trials?|measurements?|experiments?|screens?|requests?)|throughout|everywhere|across the board)(?![A-Za-z])"
    r"|(?:每次|所有|全部|各次|历次)(?:的)?(?:运行|实验|测试|作业|测量)",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"(?<![\w.])\d[\d,]{0,15}(?:\.\d{1,12})?(?![\w]*[A-Za-z]{3})")
_FIGURE_WEIGHT = 5.0
_FIGURES, _LOOKS, _TEXT = 20, 50, 1024 * 1024
"""Figures of a sentence, places of each, and characters of a document that are looked at."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the results: a document, or one element of a document that lists several. `place` is its object there.

    labels  its words: of the file's name, of the fields that name it, of the keys above it; `arm:baseline` or `arm:candidate` for its arm
    """

    path: str
    place: Path
    labels: frozenset[str]
    observations: tuple[Observation, ...]

    @property
    def root(self) -> str:
        """What every finding about this run's end shares."""
        return f"record:{self.path}#{''.join('/' + str(part) for part in self.place)}/lifecycle"


def runs(snapshot: Snapshot, bundle: Bundle, tree: Tree | None = None) -> tuple[Run, ...]:
    """Every run of the bundle's own documents and tables outside plan, patch and validator, also those whose record says nothing about how they ended."""
    tree = tree or snapshot.head
    return snapshot.memo(("runs", id(tree), bundle.path), lambda: tuple(_all_runs(snapshot, bundle, tree)))


def _all_runs(snapshot: Snapshot, bundle: Bundle, tree: Tree) -> Iterator[Run]:
    for path in record_files(bundle):
        yield from runs_of(snapshot, path, tree)
    for path in bundle.part("results"):
        if path.lower().endswith(TABLES) and (found := _of_table(snapshot, path, tree)):
            yield found


def _of_table(snapshot: Snapshot, path: str, tree: Tree) -> Run | None:
    """The run of a CSV or JSONL file that tells how processes ended; None for any other."""
    entry = tree.files.get(path)
    if entry is None or not entry.is_file or not 0 <= entry.size <= LINES_BYTES:
        return None

    def make() -> Run | None:
        found = source(snapshot, path, tree)
        told = tuple(observations(found.outline)) if found and mentions(found.text, *MENTIONS) else ()
        return Run(path, (), tokens(path.rpartition("/")[2].rpartition(".")[0]), told) if told else None

    try:
        return snapshot.cache.by_blob("run:" + path, entry.oid, 4096, make)
    except Missing:
        return None


def place_of(run: Run, one: Observation, at: str | None = None) -> Location:
    """Where an observation of a run stands: its pointer in a document, its line in a table."""
    if not run.path.lower().endswith(TABLES):
        return Location(run.path, pointer=pointer(one.place), role="record", at=at)
    row = one.place[0] if one.place and isinstance(one.place[0], int) else 0
    return Location(run.path, line=row + (1 if run.path.lower().endswith(LINES_SUFFIXES) else 2), role="record", at=at, text=one.shown)


def record_files(bundle: Bundle) -> Iterator[str]:
    """The bundle's documents that may be records."""
    aside = {path for part in ("plan", "patch", "validator") for path in bundle.part(part)}
    return (path for path in bundle.files if is_document(path) and path not in aside)


def runs_of(snapshot: Snapshot, path: str, tree: Tree | None = None) -> tuple[Run, ...]:
    """The runs of one document, kept by object id."""
    entry = (tree or snapshot.head).files.get(path)
    found = document(snapshot, path, tree) if entry else None
    if entry is None or found is None or not found.readable:
        return ()
    return snapshot.cache.by_blob(
        "runs:" + path, entry.oid, 4096, lambda: tuple(_runs(path, found.outline.all(), lifecycle_of(snapshot, path, tree)))
    )


def _runs(path: str, held: Sequence[Node], told: Sequence[Observation]) -> Iterator[Run]:
    listed = {node.path for node in held if _is_run(node)}
    above = {place[:depth] for place in listed for depth in range(len(place))}
    by_place: dict[Path, list[Observation]] = {(): [], **{node.path: [] for node in held if node.path in listed - above}}
    for one in told:
        by_place[next((one.place[:depth] for depth in range(len(one.place), 0, -1) if one.place[:depth] in by_place), ())].append(one)
    named: dict[Path, set[str]] = defaultdict(set)
    for node in held:
        if node.path and node.path[:-1] in by_place:
            named[node.path[:-1]].update(_label(node))
    own = tokens(path.rpartition("/")[2].rpartition(".")[0])
    for place, mine in by_place.items():
        if mine or place or len(by_place) == 1:
            keys = (token for part in place for token in (tokens(part) if isinstance(part, str) else (str(part),)))
            yield Run(path, place, frozenset({*own, *named[()], *named[place], *keys}), tuple(mine))


def _is_run(node: Node) -> bool:
    """An element of a list of runs, or the object of an arm; not a worker of a run."""
    if not isinstance(node.value, dict) or not node.path:
        return False
    key = node.path[-1]
    if isinstance(key, str):
        return len(arm_of_text(key, Names(), value=False)) == 1 and bool(node.value) and not set(words(key)) & _PARTS
    above = next((part for part in reversed(node.path) if isinstance(part, str)), "")
    named = set(words(above))
    return bool(named & _LISTS) or (not above and not any(subject_family(word) == "worker" for k in node.value for word in words(k)))


_PARTS = family("config configuration revision commit settings parameters 配置")


def _label(node: Node) -> Iterator[str]:
    """The words of a field that names its object."""
    key = node.path[-1]
    if isinstance(key, str) and set(words(key)) & _LABELS and isinstance(node.value, (str, Number)):
        value = node.value.text if isinstance(node.value, Number) else node.value[:200]
        yield from tokens(value)
        if value.isdigit():
            yield from tokens(f"{key}{value}")


_TOKEN = re.compile(r"[A-Za-z]+\d*[A-Za-z]?(?![A-Za-z0-9])|\d+(?:\.\d+)?[A-Za-z]{0,2}(?![A-Za-z0-9])|[A-Za-z0-9]+|[\u3400-\u9fff]+")
_NUMBERED = re.compile(
    r"(?<![A-Za-z0-9])([A-Za-z]{1,12})[\s_#-]{1,2}0{0,4}(\d{1,5})(?![A-Za-z0-9.%])|(?<![\w.])(\d{1,5})\s(s|ms|k|K|GB|MB)(?![A-Za-z])"
)


def tokens(text: str) -> frozenset[str]:
    """The words by which a text can name a run, in lower case: `TP2/SP2` gives tp2 and sp2, `run 3` run3, `5 s` 5s; and its arm."""
    said = {word.lower() for word in _TOKEN.findall(re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text))}
    for match in _NUMBERED.finditer(text):
        said.add(f"{match[1]}{match[2]}".lower() if match[1] else f"{match[3]}{match[4]}".lower())
    said |= {
        f"{word[: len(word) - len(bare)]}{bare.lstrip('0')}"
        for word in said
        if (bare := re.sub(r"^\D+", "", word)).startswith("0") and bare.isdigit() and bare.lstrip("0")
    }
    said |= {f"arm:{arm}" for arm in arm_of_text(text, Names(), value=False)}
    return frozenset(word for word in said if word not in _PLAIN and (len(word) > 1 or not word.isascii()))


def spoken_of(said: Sequence[str], known: Sequence[Run], texts: Mapping[str, str]) -> tuple[Run, ...]:
    """The runs of `known` that a sentence is about: those that share most with it; all where it names none.

    said   the sentence, then what stands around it, nearest first: the first that names a run decides
    texts  the text of each document, for figures
    """
    if said and _GENERAL.search(said[0]):
        return tuple(known)
    spread = Counter(label for run in known for label in run.labels)
    for text in said:
        words_said = tokens(text)
        figures = [m[0].replace(",", "") for m in _FIGURE.finditer(text) if sum(c.isdigit() for c in m[0]) > 3]
        shared = {path: sum(_holds(held, figure) for figure in figures[:_FIGURES]) for path, held in texts.items() if len(held) <= _TEXT and figures}
        scores = {run: _score(run, words_said, spread, len(known)) + _FIGURE_WEIGHT * shared.get(run.path, 0) for run in known}
        best = max(scores.values(), default=0.0)
        if best > 0:
            return tuple(run for run in known if scores[run] >= best - 1e-9)
    return tuple(run for run in known if not _of_other_arm(run, tokens(said[0])))


def _of_other_arm(run: Run, said: frozenset[str]) -> bool:
    arms = {label for label in said if label.startswith("arm:")}
    return bool(arms) and any(label.startswith("arm:") for label in run.labels) and not arms & run.labels


def _score(run: Run, said: frozenset[str], spread: Mapping[str, int], total: int) -> float:
    if _of_other_arm(run, said):
        return 0.0
    return sum(log((total + 1) / spread[label]) for label in said & run.labels)


def _holds(text: str, figure: str) -> bool:
    """The figure stands in `text` as a number of its own, with any zeros behind its last decimal."""
    bare = figure.rstrip("0").rstrip(".") if "." in figure else figure
    start = text.find(bare)
    for _ in range(_LOOKS):
        if start < 0:
            return False
        before, after = text[start - 1 : start], text[start + len(bare) : start + len(bare) + 12]
        if not (before.isdigit() or before == ".") and re.match(r"(?:\.?0+)?(?![\d.]*\d)", after):
            return True
        start = text.find(bare, start + 1)
    return False
