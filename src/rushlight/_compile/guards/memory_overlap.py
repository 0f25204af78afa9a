"""Memory that inputs of a program share.

Note [Which inputs lie in the same memory]
Passes and kernels move reads and writes of different memory past each other, and address views of
one memory from where it begins. So a program holds only for inputs that overlap as they did when it
was recorded. Arrays that own their memory, and are none that the program knows, lie apart from all
others: that is all a call asks as a rule. Else owners are compared, and at last addresses.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..._array.memory import aliasing as A
from ..ir.program import Program, Value
from .guards import SourceText
from .records import Apart, Is, Local, Writable

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import Arguments
    from ..._tensor.tensor import Tensor
    from .captured_state import State

_KINDS = ("argument", "tensor", "gradient")


def separate(program: Program) -> None:
    """Takes inputs apart that show different parts of one memory which nobody writes.

    Two batches cut out of one data set are such: the next two lie at another distance.
    """
    groups: dict[int, list[Value]] = {}
    for v in program.inputs:
        groups.setdefault(v.root, []).append(v)
    made_by = {o.number: i for i in program.instructions for o in i.outputs if o is not None}
    for root, inputs in groups.items():
        if len(inputs) < 2 or root in program.written:
            continue
        owner = {v.number: v for v in inputs}
        views: list[Value] = []
        for v in program.values:
            if v.root != root or v.number in owner:
                continue
            made = made_by.get(v.number)
            reads = made.reads() if made else ()
            origins = {owner[x.number].number for x in reads if x.number in owner}
            if len(origins) != 1:
                break
            owner[v.number] = program.values[origins.pop()]
            views.append(v)
        else:
            _separate(inputs, views, owner)


def _separate(inputs: list[Value], views: list[Value], owner: dict[int, Value]) -> None:
    """Gives each of some inputs a memory of its own, with the views that show it."""
    starts = {v.number: v.offset for v in inputs}
    for v in inputs:
        v.root, v.view, v.offset = v.number, False, 0
    for v in views:
        first = owner[v.number]
        v.root = first.number
        v.offset -= starts[first.number]


def guard_memory(program: Program, names: dict[int, str], lines: SourceText) -> None:
    """Checks that inputs overlap as they did; `moved` says whether a tensor's array was replaced.

    `names` are those of the inputs' arrays.
    """
    inputs = [v for v in program.inputs if v.kind in _KINDS]
    written = [v.root in program.written for v in inputs]
    together = len({v.root for v in inputs}) < len(inputs)
    if not together and not any(written):
        return
    fixed = [v.holder._raw for v in inputs if v.kind == "tensor"]
    own = frozenset(id(x) for raw in fixed for x in (raw, A.memory_of(raw)))
    loose = [v for v in inputs if v.kind != "tensor"]
    roots = [v.root for v in loose]
    always = len(set(roots)) < len(roots) or any(
        v.root in roots for v in inputs if v.kind == "tensor"
    )
    layout = [(v.root, v.offset, w) for v, w in zip(inputs, written)]
    arrays, given = (tuple(Local(names[v.number]) for v in some) for some in (inputs, loose))
    lines.guard(Apart(apart, layout, arrays, given, own, always))


def apart(layout: list[tuple[int, int, bool]], arrays: tuple[Array, ...]) -> bool:
    """Whether arrays overlap as a program wants: (root, offset, whether it is written) of each."""
    memory = [A.memory_of(raw) for raw in arrays]
    for k, (root, offset, written) in enumerate(layout):
        for j in range(k):
            if layout[j][0] == root:
                if A.distance(arrays[j], arrays[k]) != offset - layout[j][1]:
                    return False
            elif written or layout[j][2]:
                a, b = memory[j], memory[k]
                own = A.ndarray
                if a is not b and isinstance(a, own) and isinstance(b, own):
                    continue
                if A.overlapping(arrays[j], arrays[k]):
                    return False
    return True


def guard_writable(program: Program, names: dict[int, str], lines: SourceText) -> None:
    """Checks that what the program writes may be written: machine code doesn't ask."""
    written = {root for i in program.instructions for root in i.overwrites()}
    for value in program.inputs:
        if value.root in written and value.kind != "constant":
            lines.unless(Writable(Local(names[value.number])))


def _may_be_read(t: Tensor, state: State) -> bool:
    """Whether the step may have read a tensor from where it was before: it names its place."""
    if state.read is None:
        return True
    objects = {id(place.container) for place, _ in state.objects}
    known = False
    for place in state.places:
        by_name = place.kind == "names" or id(place.container) in objects
        for key, x in place.entries.items():
            if x is t:
                known = True
                if not by_name or type(key) is not str or key in state.read:
                    return True
    return not known


def guard_shared(program: Program, arguments: Arguments, state: State, lines: SourceText) -> None:
    """Checks that tensors that were there before share one array where they did.

    A program knows arrays only. Where a step was given both `x` and `x.detach()`, or one tensor as
    an argument and by a name, the program reads one array for the two.
    """
    held = [v.holder for v in program.inputs if v.kind == "tensor"]
    found = {id(t): (t, f"a{n}") for n, t in enumerate(arguments)}
    for t in (*state.tensors.values(), *program.leaves, *held):
        name = found.setdefault(id(t), (t, ""))[1]
        if name and _may_be_read(t, state):
            lines.unless(Is(Local(f"t{name[1:]}"), t))
            found[id(t)] = t, ""
    often = Counter(id(t._raw) for t, _ in found.values())
    first: dict[int, str] = {}
    for t, name in found.values():
        if often[id(t._raw)] > 1:
            text = name or f"{lines.name(t)}._raw"
            known = first.setdefault(id(t._raw), text)
            if known != text:
                lines.python(f"if {text} is not {known}: return None")
