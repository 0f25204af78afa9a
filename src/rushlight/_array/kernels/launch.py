"""Kernels as Python objects: traced and compiled at the first use, called with ndarrays.

Note [Kernels and sizes]
Whether a kernel works is decided by sizes alone, never by what ran before: the same call gives the
same digits each time. The limits are where a kernel wins its loading back within a few calls.

Note [Chunks]
Rows are cut into chunks by their number alone, and sums over rows are added up chunk by chunk, so
results don't depend on the number of threads.

Note [When LLVM refuses]
A kernel that can't be compiled warns once, turns all kernels off, and says that it did nothing: the
caller goes on with NumPy. It is compiled before anything is written. What is not a `Kernel` gets
the same by `guard_launch`.

Note [When a kernel isn't there]
Without llvmlite there are the kernels that came with the package (see `_native.prebuilt`). One that
isn't among them says that it did nothing, each time, and the others go on.
"""

from __future__ import annotations

import ctypes
import struct
import warnings
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from ..._formula.ir import Group, Symbol, trace
from ..._native.cpython import kernel_call as launcher
from ..._native.cpython.ndarray import elements_at
from ..._native.fusion.row_loops import REGISTERS, ROW_LIMIT, Frame, lanes_for, lower_group
from ..._native.fusion.schedule import expensive, plan_group
from ..._native.llvm import loader as engine, target
from ..._native.threads import thread_pool as pool
from .. import kernels
from ..memory import arena, parallel
from ..memory.out_of_memory import is_refusal
from ..types import FLOAT32, FLOAT64

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._native.llvm.emit import Module
    from ..annotations import Array, RawType

#: Elements of a piece of a flat array.
FLAT: Final = 4096
_CODES: Final[dict[Any, str]] = {FLOAT32: "f32", FLOAT64: "f64"}
_DTYPES: Final[dict[str, Any]] = {
    "f32": FLOAT32, "f64": FLOAT64, "i64": np.dtype(np.int64), "i32": np.dtype(np.int32),
    "b1": np.dtype(np.bool_),
}  # fmt: skip
# Nanoseconds of work, as `cost` has them, from which threads are worth it that are awake, and from
# which they are worth waking.
_WORTH_SHARING: Final = 10_000
_WORTH_WAKING: Final = 20_000
_CHUNK: Final = launcher.CHUNK
# Rows of a chunk at most, where sums over rows are wanted.
_SUMMED: Final = 64
_REFUSALS: Final = (RuntimeError, OSError, AttributeError, MemoryError)
_FAILURES: Final = (RuntimeError, OSError, MemoryError)
_Way = TypeVar("_Way", bound=Callable[..., Any])


def ready() -> bool:
    """Whether kernels can run here; else they aren't asked again. The first question tries a small
    one, which came with the package or is compiled."""
    if target.available() and _works():
        return True
    kernels.off()
    return False


@cache
def _works() -> bool:
    x = np.arange(100.0, dtype=FLOAT32)
    out = np.empty_like(x)
    try:
        if not _launch(PROBE.compile(FLOAT32, None, False), 100, 50, (x, 2.0), (out,)):
            return False
    except _REFUSALS:  # LLVM or the linker refuses
        return False
    return bool((out == 2 * x).all())


def refuse_launch(error: Exception) -> None:
    """Leaves everything to NumPy, and says so. See Note [When LLVM refuses]."""
    if isinstance(error, engine.UnforeseenError):  # see Note [When a kernel isn't there]
        return
    if is_refusal(error):  # of memory for an array: not LLVM's
        raise error
    kernels.off()
    warnings.warn(
        f"rushlight: a kernel could not be compiled ({error}); NumPy computes everything from now "
        "on",
        RuntimeWarning,
        stacklevel=3,
    )


def guard_launch(function: _Way) -> _Way:
    """A function that gives None where LLVM refuses what it needs. See Note [When LLVM refuses].

    Code is loaded before anything is written, so the caller can go on in another way.
    """

    @wraps(function)
    def run(*args: object) -> Any:
        try:
            return function(*args)
        except _FAILURES as error:
            refuse_launch(error)
            return None

    return run  # type: ignore[return-value]


