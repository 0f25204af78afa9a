"""Forward mode: dual tensors, which carry a tangent along with their elements.

Note [Tangents of operations]
A dual tensor is never `_plain`, so every operation on it takes the slow path, which calls `carry`
when the result is there. The kind of the row says how tangents go through:
    elementwise   the formulas themselves, on the tangent: the Jacobian is diagonal, so it is its
    own
                  transpose
    linear        the operation on the tangents
    multilinear   the sum of the operation with one operand after the other replaced by its tangent
and for everything else J t is the derivative of <Jᵀu, t> by u: two backward passes, no rule needed.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from .._array import types as T
from .._core import engine, slow
from .._core.hooks import wrapped
from .._core.inplace import apply_inplace
from .._core.mode import CURRENT, ready, replaced
from .._core.op import CALL_G, CALL_G_SAVED, PICK_G, Op
from .._core.saved import TANGENTS
from .._core.storage import TensorBase, new_tensor
from .._core.views import replay
from .backward import grad as gradient


class Level:
    """The extent of a forward-mode computation; tangents die with it."""

    __slots__ = ("alive", "nodes")

    def __init__(self) -> None:
        self.alive = True
        self.nodes: list[Any] = []  # nodes that hold tangents of their saved outputs


class Tangent:
    """A tangent, and the level that it belongs to."""

    __slots__ = ("level", "value")

    def __init__(self, level: Level, value: Any) -> None:
        self.level = level
        self.value = value


_levels: Final[list[Level]] = []


def level_is_open() -> bool:
    """Whether there can be tangents at all."""
    return bool(_levels)


def tangent_of(t: TensorBase) -> Any:
    """The tangent of `t`, a Tensor; None where it has none."""
    found = t._tangent
    return found.value if found is not None and found.level.alive else None


def set_tangent(t: TensorBase, value: Any) -> None:
    """Gives `t` a tangent at the current level (or takes it away: None)."""
    if value is None or not _levels:
        t._tangent = None
        return
    t._tangent = Tangent(_levels[-1], value)
    t._plain = False


# ---- the public side -----------------------------------------------------------------------------


class UnpackedDualTensor(NamedTuple):
    """The two parts of a dual tensor."""

    primal: Any
    tangent: Any


def enter_dual_level() -> int:
    """Begins a level of forward mode; returns its number.

    Raises:
        RuntimeError: inside another level.
    """
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append(Level())
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends a level: all its tangents are gone.

    Raises:
        RuntimeError: where there is no level, or `level` isn't the current one.
    """
    current = len(_levels) - 1
    if level is None:
        level = current
    if level != current:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            "not "
            "supported."
        )
    if level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    gone = _levels.pop()
    gone.alive = False
    for node in gone.nodes:
        if node.meta is not None:
            node.meta.pop(TANGENTS, None)


