"""Replay: a program with its guards as one function; natively, or through NumPy (see `body`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array.memory import aliasing as A
from ..assembly.lower import plan_native
from ..capture.forward_backward import parts
from ..capture.output_structure import BareArray, FreshTensor, TensorWithHistory
from ..generated_python import compile_text, text_of
from ..guards.branch_guards import Expectations, outcomes
from ..guards.guards import (
    SourceText,
    by_versions,
    guard_argument,
    guard_arguments,
    guard_array,
    guard_mode,
    guard_numbers,
    guard_state,
)
from ..guards.leaf_hooks import hooks_as_before
from ..guards.memory_overlap import guard_memory, guard_shared, guard_writable
from ..guards.records import Attribute, Call, Held, Is, IsNone, Local, Start, Truth
from ..ir.iteration_values import in_order
from ..ir.program import Instruction, Program, Value
from ..ir.run_lock import TURN, in_turn, lasting
from ..lowering.optimizer_sweeps import guard_sweep
from .python_body import Body, SavedForBackward

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Arguments
    from ..._tensor.tensor import Tensor
    from ..assembly.lower import ExecutablePlan
    from ..guards.captured_state import State


class RunFailure:
    """How the last run of a program came to nothing; its text names this, and not the variant."""

    __slots__ = ("missed", "refused")

    def __init__(self) -> None:
        self.refused = False
        self.missed = -1  # the place in the path where the run left it

    def note_stray(self, place: int) -> None:
        """Notes where a run has left the path of the program, and was abandoned."""
        self.missed = place

    def slow(self, args: tuple[Tensor, ...], kwargs: dict[str, object]) -> None:
        """Has a call run eagerly: a check of the native form refuses, and has done nothing yet.

        An index is out of range, as a rule. So the error is raised where it would be, and what the
        step has changed by then is changed.
        """
        self.refused = True


class Variant:
    """A program with its guards, compiled: `run(args, kwargs)` gives a one-element list, or None.

    Where it gives None, nothing has been done.
    """

    def __init__(self, program: Program, structure: tuple[tuple[object, ...], object],
                 arguments: Arguments, state: Any,
                 grad: bool, native: bool = True) -> None:  # fmt: skip
        self.program = program
        self.structure = structure
        self.state = state
        self.notes: list[str] = []  # why not all of it is native
        self.left = RunFailure()
        lines = SourceText()
        guard_mode(grad, lines)
        bound: dict[int, str] = {}
        guard_arguments(structure[0], "args", lines, bound)
        guard_arguments(structure[1], "kwargs", lines, bound)
        guard_state(state, lines)
        guard_numbers(program, lines)
        if program.asked:
            lines.unless(*(Call(question) for question in program.asked))
        names = _bind_inputs(program, arguments, lines, state)
        whole = program
        ending = None
        if whole.joint is not None:
            program, second, saved = parts(whole)
            back = backward_function(second, saved, whole, native)
            ending = SavedForBackward(whole.joint, saved, back, [x.name for x in second.sources()])
        self.machine = plan_native(program, self.notes) if native else None
        self.turn = lasting(program)
        if self.turn and self.machine is not None:
            self.machine.gate = TURN.gate
        for sweep in [] if self.machine is None else self.machine.sweeps():
            guard_sweep(sweep, program, lines)
        self.guards = len(lines.text)  # lines of guards
        self.path = outcomes(program)
        body = (
            Body(program, lines, names)
            if self.machine is None
            else NativeBody(program, lines, names, self.machine)
        )
        body.ending = ending
        rows = None if self.machine is None else {i.name for i in self.machine.plan.list_left()}
        body.expectations = Expectations(program, self.left, rows)
        body.expectations.begin(lines, names)
        body.write(self.left.slow)
        self.lines, self.text, self.names = lines, lines.text, lines.names
        self.source = text_of("run", "args, kwargs", lines.text)
        text = self.place([*by_versions(lines), *lines.text[self.guards :]], lines.names)
        self.reference = compile_text("run", "args, kwargs", text, lines.names)
        self.run = self.reference  # until there is a quicker way, see `tiering`

    def place(self, lines: list[str], names: dict[str, object]) -> list[str]:
        """The lines of a call of this program, with its turn around them where it needs one."""
        return in_turn(lines, names) if self.turn else lines

    def describe(self) -> str:
        """How much of it is native, and what isn't."""
        if self.machine is None:
            return "; ".join(["replayed by NumPy", *self.notes])
        left = [i.name for i in self.machine.plan.list_left() if i.kind != "expect"]
        calls = "1 call" if len(left) == 1 else f"{len(left)} calls"
        text = f"native but for {calls}" if left else "native"
        if left:
            text += f" ({', '.join(dict.fromkeys(left))})"
        return "; ".join([text, *self.notes])


