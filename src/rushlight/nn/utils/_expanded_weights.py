"""Weights that stand for one of their own in each sample of a batch.

Note [A gradient for each sample]
A layer that is called with an `ExpandedWeight` computes what it does with the weight itself. In its
backward the gradient of each sample comes of the layer's own derivative, taken of that sample as a
batch of one, for all samples at once under `vmap`. It is put on the weight as `grad_sample`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..._tensor.public_functions import namespace
from ..._tensor.tensor import Tensor
from ..._tensor.torch_function import stand_in
from ...autograd.backward import grad
from ...autograd.function import Function
from ...autograd.grad_mode import enable_grad, is_grad_enabled
from ...func import vjp, vmap
from .. import functional as F

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import AnyCallable, Arguments, Keywords, Positional

__all__ = ["ExpandedWeight"]

functions: Any = namespace("").module("the functions of torch")


class ExpandedWeight(Tensor):
    """A weight whose gradients are kept apart by sample; only some layers take one.

    Raises:
        RuntimeError: for what isn't a tensor, or doesn't require grad.
    """

    orig_weight: Any
    batch_size: int
    loss_reduction: str

    #: The layers that take one, and what keeps their gradients apart.
    handled_functions: ClassVar[dict[Any, type[_PerSample]]] = {}

    def __new__(cls, orig_weight: Tensor, batch_size: int, loss_reduction: str) -> ExpandedWeight:
        if not isinstance(orig_weight, Tensor):
            raise RuntimeError(
                f"Can only make Expanded Weights of Tensors, got {type(orig_weight).__name__}"
            )
        if not orig_weight.requires_grad:
            raise RuntimeError(
                "Can only build ExpandedWeights objects of tensors that requires_grad"
            )
        made: ExpandedWeight = Tensor._make_subclass(cls, orig_weight, True)
        return made

    def __init__(self, orig_weight: Tensor, batch_size: int, loss_reduction: str) -> None:
        self.orig_weight = orig_weight
        self.batch_size = batch_size
        self.loss_reduction = loss_reduction

    @classmethod
    def __torch_function__(
        cls,
        func: AnyCallable,
        types: Sequence[type],
        args: Positional = (),
        kwargs: Keywords | None = None,
    ) -> object:
        named = kwargs or {}
        kind = cls.handled_functions.get(func)
        if kind is not None:
            return kind.apply(tuple(named), func, *args, *named.values())
        if func in _STEPWISE and isinstance(args[2], list) and not (args[5] and args[6]):
            return _recurrent(func, *args)
        name = "mkldnn_rnn_layer.default" if func is functions.lstm else func.__name__
        raise RuntimeError(f"Expanded Weights encountered but cannot handle function {name}")


class _PerSample(Function):
    """A layer with expanded weights; see Note [A gradient for each sample]."""

    axis: ClassVar[int] = 0  # of the batch
    inputs: ClassVar[int] = 1  # how many of the arguments hold the batch

    @classmethod
    def check(cls, given: Positional) -> None:
        """Refuses what this layer can't tell the samples of."""

    @classmethod
    def check_batch(cls, function: AnyCallable, x: Tensor) -> None:
        """Refuses, once the layer has been computed, what wasn't a batch."""

    @classmethod
    def repeat(cls, options: Keywords) -> None:
        """Switches off what a layer must not do once more when its derivative is taken."""

    @classmethod
    def forward(
        cls, ctx: Any, names: tuple[str, ...], function: AnyCallable, *given: Any
    ) -> object:
        cls.check(given)
        _check_batch_sizes(function, given, cls.axis)
        out = _call(function, names, [_original(value) for value in given])
        cls.check_batch(function, given[0])
        ctx.kind, ctx.names, ctx.function, ctx.given = cls, names, function, given
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> object:
        kind, given, n = ctx.kind, ctx.given, ctx.kind.inputs
        for value in given[n:]:
            if (
                isinstance(value, Tensor)
                and value.requires_grad
                and not isinstance(value, ExpandedWeight)
            ):
                raise RuntimeError(
                    "ExpandedWeights currently does not support a mixture of ExpandedWeight "
                    "parameters and normal Parameters. Please file and issue with pytorch/pytorch"
                )
        at = [i for i, value in enumerate(given) if isinstance(value, ExpandedWeight)]
        own: list[Any] = [_detach(_original(value)) for value in given]
        split = len(own) - len(ctx.names)
        options = dict(zip(ctx.names, own[split:]))
        kind.repeat(options)
        own[split:] = options.values()

        def layer(inputs: Sequence[object], weights: Sequence[Tensor]) -> object:
            values = [*inputs, *own[n:]]
            for i, weight in zip(at, weights):
                values[i] = weight
            return _call(ctx.function, ctx.names, values)

        samples = _samples(kind.axis, layer, own[:n], [own[i] for i in at], gradients)
        for i, sample in zip(at, samples):
            _keep(given[i], sample)
        found = _batch(layer, given[:n], [own[i] for i in at], gradients)
        return None, None, *found, *([None] * (len(given) - n))


