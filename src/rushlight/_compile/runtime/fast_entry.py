"""The quick way into a program: its guards as machine code, and a whole step as one call.

A program runs some times as its text says (see `replay`). Then its guards become machine
words, and the text is written once more:

- where all of a program is native and small, one builtin checks the guards, fills the frames, runs
  the machine code and counts the writes; Python makes the tensors that are returned. Gradients are
  written into the old ones where nobody else holds these (see Note [Gradients that nobody holds]
  in `_native.cpython.guard_checker`); else into new arrays, by a second entrance;
- else the builtin takes the place of the guards only.

Whatever the builtin doesn't pass goes to the guards as they are written, which decide.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from ..._core.storage import TensorBase, version_cell
from ..._native.cpython import dict_clocks
from ..._native.llvm import target
from ..assembly import driver
from ..generated_python import compile_text
from ..guards.analysis import SortedGuards
from ..guards.conditions import ObjectReads
from ..guards.native_guards import NativeGuards, fields, unreadable
from ..ir.iteration_values import size_of
from ..ir.program import Instruction, Value
from ..lowering.gemm import Product
from .replay import NativeBody, Variant

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable
    from ..._tensor.tensor import Tensor
    from ..assembly.lower import ExecutablePlan
    from ..ir.program import Program

#: Multiplications or moves of elements up to which a step keeps the interpreter's lock.
SMALL = 1 << 22
_CODE = "    return k"
MISS, UNSURE, FRESH, STALE, REFUSED = range(5)


def quicken(
    variant: Variant, args: tuple[object, ...], kwargs: dict[str, object]
) -> AnyCallable | None:
    """A variant's `run` with its guards in machine code; None where it stays as it is.

    The arguments are of a call that has just passed the guards.
    """
    if not target.available():
        return None
    wrong = unreadable()
    if wrong is not None:
        variant.notes.append(f"guards in Python: {wrong}")
        return None
    text = variant.text
    loose = _loose(variant)
    own = dict(variant.names)  # what the guards name leads to nothing that leads to them
    guards = SortedGuards(variant.lines.guards, loose)
    if not all(a.complete() for a in guards.arguments.values()):
        return None
    guarded = compile_text("guarded", "args, kwargs", [*text[: variant.guards], "return True"],
                            own)  # fmt: skip
    names = dict(own)
    machine = variant.machine
    if machine is not None and guards.is_covered() and _simple(machine, variant.program):
        with machine.lock:
            entry = FastEntry(variant, guards, guarded, names)
            natives, run = entry.natives, entry.way_in()
            entry._new_numbers()
    else:
        natives, run = _guards_only(variant, guards, guarded, names)
    for native in natives:
        native.take(args, kwargs)
    return run


def _loose(variant: Variant) -> list[Any]:
    machine = variant.machine
    if machine is None:
        return []
    return [part.options for sweep in machine.sweeps() for part in sweep.groups]


def _guards_only(
    variant: Variant, guards: SortedGuards, guarded: AnyCallable, names: dict[str, object]
) -> Any:
    native = NativeGuards(guards, guarded, {}, 0)
    native.settle([], [], [], [])

    def look(args: tuple[object, ...], kwargs: dict[str, object]) -> bool | None:
        return None if native.take(args, kwargs) is None else True

    names |= {"enter": native.enter, "look": look}
    tensors = ", ".join(guards.arguments)
    lines = [
        *guards.structure,
        f"if enter({tensors}) is not None and look(args, kwargs) is None: return None",
        *guards.bindings, "" if guards.apart else f"moved = {' or '.join(guards.moved) or False}",
        *guards.numbers, *guards.kept, *variant.text[variant.guards :],
    ]  # fmt: skip
    placed = variant.place([x for x in lines if x], names)
    return [native], compile_text("run", "args, kwargs", placed, names)


# ---- whole steps ---------------------------------------------------------------------------------


def _simple(machine: ExecutablePlan, program: Program) -> bool:
    """Whether a program is one native call, short enough to keep the interpreter's lock."""
    if machine.threaded or machine.first or len(machine.states) != 1 or program.joint is not None:
        return False
    if program.conditions or program.effects or program.stores:
        return False
    if machine.plan.list_left() or program.sources():
        return False
    if any(v.kind not in ("argument", "tensor", "constant") for v in program.inputs):
        return False
    items = [x for x in machine.plan.items if not isinstance(x, Instruction)]
    places = [k for k, x in enumerate(machine.plan.items) if not isinstance(x, Instruction)]
    if not places or any(i.kind == "write" for i in program.instructions):
        return False
    if places != list(range(places[0], places[0] + len(places))):  # gradients are set at the end
        early = machine.plan.items[places[0] : places[-1]]
        if any(isinstance(x, Instruction) and x.kind != "grad" for x in early):
            return False
    work = 0
    for item in items:
        if isinstance(item, Product):
            a, b, _ = item.parts[0]
            work += a.rows * a.columns * b.columns * item.several * len(item.parts) // 8
    work += sum(size_of(v.shape) for v in program.values if not v.view)
    return work <= SMALL


