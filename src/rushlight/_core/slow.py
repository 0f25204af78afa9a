"""Calling an operation: the path that can do everything.

Interposers, promotion, scalars, lists of tensors, several outputs, views, saved-tensor hooks,
anomaly mode, inference tensors and tangents are handled here, once, in this order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._array.memory import dense_layout as dense
from .._array.memory.aliasing import memory_of
from .._array.memory.out_of_memory import refusal
from .._array.types import ndarray as _ndarray
from .._base import dtypes as D, errors
from .interposers import CALL, FAILED, NOT_HANDLED, elements_of
from .mode import Mode, current, ready
from .node import FIX, GENERAL, Node, Vertex, new_node
from .op import ARG, OUT, PROMOTE_FLOAT, PROMOTE_NONE, SHAPE, Op, run_small
from .promotion import promote as promote, refuse_shapes
from .run import ANOMALY, TRANSFORMS
from .saved import pack, pack_outputs
from .storage import TensorBase, bump, new_tensor, version_cell, version_of
from .views import attach_view, follows, view_target

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._base.annotations import Arguments

ndarray: Final = _ndarray
F32: Final[object] = T.FLOAT32
F64: Final[object] = T.FLOAT64
I64: Final[object] = T.INT64
TRUTH: Final[object] = T.BOOL


class Errors:
    """What is said of failures; handed in by the layers above."""

    __slots__ = ("explain",)

    explain: Any  # (op, args, error, in place?) -> PyTorch's exception, or None: let it through

    def __init__(self) -> None:
        self.explain = None


class Tangents:
    """What forward mode does beside a call; handed in by the layers above."""

    __slots__ = ("carry", "copy", "find", "note_view")

    carry: Any  # (op, args, outs) -> None: gives the results their tangents
    find: Any  # (tensor) -> its tangent or None
    copy: Any  # (copy, tensor) -> None: the copy gets a copy of the tensor's tangent
    note_view: Any  # (out, source, op, args, index) -> None: notes whose tangent it is part of

    def __init__(self) -> None:
        self.carry = None
        self.find = None
        self.copy = None
        self.note_view = None


class Narrow:
    """How operations run once there are types that are only stored; handed in from above."""

    __slots__ = ("forward",)

    forward: Any  # (op, raws) -> what `op.raw` gives

    def __init__(self) -> None:
        self.forward = None


ERRORS: Final = Errors()
NARROW: Final = Narrow()
TANGENTS: Final = Tangents()
# A bit beside those of the arguments: the call is recorded for one that requires grad only because
# its base does, which gets no edge.
NO_EDGE: Final = 1 << 60


def holds(test: Any, t: TensorBase) -> bool:
    """Whether a test of a tensor's elements is true; a step that is recorded branches on it."""
    return bool(test(t._raw if current().recorder is None else t))


def read_by_python(t: TensorBase, how: str) -> Any:
    """The array of a tensor whose elements become Python numbers: no program can hold that."""
    recorder = current().recorder
    if recorder is not None:
        recorder.read(t, how, None)
    return elements_of(t) if t._layered else t._raw


def as_array(value: Any) -> Any:
    """`value` as an ndarray: NumPy returns scalars where a result has no dimensions."""
    return T.as_array(value)


def _usual(t: TensorBase) -> bool:
    """Whether a tensor has neither a tangent nor rules of its own, and an array of a usual type."""
    raw = t._raw
    if type(raw) is not ndarray or not (t._plain or not (t._layered or may_have_tangent(t))):
        return False
    dtype = raw.dtype
    return dtype is F32 or dtype is F64 or dtype is I64 or dtype is TRUTH