def _batch(
    layer: AnyCallable, inputs: Positional, weights: list[Tensor], gradients: tuple[Tensor, ...]
) -> list[object]:
    """The gradients of those inputs that require one."""
    wanted = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    if not wanted:
        return [None] * len(inputs)
    create = is_grad_enabled()
    with enable_grad():
        out = layer(inputs, weights)
        found = iter(grad(out, wanted, gradients, create_graph=create))
    return [next(found) if any(x is w for w in wanted) else None for x in inputs]


def _samples(
    axis: int, layer: AnyCallable, inputs: list[Tensor], weights: list[Tensor],
    gradients: tuple[Tensor, ...],
) -> tuple[Tensor, ...]:  # fmt: skip
    """The gradients of the weights in each sample, batch first."""

    def one(xs: list[Tensor], gs: list[Tensor]) -> tuple[Tensor, ...]:
        batch = [x.unsqueeze(axis) for x in xs]
        out, pull = vjp(lambda *ws: layer(batch, ws), *weights)
        wide = tuple(g.unsqueeze(axis) for g in gs)
        found: tuple[Tensor, ...] = pull(wide if isinstance(out, tuple) else wide[0])
        return found

    return vmap(one, in_dims=axis)(inputs, list(gradients))


def _keep(weight: ExpandedWeight, gradient: Tensor) -> None:
    if weight.loss_reduction == "mean":
        gradient = gradient * weight.batch_size
    original = weight.orig_weight
    before = getattr(original, "grad_sample", None)
    original.grad_sample = gradient if before is None else before + gradient


def _call(function: AnyCallable, names: tuple[str, ...], values: Arguments) -> object:
    split = len(values) - len(names)
    return function(*values[:split], **dict(zip(names, values[split:])))


def _original(value: object) -> object:
    return value.orig_weight if isinstance(value, ExpandedWeight) else value


def _detach(value: object) -> object:
    return value.detach() if isinstance(value, Tensor) else value


def _check_batch_sizes(function: AnyCallable, given: Positional, axis: int) -> None:
    x, name = given[0], function.__name__
    if isinstance(x, ExpandedWeight):
        raise RuntimeError(
            "Expanded Weights do not support inputs that are also ExpandedWeights. "
            f"Input must be a Tensor, got {type(x).__name__} in function {name}"
        )
    if not isinstance(x, Tensor):
        raise RuntimeError(
            "Expanded Weights requires a Tensor as the first input to get the batch dimension, "
            f"got {type(x).__name__} in function {name}"
        )
    shape = x._raw.shape
    if not shape:
        raise RuntimeError(
            "Expanded Weights requires a batch dimension but got an input of size 0 in function "
            f"{name}"
        )
    if shape[0] == 0:
        raise RuntimeError(
            f"0 is not a valid batch size for Expanded Weights but got input tensor of {x} in "
            f"function {name}"
        )
    weights = [value for value in given if isinstance(value, ExpandedWeight)]
    for weight in weights:
        if weight.batch_size != shape[axis]:
            raise RuntimeError(
                "Expected ExpandedWeights to have batch size matching input but got input batch "
                f"size of {shape[axis]} with ExpandedWeight of batch size {weight.batch_size}"
            )
    for weight in weights:
        if weight.loss_reduction != weights[0].loss_reduction:
            raise RuntimeError(
                "Expected ExpandedWeights to all have the same loss_reduction argument but got one"
                f"with {weights[0].loss_reduction} and one with {weight.loss_reduction}"
            )