class dual_level:
    """A context for forward mode, in which `make_dual` and `unpack_dual` work."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """A view of `tensor` that carries `tangent`.

    Raises:
        RuntimeError: outside a level; for a tangent of another size; where there is a tangent
            already.
        ValueError: for element types without derivatives.
    """
    if not _levels:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {t.dtype}")
    if tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            "same level "
            "0 is not supported."
        )
    if tensor._raw.shape != tangent._raw.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(tensor._raw.shape)} while the "
            "given "
            f"forward gradient is of size {list(tangent._raw.shape)}."
        )
    dual = tensor.view(tensor._raw.shape)
    set_tangent(dual, tangent)
    return dual


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The elements and the tangent of a dual tensor; the tangent is None where there is none."""
    if not _levels or not isinstance(tensor, TensorBase):
        return UnpackedDualTensor(tensor, None)
    tangent = tangent_of(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    with _set_fwd_grad_enabled(False):
        return UnpackedDualTensor(tensor.view(tensor._raw.shape), tangent)  # type: ignore[attr-defined]


class _set_fwd_grad_enabled:
    """Switches forward mode on or off, at once; as a context, until its end."""

    def __init__(self, mode: bool) -> None:
        self.prev = ready().forward_grad
        CURRENT.set(replaced(ready(), forward_grad=mode))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        CURRENT.set(replaced(ready(), forward_grad=self.prev))


def _is_fwd_grad_enabled() -> bool:
    """Whether operations carry tangents."""
    return ready().forward_grad


# ---- tangents of operations ----------------------------------------------------------------------


def carry(op: Op, args: list[Any], outs: list[Any]) -> None:
    """Gives the results of an operation on dual tensors their tangents."""
    if not _levels or all(T.is_discrete(o._raw.dtype) for o in outs):
        return
    tangents = _tangents(op, args)
    if not tangents:
        return
    mode = ready()
    token = CURRENT.set(replaced(mode, forward_grad=False, saved_hooks=(), anomaly=False))
    try:
        found = _carried(op, args, outs, tangents, mode.grad)
    finally:
        CURRENT.reset(token)
    for k, (o, t) in enumerate(zip(outs, found)):
        if t is None or T.is_discrete(o._raw.dtype):
            continue
        if t._raw.dtype != o._raw.dtype:
            t = engine.WORLDS.traced.to_dtype(t, o._raw.dtype)
        set_tangent(o, t)
        node = o._node
        if node is not None and node.op.saves_out:
            if node.meta is None:
                node.meta = {}
            node.meta.setdefault(TANGENTS, {})[k] = o._tangent
            _levels[-1].nodes.append(node)


def _tangents(op: Op, args: list[Any]) -> dict[Any, Any]:
    """The live tangents by argument position; by (position, index) inside a list of tensors."""
    found: dict[Any, Any] = {}
    for pos in op.tensors:
        if isinstance(args[pos], TensorBase):
            t = tangent_of(args[pos])
            if t is not None:
                found[pos] = t
    if op.lists >= 0:
        for k, item in enumerate(args[op.lists]):
            if isinstance(item, TensorBase):
                t = tangent_of(item)
                if t is not None:
                    found[(op.lists, k)] = t
    return found


def _carried(
    op: Op, args: list[Any], outs: list[Any], tangents: dict[Any, Any], grad: bool
) -> list[Any]:
    kind = op.row.kind if op.row is not None else op.kind
    complex_ = any(o._raw.dtype.kind == "c" for o in outs) or any(
        isinstance(a, TensorBase) and a._raw.dtype.kind == "c" for a in args
    )
    if op.is_view or (kind == "linear" and op.holomorphic and not _has_number(op)):
        result = slow.apply(op, _replaced(op, args, tangents, zeros=True))
        return [result] if op.n_out == 1 else list(result)
    if kind == "elementwise" and op.joint is None and (op.holomorphic or not complex_):
        return [_by_formulas(op, args, outs, tangents, grad)]
    # Three operands: one of them is added to the product of the others, as in addmm.
    operands = sum(isinstance(args[pos], TensorBase) for pos in op.tensors)
    if kind == "multilinear" and op.lists < 0 and op.n_out == 1 and operands <= 2:
        total: Any = None
        for pos, t in tangents.items():
            if op.joint is None and op.formulas[op.tensors.index(pos)] is None:
                continue
            part = slow.apply(op, [t if i == pos else a for i, a in enumerate(args)])
            total = part if total is None else total + part
        return [total]
    return _by_two_backwards(op, args, outs, tangents, grad)


def _has_number(op: Op) -> bool:
    """Whether a number among the arguments may be written into the result, as in masked_fill."""
    return op.row is not None and any(p.type in ("Scalar", "float") for p in op.row.schema.params)


def _replaced(op: Op, args: list[Any], tangents: dict[Any, Any], zeros: bool) -> list[Any]:
    """The arguments with tangents in place of the differentiable tensors."""
    result = list(args)
    first = 1 if op.lists >= 0 else 0
    for i, pos in enumerate(op.tensors):
        a = args[pos]
        if not isinstance(a, TensorBase):
            continue
        if op.joint is None and op.formulas[first + i] is None and not op.is_view:
            continue
        t = tangents.get(pos)
        result[pos] = new_tensor(T.zeros_like(a._raw)) if t is None and zeros else t
    if op.lists >= 0:
        result[op.lists] = [
            tangents.get((op.lists, k))
            if (op.lists, k) in tangents
            else new_tensor(T.zeros_like(a._raw))
            for k, a in enumerate(args[op.lists])
        ]
    return result


def _by_formulas(
    op: Op, args: list[Any], outs: list[Any], tangents: dict[Any, Any], grad: bool
) -> Any:
    out = outs[0]
    raws = [slow.to_raw(a) for a in args]
    everything = -1
    mode = ready()
    node = slow.make_node(op, args, raws, outs, everything, mode, None)
    traced = grad and (out._requires_grad or any(t._requires_grad for t in tangents.values()))
    total: Any = None
    for i, pos in enumerate(op.tensors):
        t = tangents.get(pos)
        if t is None or op.formulas[i] is None:
            continue
        if t._raw.shape != out._raw.shape:
            t = t.expand(out._raw.shape)
        if t._raw.dtype != out._raw.dtype:
            t = engine.WORLDS.traced.to_dtype(t, out._raw.dtype)
        picks: Any = op.picks[i]
        if op.forms[i] == CALL_G:
            picks = (PICK_G,)
        elif op.forms[i] == CALL_G_SAVED:
            picks = (PICK_G, picks)
        g = t if traced else t._raw
        part = engine.call_formula(node, op.formulas[i], picks, g, None, traced)
        total = part if total is None else total + part
    return wrapped(total, traced)


def _by_two_backwards(op: Op, args: list[Any], outs: list[Any], tangents: dict[Any, Any],
                      grad: bool) -> list[Any]:  # fmt: skip
    token = CURRENT.set(replaced(ready(), grad=True))
    try:
        again = list(args)
        starts: list[Any] = []
        for key in tangents:
            a = args[key] if isinstance(key, int) else args[key[0]][key[1]]
            if grad and a._requires_grad:
                start = engine.WORLDS.traced.clone(a)
            else:
                start = new_tensor(a._raw)
                start._requires_grad = True
            starts.append(start)
            if isinstance(key, int):
                again[key] = start
            else:
                again[key[0]] = [start if k == key[1] else x for k, x in enumerate(again[key[0]])]
        results = slow.apply(op, again)
        results = [results] if op.n_out == 1 else list(results)
        live = [r for r in results if r._requires_grad]
        if not live:
            return [None] * len(outs)
        seeds = []
        for r in live:
            u = new_tensor(T.zeros_like(r._raw))
            u._requires_grad = True
            seeds.append(u)
        pulled = gradient(live, starts, seeds, create_graph=True, allow_unused=True)
        pairs = [
            (v, t) for v, t in zip(pulled, tangents.values()) if v is not None and v._requires_grad
        ]
        if pairs:
            found = gradient([v for v, _ in pairs], seeds, [t for _, t in pairs], create_graph=grad,
                             allow_unused=True)  # fmt: skip
        else:
            found = tuple([None] * len(seeds))
        by_result = {id(r): t for r, t in zip(live, found)}
        needs = grad and any(
            isinstance(x, TensorBase) and x._requires_grad
            for x in list(args) + list(tangents.values())
        )
        return [
            _settled(by_result.get(id(r)), r, needs) if r._requires_grad else None for r in results
        ]
    finally:
        CURRENT.reset(token)


def _settled(t: Any, r: Any, needs: bool) -> Any:
    if t is None:
        return new_tensor(T.zeros_like(r._raw))
    return t if needs else t.detach()


def carry_inplace(op: Op, args: list[Any]) -> Any:
    """An in-place operation where the tensor written, or what is written, has a tangent."""
    me = args[0]
    mode = ready()
    if not _tangents(op, args):
        token = CURRENT.set(replaced(mode, forward_grad=False))
        try:
            return apply_inplace(op, args)
        finally:
            CURRENT.reset(token)
    token = CURRENT.set(replaced(mode, saved_hooks=()))
    try:
        fresh = slow.apply(op, list(args))
        tangent = tangent_of(fresh)
    finally:
        CURRENT.reset(token)
    token = CURRENT.set(replaced(mode, forward_grad=False))
    try:
        apply_inplace(op, args)
        if tangent is None:
            tangent = new_tensor(T.zeros_like(me._raw))
        _write_tangent(me, tangent)
    finally:
        CURRENT.reset(token)
    return me


def _write_tangent(me: Any, tangent: Any) -> None:
    """Gives a tensor that was written a tangent; a view's lies inside its base's."""
    view = me._view
    if view is None or not view.tracked:
        set_tangent(me, tangent)
        return
    base = view.base
    whole = tangent_of(base)
    if whole is None:
        whole = new_tensor(T.zeros_like(base._raw))
    elif not whole._plain or whole._node is None:
        whole = engine.WORLDS.traced.clone(whole)
    part = replay(view.replay, whole, True)
    part.copy_(tangent)
    set_tangent(base, whole)
    set_tangent(me, part)


slow.HANDLERS.tangent = carry
slow.HANDLERS.tangent_inplace = carry_inplace

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
           "unpack_dual"]  # fmt: skip
