"""Frames: the words that native functions work on, and calls with their frames.

A word is a number, or the address of a value, which is known when the program is laid out, or told
in each call.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, Any

from ..._array.memory import arena
from ..._formula.ir import trace
from ..._native.emitted import embedding_gradient as scatter, gemm, skinny_gemm as narrow, transpose
from ..._native.emitted.max_pool_plane import max_pool
from ..._native.fusion.row_loops import REGISTERS, Frame, lower_group
from ..._native.llvm import loader as engine, target
from ..._native.llvm.emit import F32, F64, Type
from ..._native.threads import thread_pool as pool
from ..ir.iteration_values import DTYPES
from ..ir.program import Value
from ..lowering.gemm import SHARED, Matrix, blocks_of, narrow_form
from . import driver

if TYPE_CHECKING:
    from ..._array.annotations import RawType
    from ..._base.annotations import AnyCallable, Arguments, Shape
    from ..._formula.ir import Group

#: Elements from which a kernel is cut into chunks for threads, and elements of a chunk.
THREADED = 65536
CHUNK = 32768
_KERNELS: dict[Any, int] = {}


def type_of(dtype: RawType) -> Type:
    """The scalar type of float32 or float64."""
    return F32 if dtype.name == "float32" else F64


def kernel_address(group: Group, vectors: int | None, ragged: bool) -> int:
    """A group's machine code."""
    lanes = target.lanes(F64 if "f64" in {o.dtype for o in group.operands} else F32)
    key = (str(group), lanes, vectors, ragged)
    found = _KERNELS.get(key)
    if found is None:
        # The last two: neither inlined, nor contracted.
        made = engine.load_made(lower_group, group, lanes, vectors, ragged, False, False)
        found = _KERNELS[key] = made[group.name]
    return found


def find_address(group: Group, vectors: int | None) -> int:
    """A group's machine code, for rows of any length where there is none for theirs."""
    try:
        return kernel_address(group, vectors, False)
    except engine.UnforeseenError:
        if vectors is None:
            raise
        return kernel_address(group, None, False)


@cache
def group_of(formula: AnyCallable, kinds: tuple[str, ...], suffix: str) -> Group:
    names = {}
    for k, text in enumerate(kinds):
        kind, _, dtype = text.partition(" ")
        names[f"x{k}"] = (kind, dtype or suffix)
    return trace(formula.__name__, formula, names)


def float_word(x: float) -> int:
    """A float64 as the integer with its bits."""
    return struct.unpack("q", struct.pack("d", x))[0]


ONE = float_word(1.0)


def load_pooling(type: Type, window: Shape, step: Shape) -> int:
    """Maxima of windows; see `max_pool_plane`."""
    return engine.load_made(max_pool, type, target.lanes(type), window, step)["max_pool"]


