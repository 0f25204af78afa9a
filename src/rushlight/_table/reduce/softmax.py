"""Softmax and its relatives: probabilities along a dimension, and their logarithms."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.storage import TensorBase
from ..._formula.words import exp, log, row_sum, row_top, shifted_exp
from ..rows.composite import composite
from ..rows.row import general
from ..rows.row_formula import row_formula

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._array.annotations import Array
    from ..._base.annotations import TensorLike
    from ..._tensor.tensor import Tensor
    from ..rows.row import Row, Unsettled

channels = later("_array.kernels.channel_softmax")
losses = later("_array.nn.element_losses")
sums = later("_array.reduce.row_sums")


def _prepare(name: str) -> Callable[[Array, int, D.dtype | None], Array]:
    """What gives the operand in its final type.

    It raises IndexError for a dimension that isn't there, NotImplementedError for integers.
    """

    def prepare(x: Array, dim: int, dtype: D.dtype | None = None) -> Array:
        if dtype is not None:
            x = T.convert_array(x, dtype)
        limit = x.ndim or 1
        if not -limit <= dim < limit:
            raise IndexError(errors.dimension(dim, x.ndim))
        if x.dtype.kind not in "fV" and x.size:
            last = "_lastdim" if x.ndim == 0 or dim % x.ndim == x.ndim - 1 else ""
            losses.require_floats(x, f"{name}{last}_kernel_impl")
        return x

    return prepare


def _softmax_value(x: TensorLike, dim: int) -> Any:
    e = shifted_exp(x, dim)
    return e * (1 / row_sum(e, dim))


def _log_softmax_value(x: TensorLike, dim: int) -> Any:
    # The largest element is worth its cost: x - log Σ exp(x) would lose the digits of a logarithm
    # near zero, as of a confident prediction.
    moved = x - row_top(x, dim)
    return moved - log(row_sum(exp(moved), dim))


SOFTMAX = general(
    "softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    row_formula(
        lambda self, dim: _softmax_value(self, dim),
        prepare=_prepare("softmax"),
        override=channels.softmax,
    ),
    self=row_formula(
        lambda g, out, dim: out * (g - row_sum(g * out, dim)), override=channels.softmax_backward
    ),
    namespace=("", "special"),
    samples=lambda mk: [(mk(3, 4), 1), (mk(2, 3, 4), 0), (mk(5), -1)],
    real_only="_softmax",
    doc="exp(input) divided by its sum along `dim`.",
    kernel="softmax_lastdim_kernel_impl",
    without_data="fewer",
)
LOG_SOFTMAX = general(
    "log_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    row_formula(
        lambda self, dim: _log_softmax_value(self, dim),
        prepare=_prepare("log_softmax"),
        override=channels.log_softmax,
        of_block=sums.log_softmax_rows,  # 379 µs for 512x1000, where the formula takes 448
    ),
    self=row_formula(
        lambda g, out, dim: g - exp(out) * row_sum(g, dim),
        override=channels.log_softmax_backward,
    ),
    namespace=("", "special"),
    samples=lambda mk: [(mk(3, 4), 1), (mk(2, 3, 4), 0), (mk(5), -1)],
    real_only="_log_softmax",
    doc="The logarithm of softmax(input) along `dim`.",
    kernel="log_softmax_lastdim_kernel_impl",
    without_data="fewer",
)


def _implicit_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension that calls without one meant."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as "
        "an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def _call_method(
    row: Row | Unsettled,
    name: str,
    input: Tensor,
    dim: int | None,
    stacklevel: int,
    dtype: D.dtype | None,
) -> Tensor:
    if dim is None:
        dim = _implicit_dim(name, input.dim(), stacklevel + 1)
    if (
        type(dim) is int
        and isinstance(input, TensorBase)
        and (dtype is None or isinstance(dtype, D.dtype))
    ):
        return apply_n(row.op, [input, dim, dtype])
    return getattr(input, name)(dim, dtype=dtype)


@composite("nn.functional")
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: D.dtype | None = None
) -> Tensor:
    """exp(input) divided by its sum along `dim`: numbers between 0 and 1 that add up to 1.

    Special: a row of -inf, a row with inf or nan -> nan.
    Raises: IndexError for a dimension that isn't there.
    """
    return _call_method(SOFTMAX, "softmax", input, dim, _stacklevel, dtype)


@composite("nn.functional")
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: D.dtype | None = None
) -> Tensor:
    """The logarithm of softmax(input) along `dim`, without its rounding errors.

    Raises: IndexError for a dimension that isn't there.
    """
    return _call_method(LOG_SOFTMAX, "log_softmax", input, dim, _stacklevel, dtype)


@composite("nn.functional")
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: D.dtype | None = None
) -> Tensor:
    """softmax(-input) along `dim`."""
    if dim is None:
        dim = _implicit_dim("softmin", input.dim(), _stacklevel)
    return _call_method(SOFTMAX, "softmax", -input, dim, _stacklevel, dtype)


@composite("nn.functional")
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A Gumbel-softmax sample; `hard` gives one-hot vectors with soft gradients.

    Source: E. Jang, S. Gu, B. Poole, Categorical reparameterization with Gumbel-softmax (2017).
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = logits.detach().clone().exponential_()
    soft = ((logits + -noise.log()) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.detach().max(dim, keepdim=True)[1]
    one = (soft.detach() * 0).scatter(dim, index, 1.0)
    return one - soft.detach() + soft


@composite(name="_softmax_backward_data")
def softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: object) -> Tensor:
    """The gradient of a softmax from its result: programs with their own softmax call it."""
    found = SOFTMAX.op.formulas[0](grad_output, output, dim)
    return found if found.dtype is input_dtype else found.to(input_dtype)


@composite(name="_log_softmax_backward_data")
def log_softmax_backward_data(
    grad_output: Any, output: Any, dim: int, input_dtype: object
) -> Tensor:
    """The gradient of a log-softmax from its result."""
    found = LOG_SOFTMAX.op.formulas[0](grad_output, output, dim)
    return found if found.dtype is input_dtype else found.to(input_dtype)
