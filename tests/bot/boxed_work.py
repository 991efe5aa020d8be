"""What misbehaves in a box: `Request.folder` names the mischief. Imported in the review process alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from bot import boxed
from bot.box import Answer, Request
from rules.core.model import Question


def work(request: Request) -> Answer:
    return boxed.review(request, _mischief)


def said(*words: object) -> Answer:
    return Answer(questions=tuple(Question("said", str(word)) for word in words))


def _mischief(request: Request) -> Answer:
    kind, _, value = request.folder.partition(" ")
    if kind == "who":
        return said(os.getpid(), os.getcwd(), os.getpgid(0), *sys.path)
    if kind == "environment":
        with open("/proc/self/environ", "rb") as file:
            return said(*os.environ.items(), file.read().decode())
    if kind == "cache":
        return said(len(boxed._WORKER.cache._blobs._kept))
    if kind == "sleep":
        time.sleep(float(value))
    if kind == "burn":
        end = time.process_time() + float(value)
        while time.process_time() < end:
            pass
    if kind == "memory":
        held = [bytearray(int(value)) for _ in range(64)]
        return said(len(held))
    if kind == "grow":
        boxed._WORKER.key = bytearray(b"x") * int(value)
    if kind == "children":
        for number in range(3):
            child = subprocess.Popen(["sh", "-c", "sleep 300 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
            assert child.stdout is not None
            Path(value, f"{number}").write_text(f"{child.pid} {child.stdout.readline()}")
        time.sleep(300)
    if kind == "files":
        return said(*(os.open("/dev/null", os.O_RDONLY) for _ in range(int(value))))
    if kind == "write":
        Path(value).write_bytes(b"x" * 4_000_000)
    if kind == "exit":
        os._exit(int(value))
    if kind == "signal":
        os.kill(os.getpid(), int(value))
        time.sleep(30)
    if kind == "raise":
        raise ValueError("a secret of the repository")
    return said("done")