class Frames:
    """Words, and who has to be told where things lie."""

    def __init__(self) -> None:
        self.plain: list[int] = []  # words, before their addresses are known
        self.fixups: list[tuple[int, int]] = []  # word -> word whose address goes there
        self.patches: list[list[tuple[int, int, int]]] = []  # of each segment
        self.slots: dict[int, int] = {}  # root -> slot
        self.offsets: dict[int, int] = {}  # of roots in the arena
        self.base = 0  # of the arena
        self.threaded = False
        self.pools: list[int] = []  # the words that hold the pool of threads
        self.numbers_at: dict[int, int] = {}  # words of numbers that are told in each call
        self.tables: list[Any] = []  # arrays whose addresses are among the words
        self.parts = 0  # how many kernels are in parts
        self.rooms = 0  # bytes of the memory that kernels in parts share
        self.roomy: list[tuple[int, int]] = []  # word -> what of it has its address there

    def _slot(self, root: int) -> int:
        return self.slots.setdefault(root, len(self.slots))

    def point(self, word: int, v: Value, extra: int = 0) -> None:
        """Has a word hold the address of a value, or of what lies so many bytes behind it."""
        if v.kind == "number":
            self.fixups.append((word, self.numbers_at[v.number]))
        elif v.root in self.offsets:
            self.plain[word] = self.base + self.offsets[v.root] + v.offset + extra
        elif v.kind == "constant" and not v.view:
            self.plain[word] = arena.address(v.raw) + extra
        else:
            self.patches[-1].append((self._slot(v.root), v.offset + extra, word))

    # ---- what commands ask for -----------------------------------------------------------------
    def words_of(self, words: list[Any]) -> int:
        """A frame of words: numbers, values, or values with an offset in bytes."""
        frame = len(self.plain)
        self.plain += [0] * len(words)
        for k, x in enumerate(words):
            if type(x) is Value:
                self.point(frame + k, x)
            elif type(x) is tuple:
                self.point(frame + k, *x)
            else:
                self.plain[frame + k] = x
        return frame

    def call(self, name: str, words: list[object], chunks: int = 1) -> tuple[int, int, int]:
        """A call of one of the driver's functions."""
        self.threaded = self.threaded or chunks > 1
        return driver.addresses()[name], self.words_of(words), chunks

    def add_rows(self, table: tuple[Value, int], index: Value, rows: tuple[Value, int],
                 count: int, width: int) -> tuple[int, int, int]:  # fmt: skip
        """Rows added to the rows of a table that indices name; both begin at an offset in bytes."""
        type = type_of(table[0].dtype)
        address = engine.load_made(scatter.emit_added_rows, type)[f"add_rows_{type.suffix}"]
        chunks = -(-width // 64) if count * width >= THREADED else 1
        self.threaded = self.threaded or chunks > 1
        grain = 64 if chunks > 1 else width
        return address, self.words_of([count, width, grain, table, index, rows]), chunks

    def pooling(self, x: Value, out: Value, where: Value, planes: int, size: Shape, given: Shape,
                window: Shape, step: Shape) -> tuple[int, int, int]:  # fmt: skip
        """Maxima of windows."""
        type = type_of(x.dtype)
        address = load_pooling(type, tuple(window), tuple(step))
        grain = max(1, min(planes, CHUNK // (size[0] * size[1])))
        chunks = -(-planes // grain)
        self.threaded = self.threaded or chunks > 1
        return address, self.words_of([x, out, where, planes, *size, *given, grain]), chunks

    def chain(self, chunks: list[list[tuple[int, int, int]]]) -> tuple[int, int, int]:
        """Calls of which those of a chunk run one after the other, and chunks beside each other."""
        each = max(len(calls) for calls in chunks)
        frame = len(self.plain)
        table = frame + 2
        self.plain += [0, each] + [0] * (2 * each * len(chunks))
        self.fixups.append((frame, table))
        nothing = driver.addresses()["nothing"]
        for k, calls in enumerate(chunks):
            for j in range(each):
                spot = table + 2 * (k * each + j)
                address, words, count = calls[j] if j < len(calls) else (nothing, frame, 1)
                assert count == 1
                self.plain[spot] = address
                self.fixups.append((spot + 1, words))
        self.threaded = self.threaded or len(chunks) > 1
        return driver.addresses()["chain"], frame, len(chunks)

    def branch(self, odd: bool, numbers: tuple[Value, int], size: int,
              calls: list[tuple[int, int, int]]) -> tuple[int, int, int]:  # fmt: skip
        """Calls that are made only where any of some numbers (their bytes) isn't 0, or all are."""
        value, offset = numbers
        words = [(value, offset), 0, size // value.dtype.itemsize, len(calls), int(odd), 0, 0,
                 pool.runner()]  # fmt: skip
        frame = self.words_of(words)
        self.pools.append(frame + 6)
        self.fixups.append((frame + 1, len(self.plain)))
        for function, words_at, chunks in calls:
            spot = len(self.plain)
            self.plain += [function, 0, chunks]
            self.fixups.append((spot + 1, words_at))
        suffix = type_of(value.dtype).suffix
        return driver.addresses()[f"branch_{suffix}"], frame, 1

    def number(self, x: float, dtype: str) -> int:
        """A number in a word, as an element of one of the types of groups."""
        start = len(self.plain)
        form = {"f32": "f", "f64": "d"}.get(dtype, "q")
        packed = struct.pack(form, x).ljust(8, b"\0")
        self.plain.append(int.from_bytes(packed, "little", signed=True))
        return start

    def rows(
        self,
        formula: AnyCallable,
        kinds: tuple[str, ...],
        dtype: RawType,
        rows: int,
        columns: int,
        operands: Arguments,
        outputs: Arguments,
    ) -> tuple[int, int, int]:
        """A formula on rows: (value, offset in bytes, elements from row to row) of each operand."""
        group = group_of(formula, kinds, DTYPES[dtype.name])
        count = -(-columns // target.lanes(type_of(dtype)))
        address = find_address(group, count if count <= REGISTERS else None)
        frame_of = Frame(len(group.operands), len(group.outputs))
        frame = len(self.plain)
        self.plain += [0] * frame_of.words
        self.plain[frame : frame + 4] = [rows, columns, rows * columns, rows]
        for k, (v, offset, stride) in enumerate([*operands, *outputs]):
            word = frame + 4 + k
            self.point(word, v, offset)
            self.plain[word + len(operands) + len(outputs)] = stride
        return address, frame, 1

    def flat(self, formula: AnyCallable, kinds: tuple[str, ...], dtype: RawType, count: int,
             operands: list[Value], outputs: list[Value]) -> tuple[int, int, int]:  # fmt: skip
        """A formula on all elements of some values."""
        group = group_of(formula, kinds, DTYPES[dtype.name])
        words = [1, count, count, 1, *operands, *outputs]
        words += [0] * (len(operands) + len(outputs))
        return kernel_address(group, None, False), self.words_of(words), 1

    def gemm(
        self,
        a: Matrix,
        b: Matrix,
        c: Matrix,
        *,
        bias: Value | None = None,
        relu: bool = False,
        beta: float = 0.0,
        several: int = 1,
        steps: tuple[int, int, int] = (0, 0, 0),
        whole: bool = False,
    ) -> tuple[int, int, int]:
        """C = A B + beta C, then the bias and zeros for negatives, by the emitted product."""
        m, n, k = a.rows, b.columns, a.columns
        form = narrow_form(a, b, c, bias is not None or relu)
        if form is not None and several == 1 and not beta and m * n * k < SHARED:
            return self._narrow(form, a, b, c, bias, relu)
        blocks = (m, n) if whole or several > 1 else blocks_of(m, n, k) or (m, n)
        across, along = -(-m // blocks[0]), -(-n // blocks[1])
        words = {
            "m": m, "n": n, "k": k, "rsa": a.down, "csa": a.right, "rsb": b.down, "csb": b.right,
            "rsc": c.down, "alpha": ONE, "beta": float_word(beta), "relu": int(relu),
            "inner": several, "next_a": steps[0], "next_b": steps[1], "next_c": steps[2],
            "block_m": blocks[0], "block_n": blocks[1], "blocks_m": across, "blocks_n": along,
        }  # fmt: skip
        frame = len(self.plain)
        self.plain += [words.get(name, 0) for name in gemm.FRAME]
        for name, matrix in (("a", a), ("b", b), ("c", c)):
            self.point(frame + gemm.FRAME.index(name), matrix.value, matrix.offset)
        if bias is not None:
            self.point(frame + gemm.FRAME.index("bias"), bias)
        chunks = across * along * several
        if several > 1 and m * n * k * several < SHARED:
            # One after the other: threads aren't worth waking.
            return self.in_turn(gemm.load_chunks(type_of(c.value.dtype)), frame, chunks)
        self.threaded = self.threaded or chunks > 1
        return gemm.load_chunks(type_of(c.value.dtype)), frame, chunks

    def _narrow(self, form: str, a: Matrix, b: Matrix, c: Matrix, bias: Value | None,
                relu: bool) -> tuple[int, int, int]:  # fmt: skip
        """C = A B with few columns."""
        apart = (a.down, b.right) if form == "dots" else (a.right, b.down)
        words: list[Any] = [(m.value, m.offset) for m in (a, b, c)]
        words += [0 if bias is None else bias, c.rows, c.columns, a.columns, *apart, c.down,
                  int(relu)]  # fmt: skip
        address = narrow.load(type_of(c.value.dtype), form)
        return address, self.words_of(words), 1

    def turn(self, to: Value, b: Matrix) -> tuple[tuple[int, int, int], Matrix]:
        """A call that turns a matrix whose columns lie in order, and the matrix in its new room."""
        rows, columns = b.columns, b.rows
        grain = 64 if rows * columns >= THREADED else rows
        chunks = -(-rows // grain)
        words = [(b.value, b.offset), to, rows, columns, b.right, rows, 0, 0, grain,
                 chunks]  # fmt: skip
        self.threaded = self.threaded or chunks > 1
        call = transpose.load(type_of(b.value.dtype)), self.words_of(words), chunks
        return call, Matrix(to, b.rows, b.columns, b.columns, 1)

    def in_turn(self, address: int, frame: int, chunks: int) -> tuple[int, int, int]:
        """A call of a function for all chunks, one after the other."""
        spot = len(self.plain)
        self.plain += [address, 0, chunks]
        self.fixups.append((spot + 1, frame))
        return driver.addresses()["in_turn"], spot, 1
