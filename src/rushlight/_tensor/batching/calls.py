"""Functions under vmap that are no operations of the table: draws, fills and changes of shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._base import errors
from ..._core.interposers import NOT_HANDLED, Interposer, interpose
from ..._core.mode import CURRENT, Mode, ready
from ..._core.op import Op
from ..._core.storage import TensorBase
from ..._table import TENSOR_METHODS
from ..._table.modes.batching_rules import front, repeat_batch
from ..._table.random.generator import default_generator
from ..._table.rows.tensor_namespace import table
from .wrapper import BatchedTensor, Layer, dispatch, dispatch_inplace, innermost, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import Shape
    from ..tensor import Tensor

UNSUPPORTED: Final = (
    "vmap: We do not yet support calling random operations inside of vmap. Please perform random "
    "operations outside of vmap as a workaround"
)
SAME: Final = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an "
    "issue with functorch"
)
UNBATCHED: Final = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear "
    "like same randomness. If this is necessary for your usage, please file an issue with "
    "functorch."
)
REFUSED: Final = {
    "equal": "Batching rule not implemented for aten::equal. We could not generate a fallback.",
    "allclose": "vmap over torch.allclose isn't supported yet. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues if you need this feature.",
}
Call = Callable[..., Any]


class Outer:
    """A context outside of one vmap."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer

    def __enter__(self) -> None:
        self.mode = ready()
        try:  # see Note [A context that is interrupted] in `autograd.grad_mode`
            CURRENT.set(self.layer.outside(self.mode))
        except BaseException:
            CURRENT.set(self.mode)
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            CURRENT.set(self.mode)
        except BaseException:
            CURRENT.set(self.mode)
            raise


def handle(kind: str, name: str, function: Call, args: Any, kwargs: Any) -> object:
    """What such a function gives under vmap; NOT_HANDLED where it is as ever."""
    layer = innermost([*args, *kwargs.values()])
    if kind == "refused":
        if layer is not None:
            raise RuntimeError(REFUSED[name])
        return NOT_HANDLED
    if kind == "each":
        if layer is None:
            return NOT_HANDLED
        with Outer(layer):
            return _each(_again(name, function), args, kwargs, layer)
    if kind in ("like", "new", "reshape_"):
        if not args or not isinstance(args[0], BatchedTensor):
            return NOT_HANDLED
        return FORMS[kind](name, function, args, kwargs)
    if kind == "drop" and not _drops(name, args, kwargs):
        return NOT_HANDLED
    last: Layer = ready().layers[-1]
    if last.randomness == "error":
        raise RuntimeError(errors.RANDOM_UNDER_VMAP)
    if last.randomness == "unsupported":
        raise RuntimeError(UNSUPPORTED)
    return DRAWS[kind](name, function, args, kwargs, last)


# ---- fills and shapes -------------------------------------------------------------------------
def _like(name: str, function: Call, args: Any, kwargs: dict[str, object]) -> Tensor:
    me: BatchedTensor = args[0]
    with Outer(me._layer):
        made = _public(name)(front(me._value, me._dim), *args[1:], **kwargs)
    return wrap(made, 0, me._layer)


def _new(name: str, function: Call, args: Any, kwargs: Any) -> object:
    me: BatchedTensor = args[0]
    args, kwargs = _longer(args[1:], kwargs, me._layer.size)
    with Outer(me._layer):
        made = _public(name)(me._value, *args, **kwargs)
    return wrap(made, 0, me._layer)


def _reshape(name: str, function: Call, args: Any, kwargs: dict[str, object]) -> object:
    """A change of shape in place: the wrapper gets another view of the same batch."""
    me: BatchedTensor = args[0]
    view = TENSOR_METHODS[name.removesuffix("_")](*args, **kwargs)
    me._value, me._dim, me._raw = view._value, view._dim, view._raw
    return me


FORMS: Final = {"like": _like, "new": _new, "reshape_": _reshape}


def _public(name: str) -> Call:
    """The function of a name that knows vmap: an outer one may be open too."""
    return TENSOR_METHODS[name] if name.startswith("new_") else table(name)


