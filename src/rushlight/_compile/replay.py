"""Replay: a program as one flat Python function, without a graph and without dispatch.

Each instruction becomes one call. Where a ufunc's result has the shape and type of an array that
nobody reads any more, it is written there (`out=`); names of dead values are used again, so that
memory goes back as early as in an eager step.
"""

from __future__ import annotations

from typing import Any

from .._array import recording as A
from .expressions import READ, Expr
from .guards import (
    Lines,
    guard_arguments,
    guard_mode,
    guard_numbers,
    guard_state,
    guard_tensor,
)
from .joint import joined, parts
from .lower import planned
from .outputs import Bare, Fresh, Held, Live, Named, Read, repeated
from .overlap import guard_memory
from .program import Instruction, Program, Value
from .sources import written
from .speculation import Expectations, outcomes
from .sweeps import guard_sweep
from .symbols import in_order
from .text import compiled_text, text_of
from .ufuncs import ufunc_of


class Variant:
    """A program with its guards, compiled: `run(args, kwargs)` gives a one-element list, or None.

    Where it gives None, nothing has been done.
    """

    def __init__(self, program: Program, structure: Any, arguments: list[Any], state: Any,
                 grad: bool, native: bool = True) -> None:  # fmt: skip
        self.program = program
        self.structure = structure
        self.state = state
        self.notes: list[str] = []  # why not all of it is native
        self.refused = False
        lines = Lines()
        guard_mode(grad, lines)
        bound: dict[int, str] = {}
        guard_arguments(structure[0], "args", lines, bound)
        guard_arguments(structure[1], "kwargs", lines, bound)
        guard_state(state, lines)
        guard_numbers(program, lines)
        names = _bind_inputs(program, arguments, lines, state)
        whole = program
        ending = None
        if whole.joint is not None:
            program, second, saved = parts(whole)
            back = backward_function(second, saved, whole, native)
            ending = Ending(whole.joint, saved, back, [x.name for x in second.sources()])
        self.machine = planned(program, self.notes) if native else None
        for sweep in [] if self.machine is None else self.machine.sweeps():
            guard_sweep(sweep, lines)
        self.guards = len(lines.text)  # lines of guards
        self.path = outcomes(program)
        self.missed = -1  # the place in the path where the last run left it
        body = (
            Body(program, lines, names)
            if self.machine is None
            else NativeBody(program, lines, names, self.machine)
        )
        body.ending = ending
        body.expectations = Expectations(program, self)
        body.expectations.begin(lines, names)
        body.write(self.slow)
        self.lines, self.text, self.names = lines, lines.text, lines.names
        self.source = text_of("run", "args, kwargs", lines.text)
        self.reference = compiled_text("run", "args, kwargs", lines.text, lines.names)
        self.run = self.reference  # until there is a quicker way, see `warming`

    def strayed(self, place: int) -> None:
        """Notes where a run has left the path of the program, and was abandoned."""
        self.missed = place

    def slow(self, args: Any, kwargs: Any) -> None:
        """Has a call run eagerly: a check of the native form refuses, and has done nothing yet.

        An index is out of range, as a rule. So the error is raised where it would be, and what the
        step has changed by then is changed.
        """
        self.refused = True

    def described(self) -> str:
        """How much of it is native, and what isn't."""
        if self.machine is None:
            return "; ".join(["replayed by NumPy", *self.notes])
        left = [i.name for i in self.machine.plan.left() if i.kind != "expect"]
        calls = "1 call" if len(left) == 1 else f"{len(left)} calls"
        text = f"native but for {calls}" if left else "native"
        if left:
            text += f" ({', '.join(dict.fromkeys(left))})"
        return "; ".join([text, *self.notes])


