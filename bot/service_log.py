"""Where the service's log lines go: standard error, one line each, with the time and the part that speaks."""

from __future__ import annotations

import logging
import sys
import time


def set_up(level: str) -> None:
    """Log the service's own parts at `level`, everything else from warnings on. Times are UTC."""
    handler = logging.StreamHandler(sys.stderr)
    form = logging.Formatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S")
    form.converter = time.gmtime
    handler.setFormatter(form)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("assay").setLevel(level.upper())