def _direct() -> bool:
    """Whether kernels are called as builtins, and not through ctypes."""
    return arena.unreadable() is None


def double(x: Symbol, two: Symbol) -> Symbol:
    return x * two


def floating(dtype: RawType) -> bool:
    """Whether a dtype is one that kernels take; they see to the rest themselves."""
    return dtype is FLOAT32 or dtype is FLOAT64


def plain(x: Array, *others: Array | None) -> bool:
    """Whether these are C-ordered ndarrays of float32 or float64, of the same dtype (or None)."""
    dtype = x.dtype
    if not (dtype is FLOAT32 or dtype is FLOAT64) or not x.flags.c_contiguous:
        return False
    for other in others:
        if other is not None and (
            type(other) is not np.ndarray
            or other.dtype is not dtype
            or not other.flags.c_contiguous
        ):
            return False
    return True


@guard_launch
def find_pool() -> tuple[int, int, int] | None:
    """The addresses of what runs chunks, of the state of several threads, and of how many of them
    sleep; None for one thread."""
    threads = parallel.get_num_threads()
    state = pool.state(threads) if threads > 1 and ready() else 0
    return (pool.runner(), state, state + pool.SLEEPERS) if state else None


if arena.unreadable() is None:
    address: Callable[[Any], int] = elements_at
else:

    def address(x: Array) -> int:
        """Where an ndarray's first element lies."""
        return int(x.ctypes.data)


class Code:
    """The functions `<name>` and `<name>_all` of `make(*arguments)`: chunks of some work.

    `cost` is what an element takes in nanoseconds, roughly.
    """

    __slots__ = ("all", "body", "least", "wakes", "whole")

    def __init__(
        self, name: str, cost: float, make: Callable[..., Module], *arguments: object
    ) -> None:
        addresses = engine.load_made(make, *arguments)
        self.body = addresses[name]
        #: Elements from which threads are worth it that are awake, and from which others are.
        self.least, self.wakes = int(_WORTH_SHARING / cost), int(_WORTH_WAKING / cost)
        # A foreign function gives up the interpreter lock.
        self.whole = addresses[f"{name}_all"]
        self.all: Any = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int64)(self.whole)

    def run(self, frame: bytes, chunks: int, work: int) -> None:
        """Does the chunks of a frame, on several threads if so many elements are worth it."""
        if work >= self.wakes and chunks > 1:
            threads = parallel.get_num_threads()
            if threads > 1:
                share_runner()(pool.state(threads), self.body, frame, chunks)
                return
        self.all(frame, chunks)

    @staticmethod
    def of(name: str, cost: float, make: Callable[..., Module], *arguments: object) -> Code | None:
        """The code of `make(*arguments)`; None where LLVM refuses it."""
        try:
            return Code(name, cost, make, *arguments)
        except _REFUSALS as error:
            refuse_launch(error)
            return None


@cache
def share_runner() -> Any:
    pointer = ctypes.c_void_p
    kind = ctypes.CFUNCTYPE(None, pointer, pointer, ctypes.c_char_p, ctypes.c_int64)
    return kind(pool.runner())