def _bind_inputs(
    program: Program, arguments: Arguments, lines: SourceText, state: State
) -> dict[int, str]:
    """Checks all tensors that the program reads, and names their arrays."""
    names: dict[int, str] = {}
    lines.guard(Start())
    spots = {v.holder: v for v in program.inputs if v.kind == "argument"}
    # Tensors that the program names, not by their place among the arguments.
    receivers = program.receivers()
    held_by_name = [*receivers, *(v.holder for v in program.inputs if v.kind == "tensor")]
    for position, t in enumerate(arguments):
        guard_argument(position, t, lines, history=program.joint is not None)
        if any(t is holder for holder in held_by_name):
            lines.unless(Is(Local(f"t{position}"), t))
        if any(t is leaf for leaf in receivers):  # its hooks would see what the step gives it
            lines.unless(Is(Attribute(Local(f"t{position}"), "hooks"), None))
        if state.apart:  # the step may ask whether it is one of those that were there before
            if id(t) in state.tensors:
                lines.unless(Is(Local(f"t{position}"), t))
            elif state.tensors:
                known = lines.name(frozenset(state.tensors))
                lines.python(f"if id(t{position}) in {known}: return None")
        if position in spots:
            names[spots[position].number] = f"a{position}"
    held: set[int] = set()
    for value in program.inputs:
        name = f"i{value.number}"
        if value.kind == "constant":
            names[value.number] = lines.name(value.raw)
        elif value.kind == "tensor":
            t = Held(value.holder)
            held.add(id(value.holder))
            lines.unless(
                Is(Attribute(t, "_requires_grad"), value.holder._requires_grad),
                Is(Attribute(t, "_node"), None), *hooks_as_before(t, value.holder),
                Truth(Attribute(t, "_plain")),
            )  # fmt: skip
            guard_array(value.holder, name, lines)
            names[value.number] = name
        elif value.kind == "gradient":
            leaf, g = lines.name(value.holder), f"g{value.number}"
            same = (f"{name}.shape == {value.shape!r} and {name}.strides == {value.strides!r}"
                    f" and {name}.dtype == {lines.name(value.dtype)}")  # fmt: skip
            lines.python(f"{g} = {leaf}._grad", f"if {g} is None or not {g}._plain: return None",
                         f"{name} = {g}._raw", f"if not ({same}): return None")  # fmt: skip
            names[value.number] = name
    for leaf in program.fresh_leaves():
        lines.unless(Is(Attribute(Held(leaf), "_grad"), None))
    for number, leaf in enumerate(program.leaves):
        if id(leaf) not in held and not any(leaf is t for t in arguments):
            lines.unless(Is(Attribute(Held(leaf), "_requires_grad"), leaf._requires_grad),
                         *hooks_as_before(Held(leaf), leaf))  # fmt: skip
            guard_array(leaf, f"leaf{number}", lines)
    guard_memory(program, names, lines)
    guard_writable(program, names, lines)
    guard_shared(program, arguments, state, lines)
    _guard_unread(program, arguments, state, lines)
    if "grad" in state.names:  # the user's code may ask whether there is one
        for leaf, none in program.entry:
            lines.unless(IsNone(Attribute(Held(leaf), "_grad"), none))
    elif "zero_grad" in state.names:  # which leaves no trace where there is none
        touched = {id(i.holder) for i in program.instructions if i.kind == "grad"}
        for leaf, none in program.entry:
            if none and id(leaf) not in touched:
                lines.unless(Is(Attribute(Held(leaf), "_grad"), None))
    return names


def _guard_unread(program: Program, arguments: Arguments, state: State, lines: SourceText) -> None:
    """Checks tensors that the program doesn't read, but whose shape the code may have asked for."""
    seen = {id(v.holder) for v in program.inputs} | {id(leaf) for leaf in program.leaves}
    seen |= {id(t) for t in arguments}
    for number, t in enumerate(state.tensors.values()):
        if id(t) not in seen:
            lines.unless(Is(Attribute(Held(t), "_requires_grad"), t._requires_grad))
            guard_array(t, f"unread{number}", lines)


