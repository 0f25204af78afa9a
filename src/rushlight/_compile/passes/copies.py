"""Copies of gradients: a leaf takes the array itself where nobody else sees it."""

from __future__ import annotations

from ..ir.program import Program, Value, replace_in


def without_copies(program: Program) -> None:
    """Leaves out the copy that a gradient makes on its way into a leaf.

    The engine does the same while it runs (see Note [Stealing a gradient]): where the array was
    made for this leaf alone, and lies in memory like the leaf.
    """
    reads: dict[int, int] = {}
    for i in program.instructions:
        for v in i.reads():
            reads[v.number] = reads.get(v.number, 0) + 1
    for v in program.outputs_values():
        reads[v.number] = reads.get(v.number, 0) + 2
    shared = {v.root for v in program.values if v.view}
    by: dict[int, Value] = {}
    kept = []
    for i in program.instructions:
        i.inputs = replace_in(i.inputs, by)
        if i.name == "in_layout" and i.kind == "call" and i.outputs[0] is not None:
            source, leaf = i.inputs
            out = i.outputs[0]
            if (
                source.kind == "result" and not source.view and source.root not in shared
                and reads.get(source.number) == 1 and source.strides == leaf.strides
                and source.dtype == out.dtype and source.shape == out.shape
            ):  # fmt: skip
                by[out.number] = source
                continue
        kept.append(i)
    program.instructions[:] = kept
    for v in program.values:  # views of what is left out lie in the memory of what stands for it
        if v.root in by:
            v.root = by[v.root].root
    _replace_outputs(program, by)


def _replace_outputs(program: Program, by: dict[int, Value]) -> None:
    stack = [program.outputs, *[x.shown for x in program.stores]]
    while stack:
        x = stack.pop()
        if isinstance(x, (list, tuple)):
            stack.extend(x)
        elif isinstance(x, dict):
            stack.extend(x.values())
        elif hasattr(x, "expr"):
            x.expr = x.expr.map(by)
        elif hasattr(x, "value"):
            x.value = by.get(x.value.number, x.value)
            if getattr(x, "shared", None) is not None:
                stack.append(x.shared.source)
        elif hasattr(x, "items"):
            stack.extend(x.items)
