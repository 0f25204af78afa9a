"""Convolution of single planes, each by a kernel of its own: what depthwise convolutions do.

    void (ptr frame, i64 chunk)

A chunk is some of the planes. In a plane, read as one line, a place of the kernel (a tap) is a
shift: `planes` writes y[i] = sum over taps of w[tap] x[i + shift[tap]], and `weights` writes
w[tap] = sum over i of y[i] x[i + shift[tap]], both for i below `line`.
"""

from __future__ import annotations

from functools import cache

from . import engine, target
from .emit import I64, PTR, Function, Module, Type, Value

__all__ = ["FRAME", "load"]

#: The words of a frame, 8 bytes each. The kernel of plane p is row p % channels of w for `planes`,
#: and row p for `weights`. Steps are elements from plane to plane.
FRAME = (
    "x", "w", "y", "shifts", "line", "step_x", "step_y", "planes", "channels", "taps", "grain",
)  # fmt: skip


@cache
def load(type: Type) -> dict[str, int]:
    """The addresses of `planes` and `weights` for float32 or float64."""
    module = Module("planes")
    _planes(module, type)
    _weights(module, type)
    return engine.load(module)


def _frame(f: Function) -> dict[str, Value]:
    frame = f.params[0]
    kinds = dict.fromkeys(("x", "w", "y", "shifts"), PTR)
    return {
        name: f.load(f.at(frame, place, I64), kinds.get(name, I64))
        for place, name in enumerate(FRAME)
    }


def _planes(module: Module, type: Type) -> None:
    f = module.function("planes", [("frame", PTR), ("chunk", I64)])
    frame = _frame(f)
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    line, taps = frame["line"], frame["taps"]
    first = f.params[1] * frame["grain"]
    with f.loop(first, f.minimum(first + frame["grain"], frame["planes"])) as plane:
        x = f.at(frame["x"], plane.index * frame["step_x"], type)
        y = f.at(frame["y"], plane.index * frame["step_y"], type)
        w = f.at(frame["w"], plane.index % frame["channels"] * taps, type)

        def piece(start: Value, vectors: int, mask: Value | None) -> None:
            zero = f.constant(wide, 0.0)
            with f.loop(0, taps, carried=[zero] * vectors) as tap:
                shift = f.load(f.at(frame["shifts"], tap.index, I64), I64)
                factor = f.splat(f.load(f.at(w, tap.index, type), type), lanes)
                here = f.at(x, start + shift, type)
                sums = []
                for v, total in enumerate(tap.carried):
                    there = f.at(here, v * lanes, type)
                    read = f.load(there, wide) if mask is None else f.load_masked(there, wide, mask)
                    sums.append(f.fma(factor, read, total))
                tap.next(*sums)
            for v, total in enumerate(tap.results):
                there = f.at(y, start + v * lanes, type)
                if mask is None:
                    f.store(there, total)
                else:
                    f.store_masked(there, total, mask)

        start = f.constant(I64, 0)
        for vectors in (4, 1):
            stop = line - (line - start) % (vectors * lanes)
            with f.loop(start, stop, vectors * lanes) as loop:
                piece(loop.index, vectors, None)
            start = stop
        with f.when(start < line):
            piece(start, 1, f.mask(line - start, lanes))
    f.ret()


def _weights(module: Module, type: Type) -> None:
    f = module.function("weights", [("frame", PTR), ("chunk", I64)])
    frame = _frame(f)
    lanes = target.lanes(type)
    wide = type.vector(lanes)
    line, taps = frame["line"], frame["taps"]
    first = f.params[1] * frame["grain"]
    with f.loop(first, f.minimum(first + frame["grain"], frame["planes"])) as plane:
        x = f.at(frame["x"], plane.index * frame["step_x"], type)
        y = f.at(frame["y"], plane.index * frame["step_y"], type)
        w = f.at(frame["w"], plane.index * taps, type)
        with f.loop(0, taps) as tap:
            moved = f.at(x, f.load(f.at(frame["shifts"], tap.index, I64), I64), type)
            start = f.constant(I64, 0)
            sums = [f.constant(wide, 0.0)] * 4
            for vectors in (4, 1):
                stop = line - (line - start) % (vectors * lanes)
                with f.loop(start, stop, vectors * lanes, carried=sums) as loop:
                    totals = list(loop.carried)
                    for v in range(vectors):
                        at = loop.index + v * lanes
                        left = f.load(f.at(y, at, type), wide)
                        right = f.load(f.at(moved, at, type), wide)
                        totals[v] = f.fma(left, right, totals[v])
                    loop.next(*totals)
                sums = loop.results
                start = stop
            mask = f.mask(line - start, lanes)
            left = f.load_masked(f.at(y, start, type), wide, mask)
            right = f.load_masked(f.at(moved, start, type), wide, mask)
            total = f.fma(left, right, (sums[0] + sums[1]) + (sums[2] + sums[3]))
            f.store(f.at(w, tap.index, type), f.fold(total, lambda a, b: a + b))
    f.ret()
