"""Calling an operation: the fast path.

The fast path asks one question per operand: a plain tensor of a float type, in an ordinary mode?
All else (scalars of other kinds, promotion, subclasses, layers, hooks, anomaly mode) is in
`slow.py`.

Cost: one `apply2` of two tiny tensors that records takes about 0.7 µs interpreted, of which the
NumPy call is 0.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array.memory.dense_layout import order_like
from .._array.memory.out_of_memory import refusal
from .._array.types import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT64,
    as_array,
    generic as _generic,
    ndarray as _ndarray,
)
from .._base.errors import REFUSALS
from . import slow
from .mode import Mode, current
from .node import FIX, Node, Vertex, new_node
from .op import ARG, OUT, PROMOTE_FLOAT, PROMOTE_NONE, SHAPE, Op, run_small
from .several import apply_mixed, apply_outputs, apply_several
from .storage import (
    DEFAULT,
    IN_INFERENCE,
    IN_NO_GRAD,
    MULTI_OUTPUT,
    TensorBase,
    View,
    new_tensor,
    version_of,
)
from .views import Step, follows, make_exact, view_target

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._base.annotations import Arguments, Positional

ndarray: Final = _ndarray
NOTHING: Final[tuple[Any, ...]] = (None, None)
generic: Final = _generic
F32: Final[Any] = FLOAT32
F64: Final[Any] = FLOAT64
TRUTH: Final[Any] = BOOL
I64: Final[Any] = INT64
LEAST: Final[Any] = -(1 << 63)  # of the integers that fit everywhere
MOST: Final[Any] = (1 << 63) - 1


def apply1(op: Op, a: Any) -> Any:
    """The result of a one-tensor operation without further arguments."""
    mode: Mode = current()
    if not isinstance(a, TensorBase) or not a._plain or mode.slow:
        return slow.apply(op, [a])
    array = a._raw
    dtype = array.dtype
    if dtype is not F32 and dtype is not F64:
        return _apply_discrete(op, [a])
    try:
        result = op.small(array)
    except (MemoryError, ValueError) as error:
        raise refusal(error, (array,)) from None
    if type(result) is not ndarray:
        result = as_array(result)
    out = new_tensor(result)
    if mode.grad and op.records and (a._requires_grad or (a._view is not None and follows(a))):
        goal: Vertex | None
        if a._view is not None:
            goal = view_target(a)
        else:
            goal = a._node
            if goal is None:
                goal = a
        node = new_node(op, (goal,), (a if op.masks[0] else None, result if op.masks[1] else None))
        cell = a._cell if a._view is None else a._view.base._cell
        if cell is not None and cell.n:
            node.versions = (cell.n, 0)
        if a._nr:
            node.nrs = (a._nr,)
        out._node = node
        out._requires_grad = True
    return out


def apply2(op: Op, a: Any, b: Any) -> Any:
    """The result of a two-operand operation without further arguments, with broadcasting."""
    mode: Mode = current()
    if not isinstance(a, TensorBase) or not a._plain or mode.slow:
        return slow.apply(op, [a, b])
    array_a = a._raw
    dtype = array_a.dtype
    if dtype is not F32 and dtype is not F64:
        if isinstance(b, TensorBase) and (b._raw.dtype is F32 or b._raw.dtype is F64):
            return _apply_beside(op, a, b, mode)
        return _apply_discrete(op, [a, b])
    if not isinstance(b, TensorBase):
        kind = type(b)
        if (kind is float or (kind is int and LEAST <= b <= MOST)) and op.broadcasts:
            return _apply_scalar(op, a, b, mode)
        return slow.apply(op, [a, b])
    if not b._plain:
        return slow.apply(op, [a, b])
    array_b = b._raw
    if array_b.dtype is not dtype:
        return _apply_beside(op, a, b, mode)
    try:
        result = op.small(array_a, array_b)
    except (ValueError, NotImplementedError):
        return slow.apply(op, [a, b])  # explains
    except MemoryError as error:
        raise refusal(error) from None
    if type(result) is not ndarray:
        result = as_array(result)
    elif op.ordered and result.ndim > 1 and (op.ordered < 0 or not array_a.flags.c_contiguous):
        result = order_like(result, (array_a, array_b)[:: op.ordered])
    out = new_tensor(result)
    if mode.grad and op.records and (
        a._requires_grad or b._requires_grad
        or (a._view is not None and follows(a)) or (b._view is not None and follows(b))
    ):  # fmt: skip
        goal_a: Vertex | None = None
        goal_b: Vertex | None = None
        live = 0
        if a._view is not None:
            goal_a = view_target(a)
            if goal_a is not None:
                live = 1
        elif a._requires_grad:
            live = 1
            goal_a = a._node
            if goal_a is None:
                goal_a = a
        if b._view is not None:
            goal_b = view_target(b)
            if goal_b is not None:
                live |= 2
        elif b._requires_grad:
            live |= 2
            goal_b = b._node
            if goal_b is None:
                goal_b = b
        masks = op.masks
        node = new_node(
            op,
            (goal_a, goal_b),
            (
                a if masks[0] & live else None,
                b if masks[1] & live else None,
                result if masks[2] & live else None,
            ),
        )
        cell_a = a._cell if a._view is None else a._view.base._cell
        cell_b = b._cell if b._view is None else b._view.base._cell
        if cell_a is not None or cell_b is not None:
            node.versions = (
                0 if cell_a is None else cell_a.n,
                0 if cell_b is None else cell_b.n,
                0,
            )
        if a._nr or b._nr:
            node.nrs = (a._nr, b._nr)
        shape_a = array_a.shape
        shape_b = array_b.shape
        if shape_a != shape_b and op.broadcasts:
            _note_shapes(node, result.shape, shape_a, shape_b)
        out._node = node
        out._requires_grad = True
    return out


def _apply_discrete(op: Op, args: Arguments) -> Any:
    """The result on plain booleans or 64-bit integers, of which nothing is recorded.

    All that these don't take as they are (other types, promotion) goes through `slow.py`.
    """
    a: TensorBase = args[0]
    array = a._raw
    dtype = array.dtype
    if (
        (dtype is not TRUTH and dtype is not I64)
        or op.promote == PROMOTE_FLOAT
        or (a._view is not None and a._view.base._requires_grad)
    ):
        return slow.apply(op, args)
    raws = args[:]
    raws[0] = array
    if len(args) > 1 and not op.lone:
        if len(args) != 2 or not op.broadcasts:
            return slow.apply(op, args)
        b = args[1]
        if isinstance(b, TensorBase):
            if not b._plain or b._requires_grad:
                return slow.apply(op, args)
            raws[1] = b._raw
            if raws[1].dtype is not dtype:
                return slow.apply(op, args)
        elif dtype is not I64 or type(b) is not int or not -BOUND <= b < BOUND:
            return slow.apply(op, args)
    try:
        if op.check is not None:
            op.check(args, raws)
        result = run_small(op, raws)
    except REFUSALS:
        return slow.apply(op, args)  # explains
    if type(result) is not ndarray:
        result = as_array(result)
    elif op.ordered and result.ndim > 1 and (op.ordered < 0 or not array.flags.c_contiguous):
        result = order_like(result, raws[:: op.ordered])
    return new_tensor(result)


def _apply_beside(op: Op, a: TensorBase, b: TensorBase, mode: Mode) -> Any:
    """The result on plain tensors, one of floats, one of booleans or 64-bit integers, which take
    the type of the floats where these have dimensions or neither has. Nothing of it is recorded.

    All else goes through `slow.py`.
    """
    raw_a = a._raw
    raw_b = b._raw
    floats = raw_a
    others = raw_b
    if raw_b.dtype is F32 or raw_b.dtype is F64:
        floats = raw_b
        others = raw_a
    kind = others.dtype
    if (
        (kind is not I64 and kind is not TRUTH)
        or (others.ndim and not floats.ndim)
        or not b._plain
        or op.promote == PROMOTE_NONE
        or not op.broadcasts
        or len(op.promote_at) != 2
        or not others.flags.c_contiguous
        or (
            mode.grad
            and op.records
            and (a._requires_grad or b._requires_grad or a._view is not None or b._view is not None)
        )
    ):
        return slow.apply(op, [a, b])
    try:
        found = others.astype(floats.dtype)
        if floats is raw_a:
            raw_b = found
        else:
            raw_a = found
        if op.check is not None:
            op.check([a, b], [raw_a, raw_b])
        result = op.small(raw_a, raw_b)
    except REFUSALS:
        return slow.apply(op, [a, b])  # explains
    if type(result) is not ndarray:
        result = as_array(result)
    elif op.ordered and result.ndim > 1 and (op.ordered < 0 or not floats.flags.c_contiguous):
        result = order_like(result, (raw_a, raw_b)[:: op.ordered])
    return new_tensor(result)


# What a number beside 64-bit integers may be without wrapping around.
BOUND: Final = 1 << 62


def _note_shapes(node: Node, shape: Any, shape_a: Any, shape_b: Any) -> None:
    node.special |= FIX
    node.fix = (
        None if shape_a == shape else (shape_a, None),
        None if shape_b == shape else (shape_b, None),
    )


def _apply_scalar(op: Op, a: TensorBase, b: Any, mode: Mode) -> Any:
    try:
        result = op.small(a._raw, b)
    except (MemoryError, ValueError) as error:
        raise refusal(error, (a._raw, b)) from None
    if type(result) is not ndarray:
        result = as_array(result)
    out = new_tensor(result)
    if mode.grad and op.records and (a._requires_grad or (a._view is not None and follows(a))):
        goal: Vertex | None
        if a._view is not None:
            goal = view_target(a)
        else:
            goal = a._node
            if goal is None:
                goal = a
        masks = op.masks
        node = new_node(
            op,
            (goal, None),
            (
                a if masks[0] & 1 else None,
                b if masks[1] & 1 else None,
                result if masks[2] & 1 else None,
            ),
        )
        cell = a._cell if a._view is None else a._view.base._cell
        if cell is not None and cell.n:
            node.versions = (cell.n, 0, 0)
        if a._nr:
            node.nrs = (a._nr, 0)
        out._node = node
        out._requires_grad = True
    return out


def apply_n(op: Op, args: Arguments) -> Any:
    """The result of any operation; `args` in schema order, defaults filled in."""
    if op.lone:
        return apply_lone(op, args)
    if op.direct:
        return apply_several(op, args)
    if op.is_view:
        if len(op.tensors) != 1:
            return slow.apply(op, args)
        if op.n_out == 1:
            return apply_view(op, args[0], tuple(args[1:]))
        return apply_pieces(op, args)
    if op.lists < 0:
        if op.n_out != 1:
            return apply_outputs(op, args)
        if op.broadcasts:
            return apply_mixed(op, args)
    return slow.apply(op, args)


def runner(op: Op) -> Any:
    """The function that `apply_n` hands the calls of `op` to."""
    if op.lone:
        return apply_lone
    if op.direct:
        return apply_several
    if op.is_view or op.lists >= 0:
        return apply_n
    if op.n_out != 1:
        return apply_outputs
    return apply_mixed if op.broadcasts else apply_n


def holds_numpy_number(values: Arguments) -> bool:
    """Whether one of some values is a number of NumPy's, which would decide a result's type."""
    for value in values:
        if isinstance(value, generic):
            return True
    return False


def apply_lone(op: Op, args: Arguments) -> Any:
    """The result of an operation on one tensor and further arguments that are no tensors."""
    a = args[0]
    mode: Mode = current()
    if not isinstance(a, TensorBase) or not a._plain or mode.slow:
        return slow.apply(op, args)
    array = a._raw
    dtype = array.dtype
    if dtype is not F32 and dtype is not F64:
        return _apply_discrete(op, args)
    args[0] = array
    try:
        result = run_small(op, args)
    except (MemoryError, ValueError) as error:
        raise refusal(error, args) from None
    args[0] = a
    if type(result) is not ndarray:
        result = as_array(result)
    if result.dtype is F64 and dtype is F32 and holds_numpy_number(args):
        return slow.apply(op, args)
    out = new_tensor(result)
    if (
        mode.grad
        and op.formulas[0] is not None
        and (a._requires_grad or (a._view is not None and follows(a)))
    ):
        if result.dtype is not dtype:
            slow.record(op, args, [array], [out], 1, mode, None)
            return out
        goal: Vertex | None
        if a._view is not None:
            goal = view_target(a)
        else:
            goal = a._node
            if goal is None:
                goal = a
        saved: list[Any] = []
        keeps_input = False
        masks = op.masks
        for k, entry in enumerate(op.entries):
            kind, pos, _ = entry
            if not masks[k]:
                saved.append(None)  # the layout of a simple operation, not what a formula reads
            elif kind == ARG:
                saved.append(args[pos])
                if pos == 0:
                    keeps_input = True
            elif kind == OUT:
                saved.append(result)
            elif kind == SHAPE:
                saved.append(array.shape)
            else:
                saved.append(slow.dtype_of_argument(a))
        node = new_node(op, (goal,), tuple(saved))
        if keeps_input:
            cell = a._cell if a._view is None else a._view.base._cell
            if cell is not None and cell.n:
                n = cell.n
                node.versions = tuple([n if e[0] == ARG and e[1] == 0 else 0 for e in op.entries])
        if a._nr:
            node.nrs = (a._nr,)
        out._node = node
        out._requires_grad = True
    return out


def apply_view(op: Op, a: TensorBase, args: Positional) -> Any:
    """The result of a view operation with one output; `args` are all its further arguments."""
    mode: Mode = current()
    if not a._plain or mode.slow:
        return slow.apply(op, [a, *args])
    array = a._raw
    small = op.small
    count = len(args)
    try:
        if count == 1:  # an unpacked tuple would be copied first, twice
            result = small(array, args[0])
        elif count == 2:
            result = small(array, args[0], args[1])
        elif count == 4:
            result = small(array, args[0], args[1], args[2], args[3])
        else:
            result = small(array, *args)
    except Exception as error:
        if mode.grad and a._view is not None:
            follows(a)  # a view that can't follow its base says so first
        raise refusal(error, args[0] if args and type(args[0]) is tuple else (array,)) from None
    out = new_tensor(result)
    parent = a._view
    base = a
    before: Step | None = None
    creation = DEFAULT
    if parent is not None and parent.tracked:
        base = parent.base
        before = parent.replay
        creation = parent.creation
    if not mode.grad and creation != IN_INFERENCE:
        creation = IN_NO_GRAD
    cell = base._cell
    view = View(base, Step(op, args, -1, before), creation, 0 if cell is None else cell.n)
    if (result.dtype is not array.dtype and result.dtype != array.dtype) or (
        parent is not None and parent.exact
    ):
        make_exact(view, out, a, False)
    out._view = view
    if (
        mode.grad
        and op.formulas[0] is not None
        and (a._requires_grad or (a._view is not None and follows(a)))
    ):
        goal: Vertex | None
        if parent is not None:
            goal = view_target(a)
        else:
            goal = a._node
            if goal is None:
                goal = a
        node = new_node(op, (goal,), _view_saved(op, args, array))
        if a._nr:
            node.nrs = (a._nr,)
        out._node = node
        out._requires_grad = True
    return out


def apply_pieces(op: Op, args: Arguments) -> Any:
    """The results of an operation whose outputs are several views (split, unbind)."""
    mode: Mode = current()
    a = args[0]
    if mode.slow or not isinstance(a, TensorBase) or not a._plain:
        return slow.apply(op, args)
    parent = a._view
    base = a
    before: Step | None = None
    creation = MULTI_OUTPUT if mode.grad else IN_NO_GRAD
    if parent is not None and parent.tracked:
        if parent.exact:
            return slow.apply(op, args)
        base = parent.base
        before = parent.replay
        if parent.creation == IN_INFERENCE:
            creation = IN_INFERENCE
    array = a._raw
    rest = tuple(args[1:])
    raws = args[:]
    raws[0] = array
    try:
        results = run_small(op, raws)
    except REFUSALS:
        return slow.apply(op, args)  # explains
    stamp = version_of(base)
    outs: list[TensorBase] = []
    k = 0
    for result in results:
        out = new_tensor(result)
        out._view = View(base, Step(op, rest, k, before), creation, stamp)
        outs.append(out)
        k += 1
    if mode.grad:
        live = slow.live_mask(op, args)
        if live:
            slow.record(op, args, raws, outs, live, mode, None)
    return tuple(outs) if op.returns is None else op.returns(outs)


def _view_saved(op: Op, args: Positional, array: Array) -> tuple[Any, ...]:
    """What a view's formula reads: arguments and the source's shape, never an array."""
    if op.simple:
        return NOTHING
    entries = op.entries
    if not entries:
        return ()
    saved: list[Any] = []
    for entry in entries:
        kind = entry[0]
        if kind == ARG:
            saved.append(args[entry[1] - 1])
        elif kind == SHAPE:
            saved.append(array.shape)
        else:
            saved.append(slow.dtype_of_array(array))
    return tuple(saved)


def apply_list(op: Op, tensors: Arguments, rest: tuple[Any, ...]) -> Any:
    """The result of an operation on a list of tensors, with a joint formula (cat, stack)."""
    mode: Mode = current()
    if mode.slow:
        return slow.apply(op, [tensors, *rest])
    arrays: list[Any] = []
    live = False
    for t in tensors:
        if not isinstance(t, TensorBase) or not t._plain:
            return slow.apply(op, [tensors, *rest])
        array = t._raw
        dtype = array.dtype
        if dtype is not F32 and dtype is not F64 and dtype is not I64 and dtype is not TRUTH:
            return slow.apply(op, [tensors, *rest])
        arrays.append(array)
        if t._requires_grad or (mode.grad and t._view is not None and follows(t)):
            live = True
    try:
        result = op.small(arrays, rest[0]) if len(rest) == 1 else op.small(arrays, *rest)
    except (MemoryError, ValueError) as error:
        raise refusal(error, (arrays, *rest)) from None
    out = new_tensor(result)
    if live and mode.grad:
        dtype = result.dtype
        for array in arrays:
            if array.dtype is not dtype:  # gradients must be converted back
                slow.record(op, [tensors, *rest], [arrays, *rest], [out], 1, mode, None)
                return out
        goals: list[Vertex | None] = []
        nrs: list[int] = []
        several = False
        for t in tensors:
            goal: Vertex | None = None
            nr = 0
            if t._view is not None or t._requires_grad:
                goal = view_target(t)
                nr = t._nr
                if nr:
                    several = True
            goals.append(goal)
            nrs.append(nr)
        saved: list[Any] = []
        for entry in op.entries:
            saved.append(
                rest[entry[1] - 1] if entry[0] == ARG else [array.shape for array in arrays]
            )
        node = new_node(op, tuple(goals), tuple(saved))
        if several:
            node.nrs = tuple(nrs)
        out._node = node
        out._requires_grad = True
    return out
