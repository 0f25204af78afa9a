"""Results that share an allocation but no element: each gets a root of its own."""

from __future__ import annotations

from itertools import pairwise

from ..ir.program import Program, Value


def split_roots(program: Program) -> None:
    """Gives results of one call, which NumPy made as parts of one array, roots of their own.

    Only where nothing else shows that memory: then each may be kept, reused and placed by itself.
    """
    by: dict[int, list[Value]] = {}
    for v in program.values:
        by.setdefault(v.root, []).append(v)
    for i in program.instructions:
        outs = [o for o in i.outputs if o is not None]
        if i.kind != "call" or len(outs) < 2:
            continue
        for o in outs:
            others = by.get(o.root, [])
            if len(others) < 2 or not all(any(x is y for y in outs) for x in others):
                continue
            spans = sorted((v.offset, v.offset + _extent(v)) for v in others)
            if any(a[1] > b[0] for a, b in pairwise(spans)):
                continue
            for v in others:
                by[v.number] = [v]
                v.root = v.number
                v.view = False
                v.offset = 0


def _extent(v: Value) -> int:
    """From the first byte of a value to the last."""
    if 0 in v.shape:
        return 0
    last: int = sum((n - 1) * abs(s) for n, s in zip(v.shape, v.strides))
    return last + int(v.dtype.itemsize)
