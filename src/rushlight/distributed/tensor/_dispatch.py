"""How an operator is computed on tensors that lie over ranks: each rank on its pieces."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from ..._tensor.tensor import Tensor
from ...autograd.grad_mode import no_grad
from .._ground import f
from ._layout import DTensorSpec, Placements, TensorMeta, local_piece, move
from ._rules import Call, Choice, choices_of, cost, takes_any_number, takes_shape
from .placement_types import Replicate, Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..annotations import Given
    from ..device_mesh import DeviceMesh
    from ._api import DTensor

__all__ = ["INSTEAD", "Replicating", "compute"]

#: By operator, what computes it in the place of the rules; it may give NotImplemented.
INSTEAD: Final[dict[str, Callable[..., Given]]] = {}


class Replicating:
    """Whether plain tensors stand for what every rank has."""

    on: bool = False


class _Plan(NamedTuple):
    """What is known of a call from the layouts and the numbers that go in."""

    #: Of each result what it is as a whole, and how it lies; None for a value of Python.
    results: Given
    #: How each tensor that goes in has to lie.
    wanted: Sequence[Placements]
    #: The shape that the operator is given on this rank, if it takes one.
    shape: tuple[int, ...] | None


#: Plans by operator, layouts and numbers: a training step asks for the same ones again and again.
_PLANS: Final[dict[object, _Plan]] = {}
_MOST: Final = 4096


def compute(
    kind: type[DTensor], func: Given, args: Sequence[Given], kwargs: dict[str, Given]
) -> Given:
    """What an operator gives for arguments among which tensors lie over ranks."""
    name: str = func.overloadpacket.__name__
    if name in INSTEAD:
        done = INSTEAD[name](func, args, kwargs)
        if done is not NotImplemented:
            return done
    found: list[Tensor] = []
    _each(args, found.append)
    _each(list(kwargs.values()), found.append)
    mesh = next(t for t in found if isinstance(t, kind)).device_mesh
    tensors = [_distribute(kind, t, mesh, func) for t in found]
    writes = name.endswith("_") and not name.endswith("__")
    plan = _find_plan(name, func, args, kwargs, tensors, writes)
    if plan.results is None:
        return _of_values(func, args, kwargs, tensors)
    locals_ = [move(t._local_tensor, t._spec, where) for t, where in zip(tensors, plan.wanted)]
    pieces = iter(locals_)
    given = [_fill(arg, pieces) for arg in args]
    named = {key: _fill(value, pieces) for key, value in kwargs.items()}
    if plan.shape is not None:
        given[1:] = [plan.shape]
        named.pop("size", None)
    result = func(*given, **named)
    return args[0] if writes else _wrap(kind, result, plan.results)


def _find_plan(
    name: str, func: Given, args: Sequence[Given], kwargs: dict[str, Given],
    tensors: list[DTensor], writes: bool,
) -> _Plan:  # fmt: skip
    free = takes_any_number(name)
    try:
        specs = tuple([t._spec for t in tensors])
        key = (func, _form(args, free), _form(list(kwargs.items()), free), specs)
        plan = _PLANS.get(key)
    except TypeError:  # an argument that can't be a key
        return _plan(name, func, args, kwargs, tensors, writes)
    if plan is None:
        plan = _plan(name, func, args, kwargs, tensors, writes)
        if len(_PLANS) >= _MOST:
            _PLANS.clear()
        _PLANS[key] = plan
    return plan


def _form(value: Given, free: bool) -> Given:
    """What a plan depends on of an argument; tensors count by their layouts."""
    if isinstance(value, Tensor):
        return Tensor
    if isinstance(value, list | tuple):
        return (type(value), *[_form(item, free) for item in value])
    kind = type(value)
    return kind if free and kind in (int, float, complex) else (kind, value)


def _plan(
    name: str, func: Given, args: Sequence[Given], kwargs: dict[str, Given],
    tensors: list[DTensor], writes: bool,
) -> _Plan:  # fmt: skip
    mesh = tensors[0].device_mesh
    with no_grad():
        meta = _whole_result(func, args, kwargs)
    first = _first_tensor(meta)
    if first is None:
        return _Plan(None, (), None)
    call = Call(name, args, kwargs, [t._spec.shape for t in tensors], tuple(first.shape), 1)
    out, wanted = _cheapest(call, tensors, mesh, writes)
    shape = local_piece(call.out, mesh, out)[0] if takes_shape(call) else None
    return _Plan(_lay(meta, mesh, out), wanted, shape)


def _each(values: Sequence[Given], take: Given) -> None:
    for value in values:
        if isinstance(value, Tensor):
            take(value)
        elif isinstance(value, list | tuple):
            _each(value, take)


def _fill(value: Given, pieces: Given) -> Given:
    if isinstance(value, Tensor):
        return next(pieces)
    if isinstance(value, list | tuple):
        return type(value)(_fill(item, pieces) for item in value)
    return value


def _distribute(kind: type[DTensor], tensor: Tensor, mesh: DeviceMesh, func: Given) -> DTensor:
    if isinstance(tensor, kind):
        if tensor.device_mesh != mesh:
            raise RuntimeError(
                f"{func}: DTensors of two meshes meet: {mesh} and {tensor.device_mesh}"
            )
        return tensor
    if (tensor.numel() == 1 and tensor.dim() <= 1) or Replicating.on:
        whole = (Replicate(),) * mesh.ndim
        return kind(tensor.detach(), _spec_of(mesh, whole, tensor), requires_grad=False)
    raise RuntimeError(
        f"{func}: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor "
        "before calling distributed operators! Please see "
        "https://docs.pytorch.org/docs/main/distributed.tensor.html#mixed-tensor-and-dtensor-"
        "operations for more details."
    )


def _spec_of(mesh: DeviceMesh, placements: Placements, like: Tensor) -> DTensorSpec:
    meta = TensorMeta(tuple(like.shape), tuple(like.stride()), like.dtype)
    return DTensorSpec(mesh, placements, meta)


def _whole_result(func: Given, args: Sequence[Given], kwargs: dict[str, Given]) -> Given:
    """What the operator would give for the whole tensors, without elements."""

    def empty(value: Given) -> Given:
        if isinstance(value, Tensor):
            steps: Given = value.stride()
            return f.empty_strided(tuple(value.shape), steps, dtype=value.dtype, device="meta")
        if isinstance(value, list | tuple):
            return type(value)(empty(item) for item in value)
        return value

    name = func.overloadpacket.__name__
    if name in ("_local_scalar_dense", "item", "equal", "is_nonzero"):
        return None
    return func(*[empty(a) for a in args], **{k: empty(v) for k, v in kwargs.items()})


def _first_tensor(value: Given) -> Tensor | None:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, list | tuple):
        return next((t for t in map(_first_tensor, value) if t is not None), None)
    return None


def _of_values(
    func: Given, args: Sequence[Given], kwargs: dict[str, Given], tensors: list[DTensor]
) -> Given:
    """A value of Python, which every rank computes from the whole."""
    wholes = iter(
        [move(t._local_tensor, t._spec, (Replicate(),) * t.device_mesh.ndim) for t in tensors]
    )
    given = [_fill(arg, wholes) for arg in args]
    return func(*given, **{key: _fill(value, wholes) for key, value in kwargs.items()})


def _cheapest(
    call: Call, tensors: list[DTensor], mesh: DeviceMesh, writes: bool
) -> tuple[Placements, list[Placements]]:
    """The placements of the result and of each tensor, by side."""
    taken: list[Choice] = []
    for side in range(mesh.ndim):
        now = [t.placements[side] for t in tensors]
        choices = choices_of(call._replace(ranks=mesh.size(side), now=now))
        best, least = choices[0], math.inf
        for choice in choices:
            if writes and (choice.out != now[0] or choice.inputs[0] != now[0]):
                continue
            price = sum(
                cost(a, b, t._spec.shape, mesh.size(side))
                for a, b, t in zip(now, choice.inputs, tensors)
            )
            if price < least:
                best, least = choice, price
        if writes and least == math.inf:
            raise RuntimeError(
                f"{call.name}: in-place operations that require placement changes are not "
                f"supported: the tensor is {now[0]}"
            )
        taken.append(best)
    out = tuple(choice.out for choice in taken)
    return out, [tuple(choice.inputs[i] for choice in taken) for i in range(len(tensors))]


def _lay(meta: Given, mesh: DeviceMesh, placements: Placements) -> Given:
    """How each of an operator's results lies."""
    if isinstance(meta, Tensor):
        own = placements
        if meta.dim() == 0:
            own = tuple(Replicate() if isinstance(p, Shard) else p for p in placements)
        return _spec_of(mesh, own, meta)
    if isinstance(meta, list | tuple):
        return [_lay(one, mesh, placements) for one in meta]
    return None


def _wrap(kind: type[DTensor], result: Given, spec: Given) -> Given:
    if isinstance(spec, DTensorSpec):
        return kind(result, spec, requires_grad=False)
    if isinstance(spec, list):
        return type(result)(_wrap(kind, r, s) for r, s in zip(result, spec))
    return result
