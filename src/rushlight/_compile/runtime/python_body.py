"""A program as the lines of a flat Python function, without a graph and without dispatch.

Each instruction becomes one call. Where a ufunc's result has the shape and type of an array that
nobody reads any more, it is written there (`out=`); names of dead values are used again, or taken
away where much memory hangs on them, so that it goes back as early as in an eager step.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

from ..capture.forward_backward import guard_result, join_graph
from ..capture.output_aliasing import aged, sharing
from ..capture.output_structure import (
    BareArray,
    ExistingTensor,
    FreshTensor,
    NamedResult,
    ReadNumber,
    TensorWithHistory,
    find_repeated,
)
from ..capture.side_effects import Added
from ..guards.branch_guards import Expectations
from ..guards.guards import SourceText
from ..guards.places import put_entry
from ..ir.expressions import READ, Expr
from ..ir.program import Instruction, Program, Value
from ..ir.ufuncs import ufunc_of

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._core.node import Node
    from ..._tensor.tensor import Tensor


#: So many bytes go back before the next result is made, not when their name is used again.
LARGE: Final = 1 << 20


class Body:
    """The instructions as lines of the function."""

    def __init__(self, program: Program, lines: SourceText, names: dict[int, str]) -> None:
        self.program = program
        self.lines = lines
        self.names = names
        self.free: list[str] = []
        self.count = 0
        self.last = last_uses(program)
        self.ending: SavedForBackward | None = None
        self.twice: set[int] = set()  # ids of results that are returned in several places
        self.given: dict[int, str] = {}
        self.foreign: set[int] = set()  # roots of memory that others hold: results, saved values
        self.expectations: Expectations | None = None

    def write(self, slow: AnyCallable | None = None) -> None:
        """Writes all lines."""
        program, ends = self.program, self.expectations
        certain = -1 if ends is None else ends.last
        if certain < 0:
            self._let_go(0)
        at = len(self.lines.text)
        for place, instruction in enumerate(program.instructions):
            dying = [v for v in dict.fromkeys(instruction.reads())
                     if self.last.get(v.number, -1) == place]  # fmt: skip
            self._instruction(instruction, dying)
            for value in dying:
                self._release(value)
            for out in instruction.outputs:
                if out is not None and self.last.get(out.number, -1) < place:
                    self._release(out)
            if ends is not None and place == certain:
                ends.enclose(self.lines, at, [])
                self._let_go(place + 1)
        self._bumps()
        self._end()

    def _let_go(self, start: int) -> None:
        """Takes away gradients that the program replaces: an eager step hasn't kept them.

        `start` is the first instruction that is certain to run.
        """
        program = self.program
        done, left = program.instructions[:start], program.instructions[start:]
        if any(i.kind == "step" for i in done):
            return
        kept = [v.holder for v in program.inputs if v.kind == "gradient"]
        kept += [*program.without, *(i.holder for i in done if i.kind == "grad")]
        for i in left:
            if i.kind == "step":
                return
            if i.kind == "grad" and not any(i.holder is x for x in kept):
                kept.append(i.holder)
                if i.inputs:
                    self.lines.add(f"{self.lines.name(i.holder)}._grad = None")

    def _end(self) -> None:
        """The result; with the node of the call, where it is differentiated later."""
        ending = self.ending
        if ending is not None:
            lines = self.lines
            kept = ", ".join([*(self._operand(v) for v in ending.saved), *ending.numbers])
            origins = {v.root: self.program.values[v.root] for v in ending.saved}
            read = [self._holder(v) for v in origins.values() if v.kind in ("argument", "tensor")]
            tensors = [
                f"t{where}" if kind == "argument" else lines.name(where)
                for kind, where in ending.joint.wanted
            ]
            lines.add(
                f"node = {lines.name(join_graph)}({lines.name(ending.run)}, [{kept}], "
                f"[{', '.join(read)}], [{', '.join(tensors)}], {lines.name(ending.joint.metas)})"
            )
        program = self.program
        self.twice = find_repeated([program.outputs, *[x.shown for x in program.stores]])
        for effect in self.program.effects:
            place, lines = effect.source, self.lines
            where = [lines.name(x) for x in (put_entry, place.kind, place.container, place.key)]
            lines.add(f"{where[0]}({', '.join(where[1:])}, {self._operand(effect.expr)})")
        # All is made before anything is left outside: there may be no memory for it.
        shown = [self._result(x.shown) for x in program.stores]
        for k, text in enumerate(shown):
            self.lines.add(f"e{k} = {text}")
        self.lines.add(f"r = {self._result(program.outputs)}" if shown else
                       f"return [{self._result(program.outputs)}]")  # fmt: skip
        for k, x in enumerate(program.stores):
            container = self.lines.name(x.container)
            if type(x) is Added:
                self.lines.add(f"{container}.extend(e{k})")
            else:
                parts = [self.lines.name(y) for y in (put_entry, x.kind, x.container, x.key)]
                self.lines.add(f"{parts[0]}({', '.join(parts[1:])}, e{k})")
        if shown:
            self.lines.add("return [r]")

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
                if prod(value.shape) * value.dtype.itemsize >= LARGE:
                    self.lines.add(f"{name} = None")

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
        if i.kind == "message":
            lines.add(f"{lines.name(i.function)}({', '.join(operands)})")
            return
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
        call = f"{lines.name(function or _short_way(i))}({', '.join(operands)})"
        lines.add(f"{name} = as_array({call})" if not out.shape else f"{name} = {call}")
        self.names[out.number] = name

    def _several(self, i: Instruction, operands: list[str]) -> None:
        lines = self.lines
        names = []
        for out in i.outputs:
            name = "_" if out is None else self._fresh()
            names.append(name)
        left = ", ".join(names) + ("," if len(names) == 1 else "")
        lines.add(f"{left} = {lines.name(_short_way(i))}({', '.join(operands)})")
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
                and any(value is x for x in i.inputs) and value.root not in self.foreign
            ):  # fmt: skip
                return value
        return None

    def _wrap(self, x: Any) -> str:
        """A tensor of the result, with the history that it has."""
        lines, shared = self.lines, x.shared
        made = f"new_tensor({self.names[x.value.number]})"
        if type(x) is TensorWithHistory:
            made = f"{lines.name(with_history)}({made}, node, {x.number + 1})"
        elif x.requires_grad:
            made = f"{lines.name(with_history)}({made}, {lines.name(x.node)}, {x.nr})"
        if shared is not None:
            source = self._result(shared.source)
            made = (f"{lines.name(sharing)}({made}, {source}, {lines.name(shared.steps)}, "
                    f"{shared.creation})")  # fmt: skip
        elif x.writes:
            made = f"{lines.name(aged)}({made}, {x.writes})"
        root = self.program.values[x.value.root]
        saved = () if self.ending is None else self.ending.saved
        if root.kind == "result" and any(v.root == root.number for v in saved):
            made = f"{lines.name(guard_result)}({made}, node)"
        return made

    def _result(self, x: Any) -> str:
        lines = self.lines
        if id(x) in self.twice:  # one tensor, in several places
            name = self.given.get(id(x))
            if name is not None:
                return name
            name = self.given[id(x)] = f"r{len(self.given)}"
            return f"({name} := {self._wrap(x)})"
        if type(x) in (FreshTensor, TensorWithHistory):
            return self._wrap(x)
        if type(x) is BareArray:
            return self.names[x.value.number]
        if type(x) is ReadNumber:
            return self._operand(x.expr)
        if type(x) is ExistingTensor:
            if x.kind == "argument":
                return f"t{x.holder}"
            return lines.name(x.holder) + ("._grad" if x.kind == "gradient" else "")
        if type(x) is NamedResult:
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


class SavedForBackward:
    """What a call with a history leaves for its backward."""

    def __init__(
        self, joint: Any, saved: list[Value], run: AnyCallable, numbers: list[str]
    ) -> None:
        self.joint = joint
        self.saved = saved
        self.numbers = numbers  # that come from outside: names, kept behind what is saved
        self.run = run


def _short_way(i: Instruction) -> AnyCallable:
    """The function of an instruction, with what an eager call tries first for small arrays."""
    op = i.op
    return op.small if op is not None and i.function is op.raw else i.function


def with_history(t: Tensor, node: Node, nr: int) -> Tensor:
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
