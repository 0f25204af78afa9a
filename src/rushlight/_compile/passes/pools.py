"""Pools before activations: maxima are taken first, so that a relu has fewer elements to see.

The largest of some relus is the relu of the largest, and a place whose maximum isn't positive gets
no gradient, whichever place it is. So `relu` before a pool of maxima follows it instead; its
gradient is masked before it is put back to the places, and a bias has its sums from there, too.
"""

from __future__ import annotations

from collections import defaultdict

from ..ir.iteration_values import FLOATS, size_of
from ..ir.program import Instruction, Program, Value
from .layout import like
from .split_reductions import SHORT


def pool_before_relu(program: Program) -> None:
    """Has relus that only a pool of maxima reads, beside their gradient, follow it."""
    if not any(i.rule == "max_pool" for i in program.instructions):
        return
    readers: dict[int, list[Instruction]] = defaultdict(list)
    for i in program.instructions:
        for v in i.reads():
            readers[v.number].append(i)
    kept = {v.number for v in program.outputs_values()}
    written = {root for i in program.instructions for root in i.writes()}
    replaced: dict[int, list[Instruction]] = {}
    for i in program.instructions:
        if i.kind == "call" and i.rule == "relu" and len(i.inputs) == 1:
            replaced |= _exchange(program, i, readers, kept, written) or {}
    if replaced:
        program.instructions[:] = [
            made for i in program.instructions for made in replaced.get(id(i), [i])
        ]


def _again(i: Instruction, inputs: tuple[object, ...], *outputs: Value) -> Instruction:
    """The same call on other values."""
    made = Instruction(i.kind, i.function, i.name, inputs, outputs, op=i.op, where=i.where,
                       pure=i.pure, holder=i.holder, several=i.several)  # fmt: skip
    made.part = i.part
    return made


def _exchange(
    program: Program,
    relu: Instruction,
    readers: dict[int, list[Instruction]],
    kept: set[int],
    written: set[int],
) -> dict[int, list[Instruction]] | None:
    """By id, what takes the places of instructions; None where others see what would be gone."""
    x, y = relu.inputs[0], relu.outputs[0]
    if type(x) is not Value or y is None or y.view or x.dtype.name not in FLOATS:
        return None

    def read(v: Value | None) -> list[Instruction]:
        """The readers of a value that nobody else sees; anything else has too many."""
        gone = v is None or v.view or v.number in kept or v.root in written
        return [relu] * 3 if gone or v is None else readers[v.number]

    pools = [i for i in read(y) if i.rule == "max_pool" and i.kind == "call"]
    masks = [i for i in read(y) if i.rule == "ne" and i.inputs == (y, 0)]
    if len(pools) != 1 or len(masks) > 1 or len(read(y)) != 1 + len(masks):
        return None
    if x.root in written or len(pools[0].outputs) != 2:
        return None
    (pool,) = pools
    largest, where = pool.outputs
    if largest is None or largest.view or largest.root in written:
        return None
    before = like(program, largest, largest.shape)
    found = {
        id(relu): [],
        id(pool): [
            _again(pool, (x, *pool.inputs[1:]), before, *([] if where is None else [where])),
            _again(relu, (before,), largest),
        ],
    }
    if not masks:
        return found if where is not None and not read(where) else None
    (mask,) = masks
    if where is None or len(read(where)) != 1 or len(read(mask.outputs[0])) != 1:
        return None
    (place,), (keep,) = read(where), read(mask.outputs[0])
    if place.rule != "place_in_planes" or keep.rule != "keep" or len(place.inputs) != 3:
        return None
    g, put, hidden = place.inputs[0], place.outputs[0], mask.outputs[0]
    if type(g) is not Value or put is None or hidden is None or g.shape != largest.shape:
        return None
    if read(put) != [keep] or keep.inputs != (put, hidden) or len(keep.outputs) != 1:
        return None
    result = keep.outputs[0]
    if result is None or result.view or result.root in written or g.dtype != put.dtype:
        return None
    if g.root in written or place.inputs[1] is not where:
        return None
    shown, masked = like(program, hidden, g.shape), like(program, put, g.shape)
    found |= {
        id(mask): [], id(place): [],
        id(keep): [
            _again(mask, (largest, 0), shown), _again(keep, (g, shown), masked),
            _again(place, (masked, *place.inputs[1:]), result),
        ],
    }  # fmt: skip
    for i in readers[result.number] if size_of(g.shape[2:]) >= SHORT else ():
        if i.rule == "channel_sums" and i.inputs == (result,):
            found[id(i)] = [_again(i, (masked,), *(o for o in i.outputs if o is not None))]
    return found