def _bind_inputs(
    program: Program, arguments: list[Any], lines: Lines, state: Any
) -> dict[int, str]:
    """Checks all tensors that the program reads, and names their arrays."""
    names: dict[int, str] = {}
    lines.add("moved = False")
    spots = {v.holder: v for v in program.inputs if v.kind == "argument"}
    # Tensors that the program names, not by their place among the arguments.
    held_by_name = [i.holder for i in program.instructions if i.kind == "grad"]
    held_by_name += [v.holder for v in program.inputs if v.kind in ("gradient", "tensor")]
    held_by_name += program.without
    for position, t in enumerate(arguments):
        guard_tensor(f"t{position}", f"a{position}", t, lines, geometry=False, same_array=False,
                     history=program.joint is not None)  # fmt: skip
        if any(t is holder for holder in held_by_name):
            lines.unless(f"t{position} is {lines.name(t)}")
        if state.apart:  # the step may ask whether it is one of those that were there before
            if id(t) in state.tensors:
                lines.unless(f"t{position} is {lines.name(t)}")
            elif state.tensors:
                lines.unless(f"id(t{position}) not in {lines.name(frozenset(state.tensors))}")
        if position in spots:
            names[spots[position].number] = f"a{position}"
    held: set[int] = set()
    for value in program.inputs:
        name = f"i{value.number}"
        if value.kind == "constant":
            names[value.number] = lines.name(value.raw)
        elif value.kind == "tensor":
            t = lines.name(value.holder)
            held.add(id(value.holder))
            lines.unless(
                f"{t}._requires_grad is {value.holder._requires_grad} and {t}._node is None and "
                f"{t}.hooks is None and {t}._plain"
            )
            guard_tensor(t, name, value.holder, lines, geometry=True, same_array=True)
            names[value.number] = name
        elif value.kind == "gradient":
            leaf = lines.name(value.holder)
            lines.add(f"g{value.number} = {leaf}._grad")
            lines.unless(f"g{value.number} is not None and g{value.number}._plain")
            lines.add(f"{name} = g{value.number}._raw")
            dtype = lines.name(value.dtype)
            lines.unless(f"{name}.shape == {value.shape!r} and {name}.strides == {value.strides!r}"
                         f" and {name}.dtype == {dtype}")  # fmt: skip
            names[value.number] = name
    for leaf in program.fresh_leaves():
        lines.unless(f"{lines.name(leaf)}._grad is None")
    for leaf in program.leaves:
        if id(leaf) not in held and not any(leaf is t for t in arguments):
            x = lines.name(leaf)
            lines.unless(f"{x}._requires_grad is {leaf._requires_grad} and {x}.hooks is None")
    guard_memory(program, names, lines)
    _guard_unread(program, arguments, state, lines)
    if "grad" in state.names:  # the user's code may ask whether there is one
        for leaf, none in program.entry:
            lines.unless(f"({lines.name(leaf)}._grad is None) is {none}")
    elif "zero_grad" in state.names:  # which leaves no trace where there is none
        touched = {id(i.holder) for i in program.instructions if i.kind == "grad"}
        for leaf, none in program.entry:
            if none and id(leaf) not in touched:
                lines.unless(f"{lines.name(leaf)}._grad is None")
    return names


def _guard_unread(program: Program, arguments: list[Any], state: Any, lines: Lines) -> None:
    """Checks tensors that the program doesn't read, but whose shape the code may have asked for."""
    seen = {id(v.holder) for v in program.inputs} | {id(leaf) for leaf in program.leaves}
    seen |= {id(t) for t in arguments} | state.grads
    for t in state.tensors.values():
        if id(t) not in seen:
            name = lines.name(t)
            lines.unless(f"{name}._requires_grad is {t._requires_grad}")
            guard_tensor(name, "unread", t, lines, geometry=True, same_array=True)


