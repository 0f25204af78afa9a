"""Which instructions run natively, and in which order.

A `Plan` reads a program from the first instruction to the last and turns what it can into commands:
kernels of fused instructions, products of matrices, sweeps of optimizers, and what `commands` has.
Views are done when somebody needs them; everything else stays a call from Python.
"""

from __future__ import annotations

from typing import Any

from ..ir.iteration_values import in_order, size_of
from ..ir.program import Instruction, Program, Value
from ..lowering import (
    attention,
    commands,
    convolutions,
    copies as moves,
    lstm as recurrence,
    rnn_gru as recurrent_layers,
)
from ..lowering.commands import Command, merge_dimensions
from ..lowering.fusion import Kernel
from ..lowering.gemm import Product
from ..lowering.optimizer_sweeps import Sweep
from ..passes.epilogues import with_product, with_relu
from ..passes.fuse import has_joined
from ..passes.sweep import swept
from ..passes.writes import forget, is_fused

#: Of each rule what makes its command; the first that can does.
_MAKERS: dict[str, list[moves.Maker]] = {}
for _part in (commands, convolutions, moves, attention, recurrence, recurrent_layers):
    for _rule, _make in _part.MAKERS.items():
        _MAKERS.setdefault(_rule, []).append(_make)


class Plan:
    """The order of commands and of calls from Python."""

    def __init__(self, program: Program, kept: set[int], refused: set[int]) -> None:
        self.program = program
        self.kept = kept  # roots that outlive the call
        self.refused = refused  # instructions that are left to Python, by id
        self.items: list[Any] = []  # commands, and `Instruction`s for Python
        self.first = 0  # where the segment that is being collected begins
        self.when: dict[int, int] = {}  # root -> the item that makes it
        self.readers: dict[int, int] = {}  # root -> the last item that reads it
        self.current: dict[int, Value] = {}  # what values are since they were written in place
        self.renewed: list[Instruction] = []
        self.views: dict[int, Instruction] = {}
        self.same: dict[int, int] = {}
        self.checks: list[tuple[Value, int]] = []
        self.copied: dict[int, Value] = {}  # whole numbers that were put in order, from where
        self.count: dict[int, int] = {}
        self.places: dict[int, int] = {}  # whole numbers that are below a limit
        self.origin: dict[int, Instruction] = {}  # of instructions made here, by id
        for i in program.instructions:
            for v in i.reads():
                self.count[v.root] = self.count.get(v.root, 0) + 1
        for i in program.instructions:
            self._place(i)
        self.commands = sum(not isinstance(x, Instruction) for x in self.items)

    def list_left(self) -> list[Instruction]:
        """The calls that stay with Python."""
        return [x for x in self.items if isinstance(x, Instruction) and x.kind != "grad"]

    def instructions_of(self, item: Any) -> list[Instruction]:
        """The program's instructions that a command runs."""
        found = [m.instruction for m in item.members] if isinstance(item, Kernel) else [item.source]
        return [self.origin.get(id(i), i) for i in found]

    def _place(self, i: Instruction) -> None:
        if self._view(i):
            return
        if id(i) not in self.refused:
            if i.kind == "call" and (
                with_product(self, i)
                or with_relu(self, i)
                or has_joined(self, i)
                or self._command(i)
            ):
                return
            if (i.kind == "write" and is_fused(self, i)) or swept(self, i):
                return
        place = self.append(i)
        for out in i.outputs:
            if out is not None:
                self.when[out.root] = place
        for root in i.writes():
            self.when[root] = place
            forget(self, root)
        if i.kind != "grad":
            self.first = len(self.items)

    def append(self, item: object) -> int:
        """Adds a command, or a call from Python, at the end; its place."""
        self.items.append(item)
        place = len(self.items) - 1
        for v in reads_of(item):
            self.readers[v.root] = place
        return place

    def _view(self, i: Instruction) -> bool:
        """Whether an instruction only shows memory in another way: it is done when it's needed."""
        outs = [o for o in i.outputs if o is not None]
        if i.kind != "call" or not i.pure or not outs or not all(o.view for o in outs):
            return False
        base = i.inputs[0] if i.inputs else None
        for o in outs:
            self.views[o.number] = i
            if base is not None and type(base) is Value and base.number in self.places:
                self.places[o.number] = self.places[base.number]
            if (
                type(base) is Value and base.root == o.root and base.offset == o.offset
                and size_of(base.shape) == size_of(o.shape) and base.dtype == o.dtype
                and in_order(base) and in_order(o)
            ):  # fmt: skip
                self.same[o.number] = self.same.get(base.number, base.number)
        return True

    def ready(self, v: Value, before: int) -> bool:
        """Whether a value is there before the item at a place runs."""
        made = self.when.get(v.root)
        return made is None or made < before

    def scratch(self, like: Value, shape: tuple[int, ...] | None = None) -> Value:
        """A value for what is only needed within a command."""
        number = len(self.program.values)
        value = like.like(number, kind="result", root=number, view=False, offset=0)
        if shape is not None:
            value.shape = shape
            value.strides = ()
        self.program.values.append(value)
        return value

    def check(self, v: Value, limit: int) -> bool:
        """Has whole numbers checked before anything runs; False where they aren't there yet."""
        if self.places.get(v.number, limit + 1) <= limit:
            return True  # found by a kernel here
        v = self.copied.get(v.number, v)
        root = self.program.values[v.root]
        if root.kind not in ("argument", "tensor") or v.root in self.program.written:
            return False
        if rows_of(v) is None:
            return False
        if not any(v is w and limit == n for w, n in self.checks):
            self.checks.append((v, limit))
        return True

    def _command(self, i: Instruction) -> bool:
        found = (make(i, self) for make in _MAKERS.get(i.rule, ()))
        command = next((one for one in found if one is not None), None)
        if command is None:
            return False
        command.name, command.source = i.name, i
        place = self.append(command)
        for v in command.outputs:
            self.when[v.root] = place
        return True

    def find_wanted(self) -> dict[int, set[int]]:
        """For each kernel (by place) the values that others read, or that are kept."""
        readers: dict[int, set[int]] = {}
        for place, item in enumerate(self.items):
            for v in reads_of(item):
                readers.setdefault(v.root, set()).add(place)
        found: dict[int, set[int]] = {}
        for place, item in enumerate(self.items):
            if isinstance(item, Kernel):
                last = last_writes(item)
                over = {item.made[n].root for n in last}
                found[place] = last | {
                    n for n, v in item.made.items()
                    if v.root not in over and (
                        v.root in self.kept or readers.get(v.root, set()) - {place}
                    )
                }  # fmt: skip
        return found


def rows_of(v: Value) -> tuple[int, int, int, int] | None:
    """Rows, bytes from one to the next, and the same of columns; None where these aren't enough."""
    dims = merge_dimensions(v.shape, list(v.strides), list(v.strides))
    if len(dims) > 2:
        return None
    (rows, down, _), (columns, right, _) = [(1, 0, 0)] * (2 - len(dims)) + dims
    return rows, down, columns, right


def last_writes(kernel: Kernel) -> set[int]:
    """The numbers of the values that a kernel leaves in memory that it writes in place."""
    found = {(v.root, v.offset, v.shape): n for n, v in kernel.made.items() if v.kind == "write"}
    return set(found.values())


def reads_of(item: Any) -> list[Value]:
    """The values that a command or an instruction reads."""
    # A view's own operands are never read: it is an address.
    if isinstance(item, Product | Sweep | Kernel | Command):
        return item.reads()
    return list(item.reads())


def results_of(item: Instruction | Command | Kernel | Product | Sweep) -> list[Value]:
    """The values that a command makes."""
    if isinstance(item, Product):
        return [item.out] + ([item.room] if item.room is not None else [])
    if isinstance(item, Kernel):
        return item.outputs + item.rooms
    return list(item.outputs) if isinstance(item, Command) else []
