"""Which instructions run natively, and in which order.

A `Plan` reads a program from the first instruction to the last and turns what it can into commands:
kernels of fused instructions, products of matrices, sweeps of optimizers. Views are done when
somebody needs them; everything else stays a call from Python.
"""

from __future__ import annotations

import operator
from typing import Any

from .._array import arena
from .._array.recording import UFUNC_OF
from .fusion import ENTROPY, Kernel, space_for
from .program import Instruction, Program, Value
from .sweeps import Sweep, sweep_of
from .symbols import in_order, space_of

_LINEAR = frozenset({"_linear"})


class Product:
    """C = A B, or C = A B + C where `adds`."""

    def __init__(self, out: Value, a: Matrix, b: Matrix) -> None:
        self.out = out
        self.a = a
        self.b = b


class Matrix:
    """A matrix in memory, as BLAS takes it."""

    def __init__(self, value: Value, rows: int, columns: int, turned: bool, lead: int) -> None:
        self.value = value
        self.rows = rows
        self.columns = columns
        self.turned = turned
        self.lead = lead

    def strides(self) -> tuple[int, int]:
        """Elements from row to row, and from column to column."""
        return (1, self.lead) if self.turned else (self.lead, 1)


def matrix_of(v: Value, turn: bool = False) -> Matrix | None:
    """A value of two dimensions (or more, in order) for BLAS; None where its strides don't fit."""
    size = v.dtype.itemsize
    if v.dtype.name not in ("float32", "float64") or len(v.shape) < 2 or 0 in v.shape:
        return None
    if len(v.shape) > 2:
        if not in_order(v):
            return None
        rows, columns = space_of(v.shape)
        strides = (columns, 1)
    else:
        rows, columns = v.shape
        strides = (v.strides[0] // size, v.strides[1] // size)
    if strides[1] == 1 or columns == 1:
        turned, lead = False, max(strides[0] if rows > 1 else columns, columns)
        if rows > 1 and strides[0] < columns:
            return None
    elif strides[0] == 1 or rows == 1:
        turned, lead = True, max(strides[1] if columns > 1 else rows, rows)
        if columns > 1 and strides[1] < rows:
            return None
    else:
        return None
    if columns == 1 and strides[1] != 1 and rows > 1 and strides[0] < 1:
        return None
    if turn:
        return Matrix(v, columns, rows, not turned, lead)
    return Matrix(v, rows, columns, turned, lead)


class Plan:
    """The order of commands and of calls from Python."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.items: list[Any] = []  # commands, and `Instruction`s for Python
        self.first = 0  # where the segment that is being collected begins
        self.when: dict[int, int] = {}  # root -> the item that makes it
        self.native: set[int] = set()  # roots made natively
        self.views: dict[int, Instruction] = {}
        self.checks: list[tuple[Value, int]] = []
        for i in program.instructions:
            self._place(i)
        self.commands = sum(not isinstance(x, Instruction) for x in self.items)

    def _place(self, i: Instruction) -> None:
        if self._view(i):
            return
        if i.kind == "call" and (self._product(i) or self._fused(i)):
            return
        sweep = sweep_of(i) if i.kind == "step" else None
        if sweep is not None:  # what comes later can't join what came before
            self.items.append(sweep)
            self.first = len(self.items)
            return
        self.items.append(i)
        for out in i.outputs:
            if out is not None:
                self.when[out.root] = len(self.items) - 1
        if i.kind != "grad":
            self.first = len(self.items)

    def _view(self, i: Instruction) -> bool:
        """Whether an instruction only shows memory in another way: it is done when it's needed."""
        outs = [o for o in i.outputs if o is not None]
        if i.kind != "call" or not i.pure or not outs or not all(o.view for o in outs):
            return False
        for o in outs:
            self.views[o.number] = i
        return True

    def _ready(self, v: Value, before: int) -> bool:
        made = self.when.get(v.root)
        return made is None or made < before

    def _product(self, i: Instruction) -> bool:
        out = i.outputs[0] if len(i.outputs) == 1 else None
        if out is None or out.view or not in_order(out) or i.several:
            return False
        bias = None
        if i.name in _LINEAR and len(i.inputs) == 3:
            x, w, bias = i.inputs
            if type(x) is not Value or type(w) is not Value or len(w.shape) != 2:
                return False
            a, b = matrix_of(x), matrix_of(w, True)
        elif i.name in ("matmul", "mm") and len(i.inputs) == 2:
            x, w = i.inputs
            if type(x) is not Value or type(w) is not Value or len(w.shape) != 2:
                return False
            a, b = matrix_of(x), matrix_of(w)
            if len(x.shape) < 2:
                return False
        else:
            return False
        if a is None or b is None or a.columns != b.rows or x.dtype != out.dtype != w.dtype:
            return False
        if w.dtype != x.dtype or out.dtype != x.dtype:
            return False
        if not arena.product_routine("sgemm" if out.dtype.name == "float32" else "dgemm"):
            return False
        if bias is not None and (type(bias) is not Value or bias.shape != out.shape[-1:]):
            return False
        target_value = out
        if bias is not None:  # the sum is a step of its own, which fuses with what follows
            target_value = self._twin(out)
        self.items.append(Product(target_value, a, b))
        self.when[target_value.root] = len(self.items) - 1
        self.native.add(target_value.root)
        if bias is not None:
            add = Instruction(
                "call", UFUNC_OF[operator.add], "add", (target_value, bias), (out,), pure=True
            )
            return self._fused(add)
        return True

    def _twin(self, like: Value) -> Value:
        value = Value.__new__(Value)
        for name in ("kind", "shape", "dtype", "strides", "raw", "holder"):
            setattr(value, name, getattr(like, name))
        value.number = value.root = len(self.program.values)
        value.view = False
        value.offset = 0
        value.raw = None
        self.program.values.append(value)
        return value

    def _fused(self, i: Instruction) -> bool:
        space = space_for(i)
        if space is None:
            return False
        out = i.outputs[0]
        assert out is not None
        for place in range(len(self.items) - 1, self.first - 1, -1):
            kernel = self.items[place]
            if not isinstance(kernel, Kernel) or kernel.space != space or not kernel.takes(i):
                continue
            outside = [v for v in i.reads() if v.number not in kernel.made]
            if all(self._ready(v, place) for v in outside):
                kernel.add(i)
                break
        else:
            kernel = Kernel(space)
            if not kernel.takes(i):
                return False
            kernel.add(i)
            self.items.append(kernel)
            place = len(self.items) - 1
        self.when[out.root] = place
        self.native.add(out.root)
        if i.name in ENTROPY:
            check = (i.inputs[-3], i.inputs[-4].shape[1])
            if check not in self.checks:
                self.checks.append(check)
        return True

    def wanted(self, kernel: Kernel, kept: set[int]) -> set[int]:
        """The values of a kernel that others read, or that are kept."""
        found = {n for n, v in kernel.made.items() if v.root in kept}
        for item in self.items:
            if item is kernel:
                continue
            for v in reads_of(item):
                if v.root in kernel.made:
                    found.add(v.root)
        return found


def reads_of(item: Any) -> list[Value]:
    """The values that a command or an instruction reads."""
    # A view's own operands are never read: it is an address.
    if isinstance(item, Product):
        return [item.a.value, item.b.value]
    if isinstance(item, Sweep):
        return item.reads()
    if isinstance(item, Kernel):
        return [v for i in item.members for v in i.reads() if v.number not in item.made]
    return list(item.reads())


def made_by(item: Any) -> list[Value]:
    """The values that a command makes."""
    if isinstance(item, Product):
        return [item.out]
    return list(item.outputs) if isinstance(item, Kernel) else []
