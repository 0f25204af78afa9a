"""What a step returns: the structure, and where each tensor in it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array.memory import aliasing as A
from ..._core.node import Node
from ..._core.op import FREED
from ..._core.saved import Packed
from ..._core.storage import CLASSES, TensorBase
from ..ir.program import same
from ..refusal import Refusal
from .output_aliasing import Shared, owner, sources
from .symbolic_numbers import NUMBERS
from .weak_tables import refers

if TYPE_CHECKING:
    from ..._base.annotations import Arguments
    from ..._tensor.tensor import Tensor
    from ..ir.expressions import Expr
    from .recorder import Recorder


class FreshTensor:
    """A tensor made by the step: a value, and the (used up) history that it has."""

    __slots__ = ("value", "node", "nr", "requires_grad", "shared", "writes")

    def __init__(self, value: Any, node: Any, nr: int, requires_grad: bool) -> None:
        self.value = value
        self.node = node
        self.nr = nr
        self.requires_grad = requires_grad
        self.shared: Any = None  # what it shares with other tensors, see `sharing.py`
        self.writes = 0  # how often it was written

    def same_as(self, other: FreshTensor) -> bool:
        """Whether the other is made in the same way."""
        return (
            same(self.value, other.value)
            and type(self.node) is type(other.node)
            and self.nr == other.nr
            and self.requires_grad == other.requires_grad
            and self.writes == other.writes
            and same(self.shared, other.shared)
        )

    @property
    def __name__(self) -> str:
        return repr(self.value)


class TensorWithHistory:
    """A tensor made by the step whose history is used later: an output of the call's own node."""

    __slots__ = ("value", "number", "shared", "writes")

    def __init__(self, value: Any, number: int) -> None:
        self.value = value
        self.number = number
        self.shared: Any = None
        self.writes = 0

    def same_as(self, other: TensorWithHistory) -> bool:
        """Whether the other is the same output."""
        return (
            same(self.value, other.value)
            and self.number == other.number
            and self.writes == other.writes
            and same(self.shared, other.shared)
        )

    @property
    def __name__(self) -> str:
        return repr(self.value)


class BareArray:
    """An array, as it is."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class ExistingTensor:
    """A tensor that was there before: an argument, a captured one, or a leaf's gradient."""

    __slots__ = ("kind", "holder")

    def __init__(self, kind: str, holder: object) -> None:
        self.kind = kind
        self.holder = holder

    def same_as(self, other: ExistingTensor) -> bool:
        """Whether the other is found in the same place."""
        if self.kind != other.kind:
            return False
        return self.holder is other.holder or (
            self.kind == "argument" and bool(self.holder == other.holder)
        )

    @property
    def __name__(self) -> str:
        return f"argument {self.holder}" if self.kind == "argument" else f"the {self.kind} itself"


def describe_result(result: object, recorder: Recorder, arguments: list[Tensor]) -> Any:
    """The structure of a result, with a `FreshTensor` or `ExistingTensor` for each tensor.

    Raises:
        Refusal: for what can't be made anew.
    """
    found = _describe(result, recorder, arguments)
    _share_counts(recorder, arguments)
    return found


def _describe(result: Any, recorder: Recorder, arguments: list[Tensor]) -> Any:
    if isinstance(result, TensorBase):
        return _tensor(result, recorder, arguments)
    kind = type(result)
    if kind in NUMBERS:
        return ReadNumber(result.expr)
    if result is None or kind in (bool, int, float, complex, str, bytes):
        return result
    if kind in (list, tuple):
        return kind(_describe(x, recorder, arguments) for x in result)
    if kind is dict:
        return {k: _describe(v, recorder, arguments) for k, v in result.items()}
    if isinstance(result, tuple) and hasattr(kind, "_fields"):
        return NamedResult(kind, [_describe(x, recorder, arguments) for x in result])
    if hasattr(kind, "n_sequence_fields"):
        return NamedResult(kind, [_describe(x, recorder, arguments) for x in result])
    raise Refusal(f"the step returns a {kind.__name__}, which can't be made anew at each call")


class ReadNumber:
    """A number that is computed, from values and from outside, when the program has run."""

    __slots__ = ("expr",)

    def __init__(self, expr: Expr) -> None:
        self.expr = expr

    def same_as(self, other: ReadNumber) -> bool:
        """Whether the other is computed in the same way."""
        return same(self.expr, other.expr)

    @property
    def __name__(self) -> str:
        return repr(self.expr)


