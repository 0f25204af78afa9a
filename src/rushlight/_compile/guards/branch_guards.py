"""Branches on values: a program goes on only while its conditions turn out as they did.

Note [Expected outcomes]
A step that branches on a number is recorded along the path that it took, and each condition on the
way is an `expect` instruction. Where one turns out otherwise in a later call, the run is abandoned:
what it has changed outside is put back from copies made at its beginning, and the call goes to the
variant that took the other path, or is recorded.

A condition is tested as soon as its numbers are known. So a test for a loss that isn't finite comes
before the backward, where there is mostly nothing to put back yet.

Note [Refused in the middle]
Rows that look at values may refuse them: a class out of range, a matrix that isn't positive. Where
an eager step raises it has counted, stored and cleared what came before, and nothing that comes
after. A program leaves such things when all else is done. So a run in which something raises before
the last of these rows is over is abandoned, too, and the call runs eagerly, which raises in its
place. No copies are made of what is written after that row: as a rule, of gradients and parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.memory import aliasing as A
from ..._core.storage import TensorBase, version_of
from ..._table.random.generator import Generator, default_generator
from ..ir.messages import has_failed
from ..ir.program import Instruction, Program, cells

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ...optim.optimizer import Optimizer
    from ..capture.factories import Factory
    from ..runtime.replay import RunFailure
    from .guards import SourceText


def outcomes(program: Program) -> tuple[bool, ...]:
    """The path that a program takes: the outcome of each condition, in order."""
    return tuple(i.inputs[1] for i in program.instructions if i.kind == "expect")


def may_refuse(i: Instruction) -> bool:
    """Whether a row may raise for the values that it is given."""
    refused = "" if i.row is None else i.row.refuses_values
    return refused == "any" or (
        refused == "whole" and not any(v.dtype.kind == "f" for v in i.reads())
    )


def hoist(program: Program) -> None:
    """Moves each condition up to where the last number that it asks for is made.

    Conditions stay in their order; one that was asked before needs no second answer.
    """
    if not any(i.kind == "expect" for i in program.instructions):
        return
    done: list[Instruction] = []
    first = 0
    for i in program.instructions:
        if i.kind != "expect":
            done.append(i)
            continue
        numbers = {v.number for v in i.reads()}
        roots = {v.root for v in i.reads()}
        place = len(done)
        while place > first:
            before = done[place - 1]
            if before.kind == "expect" or before.part != i.part or roots & before.writes():
                break
            if any(o is not None and o.number in numbers for o in before.outputs):
                break
            place -= 1
        done.insert(place, i)
        first = place + 1
    program.instructions[:] = done


class StateBefore:
    """What a run may change outside, as it was when the run began."""

    __slots__ = ("arrays", "grads", "groups", "optimizers", "streams")

    def __init__(self, arrays: tuple[Any, ...], leaves: tuple[Any, ...],
                 optimizers: tuple[Any, ...], generators: tuple[Any, ...],
                 groups: tuple[Any, ...]) -> None:  # fmt: skip
        self.arrays = [(a, A.copy_alike(a)) for a in arrays]
        self.grads = [(leaf, leaf._grad) for leaf in leaves]
        self.optimizers = [OptimizerBefore(o) for o in optimizers]
        self.groups = [(group, dict(group)) for group in groups]
        self.streams = [(g.stream, g.stream.mark()) for g in generators]

    def back(self) -> None:
        """Puts everything back."""
        for array, copy in self.arrays:
            T.write_into(array, copy)
        for leaf, grad in self.grads:
            leaf._grad = grad
        for optimizer in self.optimizers:
            optimizer.back()
        for group, options in self.groups:
            group.update(options)
        for stream, mark in self.streams:
            stream.back(mark)


class OptimizerBefore:
    """The state of an optimizer, and the versions of its parameters."""

    __slots__ = ("groups", "optimizer", "state", "tensors", "versions")

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.state = [(p, entry, dict(entry)) for p, entry in optimizer.state.items()]
        self.tensors = [
            (x._raw, A.copy_alike(x._raw)) for _, _, entry in self.state
            for x in entry.values() if isinstance(x, TensorBase)
        ]  # fmt: skip
        self.groups = [dict(group) for group in optimizer.param_groups]
        leaves = [p for group in optimizer.param_groups for p in group["params"]]
        self.versions = [(p, version_of(p)) for p in leaves]

    def back(self) -> None:
        """Puts the state back."""
        state = self.optimizer.state
        state.clear()
        for p, entry, before in self.state:
            entry.clear()
            entry.update(before)
            state[p] = entry
        for array, copy in self.tensors:
            T.write_into(array, copy)
        for group, options in zip(self.optimizer.param_groups, self.groups):
            group.update(options)
        for p, version in self.versions:
            cell = p._cell if p._view is None else p._view.base._cell
            if cell is not None and version_of(p) != version:
                cell.n = version


class Expectations:
    """Writes the lines of what may end a run: conditions, and refusals of rows left to NumPy."""

    def __init__(self, program: Program, left: RunFailure, names: set[str] | None = None) -> None:
        self.program = program
        self.left = left
        self.names = names  # of the rows that aren't native; None: all
        every = program.instructions
        self.messages = any(i.kind == "message" for i in every)
        certain = next((k for k, i in enumerate(every) if i.kind == "message" and i.function.final),
                       len(every))  # fmt: skip
        # See Note [A message can't be taken back]: a row that refuses after that raises.
        self.after = {id(i) for i in every[certain:]}
        self.last = max((k for k, i in enumerate(every) if self.ends(i)), default=-1)
        self.before = every[: self.last + 1]
        self.picky = any(i.kind != "expect" and self.ends(i) for i in self.before)
        self.count = 0
        self.kept = False

    def ends(self, i: Instruction) -> bool:
        """Whether the run may end at an instruction."""
        if i.kind == "expect":
            return True
        if id(i) in self.after:
            return False
        return may_refuse(i) and (self.names is None or i.name in self.names)

    def begin(self, lines: SourceText, names: dict[int, str]) -> None:
        """The line that keeps what the run may have to put back."""
        roots = set().union(*(i.writes() for i in self.before)) if self.before else set()
        arrays = [names[v.number] for v in self.program.inputs
                  if v.root in roots and v.kind != "constant"]  # fmt: skip
        leaves = list({id(i.holder): i.holder for i in self.before if i.kind == "grad"}.values())
        steps = {id(i.holder): i.holder for i in self.before if i.kind == "step"}
        generators: dict[int, Any] = {}
        groups = {id(i.holder): i.holder for i in self.before if i.kind == "option"}
        for i in self.before:
            if i.draws:
                for g in _generators(i.function):
                    generators[id(g)] = g
        if not (arrays or leaves or steps or generators or groups):
            return
        self.kept = True
        shown = f"({', '.join(arrays)},)" if arrays else "()"
        others = [
            lines.name(tuple(x))
            for x in (leaves, steps.values(), generators.values(), groups.values())
        ]
        lines.add(f"kept = {lines.name(StateBefore)}({shown}, {', '.join(others)})")

    def enclose(self, lines: SourceText, at: int, closing: list[str]) -> None:
        """Has the lines from a place on come to nothing where one of them raises."""
        if self.picky:
            back = ["kept.back()"] if self.kept else []
            slow = f"return {lines.name(self.left.slow)}(args, kwargs)"
            caught = ["except Exception:"]
            if self.messages:
                caught = ["except Exception as error:",
                          f"    if {lines.name(has_failed)}(error): raise"]  # fmt: skip
            lines.text[at:] = [
                "try:", *("    " + line for line in lines.text[at:]), *caught,
                *("    " + line for line in (*back, *closing, slow)),
            ]  # fmt: skip
        if self.kept:
            lines.add("kept = None")

    def write(self, i: Instruction, text: str, lines: SourceText) -> None:
        """The lines of one condition."""
        lines.add(f"if {'not ' if i.inputs[1] else ''}({text}):")
        if self.kept:
            lines.add("    kept.back()")
        if self.left is not None:
            lines.add(f"    return {lines.name(self.left)}.note_stray({self.count})")
        else:
            lines.add("    return None")
        self.count += 1


def _generators(function: AnyCallable | Factory) -> list[Any]:
    """The generators that a drawing function names; the default one, where it names none."""
    found: list[Any] = []
    stack: list[Any] = [function]
    seen: set[int] = set()
    while stack:
        x = stack.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, Generator):
            found.append(x)
        elif hasattr(x, "__closure__"):
            stack.extend(cells(x))
        elif isinstance(x, (list, tuple)):
            stack.extend(x)
        elif isinstance(x, dict):
            stack.extend(x.values())
        else:
            stack.extend(getattr(x, n) for n in ("kwargs", "args", "function") if hasattr(x, n))
    return found or [default_generator]


def misses(path: tuple[bool, ...], place: int, other: tuple[bool, ...]) -> bool:
    """Whether a variant of another path fails as well where one of `path` failed at `place`."""
    return path[:place] == other[:place] and len(other) > place and path[place] == other[place]
