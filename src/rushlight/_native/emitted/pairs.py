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
    with f.loop(part.top, part.end) as row:
        k0, rest = row.index // (c["n1"] * c["n2"]), row.index % (c["n1"] * c["n2"])
        k1, k2 = rest // c["n2"], rest % c["n2"]
        to = f.at(c["to"], row.index * c["inner"] + part.first, type)
        a, b = (
            f.at(
                c[x],
                k0 * c[f"{x}_s0"]
                + k1 * c[f"{x}_s1"]
                + k2 * c[f"{x}_s2"]
                + part.first * c[f"{x}_step"],
                type,
            )
            for x in "ab"
        )

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
    f.ret()
    return module
