"""How tangents go through operations.

Note [Tangents of operations]
A dual tensor is never `_plain`, so every operation on it takes the slow path, which calls `carry`
when the result is there. A row may bring a rule of its own, `jvp`. Otherwise its kind says how
tangents go through:
    elementwise   the formulas themselves, on the tangent: the Jacobian is diagonal, so it is its
                  own transpose
    linear        the operation on the tangents
    multilinear   the sum of the operation with one operand after the other replaced by its tangent
and for everything else J t is the derivative of <Jᵀu, t> by u: two backward passes, no rule needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._core import formulas, slow
from .._core.hooks import wrap_gradient
from .._core.inplace import any_tangent, apply_inplace
from .._core.interposers import NOT_HANDLED, Interposer, interpose
from .._core.mode import CURRENT, Mode, derive, ready
from .._core.op import CALL_G, CALL_G_SAVED, PICK_G, Op
from .._core.storage import TensorBase
from .._tensor.tensor import zeros_of
from .._tensor.torch_function import torch_dispatch
from .backward import grad as gradient
from .duals import LEVELS, note_saved, set_tangent, tangent_of, write_tangent

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.annotations import Arguments, Shape
    from .._tensor.tensor import Tensor

UNSUPPORTED: Final = (
    "Trying to use forward AD with {name} that does not support it because it has not been "
    "implemented yet.\nPlease file an issue to PyTorch at "
    "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can "
    "prioritize its implementation or submit a PR adding the implementation to derivatives.yaml"
)


def carry(op: Op, args: list[object], outs: list[Tensor]) -> None:
    """Gives the results of an operation on dual tensors their tangents."""
    if not LEVELS or all(T.is_discrete(o._raw.dtype) for o in outs):
        return
    tangents = _tangents(op, args)
    if not tangents:
        return
    mode = ready()
    before = CURRENT.get()
    try:
        CURRENT.set(derive(mode, forward_grad=False, saved_hooks=(), anomaly=False))
        found = _carry(op, args, outs, tangents, mode.grad)
    except NotImplementedError as error:
        name = str(error).removeprefix("the derivative for '").removesuffix("' is not implemented.")
        if len(name) == len(str(error)):
            raise
        name = name.partition(":")[0]
        raise NotImplementedError(UNSUPPORTED.format(name=name)) from None
    finally:
        CURRENT.set(before)
    # A tangent may have been given another element type than its primal: it goes its own way.
    usual = all(t._raw.dtype == _at(args, key)._raw.dtype for key, t in tangents.items())
    flags = op.differentiable_out
    for k, (o, t) in enumerate(zip(outs, found)):
        if t is None or T.is_discrete(o._raw.dtype) or (flags and not flags[k]):
            continue
        if usual and t._raw.dtype != o._raw.dtype:
            t = formulas.WORLDS.traced.to_dtype(t, o._raw.dtype)
        if not op.is_view and any(t is u or _may_share(t, u) for u in tangents.values()):
            t = _copy(t)
        set_tangent(o, t)
        node = o._node
        if node is not None and node.op.saves_out:
            note_saved(node, k, o._tangent)


def _may_share(t: Tensor, other: Tensor) -> bool:
    """Whether two tangents may share memory; batches under vmap are taken not to."""
    return not t._layered and not other._layered and T.may_share(t._raw, other._raw)


def _copy(t: Tensor) -> Tensor:
    """A tangent with memory of its own: a later write to the result must not reach an operand."""
    former_mode = CURRENT.get()
    try:
        CURRENT.set(derive(ready(), forward_grad=False))
        return formulas.WORLDS.traced.clone(t)
    finally:
        CURRENT.set(former_mode)


def _at(args: Arguments, key: int | Shape) -> Tensor:
    """The argument at a position, or at a (position, index) inside a list."""
    return args[key] if isinstance(key, int) else args[key[0]][key[1]]


def _tangents(op: Op, args: Arguments) -> dict[Any, Any]:
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


def _carry(
    op: Op, args: list[object], outs: list[Tensor], tangents: dict[object, object], grad: bool
) -> list[Any]:
    kind = op.row.kind if op.row is not None else op.kind
    if op.row is not None and op.row.jvp is not None:
        return _by_rule(op, args, outs, tangents)
    complex_ = any(o._raw.dtype.kind == "c" for o in outs) or any(
        isinstance(a, TensorBase) and a._raw.dtype.kind == "c" for a in args
    )
    if op.is_view or (kind == "linear" and op.holomorphic and not _has_number(op)):
        result = slow.apply(op, _replace(op, args, tangents, zeros=True))
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


def _by_rule(
    op: Op, args: list[object], outs: list[Tensor], tangents: dict[object, object]
) -> list[Any]:
    """The row's own rule: `<arg>_t` is the tangent of an argument, zeros where it has none."""
    given: list[Any] = []
    schema = op.row.schema
    for name in op.row.jvp.__code__.co_varnames[: op.row.jvp.__code__.co_argcount]:
        if name == "xp":
            given.append(formulas.WORLDS.traced)
        elif name == "out":
            given.append(outs[0])
        elif name in schema.positions:
            given.append(args[schema.positions[name]])
        elif name.endswith("_t") and name[:-2] in schema.positions:
            given.append(_tangent_at(args, schema.positions[name[:-2]], tangents))
        else:
            raise ValueError(f"{schema.text}: the rule for tangents asks for {name!r}")
    result = op.row.jvp(*given)
    return [result] if op.n_out == 1 else list(result)


def _tangent_at(args: list[object], pos: int, tangents: dict[object, object]) -> object:
    a = args[pos]
    if isinstance(a, TensorBase):
        t = tangents.get(pos)
        return zeros_of(a) if t is None else t
    if type(a) is list or type(a) is tuple:
        return [
            tangents[(pos, k)] if (pos, k) in tangents else zeros_of(x) for k, x in enumerate(a)
        ]
    return None


