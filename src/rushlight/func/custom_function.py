"""`autograd.Function` under vmap: by the user's `vmap`, or by a rule made from the other methods.

Note [Making a rule]
With `generate_vmap_rule=True` a call under vmap becomes a call of another function, made on the
spot, whose methods run the user's under a vmap of their own. What the user saves is saved as whole
batches. A gradient for an argument that was no batch is summed over the batch.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any, Final

from .._core.interposers import NOT_HANDLED
from .._core.mode import CURRENT, ready
from .._core.run import TRANSFORMS as DERIVATIVES
from .._core.storage import TensorBase
from .._table import PUBLIC
from .._tensor.batching import BatchedTensor, Batching, Layer, unwrap, wrap
from ..autograd.function import TRANSFORMS, Function, _is_setup_context_defined
from ._tree import broadcast_prefix, flatten, format_spec, unflatten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor

VmapInfo = namedtuple("VmapInfo", ("batch_size", "randomness"))

MORE: Final = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
NO_SETUP: Final = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
    f"...), it must override the setup_context staticmethod. {MORE}"
)


def apply(cls: Any, args: tuple[object, ...]) -> Any:
    """A call of a custom function under transforms; NOT_HANDLED where it is as ever.

    Raises:
        RuntimeError: for a function that can't be used there.
    """
    mode = ready()
    layer: Layer | None = mode.layers[-1] if mode.layers else None
    if layer is not None and layer.randomness == "unsupported":
        return NOT_HANDLED  # a batch of gradients: the function's own code runs on it
    if layer is None and not TRANSFORMS.depth.get():
        return NOT_HANDLED  # tensors of another kind, such as sparse ones: none is running
    if not _is_setup_context_defined(cls.setup_context):
        raise RuntimeError(NO_SETUP)
    if layer is None:
        return NOT_HANDLED
    own = cls.vmap is not Function.vmap
    name = cls.__name__
    if cls.generate_vmap_rule:
        if own:
            raise RuntimeError(
                f"You tried to vmap over {name}, but it has both generate_vmap_rule=True and an "
                "overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
                f"overridden vmap staticmethod to avoid ambiguity. {MORE}"
            )
    elif not own:
        raise RuntimeError(
            f"You tried to vmap over {name}, but it does not have vmap support. Please override "
            f"and implement the vmap staticmethod or set generate_vmap_rule=True. {MORE}"
        )
    leaves, spec = flatten(args)
    values, dims = _open(leaves, layer)
    before = CURRENT.get()
    try:
        CURRENT.set(layer.outside(mode))
        if all(d is None for d in dims):
            return cls.apply(*args)
        if own:
            return _by_user(cls, values, dims, spec, layer)
        made = _generate(cls, dims, spec, layer)
        result = made.apply(*values)
    finally:
        CURRENT.set(before)
    outs, out_spec = flatten(result)
    return unflatten(_close(outs, made.out_dims, layer), out_spec)


def _open(leaves: Sequence[Any], layer: Layer) -> tuple[list[object], list[int | None]]:
    """The batches behind wrappers, and their dimensions."""
    mine = [isinstance(x, BatchedTensor) and x._layer is layer for x in leaves]
    values = [x._value if m else x for x, m in zip(leaves, mine)]
    return values, [x._dim if m else None for x, m in zip(leaves, mine)]


def _close(values: Sequence[Tensor], dims: Any, layer: Layer) -> list[Any]:
    return [
        x
        if d is None or not isinstance(x, TensorBase)
        else wrap(x, d + x._raw.ndim if d < 0 else d, layer)
        for x, d in zip(values, dims)
    ]


def _by_user(
    cls: Any, values: list[object], dims: list[int | None], spec: Any, layer: Layer
) -> object:
    """The results of the user's `vmap`.

    Raises:
        RuntimeError: for results of another form.
    """
    info = VmapInfo(layer.size, layer.randomness)
    result = cls.vmap(info, unflatten(list(dims), spec), *unflatten(values, spec))
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with "
            f"pytree structure compatible with the output. Got a {type(result)} instead"
        )
    output, out_dims = result
    outs, out_spec = flatten(output)
    places = broadcast_prefix(out_dims, out_spec)
    if places is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) "
            f"tuple. Expected out_dims={out_dims} to be compatible with the structure of `output`. "
            f"out_dims has structure {format_spec(flatten(out_dims)[1])} but output has structure "
            f"{format_spec(out_spec)}. {MORE}"
        )
    return unflatten(_close(outs, places, layer), out_spec)


# ---- a rule made from forward and backward -----------------------------------------------------
class BatchContext:
    """The `ctx` that a user's method gets under vmap: saves whole batches, shows examples."""

    def __init__(self, ctx: Any, layer: Layer, key: str) -> None:
        object.__setattr__(self, "_ctx", ctx)
        object.__setattr__(self, "_layer", layer)
        object.__setattr__(self, "_key", key)

    def _keep(self, method: str, tensors: tuple[Tensor, ...]) -> None:
        values, dims = _open(tensors, self._layer)
        setattr(self._ctx, self._key, dims)
        getattr(self._ctx, method)(*values)

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Saves the batches behind tensors."""
        self._keep("save_for_backward", tensors)

    def save_for_forward(self, *tensors: Tensor) -> None:
        """Saves the batches behind tensors."""
        self._keep("save_for_forward", tensors)

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """What was saved, as this vmap's examples."""
        dims = getattr(self._ctx, self._key, ())
        return tuple(_close(self._ctx.saved_tensors, dims, self._layer))

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Marks the batches behind tensors."""
        self._ctx.mark_dirty(*_open(tensors, self._layer)[0])

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Marks the batches behind tensors."""
        self._ctx.mark_non_differentiable(*_open(tensors, self._layer)[0])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._ctx, name, value)


