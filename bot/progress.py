"""The bar that shows how far a long review is; it appears only when the work takes longer than a moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 0.7


class Bar:
    """A context that gives a function to be called with the name of each step."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._started = total, 0, time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Callable[[str], None]:
        return self._step

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _step(self, name: str) -> None:
        if self._bar is None and time.monotonic() - self._started > PATIENCE:
            self._start()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done, description=name)
        self._done += 1

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            TextColumn("reviewing"),
            BarColumn(24),
            TextColumn("{task.completed}/{task.total}"),
            TextColumn("{task.description}", markup=False),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.add_task("", total=self._total)
        self._bar.start()