class FastEntry:
    """A step that is one call of a builtin."""

    def __init__(
        self, variant: Variant, guards: SortedGuards, guarded: AnyCallable, names: dict[str, object]
    ) -> None:
        self.reference = variant.reference  # not the variant, which leads here
        self.written = variant.lines
        self.program = variant.program
        self.names = names
        self.guarded = guarded
        machine: Any = variant.machine
        program = variant.program
        self.machine = machine
        self.base = ctypes.addressof(machine.table)
        self.options = _loose(variant)
        by_holder = {v.holder: v for v in program.inputs if v.kind == "argument"}
        slots: dict[str, int] = {}
        held: dict[int, Any] = {}
        for root in machine.used(0):
            value = program.values[root]
            where = self.base + 8 * machine.slots[root]
            if value.kind == "argument":
                slots[f"t{value.holder}"] = where
            elif value.kind == "tensor":
                held[where] = value.holder
            elif value.kind == "constant":
                held[where] = _Constant(value.raw)
        assert len(by_holder) >= len(slots)
        bumped = [leaf for sweep in machine.sweeps() for part in sweep.groups
                  for leaf in part.leaves]  # fmt: skip
        for leaf in bumped:
            version_cell(leaf)
            guards.looked.setdefault(id(leaf), ObjectReads(leaf)).noneness.add("_view")
        made = machine.fresh(0)
        sets = [i for i in program.instructions if i.kind == "grad"]
        known = fields()
        aware = known is not None and known.before is not None
        filled = _fillable(program, made, sets) if aware else []
        self.natives: list[NativeGuards] = []
        self.fresh = self.attempt = self._text(guards, slots, held, made, sets, [], bumped)
        if filled:
            self.attempt = self._text(guards, slots, held, made, sets, filled, bumped)
        renew = [*guards.numbers]
        body = self._body(renew)
        for sweep in machine.sweeps():
            body._numbers(sweep)
        self.renew = compile_text("renew", "", [*renew, "return True"], dict(names))
        names["renew"] = self.renew

    def way_in(self) -> Any:
        """The function that is called; it leads here, so it isn't kept."""
        lines = ["    return other(args, kwargs, k)" if x == _CODE else x for x in self.lines]
        own = {**self.names, "other": self._other}
        return compile_text("run", "args, kwargs", lines, own)

    def _body(self, text: list[str]) -> NativeBody:
        program = self.program
        lines = self.written.beside(text, self.names)
        names = {}
        for v in program.inputs:
            if v.kind == "argument":
                names[v.number] = f"t{v.holder}._raw"
            elif v.kind == "tensor":
                names[v.number] = f"{lines.name(v.holder)}._raw"
            else:
                names[v.number] = lines.name(v.raw)
        return NativeBody(program, lines, names, self.machine)

    def _text(self, guards: SortedGuards, slots: dict[str, int], held: dict[int, Any],
              made: list[Value], sets: list[Instruction], filled: list[Instruction],
              bumped: list[Tensor]) -> AnyCallable:  # fmt: skip
        machine = self.machine
        lines: list[str] = list(guards.structure)
        body = self._body(lines)
        native = NativeGuards(guards, self.guarded, slots, ctypes.addressof(machine.gate))
        native.inputs = held
        self.natives.append(native)
        old = {i.inputs[0].number for i in filled}
        given = []
        arguments = list(guards.arguments)
        for v in made:
            if v.number not in old:
                name = body.room(v)
                if v.root in machine.slots:
                    given.append(self.base + 8 * machine.slots[v.root])
                    arguments.append(name)
        grads = [(i.holder, i.inputs[0], self.base + 8 * machine.slots[i.inputs[0].root])
                 for i in filled]  # fmt: skip
        # Where dictionaries have no clocks, numbers are computed in each call.
        clocked = native.fields.clocked and all(map(dict_clocks.address, self.options))
        stale = self.options if clocked else []
        native.settle(given, grads, bumped, stale)
        native.first |= {"run": driver.addresses()["run"], "state": machine.states[0]}
        enter = body.lines.name(native.enter)
        if self.options and not stale:
            lines += [f"k = {UNSURE}", "if renew() is None:", _CODE]
        lines.append(f"k = {enter}({', '.join(arguments)})")
        lines += ["if k is not None:", _CODE]
        for i in sets:
            if i not in filled:
                body._instruction(i, [])
        body._end()
        self.lines = lines
        return compile_text("attempt", "args, kwargs", lines, self.names)

    # ---- what the builtin doesn't pass -----------------------------------------------------------
    def _other(self, args: tuple[Tensor, ...], kwargs: dict[str, object], code: int) -> Any:
        for _ in range(4):
            if code == MISS:
                return None
            if code == FRESH and self.attempt is not self.fresh:
                found = self.fresh(args, kwargs)
            elif code == STALE and self._new_numbers():
                found = self.attempt(args, kwargs)
            elif code == UNSURE:
                taken = [native.take(args, kwargs) for native in self.natives]
                if None in taken:
                    return None
                if True not in taken:
                    break
                found = self.attempt(args, kwargs)
            else:
                break
            if found.__class__ is not int:
                return found
            code = found
        return self.reference(args, kwargs)

    def _new_numbers(self) -> bool:
        versions = self.natives[0].versions()
        if self.renew() is None:
            return False
        for native in self.natives:
            native.note(versions)
        return True


class _Constant:
    """An array of the program's own, where a tensor's would be."""

    __slots__ = ("_raw",)

    def __init__(self, raw: Array) -> None:
        self._raw = raw


def _fillable(program: Program, made: list[Value], sets: list[Instruction]) -> list[Instruction]:
    """The gradients that may be written where the old ones lie, if nobody holds these."""
    own = {v.number for v in made}
    given = [v.root for v in program.outputs_values()]
    given += [v.root for i in sets for v in i.reads()]
    found = [
        i for i in sets
        if i.inputs and isinstance(i.holder, TensorBase) and i.inputs[0].number in own
        and program.plain(i.inputs[0]) and given.count(i.inputs[0].root) == 1
    ]  # fmt: skip
    leaves = [id(i.holder) for i in sets]
    return [i for i in found if leaves.count(id(i.holder)) == 1]
