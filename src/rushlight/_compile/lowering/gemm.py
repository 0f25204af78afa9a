"""Products of matrices as commands: what lies how in memory, and which way computes it."""

from __future__ import annotations

from typing import Any, Final

from ..._array.memory import arena
from ..._native.emitted import skinny_gemm as narrow
from ..._native.llvm import target
from ..ir.iteration_values import FLOATS, in_order, size_of, space_of
from ..ir.program import Instruction, Value, row_major

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
        self.source: Any = None  # the instruction

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
    if i.rule in ("linear", "shaped_product") and len(i.inputs) == 3:
        x, w = i.inputs[:2]
    elif i.rule == "matmul" and len(i.inputs) == 2:
        x, w = i.inputs
    else:
        return None
    if type(x) is not Value or type(w) is not Value or not x.dtype == w.dtype == out.dtype:
        return None
    if len(x.shape) < 2 or len(w.shape) < 2:
        return None
    if i.rule == "shaped_product":
        return _lower_shaped(out, x, w)
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


def _lower_shaped(out: Value, x: Value, w: Value) -> Product | None:
    """A product, or a stack of them, that is seen in another shape."""
    lead = max(x.shape[:-2], w.shape[:-2], key=len)
    shape = (*lead, x.shape[-2], w.shape[-1])
    shown = out.like(out.number, shape=shape, strides=tuple(row_major(shape, out.dtype.itemsize)))
    if lead:
        product = _lower_stack(shown, x, w)
    else:
        a, b, c = matrix_of(x), matrix_of(w), matrix_of(shown)
        product = None if a is None or b is None or c is None else _single(shown, a, b, c)
    if product is not None:
        product.out = out
    return product


def _lower_stack(out: Value, x: Value, w: Value) -> Product | None:
    a, b, c = matrix_of(x), matrix_of(w), matrix_of(out)
    if a is None or b is None or c is None or a.columns != b.rows:
        return None
    lead = out.shape[:-2]
    size = out.dtype.itemsize
    steps = []
    for v in (x, w, out):
        own = [0 if n == 1 else s // size for n, s in zip(v.shape[:-2], v.strides[:-2])]
        steps.append([0] * (len(lead) - len(own)) + own)
    if any(s % size for v in (x, w) for s in v.strides):
        return None
    ways = [_join_stack(a, b, c, lead, steps), (a, b, c, lead, steps)]
    for a, b, c, lead, steps in ways:
        several = lead[-1] if lead else 1
        if blocks_of(a.rows, b.columns, a.columns) is None or size_of(lead[:-1]) > _STACKS:
            continue
        parts = []
        for index in _places(lead[:-1]):
            offsets = [size * sum(k * s for k, s in zip(index, step)) for step in steps]
            parts.append(tuple(
                Matrix(m.value, m.rows, m.columns, m.down, m.right, offset)
                for m, offset in zip((a, b, c), offsets)
            ))  # fmt: skip
        product = Product(out, parts, True, several)
        if lead:
            product.steps = (steps[0][-1], steps[1][-1], steps[2][-1])
        return product
    return None


_Stack = tuple[Matrix, Matrix, Matrix, tuple[int, ...], list[list[int]]]


def _join_stack(
    a: Matrix, b: Matrix, c: Matrix, lead: tuple[int, ...], steps: list[list[int]]
) -> _Stack:
    """A stack as fewer, larger products: one matrix that meets many is multiplied by all at once.

    `steps` are those of A, B and C in elements, for each dimension of the stack.
    """
    over_a, over_b, over_c = steps
    if b.columns == 1 and a.rows > 1 and c.down == 1:  # a vector is a row as well
        a, b, c = transpose(b), transpose(a), transpose(c)
        over_a, over_b = over_b, over_a
    kept: list[int] = []
    for d in reversed(range(len(lead))):
        n, p, q, r = lead[d], over_a[d], over_b[d], over_c[d]
        if n == 1:
            continue
        if not q and _goes_on(a.rows, a.down, p) and _goes_on(c.rows, c.down, r):
            a = Matrix(a.value, n * a.rows, a.columns, p if a.rows == 1 else a.down, a.right)
            c = Matrix(c.value, n * c.rows, c.columns, r if c.rows == 1 else c.down, c.right)
        elif not p and _goes_on(b.columns, b.right, q) and r == c.columns and c.right == 1:
            b = Matrix(b.value, b.rows, n * b.columns, b.down, q if b.columns == 1 else b.right)
            c = Matrix(c.value, c.rows, n * c.columns, c.down, 1)
        else:
            kept.insert(0, d)
    left = [[over[d] for d in kept] for over in (over_a, over_b, over_c)]
    return a, b, c, tuple(lead[d] for d in kept), left


def _goes_on(count: int, step: int, next_: int) -> bool:
    """Whether so many rows are followed evenly by those of the next matrix."""
    return count == 1 or next_ == count * step


def _places(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for n in shape:
        found = [(*place, k) for place in found for k in range(n)]
    return found