class LinearPerSampleGrad(_PerSample):
    """A linear layer."""

    @classmethod
    def check(cls, given: Positional) -> None:
        rank = len(given[0].shape)
        if rank <= 1:
            raise RuntimeError(
                "Input does not have a batch dimension. Expanded Weights expected input of at "
                f"least rank 2, got of rank {rank}"
            )


class ConvPerSampleGrad(_PerSample):
    """A convolution."""

    @classmethod
    def check_batch(cls, function: AnyCallable, x: Tensor) -> None:
        rank = int(function.__name__[-2]) + 2
        if x.dim() != rank:
            raise RuntimeError(
                f"Expanded Weights only support convolution with batched input, got {function} "
                f"with anunbatched input of dim {x.dim()}, expected input of dim {rank}"
            )


class EmbeddingPerSampleGrad(_PerSample):
    """An embedding."""

    @classmethod
    def repeat(cls, options: Keywords) -> None:
        options["max_norm"] = None

    @classmethod
    def check(cls, given: Positional) -> None:
        if len(given[0].shape) == 1:
            raise RuntimeError(
                f"Expanded Weights needs an input with a batch size, got a 1D tensor, {given[0]}"
            )


class GroupNormPerSampleGrad(_PerSample):
    """A norm over groups of channels."""


class InstanceNormPerSampleGrad(_PerSample):
    """A norm over each channel of each sample; means and variances are updated once."""

    @classmethod
    def repeat(cls, options: Keywords) -> None:
        if options["use_input_stats"]:
            options["running_mean"] = options["running_var"] = None


class LayerNormPerSampleGrad(_PerSample):
    """A norm over the last dimensions."""

    @classmethod
    def check(cls, given: Positional) -> None:
        if len(given[0].shape) <= len(given[1]):
            raise RuntimeError(
                "Expanded Weights: Layer norm should not normalize over batch dimension for per "
                f"sample gradientcomputations but got that normalized shape, {given[1]}, matched "
                "input shape."
            )


class RecurrentPerSampleGrad(_PerSample):
    """A recurrent layer: sequences and first states hold the batch in their second dimension."""

    axis: ClassVar[int] = 1
    inputs: ClassVar[int] = 2


_STEPWISE = (functions.gru, functions.rnn_tanh, functions.rnn_relu)


def _recurrent(
    function: AnyCallable, x: Tensor, state: Tensor, weights: list[Tensor], bias: bool, layers: int,
    dropout: float, train: bool, both: bool, batch_first: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The recurrent layer `function`, whose weights come in a list."""

    def layer(x: Tensor, state: Tensor, *weights: Tensor) -> object:
        return function(x, state, list(weights), bias, layers, dropout, train, both, False)

    layer.__name__ = function.__name__
    if batch_first:
        x = x.transpose(0, 1)
    out, last = RecurrentPerSampleGrad.apply((), layer, x, state, *weights)
    return (out.transpose(0, 1) if batch_first else out), last


stand_in(ExpandedWeight)  # layers ask it before they run
ExpandedWeight.handled_functions.update(
    {
        F.linear: LinearPerSampleGrad,
        F.conv1d: ConvPerSampleGrad,
        F.conv2d: ConvPerSampleGrad,
        F.conv3d: ConvPerSampleGrad,
        F.embedding: EmbeddingPerSampleGrad,
        F.group_norm: GroupNormPerSampleGrad,
        F.instance_norm: InstanceNormPerSampleGrad,
        F.layer_norm: LayerNormPerSampleGrad,
    }
)