def _longer(args: Shape, kwargs: Any, size: int) -> tuple[object, object]:
    """Arguments with `size` put in front of the size among them."""
    if "size" in kwargs:
        return args, {**kwargs, "size": (size, *kwargs["size"])}
    for k, a in enumerate(args):
        if isinstance(a, (tuple, list)):
            return (*args[:k], (size, *a), *args[k + 1 :]), kwargs
    return (size, *args), kwargs


# ---- draws ------------------------------------------------------------------------------------
def _again(name: str, function: Call) -> Call:
    """The function that an outer vmap hears of."""
    if not ready().layers:
        return function

    def run(*args: object, **kwargs: object) -> object:
        from ..._table.modes.vmap_variants import aware

        return aware(name, function)(*args, **kwargs)

    return run


def _draw(name: str, function: Call, args: Any, kwargs: Any, layer: Layer) -> Tensor:
    with Outer(layer):
        call = _again(name, function)
        if layer.randomness == "same":
            return call(*args, **kwargs)
        args, kwargs = _longer(args, kwargs, layer.size)
        return wrap(call(*args, **kwargs), 0, layer)


def _draw_alone(
    name: str, function: Call, args: Sequence[object], kwargs: dict[str, object], layer: Layer
) -> object:
    with Outer(layer):
        call = _again(name, function)
        if layer.randomness == "same":
            return call(*args, **kwargs)
        rows = [call(*args, **kwargs) for _ in range(layer.size)]
        return wrap(table("stack")(rows), 0, layer)


def _whole(x: TensorBase, layer: Layer) -> Tensor:
    """A batch, the batch dimension first; made by repeating what has none."""
    if isinstance(x, BatchedTensor) and x._layer is layer:
        return front(x._value, x._dim)
    return repeat_batch(x, None, layer.size).contiguous()


def _one(x: Tensor) -> object:
    """An unset tensor like one example."""
    return table("empty")(x._raw.shape, dtype=T.from_raw(x._raw.dtype))


def _draw_like(
    name: str, function: Call, args: tuple[Tensor, ...], kwargs: dict[str, object], layer: Layer
) -> Tensor:
    me = args[0]
    with Outer(layer):
        call = _again(name, function)
        if layer.randomness == "same":
            return call(_one(me), *args[1:], **kwargs)
        return wrap(call(_whole(me, layer), *args[1:], **kwargs), 0, layer)


def _draw_from(
    name: str, function: Call, args: Sequence[object], kwargs: dict[str, object], layer: Layer
) -> object:
    tensors = [a for a in [*args, *kwargs.values()] if isinstance(a, TensorBase)]
    batches = any(isinstance(t, BatchedTensor) and t._layer is layer for t in tensors)
    if not tensors:
        return _draw(name, function, args, kwargs, layer)
    with Outer(layer):
        call = _again(name, function)
        if layer.randomness == "same":
            if batches:
                raise RuntimeError(SAME)
            return call(*args, **kwargs)
        rank = max(t._raw.ndim for t in tensors)
        if name == "multinomial" and rank > 1:
            return _each(call, args, kwargs, layer)

        def ready_for(a: object) -> object:
            if not isinstance(a, TensorBase):
                return a
            whole = _whole(a, layer)
            missing = rank - (whole._raw.ndim - 1)
            shape = whole._raw.shape
            return whole if not missing else whole.reshape((shape[0], *(1,) * missing, *shape[1:]))

        made = call(*map(ready_for, args), **{k: ready_for(v) for k, v in kwargs.items()})
        return wrap(made, 0, layer)


def _each(call: Call, args: Sequence[object], kwargs: dict[str, object], layer: Layer) -> Any:
    """A call for each example, one after the other."""

    def at(a: object, k: int) -> object:
        if isinstance(a, BatchedTensor) and a._layer is layer:
            return table("select")(a._value, a._dim, k)
        return a

    rows = []
    for k in range(layer.size):
        rows.append(call(*[at(a, k) for a in args], **{n: at(v, k) for n, v in kwargs.items()}))
    if isinstance(rows[0], (tuple, list)):
        return tuple([wrap(table("stack")(list(r)), 0, layer) for r in zip(*rows)])
    return wrap(table("stack")(rows), 0, layer)