class Body:
    """The instructions as lines of the function."""

    def __init__(self, program: Program, lines: Lines, names: dict[int, str]) -> None:
        self.program = program
        self.lines = lines
        self.names = names
        self.free: list[str] = []
        self.count = 0
        self.last = last_uses(program)
        self.ending: Ending | None = None
        self.twice: set[int] = set()  # ids of results that are returned in several places
        self.given: dict[int, str] = {}
        self.expectations: Expectations | None = None

    def write(self, slow: Any = None) -> None:
        """Writes all lines."""
        program = self.program
        for place, instruction in enumerate(program.instructions):
            dying = [v for v in dict.fromkeys(instruction.reads())
                     if self.last.get(v.number, -1) == place]  # fmt: skip
            self._instruction(instruction, dying)
            for value in dying:
                self._release(value)
            for out in instruction.outputs:
                if out is not None and self.last.get(out.number, -1) < place:
                    self._release(out)
        self._bumps()
        self._end()

    def _end(self) -> None:
        """The result; with the node of the call, where it is differentiated later."""
        ending = self.ending
        if ending is not None:
            lines = self.lines
            kept = ", ".join([*(self._operand(v) for v in ending.saved), *ending.numbers])
            read = [self._holder(v) for v in ending.saved if v.kind in ("argument", "tensor")]
            tensors = [
                f"t{where}" if kind == "argument" else lines.name(where)
                for kind, where in ending.joint.wanted
            ]
            lines.add(
                f"node = {lines.name(joined)}({lines.name(ending.run)}, [{kept}], "
                f"[{', '.join(read)}], [{', '.join(tensors)}], {lines.name(ending.joint.metas)})"
            )
        self.twice = repeated(self.program.outputs)
        for effect in self.program.effects:
            place, lines = effect.source, self.lines
            where = [lines.name(x) for x in (written, place.kind, place.container, place.key)]
            lines.add(f"{where[0]}({', '.join(where[1:])}, {self._operand(effect.expr)})")
        self.lines.add(f"return [{self._result(self.program.outputs)}]")

    def _holder(self, v: Value) -> str:
        return f"t{v.holder}" if v.kind == "argument" else self.lines.name(v.holder)

    def _bumps(self) -> None:
        """Counts the writes to inputs, as an eager step does."""
        program = self.program
        for value in program.inputs:
            times = program.bumps(value)
            if times and value.kind != "constant":
                t = {"tensor": lambda v: self.lines.name(v.holder),
                     "argument": lambda v: f"t{v.holder}",
                     "gradient": lambda v: f"g{v.number}"}[value.kind](value)  # fmt: skip
                for _ in range(times):
                    self.lines.add(f"bump({t})")

    def _fresh(self) -> str:
        if self.free:
            return self.free.pop()
        self.count += 1
        return f"v{self.count}"

    def _release(self, value: Value) -> None:
        if value.kind == "result" and value.number in self.names:
            name = self.names[value.number]
            if name not in self.free:
                self.free.append(name)

    def _operand(self, x: Any) -> str:
        if type(x) is Value:
            return self.names[x.number]
        if type(x) is list:
            return "[" + ", ".join(self._operand(y) for y in x) + "]"
        if type(x) is tuple:
            inner = ", ".join(self._operand(y) for y in x)
            return f"({inner},)" if len(x) == 1 else f"({inner})"
        if type(x) is Expr:
            return x.text(self._number, self._operand)
        if x is None or type(x) in (bool, int) or (type(x) is float and x == x and abs(x) < 1e300):
            return f"({x!r})" if type(x) in (int, float) and x < 0 else repr(x)
        return self.lines.name(x)

    def _number(self, leaf: Expr) -> str:
        """A leaf of an expression: a tensor's number, or one from outside."""
        if leaf.function is READ:
            return f"number_of({self._operand(leaf.parts[0])})"
        return str(leaf.parts[0])

    def _instruction(self, i: Instruction, dying: list[Value]) -> None:
        lines = self.lines
        if i.kind == "expect":
            assert self.expectations is not None
            self.expectations.write(i, self._operand(i.inputs[0]), lines)
            return
        if i.kind == "option":
            lines.add(f"{lines.name(i.holder)}[{i.name!r}] = {self._operand(i.inputs[0])}")
            return
        if i.kind == "grad":
            leaf = lines.name(i.holder)
            made = f"new_tensor({self._operand(i.inputs[0])})" if i.inputs else "None"
            lines.add(f"{leaf}._grad = {made}")
            return
        if i.kind == "step":
            lines.add(f"{lines.name(i.function)}({lines.name(i.holder)})")
            return
        operands = [self._operand(x) for x in i.inputs]
        if i.kind == "write":
            call = f"{lines.name(i.function)}({', '.join(operands)})"
            lines.add(call if i.holder else f"write_into({operands[0]}, {call})")
            return
        function = ufunc_of(i)
        if i.several:
            self._several(i, operands)
            return
        out = i.outputs[0]
        if out is None:
            if not i.pure:
                lines.add(f"{lines.name(i.function)}({', '.join(operands)})")
            return
        if function is not None:
            target = self._reusable(out, dying, i)
            if target is not None:
                name = self.names[target.number]
                lines.add(f"{lines.name(function)}({', '.join(operands)}, {name})")
                self.names[out.number] = name
                dying.remove(target)
                return
        name = self._fresh()
        call = f"{lines.name(function or i.function)}({', '.join(operands)})"
        lines.add(f"{name} = as_array({call})" if not out.shape else f"{name} = {call}")
        self.names[out.number] = name

    def _several(self, i: Instruction, operands: list[str]) -> None:
        lines = self.lines
        names = []
        for out in i.outputs:
            name = "_" if out is None else self._fresh()
            names.append(name)
        left = ", ".join(names) + ("," if len(names) == 1 else "")
        lines.add(f"{left} = {lines.name(i.function)}({', '.join(operands)})")
        for out, name in zip(i.outputs, names):
            if out is not None:
                self.names[out.number] = name
                if not out.shape:
                    lines.add(f"{name} = as_array({name})")

    def _reusable(self, out: Value, dying: list[Value], i: Instruction) -> Value | None:
        """A dying operand into whose memory the result may go."""
        if out.view or not out.shape or not self.program.plain(out):
            return None
        for value in dying:
            if (
                value.kind == "result" and value.shape == out.shape and value.dtype == out.dtype
                and value.strides == out.strides and self.program.alone(value)
                and any(value is x for x in i.inputs)
            ):  # fmt: skip
                return value
        return None

    def _made(self, x: Any) -> str:
        """A tensor of the result, with the history that it has."""
        made = f"new_tensor({self.names[x.value.number]})"
        if type(x) is Live:
            return f"{self.lines.name(with_history)}({made}, node, {x.number + 1})"
        if not x.requires_grad:
            return made
        return f"{self.lines.name(with_history)}({made}, {self.lines.name(x.node)}, {x.nr})"

    def _result(self, x: Any) -> str:
        lines = self.lines
        if id(x) in self.twice:  # one tensor, in several places
            name = self.given.get(id(x))
            if name is not None:
                return name
            name = self.given[id(x)] = f"r{len(self.given)}"
            return f"({name} := {self._made(x)})"
        if type(x) in (Fresh, Live):
            return self._made(x)
        if type(x) is Bare:
            return self.names[x.value.number]
        if type(x) is Read:
            return self._operand(x.expr)
        if type(x) is Held:
            if x.kind == "argument":
                return f"t{x.holder}"
            return lines.name(x.holder) + ("._grad" if x.kind == "gradient" else "")
        if type(x) is Named:
            inner = "[" + ", ".join(self._result(y) for y in x.items) + "]"
            make = getattr(x.kind, "_make", x.kind)
            return f"{lines.name(make)}({inner})"
        if type(x) in (list, tuple):
            inner = ", ".join(self._result(y) for y in x)
            if type(x) is list:
                return f"[{inner}]"
            return f"({inner},)" if len(x) == 1 else f"({inner})"
        if type(x) is dict:
            return "{" + ", ".join(
                f"{lines.name(k) if not isinstance(k, str) else repr(k)}: {self._result(v)}"
                for k, v in x.items()
            ) + "}"  # fmt: skip
        return lines.name(x)


