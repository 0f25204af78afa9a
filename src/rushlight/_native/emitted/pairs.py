"""Sums, differences, products and quotients of two arrays that broadcast.

    address = pairs.load("mul", F32)    # void (frame, chunk)

The result lies in order: `outer` rows of `inner` elements, which the last three of four axes number
from `n1` and `n2`. An operand's elements in a row lie side by side or are one (`step` 1 or 0), its
rows anywhere (`s0`, `s1`, `s2`). A chunk is `rows` rows of `grain` elements.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from ..llvm import loader as engine, target
from ..llvm.emit import I64, PTR, Module, Type, Value
from .lines import Places, each_vector, share

#: The words of a frame, 8 bytes each.
FRAME: Final = (
    "to", "a", "b", "outer", "inner", "n1", "n2", "a_s0", "a_s1", "a_s2", "a_step", "b_s0", "b_s1",
    "b_s2", "b_step", "rows", "grain",
)  # fmt: skip
COMBINED: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
}


@cache
def load(word: str, type: Type) -> int:
    """The address of a function of `COMBINED` for float32 or float64."""
    return engine.load_made(emit, word, type)[f"pairs_{word}"]


def emit(word: str, type: Type) -> Module:
    """The function of a word and a type."""
    combined = COMBINED[word]
    module = Module(f"pairs_{word}")
    f = module.function(f"pairs_{word}", [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    c = {name: f.load(f.at(frame, k, I64), PTR if k < 3 else I64) for k, name in enumerate(FRAME)}
    lanes = target.lanes(type)
    part = share(f, chunk, c)
    n1, n2 = c["n1"], c["n2"]
    k0, rest = part.top // (n1 * n2), part.top % (n1 * n2)
    k1, k2 = rest // n2, rest % n2
    starts = [
        k0 * c[f"{x}_s0"] + k1 * c[f"{x}_s1"] + k2 * c[f"{x}_s2"] + part.first * c[f"{x}_step"]
        for x in "ab"
    ]
    with f.loop(part.top, part.end, carried=[k1, k2, *starts]) as row:
        k1, k2, *starts = row.carried
        to = f.at(c["to"], row.index * c["inner"] + part.first, type)
        a, b = (f.at(c[x], start, type) for x, start in zip("ab", starts))

        def line(a_moves: bool, b_moves: bool) -> list[Value]:
            """A row's elements, where an operand's lie side by side or are one."""
            one_a = None if a_moves else f.splat(f.load(a, type), lanes)
            one_b = None if b_moves else f.splat(f.load(b, type), lanes)

            def combine(at: Places) -> None:
                left = at.load(a, 1) if one_a is None else one_a
                right = at.load(b, 1) if one_b is None else one_b
                at.store(to, combined(left, right))

            each_vector(f, type, part.length, combine)
            return []

        f.choose(
            c["a_step"].eq(0),
            lambda: line(False, True),
            lambda: f.choose(
                c["b_step"].eq(0), lambda: line(True, False), lambda: line(True, True)
            ),
        )
        # The next row, without a division: back to the start of an axis, on along the one before.
        ends2 = (k2 + 1).eq(n2)
        k1 = f.select(ends2, k1 + 1, k1)
        ends1 = k1.eq(n1)
        for at, x in enumerate("ab"):
            s0, s1, s2 = (c[f"{x}_s{k}"] for k in range(3))
            along = f.select(ends2, s1 - (n2 - 1) * s2, s2)
            starts[at] = starts[at] + along + f.select(ends1, s0 - n1 * s1, 0)
        row.next(f.select(ends1, 0, k1), f.select(ends2, 0, k2 + 1), *starts)
    f.ret()
    return module