class NativeBody(Body):
    """The lines of a program of which most runs natively."""

    def __init__(
        self, program: Program, lines: SourceText, names: dict[int, str], machine: ExecutablePlan
    ) -> None:
        super().__init__(program, lines, names)
        self.machine = machine
        self.plan = machine.plan

    def write(self, slow: AnyCallable | None = None) -> None:
        """Writes all lines: between two calls from Python, one native call."""
        lines, machine = self.lines, self.machine
        lines.add(f"with {lines.name(machine)}.lock:")
        at = len(lines.text)
        self._write_numbers()  # before anything happens: a number may fail to be computed
        lines.add(f"{lines.name(machine.gate)}[0] = 1")
        if machine.threaded:
            lines.add(f"{lines.name(machine.prepare)}()")
        items, ends = self.plan.items, self.expectations
        certain = max((k for k, x in enumerate(items) if isinstance(x, Instruction)
                       and ends is not None and ends.ends(x)), default=-1)  # fmt: skip
        inner = len(lines.text)
        segment = machine.first
        if segment:
            self._call(0, slow)
        pending: list[Instruction] = []
        inside = False
        for place, item in enumerate([*items, None]):
            if item is not None and not isinstance(item, Instruction):
                if not inside:
                    inside = True
                continue
            if item is not None and item.kind == "grad" and inside:
                pending.append(item)
                continue
            if inside:
                self._call(segment, slow)
                segment += 1
                inside = False
                for grad in pending:
                    self._instruction(grad, [])
                pending.clear()
            if item is not None:
                self._instruction(item, [])
            if ends is not None and place == certain:
                ends.enclose(lines, inner, [f"{lines.name(machine.gate)}[0] = 0"])
        self._bumps()
        lines.add(f"{lines.name(machine.gate)}[0] = 0")
        self._end()
        lines.text[at:] = ["    " + line for line in lines.text[at:]]

    def _call(self, segment: int, slow: AnyCallable | None) -> None:
        lines, machine = self.lines, self.machine
        for v in machine.fresh(segment):
            self.room(v)
        table = lines.name(machine.table)
        for root in machine.used(segment):
            value = self.program.values[root]
            lines.add(f"{table}[{machine.slots[root]}] = id({self._operand(value)})")
        for sweep in machine.sweeps(segment):
            self._numbers(sweep)
        call = f"{lines.name(machine.starter(segment))}()"
        if segment == 0 and (self.plan.checks or machine.equal):
            lines.add(f"if {call} is not None:")
            lines.add(f"    {lines.name(machine.gate)}[0] = 0")
            lines.add(f"    return {lines.name(slow)}(args, kwargs)")
        else:
            lines.add(call)
        for sweep in machine.sweeps(segment):
            for part in sweep.groups:
                for leaf in part.leaves:
                    lines.add(f"bump({lines.name(leaf)})")

    def room(self, v: Value) -> str:
        """Makes the array of a value that outlives the call, and gives its name."""
        lines, name = self.lines, self._fresh()
        self.names[v.number] = name
        if in_order(v):
            lines.add(f"{name} = empty({v.shape!r}, {lines.name(v.dtype)})")
        else:
            like = lines.name(A.pattern(v.shape, v.strides, v.dtype))
            lines.add(f"{name} = empty_like({like})")
        return name

    def _numbers(self, sweep: Any) -> None:
        """Has a sweep's rates and the like computed from the options as they are now."""
        lines = self.lines
        for part in sweep.groups:
            lines.add(f"o = {lines.name(part.options)}")
            if part.before:
                lines.add(part.before)
            if part.numbers is not None:
                lines.add(f"v = {lines.name(part.numbers)}(o)")
            for k, expression in enumerate(part.rates):
                place = self.machine.rates[id(part)] + k
                lines.add(f"{lines.name(self.machine.doubles)}[{place}] = {expression}")
            for k, expression in enumerate(part.scalars):
                if not expression:
                    continue
                lines.add(f"x = {expression}")
                for dtype, word in self.machine.scalars[id(part)]:
                    single = dtype == "float32"
                    table = self.machine.singles if single else self.machine.doubles
                    place = (word + k) * (2 if single else 1)
                    lines.add(f"{lines.name(table)}[{place}] = x")

    def _write_numbers(self) -> None:
        """Writes the numbers of this call to where kernels read them."""
        lines, machine = self.lines, self.machine
        for number, word in machine.numbers_at.items():
            v = machine.plan.program.values[number]
            single = v.dtype.name == "float32"
            table = machine.singles if single else machine.doubles
            place = word * (2 if single else 1)
            lines.add(f"{lines.name(table)}[{place}] = {self._operand(v.holder)}")

    def _operand(self, x: object) -> str:
        if type(x) is Value and x.kind == "number":
            return self._operand(x.holder)
        if type(x) is Value and x.number not in self.names:
            if self.machine.in_arena(x):
                return self.lines.name(self.machine.array(x))
            view = self.plan.views.get(x.number)
            if view is not None:
                self._instruction(view, [])
        return super()._operand(x)

    def _result(self, x: Any) -> str:
        if type(x) in (FreshTensor, TensorWithHistory, BareArray):
            self._operand(x.value)
        return super()._result(x)


def backward_function(
    second: Program, saved: list[Value], whole: Program, native: bool
) -> AnyCallable:
    """The backward program as a function of the saved arrays and the gradients of results."""
    lines = SourceText()
    names: dict[int, str] = {}
    for v in second.inputs:
        if v.kind == "constant":
            names[v.number] = lines.name(v.raw)
    for stem, values, given in (
        ("s", saved, "kept"), ("g", whole.joint.incoming, "given"),
    ):  # fmt: skip
        for k, v in enumerate(values):
            names[v.number] = f"{stem}{k}"
            lines.add(f"{stem}{k} = {given}[{k}]")
    for k, source in enumerate(second.sources(), len(saved)):
        lines.add(f"{source.name} = kept[{k}]")
    second.outputs = [BareArray(g) for g in whole.joint.grads]
    machine = plan_native(second) if native else None
    if machine is not None and (machine.plan.checks or not machine.reachable(names)):
        machine = None
    body = (
        Body(second, lines, names) if machine is None else NativeBody(second, lines, names, machine)
    )
    body.foreign = {v.root for v in (*saved, *whole.joint.incoming)}
    body.write()
    run = compile_text("run", "kept, given", lines.text, lines.names)
    return lambda kept, given: run(kept, given)[0]
