"""Which instructions run natively, and in which order.

A `Plan` reads a program from the first instruction to the last and turns what it can into commands:
kernels of fused instructions, products of matrices, sweeps of optimizers, and what `commands` has.
Views are done when somebody needs them; everything else stays a call from Python.
"""

from __future__ import annotations

import operator
from typing import Any

from .._array.recording import UFUNC_OF
from . import attention, commands, recurrence
from .commands import Command
from .fusion import Kernel, dtype_of
from .meanings import ENTROPY, meaning_of
from .products import Product, product_of, worth_turning
from .program import Instruction, Program, Value
from .sweeps import Sweep, sweep_of
from .symbols import in_order, size_of

#: Kernels that are looked at for an instruction to join, at most.
_NEAR = 48
_MAKERS = {**commands.MAKERS, **attention.MAKERS, **recurrence.MAKERS}


class Plan:
    """The order of commands and of calls from Python."""

    def __init__(self, program: Program, kept: set[int], refused: set[int]) -> None:
        self.program = program
        self.kept = kept  # roots that outlive the call
        self.refused = refused  # instructions that are left to Python, by id
        self.items: list[Any] = []  # commands, and `Instruction`s for Python
        self.first = 0  # where the segment that is being collected begins
        self.when: dict[int, int] = {}  # root -> the item that makes it
        self.views: dict[int, Instruction] = {}
        self.same: dict[int, int] = {}
        self.checks: list[tuple[Value, int]] = []
        self.count: dict[int, int] = {}
        self.origin: dict[int, Instruction] = {}  # of instructions made here, by id
        for i in program.instructions:
            for v in i.reads():
                self.count[v.root] = self.count.get(v.root, 0) + 1
        for i in program.instructions:
            self._place(i)
        self.commands = sum(not isinstance(x, Instruction) for x in self.items)

    def left(self) -> list[Instruction]:
        """The calls that stay with Python."""
        return [x for x in self.items if isinstance(x, Instruction) and x.kind != "grad"]

    def _place(self, i: Instruction) -> None:
        if self._view(i):
            return
        if (
            i.kind == "call"
            and id(i) not in self.refused
            and (self._product(i) or self._fused(i) or self._command(i))
        ):
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
        base = i.inputs[0] if i.inputs else None
        for o in outs:
            self.views[o.number] = i
            if (
                type(base) is Value and base.root == o.root and base.offset == o.offset
                and size_of(base.shape) == size_of(o.shape) and base.dtype == o.dtype
                and in_order(base) and in_order(o)
            ):  # fmt: skip
                self.same[o.number] = self.same.get(base.number, base.number)
        return True

    def _ready(self, v: Value, before: int) -> bool:
        made = self.when.get(v.root)
        return made is None or made < before

    def scratch(self, like: Value, shape: tuple[int, ...] | None = None) -> Value:
        """A value for what is only needed within a command."""
        value = Value.__new__(Value)
        for name in ("kind", "shape", "dtype", "strides", "holder"):
            setattr(value, name, getattr(like, name))
        if shape is not None:
            value.shape = shape
            value.strides = ()
        value.kind = "result"
        value.number = value.root = len(self.program.values)
        value.view = False
        value.offset = 0
        value.raw = None
        self.program.values.append(value)
        return value

    def check(self, v: Value, limit: int) -> bool:
        """Has whole numbers checked before anything runs; False where they aren't there yet."""
        root = self.program.values[v.root]
        if root.kind not in ("argument", "tensor") or v.root in self.program.written:
            return False
        if not any(v is w and limit == n for w, n in self.checks):
            self.checks.append((v, limit))
        return True

    def _command(self, i: Instruction) -> bool:
        make = _MAKERS.get(i.name)
        command = None if make is None else make(i, self)
        if command is None:
            return False
        self.items.append(command)
        for v in command.outputs:
            self.when[v.root] = len(self.items) - 1
        return True

    def _product(self, i: Instruction) -> bool:
        product = product_of(i)
        if product is None:
            return False
        out = product.out
        bias = i.inputs[2] if len(i.inputs) == 3 else None
        if bias is not None:
            if type(bias) is not Value or bias.shape != out.shape[-1:] or bias.dtype != out.dtype:
                return False
            if product.emitted and in_order(bias):
                product.bias = bias
            else:  # the sum is a step of its own, which fuses with what follows
                product.out = self.scratch(out)
        a, b, _ = product.parts[0]
        if (
            product.emitted
            and len(product.parts) == product.several == 1
            and worth_turning(a.rows, b)
        ):
            product.room = self.scratch(out, (b.rows, b.columns))
        self.items.append(product)
        self.when[product.out.root] = len(self.items) - 1
        if product.out is out:
            return True
        add = Instruction(
            "call", UFUNC_OF[operator.add], "add", (product.out, bias), (out,), pure=True
        )
        self.origin[id(add)] = i
        if self._fused(add):
            return True
        self.items.pop()
        return False

    def _relu(self, i: Instruction) -> bool:
        """Whether a product before has taken over the zeros for negatives."""
        if i.name != "relu" or len(i.inputs) != 1:
            return False
        x, out = i.inputs[0], i.outputs[0]
        if type(x) is not Value or out is None or out.view:
            return False
        place = self.when.get(x.root, -1)
        if place < self.first or x.view or x.root in self.kept or self.count.get(x.root) != 1:
            return False
        item = self.items[place]
        if not isinstance(item, Product) or not item.emitted or item.relu or item.out is not x:
            return False
        if not in_order(out):
            return False
        item.out, item.relu = out, True
        self.when[out.root] = place
        return True

    def _fused(self, i: Instruction) -> bool:
        if self._relu(i):
            return True
        m = meaning_of(i)
        if m is None:
            return False
        if i.name in ENTROPY and not self.check(i.inputs[-3], i.inputs[-4].shape[1]):
            return False
        lowest = max(self.first, len(self.items) - _NEAR)
        for place in range(len(self.items) - 1, lowest - 1, -1):
            kernel = self.items[place]
            if not isinstance(kernel, Kernel):
                continue
            kinds = kernel.takes(m)
            if kinds is None:
                continue
            outside = [v for v in m.reads
                       if self.same.get(v.number, v.number) not in kernel.made]  # fmt: skip
            if all(self._ready(v, place) for v in outside):
                kernel.add(m, kinds)
                break
        else:
            for rows, columns in m.spaces():
                kernel = Kernel(rows, columns, dtype_of(m))
                kernel.same = self.same
                kinds = kernel.takes(m)
                if kinds is not None:
                    break
            else:
                return False
            kernel.add(m, kinds)
            self.items.append(kernel)
            place = len(self.items) - 1
        for out in m.outputs:
            self.when[out.root] = place
        return True

    def wanted(self) -> dict[int, set[int]]:
        """For each kernel (by place) the values that others read, or that are kept."""
        readers: dict[int, set[int]] = {}
        for place, item in enumerate(self.items):
            for v in reads_of(item):
                readers.setdefault(v.root, set()).add(place)
        found: dict[int, set[int]] = {}
        for place, item in enumerate(self.items):
            if isinstance(item, Kernel):
                found[place] = {
                    n for n, v in item.made.items()
                    if v.root in self.kept or readers.get(v.root, set()) - {place}
                }  # fmt: skip
        return found


def reads_of(item: Any) -> list[Value]:
    """The values that a command or an instruction reads."""
    # A view's own operands are never read: it is an address.
    if isinstance(item, Product | Sweep | Kernel | Command):
        return item.reads()
    return list(item.reads())


def made_by(item: Any) -> list[Value]:
    """The values that a command makes."""
    if isinstance(item, Product):
        return [item.out] + ([item.room] if item.room is not None else [])
    return list(item.outputs) if isinstance(item, Kernel | Command) else []
