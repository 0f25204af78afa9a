"""The arguments of a recorded call: what the step has done to them beside writing their elements.

A program writes tensors' elements; it can't append to a list that it was given, put a result into a
dict, give a tensor another array or an attribute. A step that does so is found by comparing its
arguments before and after, and stays eager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array.memory import aliasing as A
from ..._core.storage import TensorBase
from ..guards.guards import ArgumentPlace, structure_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..._base.annotations import Arguments
    from ..._tensor.tensor import Tensor
    from ..guards.captured_state import State
    from ..ir.program import Program


class ArgumentsBefore:
    """The arguments of one call as they were before it ran."""

    __slots__ = ("args", "kwargs", "structure", "tensors", "before", "containers")

    def __init__(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
        self.args = args
        self.kwargs = kwargs
        self.tensors: list[Any] = []
        self.structure = self._structure(self.tensors)
        self.before = [_state(t) for t in self.tensors]
        self.containers: set[int] = set()
        _collect(args, self.containers)
        for value in kwargs.values():
            _collect(value, self.containers)

    def _structure(self, found: Arguments) -> Any:
        return structure_of(self.args, found), structure_of(self.kwargs, found)

    def find_changes(self) -> str | None:
        """What the call has changed among its arguments, elements of tensors aside."""
        found: list[Any] = []
        structure = self._structure(found)
        if len(found) != len(self.tensors) or any(x is not y for x, y in zip(found, self.tensors)):
            return "a container that is an argument was changed by the step"
        if not _alike(structure, self.structure):
            return "a container that is an argument was changed by the step"
        for t, before in zip(self.tensors, self.before):
            raw, wants, attributes = _state(t)
            if raw is not before[0] or wants is not before[1]:
                return "the memory or `requires_grad` of an argument was replaced by the step"
            if attributes != before[2]:
                return "an attribute of a tensor that is an argument was set by the step"
        return None


class StandIn:
    """What guards ask of an argument of a recorded call, without its elements."""

    __slots__ = ("_raw", "_requires_grad", "kind", "roomy")

    def __init__(self, t: Tensor, arrays: dict[int, object]) -> None:
        raw = t._raw
        self.kind = type(t)
        self.roomy = hasattr(t, "__dict__")  # it may have attributes of its own
        # One object for one array: guards ask which tensors share it.
        if id(raw) not in arrays:
            arrays[id(raw)] = A.pattern(raw.shape, raw.strides, raw.dtype)
        self._raw = arrays[id(raw)]
        self._requires_grad = t._requires_grad


def find_stand_ins(tensors: list[Tensor], program: Program, state: State) -> list[Any]:
    """The arguments for keeping: those that a program names themselves, stand-ins for the rest."""
    named = [i.holder for i in program.instructions] + [v.holder for v in program.inputs]
    kept = (*named, *program.leaves, *program.without, *state.tensors.values())
    own = {id(x) for x in kept}
    arrays = {id(x._raw): x._raw for x in kept if isinstance(x, TensorBase)}
    return [t if id(t) in own else StandIn(t, arrays) for t in tensors]


def returns_container(result: Any, containers: set[int], seen: dict[int, object]) -> bool:
    """Whether a list or dict that was there before is returned: a program would return a copy."""
    if type(result) in (list, dict) and (id(result) in containers or id(result) in seen):
        return True
    if type(result) in (list, tuple):
        return any(returns_container(x, containers, seen) for x in result)
    if type(result) is dict:
        return any(returns_container(x, containers, seen) for x in result.values())
    return False


def _state(t: Tensor) -> tuple[Any, bool, dict[str, int]]:
    own = getattr(t, "__dict__", None) or {}
    return t._raw, t._requires_grad, {k: id(v) for k, v in own.items()}


def _collect(x: Any, into: set[int]) -> None:
    if type(x) in (list, dict):
        if id(x) in into:
            return
        into.add(id(x))
    if type(x) in (list, tuple):
        for y in x:
            _collect(y, into)
    elif type(x) is dict:
        for y in x.values():
            _collect(y, into)


def _alike(p: Any, q: Any) -> bool:
    """Whether two structures hold the same things in the same places."""
    if type(p) is not type(q):
        return False
    if type(p) is ArgumentPlace:
        return bool(p.position == q.position)
    if type(p) in (list, tuple):
        return len(p) == len(q) and all(_alike(x, y) for x, y in zip(p, q))
    if type(p) is dict:
        return list(p) == list(q) and all(_alike(p[k], q[k]) for k in p)
    return p is q or (isinstance(p, (int, float, str, complex)) and bool(p == q))
