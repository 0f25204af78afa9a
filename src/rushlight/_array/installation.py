"""What is installed: the array library with its version and its BLAS, and the optional packages."""

from __future__ import annotations

import os
from importlib import metadata
from typing import Any

import numpy as np

#: What Rushlight can use when it is there: the distribution's name and what it buys.
OPTIONAL = {
    "scipy": "quicker special functions and decompositions",
    "ml_dtypes": "8-bit floats; bfloat16 in plain Python",
    "cupy": "CUDA",
    "matplotlib": "figures",
    "rich": "terminal views",
    "scikit-learn": "data sets of the demo",
}

_THREAD_SETTINGS = (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "OMP_NUM_THREADS",
)


def numpy_version() -> str:
    """Gives the version of NumPy that computes."""
    return np.__version__


def blas() -> str:
    """Gives the name and version of the BLAS that NumPy was built with."""
    built: Any = np.show_config(mode="dicts")
    found = built.get("Build Dependencies", {}).get("blas", {})
    return f"{found.get('name', 'unknown')} {found.get('version', '')}".rstrip()


def threads() -> str:
    """Gives how many threads BLAS may use and what decided it."""
    for name in _THREAD_SETTINGS:
        if os.environ.get(name):
            return f"{os.environ[name]} ({name})"
    if hasattr(os, "sched_getaffinity"):
        return f"{len(os.sched_getaffinity(0))} (the cores of this process)"
    return f"{os.cpu_count()} (the cores of this machine)"


def optional_packages() -> dict[str, str | None]:
    """Gives each optional package with its version, or None where it is not installed."""
    found: dict[str, str | None] = {}
    for name in OPTIONAL:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found
