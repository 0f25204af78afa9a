"""Sums of planes: what the gradient of a bias needs.

    void plane_sums(ptr frame, i64 chunk)

The frame holds the addresses of planes and sums, the number of planes, their elements, and how many
planes are a chunk. A plane is added up in four vectors, which are joined at its end.
"""

from __future__ import annotations

from functools import cache

from ..llvm import loader as engine, target
from ..llvm.emit import I64, PTR, Module, Type
from .lines import fold_vectors


@cache
def load(type: Type) -> int:
    """The address of `plane_sums` for float32 or float64."""
    return engine.load_made(emit, type)["plane_sums"]


def emit(type: Type) -> Module:
    """The module with `plane_sums`."""
    module = Module("plane_sums")
    f = module.function("plane_sums", [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    source, to = (f.load(f.at(frame, k, I64), PTR) for k in range(2))
    planes, area, grain = (f.load(f.at(frame, k, I64), I64) for k in range(2, 5))
    lanes = target.lanes(type)
    zero = f.constant(type.vector(lanes), 0.0)
    first = chunk * grain
    with f.loop(first, f.minimum(first + grain, planes)) as plane:
        x = f.at(source, plane.index * area, type)
        sums = fold_vectors(f, type, area, lambda total, at: total + at.load(x), [zero] * 4)
        total = (sums[0] + sums[1]) + (sums[2] + sums[3])
        f.store(f.at(to, plane.index, type), f.fold(total, lambda a, b: a + b))
    f.ret()
    return module
