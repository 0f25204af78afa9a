"""Dropout: elements or whole channels set to zero at random, the rest scaled up."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D
from ..._base.lazy import later
from ..._core.mode import current
from ..._core.storage import TensorBase, new_tensor
from ..random.generator import default_generator
from ..rows.composite import composite

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import Shape
    from ..._tensor.tensor import Tensor

draw = later("_array.random.discrete")

EVERY = object()  # one draw for each element
ALPHA = 1.7580993408473766  # minus the limit of SELU at -inf


def _range(p: float, error: type[Exception]) -> None:
    if p < 0.0 or p > 1.0 or (error is RuntimeError and p != p):
        shown = f"{p:g}" if error is RuntimeError else p
        raise error(f"dropout probability has to be between 0 and 1, but got {shown}")


def _noise(like: Array, shape: tuple[int, ...], keep: float) -> Array:
    """Ones with probability `keep` and zeros, from the default stream.

    Raises: RuntimeError for an array of integers, after the drawing.
    """
    fresh = T.empty_like(like, like.dtype) if shape == like.shape else T.empty(shape, like.dtype)
    noise = draw.bernoulli_(default_generator.stream, fresh, keep)
    if like.dtype.kind not in "fVc":
        name = D.scalar_name(T.from_raw(like.dtype))
        raise RuntimeError(f"result type Float can't be cast to the desired output type {name}")
    return noise


def _drop(
    input: Tensor, p: float, train: bool, inplace: bool, shape: Shape | None, alpha: bool
) -> Tensor:
    """Dropout with one draw for each element of `shape`, which broadcasts to the input's."""
    _range(p, RuntimeError)
    if p == 0 or not train or not input._raw.size:
        return input
    if p == 1:
        zero: Any = new_tensor(T.empty((), input._raw.dtype))
        zero._raw.fill(0)
        return input.mul_(zero) if inplace else input * zero
    if shape is None:
        if input.dim() < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        shape = tuple(input._raw.shape[:2]) + (1,) * (input.dim() - 2)
    draw_masks = _alpha_masks if alpha else _mask
    masks: list[Any] = [new_tensor(array) for array in draw_masks(input._raw, shape, p)]
    recorder = current().recorder
    if recorder is not None:
        recorder.drew(draw_masks, (input, shape, p), masks)
    if not alpha:
        return input.mul_(masks[0]) if inplace else input * masks[0]
    if inplace:
        return input.mul_(masks[0]).add_(masks[1])
    return (input * masks[0]).add_(masks[1])


def _mask(like: Array, shape: tuple[int, ...], p: float) -> list[Array]:
    """What dropout multiplies by."""
    noise = _noise(like, shape, 1 - p)
    noise /= 1 - p
    return [noise]


def _alpha_masks(like: Array, shape: tuple[int, ...], p: float) -> list[Array]:
    """What alpha dropout multiplies by, and what it adds."""
    noise = _noise(like, shape, 1 - p)
    scale = 1.0 / math.sqrt((ALPHA * ALPHA * p + 1) * (1 - p))
    shift = (noise - 1) * (ALPHA * scale) + ALPHA * scale * p
    noise *= scale
    return [noise, shift.astype(noise.dtype, copy=False)]


def _declare(name: str, alpha: bool, feature: bool, doc: str) -> None:
    """The operators `name(input, p, train)` and `name_`."""

    def operator(input: Tensor, p: float, train: bool) -> Tensor:
        return _drop(input, p, train, False, None if feature else input._raw.shape, alpha)

    def in_place(input: Tensor, p: float, train: bool) -> Tensor:
        return _drop(input, p, train, True, None if feature else input._raw.shape, alpha)

    for function, shown in ((operator, name), (in_place, name + "_")):
        function.__name__ = function.__qualname__ = shown
        function.__doc__ = doc
        composite("", name=shown)(function)