def _infer(op: Op, args: Arguments, mode: Mode) -> object:
    """What `apply` gives, where inference mode alone is on: of the usual arrays, whose type is that
    of the result, and which have no tangents. NOT_HANDLED where something is unusual, or fails.
    """
    raws: list[Any] = args[:]
    k = 0
    for arg in args:
        if isinstance(arg, TensorBase):
            if not _usual(arg):
                return NOT_HANDLED
            raws[k] = arg._raw
        elif type(arg) is list or type(arg) is tuple:
            arrays: list[Array] = []
            for item in arg:
                if isinstance(item, TensorBase):
                    if k != op.lists or not _usual(item):
                        return NOT_HANDLED
                    arrays.append(item._raw)
            if arrays and len(arrays) != len(arg):
                return NOT_HANDLED
            raws[k] = arrays or arg
        elif isinstance(arg, (T.ndarray, T.generic)):
            return NOT_HANDLED
        k += 1
    if op.promote != PROMOTE_NONE:
        common: object = None
        number = op.promote == PROMOTE_FLOAT
        for pos in op.promote_at:
            raw = raws[pos]
            if type(raw) is ndarray:
                if common is not None and common is not raw.dtype:
                    return NOT_HANDLED
                common = raw.dtype
            elif type(raw) is list:
                for array in raw:
                    if common is not None and common is not array.dtype:
                        return NOT_HANDLED
                    common = array.dtype
            elif raw is not None:
                if pos != 1 or len(args) != 2 or not op.broadcasts:
                    return NOT_HANDLED
                if type(raw) is not float and (type(raw) is not int or abs(raw) >= 1 << 63):
                    return NOT_HANDLED
                number = True
        if common is None or (number and common is not F32 and common is not F64):
            return NOT_HANDLED
    try:
        if op.check is not None:
            op.check(args, raws)
        result = run_small(op, raws)
    except errors.REFUSALS:
        return NOT_HANDLED
    if op.n_out == 1 and not op.is_view:
        if type(result) is not ndarray:
            result = T.as_array(result)
        elif op.ordered and result.ndim > 1:
            result = dense.order_like(result, raws[:: op.ordered])
        out = new_tensor(result)
        out._inference = True
        out._plain = False
        return out
    outs = wrap(op, args, result, mode)
    if op.n_out == 1:
        return outs[0]
    return tuple(outs) if op.returns is None else op.returns(outs)


def apply(op: Op, args: Arguments) -> Any:
    """The result of `op` on `args` (schema order, defaults filled in)."""
    mode = ready()
    if mode.infers:
        found = _infer(op, args, mode)
        if found is not NOT_HANDLED:
            return found
    layered = False
    tangents = False
    unseen = False
    numpys = False
    for arg in args:
        if isinstance(arg, TensorBase):
            if not arg._plain:
                if arg._inference:
                    unseen = True
                if may_have_tangent(arg):
                    tangents = True
                if arg._layered:
                    layered = True
        elif type(arg) is list or type(arg) is tuple:
            for item in arg:
                if isinstance(item, TensorBase) and not item._plain:
                    if item._inference:
                        unseen = True
                    if may_have_tangent(item):
                        tangents = True
                    if item._layered:
                        layered = True
        elif isinstance(arg, (T.ndarray, T.generic)):
            if isinstance(arg, (float, complex)):
                numpys = True
            elif ERRORS.explain is not None:
                refused = ERRORS.explain(op, args, TypeError(), False)
                if refused is not None:
                    raise refused
    if numpys:  # NumPy's numbers would decide the type of a gradient
        args = [T.python_number(a) if isinstance(a, T.generic) else a for a in args]
    if mode.interposed or layered:
        args = list(args)
        for interposer in CALL:
            handled = interposer.call(op, args, mode, layered)
            if handled is not NOT_HANDLED:
                return handled
    raws = [to_raw(arg) for arg in args]
    if mode.recorder is not None:
        raws = mode.recorder.bare(raws)
    promoted: D.dtype | None = None
    if op.promote != PROMOTE_NONE:
        promoted = promote(op, args, raws)
    if op.check is not None:
        try:
            op.check(args, raws)
        except NotImplementedError as error:
            if op.broadcasts and errors.says_not_implemented(error):
                refuse_shapes(raws)  # these PyTorch looks at first
            raise
    try:
        results = forward(op, raws)
        if promoted is not None and op.wide and T.is_half(T.to_raw(promoted)):
            results = T.narrow_result(results, promoted)
            if mode.recorder is not None:
                mode.recorder.refuse("16-bit floats are multiplied by a number")
        plain = results
        if op.ordered and type(results) is ndarray:
            results = dense.order_like(results, raws[:: op.ordered])
    except Exception as error:
        if refusal(error, raws) is not error:  # in no variable: a cycle
            raise refusal(error, raws) from None
        for interposer in FAILED:
            handled = interposer.explain_failure(op, args, error)
            if handled is not NOT_HANDLED:
                return handled
        if mode.grad and not mode.inference:
            # What can't be recorded says so first: a view that can't follow its base, too.
            live = live_mask(op, args)
            if live and unseen and not only_inference(op, args):
                refuse_unsaved(op, args, live)
        if op.broadcasts and errors.says_not_implemented(error):
            refuse_shapes(raws)  # these PyTorch looks at first
        if ERRORS.explain is None:
            raise
        better = ERRORS.explain(op, args, error, False)
        if better is None:
            raise
        try:
            raise better from None
        finally:
            del better  # its traceback holds this frame
    outs = wrap(op, args, results, mode)
    if mode.recorder is not None:
        mode.recorder.note_call(op, args, raws, outs, None if results is plain else plain)
    if mode.grad and not mode.inference:
        live = live_mask(op, args)
        if live and not (unseen and only_inference(op, args)):
            record(op, args, raws, outs, live, mode, promoted)
    if unseen and not mode.inference and op.copies:
        bump(outs[0])  # PyTorch writes the copy of an inference tensor in place
    if tangents and mode.forward_grad and TANGENTS.carry is not None:
        TANGENTS.carry(op, args, outs)
    if op.n_out == 1:
        return outs[0]
    return tuple(outs) if op.returns is None else op.returns(outs)


