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

Note [Or what it is made from]
Writing a text takes milliseconds. So a module is first looked up by a digest of who writes it and
from which arguments, where the writer looks at nothing else. That is as sure as long as all sources
that write texts are the build's, byte for byte: where their digest differs, texts are written.
"""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..._base.lazy import Function, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from ..llvm.emit import Module

VERSION: Final = 1  # of the emitter: a part of the key of each object
DIGITS: Final = 24  # of a key, by which modules are found
_WRITERS: Final = ("_native", "_formula")  # the parts of the package that write texts


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


def _raise(error: OSError) -> None:
    raise error


def digest_sources() -> str:
    """A digest of all that writes texts; empty where it can't be read."""
    from hashlib import sha256

    found = sha256(str(VERSION).encode())
    package = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    try:
        for part in _WRITERS:
            for folder, folders, names in os.walk(os.path.join(package, part), onerror=_raise):
                folders.sort()
                for name in sorted(names):
                    if name.endswith(".py"):
                        with open(os.path.join(folder, name), "rb") as file:
                            body = file.read()
                        place = folder[len(package) :].replace(os.sep, "/")
                        found.update(f"{place}/{name} {len(body)} ".encode() + body)
    except OSError:
        return ""
    return found.hexdigest()[:DIGITS]


@cache
def _same_sources() -> bool:
    """Whether texts would be written as they were in the build."""
    used = library()
    return used is not None and used.sources() == digest_sources()


def recipe_of(make: Callable[..., Module], arguments: tuple[object, ...]) -> str:
    """The digest of who makes a module and from what. See Note [Or what it is made from]."""
    if isinstance(make, Function):  # as what it stands for, which needs not be loaded
        module, _, name = make.place.partition(":")
        module = f"{__name__.partition('.')[0]}.{module}"
    else:
        module, name = make.__module__, make.__qualname__
    # Not `repr`: that of a dataclass is foreign code to a step that is being recorded.
    return key_of("\0".join([module, name, *map(str, arguments)]))


def find_made(make: Callable[..., Module], arguments: tuple[object, ...]) -> dict[str, int] | None:
    """The addresses of the functions of `make(*arguments)`, by name; None where it must be made."""
    used: Any = library()
    if not _same_sources():
        return None
    found: dict[str, int] | None = used.find_made(recipe_of(make, arguments)[:DIGITS])
    return found


def knows_recipes() -> bool:
    """Whether `find_made` finds all that came with the package and was asked for by it there."""
    return _same_sources()


def find(key: str, imports: Mapping[str, int]) -> dict[str, int] | None:
    """The addresses of a module's functions by name; None where it wasn't foreseen.

    `imports`: the addresses of functions of other modules that it calls. Where these were compiled
    at run time, so is this module.
    """
    used = library()
    if used is None:
        return None
    found: tuple[dict[str, int], dict[str, int]] | None = used.find(key[:DIGITS])
    if found is None or found[1] != imports:
        return None
    return found[0]
