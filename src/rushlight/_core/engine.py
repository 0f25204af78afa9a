"""The engine: sends gradients from roots back to leaves.

Note [The order of a run]
Nodes run by falling sequence number. A node is always younger than the nodes it reads from: when
the youngest one left runs, all nodes that contribute to its gradient have run. So sorting the
reachable nodes once gives PyTorch's order, whose ready queue is a heap on the same number, and
consumers needn't be counted. Only those of leaves are: a leaf accumulates as soon as its last
contribution has arrived. Saved values are unpacked in the order in which they were saved, and
contributions are added in the order of their consumers, so gradients are reproducible to the bit.

Cost: discovery about 0.15 µs a node, the loop about 0.3 µs a node and edge beside the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from sys import getrefcount
from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._array.memory.dense_layout import order_like
from .._array.memory.out_of_memory import refusal
from .._array.types import ndarray as _ndarray
from .arrivals import RENUMBERED, in_order, youngest_first
from .former_data import NOTED, expect_former_shapes
from .formulas import (
    WORLDS as WORLDS,
    call_formula,
    fix_gradient,
    input_gradients,
    look_at,
    look_at_all,
)
from .hooks import (
    GRAD_DTYPE,
    Hooks,
    before,
    enter,
    retain,
    run_post_hooks,
    run_pre_hooks,
    run_tensor_hooks,
    select_known,
)
from .leaf import receive
from .mode import CURRENT, Mode, current
from .node import GENERAL, Node, Vertex
from .op import CALL_G, CALL_G_SAVED
from .run import ANOMALY, LIVE, RUNNING, Run
from .saved import free, unpack
from .slots import HOLDER, clean, slots
from .storage import TensorBase

if TYPE_CHECKING:
    from .._base.annotations import TensorLike

ndarray: Final = _ndarray
WORTH_STEALING: Final = 16384  # bytes of a joint formula's gradient from which a copy costs more
sequence_number: Final = attrgetter("seq")


def _references() -> int:
    """How many references there are to what only one variable of a function holds."""
    g: Any = object()
    return getrefcount(g)


ALONE: Final = _references()


def backward(roots: list[Vertex], nrs: list[int], grads: list[Any], keep: bool, traced: bool,
             inputs: list[tuple[Vertex, int]] | None, accumulate: bool,
             given: Sequence[object] = ()) -> list[Any]:  # fmt: skip
    """Runs the graph from `roots`; returns the gradients of `inputs` (None where unreached).

    `grads` are arrays, or Tensors where `traced`; `given` the tensors that some are the arrays of.
    Without `inputs` every leaf accumulates; with them only they are computed, and accumulate if
    `accumulate`.
    """
    run = Run(keep, traced)
    run.given = given
    private = not slots.acquire(False)
    if private:
        run.table = {}
    else:
        HOLDER.run = run
    order: list[Node] = []
    try:  # see Note [A context that is interrupted] in `autograd.grad_mode`
        RUNNING.set(run)
        if traced:
            enter(True)
        if inputs is not None:
            run.captures = {}
            run.accumulate = accumulate
            run.results = [None] * len(inputs)
            for position, where in enumerate(inputs):
                run.captures[where] = position
        order = discover(roots, run)
        if RENUMBERED.any:
            order = youngest_first(order)
        else:
            order.sort(key=sequence_number, reverse=True)
        if inputs is not None:
            order = mark_needed(order, roots, inputs, run)
        run.order = order
        if NOTED.any:
            expect_former_shapes(order, run)
        if len(roots) == 1:
            run.start = roots[0]
            if inputs is not None and roots[0].hooks is not None:
                hear(roots[0], nrs[0], grads[0], run)
        for k, root in enumerate(roots):
            if deliver(root, nrs[k], grads[k], run):
                finish_leaf(root, run)
        execute(order, run)
        for callback in run.callbacks:  # a callback may queue another
            callback()
        return run.results
    except BaseException as error:
        if not private:
            clean(order, run)
        if isinstance(error, MemoryError):
            raise refusal(error) from None
        raise
    finally:
        try:
            if current() is not run.mode:  # what code inside has switched ends with the run
                CURRENT.set(run.mode)
            RUNNING.set(run.outer)
        except BaseException:
            CURRENT.set(run.mode)
            RUNNING.set(run.outer)
            raise
        finally:
            if not private:
                HOLDER.run = None
                slots.release()


def backward_from(t: Any, gradient: Any, keep: bool) -> bool:
    """Runs backward from one ordinary tensor; False, with nothing done, where it takes more checks.

    The common call `loss.backward()` comes here first; the layers above handle (and explain) the
    rest.
    """
    mode: Mode = current()
    if not isinstance(t, TensorBase) or not t._plain or LIVE or RUNNING.get() is not None:
        return False
    if mode.slow and (not mode.anomaly or mode.dual or mode.dispatch or mode.profiler is not None):
        return False
    node = t._node
    if node is None or t._view is not None:
        return False
    array = t._raw
    if gradient is None:
        if array.size != 1 or array.dtype.kind != "f":
            return False
        g = T.ones_like(array)
    else:
        if not isinstance(gradient, TensorBase) or not gradient._plain:
            return False
        g = gradient._raw
        if g.dtype is not array.dtype or g.shape != array.shape:
            return False
    backward([node], [t._nr], [g], keep, False, None, True, () if gradient is None else (gradient,))
    return True


def _scratch(vertex: Vertex, run: Run) -> Vertex:
    """Where this run keeps its notes on `vertex`."""
    table = run.table
    if table is None:
        return vertex
    found = table.get(vertex)
    if found is None:
        found = Vertex.__new__(Vertex)
        found.acc = None
        found.owned = False
        found.run = 0
        found.pending = 0
        table[vertex] = found
    return found


def discover(roots: list[Vertex], run: Run) -> list[Node]:
    """All nodes that the roots reach; counts what each leaf will receive."""
    number = run.number
    private = run.table is not None
    order: list[Node] = []
    stack: list[Node] = []
    leaves = run.leaves
    for root in roots:
        notes = _scratch(root, run)
        if isinstance(root, Node):
            if notes.run != number:
                notes.run = number
                stack.append(root)
        elif notes.run == number:
            notes.pending += 1
        else:
            notes.run = number
            notes.pending = 1
            leaves.append(root)
    while stack:
        node = stack.pop()
        order.append(node)
        for child in node.next:
            if child is not None:
                notes = _scratch(child, run) if private else child
                if notes.run == number:
                    if notes.pending:
                        notes.pending += 1
                else:
                    notes.run = number
                    if isinstance(child, Node):
                        stack.append(child)
                    else:
                        notes.pending = 1
                        leaves.append(child)
    return order


def mark_needed(
    order: list[Node], roots: list[Vertex], inputs: list[tuple[Vertex, int]], run: Run
) -> list[Node]:
    """The nodes of `order` that lead to an input; all others are unmarked, and leaves recounted."""
    wanted: set[Any] = set()
    for vertex, _ in inputs:
        wanted.add(vertex)
    for leaf in run.leaves:
        notes = _scratch(leaf, run)
        notes.pending = 0
        if leaf not in wanted:
            notes.run = 0
    # Children are older than their parents: from the oldest on, each child is decided first.
    kept: list[Node] = []
    useful: set[Any] = set(wanted)
    for k in range(len(order) - 1, -1, -1):
        node = order[k]
        leads = False
        for child in node.next:
            if child is not None and child in useful:
                leads = True
                break
        use = leads
        if node in wanted:
            use = True
            if not leads and not run.accumulate:
                run.ends.add(node)
        if use:
            useful.add(node)
            kept.append(node)
            for child in node.next:
                if isinstance(child, TensorBase) and child in wanted:
                    _scratch(child, run).pending += 1
        else:
            _scratch(node, run).run = 0
    for root in roots:
        if isinstance(root, TensorBase) and root in wanted:
            _scratch(root, run).pending += 1
    kept.reverse()
    return kept


def hear(root: Vertex, nr: int, g: Any, run: Run) -> None:
    """Runs the tensor hooks of the only root where it leads to no wanted input, as PyTorch does."""
    if _scratch(root, run).run == run.number:  # it runs, or accumulates, with its hooks
        return
    run.node = root
    hooks: Hooks = root.hooks
    for number in sorted({*hooks.tensor, *hooks.retain}):
        given = g if number == max(nr - 1, 0) else None
        given = run_tensor_hooks(root, number, given, run)
        retain(hooks, number, given, run.traced)


def alone(node: Node, r: Any, grads: list[Any], g: Any) -> bool:
    """Whether a gradient that a formula of ours made is seen by nobody else.

    It is linear in `g`, so it can't be a saved array; it may be `g` itself, or stand there twice.
    """
    if node.op.kind == "custom" or node.hooks is not None:
        return False
    if node.op.joint is None:
        return r is not g
    times = len([1 for other in grads if other is r])
    if type(g) is list:
        for other in g:
            if other is r:
                return False
    return times == 1 and r is not g


def carries_alone(node: Node, r: Any, grads: list[Any], g: Any) -> bool:
    """The same for a Tensor: a formula that is recorded may put one array into several."""
    if not isinstance(r, TensorBase):
        return False
    raws = [x._raw if isinstance(x, TensorBase) else x for x in grads]
    if type(g) is list:
        received: Any = [x._raw if isinstance(x, TensorBase) else x for x in g]
    else:
        received = g._raw if isinstance(g, TensorBase) else g
    return alone(node, r._raw, raws, received)


def add_gradients(first: TensorLike, second: TensorLike) -> TensorLike:
    """The sum of two contributions to a gradient, laid out as the first one is."""
    total = first + second
    if isinstance(first, ndarray) and first.ndim > 1 and not first.flags.c_contiguous:
        return order_like(total, (first, second))
    return total


def deliver(child: Vertex, nr: int, r: Any, run: Run, fresh: bool = False) -> bool:
    """Adds a contribution (`fresh`: seen by nobody else); whether it is the last one of a leaf."""
    notes = child if run.table is None else run.table[child]
    if notes.run != run.number:
        return False
    if r is not None:
        if nr:
            parts = notes.acc
            if parts is None:
                assert isinstance(child, Node)
                parts = [None] * len(child.out_meta or ())
                notes.acc = parts
            prev = parts[nr - 1]
            parts[nr - 1] = r if prev is None else add_gradients(prev, r)
        else:
            prev = notes.acc
            if prev is None:
                notes.acc = r
                notes.owned = fresh
            else:
                notes.acc = add_gradients(prev, r)
                notes.owned = True
    if notes.pending:
        notes.pending -= 1
        return notes.pending == 0
    return False


def finish_leaf(leaf: Vertex, run: Run) -> None:
    """A leaf has got all its contributions: capture or accumulate."""
    notes = leaf if run.table is None else run.table[leaf]
    g = notes.acc
    owned = notes.owned
    notes.acc = None
    notes.owned = False
    assert isinstance(leaf, TensorBase)
    if g is None and leaf.hooks is None:
        return
    if leaf.hooks is not None:
        run.node = leaf
        if g is not None and leaf.hooks.extra:
            wanted: Any = leaf.hooks.extra.get(GRAD_DTYPE)
            if wanted is not None:
                g = (WORLDS.traced if run.traced else WORLDS.raw).to_dtype(g, wanted)
                owned = False
    if leaf.hooks is not None and leaf.hooks.tensor:
        g = run_tensor_hooks(leaf, 0, g, run)
        owned = getrefcount(g) == ALONE
    captures = run.captures
    if captures is not None:
        position = captures.get((leaf, 0))
        if position is not None:
            run.results[position] = g
        if not run.accumulate:
            return
    hooks: Hooks | None = leaf.hooks
    if hooks is None or not (hooks.pre or hooks.post):
        if g is not None:
            receive(leaf, g, owned, run.traced)
        return
    if hooks.pre:
        g = run_pre_hooks(hooks, [g], run.traced)[0]
        owned = getrefcount(g) == ALONE
    if g is not None:
        receive(leaf, g, owned, run.traced)
    if hooks.post:
        run_post_hooks(hooks, [], [g], run.traced)


def finish_leaves(node: Node, leaves: list[Vertex], run: Run) -> None:
    """The leaves that a node has brought their last contributions, all of which have arrived."""
    try:
        for leaf in in_order(node, leaves):
            if run.profiler is None:
                finish_leaf(leaf, run)
            else:
                event = run.profiler.enter_leaf()
                finish_leaf(leaf, run)
                run.profiler.leave(event)
    except BaseException:  # a hook's: the node has done its part
        if not run.keep:
            free(node)
        raise


def execute(order: list[Node], run: Run) -> None:
    """The loop: every node in order, every live edge of it."""
    number = run.number
    table = run.table
    keep = run.keep
    traced = run.traced
    watched = run.captures is not None
    anomaly = run.anomaly or run.profiler is not None
    recorded = run.mode.recorder is not None
    whole = anomaly or recorded
    for node in order:
        notes = node if table is None else table[node]
        g = notes.acc
        notes.acc = None
        if watched or node.hooks is not None:
            g = prepare_in_anomaly_mode(node, g, run) if anomaly else before(node, g, run)
            if watched and node in run.ends:
                continue
        special = node.special
        if special >= GENERAL or whole or node.hooks is not None:
            grads = call_in_anomaly_mode(node, g, run) if anomaly else general(node, g, run)
            leaves: list[Vertex] = []
            for i, child in enumerate(node.next):
                if child is not None:
                    nr = 0 if node.nrs is None else node.nrs[i]
                    r = grads[i]
                    if isinstance(r, ndarray):
                        fresh = (not whole and (r.nbytes >= WORTH_STEALING or NOTED.any)
                                 and alone(node, r, grads, g))  # fmt: skip
                    else:
                        fresh = recorded and carries_alone(node, r, grads, g)
                    if deliver(child, nr, r, run, fresh):
                        leaves.append(child)
            if len(leaves) > 0:
                finish_leaves(node, leaves, run)
        else:
            op = node.op
            nrs = node.nrs
            targets = node.next
            complete: Vertex | None = None
            several: list[Vertex] | None = None
            for i in range(len(targets)):
                child = targets[i]
                if child is None:
                    continue
                there = child if table is None else table[child]
                if there.run != number:
                    if op.forms[i] != CALL_G:
                        look_at(node, i, traced)
                    continue
                if g is None:
                    if op.forms[i] != CALL_G:
                        look_at(node, i, traced)
                else:
                    form = op.forms[i]
                    if form == CALL_G:
                        r = op.small_formulas[i](g)
                    elif form == CALL_G_SAVED:
                        value = node.saved[op.picks[i]]
                        # An input that has never been written, the common case, needs no check.
                        if (not traced and isinstance(value, TensorBase) and value._cell is None
                                and value._view is None):  # fmt: skip
                            r = op.small_formulas[i](g, value._raw)
                        else:
                            r = op.small_formulas[i](g, unpack(node, op.picks[i], traced))
                    else:
                        r = call_formula(node, op.small_formulas[i], op.picks[i], g, None, traced)
                    if special:
                        r = fix_gradient(node, i, r, traced)
                    if nrs is not None and nrs[i]:
                        deliver(child, nrs[i], r, run)
                        continue
                    prev = there.acc
                    if prev is None:
                        there.acc = r
                        there.owned = r is not g
                    else:
                        there.acc = add_gradients(prev, r)
                        there.owned = True
                if there.pending:
                    there.pending -= 1
                    if there.pending == 0:
                        if complete is None:
                            complete = child
                        elif several is None:
                            several = [complete, child]
                        else:
                            several.append(child)
            # Not before: where a formula for another input raises, no leaf has got anything.
            if several is not None:
                finish_leaves(node, several, run)
            elif complete is not None:
                try:
                    finish_leaf(complete, run)
                except BaseException:  # a hook's: the node has done its part
                    if not keep:
                        free(node)
                    raise
        if not keep:
            if node.op.simple:
                node.saved = node.op.freed
            else:
                free(node)


def general(node: Node, g: Any, run: Run) -> list[Any]:
    """The gradients of all inputs of a node that the fast loop doesn't handle."""
    run.node = node
    traced = run.traced
    number = run.number
    table = run.table
    targets = node.next
    need = [
        child is not None and (child if table is None else table[child]).run == number
        for child in targets
    ]
    hooks: Hooks | None = node.hooks
    awaited = hooks is not None and len(hooks.post) > 0
    wanted = need
    if awaited and node.op.lists >= 0 and not node.op.tensors and True in need:
        need = [True] * len(need)  # who hears of one tensor of a list hears of all
    if g is None and not node.op.runs_on_none:
        look_at_all(node, traced)
        grads: list[Any] = [None] * len(targets)
    else:
        grads = input_gradients(node, g, need, traced)
    hooks = node.hooks  # an unpack hook may have been the one to register the first
    if hooks is not None and hooks.post:
        if node.op.joint is not None and need is wanted:  # one formula may make more than asked
            grads = [r if need[i] else None for i, r in enumerate(grads)]
        outs: list[Any] = []  # given up, as in PyTorch, where no hook had asked for them by then
        if awaited:
            outs = select_known(node, g) if type(g) is list else [g]
        shown: int | None = node.op.node_class._inputs_shown
        if shown is None:
            return run_post_hooks(hooks, grads, outs, traced)
        return [*run_post_hooks(hooks, grads[:shown], outs, traced), *grads[shown:]]
    return grads


