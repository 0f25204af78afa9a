"""`BatchedTensor`: what a function under vmap sees, and how operations on it reach their rules.

Note [Where batches travel]
A `BatchedTensor` stands for one example; behind it is a tensor with all of them (`_value`), which
is an ordinary tensor or, under several vmaps, a `BatchedTensor` of an outer one. It is not
`_plain`, so only the slow path of a call meets it: that path asks `dispatch`, which takes the
wrapper of the innermost vmap away, runs the rule of the operation on whole batches and wraps the
results. The graph is that of the whole batches, so a backward through a batch is an ordinary one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

from ..._array.memory.example import CONTROL_FLOW, ITEM, example_of
from ..._base import errors
from ..._core.inplace import apply_inplace
from ..._core.interposers import NOT_HANDLED
from ..._core.mode import CURRENT, Mode, current, derive, ready
from ..._core.op import Op
from ..._core.storage import TensorBase, init_tensor
from ..._table import TENSOR_METHODS
from ..._table.modes.batching_rules import align, front, rank_of, run_batched
from ..._table.rows.tensor_namespace import table
from ..printed_levels import levels_text
from ..tensor import Tensor
from ..torch_function import without_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..._array.annotations import Array
    from ..._base.annotations import Arguments

DATA_POINTER: Final = "Cannot access data pointer of Tensor that doesn't have storage"
ESCAPED: Final = (
    "Either your tensor may have escaped from inside a function being vmapped and this is a user "
    "error (see https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal "
    "functorch error in `gen_vmap_plumbing` Please file an issue if it looks like the latter"
)


class Layer:
    """One vmap that is running: its depth, the size of its batch and its rule for randomness."""

    __slots__ = ("level", "size", "randomness", "over", "outer", "inner")

    def __init__(self, level: int, size: int, randomness: str) -> None:
        self.level = level
        self.size = size
        self.randomness = randomness
        self.over = False  # the vmap has returned: its wrappers stand for nothing any more
        self.inner: Mode | None = None  # the mode last met under this vmap
        self.outer: Mode | None = None  # that mode as it is outside of this vmap

    def outside(self, mode: Mode) -> Mode:
        """A mode without this vmap and those inside it."""
        if mode is not self.inner:
            layers = tuple([x for x in mode.layers if x.level < self.level])
            self.inner = mode
            self.outer = mode if layers == mode.layers else derive(mode, layers=layers)
        assert self.outer is not None
        return self.outer


class BatchedTensor(Tensor):
    """One example of a batch, as a function under vmap sees it."""

    __slots__ = ("_dim", "_layer", "_value")

    _value: Any
    _dim: int
    _layer: Layer
    __torch_function__ = classmethod(without_rules)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        return levels_text(self) or ""

    def __bool__(self) -> bool:
        raise RuntimeError(CONTROL_FLOW)

    def item(self) -> Any:
        """Refused: there is one number for each example."""
        raise RuntimeError(ITEM)

    __float__ = __int__ = __complex__ = __index__ = item

    def numpy(self, *, force: bool = False) -> Array:
        """Refused: there are other elements for each example."""
        raise RuntimeError(DATA_POINTER)

    tolist = data_ptr = __array__ = numpy  # type: ignore[assignment]

    def __len__(self) -> int:
        if self._raw.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return int(self._raw.shape[0])

    def __contains__(self, element: object) -> bool:
        raise RuntimeError(CONTROL_FLOW)

    @property
    def data(self) -> Tensor:
        """Refused."""
        raise RuntimeError("accessing `data` under vmap transform is not allowed")

    @data.setter
    def data(self, value: object) -> None:
        raise RuntimeError("mutating directly with `.data` under vmap transform is not allowed.")

    def detach(self) -> Tensor:
        """The same batch without history."""
        return wrap(self._value.detach(), self._dim, self._layer)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Refused: gradients are asked for by transforms here."""
        raise RuntimeError(errors.INSIDE_TRANSFORM)

    def backward(self, *args: object, **kwargs: object) -> None:
        """Refused: gradients are asked for by transforms here."""
        raise RuntimeError(errors.BACKWARD_INSIDE_TRANSFORM)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return table("clone")(self)

    __copy__ = None  # type: ignore[assignment]


