"""Facts about the machine, and whether it is quiet enough to be believed."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.systems import ROOT

# Load per core, from others than this run, above which figures are printed with a warning.
NOISY = 0.25


def processor() -> str:
    """The processor's name as the system knows it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load_average() -> float | None:
    """The number of runnable processes, averaged over the last minute; None where it is unknown."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def commit() -> str | None:
    """The commit that is being measured, with a plus sign if files differ from it."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def facts() -> dict[str, Any]:
    """What a reader needs to know to compare these figures with others."""
    memory: float | None
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (ValueError, OSError):
        memory = None
    return {
        "processor": processor(),
        "cores": cores(),
        "memory_gib": memory and round(memory, 1),
        "system": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "executable": sys.executable,
        "commit": commit(),
        "load_average": load_average(),
    }


def noise(load: float | None, own: float = 0.0) -> str | None:
    """A warning when others than this run, which keeps `own` cores busy, use the machine."""
    if load is None:
        return None
    others = load - own
    if others <= NOISY * cores():
        return None
    return (
        f"the load average is {load:.2f} on {cores()} cores: others are using this machine, "
        "trust ratios more than times and neither very much"
    )
