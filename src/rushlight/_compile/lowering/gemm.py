"""Products of matrices as commands: what lies how in memory, and which way computes it."""

from __future__ import annotations

from typing import Any, Final

from ..._array.memory import arena
from ..._native.emitted import skinny_gemm as narrow
from ..._native.llvm import target
from ..ir.iteration_values import FLOATS, in_order, size_of, space_of
from ..ir.program import Instruction, Value

#: Multiplications from which a product is cut into blocks for threads.
SHARED: Final = 1 << 22
#: Stacks of products that are commands of their own, at most.
_STACKS: Final = 512


class Matrix:
    """A matrix in memory: strides in elements."""

    def __init__(self, value: Value, rows: int, columns: int, down: int, right: int,
                 offset: int = 0) -> None:  # fmt: skip
        self.value = value
        self.rows = rows
        self.columns = columns
        self.down = down
        self.right = right
        self.offset = offset  # bytes

    def for_blas(self) -> tuple[bool, int] | None:
        """Whether it is turned, and the leading dimension; None where BLAS can't take it."""
        if self.right == 1 and (self.down >= self.columns or self.rows == 1):
            return False, max(self.down, self.columns)
        if self.down == 1 and (self.right >= self.rows or self.columns == 1):
            return True, max(self.right, self.rows)
        return None


class Product:
    """C = A B, or stacks of them; then a bias is added, then negatives become zeros."""

    def __init__(self, out: Value, parts: list[Any], emitted: bool, several: int) -> None:
        self.out = out
        self.parts = parts  # (A, B, C) of each command
        self.emitted = emitted
        self.several = several  # products of one command
        self.steps = (0, 0, 0)  # elements from one to the next
        self.bias: Value | None = None
        self.relu = False
        self.room: Value | None = None  # for B, turned

    def reads(self) -> list[Value]:
        """The values that it reads."""
        a, b, _ = self.parts[0]
        return [a.value, b.value] + ([self.bias] if self.bias is not None else [])


#: Multiplications from which BLAS, which blocks for all caches, is a tenth faster.
_LARGE: Final = 1 << 30


def blocks_of(m: int, n: int, k: int) -> tuple[int, int] | None:
    """Rows and columns of a chunk of an emitted product; None where BLAS does it."""
    work = m * n * k
    if target.machine().width < 64 or work >= _LARGE:
        return None
    if (n < 8 or m < 4) and work > 1 << 16:
        return None
    if work < SHARED:
        return m, n
    parts = max(1, min(16, work >> 20))
    if m >= n:
        parts = min(parts, max(1, m // 48))
        return -(-m // parts // 6) * 6, n
    parts = min(parts, max(1, n // 64))
    return m, -(-n // parts // 64) * 64


def matrix_of(v: Value, flat: bool = False) -> Matrix | None:
    """The last two dimensions of a value, or with `flat` all but the last as rows."""
    size = v.dtype.itemsize
    if v.dtype.name not in FLOATS or len(v.shape) < 2 or 0 in v.shape:
        return None
    if flat and len(v.shape) > 2:
        if not in_order(v):
            return None
        rows, columns = space_of(v.shape)
        return Matrix(v, rows, columns, columns, 1)
    if any(s % size for s in v.strides):
        return None
    rows, columns = v.shape[-2:]
    return Matrix(v, rows, columns, v.strides[-2] // size, v.strides[-1] // size)


def transpose(a: Matrix) -> Matrix:
    """The transposed matrix."""
    return Matrix(a.value, a.columns, a.rows, a.right, a.down, a.offset)


def narrow_form(a: Matrix, b: Matrix, c: Matrix, ended: bool) -> str | None:
    """The form of a product with few columns (see `skinny_gemm`); None where it has none.

    `ended`: whether a bias is added, or negatives become zeros.
    """
    if c.columns > narrow.MOST or a.rows < 8 or c.right != 1:
        return None
    if a.right == 1 and b.down == 1 and a.columns >= 16:
        return "dots"
    if a.down == 1 and b.right == 1 and a.rows >= 16 and not ended:
        return f"outer {c.columns}"
    return None


def worth_transposing(m: int, b: Matrix) -> bool:
    """Whether B is to be transposed before so many rows are multiplied by it."""
    return b.right != 1 and b.down == 1 and m >= 16 and b.rows >= 16 and b.columns >= 16


def product_of(i: Instruction) -> Product | None:
    """The native form of a product without its bias; None where there is none."""
    out = i.outputs[0] if len(i.outputs) == 1 else None
    if out is None or out.view or i.several or out.dtype.name not in FLOATS or not in_order(out):
        return None
    if i.rule == "linear" and len(i.inputs) == 3:
        x, w = i.inputs[:2]
    elif i.rule == "matmul" and len(i.inputs) == 2:
        x, w = i.inputs
    else:
        return None
    if type(x) is not Value or type(w) is not Value or not x.dtype == w.dtype == out.dtype:
        return None
    if len(x.shape) < 2 or len(w.shape) < 2:
        return None
    if len(w.shape) == 2:
        a, b = matrix_of(x, flat=True), matrix_of(w)
        if a is None or b is None:
            return None
        if i.rule == "linear":
            b = transpose(b)
        c = matrix_of(out, flat=True)
        if c is None or a.columns != b.rows or (a.rows, b.columns) != (c.rows, c.columns):
            return None
        return _single(out, a, b, c)
    return None if i.rule == "linear" else _lower_stack(out, x, w)


def _single(out: Value, a: Matrix, b: Matrix, c: Matrix) -> Product | None:
    emitted = blocks_of(a.rows, b.columns, a.columns) is not None
    routine = arena.product_routine("sgemm" if out.dtype.name == "float32" else "dgemm")
    if not emitted and (a.for_blas() is None or b.for_blas() is None or not routine):
        return None
    return Product(out, [(a, b, c)], emitted, 1)


def _lower_stack(out: Value, x: Value, w: Value) -> Product | None:
    a, b, c = matrix_of(x), matrix_of(w), matrix_of(out)
    if a is None or b is None or c is None or a.columns != b.rows:
        return None
    if blocks_of(a.rows, b.columns, a.columns) is None:
        return None
    lead = out.shape[:-2]
    size = out.dtype.itemsize
    steps = []
    for v in (x, w, out):
        own = [0 if n == 1 else s for n, s in zip(v.shape[:-2], v.strides[:-2])]
        steps.append([0] * (len(lead) - len(own)) + own)
    several = lead[-1]
    if size_of(lead[:-1]) > _STACKS:
        return None
    parts = []
    for index in _places(lead[:-1]):
        offsets = [sum(k * s for k, s in zip(index, step)) for step in steps]
        parts.append(tuple(
            Matrix(m.value, m.rows, m.columns, m.down, m.right, offset)
            for m, offset in zip((a, b, c), offsets)
        ))  # fmt: skip
    product = Product(out, parts, True, several)
    product.steps = (steps[0][-1] // size, steps[1][-1] // size, steps[2][-1] // size)
    return product


def _places(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for n in shape:
        found = [(*place, k) for place in found for k in range(n)]
    return found