def wrap(value: TensorBase, dim: int, layer: Layer) -> BatchedTensor:
    """What a function under the vmap `layer` sees of the batch `value`."""
    t: BatchedTensor = TensorBase.__new__(BatchedTensor)
    init_tensor(t, example_of(value._raw, dim))
    t._plain = False
    t._layered = True
    t._value = value
    t._dim = dim
    t._layer = layer
    return t


def layer_of(arg: object) -> Layer | None:
    """The innermost vmap that has a batch among an argument's tensors."""
    if isinstance(arg, BatchedTensor):
        return arg._layer
    found: Layer | None = None
    if type(arg) is list or type(arg) is tuple:
        for item in arg:
            if isinstance(item, BatchedTensor) and (
                found is None or item._layer.level > found.level
            ):
                found = item._layer
    return found


def innermost(args: Sequence[object]) -> Layer | None:
    """The innermost vmap that has a batch among the arguments."""
    found: Layer | None = None
    for arg in args:
        layer = layer_of(arg)
        if layer is not None and (found is None or layer.level > found.level):
            found = layer
    return found


def open_batches(arg: object, layer: Layer) -> tuple[object, object]:
    """An argument with the batches behind the wrappers of `layer`, and their batch dimensions."""
    if isinstance(arg, BatchedTensor):
        return (arg._value, arg._dim) if arg._layer is layer else (arg, None)
    if (type(arg) is list or type(arg) is tuple) and layer_of(arg) is not None:
        pairs = [open_batches(item, layer) for item in arg]
        dims = [d for _, d in pairs]
        if any(d is not None for d in dims):
            return type(arg)([v for v, _ in pairs]), dims
    return arg, None


def dispatch(op: Op, args: Arguments) -> object:
    """The result of an operation on batches; NOT_HANDLED where there is none among `args`.

    Raises:
        RuntimeError: for a batch of a vmap that has returned.
    """
    layer: Layer | None = None
    for arg in args:
        kind = type(arg)
        if kind is BatchedTensor:
            mine: Layer | None = arg._layer
        elif kind is list or kind is tuple:
            mine = layer_of(arg)
        else:
            continue
        if mine is not None and (layer is None or mine.level > layer.level):
            layer = mine
    if layer is None:
        return NOT_HANDLED
    if layer.over:
        raise RuntimeError(ESCAPED)
    values: list[Any] = []
    dims: list[Any] = []
    for arg in args:
        kind = type(arg)
        if kind is BatchedTensor and arg._layer is layer:
            values.append(arg._value)
            dims.append(arg._dim)
        elif kind is list or kind is tuple:
            value, dim = open_batches(arg, layer)
            values.append(value)
            dims.append(dim)
        else:
            values.append(arg)
            dims.append(None)
    before = CURRENT.get()
    try:
        CURRENT.set(layer.outside(current()))
        result, where = run_batched(op, values, dims, layer.size)
    finally:
        CURRENT.set(before)
    if op.n_out == 1:
        if type(result) is list or type(result) is tuple:
            result = result[0]
            where = where[0] if type(where) is list or type(where) is tuple else where
        return wrap(result, where, layer)
    places = where if type(where) is list or type(where) is tuple else [where] * len(result)
    results: list[Any] = [
        o if d is None or not isinstance(o, TensorBase) else wrap(o, d, layer)
        for o, d in zip(result, places)
    ]
    return tuple(results) if op.returns is None else op.returns(results)


def refuse_inplace(op: Op, args: list[Tensor], layer: Layer) -> RuntimeError:
    """The error for a write of batches into a tensor that has no batch dimension."""
    me = args[0]._raw.shape
    name = op.row.vmap_write
    if name == "shape":
        other = args[1]._raw.shape
        return RuntimeError(
            errors.output_shape(me, (layer.size, *table("broadcast_shapes")(me, other)))
        )
    where = "in a vmap"
    if not name:  # PyTorch has no rule of its own
        name = f"aten::{op.name.strip('_')}_"
        where = f"at level {layer.level}"
    return RuntimeError(
        f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor `other` in "
        "extra_args that has more elements than `self`. This happened due to `other` being vmapped "
        f"over but `self` not being vmapped over {where}. Please try to use out-of-place operators "
        f"instead of {name}. If said operator is being called inside the PyTorch framework, please "
        "file a bug report instead."
    )