def _has_number(op: Op) -> bool:
    """Whether a number among the arguments may be written into the result, as in masked_fill."""
    return op.row is not None and any(p.type in ("Scalar", "float") for p in op.row.schema.params)


def _replace(op: Op, args: Arguments, tangents: dict[object, object], zeros: bool) -> list[Any]:
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
        result[pos] = zeros_of(a) if t is None and zeros else t
    if op.lists >= 0:
        result[op.lists] = [
            tangents.get((op.lists, k)) if (op.lists, k) in tangents else zeros_of(a)
            for k, a in enumerate(args[op.lists])
        ]
    return result


def _by_formulas(
    op: Op, args: Arguments, outs: list[Any], tangents: dict[Any, Any], grad: bool
) -> Any:
    out = outs[0]
    raws = [slow.to_raw(a) for a in args]
    everything = -1
    mode = ready()
    node = slow.make_node(op, args, raws, outs, everything, mode, None)
    if out._layered and type(out)._dispatches:
        torch_dispatch().keep_outputs(node, outs)
    traced = grad and (out._requires_grad or any(t._requires_grad for t in tangents.values()))
    recorded = traced
    # Batches and classes with rules go through Tensors only.
    traced = traced or out._layered or any(t._layered for t in tangents.values())
    total: Any = None
    for i, pos in enumerate(op.tensors):
        t = tangents.get(pos)
        if t is None or op.formulas[i] is None:
            continue
        if t._raw.shape != out._raw.shape:
            t = t.expand(out._raw.shape)
        if t._raw.dtype == args[pos]._raw.dtype != out._raw.dtype:
            t = formulas.WORLDS.traced.to_dtype(t, out._raw.dtype)
        picks: Any = op.picks[i]
        if op.forms[i] == CALL_G:
            picks = (PICK_G,)
        elif op.forms[i] == CALL_G_SAVED:
            picks = (PICK_G, picks)
        g = t if traced else t._raw
        part = formulas.call_formula(node, op.formulas[i], picks, g, None, traced)
        total = part if total is None else total + part
    if traced and not recorded:
        total = total.detach()  # a saved output comes with its history
    return wrap_gradient(total, traced)


def _by_two_backwards(op: Op, args: Arguments, outs: list[Tensor], tangents: dict[Any, Any],
                      grad: bool) -> list[Any]:  # fmt: skip
    former_mode = CURRENT.get()
    try:
        CURRENT.set(derive(ready(), grad=True))
        again = list(args)
        starts: list[Any] = []
        for key in tangents:
            a = args[key] if isinstance(key, int) else args[key[0]][key[1]]
            if grad and a.requires_grad:
                start = formulas.WORLDS.traced.clone(a)
            else:
                start = a.detach()
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
            u = zeros_of(r)
            u._requires_grad = True
            seeds.append(u)
        pulled = gradient(live, starts, seeds, create_graph=True, allow_unused=True)
        pairs = [
            (v, t) for v, t in zip(pulled, tangents.values()) if v is not None and v._requires_grad
        ]
        found: tuple[Tensor | None, ...]
        if pairs:
            found = gradient([v for v, _ in pairs], seeds, [t for _, t in pairs], create_graph=grad,
                             allow_unused=True)  # fmt: skip
        else:
            found = tuple([None] * len(seeds))
        by_result = {id(r): t for r, t in zip(live, found)}
        needs = grad and any(
            isinstance(x, TensorBase) and x.requires_grad  # type: ignore[attr-defined]
            for x in list(args) + list(tangents.values())
        )
        return [
            _as_tangent(by_result.get(id(r)), r, needs) if r._requires_grad else None
            for r in results
        ]
    finally:
        CURRENT.set(former_mode)


def _as_tangent(t: Tensor | None, r: Tensor, needs: bool) -> TensorBase:
    if t is None:
        return zeros_of(r)
    return t if needs else t.detach()


def carry_inplace(op: Op, args: Arguments, writer: Callable[..., object] | None = None) -> Tensor:
    """An in-place operation where the tensor written, or what is written, has a tangent."""
    me = args[0]
    mode = ready()
    if not LEVELS or not _tangents(op, args):
        former_mode = CURRENT.get()
        try:
            CURRENT.set(derive(mode, forward_grad=False))
            return apply_inplace(op, args, writer)
        finally:
            CURRENT.set(former_mode)
    before = list(args)
    if writer is None:
        former = CURRENT.get()
        try:
            CURRENT.set(derive(mode, saved_hooks=()))
            tangent = tangent_of(slow.apply(op, before))
        finally:
            CURRENT.set(former)
        token = CURRENT.set(derive(mode, forward_grad=False))
    else:
        tangent = None
    try:
        apply_inplace(op, args, writer)
        write_tangent(me, tangent)
        node = me._node
        if me._view is not None and me._view.tracked and me._view.base._node is not None:
            node = getattr(me._view.base._node, "inner", None)
        if node is not None and node.op.saves_out and me._tangent is not None:
            note_saved(node, 0, me._tangent)
    finally:
        CURRENT.reset(token)
    return me


class _Tangents(Interposer):
    """Carries forward-mode derivatives along writes."""

    def write(
        self, op: Op, args: list[object], writer: object, mode: Mode, layered: bool
    ) -> object:
        """A write where a tensor has a tangent."""
        if mode.forward_grad and any_tangent(args):
            return carry_inplace(op, args)
        return NOT_HANDLED


slow.TANGENTS.carry = carry
interpose("tangents", _Tangents())

__all__ = ["carry", "carry_inplace"]