class _Compiled(Code):
    """A group as machine code for one dtype, and perhaps one length of rows.

    `launch` is the builtin (elements, columns, state, *arrays): see `_native.cpython.kernel_call`.
    """

    __slots__ = ("frame", "group", "launch", "mode", "pack", "strides")

    def __init__(self, group: Group, vectors: int | None, ragged: bool) -> None:
        lanes = lanes_for(group, target.machine().width)
        super().__init__(group.name, _cost(group), lower_group, group, lanes, vectors, ragged)
        self.group = group
        self.frame = Frame(len(group.operands), len(group.outputs))
        words = "".join("d" if o.kind == "s" and o.dtype[0] == "f" else "q" for o in group.operands)
        rest = self.frame.words - 4 - len(group.operands)
        self.pack = struct.Struct(f"4q{words}{rest}q").pack
        sums = any(group.kind(o.value) in "cs" for o in group.outputs)
        self.mode = launcher.SUMMED if sums else launcher.WHOLE if ragged else launcher.HALVED
        # -1: as many as there are columns.
        self.strides = [-1 if o.kind == "f" else int(o.kind == "r") for o in group.operands]
        self.strides += [
            -1 if group.kind(o.value) == "f" else int(group.kind(o.value) == "r")
            for o in group.outputs
        ]
        self.launch = self._launcher(group.name) if _direct() else None

    def _launcher(self, name: str) -> AnyCallable | None:
        count, codes = len(self.group.operands), [o.dtype for o in self.group.operands]
        codes += [self.group.dtype(o.value) for o in self.group.outputs]
        if any(o.kind == "s" and o.dtype[0] != "f" for o in self.group.operands):
            return None
        operands = []
        for place, (code, stride) in enumerate(zip(codes, self.strides, strict=True)):
            number = place < count and self.group.operands[place].kind == "s"
            total = place >= count and self.group.kind(self.group.outputs[place - count].value)
            raw = FLOAT64 if total == "s" else _DTYPES[code]
            operands.append(launcher.Operand(None if number else raw, stride, place >= count))
        return launcher.launcher(name, self.body, self.whole, np.ndarray, operands, self.mode,
                                 self.wakes)  # fmt: skip

    def fill_frame(self, elements: int, columns: int, things: Sequence[object]) -> bytes:
        """The frame for operands and outputs: arrays and numbers."""
        words = [x if type(x) is float else address(x) for x in things]
        rows = -(-elements // columns)
        strides = [columns if stride == -1 else stride for stride in self.strides]
        return bytes(
            self.pack(rows, columns, elements, self.grain(rows, columns), *words, *strides)
        )

    def grain(self, rows: int, columns: int) -> int:
        """How many rows a chunk has."""
        if self.mode == launcher.WHOLE:
            return max(1, _CHUNK // columns)
        return grain_of(rows, columns, self.mode == launcher.SUMMED)


def _cost(group: Group) -> float:
    """Nanoseconds for an element, from figures for AVX-512."""
    values = range(len(group.operands) + len(group.body))
    wide = [v for v in values if group.kind(v) == "f"]
    dear = sum(expensive(group, v) for v in wide)
    memory = sum(o.kind == "f" for o in group.operands) + len(group.outputs)
    size = 2 if any(o.dtype == "f64" for o in group.operands) else 1
    return size * (0.03 * memory + 0.01 * (len(wide) - dear) + 0.1 * dear)


class Kernel:
    """A formula on rows, compiled for float32 and float64 when it is first called.

    `operands` names the kinds of the formula's parameters in order: "f", "r", "c" or "s", of the
    dtype of the call, or a kind and a dtype as in "r i64".
    """

    __slots__ = ("absent", "formula", "general", "long", "name", "operands", "whole")

    def __init__(self, formula: AnyCallable, *operands: str) -> None:
        self.formula = formula
        self.name = formula.__name__
        self.operands = operands
        self.general: dict[Any, _Compiled] = {}
        self.whole: dict[Any, _Compiled] = {}
        self.absent: set[Any] = set()  # see Note [When a kernel isn't there]
        self.long: bool | None = None

    def group(self, code: str) -> Group:
        """The group for f32 or f64."""
        kinds = {}
        for place, text in enumerate(self.operands):
            kind, _, dtype = text.partition(" ")
            kinds[f"x{place}"] = (kind, dtype or code)
        return trace(f"{self.name}_{code}", self.formula, kinds)

    def compile(self, dtype: RawType, vectors: int | None, ragged: bool) -> _Compiled:
        """The code, compiled. Raises what LLVM raises."""
        return _Compiled(self.group(_CODES[dtype]), vectors, ragged)

    def _compile(self, dtype: RawType, vectors: int | None, ragged: bool) -> _Compiled | None:
        known: dict[Any, _Compiled] = self.whole if ragged else self.general
        if dtype not in _CODES or (dtype, vectors, ragged) in self.absent:
            return None
        try:
            found = self.compile(dtype, vectors, ragged)
        except _REFUSALS as error:
            refuse_launch(error)
            self.absent.add((dtype, vectors, ragged))
            return None
        known[dtype if ragged else (dtype, vectors)] = found
        return found

    def takes(self, columns: int) -> bool:
        """Whether rows can be that long."""
        if columns <= ROW_LIMIT:
            return True
        if self.long is None:
            self.long = not plan_group(self.group("f32")).scratch
        return self.long

    def flat(
        self, dtype: RawType, inputs: Sequence[object], outputs: tuple[Array, ...], size: int
    ) -> bool:
        """Runs over `size` elements of flat arrays, and says whether it did; numbers stand for
        operands of kind `s`."""
        found = self.whole.get(dtype) or self._compile(dtype, None, True)
        return found is not None and _launch(found, size, FLAT, inputs, outputs)

    def builtin(self, dtype: RawType) -> tuple[AnyCallable, int] | None:
        """What `flat` calls, and the elements from which it may be given threads; None where there
        is no kernel, or one that isn't called so."""
        found = self.whole.get(dtype) or self._compile(dtype, None, True)
        return None if found is None or found.launch is None else (found.launch, found.least)

    def rows(
        self,
        dtype: RawType,
        rows: int,
        columns: int,
        inputs: Sequence[object],
        outputs: tuple[Array, ...],
    ) -> bool:
        """Runs over C-ordered matrices, (rows,) or (columns,) arrays and numbers, as the kinds say,
        and says whether it did.

        An output of kind `c` has a row for each chunk: see `chunks_of`.
        """
        vectors: int | None = -(-columns // (target.machine().width // dtype.itemsize))
        if vectors is not None and vectors > REGISTERS:
            vectors = None
        found = self.general.get((dtype, vectors)) or self._compile(dtype, vectors, False)
        return found is not None and _launch(found, rows * columns, columns, inputs, outputs)

    def prepare(self, dtype: RawType) -> bool:
        """Whether `at` can be called for a dtype."""
        return (dtype, None) in self.general or self._compile(dtype, None, False) is not None

    def runner(self, dtype: RawType, columns: int) -> Callable[..., None]:
        """`at` for rows of one length, called again and again: (rows, *words)."""
        found = self.general[dtype, None]
        pack, least, whole, run = found.pack, found.wakes, found.all, found.run

        def go(rows: int, *words: int) -> None:
            elements = rows * columns
            grain = grain_of(rows, columns, False)
            frame = pack(rows, columns, elements, grain, *words)
            if elements < least:
                whole(frame, -(-rows // grain))
            else:
                run(frame, -(-rows // grain), elements)

        return go

    def at(self, dtype: RawType, rows: int, columns: int, words: Sequence[int]) -> None:
        """Runs on addresses, in the order of operands and outputs, followed by their strides."""
        found = self.general[dtype, None]
        grain = grain_of(rows, columns, False)
        frame = found.pack(rows, columns, rows * columns, grain, *words)
        found.run(frame, -(-rows // grain), rows * columns)


def _launch(
    found: _Compiled,
    elements: int,
    columns: int,
    inputs: Sequence[object],
    outputs: Sequence[object],
) -> bool:
    threads = parallel._threads
    if found.launch is not None:
        state = 0
        if threads > 1 and elements >= found.least:
            state = pool.state(threads)
        return found.launch(elements, columns, state, *inputs, *outputs) is None
    rows = -(-elements // columns)
    frame = found.fill_frame(elements, columns, (*inputs, *outputs))
    found.run(frame, -(-rows // found.grain(rows, columns)), elements)
    return True


@lru_cache(maxsize=1024)
def grain_of(rows: int, columns: int, summed: bool) -> int:
    """How many rows a chunk has."""
    grain = max(1, _CHUNK // max(columns, 1))
    return min(grain, _SUMMED) if summed else min(grain, max(1, -(-rows // 2)))


def chunks_of(rows: int, columns: int) -> int:
    """How many partial sums over rows a kernel writes."""
    return -(-rows // grain_of(rows, columns, True))


#: The small kernel that is tried first.
PROBE: Final = Kernel(double, "f", "s")
