"""Kernels that were compiled when the package was built, and are found by the text of their module.

Where a C compiler builds the core, `build` makes an extension module for each set of instructions,
which lie in this folder; the first that the processor can run is used. Where there is none, or the
environment variable RUSHLIGHT_PREBUILT=0 says so, `why` tells it, and llvmlite compiles at the
first use, where it is installed.

Note [The text is the key]
A function is looked up by a digest of the text that it was compiled from. That text is made anew in
each process, as it is for objects on disk: so whatever has changed (the emitter, a formula, NumPy's
or CPython's layout, the version of Python) leads to code that isn't found, never to other code than
is asked for.
"""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..._base.lazy import load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

VERSION: Final = 1  # of the emitter: a part of the key of each object


class Instructions(NamedTuple):
    """A set of instructions that kernels are compiled for."""

    cpu: str  # as LLVM calls the processor
    features: str  # beyond it
    width: int  # bytes of a vector
    registers: int  # how many of them


#: For each processor's name the sets, the widest vectors first.
SETS: Final[dict[str, dict[str, Instructions]]] = {
    "x86_64": {
        "x86_64_v4": Instructions("x86-64-v4", "", 64, 32),
        "x86_64_v3": Instructions("x86-64-v3", "", 32, 16),
    },
    "arm64": {"arm64": Instructions("generic", "+neon", 16, 32)},
}
_NAMES: Final = {"amd64": "x86_64", "aarch64": "arm64"}


def sets() -> dict[str, Instructions]:
    """The sets of instructions for the kind of processor at hand, by name."""
    machine = platform.machine().lower()
    return SETS.get(_NAMES.get(machine, machine), {})


def present() -> bool:
    """Whether compiled kernels lie here; whether the processor can run them isn't asked."""
    with suppress(OSError):
        return any(name.endswith(tuple(EXTENSION_SUFFIXES)) for name in os.listdir(__path__[0]))
    return False


def is_turned_off() -> bool:
    """Whether the environment says that none of these are to be used."""
    return os.environ.get("RUSHLIGHT_PREBUILT", "1") == "0"


@cache
def _choose() -> tuple[str, Any, str]:
    """The name and the module of the set in use, or why there is none."""
    if is_turned_off():
        return "", None, "RUSHLIGHT_PREBUILT=0"
    if not present():
        return "", None, "the package was built without them"
    why = f"none for {platform.machine()}"
    for name, instructions in sets().items():
        if os.environ.get("RUSHLIGHT_VECTOR") == "32" and instructions.width > 32:
            continue
        try:
            module: Any = load(f"_native.prebuilt.{name}")
        except ImportError as error:
            why = f"{name}: {error}"
            continue
        if module.supported():
            return name, module, ""
        why = f"the processor can't run {name}"
    return "", None, why


def library() -> ModuleType | None:
    """The extension module in use, or None."""
    found: ModuleType | None = _choose()[1]
    return found


def instructions() -> Instructions | None:
    """What the kernels in use were compiled for; None where there are none."""
    name = _choose()[0]
    return sets()[name] if name else None


def why() -> str:
    """Why no kernels of this folder are used; empty where they are."""
    return _choose()[2]


def describe() -> str:
    """Which kernels are used, in words."""
    name, module, reason = _choose()
    return f"{len(module.keys())} modules for {name}" if name else f"none ({reason})"


def key_of(text: str) -> str:
    """The digest by which a module's functions are found. See Note [The text is the key]."""
    from hashlib import sha256  # loads OpenSSL, for 2 ms

    return sha256(f"{VERSION}\0{text}".encode()).hexdigest()


def find(key: str, imports: Mapping[str, int]) -> dict[str, int] | None:
    """The addresses of a module's functions by name; None where it wasn't foreseen.

    `imports`: the addresses of functions of other modules that it calls. Where these were compiled
    at run time, so is this module.
    """
    used = library()
    if used is None:
        return None
    found: tuple[dict[str, int], dict[str, int]] | None = used.find(key)
    if found is None or found[1] != imports:
        return None
    return found[0]
