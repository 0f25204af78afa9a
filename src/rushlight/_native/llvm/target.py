"""The machine that code is emitted for."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from functools import cache
from typing import Any, NamedTuple

from .. import prebuilt
from .llvmlite_binding import binding
from .types import Type


class Machine(NamedTuple):
    """What the text of functions depends on."""

    width: int  # bytes of the widest vector that is fast
    registers: int  # how many of them
    fused: bool  # whether a multiply-add rounds once, in hardware


class Compiler(NamedTuple):
    """What else a compiled object depends on."""

    triple: str
    cpu: str
    features: str
    llvm: str


_supported: bool | None = None


def available() -> bool:
    """Whether there are native functions, here or where code is made for; a lookup.

    Needs kernels that came with the package, or a compiler (see `compiles`).
    The environment variable RUSHLIGHT_NATIVE=0, read at the first question, says no.
    """
    return _supported if _supported is not None else _find_out()


def _find_out() -> bool:
    global _supported
    _supported = _knows_processor() and (prebuilt.library() is not None or compiles())
    return _supported


def _knows_processor() -> bool:
    return (
        os.environ.get("RUSHLIGHT_NATIVE", "1") != "0"
        and platform.machine().lower() in ("x86_64", "amd64", "arm64", "aarch64")
        and sys.maxsize > 2**32
        and sys.byteorder == "little"
        and sys.platform in ("linux", "darwin", "win32")
    )


@cache
def compiles() -> bool:
    """Whether any function can be compiled here, which loads llvmlite.

    Needs llvmlite (0.45 or later), and a 64-bit ARM, or x86 with AVX2 and FMA.
    """
    # Loading llvmlite costs 70 ms, and is asked of machines that are likely to say yes.
    if not _knows_processor() or importlib.util.find_spec("llvmlite") is None:
        return False
    try:
        llvm = binding()
        return bool(llvm.llvm_version_info[0] >= 20 and machine().fused)
    except (ImportError, OSError, AttributeError):
        return False


_other: tuple[Machine, Compiler] | None = None


def emit_for(triple: str, cpu: str, features: str, width: int, registers: int) -> None:
    """From now on code is made for another machine, and none is loaded: to see that LLVM takes it.

    For a process of its own: functions that were loaded before keep their addresses.
    """
    global _other
    llvm = binding()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    version = ".".join(map(str, llvm.llvm_version_info))
    _other = (
        Machine(width, registers, True),
        Compiler(triple, cpu, features, version),
    )


def emit_as(width: int, registers: int) -> None:
    """From now on functions are written for such vectors, and none is loaded."""
    global _other, _supported
    _other = Machine(width, registers, True), Compiler("", "", "", "")
    _supported = True


def foreign() -> bool:
    """Whether code is made for another machine than this one."""
    return _other is not None


def machine() -> Machine:
    """The host's vectors, or those of the machine that `emit_for` has named."""
    return _host() if _other is None else _other[0]


def compiler() -> Compiler:
    """What LLVM compiles for: the host, or the machine that `emit_for` has named."""
    return _compiler() if _other is None else _other[1]


@cache
def _host() -> Machine:
    """The host.

    With the environment variable RUSHLIGHT_VECTOR=32, read at the first question, an x86 is taken
    for one whose vectors have 32 bytes (AVX2).
    """
    known = prebuilt.instructions()
    if known is not None:
        return Machine(known.width, known.registers, True)
    if platform.machine().lower() in ("arm64", "aarch64"):
        return Machine(16, 32, True)
    found = _features()
    full = all(found.get(f"avx512{part}") for part in ("f", "vl", "dq", "bw"))
    fused = bool(found.get("fma")) and bool(found.get("avx2"))
    return Machine(*((64, 32) if full else (32, 16)), fused)


@cache
def _features() -> Any:
    found = binding().get_host_cpu_features()
    if os.environ.get("RUSHLIGHT_VECTOR") == "32":
        found.update({name: False for name in found if name.startswith(("avx512", "avx10"))})
    return found


@cache
def _compiler() -> Compiler:
    llvm = binding()
    return Compiler(
        triple=llvm.get_process_triple(),
        cpu=llvm.get_host_cpu_name(),
        features=_features().flatten(),
        llvm=".".join(map(str, llvm.llvm_version_info)),
    )


def lanes(type: Type) -> int:
    """How many scalars of the type fill a vector of the machine."""
    return machine().width // type.size
