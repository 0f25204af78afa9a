"""What a compiled step runs, as text: kernels, products with what follows them, sweeps, memory.

`print(step.program)` shows what is computed; `print(step.machine)` shows how. The numbers of values
are the program's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .ir.iteration_values import size_of
from .ir.program import Instruction, Value
from .lowering.commands import Command
from .lowering.fusion import Kernel
from .lowering.gemm import Product
from .lowering.optimizer_sweeps import Sweep

if TYPE_CHECKING:
    from .._formula.ir import Group
    from .assembly.lower import ExecutablePlan


def lines_of(machine: ExecutablePlan) -> list[str]:
    """A machine's items, in order, and its arena."""
    found: list[str] = []
    for place, item in enumerate(machine.plan.items):
        found += _format_item(item, machine.groups.get(place))
    return found + _arena(machine)


def _format_item(item: Instruction | Kernel | Product | Sweep, group: Group | None) -> list[str]:
    if isinstance(item, Kernel):
        head = f"kernel over {item.rows} x {item.columns} gives {_names(item.outputs)}"
        return [head, *(f"    {m.instruction!r}{_format_results(m.outputs)}" for m in item.members)]
    if isinstance(item, Product):
        return [_product(item)]
    if isinstance(item, Sweep):
        kind = type(item.optimizer).__name__
        count = sum(len(part.params) for part in item.groups)
        words = [f"sweep of {kind} over {count} parameters"]
        for part in item.groups:
            pairs = zip(part.params, part.grads)
            words.append("    " + ", ".join(f"{p!r} by {g!r}" for p, g in pairs))
        return words
    if isinstance(item, Command):
        inner = _names(item.reads())
        return [f"command {getattr(item, 'name', '')}({inner}) gives {_names(item.outputs)}"]
    assert isinstance(item, Instruction)
    return [f"python {item!r}" if item.kind != "grad" else f"{item!r}"]


def _names(values: list[Value]) -> str:
    return ", ".join(_name(v) for v in values)


def _name(v: Value) -> str:
    return f"{v.holder!r} in place" if v.kind == "write" else repr(v)


def _format_results(outputs: list[Value]) -> str:
    targets = [v for v in outputs if v.kind == "write"]
    return f"  (over {_names([v.holder for v in targets])})" if targets else ""


def _product(item: Product) -> str:
    a, b, _ = item.parts[0]
    parts = [f"{a.value!r} [{a.rows} x {a.columns}]", f"{b.value!r} [{b.rows} x {b.columns}]"]
    text = f"product {item.out!r} = {parts[0]} @ {parts[1]}"
    count = item.several * len(item.parts)
    text += f", {count} of them" if count > 1 else ""
    text += f", plus {item.bias!r}" if item.bias is not None else ""
    text += ", negatives are zeros" if item.relu else ""
    return text if item.emitted else text + ", by BLAS"


def _arena(machine: ExecutablePlan) -> list[str]:
    lines = [f"arena of {machine.top} bytes"]
    values = machine.plan.program.values
    taken = {v.root: old for v, old in machine.reused}
    for root, offset in machine.offsets.items():
        v = values[root]
        size = size_of(v.shape) * v.dtype.itemsize
        place = f"in place of {taken[root]!r}" if root in taken else f"at {offset}"
        lines.append(f"    {v!r}: {size} bytes {place}")
    return lines