def forward(op: Op, raws: Arguments) -> Any:
    """The raw results of an operation; see Note [Stored narrow]."""
    if T.Narrow.loaded:
        return NARROW.forward(op, raws)
    return op.small(*raws)


def only_inference(op: Op, args: Arguments) -> bool:
    """Whether an operation reads nothing but inference tensors: then autograd doesn't see it.

    A number in the place of a tensor counts as an ordinary tensor; a copy is one.
    """
    if op.copies:
        return False
    for pos in op.tensors + op.constants:
        arg = args[pos]
        if isinstance(arg, TensorBase):
            if not arg._inference:
                return False
        elif arg is not None:
            return False
    if op.lists >= 0:
        for item in args[op.lists]:
            if isinstance(item, TensorBase) and not item._inference:
                return False
    return True


def may_have_tangent(t: TensorBase) -> bool:
    """Whether `t` has a tangent, or is a view of a tensor that has one."""
    if t._tangent is not None:
        return True
    view = t._view
    return view is not None and view.tracked and view.base._tangent is not None


def to_raw(arg: Any) -> Any:
    """An argument as raw forwards take it: tensors (also inside lists) become arrays."""
    if isinstance(arg, TensorBase):
        return arg._raw
    if type(arg) is list or type(arg) is tuple:
        for item in arg:
            if isinstance(item, TensorBase):
                return [x._raw if isinstance(x, TensorBase) else x for x in arg]
    return arg


def _show_first(args: Arguments, arrays: list[Any]) -> bool:
    """Whether results are the first argument's memory, as those of `unsafe_split` are."""
    first = args[0] if args and arrays and type(arrays[0]) is ndarray else None
    return isinstance(first, TensorBase) and memory_of(arrays[0]) is memory_of(first._raw)


def wrap(op: Op, args: Arguments, results: Any, mode: Mode) -> list[TensorBase]:
    """Tensors over the raw results; views are tied to the first argument."""
    arrays: list[Any] = [results] if op.n_out == 1 else list(results)
    outs: list[TensorBase] = []
    are_views = op.is_view or (mode.inference and op.n_out != 1 and _show_first(args, arrays))
    for array in arrays:
        if type(array) is not ndarray:
            array = T.as_array(array)
        out = new_tensor(array)
        if mode.inference and not are_views:
            out._inference = True
            out._plain = False
        outs.append(out)
    if are_views:
        source, rest = args[0], tuple(args[1:])
        for k, out in enumerate(outs):
            attach_view(out, source, op, rest, -1 if op.n_out == 1 else k)
            if mode.dual:  # a later write may give the base a tangent, and so this view
                out._plain = False
                TANGENTS.note_view(out, source, op, rest, -1 if op.n_out == 1 else k)
            if source._inference:
                out._inference = True
                out._plain = False
    elif _show_first(args, arrays) and args[0]._inference:
        for out in outs:
            out._inference = True
            out._plain = False
    return outs