def prepare_in_anomaly_mode(node: Node, g: Any, run: Run) -> Any:
    """As `before`, in anomaly mode: says where the node was made whose hook fails."""
    try:
        return before(node, g, run)
    except Exception:
        if run.anomaly and ANOMALY.explain is not None:
            ANOMALY.explain(node)
        raise


def call_in_anomaly_mode(node: Node, g: Any, run: Run) -> list[Any]:
    """As `general`, in anomaly mode: says where a failing node was made, and looks for nan.

    Also where a profile is taken, which is told when the node starts and ends.
    """
    profiler = run.profiler
    if not run.anomaly:
        event = profiler.enter_node(node, g)
        try:
            return general(node, g, run)
        finally:
            profiler.leave(event)
    outer = run.node
    run.node = node
    try:
        if profiler is None:
            grads = general(node, g, run)
        else:
            event = profiler.enter_node(node, g)
            try:
                grads = general(node, g, run)
            finally:
                profiler.leave(event)
        if run.check_nan:
            for i, r in enumerate(grads):
                if r is not None and T.has_nan(r._raw if isinstance(r, TensorBase) else r):
                    name = type(node).__name__
                    raise RuntimeError(
                        f"Function '{name}' returned nan values in its {i}th output."
                    )
        return grads
    except Exception:
        if ANOMALY.explain is not None:
            ANOMALY.explain(node)
        raise
    finally:
        run.node = outer
