"""Running sums and products along rows, in float64.

    address = scan.load(F32, product=False)   # void (frame, chunk): `grain` rows

Each step waits for the last one's result, so several rows go side by side.
"""

from __future__ import annotations

from functools import cache

from ..llvm import loader as engine
from ..llvm.emit import F64, I64, PTR, Module, Type, Value

#: The words of a frame, 8 bytes each; `back`: from the rows' ends.
FRAME = ("x", "y", "rows", "length", "grain", "back")
_TOGETHER = 8


@cache
def load(type: Type, product: bool) -> int:
    """The address for float32 or float64."""
    return engine.load_made(emit, type, product)["scan"]


def emit(type: Type, product: bool) -> Module:
    """The module with `scan`."""
    module = Module("scan")
    f = module.function("scan", [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    x, y, rows, length, grain, back = (
        f.load(f.at(frame, k, I64), PTR if k < 2 else I64) for k in range(len(FRAME))
    )
    step = f.select(back.ne(0), f.constant(I64, -1), 1)
    first = f.select(back.ne(0), length - 1, f.constant(I64, 0))

    def lines(row: Value, count: int) -> None:
        sources = [f.at(x, (row + k) * length + first, type) for k in range(count)]
        targets = [f.at(y, (row + k) * length + first, type) for k in range(count)]
        start = f.constant(F64, 1.0 if product else 0.0)
        with f.loop(0, length, carried=[start] * count) as loop:
            place = loop.index * step
            after = []
            for source, to, before in zip(sources, targets, loop.carried, strict=True):
                met = f.cast(f.load(f.at(source, place, type), type), F64)
                after.append(before * met if product else before + met)
                f.store(f.at(to, place, type), f.cast(after[-1], type))
            loop.next(*after)

    begin = chunk * grain
    end = f.minimum(begin + grain, rows)
    whole = end - (end - begin) % _TOGETHER
    with f.loop(begin, whole, _TOGETHER) as loop:
        lines(loop.index, _TOGETHER)
    with f.loop(whole, end) as loop:
        lines(loop.index, 1)
    f.ret()
    return module