def live_mask(op: Op, args: Arguments) -> int:
    """Bit `pos` is set where the argument at `pos` wants a gradient that `op` can give.

    `NO_EDGE` is set where an argument is recorded but has nowhere to send a gradient.
    """
    live = 0
    joint = op.joint is not None
    for i, pos in enumerate(op.tensors):
        arg = args[pos]
        if (
            isinstance(arg, TensorBase)
            and (joint or op.formulas[i] is not None)
            and (arg._requires_grad if arg._view is None else (follows(arg) or arg._requires_grad))
        ):
            live |= 1 << pos if arg._requires_grad else NO_EDGE
    if op.lists >= 0:
        for item in args[op.lists]:
            if isinstance(item, TensorBase) and (
                item._requires_grad or (item._view is not None and follows(item))
            ):
                live |= 1 << op.lists
                break
    return live


def record(op: Op, args: Arguments, raws: Arguments, outs: list[TensorBase], live: int, mode: Mode,
           promoted: D.dtype | None) -> Node:  # fmt: skip
    """Makes the node of one call and ties the outputs to it."""
    node = make_node(op, args, raws, outs, live, mode, promoted)
    finish(node, op, outs, mode)
    if mode.saved_hooks and op.saves_out and not mode.saved_hooks_off:
        pack_outputs(node, outs, mode.saved_hooks[-1])
    return node


def inputs_of(op: Op, args: Arguments) -> list[Any]:
    """The operands that have an edge, in edge order: a list's tensors first, then single ones."""
    inputs: list[Any] = []
    if op.lists >= 0:
        inputs.extend(args[op.lists])
    for pos in op.tensors:
        inputs.append(args[pos])
    return inputs


def make_node(op: Op, args: Arguments, raws: Arguments, outs: list[TensorBase], live: int,
              mode: Mode, promoted: D.dtype | None) -> Node:  # fmt: skip
    """A node with edges to the live inputs and with what their formulas will read."""
    inputs = inputs_of(op, args)
    goals: list[Vertex | None] = []
    nrs: list[int] = []
    several = False
    joint = op.joint is not None
    for i, x in enumerate(inputs):
        goal: Vertex | None = None
        nr = 0
        if (
            isinstance(x, TensorBase)
            and (x._requires_grad or x._view is not None)
            and (joint or op.lists >= 0 or op.formulas[i] is not None)
        ):
            goal = view_target(x)
            nr = x._nr
            if nr:
                several = True
        goals.append(goal)
        nrs.append(nr)
    saved: list[Any] = []
    versions: list[int] = []
    versioned = False
    packing = bool(mode.saved_hooks) and not mode.saved_hooks_off
    for k, entry in enumerate(op.entries):
        kind, pos, _ = entry
        value: Any = None
        version = 0
        if op.masks[k] & live:
            if kind == ARG:
                value = args[pos]
                if isinstance(value, TensorBase):
                    version = check_saved(value)
                elif type(value) is list or type(value) is tuple:
                    value = tuple(value)
                    for item in value:
                        if isinstance(item, TensorBase):
                            check_saved(item)
            elif kind == OUT:
                value = outs[pos]._raw if op.n_out >= 0 else None
                version = version_of(outs[pos]) if op.n_out >= 0 else 0
            elif kind == SHAPE:
                array = raws[pos]
                value = (
                    [x.shape for x in array]
                    if type(array) is list
                    else (None if array is None else array.shape)
                )
            else:
                value = dtype_of_argument(args[pos])
        saved.append(value)
        versions.append(version)
        if version:
            versioned = True
    node = new_node(op, tuple(goals), tuple(saved))
    if several:
        node.nrs = tuple(nrs)
    if versioned:
        node.versions = tuple(versions)
    note_fix(node, op, inputs, outs, promoted, packing)
    if packing:
        pack(node, mode.saved_hooks[-1])
    return node


