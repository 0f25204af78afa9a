"""How much memory a process has."""

from __future__ import annotations

import contextlib
import resource
import sys
from pathlib import Path


def _status(field: str) -> int | None:
    """A field of Linux's /proc/self/status in bytes, None elsewhere."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith(field + ":")]
    return int(found[0]) * 1024 if found else None


def peak_memory() -> int:
    """The largest resident set so far, in bytes.

    Linux hands `ru_maxrss` down from the process that started this one, where that was the larger,
    so the peak that belongs to this address space alone is preferred where it is known.
    """
    own = _status("VmHWM")
    if own is not None:
        return own
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def resident_memory() -> int:
    """The resident set now, in bytes, and on Linux the peak brought down to it; else the peak."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS") or peak_memory()