def _drops(name: str, args: Sequence[object], kwargs: dict[str, object]) -> bool:
    """Whether a dropout draws at all: it is in training and its probability isn't 0."""
    default = name not in ("alpha_dropout", "feature_alpha_dropout")
    p = args[1] if len(args) > 1 else kwargs.get("p", 0.5)
    training = args[2] if len(args) > 2 else kwargs.get("training", kwargs.get("train", default))
    return bool(training) and bool(p)


def _drop(name: str, function: Call, args: Any, kwargs: Any, layer: Layer) -> object:
    me = args[0] if args else kwargs["input"]
    rest = args[1:]
    kwargs = {k: v for k, v in kwargs.items() if k != "input"}
    batch = isinstance(me, BatchedTensor) and me._layer is layer
    inplace = bool(kwargs.get("inplace", rest[2] if len(rest) > 2 else False))
    with Outer(layer):
        call = _again(name, function)
        if layer.randomness == "same":
            if not batch:
                return call(me, *rest, **kwargs)
            state = default_generator.get_state()
            rows = []
            for k in range(layer.size):
                default_generator.set_state(state)
                rows.append(call(table("select")(me._value, me._dim, k), *rest, **kwargs))
            return me if inplace else wrap(table("stack")(rows), 0, layer)
        whole = _whole(me, layer)
        if name in ("dropout", "alpha_dropout"):
            made = call(whole, *rest, **kwargs)
            return me if inplace and batch else wrap(made, 0, layer)
        return _each(call, (me, *rest) if batch else (wrap(whole, 0, layer), *rest), kwargs, layer)


def _draw_into(name: str, function: Call, args: Any, kwargs: Any, layer: Layer) -> object:
    me = args[0]
    batch = isinstance(me, BatchedTensor) and me._layer is layer
    if not batch and layer.randomness == "different":
        raise RuntimeError(UNBATCHED)
    with Outer(layer):
        call = _again(name, function)
        if not batch:
            call(me, *args[1:], **kwargs)
        elif layer.randomness == "different":
            rest = [_whole(a, layer) if isinstance(a, TensorBase) else a for a in args[1:]]
            call(front(me._value, me._dim), *rest, **kwargs)
        else:
            if any(isinstance(a, BatchedTensor) and a._layer is layer for a in args[1:]):
                raise RuntimeError(SAME)
            TENSOR_METHODS["copy_"](front(me._value, me._dim), call(_one(me), *args[1:], **kwargs))
    return me


DRAWS: Final = {
    "draw": _draw, "draw_alone": _draw_alone, "draw_like": _draw_like, "draw_from": _draw_from,
    "drop": _drop, "draw_into": _draw_into,
}  # fmt: skip


class _Batching(Interposer):
    """vmap: batches among the arguments, and functions that draw numbers."""

    def call(self, op: Op, args: list[object], mode: Mode, layered: bool) -> object:
        """An operation on batches."""
        return dispatch(op, args) if layered or mode.layers else NOT_HANDLED

    def write(self, op: Op, args: list[object], writer: Any, mode: Mode, layered: bool) -> object:
        """A write into a batch, or of one."""
        return dispatch_inplace(op, args, writer) if layered or mode.layers else NOT_HANDLED

    def write_out(self, row: Any, args: list[object], out: object, mode: Mode) -> object:
        """Refuses results that go into a tensor given by the caller."""
        if any(isinstance(a, TensorBase) and a._layered for a in (*args, out)):
            raise RuntimeError(
                f"Batching rule not implemented for aten::{row.schema.name.lstrip('_')}.out; the "
                "fallback path doesn't work on out= or view ops."
            )
        return NOT_HANDLED

    def call_kind(
        self,
        kind: str,
        name: str,
        function: Callable[..., object],
        args: Sequence[object],
        kwargs: dict[str, object],
    ) -> object:
        """A function that is no operation."""
        return handle(kind, name, function, args, kwargs)


interpose("batching", _Batching())