def dtype_of_array(array: Array) -> Any:
    """The dtype of an array's elements."""
    return T.from_raw(array.dtype)


def dtype_of_argument(arg: Any) -> Any:
    """The dtype of a tensor argument, a list of them for a list, None for anything else."""
    if isinstance(arg, TensorBase):
        return T.from_raw(arg._raw.dtype)
    if type(arg) is list or type(arg) is tuple:
        return [dtype_of_argument(item) for item in arg]
    return None


def check_saved(t: TensorBase) -> int:
    """The version of a tensor about to be saved.

    Raises:
        RuntimeError: for an inference tensor, but in the derivative of a function.
    """
    if t._inference and not TRANSFORMS.get():
        raise RuntimeError(errors.INFERENCE_SAVED)
    return version_of(t)


def refuse_unsaved(op: Op, args: Arguments, live: int) -> None:
    """Refuses inference tensors that a node would save.

    Raises:
        RuntimeError: where there is one.
    """
    for (kind, pos, _), mask in zip(op.entries, op.masks):
        if kind == ARG and mask & live:
            given = args[pos]
            for t in given if type(given) is list or type(given) is tuple else (given,):
                if isinstance(t, TensorBase):
                    check_saved(t)


def note_fix(node: Node, op: Op, inputs: Arguments, outs: list[TensorBase],
             promoted: D.dtype | None, packing: bool) -> None:  # fmt: skip
    """Notes where a gradient's shape or dtype may differ from its input's: any, with hooks."""
    out: Any = outs[0]._raw if outs else None
    out_dtype = None if out is None else out.dtype
    is_complex = out is not None and out.dtype.kind in "cW"
    fixes: list[Any] = []
    needed = False
    mixed = promoted is not None or any(
        isinstance(x, TensorBase) and x._raw.dtype != out_dtype for x in inputs
    )
    for i, goal in enumerate(node.next):
        if goal is None:
            fixes.append(None)
            continue
        array = inputs[i]._raw
        shape = array.shape if op.broadcasts and array.shape != out.shape else None
        dtype = array.dtype if mixed else None
        if array.dtype.kind in "VW":
            dtype = array.dtype  # NumPy's results with bfloat16 are float32 where it is mixed
        if array.dtype.kind in "cW":
            is_complex = True
        if packing:
            shape, dtype = array.shape, array.dtype
        if shape is None and dtype is None:
            fixes.append(None)
        else:
            fixes.append((shape, dtype))
            needed = True
    if needed:
        node.fix = tuple(fixes)
        node.special |= FIX
    if promoted is not None:
        node.special |= GENERAL
        node.meta = {"promoted": promoted}
    if op.real_only and out_dtype is not None and out_dtype.kind in "cW":
        raise RuntimeError(errors.real_only(op.real_only))
    if is_complex and op.holomorphic:
        node.special |= GENERAL
        node.conj = True


def _watch(node: Node, op: Op, out: TensorBase, k: int) -> None:
    """Has the node count the writes into an output that is saved and doesn't lead to it."""
    for kind, place, _ in op.entries:
        if kind == OUT and place == k:
            if node.out_cells is None:
                node.out_cells = {}
            node.out_cells[k] = version_cell(out)


def finish(node: Node, op: Op, outs: list[TensorBase], mode: Mode) -> None:
    """Ties the outputs to their node."""
    several = op.n_out != 1
    if several:
        node.out_meta = tuple([(o._raw.shape, o._raw.dtype) for o in outs])
    flags = op.differentiable_out
    for k, out in enumerate(outs):
        if flags and not flags[k]:
            if op.saves_out:
                _watch(node, op, out, k)
            continue
        if T.is_discrete(out._raw.dtype):
            if flags or several:
                if op.saves_out:
                    _watch(node, op, out, k)
                continue
            raise RuntimeError(
                f"Autograd not support dtype: {D.scalar_name(T.from_raw(out._raw.dtype))}"
            )
        out._node = node
        out._nr = k + 1 if several else 0
        out._requires_grad = True
    if mode.anomaly and ANOMALY.trace is not None:
        ANOMALY.trace(node)