def dispatch_inplace(op: Op, args: Arguments, writer: Callable[..., object] | None) -> object:
    """Runs an operation on batches in place; NOT_HANDLED where there is none among `args`."""
    layer = innermost(args)
    if layer is None:
        return NOT_HANDLED
    if layer.over:
        raise RuntimeError(ESCAPED)
    me = args[0]
    if not isinstance(me, BatchedTensor) or me._layer is not layer:
        raise refuse_inplace(op, args, layer)
    values: list[Any] = []
    dims: list[Any] = []
    for arg in args:
        value, dim = open_batches(arg, layer)
        values.append(value)
        dims.append(dim)
    former_mode = CURRENT.get()
    try:
        CURRENT.set(layer.outside(ready()))
        target = front(values[0], dims[0])
        if op.row.by_element:
            rank = rank_of(values[0], dims[0])
            rest = [
                align(v, d, rank) if isinstance(v, TensorBase) else v
                for v, d in zip(values[1:], dims[1:])
            ]
            apply_inplace(op, [target, *rest], writer)
        else:
            made, where = run_batched(op, values, dims, layer.size)
            TENSOR_METHODS["copy_"](target, made if where is None else front(made, where))
    finally:
        CURRENT.set(former_mode)
    return me


# ---- entering and leaving a vmap ---------------------------------------------------------------
class Batching:
    """A vmap that runs: `with Batching(size, randomness) as layer`."""

    def __init__(self, size: int, randomness: str) -> None:
        self.size = size
        self.randomness = randomness

    def __enter__(self) -> Layer:
        self.mode = mode = ready()
        self.layer = Layer(len(mode.layers) + 1, self.size, self.randomness)
        try:  # see Note [A context that is interrupted] in `autograd.grad_mode`
            CURRENT.set(derive(mode, layers=(*mode.layers, self.layer)))
        except BaseException:
            CURRENT.set(mode)
            raise
        return self.layer

    def __exit__(self, *exc: object) -> None:
        self.layer.over = True
        try:
            CURRENT.set(self.mode)
        except BaseException:
            CURRENT.set(self.mode)
            raise


def unwrap(t: TensorBase, layer: Layer, dim: int = 0) -> Tensor:
    """The batch behind a result, at dimension `dim`; one that doesn't depend on it is repeated.

    Raises:
        IndexError: where the result has no such dimension.
    """
    shape = tuple(t._raw.shape)
    rank = len(shape) + 1
    if not -rank <= dim < rank:
        raise IndexError(errors.dimension(dim, rank))
    dim %= rank
    if isinstance(t, BatchedTensor) and t._layer is layer:
        if t._dim == dim:
            return t._value
        return table("movedim")(t._value, t._dim, dim)
    whole = table("unsqueeze")(t, dim) if dim else t
    return table("expand")(whole, (*shape[:dim], layer.size, *shape[dim:]))


# ---- several vmaps at once ---------------------------------------------------------------------
def expand_over(x: Tensor, layers: tuple[Layer, ...]) -> Tensor:
    """`x` as a tensor with one leading dimension for each of `layers`, the outermost first.

    Dimensions that `x` lacks are made by repeating it. Batches of vmaps inside these stay wrapped,
    around the result.
    """
    if not layers:
        return x
    last = layers[-1]
    if isinstance(x, BatchedTensor):
        if x._layer.level > last.level:
            inner = expand_over(front(x._value, x._dim), layers)
            return wrap(inner, len(layers), x._layer)
        if x._layer is last:
            return expand_over(front(x._value, x._dim), layers[:-1])
    shape = tuple(x._raw.shape)
    return expand_over(table("expand")(x, (last.size, *shape)), layers[:-1])


def gather_layers(x: Tensor, layers: tuple[Layer, ...]) -> Tensor:
    """The wrapped form of a tensor whose leading dimensions are those of `layers`."""
    if not layers:
        return x
    if isinstance(x, BatchedTensor) and x._layer.level > layers[-1].level:
        value = x._value
        order = list(range(value._raw.ndim))
        order.insert(len(layers), order.pop(x._dim))
        inner = gather_layers(table("permute")(value, order), layers)
        return wrap(inner, 0, x._layer)
    for layer in layers:
        x = wrap(x, 0, layer)
    return x


def layers_of(tensors: Sequence[Tensor]) -> tuple[Layer, ...]:
    """All vmaps that have a batch among tensors, the outermost first."""
    found: dict[int, Layer] = {}
    for t in tensors:
        while isinstance(t, BatchedTensor):
            found[t._layer.level] = t._layer
            t = t._value
    return tuple([found[level] for level in sorted(found)])
