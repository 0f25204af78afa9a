"""Functions whose results are differentiated later: two programs, joined by one node.

A module that is compiled alone returns tensors with a history. While it is recorded, the gradients
of its results are recorded too, for all that may want one: parameters, and arguments that require
grad. So there is a forward program, which also gives what the backward one reads, and a backward
program, which runs when the engine comes to the node that stands for the whole call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array.memory import aliasing as A
from ..._base import errors
from ..._core.copyslices import custom_op
from ..._core.engine import sequence_number
from ..._core.mode import CURRENT, current, derive
from ..._core.node import Node, fill_node
from ..._core.storage import TensorBase, new_tensor, version_cell, version_of
from ..._core.views import view_target
from ...autograd.backward import grad
from ...autograd.edges import place_of
from ..ir.program import Instruction, Program, Value
from ..refusal import Refusal
from .output_structure import outlives
from .replay_safety import check_backward, try_backward

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable
    from ..._core.mode import Mode
    from ..._tensor.tensor import Tensor
    from .recorder import Recorder


class Joint:
    """What is differentiated, with respect to what, and the values of the gradients."""

    def __init__(self, outputs: list[Tensor], wanted: list[Any], incoming: list[Value],
                 grads: list[Value | None]) -> None:  # fmt: skip
        self.outputs = outputs  # tensors; only while it is recorded
        self.wanted = wanted  # ("argument", position) or ("leaf", tensor)
        self.incoming = incoming
        self.grads = grads
        self.metas = tuple((v.shape, v.dtype) for v in incoming)

    def same_as(self, other: Joint) -> bool:
        """Whether the other gives the same gradients."""
        return len(self.wanted) == len(other.wanted) and all(
            p[0] == q[0] and (p[1] is q[1] or (p[0] == "argument" and p[1] == q[1]))
            for p, q in zip(self.wanted, other.wanted)
        )


def live_outputs(result: object) -> list[Tensor]:
    """The tensors in a result whose history can still be used."""
    found: list[Any] = []
    stack = [result]
    while stack:
        x = stack.pop()
        if isinstance(x, TensorBase):
            alive = x._node is not None and x._requires_grad and outlives(x._node)
            if alive and not any(x is y for y in found):
                found.append(x)
        elif isinstance(x, (list, tuple)):
            stack.extend(reversed(x))
        elif isinstance(x, dict):
            stack.extend(reversed(list(x.values())))
    return found


def record_gradients(
    recorder: Recorder, outputs: list[Tensor], arguments: list[Tensor], mode: Mode
) -> Joint:
    """Records the gradients of some results, as part 1 of the program.

    Raises:
        Refusal: where a result is a view, or the graph leads out of what is known.
    """
    for t in outputs:
        if t._view is not None:
            raise Refusal("the step returns a view whose history can still be used")
        if t._raw.dtype.name not in ("float32", "float64"):
            raise Refusal("the step returns a tensor with a history that isn't of a float type")
    check_backward(outputs)
    wanted: list[Any] = []
    tensors: list[Any] = []
    for position, t in enumerate(arguments):
        if t._requires_grad:
            wanted.append(("argument", position))
            tensors.append(t)
    for leaf in list(recorder.leaves.values()):
        if leaf._requires_grad and not any(leaf is t for t in tensors):
            wanted.append(("leaf", leaf))
            tensors.append(leaf)
    if not tensors:
        raise Refusal("the step returns a tensor whose history begins outside of it")
    turns = arrivals(outputs)
    order = sorted(range(len(tensors)), key=lambda k: turns.get(place_of(tensors[k])[0], -1))
    wanted, tensors = [wanted[k] for k in order], [tensors[k] for k in order]
    incoming = []
    given = []
    for k, t in enumerate(outputs):
        g = new_tensor(A.copy_alike(t._raw))
        incoming.append(recorder._input("incoming", g._raw, k))
        given.append(g)
    recorder.part = 1
    before = CURRENT.get()
    try:
        CURRENT.set(derive(mode, recorder=recorder))
        found = try_backward(
            lambda: grad(outputs, tensors, given, retain_graph=True, allow_unused=True)
        )
        values = [None if g is None else recorder.value_of(g) for g in found]
    finally:
        CURRENT.set(before)
        recorder.part = 0
    kept = [k for k, v in enumerate(values) if v is not None]
    return Joint(outputs, [wanted[k] for k in kept], incoming, [values[k] for k in kept])


def arrivals(outputs: list[Tensor]) -> dict[Any, int]:
    """When gradients are complete: a leaf that refuses one stops those after it."""
    nodes: dict[Any, None] = {}
    stack: list[Any] = [t._node for t in outputs]
    while stack:
        vertex = stack.pop()
        if isinstance(vertex, Node) and vertex not in nodes:
            nodes[vertex] = None
            stack.extend(vertex.next)
    edges = [x for node in sorted(nodes, key=sequence_number, reverse=True) for x in node.next]
    return {vertex: k for k, vertex in enumerate(edges) if vertex is not None}


def parts(program: Program) -> tuple[Program, Program, list[Value]]:
    """The forward and the backward program, and the values that go from one to the other."""
    joint = program.joint
    first, second = Program(), Program()
    for part in (first, second):
        part.values = program.values
        part.written = program.written
        part.leaves, part.entry, part.without = program.leaves, program.entry, program.without
    first.outputs = program.outputs
    first.conditions, first.effects = program.conditions, program.effects
    first.stores = program.stores
    first.inputs = [v for v in program.inputs if v.kind != "incoming"]
    first.instructions = [i for i in program.instructions if not i.part]
    backward = [i for i in program.instructions if i.part]
    made = {o.number for i in backward for o in i.outputs if o is not None}
    needed = {v.number: v for i in backward for v in i.reads() if v.number not in made}
    for g in joint.grads:
        if g.number not in made:
            needed[g.number] = g
    views: list[Instruction] = []
    for i in reversed(first.instructions):
        outs = [o for o in i.outputs if o is not None]
        if i.pure and outs and all(o.view for o in outs) and any(o.number in needed for o in outs):
            views.append(i)
            for o in outs:
                needed.pop(o.number, None)
            needed.update({v.number: v for v in i.reads()})
    second.instructions = [*reversed(views), *backward]
    saved = [v for v in needed.values() if v.kind not in ("incoming", "constant")]
    first.returned = list(saved)
    second.returned = [g for g in joint.grads if g is not None]
    second.inputs = [v for v in program.inputs if v.kind in ("incoming", "constant")]
    return first, second, saved


class CompiledFunctionBackward(Node):
    """The node of a compiled call: runs the backward program."""

    backward: Any
    kept: Any
    read: Any  # the inputs that it has saved, with their versions
    given: Any  # the same of results: counts of writes; the tensors would be a cycle
    freed: bool

    def call(self, grads: list[Array], need: list[bool], traced: bool) -> Any:
        """The gradients of everything that the call has read.

        Raises:
            RuntimeError: the second time, where an input has been written since, and for gradients
                that are to be differentiated again.
        """
        if self.freed:
            raise RuntimeError(errors.BACKWARD_TWICE)
        if traced and not current().carrying:
            raise RuntimeError(
                "torch.compile with aot_autograd does not currently support double backward"
            )
        for t, version in self.read:
            if version_of(t) != version:
                raise RuntimeError(_MODIFIED + "an input of a compiled function")
        for cell, version in self.given:
            if cell.n != version:
                raise RuntimeError(_MODIFIED + "a result of a compiled function")
        metas = self.out_meta or ()
        given = []
        for g, (shape, dtype) in zip(grads, metas):
            if g is None:
                g = A.zeros(shape, dtype)
            elif isinstance(g, TensorBase):
                g = g._raw
            given.append(A.in_order(g))
        found = self.backward(self.kept, given)
        if traced:
            recorder = current().recorder
            if recorder is not None:
                recorder.refuse("a compiled call from outside of the step is differentiated in it")
            return [new_tensor(g) for g in found]
        return found

    def release(self) -> None:
        """Lets go of the saved arrays."""
        self.freed = True
        self.kept = ()
        self.read = ()
        self.given = ()


_MODIFIED: Final = (
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: "
)
_OP = custom_op("CompiledFunction", CompiledFunctionBackward)


def join_graph(
    run: AnyCallable, kept: list[Array], read: list[Tensor], tensors: list[Tensor], metas: object
) -> CompiledFunctionBackward:
    """The node of one call; `tensors` are what gradients go to."""
    node: Any = CompiledFunctionBackward.__new__(CompiledFunctionBackward)
    targets = tuple([view_target(t) for t in tensors])
    fill_node(node, _OP, targets, ())
    if any(t._nr for t in tensors):
        node.nrs = tuple([t._nr for t in tensors])
    node.out_meta = metas
    node.backward = run
    node.kept = kept
    node.read = [(t, version_of(t)) for t in read]
    node.given = []
    node.freed = False
    return node


def guard_result(t: Tensor, node: CompiledFunctionBackward) -> Tensor:
    """A result in whose memory something lies that the node has saved."""
    cell = version_cell(t)
    node.given.append((cell, cell.n))
    return t