def _generate(cls: type[Any], dims: list[int | None], spec: Any, layer: Layer) -> Any:
    """A function of whole batches: takes the leaves of the arguments."""
    key = f"_batch_dims_{layer.level}_{cls.__name__}"

    def forward(*values: Tensor) -> object:
        with Batching(layer.size, layer.randomness) as inner:
            result = cls.forward(*unflatten(_close(values, dims, inner), spec))
        outs, out_spec = flatten(result)
        found, made.out_dims = _open(outs, inner)
        return unflatten(found, out_spec)

    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        outs, out_spec = flatten(output)
        with Batching(layer.size, layer.randomness) as inner:
            cls.setup_context(
                BatchContext(ctx, inner, key),
                unflatten(_close(inputs, dims, inner), spec),
                unflatten(_close(outs, made.out_dims, inner), out_spec),
            )

    def backward(ctx: Any, *grads: Tensor) -> object:
        with Batching(layer.size, layer.randomness) as inner:
            given = _close(grads, made.out_dims, inner)
            result = cls._backward_method()(BatchContext(ctx, inner, key), *given)
        parts = result if isinstance(result, tuple) else (result,)
        return tuple([_fit(g, d, inner) for g, d in zip(parts, dims)])

    def jvp(ctx: Any, *tangents: Any) -> object:
        with Batching(layer.size, layer.randomness) as inner:
            given = _close(tangents, dims, inner)
            result = cls.jvp(BatchContext(ctx, inner, key), *given)
        parts = result if isinstance(result, tuple) else (result,)
        found = [
            t if t is None or d is None else unwrap(t, inner, d)
            for t, d in zip(parts, made.out_dims)
        ]
        return tuple(found) if isinstance(result, tuple) else found[0]

    made: Any = type(
        f"Vmapped{cls.__name__}",
        (Function,),
        {
            "forward": staticmethod(forward),
            "setup_context": staticmethod(setup_context),
            "backward": staticmethod(backward),
            "jvp": staticmethod(jvp),
            "generate_vmap_rule": True,
            "out_dims": (),
        },
    )
    return made


def _fit(g: Tensor, dim: int | None, layer: Layer) -> Tensor:
    """A gradient laid out like its argument: summed over the batch where that had none."""
    if g is None:
        return None
    if dim is not None:
        return unwrap(g, layer, dim)
    if isinstance(g, BatchedTensor) and g._layer is layer:
        out: Tensor = PUBLIC[("", "sum")](g._value, g._dim)
        return out
    return g


TRANSFORMS.apply = apply
TRANSFORMS.depth = DERIVATIVES
