"""How this Rushlight was built and what it runs on: `print(rushlight.__config__.show())`."""

from __future__ import annotations

import os
import platform
import sys
from importlib.machinery import ExtensionFileLoader

from .._array import installation
from .._array.memory import arena
from .._base.version import __version__
from .._core import storage
from .._native import prebuilt


def _is_compiled() -> bool:
    spec = storage.__spec__
    return spec is not None and isinstance(spec.loader, ExtensionFileLoader)


def _why() -> str:
    if compiled:
        return "compiled by mypyc"
    if os.environ.get("RUSHLIGHT_PURE", "") not in ("", "0"):
        return "interpreted, as RUSHLIGHT_PURE asks"
    return "interpreted: no compiled modules lie beside the sources"


def _read() -> str:
    wrong = arena.unreadable()
    return "yes" if wrong is None else f"no, {wrong}"


#: Whether the engine room runs as C.
compiled: bool = _is_compiled()


def show() -> str:
    """Gives a text of a few lines: version, core, NumPy, BLAS, threads and optional packages."""
    lines = [
        f"Rushlight {__version__}",
        f"  core: {_why()}",
        f"  Python: {platform.python_version()} ({sys.platform}, {platform.machine()})",
        f"  NumPy: {installation.numpy_version()}",
        f"  BLAS: {installation.blas()}",
        f"  threads: {installation.threads()}",
        f"  kernels of the package: {prebuilt.describe()}",
        f"  objects read by machine code: {_read()}",
        "  optional packages:",
    ]
    for name, version in installation.optional_packages().items():
        lines.append(f"    {name}: {version or 'not installed'} ({installation.OPTIONAL[name]})")
    return "\n".join(lines)


if __name__ == "__main__":
    print(show())