def _call_operator(
    name: str, input: Tensor, p: Any, training: Any, inplace: Any, shape: Any, alpha: bool
) -> Tensor:
    """What a function in Python gives that calls the operator of that name, or its `name_`.

    Raises: TypeError for what the operator doesn't take.
    """
    inplace = bool(inplace)
    if type(p) is not float or type(training) is not bool or not isinstance(input, TensorBase):
        from ..calls.argument_parser import complaint_of_c

        problem = complaint_of_c("torch", name + "_" * inplace, (input, p, training), {})
        if problem is not None:
            raise problem
        p = float(p)
    if shape is EVERY:
        shape = input._raw.shape
    return _drop(input, p, training, inplace, shape, alpha)


_declare("dropout", False, False, "Zeros each element with probability `p`, scales the rest.")
_declare(
    "feature_dropout", False, True, "Zeros each channel with probability `p`, scales the rest."
)
_declare("alpha_dropout", True, False, "Dropout that keeps mean and variance, for SELU networks.")
_declare("feature_alpha_dropout", True, True, "Alpha dropout of whole channels.")


@composite("nn.functional")
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """The input with each element zeroed with probability `p`, the rest scaled by 1 / (1 - p).

    Raises: ValueError for a probability outside [0, 1].
    """
    _range(p, ValueError)
    return _call_operator("dropout", input, p, training, inplace, EVERY, False)


@composite("nn.functional")
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout to SELU's negative limit instead of zero, which keeps mean and variance.

    Source: G. Klambauer et al., Self-normalizing neural networks (2017).
    """
    _range(p, ValueError)
    return _call_operator("alpha_dropout", input, p, training, inplace, EVERY, True)


@composite("nn.functional")
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Alpha dropout of whole channels.

    Raises: ValueError for a probability outside [0, 1].
    """
    _range(p, ValueError)
    return _call_operator("feature_alpha_dropout", input, p, training, inplace, None, True)


@composite("nn.functional")
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """The input with whole channels zeroed with probability `p`, the rest scaled by 1 / (1 - p).

    Shapes: (N, C, L) or (C, L). Raises: RuntimeError for others.
    """
    _range(p, ValueError)
    ndim = input.dim()
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that "
            "dropout1d "
            "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel "
            "dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _channels(input, p, training, inplace, ndim == 2)


def _channels(input: Tensor, p: float, training: bool, inplace: bool, single: bool) -> Tensor:
    """Dropout of channels; a `single` sample has no batch dimension."""
    if not single:
        return _call_operator("feature_dropout", input, p, training, inplace, None, False)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = _call_operator("feature_dropout", batch, p, training, inplace, None, False)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def _warn_dimensions(name: str, ndim: int, spatial: int) -> None:
    sizes = f"{spatial + 1}D or {spatial + 2}D"
    warnings.warn(
        f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an "
        "error "
        "in a future release. To retain the behavior and silence this warning, please use dropout "
        f"instead. Note that {name} exists to provide channel-wise dropout on inputs with "
        f"{spatial} "
        f"spatial dimensions, a channel dimension, and an optional batch dimension (i.e. {sizes} "
        "inputs).",
        stacklevel=3,
    )


@composite("nn.functional")
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """The input with whole channels zeroed with probability `p`, the rest scaled by 1 / (1 - p).

    Shapes: (N, C, H, W); (N, C, L) too, with a warning.
    """
    _range(p, ValueError)
    ndim = input.dim()
    if ndim not in (3, 4):
        _warn_dimensions("dropout2d", ndim, 2)
    if ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel "
            "dim. This behavior will change in a future release to interpret the input as one "
            "without "
            "a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout "
            "behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _call_operator("feature_dropout", input, p, training, inplace, None, False)


@composite("nn.functional")
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """The input with whole channels zeroed with probability `p`, the rest scaled by 1 / (1 - p).

    Shapes: (N, C, D, H, W) or (C, D, H, W).
    """
    _range(p, ValueError)
    ndim = input.dim()
    if ndim not in (4, 5):
        _warn_dimensions("dropout3d", ndim, 3)
    return _channels(input, p, training, inplace, ndim != 5)