class Ending:
    """What a call with a history leaves for its backward."""

    def __init__(self, joint: Any, saved: list[Value], run: Any, numbers: list[str]) -> None:
        self.joint = joint
        self.saved = saved
        self.numbers = numbers  # that come from outside: names, kept behind what is saved
        self.run = run


def backward_function(second: Program, saved: list[Value], whole: Program, native: bool) -> Any:
    """The backward program as a function of the saved arrays and the gradients of results."""
    lines = Lines()
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
    second.outputs = [Bare(g) for g in whole.joint.grads]
    machine = planned(second) if native else None
    if machine is not None and (machine.plan.checks or not machine.reachable(names)):
        machine = None
    body = (
        Body(second, lines, names) if machine is None else NativeBody(second, lines, names, machine)
    )
    body.write()
    run = compiled_text("run", "kept, given", lines.text, lines.names)
    return lambda kept, given: run(kept, given)[0]


class NativeBody(Body):
    """The lines of a program of which most runs natively."""

    def __init__(self, program: Program, lines: Lines, names: dict[int, str], machine: Any) -> None:
        super().__init__(program, lines, names)
        self.machine = machine
        self.plan = machine.plan

    def write(self, slow: Any = None) -> None:
        """Writes all lines: between two calls from Python, one native call."""
        lines, machine = self.lines, self.machine
        lines.add(f"with {lines.name(machine)}.lock:")
        at = len(lines.text)
        self._told()  # before anything happens: a number may fail to be computed
        lines.add(f"{lines.name(machine.gate)}[0] = 1")
        if machine.threaded:
            lines.add(f"{lines.name(machine.prepare)}()")
        items = self.plan.items
        segment = machine.first
        if segment:
            self._call(0, slow)
        pending: list[Instruction] = []
        inside = False
        for item in [*items, None]:
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
        self._bumps()
        lines.add(f"{lines.name(machine.gate)}[0] = 0")
        self._end()
        lines.text[at:] = ["    " + line for line in lines.text[at:]]

    def _call(self, segment: int, slow: Any) -> None:
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

    def _told(self) -> None:
        """Writes the numbers of this call to where kernels read them."""
        lines, machine = self.lines, self.machine
        for number, word in machine.numbers_at.items():
            v = machine.plan.program.values[number]
            single = v.dtype.name == "float32"
            table = machine.singles if single else machine.doubles
            place = word * (2 if single else 1)
            lines.add(f"{lines.name(table)}[{place}] = {self._operand(v.holder)}")

    def _operand(self, x: Any) -> str:
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
        if type(x) in (Fresh, Live, Bare):
            self._operand(x.value)
        return super()._result(x)


def with_history(t: Any, node: Any, nr: int) -> Any:
    """A result with the history, used up, that it had when it was recorded."""
    t._node = node
    t._nr = nr
    t._requires_grad = True
    return t


def last_uses(program: Program) -> dict[int, int]:
    """The place of the last instruction that reads each value, or any value in its memory.

    What is returned, or kept as a gradient, lives to the end.
    """
    last: dict[int, int] = {}
    end = len(program.instructions)
    for place, i in enumerate(program.instructions):
        for value in i.reads():
            last[value.number] = place
        if i.kind == "grad":
            for value in i.reads():
                last[value.number] = end
    for value in program.outputs_values():
        last[value.number] = end
    return last