class NamedResult:
    """A named tuple."""

    __slots__ = ("kind", "items")

    def __init__(self, kind: Any, items: list[Any]) -> None:
        self.kind = kind
        self.items = items

    def same_as(self, other: NamedResult) -> bool:
        """Whether the other is the same kind with the same items."""
        return self.kind is other.kind and same(self.items, other.items)


def _tensor(t: TensorBase, recorder: Recorder, arguments: list[Tensor]) -> Any:
    """Where a returned tensor comes from; the same object for one that is returned twice."""
    found = recorder.described.get(id(t))
    if found is None:
        found = recorder.described[id(t)] = _origin(t, recorder, arguments)
    return found


def _origin(t: TensorBase, recorder: Recorder, arguments: Arguments) -> Any:
    for position, argument in enumerate(arguments):
        if argument is t:
            return ExistingTensor("argument", position)
    for leaf in recorder.leaves.values():
        if leaf is t:
            return ExistingTensor("tensor", t)
        if leaf._grad is t and refers(recorder.state.get(id(leaf)), t):
            return ExistingTensor("gradient", leaf)
    value = recorder.values.get(id(t._raw))
    if value is not None and value.kind == "tensor" and value.holder is t:
        return ExistingTensor("tensor", t)
    if id(t._raw) in recorder.known and recorder.known[id(t._raw)] is t:
        return ExistingTensor("tensor", t)
    if type(t) is not CLASSES.tensor:
        raise Refusal(f"the step returns a {type(t).__name__}")
    value = recorder.value_of(t)
    if recorder.joint is not None:
        for number, output in enumerate(recorder.joint.outputs):
            if output is t:
                live = TensorWithHistory(value, number)
                if t._cell is not None:
                    recorder.cells.setdefault(id(t._cell), []).append((t, live))
                return live
    if t._node is not None and outlives(t._node):
        raise Refusal(
            "the step returns a tensor whose history can still be used: call backward() inside "
            "of the step, return `tensor.detach()`, or compile the module alone"
        )
    if t._requires_grad and t._node is None:
        raise Refusal("the step makes a new leaf that requires grad")
    made = FreshTensor(value, t._node, t._nr, t._requires_grad)
    if t._view is not None:
        source, steps = sources(t, arguments, recorder)
        made.shared = Shared(_tensor(source, recorder, arguments), steps, t._view.creation)
    elif t._cell is not None:
        recorder.cells.setdefault(id(t._cell), []).append((t, made))
    return made


def _share_counts(recorder: Recorder, arguments: Arguments) -> None:
    """Has detached results share the count of writes with what else can be seen of their memory."""
    for sharers in recorder.cells.values():
        (first, made), *others = sharers
        cell = first._cell
        seen = [*arguments, *recorder.known.values()]
        origin = next((t for t in seen if owner(t)._cell is cell), None)
        if origin is None:
            made.writes = cell.n
            source = made
        else:
            source = _tensor(origin, recorder, arguments)
            others = sharers
        for _, other in others:
            other.shared = Shared(source, None, 0)


def find_repeated(x: Any) -> set[int]:
    """The ids of what a result's structure holds more than once."""
    seen: set[int] = set()
    twice: set[int] = set()
    stack = [x]
    while stack:
        x = stack.pop()
        if type(x) in (list, tuple):
            stack.extend(x)
        elif type(x) is dict:
            stack.extend(x.values())
        elif type(x) is NamedResult:
            stack.extend(x.items)
        elif type(x) in (FreshTensor, TensorWithHistory):
            (twice if id(x) in seen else seen).add(id(x))
            shared = x.shared
            if shared is not None and id(x) not in twice:
                stack.append(shared.source)
    return twice


def outlives(root: Node) -> bool:
    """Whether something in a graph is still there for a backward."""
    seen: set[int] = set()
    stack: list[Any] = [root]
    alive = False
    freed = False
    while stack:
        node = stack.pop()
        if id(node) in seen or not isinstance(node, Node):
            continue
        seen.add(id(node))
        for value in node.saved:
            if value is FREED:
                freed = True
            elif isinstance(value, (TensorBase, Packed)) or type(value) is A.ndarray:
                alive = True
            elif type(value) is tuple and any(x is FREED for x in value):
                freed = True
        if node.op.kind == "custom":
            if getattr(node, "inner", None) is not None or getattr(node, "freed", True) is False:
                alive = True
            freed = True
        stack.extend(child for child in node.next if child is not None)
    return alive or not freed
