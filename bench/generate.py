"""Generate a repository of evidence of a given size, the same for the same seed, through `git fast-import`.

By bytes 60 % JSON, 3 % Markdown, 27 % logs and CSV, 10 % binary, as measured on repositories of this kind.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

SHARES = {"json": 0.60, "md": 0.03, "log": 0.142, "csv": 0.136, "bin": 0.10}
SUFFIX = {"json": "json", "md": "md", "log": "log", "csv": "csv", "bin": "bin"}
COUNTS = {"json": 0.55, "md": 0.12, "log": 0.13, "csv": 0.12, "bin": 0.08}


def repository(folder: Path, files: int = 2645, size: int = 42_000_000, bundles: int = 22, hashes: int = 475, seed: int = 1) -> None:
    """Write a bare repository to `folder`: `main` with all but the last bundle, `topic` with it."""
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    random_ = random.Random(seed)
    names = [f"campaign-{n:02d}" for n in range(bundles)]
    content = {
        name: dict(_bundle(name, n, size // bundles, h, random_))
        for name, n, h in zip(names, _split(files - 1, bundles), _split(hashes, bundles), strict=True)
    }
    stream = bytearray()
    first = {path: data for name in names[:-1] for path, data in content[name].items()} | {"tools/evidence_inventory.json": _inventory(names[:-1])}
    _commit(stream, "refs/heads/main", first, "", 1)
    _commit(stream, "refs/heads/topic", content[names[-1]] | {"tools/evidence_inventory.json": _inventory(names)}, "refs/heads/main", 2)
    _commit(stream, "refs/heads/again", {f"evidence/{names[-1]}/results/record-0000.json": _json(random_, 9000)}, "refs/heads/topic", 3)
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet", "--done"], input=bytes(stream) + b"done\n", check=True)


def _split(total: int, parts: int) -> list[int]:
    """`total` in `parts` nearly equal parts."""
    return [total * (n + 1) // parts - total * n // parts for n in range(parts)]


def _commit(stream: bytearray, branch: str, files: dict[str, bytes], parent: str, day: int) -> None:
    stream += f"commit {branch}\ncommitter A <a@example.org> {1_790_000_000 + 86_400 * day} +0000\ndata 6\nChange\n".encode()
    stream += f"from {parent}\n".encode() if parent else b""
    for path, data in files.items():
        stream += f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"


def _bundle(name: str, files: int, size: int, hashes: int, random_: random.Random) -> Iterator[tuple[str, bytes]]:
    base = f"evidence/{name}"
    yield f"{base}/README.md", f"# {name}\n\nAuthor-reported measurements; verdict INCONCLUSIVE.\n".encode()
    yield f"{base}/plan/runspec.json", _dump({"campaign": name, "source_revision": f"{random_.getrandbits(160):040x}", "steps": 50})
    made: dict[str, bytes] = {}
    numbers = {kind: max(1, round(share * (files - 3))) for kind, share in COUNTS.items()}
    numbers["json"] += files - 3 - sum(numbers.values())
    for kind, number in numbers.items():
        each = int(SHARES[kind] * size / number)
        for n in range(number):
            path = f"results/{'raw/' if kind in ('log', 'bin') else ''}{'record' if kind == 'json' else kind}-{n:04d}.{SUFFIX[kind]}"
            made[path] = _CONTENT[kind](random_, max(64, int(each * random_.uniform(0.3, 1.7))))
    yield from ((f"{base}/{path}", data) for path, data in made.items())
    listed = {path: hashlib.sha256(data).hexdigest() for path, data in list(made.items())[:hashes]}
    yield f"{base}/results/integrity.json", _dump({"files": listed})


def _inventory(names: list[str]) -> bytes:
    entries = [
        {"id": n, "path": f"evidence/{n}", "kind": "campaign", "freeze_manifests": [], "external": [{"name": "raw media", "reason": "too large"}]}
        for n in names
    ]
    return _dump({"bundles": entries, "bundle_count": len(names)})


def _dump(value: object) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def _json(random_: random.Random, size: int) -> bytes:
    requests, total = [], 400
    samples = [round(random_.gauss(41.2, 0.4), 4) for _ in range(max(8, size // 56))]
    while total < size * 0.88:
        one = {
            "id": len(requests),
            "http_status": 200,
            "elapsed_ms": round(random_.gauss(183, 9), 3),
            "worker": random_.choice(["rank0", "rank1"]),
            "ok": True,
        }
        requests.append(one)
        total += 150
    record = {
        "arm": random_.choice(["baseline", "candidate"]),
        "run": random_.getrandbits(40),
        "unit": "ms",
        "requests": requests,
        "trace_ms": samples,
    }
    record["lifecycle"] = {"server_exit": 0, "worker_exits": [0, 0, 0, 0], "forced_signals": 0}
    return _dump(record)


def _markdown(random_: random.Random, size: int) -> bytes:
    lines = ["# Notes", ""]
    while sum(map(len, lines)) < size:
        lines += [f"The run on node {random_.randint(1, 64)} used the settings of the plan; nothing was changed by hand.", ""]
    return "\n".join(lines).encode()


def _log(random_: random.Random, size: int) -> bytes:
    line = "2026-10-0{d}T0{h}:12:{s:02d}Z INFO worker={w} step={n} loss={l:.6f} tokens/s={t:.2f}\n"
    count = size // len(line.format(d=1, h=1, s=1, w=1, n=1, l=1.0, t=1000.0)) + 1
    made = (line.format(d=n % 9 + 1, h=n % 10, s=n % 60, w=n % 4, n=n, l=random_.random(), t=random_.gauss(1200, 30)) for n in range(count))
    return "".join(made).encode()


def _csv(random_: random.Random, size: int) -> bytes:
    rows = (f"{n},{random_.gauss(41, 1):.4f},{random_.gauss(1200, 20):.2f}\n" for n in range(size // 22 + 1))
    return ("request,latency_ms,tokens_per_s\n" + "".join(rows)).encode()


_CONTENT = {"json": _json, "md": _markdown, "log": _log, "csv": _csv, "bin": lambda random_, size: random_.randbytes(size)}
